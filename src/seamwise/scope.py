"""Direct style: in a `@fallible` function, `do(result)` returns the value or ends the function."""

from __future__ import annotations

import sys
from _thread import _count as _count_other_threads
from _thread import get_ident
from collections.abc import Callable, Coroutine
from functools import wraps
from inspect import iscoroutinefunction
from types import CodeType, CoroutineType, FrameType
from typing import Any, Concatenate, Generic, Never, final, overload

from typing_extensions import ParamSpec, TypeVar, override

from seamwise._signatures import direct_signature
from seamwise.causes import chain, iter_leaves
from seamwise.containers import Failure, Result, Success, quick_failure, quick_success

T = TypeVar('T', default=Never)
E = TypeVar('E', default=Never)
S = TypeVar('S')
P = ParamSpec('P', default=...)
E_contra = TypeVar('E_contra', contravariant=True, default=Never)


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
    """

    __slots__ = ('_state', '_thread')

    _state: Failure[object] | bool
    """True while the function runs, then False; after a failure, the first failure.

    The scope sets it, because an `__init__` would be another call per call of the function.
    """
    _thread: int
    """Thread of a coroutine function; 0 in a plain function, which is found by its frame."""

    def __call__(self, result: Result[T, E_contra], /) -> T:
        """Return the value of a success, or end the function with the failure."""
        if type(result) is Success:
            return result._inner_value
        raise self._signal(result)

    def fail(self, error: E_contra, /) -> Never:
        """End the function with this error."""
        raise self._signal(quick_failure(error))

    def _signal(self, failure: object) -> BaseException:
        if type(failure) is not Failure:
            return TypeError(_not_a_result(failure))
        if self._state is True:
            self._state = failure
        elif self._state is False:
            return ScopeLeaked(f'A do outlived its function and failed too late, with {failure!r}.')
        elif self._state is failure:
            # A constant that fails again must differ from the first failure, whose signal may
            # have been swallowed.
            failure = quick_failure(failure.failure())
        # The thread is checked only here, so that a `do` with a success does not pay for it.
        if _count_other_threads() and not self._is_in_own_thread():
            return ScopeLeaked(
                f'A do failed in another thread than that of its function, with {failure!r}.'
            )
        return Signal(self, failure)

    def _is_in_own_thread(self) -> bool:
        if self._thread:
            return self._thread == get_ident()
        # A plain function is among the callers of its `do` while it runs.
        frame: FrameType | None = sys._getframe(2)
        while frame is not None:
            if frame.f_code is _plain_code and frame.f_locals['do'] is self:
                return True
            frame = frame.f_back
        return False

    def _settle(self, group: BaseExceptionGroup[BaseException]) -> Failure[Any] | BaseException:
        """Return the failure or the exception of a function that has raised `group`."""
        own, rest = group.split(lambda error: type(error) is Signal and error.args[0] is self)
        if own is None:
            return group
        if rest is not None:
            _remove_signals(rest)
            return rest
        failure = self._state
        arrived = type(failure) is Failure and any(
            isinstance(signal, Signal) and signal.args[1] is failure for signal in iter_leaves(own)
        )
        return failure if type(failure) is Failure and arrived else self._swallowed()

    def _swallowed(self) -> ScopeLeaked:
        return ScopeLeaked(
            f'A do failed with {self._state!r}, but some code swallowed its early return.'
        )


def _not_a_result(value: object) -> str:
    name, type_name = getattr(value, '__name__', 'step'), type(value).__name__
    if isinstance(value, Coroutine):
        value.close()
        return f'do takes a result, not a coroutine; write `do(await {name}(…))`.'
    return f'do takes a Success or a Failure, not {type_name}.'


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
def fallible(function: Callable[..., object], /) -> Callable[..., object]:
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
    (<Success: 3>, <Failure: 3 is odd>)
    """
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
    def inner(do: object, receiver: object, /, *args: object, **kwargs: object) -> Any:
        return method(receiver, do, *args, **kwargs)

    return inner


# Has a declared type: type checkers would narrow the state to a plain True.
_RUNNING: Failure[object] | bool = True


def _plain(function: Callable[Concatenate[Do[E], ...], T]) -> Callable[..., Result[T, E]]:
    def run(*args: object, **kwargs: object) -> Result[T, E]:
        do: Do[E] = Do()
        do._state = _RUNNING
        do._thread = 0
        try:
            # Passing an empty `**kwargs` costs as much as passing some.
            value = function(do, *args, **kwargs) if kwargs else function(do, *args)
        except Signal as signal:
            scope, failure = signal.args
            if scope is not do:
                raise
            if failure is do._state:
                return failure
            settled: Failure[E] | BaseException = do._swallowed()
        except BaseExceptionGroup as group:
            settled = do._settle(group)
            if settled is group:
                raise
        else:
            if do._state is True:
                return quick_success(value)
            settled = do._swallowed()
        finally:
            do._state = False
        try:
            return _return_or_raise(settled)
        finally:
            # The traceback of the exception refers to this frame: break the reference cycle.
            del settled

    return run


def _coroutine(
    function: Callable[Concatenate[Do[E], ...], Coroutine[object, Never, T]],
) -> Callable[..., Coroutine[Any, Any, Result[T, E]]]:
    async def run(*args: object, **kwargs: object) -> Result[T, E]:
        do: Do[E] = Do()
        do._state = _RUNNING
        do._thread = get_ident()
        try:
            value = await function(do, *args, **kwargs)
        except Signal as signal:
            scope, failure = signal.args
            if scope is not do:
                raise
            if failure is do._state:
                return failure
            settled: Failure[E] | BaseException = do._swallowed()
        except BaseExceptionGroup as group:
            settled = do._settle(group)
            if settled is group:
                raise
        else:
            if do._state is True:
                return quick_success(value)
            settled = do._swallowed()
        finally:
            do._state = False
        try:
            return _return_or_raise(settled)
        finally:
            # The traceback of the exception refers to this frame: break the reference cycle.
            del settled

    return run


def _remove_signals(group: BaseException) -> None:
    # A task group that a signal has left has it as its context, and so can the errors of its tasks.
    for error in chain(group):
        while isinstance(error, BaseException) and type(error.__context__) is Signal:
            error.__context__ = error.__context__.__context__


_plain_code: CodeType = _plain(_do_first(lambda: None)).__code__


def _return_or_raise(settled: Failure[E] | BaseException) -> Failure[E]:
    # Called outside the `except` block, so that the exception does not have signals as its context.
    if isinstance(settled, BaseException):
        try:
            raise settled
        finally:
            del settled
    return settled
