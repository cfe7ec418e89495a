"""Another answer where an operation failed: it changes the value's type, so that it is no guard and stands outside of all."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from inspect import isawaitable, iscoroutine
from types import CoroutineType
from typing import Any, Generic, Never, ParamSpec, overload

from typing_extensions import TypeVar, override

from seamwise.causes import Raised
from seamwise.containers import Failure, Result, Success
from seamwise.errors import TaggedError
from seamwise.policies._engine.observers import safe_observer
from seamwise.policies._engine.permit import Decision, Outcome, Permit, Wait
from seamwise.policies._engine.pipeline import Guard, Layer, decorated
from seamwise.policies._engine.predicates import always
from seamwise.policies._engine.validation import check_callable
from seamwise.policies.events import FellBack, Observer

T = TypeVar('T', default=Never)
E0 = TypeVar('E0', default=Never)
U = TypeVar('U', default=Never)
E2 = TypeVar('E2', default=Never)
E3 = TypeVar('E3')
R = TypeVar('R')
U_co = TypeVar('U_co', covariant=True)
E_co = TypeVar('E_co', covariant=True)
P = ParamSpec('P')


class Fallback(Generic[U_co, E_co]):
    """A handler that answers for an operation that failed, and the guards inside of it; made by `fallback`.

    `U_co` is what the handler gives instead, `E_co` what it and the guards can fail with. `fallback(…) >> guard` is a Fallback too.
    """

    def __init__(self, pipeline: Guard[E_co], name: str, /) -> None:
        self.name = name
        self._pipeline = pipeline

    async def run(self, op: Callable[[], Awaitable[Result[T, E0]]]) -> Result[T | U_co, E0 | E_co]:
        """Call an operation in a task; gives its success, or what the handler gives for its failure."""
        return await self._pipeline.run(op)

    def run_sync(self, op: Callable[[], Result[T, E0]]) -> Result[T | U_co, E0 | E_co]:
        """Call an operation in the thread that calls, likewise; a handler that would have to be awaited is a TypeError."""
        return self._pipeline.run_sync(op)

    @overload
    def __call__(
        self, function: Callable[P, Coroutine[object, Never, Result[T, E0]]], /
    ) -> Callable[P, CoroutineType[object, Never, Result[T | U_co, E0 | E_co]]]: ...
    @overload
    def __call__(
        self, function: Callable[P, Result[T, E0]], /
    ) -> Callable[P, Result[T | U_co, E0 | E_co]]: ...
    def __call__(self, function: Callable[..., Any], /) -> Callable[..., Any]:
        """Decorate a function that returns a result, or an `async def` that does; its signature is kept."""
        return decorated(self, function)

    def __rshift__(self, inner: Guard[E3]) -> Fallback[U_co, E_co | E3]:
        """Put a guard inside: its failures are answered too."""
        if not isinstance(inner, Guard):
            raise _no_guard(inner)
        return Fallback(self._pipeline >> inner, self.name)

    def __rrshift__(self, outer: Never) -> Never:
        """Refuse to stand inside of anything."""
        raise _no_guard(self)

    @override
    def __repr__(self) -> str:
        return f'<fallback {self._pipeline.name}>'

    def describe(self) -> str:
        """Say in plain words what stands around what, as `Guard.describe` does."""
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
    """Ask a handler for another result where an operation failed with a TaggedError for which `when` holds.

    Gives the operation's success, the handler's result, or the failure as it came: one that `when` does not take, or whose error is
    no TaggedError. Defects and cancellations pass, and what the handler raises is a defect, which names the error it was asked
    about. No kind of error is taken out of the type: for that, `catch(Kind, handler)(await guard.run(op))`.

    It stands outermost and once: `fallback(…) >> circuit(…)`, and the second choice of a handler is up to the handler.

    >>> from seamwise.catalog.network import HostUnreachable
    >>> cached = fallback(lambda error: Success('what was there yesterday'))
    >>> cached.run_sync(lambda: Failure(HostUnreachable('db', 'connection refused')))
    <Success: what was there yesterday>
    """
    layer = _Fallback(handler, when, name, observer)
    return Fallback(layer, layer.name)


class _Fallback(Layer[Any]):
    """The layer that asks the handler; it keeps nothing of a call, so that one permit serves all."""

    def __init__(
        self,
        handler: Callable[[TaggedError], Any],
        when: Callable[[TaggedError], bool],
        name: str,
        observer: Observer | None,
    ) -> None:
        super().__init__(name)
        for argument, value in (('handler', handler), ('when', when)):
            check_callable(argument, value, 'that takes an error')
        self._handler = handler
        self._when = when
        self._tell = safe_observer(observer)
        self._permit = _Answers(self)

    @override
    def enter(self) -> Decision:
        return self._permit

    @override
    def limits(self) -> str:
        return 'every failure is answered' if self._when is always else 'some failures are answered'

    def answer(self, failed: Failure[Any]) -> Outcome | Wait:
        """Give what the handler says of a failure."""
        error: object = failed.failure()
        if not isinstance(error, TaggedError) or not self._when(error):
            return failed
        if self._tell is not None:
            self._tell(FellBack(self.name, error))
        try:
            raise Raised(error)
        except Raised:
            # In here, so that whatever the handler raises has the error for its context.
            answer = self._handler(error)
            return _Awaited(self, answer, error) if isawaitable(answer) else self.checked(answer)

    def checked(self, answer: R) -> R:
        """Give an answer that is a result; any other is a TypeError."""
        if type(answer) is Success or type(answer) is Failure:
            return answer
        raise TypeError(
            f'The handler of {self.name!r} gave {type(answer).__name__}, which is no Result.'
        )


class _Answers(Permit):
    __slots__ = ('_of',)

    def __init__(self, of: _Fallback) -> None:
        self._of = of

    @override
    def leave(self, outcome: Outcome, /) -> Outcome | Wait:
        return self._of.answer(outcome) if type(outcome) is Failure else outcome


class _Awaited(Wait[U, E2]):
    """The answer of a handler that has to be awaited."""

    __slots__ = ('_answer', '_error', '_of')

    def __init__(self, of: _Fallback, answer: Awaitable[Result[U, E2]], error: TaggedError) -> None:
        self._of = of
        self._answer = answer
        self._error = error

    @override
    async def wait(self) -> Result[U, E2]:
        try:
            raise Raised(self._error)
        except Raised:
            return self._of.checked(await self._answer)

    @override
    def wait_sync(self) -> Never:
        if iscoroutine(self._answer):
            self._answer.close()
        raise TypeError(
            f'The handler of {self._of.name!r} has to be awaited: `await fallback.run(…)` does that, run_sync does not.'
        )


def _no_guard(inner: object) -> TypeError:
    if isinstance(inner, Fallback):
        return TypeError(
            f'The fallback {inner.name!r} cannot stand inside of anything: a fallback stands outermost, as in `fallback(…) >> guard`. '
            'A second choice is up to the handler.'
        )
    return TypeError(f'Inside of a fallback stands a guard, not {inner!r}.')
