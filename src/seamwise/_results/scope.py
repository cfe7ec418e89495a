"""Direct style: in a `@fallible` function, `do(result)` returns the value or ends the function."""

from __future__ import annotations

from _thread import get_ident
from collections.abc import Callable, Coroutine
from functools import wraps
from inspect import iscoroutinefunction
from types import CoroutineType
from typing import Any, Concatenate, Generic, Never, Protocol, final, overload

from typing_extensions import ParamSpec, TypeVar, override

from seamwise._errors.causes import error_chain, iter_leaves
from seamwise._errors.errors import ErrorMeta
from seamwise._results.containers import RESULT_TYPES, Failure, Result, Success, expect_result
from seamwise._results.edges import Anything, check_error
from seamwise._results.signatures import coroutine_returned, direct_signature

T = TypeVar('T', default=Never)
E = TypeVar('E', default=Never)
S = TypeVar('S')
P = ParamSpec('P', default=...)
E_contra = TypeVar('E_contra', contravariant=True, default=Never)
E_co = TypeVar('E_co', covariant=True, default=Never)
T_co = TypeVar('T_co', covariant=True, default=Never)
S_contra = TypeVar('S_contra', contravariant=True)


class ScopeLeaked(RuntimeError):
    """A `do` failed but did not end its function: too late, in another thread, or swallowed."""


class Signal(BaseException):
    """Exception that ends a function in direct style; only the scope of its `do` catches it.

    It derives from BaseException, so that no `except Exception` catches it. Its arguments are
    `Signal(scope, failure)`; without an `__init__`, creation takes a third of the time.
    """

    args: tuple[Do[Never], Failure[Any]]

    @override
    def __str__(self) -> str:
        return f'a do left its function with {self.args[1]!r}'


@final
class Do(Generic[E_contra]):
    """First parameter of a function in direct style; `Do[A | B]` declares its error channel.

    `do(result)` returns the value of a success, and ends the function with a failure;
    `do.fail(error)` ends it. Both work in the function and in the code that it runs: generators,
    callbacks, nested scopes, tasks of a task group. ScopeLeaked is raised by a `do` that fails too
    late or in another thread, and by a function that returns normally after its `do` has failed.

    >>> from seamwise import fallible
    >>> @fallible
    ... def half(do: Do[str], number: Result[int, str]) -> int:
    ...     half, rest = divmod(do(number), 2)
    ...     return do.fail('odd') if rest else half
    >>> half(Success(8)), half(Success(7)), half(Failure('late'))
    (Success(4), Failure('odd'), Failure('late'))
    """

    __slots__ = ('_failure', '_thread')

    # The runner sets both attributes, because an `__init__` would be another call per call of the
    # function.
    _failure: Failure[object] | None
    """The first failure, else None."""
    _thread: int
    """Thread in which the function runs; 0 after its end."""

    def __call__(self, result: Result[T, E_contra], /) -> T:
        """Return the value of a success, or end the function with the failure."""
        if type(result) is Success:
            return result._inner_value
        failure: object = result
        if type(failure) is not Failure:
            value: T = self(expect_result(result, 'do'))
            return value
        if self._failure is None:
            self._failure = failure
        elif self._failure is failure:
            # A constant that fails again must differ from the first failure, whose signal may
            # have been swallowed.
            failure = Failure(failure.failure())
        # Checked only here, so that a `do` with a success does not pay for it.
        if self._thread != get_ident():
            raise self._leaked(failure)
        raise Signal(self, failure)

    def fail(self, error: E_contra, /) -> Never:
        """End the function with this error."""
        # A call of `check_error` for every error would slow this method by a tenth.
        if type(error) in _NO_ERRORS:
            check_error(error, 'do.fail takes an error', 'write do(result).')
        end: Callable[[Failure[E_contra]], Never] = self  # pyright: ignore[reportAssignmentType]  # T is Never
        end(Failure(error))

    def _leaked(self, failure: Failure[Any]) -> ScopeLeaked:
        if not self._thread:
            return ScopeLeaked(f'A do outlived its function and failed too late, with {failure!r}.')
        return ScopeLeaked(
            f'A do failed in another thread than that of its function, with {failure!r}.'
        )

    def _settle(self, group: BaseExceptionGroup[BaseException]) -> Failure[Any] | BaseException:
        """Return the failure or the exception of a function that has raised `group`."""
        own, rest = group.split(lambda error: type(error) is Signal and error.args[0] is self)
        if own is None:
            return group
        if rest is not None:
            _remove_signals(rest)
            return rest
        failure = self._failure
        arrived = type(failure) is Failure and any(
            isinstance(signal, Signal) and signal.args[1] is failure for signal in iter_leaves(own)
        )
        return failure if type(failure) is Failure and arrived else self._swallowed()

    def _no_value(
        self, function: Callable[..., object], value: object, *, is_async: bool
    ) -> Exception:
        """Return the reason why a function that returned normally has no value."""
        if self._failure is not None:
            return self._swallowed()
        name = getattr(function, '__qualname__', repr(function))
        if isinstance(value, Coroutine):
            value.close()
            return TypeError(coroutine_returned(name, is_async=is_async))
        return TypeError(
            f'{name} returned {value!r} as its value, because @fallible adds the Success; '
            'write `return do(result)` to return the value of a result.'
        )

    def _swallowed(self) -> ScopeLeaked:
        return ScopeLeaked(
            f'A do failed with {self._failure!r}, but some code swallowed its early return.'
        )


class OpenFunction(Protocol[E_co, P, T_co]):
    """Function in direct style whose return type fits every other type; see `edges.Open`."""

    @overload
    def __call__(self, do: Do[E_co], /, *args: P.args, **kwargs: P.kwargs) -> Anything: ...
    @overload
    def __call__(  # type: ignore[overload-cannot-match]  # a function must match both
        self, do: Do[E_co], /, *args: P.args, **kwargs: P.kwargs
    ) -> T_co: ...


class OpenMethod(Protocol[S_contra, E_co, P, T_co]):
    """Method in direct style whose return type fits every other type; see `edges.Open`."""

    @overload
    def __call__(
        self, receiver: S_contra, do: Do[E_co], /, *args: P.args, **kwargs: P.kwargs
    ) -> Anything: ...
    @overload
    def __call__(  # type: ignore[overload-cannot-match]  # a method must match both
        self, receiver: S_contra, do: Do[E_co], /, *args: P.args, **kwargs: P.kwargs
    ) -> T_co: ...


@overload
def fallible(function: OpenFunction[E, P, T], /) -> Callable[P, Result[T, E]]: ...  # type: ignore[overload-overlap]  # open types first
@overload
def fallible(function: OpenMethod[S, E, P, T], /) -> Callable[Concatenate[S, P], Result[T, E]]: ...  # type: ignore[overload-overlap]  # open types first
@overload
def fallible(  # type: ignore[overload-overlap]  # coroutines first
    function: Callable[Concatenate[Do[E], P], Coroutine[object, Never, T]], /
) -> Callable[P, CoroutineType[object, Never, Result[T, E]]]: ...
@overload
def fallible(function: Callable[Concatenate[Do[E], P], T], /) -> Callable[P, Result[T, E]]: ...  # type: ignore[overload-overlap]  # coroutines first
@overload
def fallible(  # type: ignore[overload-overlap]  # coroutines first
    function: Callable[Concatenate[S, Do[E], P], Coroutine[object, Never, T]], /
) -> Callable[Concatenate[S, P], CoroutineType[object, Never, Result[T, E]]]: ...
@overload
def fallible(
    function: Callable[Concatenate[S, Do[E], P], T], /
) -> Callable[Concatenate[S, P], Result[T, E]]: ...
def fallible(function: Callable[..., object] | None = None, /) -> Callable[..., object]:
    """Decorate a function in direct style: it returns a Success, or the Failure of its `do`.

    The first parameter, or the second after `self` or `cls`, is `do: Do[A | B]`; callers do not
    pass it. A coroutine function stays one. Exceptions and cancellation propagate unchanged. A
    function that cannot be decorated raises TypeError.

    >>> @fallible
    ... def half(do: Do[str], number: int) -> int:
    ...     if number % 2:
    ...         do.fail(f'{number} is odd')
    ...     return number // 2
    >>> @fallible
    ... def quarter(do: Do[str], number: int) -> int:
    ...     return do(half(do(half(number))))
    >>> quarter(12), quarter(6)
    (Success(3), Failure('3 is odd'))
    """
    if function is None:
        raise TypeError('fallible takes no options: write `@fallible` without parentheses.')
    is_method, public = direct_signature(function, Do)
    inner: Callable[..., Any] = _do_first(function) if is_method else function
    run = wraps(function)(_coroutine(inner) if iscoroutinefunction(function) else _plain(inner))
    vars(run)['__signature__'] = public
    run.__annotations__ = {
        parameter.name: parameter.annotation
        for parameter in public.parameters.values()
        if parameter.annotation is not public.empty
    }
    if public.return_annotation is not public.empty:
        run.__annotations__['return'] = public.return_annotation
    return run


def _do_first(method: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(method)
    def inner(do: object, receiver: object, /, *args: object, **kwargs: object) -> Any:
        return method(receiver, do, *args, **kwargs)

    return inner


_NO_VALUES: frozenset[type] = RESULT_TYPES | {CoroutineType}
_NO_ERRORS: frozenset[type] = RESULT_TYPES | {ErrorMeta}

# Has a declared type: type checkers would narrow the attribute to None.
_NO_FAILURE: Failure[object] | None = None


def _plain(function: Callable[Concatenate[Do[E], ...], T]) -> Callable[..., Result[T, E]]:
    def run(*args: object, **kwargs: object) -> Result[T, E]:
        do: Do[E] = Do()
        do._failure = _NO_FAILURE
        do._thread = get_ident()
        try:
            # Passing an empty `**kwargs` costs as much as passing some.
            value = function(do, *args, **kwargs) if kwargs else function(do, *args)
        except Signal as signal:
            scope, failure = signal.args
            if scope is not do:
                raise
            if failure is do._failure:
                return failure
            end: Failure[Any] | BaseException = do._swallowed()
        except BaseExceptionGroup as group:
            end = do._settle(group)
            if type(end) is Failure:
                return end
            if end is group:
                raise
        else:
            if do._failure is None and type(value) not in _NO_VALUES:
                return Success(value)
            end = do._no_value(function, value, is_async=False)
        finally:
            do._thread = 0
        try:
            # Not in the `except` block, so that the exception has no signal as its context.
            raise end  # type: ignore[misc]  # mypy loses the narrowed type in `finally`
        finally:
            # The traceback of the exception refers to this frame: break the reference cycle.
            del end

    return run


def _coroutine(
    function: Callable[Concatenate[Do[E], ...], Coroutine[object, Never, T]],
) -> Callable[..., Coroutine[Any, Any, Result[T, E]]]:
    async def run(*args: object, **kwargs: object) -> Result[T, E]:
        do: Do[E] = Do()
        do._failure = _NO_FAILURE
        do._thread = get_ident()
        try:
            value = await function(do, *args, **kwargs)
        except Signal as signal:
            scope, failure = signal.args
            if scope is not do:
                raise
            if failure is do._failure:
                return failure
            end: Failure[Any] | BaseException = do._swallowed()
        except BaseExceptionGroup as group:
            end = do._settle(group)
            if type(end) is Failure:
                return end
            if end is group:
                raise
        else:
            if do._failure is None and type(value) not in _NO_VALUES:
                return Success(value)
            end = do._no_value(function, value, is_async=True)
        finally:
            do._thread = 0
        try:
            # Not in the `except` block, so that the exception has no signal as its context.
            raise end  # type: ignore[misc]  # mypy loses the narrowed type in `finally`
        finally:
            # The traceback of the exception refers to this frame: break the reference cycle.
            del end

    return run


def _remove_signals(group: BaseException) -> None:
    # A task group that a signal has left has it as its context, and so can the errors of its tasks.
    for error in error_chain(group):
        while isinstance(error, BaseException) and type(error.__context__) is Signal:
            error.__context__ = error.__context__.__context__
