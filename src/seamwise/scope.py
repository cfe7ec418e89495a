"""Direct style: inside `@fallible`, `do(result)` gives the value or ends the function with the failure."""

from __future__ import annotations

import sys
from _thread import _count as _other_threads
from _thread import get_ident
from collections.abc import Callable, Coroutine
from functools import wraps
from inspect import iscoroutinefunction
from types import CodeType, CoroutineType, FrameType
from typing import Any, Concatenate, Generic, Never, final, overload

from typing_extensions import ParamSpec, TypeVar, override

from seamwise._signatures import declared
from seamwise.causes import chain, iter_leaves
from seamwise.containers import Failure, Result, Success, quick_failure, quick_success

T = TypeVar('T', default=Never)
E = TypeVar('E', default=Never)
S = TypeVar('S')
P = ParamSpec('P', default=...)
E_contra = TypeVar('E_contra', contravariant=True, default=Never)


class ScopeLeaked(RuntimeError):
    """A `do` failed where its function could not end with the failure: too late, in another thread, or unheard."""


class Signal(BaseException):
    """The way out of a scope: no `except Exception` sees it, and only its own scope ends it.

    Made as `Signal(scope, failure)`: without an `__init__` of its own it costs a third.
    """

    args: tuple[Do[Never], Failure[Any]]

    @override
    def __str__(self) -> str:
        return f'a do left its function with {self.args[1]!r}'


@final
class Do(Generic[E_contra]):
    """What a function in direct style is handed first; `Do[A | B]` declares its channel.

    `do(result)` gives the value of a success and ends the function with a failure; `do.fail(error)` ends it.
    It works in the function and in what runs inside it: generators, callbacks, nested scopes, tasks of a
    task group. A `do` that fails too late or in another thread raises ScopeLeaked, and so does a function
    that ends normally after its `do` has failed.
    """

    __slots__ = ('_state', '_thread')

    _state: Failure[object] | bool
    """True while the function runs, False when it has ended, the first failure when there was one.

    The scope sets it: an `__init__` would cost every call of the function one more.
    """
    _thread: int
    """Where a coroutine function runs; 0 in a plain function, which notes no thread."""

    def __call__(self, result: Result[T, E_contra], /) -> T:
        """Give the value of a success, or end the function with the failure."""
        if type(result) is Success:
            return result._inner_value
        raise self._signal(result)

    def fail(self, error: E_contra, /) -> Never:
        """End the function with this error."""
        raise self._signal(quick_failure(error))

    def _signal(self, failure: object) -> BaseException:
        if type(failure) is not Failure:
            return TypeError(_no_result(failure))
        if self._state is True:
            self._state = failure
        elif self._state is False:
            return ScopeLeaked(f'A do outlived its function and failed too late, with {failure!r}.')
        elif self._state is failure:
            # A constant for the second time is no longer the first failure, whose signal may have been swallowed.
            failure = quick_failure(failure.failure())
        # Threads are looked at only here, so that a `do` that goes well pays nothing for them.
        if _other_threads() and not self._is_at_home():
            return ScopeLeaked(
                f'A do failed in another thread than its function runs in, with {failure!r}.'
            )
        return Signal(self, failure)

    def _is_at_home(self) -> bool:
        if self._thread:
            return self._thread == get_ident()
        # A plain function stands among the callers wherever its `do` may fail.
        frame: FrameType | None = sys._getframe(2)
        while frame is not None:
            if frame.f_code is _plain_code and frame.f_locals['do'] is self:
                return True
            frame = frame.f_back
        return False

    def _settle(self, group: BaseExceptionGroup[BaseException]) -> Failure[Any] | BaseException:
        """Tell what the function ends with that `group` has come out of: its failure, or what it must raise."""
        own, rest = group.split(lambda one: type(one) is Signal and one.args[0] is self)
        if own is None:
            return group
        if rest is not None:
            _forget_signals(rest)
            return rest
        failure = self._state
        heard = type(failure) is Failure and any(
            isinstance(one, Signal) and one.args[1] is failure for one in iter_leaves(own)
        )
        return failure if type(failure) is Failure and heard else self._swallowed()

    def _swallowed(self) -> ScopeLeaked:
        return ScopeLeaked(
            f'Something swallowed the early return of a do that had failed with {self._state!r}.'
        )


def _no_result(given: object) -> str:
    name, kind = getattr(given, '__name__', 'step'), type(given).__name__
    if isinstance(given, Coroutine):
        given.close()
        return f'do takes a result, not a coroutine: say `do(await {name}(…))`.'
    return f'do takes a Success or a Failure, not {kind}.'


@overload
def fallible(  # type: ignore[overload-overlap]  # a coroutine first
    function: Callable[Concatenate[Do[E], P], Coroutine[object, Never, T]], /
) -> Callable[P, CoroutineType[object, Never, Result[T, E]]]: ...
@overload
def fallible(function: Callable[Concatenate[Do[E], P], T], /) -> Callable[P, Result[T, E]]: ...  # type: ignore[overload-overlap]  # a coroutine first
@overload
def fallible(  # type: ignore[overload-overlap]  # a coroutine first
    function: Callable[Concatenate[S, Do[E], P], Coroutine[object, Never, T]], /
) -> Callable[Concatenate[S, P], CoroutineType[object, Never, Result[T, E]]]: ...
@overload
def fallible(
    function: Callable[Concatenate[S, Do[E], P], T], /
) -> Callable[Concatenate[S, P], Result[T, E]]: ...
def fallible(function: Callable[..., object], /) -> Callable[..., object]:
    """Let a function be written in direct style: its value becomes a Success, a failing `do` its Failure.

    The function takes `do: Do[A | B]` first, or second after `self` or `cls`; its caller does not see it. A
    coroutine function stays one. Exceptions and cancellation pass as they are. A TypeError says what is wrong
    with the function.

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
    is_method, seen = declared(function, Do)
    inner: Callable[..., Any] = _do_first(function) if is_method else function
    run = wraps(function)(_coroutine(inner) if iscoroutinefunction(function) else _plain(inner))
    vars(run)['__signature__'] = seen
    run.__annotations__ = {
        one.name: one.annotation
        for one in seen.parameters.values()
        if one.annotation is not seen.empty
    }
    if seen.return_annotation is not seen.empty:
        run.__annotations__['return'] = seen.return_annotation
    return run


def _do_first(method: Callable[..., Any]) -> Callable[..., Any]:
    def inner(do: object, receiver: object, /, *args: object, **kwargs: object) -> Any:
        return method(receiver, do, *args, **kwargs)

    return inner


# Named for its type: checkers would take a bare True as all that the state can ever be.
_RUNNING: Failure[object] | bool = True


def _plain(function: Callable[Concatenate[Do[E], ...], T]) -> Callable[..., Result[T, E]]:
    def run(*args: object, **kwargs: object) -> Result[T, E]:
        do: Do[E] = Do()
        do._state = _RUNNING
        do._thread = 0
        try:
            # Handing on no keywords costs as much as handing on some.
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
            return _given_or_raised(settled)
        finally:
            # The traceback of what is raised holds this frame: without this, each would keep the other alive.
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
            return _given_or_raised(settled)
        finally:
            # The traceback of what is raised holds this frame: without this, each would keep the other alive.
            del settled

    return run


def _forget_signals(group: BaseException) -> None:
    # A task group that a signal has left carries it as its context, and so may what its tasks raised.
    for one in chain(group):
        while isinstance(one, BaseException) and type(one.__context__) is Signal:
            one.__context__ = one.__context__.__context__


_plain_code: CodeType = _plain(_do_first(lambda: None)).__code__


def _given_or_raised(settled: Failure[E] | BaseException) -> Failure[E]:
    # Outside of the `except` that caught it, so that what is raised does not drag the signals along as its context.
    if isinstance(settled, BaseException):
        try:
            raise settled
        finally:
            del settled
    return settled
