"""Conversion of exceptions to failures and back: `attempt`, `refine`, `or_raise`, `caught`."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import partial, wraps
from inspect import isasyncgenfunction, iscoroutinefunction, isgeneratorfunction
from types import CoroutineType
from typing import Any, Generic, Never, ParamSpec, Protocol, TypeAlias, final, overload

from typing_extensions import TypeVar

from seamwise._errors.causes import Raised, accepts_cause, error_chain, iter_leaves, members
from seamwise._errors.errors import ErrorMeta, TaggedError, with_field
from seamwise._results.containers import Failure, Result, Success, as_result, expect_result
from seamwise._results.signatures import DECORATED, is_bare, missing_parentheses

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
T_co = TypeVar('T_co', covariant=True, default=Never)
X = TypeVar('X', bound=Exception)
P = ParamSpec('P')


@final
class When(Generic[X]):
    """Exception type without an error yet; `when` creates it."""

    __slots__ = ('_type',)

    def __init__(self, type_: type[X]) -> None:
        self._type = type_

    def becomes(self, error: Callable[[X], E], /) -> Rules[E]:
        """Return the rule that converts the exception; `error` creates the error from it."""
        return Rules({self._type: error})


def when(kind: type[X], /) -> When[X]:
    """Start a rule for an exception type: `.becomes(make_error)` completes it, `|` joins rules.

    The type must derive from Exception: cancellation, KeyboardInterrupt and SystemExit always
    propagate.

    >>> rules = when(ZeroDivisionError).becomes(lambda _: 'by zero') | when(ValueError).becomes(str)
    >>> attempt(lambda: 1 // 0, rules)
    Failure('by zero')
    """
    if not _is_exception(kind):
        raise TypeError(
            f'when takes a class of exceptions that derives from Exception, not {kind!r}.'
            f'{_join_advice(kind)}'
        )
    return When(kind)


def _join_advice(value: object) -> str:
    """Return the alternative to a tuple of classes, which `except` accepts."""
    return ' Join the rules of several classes with `|`.' if isinstance(value, tuple) else ''


def _is_exception(value: object) -> bool:
    return isinstance(value, type) and issubclass(value, Exception)


@final
class Rules(Generic[E_co]):
    """Table from exception types to errors; the exact type of an exception wins over its bases."""

    __slots__ = ('_table',)

    def __init__(self, table: dict[type[Exception], Callable[[Any], E_co]]) -> None:
        self._table = table

    def __or__(self, other: Rules[F], /) -> Rules[E_co | F]:
        """Join two tables; raises TypeError if both have a rule for the same exception type."""
        if not isinstance(other, Rules):
            return NotImplemented
        for type_ in other._table.keys() & self._table.keys():
            raise TypeError(f'{type_.__name__} has two rules; each exception type may have one.')
        return Rules({**self._table, **other._table})

    def __call__(self, exception: Exception, /) -> Failure[E_co] | None:
        """Return the failure for an exception, or None if no rule applies."""
        for type_ in type(exception).__mro__:
            if type_ is Exception and isinstance(exception, ExceptionGroup):
                # A rule for Exception applies to each member of a group, not to the group.
                return None
            if (make_error := self._table.get(type_)) is not None:
                error = make_error(exception)
                check_error(
                    error,
                    f'{_name_of(make_error)} must return an error',
                    'return the error itself.',
                )
                return Failure(error)
        return None


def check_error(error: object, requirement: str, advice: str) -> None:
    """Raise TypeError for a result, with some advice, and for a class of errors."""
    if as_result(error) is not None:
        raise TypeError(f'{requirement}, not {error!r}; {advice}')
    if isinstance(error, ErrorMeta):
        name = error.__name__
        raise TypeError(f'{requirement}, not the class {name}; create one, as in {name}(…).')


@final
class Anything:
    """Return type that no function declares."""


class Open(Protocol[P, T_co]):
    """Function whose return type fits every other type: a type variable, `Never` or `Any`.

    It comes before the overload for coroutine functions, which it would match as well.
    """

    @overload
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Anything: ...
    @overload
    def __call__(  # type: ignore[overload-cannot-match]  # a function must match both
        self, *args: P.args, **kwargs: P.kwargs
    ) -> T_co: ...


class Edge(Protocol[E_co]):
    """Decorator that keeps the parameters and returns a result; see `attempt` and `refine`."""

    @overload
    def __call__(self, function: Open[P, T], /) -> Callable[P, Result[T, E_co]]: ...  # type: ignore[overload-overlap]  # open types first
    @overload
    def __call__(  # type: ignore[overload-overlap]  # coroutines first
        self, function: Callable[P, Coroutine[object, Never, T]], /
    ) -> Callable[P, CoroutineType[object, Never, Result[T, E_co]]]: ...
    @overload
    def __call__(self, function: Callable[P, T], /) -> Callable[P, Result[T, E_co]]: ...


Classify: TypeAlias = Callable[[Exception], Failure[E] | None]
"""Function that returns the failure for an exception, or None for a defect."""


@overload
def attempt(call: Open[[], T], rules: Rules[E], /) -> Result[T, E]: ...  # type: ignore[overload-overlap]  # open types first
@overload
def attempt(  # type: ignore[overload-overlap]  # coroutines first
    call: Callable[[], Coroutine[object, Never, T]], rules: Rules[E], /
) -> CoroutineType[object, Never, Result[T, E]]: ...
@overload
def attempt(call: Callable[[], T], rules: Rules[E], /) -> Result[T, E]: ...
@overload
def attempt(rules: Rules[E], /) -> Edge[E]: ...
def attempt(*args: Any) -> Any:
    """Convert exceptions to failures by `rules`; all others propagate as defects.

    `attempt(call, rules)` calls immediately, `attempt(rules)` is a decorator; both accept `def` and
    `async def`. An ExceptionGroup becomes a failure if the rules apply to all its members: that of
    the first member. If there are others, the group is the `cause` of the error, where the class
    has such a field and the rule has put the member itself or None into it.

    >>> @attempt(when(ValueError).becomes(lambda error: f'no number: {error}'))
    ... def parse(text: str) -> int:
    ...     return int(text)
    >>> parse('7'), attempt(lambda: int('8'), when(ValueError).becomes(str))
    (Success(7), Success(8))
    """
    if len(args) == 1 and isinstance(args[0], DECORATED):
        raise missing_parentheses(args[0], 'attempt(rules)')
    if not args or not isinstance(args[-1], Rules):
        raise TypeError(
            'attempt takes rules last, as in `attempt(call, when(OSError).becomes(disk_failed))`, '
            f'not {args!r}.'
        )
    return _edge('attempt', *args)


@overload
def refine(call: Open[[], T], classify: Classify[E], /) -> Result[T, E]: ...  # type: ignore[overload-overlap]  # open types first
@overload
def refine(  # type: ignore[overload-overlap]  # coroutines first
    call: Callable[[], Coroutine[object, Never, T]], classify: Classify[E], /
) -> CoroutineType[object, Never, Result[T, E]]: ...
@overload
def refine(call: Callable[[], T], classify: Classify[E], /) -> Result[T, E]: ...
@overload
def refine(classify: Classify[E], /) -> Edge[E]: ...
def refine(*args: Any) -> Any:
    """Convert exceptions to failures by a function; it returns None for a defect, which propagates.

    Use it if a table of exception types is not enough for `attempt`: `refine(call, classify)` calls
    immediately, `refine(classify)` is a decorator.

    >>> def missing(error: Exception) -> Failure[str] | None:
    ...     return Failure('missing') if isinstance(error, OSError) and error.errno == 2 else None
    >>> refine(lambda: open('/no/such/file'), missing)
    Failure('missing')
    """
    if len(args) == 1 and is_bare(args[0]):
        raise missing_parentheses(args[0], 'refine(classify)')
    return _edge('refine', *args)


def or_raise(result: Result[T, object], /) -> T:
    """Return the value of a success; raise `Raised(error)` for a failure.

    Use it in code that needs an exception, such as a transaction that must roll back.

    >>> or_raise(Success(1))
    1
    """
    result = expect_result(result, 'or_raise')
    if type(result) is Success:
        return result.unwrap()
    # No local variable: the traceback refers to this frame, so it would form a reference cycle.
    raise _raised_with_cause(result.failure())


# fmt: off
@overload
def caught(  # type: ignore[overload-overlap]  # open types first
    call: Open[[], T], k1: type[K1], /,
) -> Result[T, K1]: ...
@overload
def caught(  # type: ignore[overload-overlap]  # open types first
    call: Open[[], T], k1: type[K1], k2: type[K2], /,
) -> Result[T, K1 | K2]: ...
@overload
def caught(  # type: ignore[overload-overlap]  # open types first
    call: Open[[], T], k1: type[K1], k2: type[K2], k3: type[K3], /,
) -> Result[T, K1 | K2 | K3]: ...
@overload
def caught(  # type: ignore[overload-overlap]  # open types first
    call: Open[[], T], k1: type[K1], k2: type[K2], k3: type[K3], k4: type[K4], /,
) -> Result[T, K1 | K2 | K3 | K4]: ...
@overload
def caught(  # type: ignore[overload-overlap]  # open types first
    call: Open[[], T], k1: type[K1], k2: type[K2], k3: type[K3], k4: type[K4], k5: type[K5], /,
) -> Result[T, K1 | K2 | K3 | K4 | K5]: ...
@overload
def caught(  # type: ignore[overload-overlap]  # open types first
    call: Open[[], T], k1: type[K1], k2: type[K2], k3: type[K3], k4: type[K4],
    k5: type[K5], k6: type[K6], /,
) -> Result[T, K1 | K2 | K3 | K4 | K5 | K6]: ...
@overload
def caught(  # type: ignore[overload-overlap]  # coroutines first
    call: Callable[[], Coroutine[object, Never, T]], k1: type[K1], /,
) -> CoroutineType[object, Never, Result[T, K1]]: ...
@overload
def caught(  # type: ignore[overload-overlap]  # coroutines first
    call: Callable[[], Coroutine[object, Never, T]], k1: type[K1], k2: type[K2], /,
) -> CoroutineType[object, Never, Result[T, K1 | K2]]: ...
@overload
def caught(  # type: ignore[overload-overlap]  # coroutines first
    call: Callable[[], Coroutine[object, Never, T]], k1: type[K1], k2: type[K2], k3: type[K3], /,
) -> CoroutineType[object, Never, Result[T, K1 | K2 | K3]]: ...
@overload
def caught(  # type: ignore[overload-overlap]  # coroutines first
    call: Callable[[], Coroutine[object, Never, T]], k1: type[K1], k2: type[K2], k3: type[K3],
    k4: type[K4], /,
) -> CoroutineType[object, Never, Result[T, K1 | K2 | K3 | K4]]: ...
@overload
def caught(  # type: ignore[overload-overlap]  # coroutines first
    call: Callable[[], Coroutine[object, Never, T]], k1: type[K1], k2: type[K2], k3: type[K3],
    k4: type[K4], k5: type[K5], /,
) -> CoroutineType[object, Never, Result[T, K1 | K2 | K3 | K4 | K5]]: ...
@overload
def caught(  # type: ignore[overload-overlap]  # coroutines first
    call: Callable[[], Coroutine[object, Never, T]],
    k1: type[K1], k2: type[K2], k3: type[K3], k4: type[K4], k5: type[K5], k6: type[K6], /,
) -> CoroutineType[object, Never, Result[T, K1 | K2 | K3 | K4 | K5 | K6]]: ...
@overload
def caught(call: Callable[[], T], k1: type[K1], /) -> Result[T, K1]: ...
@overload
def caught(call: Callable[[], T], k1: type[K1], k2: type[K2], /) -> Result[T, K1 | K2]: ...
@overload
def caught(
    call: Callable[[], T], k1: type[K1], k2: type[K2], k3: type[K3], /,
) -> Result[T, K1 | K2 | K3]: ...
@overload
def caught(
    call: Callable[[], T], k1: type[K1], k2: type[K2], k3: type[K3], k4: type[K4], /,
) -> Result[T, K1 | K2 | K3 | K4]: ...
@overload
def caught(
    call: Callable[[], T], k1: type[K1], k2: type[K2], k3: type[K3], k4: type[K4], k5: type[K5], /,
) -> Result[T, K1 | K2 | K3 | K4 | K5]: ...
@overload
def caught(
    call: Callable[[], T], k1: type[K1], k2: type[K2], k3: type[K3], k4: type[K4], k5: type[K5],
    k6: type[K6], /,
) -> Result[T, K1 | K2 | K3 | K4 | K5 | K6]: ...
# fmt: on
def caught(call: Callable[[], object], /, *kinds: type) -> object:
    """Call a function, and convert a `Raised` error of one of `kinds` back to its failure.

    The inverse of `or_raise`. It accepts `def` and `async def`, and one to six error types.

    >>> caught(lambda: or_raise(Failure('late')), str)
    Failure('late')
    """
    if not kinds or not all(isinstance(class_, type) for class_ in kinds):
        raise TypeError(
            f'caught takes error classes after the function, not {kinds!r}; '
            'write them one by one, as in caught(call, A, B).'
        )
    if not callable(call):
        raise TypeError(
            'caught takes a function without arguments first, such as `lambda: load(path)`, '
            f'not {call!r}.'
        )

    def classify(exception: Exception) -> Failure[object] | None:
        if isinstance(exception, Raised) and isinstance(exception.error, kinds):
            return Failure(exception.error)
        return None

    return _call(call, classify)


def _raised_with_cause(error: object) -> Raised:
    raised = Raised(error)
    for cause in error_chain(raised):
        # Tracebacks show the exception that caused the error.
        if isinstance(cause, BaseException) and cause is not raised:
            raised.__cause__ = cause
            break
    return raised


def _edge(name: str, *args: Any) -> Any:
    if len(args) not in {1, 2} or not all(map(callable, args)):
        raise TypeError(
            f'{name} takes a function without arguments, such as `lambda: load(path)`, '
            'and then the rules or a function that classifies exceptions.'
        )
    *call, classify = args
    return _call(call[0], classify) if call else partial(_decorated, name, classify=classify)


def _decorated(name: str, function: Any, classify: Classify[Any]) -> Callable[..., Any]:
    if type(function) in {classmethod, staticmethod}:
        raise TypeError(f'Put @{name} under @{type(function).__name__}, not above it.')
    if not callable(function):
        raise TypeError(f'@{name} takes a function, not {function!r}.')
    # An object is called by a method of its class.
    calls = function, type(_without_partials(function)).__call__
    if any(isgeneratorfunction(call) or isasyncgenfunction(call) for call in calls):
        raise TypeError(
            f'{_name_of(function)} is a generator, which raises only when it is iterated; '
            f'use @{name} on the function that iterates it.'
        )
    return (
        _coroutine(function, classify)
        if iscoroutinefunction(function)
        else _plain(function, classify)
    )


def _without_partials(function: Any) -> Any:
    while isinstance(function, partial):
        function = function.func
    return function


def _name_of(function: object) -> str:
    function = _without_partials(function)
    return getattr(function, '__qualname__', repr(function))


def _coroutine(
    function: Callable[P, Coroutine[object, Never, T]], classify: Classify[E]
) -> Callable[P, Coroutine[Any, Any, Result[T, E]]]:
    @wraps(function)
    async def run(*args: P.args, **kwargs: P.kwargs) -> Result[T, E]:
        return await _await(function(*args, **kwargs), classify)

    return run


def _plain(function: Callable[P, object], classify: Classify[Any]) -> Callable[P, object]:
    @wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> object:
        return _call(lambda: function(*args, **kwargs), classify)

    return run


def _call(call: Callable[[], Any], classify: Classify[Any]) -> Any:
    try:
        value = call()
    except Exception as error:
        failure = _failure_of(error, classify)
        if failure is not None:
            try:
                return failure
            finally:
                # Break a reference cycle: error, exception, traceback, this frame.
                del failure
        raise
    return _await(value, classify) if _is_coroutine(value) else Success(value)


def _is_coroutine(value: object) -> bool:
    """Return whether a value is a coroutine; raises TypeError for another awaitable."""
    if not hasattr(type(value), '__await__'):
        return False
    if not isinstance(value, Coroutine):
        raise TypeError(
            f'The function returned an awaitable {type(value).__name__}, which is not a '
            'coroutine; await it in an `async def`, and pass that function.'
        )
    return True


async def _await(value: Coroutine[object, Never, T], classify: Classify[E]) -> Result[T, E]:
    try:
        return Success(await value)
    except Exception as error:
        failure = _failure_of(error, classify)
        if failure is not None:
            try:
                return failure
            finally:
                # Break a reference cycle: error, exception, traceback, this frame.
                del failure
        raise


def _failure_of(exception: Exception, classify: Classify[E]) -> Failure[E] | None:
    """Return the failure for an exception or a group of them, or None for a defect."""
    failure = _classified(exception, classify)
    if failure is not None or not members(exception):
        return failure
    first, *others = iter_leaves(exception)
    failures = [
        _classified(leaf, classify) if isinstance(leaf, Exception) else None
        for leaf in (first, *others)
    ]
    failure = None if None in failures else failures[0]
    return failure if failure is None or not others else _with_group(failure, first, exception)


def _with_group(failure: Failure[E], first: BaseException, group: Exception) -> Failure[E]:
    """Return the failure of the first exception, with the whole group as its cause if possible."""
    error: object = failure.failure()
    if not isinstance(error, TaggedError) or getattr(error, 'cause', first) not in {None, first}:
        return failure
    if not accepts_cause(type(error), group):
        return failure
    with_group: Any = with_field(error, 'cause', group)
    return Failure(with_group)


def _classified(exception: Exception, classify: Classify[E]) -> Failure[E] | None:
    value = classify(exception)
    if value is None:
        return None
    failure = as_result(value)
    if type(failure) is not Failure:
        raise TypeError(
            f'{classify!r} must return a Failure or None, but returned {type(value).__name__}.'
        )
    if not isinstance(classify, Rules):
        check_error(
            failure.failure(),
            f'{_name_of(classify)} must return a Failure of an error',
            'return its failure itself.',
        )
    return failure
