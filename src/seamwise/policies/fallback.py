"""Fallback: replace the failure of an operation by another result.

It changes the type of the value. A fallback is therefore not a `Guard`, and must be outermost.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from inspect import isawaitable, iscoroutine
from types import CoroutineType
from typing import Any, Final, Generic, Never, ParamSpec, overload

from typing_extensions import TypeVar, override

from seamwise._errors.causes import Raised
from seamwise._errors.errors import TaggedError
from seamwise._results.containers import Failure, Result, Success, as_result
from seamwise._results.signatures import is_bare, missing_parentheses
from seamwise._runtime.registry import ProcessState
from seamwise._runtime.validation import check_callable
from seamwise.policies._engine import activity
from seamwise.policies._engine.event_loops import refuse_trio
from seamwise.policies._engine.observers import observers_of
from seamwise.policies._engine.permit import Admission, Outcome, Permit, Waiting, complete_wait
from seamwise.policies._engine.pipeline import (
    Guard,
    Layer,
    Unnestable,
    abort_call,
    decorate,
    is_async,
)
from seamwise.policies._engine.predicates import always
from seamwise.policies.events import FellBack, Observer

T = TypeVar('T', default=Never)
E0 = TypeVar('E0', bound=TaggedError, default=Never)
U = TypeVar('U', default=Never)
E2 = TypeVar('E2', default=Never)
E3 = TypeVar('E3')
U_co = TypeVar('U_co', covariant=True)
E_co = TypeVar('E_co', covariant=True)
P = ParamSpec('P')


class Fallback(ProcessState, Generic[U_co, E_co]):
    """A fallback handler with the guards inside it, built by `fallback`.

    `U_co` is the type of the handler's value, `E_co` that of its errors and those of the guards.
    `fallback(…) >> guard` is a Fallback too.
    """

    def __init__(self, pipeline: Guard[E_co], name: str, /, *, has_async_handler: bool) -> None:
        self.name = name
        self._pipeline = pipeline
        self._has_async_handler = has_async_handler
        self._layer = pipeline if isinstance(pipeline, _FallbackLayer) else None

    async def run(
        self, op: Callable[P, Awaitable[Result[T, E0]]], /, *args: P.args, **kwargs: P.kwargs
    ) -> Result[T | U_co, E0 | E_co]:
        """Run an operation in the current task; return its success, or the handler's result."""
        if self._has_async_handler:
            refuse_trio()
        layer = self._layer
        if layer is None or layer._uses_loop or not activity.is_on:
            return await self._pipeline.run(op, *args, **kwargs)
        # As in `Layer.run`, without a permit.
        try:
            result: Any = await op(*args, **kwargs)
            if result.__class__ is Success:
                success: Success[T] = result
                return success
            outcome: Outcome | Waiting = layer._expect_result(result)
        except BaseException as error:
            _ = abort_call([], error)
            raise
        if type(outcome) is Failure:
            outcome = layer.handle(outcome)
        handled: Any = await complete_wait(outcome) if isinstance(outcome, Waiting) else outcome
        replaced: Result[T | U_co, E0 | E_co] = handled
        return replaced

    def run_sync(
        self, op: Callable[P, Result[T, E0]], /, *args: P.args, **kwargs: P.kwargs
    ) -> Result[T | U_co, E0 | E_co]:
        """Run an operation in the current thread; return its success, or the handler's result.

        Raises:
            TypeError: The handler is asynchronous.
        """
        return self._pipeline.run_sync(op, *args, **kwargs)

    @overload
    def __call__(
        self, function: Callable[P, Coroutine[object, Never, Result[T, E0]]], /
    ) -> Callable[P, CoroutineType[object, Never, Result[T | U_co, E0 | E_co]]]: ...
    @overload
    def __call__(
        self, function: Callable[P, Result[T, E0]], /
    ) -> Callable[P, Result[T | U_co, E0 | E_co]]: ...
    def __call__(self, function: Callable[..., Any], /) -> Callable[..., Any]:
        """Decorate a `def` or `async def` that returns a result; its signature is preserved."""
        return decorate(self, function)

    def __rshift__(self, inner: Guard[E3]) -> Fallback[U_co, E_co | E3]:
        """Return a fallback with another guard inside; the handler replaces its failures too."""
        if not isinstance(inner, Guard):
            raise _nesting_error(inner)
        return Fallback(
            self._pipeline >> inner, self.name, has_async_handler=self._has_async_handler
        )

    def __rrshift__(self, outer: Never) -> Never:
        """Raise a TypeError: a fallback must be outermost."""
        raise _nesting_error(self)

    @override
    def __repr__(self) -> str:
        return f'<fallback {self._pipeline.name}>'

    def describe(self) -> str:
        """Return a description of the layers and warnings, as `Guard.describe` does."""
        return self._pipeline.describe()


@overload
def fallback(
    handler: Callable[[TaggedError], Result[U, E2]],
    *,
    when: Callable[[TaggedError], bool] = always,
    name: str = 'fallback',
    observer: Observer | None = None,
) -> Fallback[U, E2]: ...
@overload
def fallback(
    handler: Callable[[TaggedError], Awaitable[Result[U, E2]]],
    *,
    when: Callable[[TaggedError], bool] = always,
    name: str = 'fallback',
    observer: Observer | None = None,
) -> Fallback[U, E2]: ...
@overload
def fallback(
    handler: Callable[[TaggedError], Result[U, E2] | Awaitable[Result[U, E2]]],
    *,
    when: Callable[[TaggedError], bool] = always,
    name: str = 'fallback',
    observer: Observer | None = None,
) -> Fallback[U, E2]: ...
def fallback(
    handler: Callable[[TaggedError], Any],
    *,
    when: Callable[[TaggedError], bool] = always,
    name: str = 'fallback',
    observer: Observer | None = None,
) -> Fallback[Any, Any]:
    """Build a fallback that replaces the failures of an operation by the results of a handler.

    A failure is returned unchanged if `when` returns False or its error is not a TaggedError.
    Defects and cancellations propagate. An exception of the handler is a defect, with the error as
    its context.

    The type of the result still contains all error types of the operation. To remove one, use
    `catch(NotFound, handler)(await guard.run(op))`.

    A fallback must be outermost, as in `fallback(…) >> circuit(…)`, so there is only one. Its
    handler can call further alternatives.

    Args:
        handler: Returns a result, or an awaitable of one, for an error.
        when: Returns whether to call the handler for an error.
        name: Name in events and descriptions.
        observer: Receives `FellBack` events.

    >>> from seamwise import Success
    >>> from seamwise.catalog.network import HostUnreachable
    >>> cached = fallback(lambda error: Success('the page of yesterday'))
    >>> cached.run_sync(lambda: Failure(HostUnreachable('db', 'connection refused')))
    Success('the page of yesterday')
    """
    if is_bare(handler):
        raise missing_parentheses(handler, 'fallback(handler)')
    layer = _FallbackLayer(handler, when, name, observer)
    return Fallback(layer, layer.name, has_async_handler=is_async(handler))


class _FallbackLayer(Layer[Any]):
    """Layer that calls the handler. It keeps no state per call, so all calls share one permit."""

    kind = 'fallback'

    def __init__(
        self,
        handler: Callable[[TaggedError], Any],
        when: Callable[[TaggedError], bool],
        name: str,
        observer: Observer | None,
    ) -> None:
        for argument, value in (('handler', handler), ('when', when)):
            check_callable(argument, value, 'that accepts an error')
        self._handler = handler
        self._when = when
        self.observer = observers_of(observer)
        self._permit = _FallbackPermit(self)
        super().__init__(name)

    @override
    def enter(self) -> Admission:
        return self._permit

    @override
    def limits(self) -> str:
        return 'handles all failures' if self._when is always else 'handles some failures'

    def handle(self, failure: Failure[Any]) -> Outcome | Waiting:
        """Return the result of the handler, a wait for it, or the failure unchanged."""
        error: object = failure.failure()
        if not isinstance(error, TaggedError) or not self._when(error):
            return failure
        if self.observer.is_used:
            self.observer(FellBack(self.name, error))
        try:
            result: Any = self._handler(error)
            if type(result) in _RESULTS:
                outcome: Outcome = result
                return outcome
            # `isawaitable` is asked last: it takes longer than all the rest.
            is_async = iscoroutine(result) or isawaitable(result)
            return _HandlerWait(self, result, error) if is_async else self.check_result(result)
        except BaseException as raised:
            _add_context(raised, error)
            raise

    def check_result(self, value: object) -> Any:
        """Return the result of the handler, or raise a TypeError if it is not a Result."""
        result = as_result(value)
        if result is None:
            raise TypeError(
                f'The handler of {self.name!r} returned {type(value).__name__}, '
                'which is not a Result.'
            )
        return result


class _FallbackPermit(Permit):
    __slots__ = ('_layer',)

    def __init__(self, layer: _FallbackLayer) -> None:
        self._layer = layer

    @override
    def leave(self, outcome: Outcome, /) -> Outcome | Waiting:
        return self._layer.handle(outcome) if type(outcome) is Failure else outcome


class _HandlerWait(Waiting[U, E2]):
    """Wait for the result of an asynchronous handler."""

    __slots__ = ('_awaitable', '_error', '_layer')

    def __init__(
        self, layer: _FallbackLayer, awaitable: Awaitable[Result[U, E2]], error: TaggedError
    ) -> None:
        self._layer = layer
        self._awaitable = awaitable
        self._error = error

    @override
    async def wait(self) -> Result[U, E2]:
        try:
            result: Result[U, E2] = self._layer.check_result(await self._awaitable)
        except BaseException as raised:
            _add_context(raised, self._error)
            raise
        return result

    @override
    def wait_sync(self) -> Never:
        raise TypeError(
            f'The handler of {self._layer.name!r} is asynchronous: use `await fallback.run(…)` '
            'instead of run_sync.'
        )

    @override
    def withdraw(self) -> None:
        # Python would warn about a handler that does not run; closing one that ran does nothing.
        if iscoroutine(self._awaitable):
            self._awaitable.close()


def _add_context(raised: BaseException, error: TaggedError) -> None:
    """Make an error the context of the exception of its handler, at the end of its own contexts."""
    last, visited = raised, {id(raised)}
    # A `Raised` is that of an earlier call, if the handler raises the same exception again.
    while (context := last.__context__) is not None and not isinstance(context, Raised):
        if id(context) in visited:
            return
        visited.add(id(context))
        last = context
    last.__context__ = Raised(error)


# A tuple, because type checkers would narrow `Any` by a comparison with the classes.
_RESULTS: Final[tuple[type, ...]] = (Success, Failure)


def _nesting_error(inner: object) -> TypeError:
    if isinstance(inner, Fallback):
        return TypeError(
            f'The fallback {inner.name!r} must be outermost, as in `fallback(…) >> guard`. '
            'Call further alternatives in its handler.'
        )
    if isinstance(inner, Unnestable):
        return TypeError(inner.nesting_hint)
    return TypeError(f'A fallback must contain a guard, not {inner!r}.')
