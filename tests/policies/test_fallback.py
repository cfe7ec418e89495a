"""Fallbacks: which failures the handler replaces, nesting, and validation."""

import asyncio
import inspect
from collections.abc import Awaitable
from typing import Any, Never

import pytest

from seamwise import Failure, Result, Success
from seamwise._errors.causes import Raised, error_chain, find_cause
from seamwise._errors.errors import TaggedError
from seamwise.policies._engine.observers import observe
from seamwise.policies._engine.pipeline import Guard, identity
from seamwise.policies._engine.predicates import retryable
from seamwise.policies.deadline import deadline
from seamwise.policies.errors import DeadlineExceeded
from seamwise.policies.events import FellBack, GuardEvent
from seamwise.policies.fallback import Fallback, fallback
from seamwise.testing import FakeWorld
from tests.policies.cancellation_helpers import cancel_at_each_await
from tests.policies.errors import Down, Slow, Wrong

UNTYPED: Any = fallback
"""`fallback` without types, for calls that a type checker rejects."""

ONE: Success[int] = Success(1)
DOWN: Failure[Down] = Failure(Down('the bank'))


def succeed(_error: TaggedError) -> Result[int, Slow]:
    return ONE


async def succeed_async(_error: TaggedError) -> Result[int, Slow]:
    await asyncio.sleep(0)
    return ONE


def fail() -> Result[str, Down]:
    return DOWN


async def fail_async() -> Result[str, Down]:
    await asyncio.sleep(0)
    return DOWN


def test_success_is_returned_unchanged_without_calling_the_handler() -> None:
    handled: list[TaggedError] = []

    def handler(error: TaggedError) -> Result[int, Slow]:
        handled.append(error)
        return ONE

    done: Success[str] = Success('done')
    assert fallback(handler).run_sync(lambda: done) is done
    assert handled == []


def test_handler_receives_the_error_and_replaces_the_failure() -> None:
    handled: list[TaggedError] = []

    def handler(error: TaggedError) -> Result[int, Slow]:
        handled.append(error)
        return ONE

    assert fallback(handler).run_sync(fail) is ONE
    assert asyncio.run(fallback(handler).run(fail_async)) is ONE
    assert asyncio.run(fallback(succeed_async).run(fail_async)) is ONE
    assert handled == [Down('the bank')] * 2
    assert handled[0] is DOWN.failure()


def test_handler_can_return_a_failure() -> None:
    slow: Failure[Slow] = Failure(Slow())
    assert fallback(lambda _error: slow).run_sync(fail) is slow


def test_observer_is_notified_before_the_handler_is_called() -> None:
    events: list[GuardEvent | str] = []

    def handler(_error: TaggedError) -> Result[int, Slow]:
        events.append('handled')
        return ONE

    guarded = fallback(handler, name='cached', observer=events.append)
    guarded.run_sync(lambda: Success('done'))
    assert events == []
    guarded.run_sync(fail)
    assert events == [FellBack('cached', Down('the bank')), 'handled']


def test_failure_is_returned_unchanged_if_the_predicate_is_false() -> None:
    events: list[GuardEvent] = []
    failure: Failure[Wrong] = Failure(Wrong())
    guarded = fallback(succeed, when=retryable, observer=events.append)
    assert guarded.run_sync(lambda: failure) is failure
    assert events == []
    assert guarded.run_sync(fail) is ONE


def test_failure_without_a_tagged_error_is_returned_unchanged() -> None:
    text: Failure[Any] = Failure('no')
    assert fallback(succeed).run_sync(lambda: text) is text


def test_defects_and_cancellations_propagate() -> None:
    async def cancel() -> Result[str, Down]:
        raise asyncio.CancelledError

    def raise_defect() -> Result[str, Down]:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fallback(succeed).run_sync(raise_defect)

    async def main() -> None:
        with pytest.raises(asyncio.CancelledError):
            await fallback(succeed).run(cancel)

    asyncio.run(main())


def test_caller_can_cancel_at_any_await() -> None:
    async def call() -> object:
        return await fallback(succeed_async).run(fail_async)

    assert asyncio.run(cancel_at_each_await(call, lambda: None)) == 2


def test_exception_of_the_handler_is_a_defect_with_the_error_as_context() -> None:
    def raise_defect(_error: TaggedError) -> Result[int, Slow]:
        raise KeyError('a defect')

    async def raise_defect_async(_error: TaggedError) -> Result[int, Slow]:
        await asyncio.sleep(0)
        raise KeyError('a defect')

    with pytest.raises(KeyError, match='a defect') as caught:
        fallback(raise_defect).run_sync(fail)
    assert find_cause(caught.value, Down) is DOWN.failure()
    with pytest.raises(KeyError, match='a defect') as caught:
        asyncio.run(fallback(raise_defect_async).run(fail_async))
    assert find_cause(caught.value, Down) is DOWN.failure()


def test_error_is_the_last_context_of_the_exception_of_the_handler() -> None:
    shared, cyclic, other = KeyError('shared'), KeyError('cyclic'), ValueError('other')
    cyclic.__context__, other.__context__ = other, cyclic

    def handle(error: TaggedError) -> Result[int, Slow]:
        assert isinstance(error, Down)
        if error.what == 'cyclic':
            raise cyclic
        try:
            raise OSError(error.what)
        except OSError:
            raise shared  # noqa: B904 -- the implicit context is the subject of the test

    for what in ('first', 'second'):
        down = Down(what)
        with pytest.raises(KeyError, match='shared'):
            fallback(handle).run_sync(Failure[Down], down)
        chain = [error for error in error_chain(shared) if not isinstance(error, Raised)]
        assert chain == [shared, shared.__context__, down]
    with pytest.raises(KeyError, match='cyclic'):
        fallback(handle).run_sync(lambda: Failure(Down('cyclic')))
    assert other.__context__ is cyclic


def test_handler_without_a_result_is_a_type_error_with_the_error_as_context() -> None:
    async def text_async(_error: TaggedError) -> str:
        return 'no result'

    def untyped(_error: TaggedError) -> int:
        return 1

    with pytest.raises(
        TypeError, match="The handler of 'cached' returned int, which is not a Result"
    ) as caught:
        UNTYPED(untyped, name='cached').run_sync(fail)
    assert find_cause(caught.value, Down) is DOWN.failure()
    with pytest.raises(
        TypeError, match="The handler of 'fallback' returned str, which is not a Result"
    ):
        asyncio.run(UNTYPED(text_async).run(fail_async))


def test_async_handler_in_run_sync_is_a_type_error_and_its_coroutine_is_closed() -> None:
    coroutines: list[object] = []

    def handler(error: TaggedError) -> Awaitable[Result[int, Slow]]:
        coroutine = succeed_async(error)
        coroutines.append(coroutine)
        return coroutine

    with pytest.raises(TypeError, match="The handler of 'fallback' is asynchronous"):
        fallback(handler).run_sync(fail)
    assert inspect.iscoroutine(coroutines[0])
    assert inspect.getcoroutinestate(coroutines[0]) == inspect.CORO_CLOSED


def test_other_awaitable_in_run_sync_is_a_type_error() -> None:
    class Later:
        def __await__(self) -> Never:
            raise AssertionError

    with pytest.raises(TypeError, match='is asynchronous'):
        fallback(lambda _error: Later()).run_sync(fail)


def test_fallback_handles_the_failures_of_its_guards() -> None:
    world = FakeWorld()

    def operation() -> Result[str, Down]:
        world.advance(5.0)
        return DOWN

    def return_error(error: TaggedError) -> Result[TaggedError, Slow]:
        return Success(error)

    guarded = (
        fallback(return_error, name='outer')
        >> deadline(3.0, name='a', world=world)
        >> deadline(2.0, world=world)
    )
    assert isinstance(guarded, Fallback)
    inner = DeadlineExceeded('deadline', 2.0, cause=DOWN.failure())
    assert guarded.run_sync(operation) == Success(DeadlineExceeded('a', 3.0, cause=inner))
    assert guarded.name == 'outer'
    assert repr(guarded) == '<fallback outer >> a >> deadline>'
    assert guarded.describe() == (
        "fallback 'outer': handles all failures\ndeadline 'a': 3 s\ndeadline: 2 s"
    )
    assert fallback(succeed, when=retryable).describe() == 'fallback: handles some failures'


def test_identity_inside_a_fallback_has_no_effect() -> None:
    guarded = fallback(succeed)
    assert (guarded >> identity).run_sync(fail) is ONE
    assert repr(guarded >> identity) == repr(guarded)


def test_adding_a_guard_does_not_change_the_fallback() -> None:
    guarded = fallback(succeed)
    extended = guarded >> deadline(3.0)
    assert extended is not guarded
    assert repr(guarded) == '<fallback fallback>'


def test_fallback_inside_a_guard_is_a_type_error() -> None:
    guard: Guard[DeadlineExceeded] = deadline(1.0)
    for outer in (guard, identity, 3):
        with pytest.raises(
            TypeError,
            match="The fallback 'cached' must be outermost, as in",
        ):
            print(outer >> UNTYPED(succeed, name='cached'))
    with pytest.raises(TypeError, match="The fallback 'cached' must be outermost"):
        print(fallback(succeed) >> UNTYPED(succeed, name='cached'))
    with pytest.raises(TypeError, match='A fallback must contain a guard, not 3'):
        print(UNTYPED(succeed) >> 3)


def test_handler_can_use_another_fallback() -> None:
    def second_handler(_error: TaggedError) -> Result[int, Slow]:
        return fallback(succeed).run_sync(lambda: Failure(Slow()))

    assert fallback(second_handler).run_sync(fail) is ONE


def test_decorator_keeps_the_names_of_functions() -> None:
    @fallback(succeed)
    def find_it(key: str) -> Result[str, Down]:
        """Find."""
        return Success(key) if key else DOWN

    @fallback(succeed_async)
    async def load(key: str, *, soon: int = 0) -> Result[str, Down]:
        return Success(key * soon) if key else DOWN

    assert (find_it('a'), find_it('')) == (Success('a'), ONE)
    assert (find_it.__name__, find_it.__doc__) == ('find_it', 'Find.')
    assert asyncio.run(load('a', soon=2)) == Success('aa')
    assert asyncio.run(load('')) is ONE
    assert inspect.iscoroutinefunction(load)


def test_invalid_arguments_raise_when_the_fallback_is_built() -> None:
    with pytest.raises(
        TypeError, match=r'^handler must be a function that accepts an error, not 3'
    ):
        UNTYPED(3)
    with pytest.raises(TypeError, match=r'^when must be a function that accepts an error, not 3'):
        UNTYPED(succeed, when=3)
    with pytest.raises(TypeError, match='observer must be a function'):
        UNTYPED(succeed, observer=3)
    with pytest.raises(ValueError, match='name'):
        UNTYPED(succeed, name='')


@pytest.mark.parametrize('is_timed', [False, True])
def test_task_sees_the_same_with_and_without_observer_of_calls(is_timed: bool) -> None:
    cached, events = fallback(succeed), list[GuardEvent]()
    remove = observe(events.append, calls=True) if is_timed else lambda: None

    async def wrong(_number: int) -> Any:
        return 7

    async def main() -> None:
        assert await cached.run(fail_async) == Success(1)
        assert await fallback(succeed_async).run(fail_async) == Success(1)
        with pytest.raises(TypeError, match='positional argument') as caught:
            await cached.run(wrong)  # type: ignore[call-arg]  # invalid on purpose
        assert 'A guard runs a function' in caught.value.__notes__[0]
        with pytest.raises(TypeError, match='returned int, which is not a Result'):
            await cached.run(wrong, 1)

    try:
        asyncio.run(main())
    finally:
        remove()
    assert len(events) == (6 if is_timed else 0)
