"""Where exceptions become failures and back: only the named ones, each as the error that it means."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import partial, wraps
from inspect import isasyncgenfunction, iscoroutine, iscoroutinefunction, isgeneratorfunction
from types import CoroutineType
from typing import Any, Generic, Never, ParamSpec, Protocol, TypeAlias, final, overload

from typing_extensions import TypeVar

from seamwise.causes import Raised, chain, iter_leaves, members
from seamwise.containers import Failure, Result, Success

T = TypeVar('T', default=Never)
E = TypeVar('E', default=Never)
F = TypeVar('F', default=Never)
K1 = TypeVar('K1', default=Never)
K2 = TypeVar('K2', default=Never)
K3 = TypeVar('K3', default=Never)
K4 = TypeVar('K4', default=Never)
K5 = TypeVar('K5', default=Never)
K6 = TypeVar('K6', default=Never)
E_co = TypeVar('E_co', covariant=True, default=Never)
X = TypeVar('X', bound=Exception)
P = ParamSpec('P')


@final
class When(Generic[X]):
    """One kind of exception, still without an answer; `when` makes it."""

    __slots__ = ('_kind',)

    def __init__(self, kind: type[X]) -> None:
        self._kind = kind

    def becomes(self, error: Callable[[X], E], /) -> Rules[E]:
        """Say what error the exception means: `error` makes it from the exception."""
        return Rules({self._kind: error})


def when(kind: type[X], /) -> When[X]:
    """Name a kind of exception; `.becomes(make_error)` says which error it means, `|` adds more.

    Only what derives from Exception can be named: cancellation, KeyboardInterrupt and SystemExit pass every edge.

    >>> rules = when(ZeroDivisionError).becomes(lambda _: 'division') | when(ValueError).becomes(str)
    >>> attempt(lambda: 1 // 0, rules)
    <Failure: division>
    """
    if not _is_exception(kind):
        raise TypeError(
            f'when takes a class of exceptions that derives from Exception, not {kind!r}.'
        )
    return When(kind)


def _is_exception(kind: object) -> bool:
    return isinstance(kind, type) and issubclass(kind, Exception)


@final
class Rules(Generic[E_co]):
    """Which exception becomes which error: looked up by exact class, then along its bases."""

    __slots__ = ('_table',)

    def __init__(self, table: dict[type[Exception], Callable[[Any], E_co]]) -> None:
        self._table = table

    def __or__(self, other: Rules[F], /) -> Rules[E_co | F]:
        """Add the rules of another table; a kind that both name is a TypeError."""
        if not isinstance(other, Rules):
            return NotImplemented
        for kind in other._table.keys() & self._table.keys():
            raise TypeError(
                f'{kind.__name__} has two rules; each kind of exception becomes one error.'
            )
        return Rules({**self._table, **other._table})

    def __call__(self, raised: Exception, /) -> Failure[E_co] | None:
        """Give the failure that an exception means, or None where no rule names it."""
        for kind in type(raised).__mro__:
            if kind is Exception and isinstance(raised, ExceptionGroup):
                return None  # A rule for every exception is one for each member.
            if (make := self._table.get(kind)) is not None:
                return Failure(make(raised))
        return None


class Edge(Protocol[E_co]):
    """A decorator that keeps the signature and turns the value into a result; `attempt` and `refine` make it."""

    @overload
    def __call__(  # type: ignore[overload-overlap]  # a coroutine first
        self, function: Callable[P, Coroutine[object, Never, T]], /
    ) -> Callable[P, CoroutineType[object, Never, Result[T, E_co]]]: ...
    @overload
    def __call__(self, function: Callable[P, T], /) -> Callable[P, Result[T, E_co]]: ...


Classify: TypeAlias = Callable[[Exception], Failure[E] | None]
"""Tells which failure an exception means, or None for a defect."""


@overload
def attempt(  # type: ignore[overload-overlap]  # a coroutine first
    call: Callable[[], Coroutine[object, Never, T]], rules: Rules[E], /
) -> CoroutineType[object, Never, Result[T, E]]: ...
@overload
def attempt(call: Callable[[], T], rules: Rules[E], /) -> Result[T, E]: ...
@overload
def attempt(rules: Rules[E], /) -> Edge[E]: ...
def attempt(*given: Any) -> Any:
    """Call, and turn the exceptions that `rules` name into failures; every other one passes as a defect.

    `attempt(call, rules)` calls at once, `attempt(rules)` decorates; both take `def` and `async def`. An
    ExceptionGroup whose members are all named becomes a failure too: of the one error, or of the tuple of all
    of them; one unknown member keeps the whole group a defect.

    >>> @attempt(when(ValueError).becomes(lambda raised: f'no number: {raised}'))
    ... def parse(text: str) -> int:
    ...     return int(text)
    >>> parse('7'), attempt(lambda: int('8'), when(ValueError).becomes(str))
    (<Success: 7>, <Success: 8>)
    """
    if not given or not isinstance(given[-1], Rules):
        raise TypeError(
            f'attempt takes rules last, as in `attempt(call, when(OSError).becomes(disk_failed))`, not {given!r}.'
        )
    return _edge('attempt', *given)


@overload
def refine(  # type: ignore[overload-overlap]  # a coroutine first
    call: Callable[[], Coroutine[object, Never, T]], classify: Classify[E], /
) -> CoroutineType[object, Never, Result[T, E]]: ...
@overload
def refine(call: Callable[[], T], classify: Classify[E], /) -> Result[T, E]: ...
@overload
def refine(classify: Classify[E], /) -> Edge[E]: ...
def refine(*given: Any) -> Any:
    """Call, and let `classify` tell which exceptions are failures: it gives a Failure, or None for a defect.

    The same as `attempt` where a table does not do: `refine(call, classify)` or `@refine(classify)`.

    >>> def missing(raised: Exception) -> Failure[str] | None:
    ...     return Failure('missing') if isinstance(raised, OSError) and raised.errno == 2 else None
    >>> refine(lambda: open('/no/such/file'), missing)
    <Failure: missing>
    """
    return _edge('refine', *given)


def or_raise(result: Result[T, object], /) -> T:
    """Give the value, or raise `Raised(error)`: for code that needs an exception, a transaction that rolls back.

    >>> or_raise(Success(1))
    1
    """
    if type(result) is Success:
        return result.unwrap()
    if type(result) is not Failure:
        raise TypeError(f'or_raise takes a Success or a Failure, not {type(result).__name__}.')
    # Not by a name of this frame: the traceback holds it, and each would keep the other alive.
    raise _raised(result.failure())


# fmt: off
@overload
def caught(call: Callable[[], Coroutine[object, Never, T]], k1: type[K1], /) -> CoroutineType[object, Never, Result[T, K1]]: ...  # type: ignore[overload-overlap]  # a coroutine first
@overload
def caught(  # type: ignore[overload-overlap]  # a coroutine first
    call: Callable[[], Coroutine[object, Never, T]], k1: type[K1], k2: type[K2], /,
) -> CoroutineType[object, Never, Result[T, K1 | K2]]: ...
@overload
def caught(  # type: ignore[overload-overlap]  # a coroutine first
    call: Callable[[], Coroutine[object, Never, T]], k1: type[K1], k2: type[K2], k3: type[K3], /,
) -> CoroutineType[object, Never, Result[T, K1 | K2 | K3]]: ...
@overload
def caught(  # type: ignore[overload-overlap]  # a coroutine first
    call: Callable[[], Coroutine[object, Never, T]], k1: type[K1], k2: type[K2], k3: type[K3], k4: type[K4], /,
) -> CoroutineType[object, Never, Result[T, K1 | K2 | K3 | K4]]: ...
@overload
def caught(  # type: ignore[overload-overlap]  # a coroutine first
    call: Callable[[], Coroutine[object, Never, T]], k1: type[K1], k2: type[K2], k3: type[K3], k4: type[K4], k5: type[K5], /,
) -> CoroutineType[object, Never, Result[T, K1 | K2 | K3 | K4 | K5]]: ...
@overload
def caught(  # type: ignore[overload-overlap]  # a coroutine first
    call: Callable[[], Coroutine[object, Never, T]],
    k1: type[K1], k2: type[K2], k3: type[K3], k4: type[K4], k5: type[K5], k6: type[K6], /,
) -> CoroutineType[object, Never, Result[T, K1 | K2 | K3 | K4 | K5 | K6]]: ...
@overload
def caught(call: Callable[[], T], k1: type[K1], /) -> Result[T, K1]: ...
@overload
def caught(call: Callable[[], T], k1: type[K1], k2: type[K2], /) -> Result[T, K1 | K2]: ...
@overload
def caught(call: Callable[[], T], k1: type[K1], k2: type[K2], k3: type[K3], /) -> Result[T, K1 | K2 | K3]: ...
@overload
def caught(call: Callable[[], T], k1: type[K1], k2: type[K2], k3: type[K3], k4: type[K4], /) -> Result[T, K1 | K2 | K3 | K4]: ...
@overload
def caught(
    call: Callable[[], T], k1: type[K1], k2: type[K2], k3: type[K3], k4: type[K4], k5: type[K5], /,
) -> Result[T, K1 | K2 | K3 | K4 | K5]: ...
@overload
def caught(
    call: Callable[[], T], k1: type[K1], k2: type[K2], k3: type[K3], k4: type[K4], k5: type[K5], k6: type[K6], /,
) -> Result[T, K1 | K2 | K3 | K4 | K5 | K6]: ...
# fmt: on
def caught(call: Callable[[], object], /, *kinds: type) -> object:
    """Call, and turn a `Raised` error of one of `kinds` back into its failure; every other one passes.

    The way back from `or_raise`; takes `def` and `async def`, and one to six kinds.

    >>> caught(lambda: or_raise(Failure('late')), str)
    <Failure: late>
    """
    if not kinds or not all(isinstance(kind, type) for kind in kinds):
        raise TypeError(
            f'caught takes the kinds of error to catch, one after the other, not {kinds!r}.'
        )

    def classify(raised: Exception) -> Failure[object] | None:
        return (
            Failure(raised.error)
            if isinstance(raised, Raised) and isinstance(raised.error, kinds)
            else None
        )

    return _edge('caught', call, classify)


def _raised(error: object) -> Raised:
    raised = Raised(error)
    for one in chain(raised):
        # An exception below the error shows up in the traceback, as it would have without us.
        if isinstance(one, BaseException) and one is not raised:
            raised.__cause__ = one
            break
    return raised


def _edge(name: str, *given: Any) -> Any:
    if len(given) not in {1, 2} or not all(map(callable, given)):
        raise TypeError(
            f'{name} takes a function without arguments to call (say `lambda: load(path)`), and what tells failures.'
        )
    *call, classify = given
    return _called(call[0], classify) if call else partial(_decorated, name, classify=classify)


def _decorated(name: str, function: Any, classify: Classify[Any]) -> Callable[..., Any]:
    if type(function) in {classmethod, staticmethod}:
        raise TypeError(f'Put @{name} under @{type(function).__name__}, not above it.')
    if isgeneratorfunction(function) or isasyncgenfunction(function):
        raise TypeError(
            f'{function.__qualname__} is a generator: it raises when it is read, where no edge stands.'
        )
    if not callable(function):
        raise TypeError(f'@{name} takes a function, not {function!r}.')
    return (
        _coroutine(function, classify)
        if iscoroutinefunction(function)
        else _plain(function, classify)
    )


def _coroutine(
    function: Callable[P, Coroutine[object, Never, T]], classify: Classify[E]
) -> Callable[P, Coroutine[Any, Any, Result[T, E]]]:
    @wraps(function)
    async def run(*args: P.args, **kwargs: P.kwargs) -> Result[T, E]:
        return await _awaited(function(*args, **kwargs), classify)

    return run


def _plain(function: Callable[P, object], classify: Classify[Any]) -> Callable[P, object]:
    @wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> object:
        return _called(lambda: function(*args, **kwargs), classify)

    return run


def _called(call: Callable[[], Any], classify: Classify[Any]) -> Any:
    try:
        value = call()
    except Exception as raised:
        failure = _judged(raised, classify)
        if failure is not None:
            try:
                return failure
            finally:
                # Its error may hold the exception, whose traceback holds this frame.
                del failure
        raise
    return _awaited(value, classify) if iscoroutine(value) else Success(value)


async def _awaited(value: Coroutine[object, Never, T], classify: Classify[E]) -> Result[T, E]:
    try:
        return Success(await value)
    except Exception as raised:
        failure = _judged(raised, classify)
        if failure is not None:
            try:
                return failure
            finally:
                # Its error may hold the exception, whose traceback holds this frame.
                del failure
        raise


def _judged(raised: Exception, classify: Classify[E]) -> Failure[Any] | None:
    failure = _asked(raised, classify)
    if failure is not None or not members(raised):
        return failure
    failures = [_asked(one, classify) for one in iter_leaves(raised) if isinstance(one, Exception)]
    errors = [one.failure() for one in failures if one is not None]
    if len(errors) < len(failures):
        return None
    return Failure(errors[0] if len(errors) == 1 else tuple(errors))


def _asked(raised: Exception, classify: Classify[E]) -> Failure[E] | None:
    failure = classify(raised)
    if failure is not None and type(failure) is not Failure:
        raise TypeError(
            f'{classify!r} must give a Failure or None, but gave {type(failure).__name__}.'
        )
    return failure
