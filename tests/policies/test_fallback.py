"""A fallback answers for failures, and for nothing else."""

import asyncio
import inspect
from collections.abc import Awaitable
from typing import Any, Never

import pytest

from seamwise import Failure, Result, Success
from seamwise.causes import find
from seamwise.errors import TaggedError
from seamwise.policies._engine.pipeline import Guard, identity
from seamwise.policies._engine.predicates import retryable
from seamwise.policies.deadline import deadline
from seamwise.policies.errors import DeadlineExceeded
from seamwise.policies.events import FellBack, GuardEvent
from seamwise.policies.fallback import Fallback, fallback
from seamwise.policies.testing import FakeWorld
from tests.policies.cancellation_helpers import cancel_at_each_await
from tests.policies.errors import Down, Slow, Wrong

UNTYPED: Any = fallback
"""For mistakes that a type checker finds."""

ONE: Success[int] = Success(1)
DOWN: Failure[Down] = Failure(Down('the bank'))


def one(_error: TaggedError) -> Result[int, Slow]:
    return ONE


async def one_later(_error: TaggedError) -> Result[int, Slow]:
    await asyncio.sleep(0)
    return ONE


def down() -> Result[str, Down]:
    return DOWN


async def down_later() -> Result[str, Down]:
    await asyncio.sleep(0)
    return DOWN


def test_a_success_comes_out_as_it_is_and_nobody_is_asked() -> None:
    asked: list[TaggedError] = []

    def asks(error: TaggedError) -> Result[int, Slow]:
        asked.append(error)
        return ONE

    done: Success[str] = Success('done')
    assert fallback(asks).run_sync(lambda: done) is done
    assert asked == []


def test_for_a_failure_the_handler_answers_and_is_told_the_error() -> None:
    asked: list[TaggedError] = []

    def asks(error: TaggedError) -> Result[int, Slow]:
        asked.append(error)
        return ONE

    assert fallback(asks).run_sync(down) is ONE
    assert asyncio.run(fallback(asks).run(down_later)) is ONE
    assert asyncio.run(fallback(one_later).run(down_later)) is ONE
    assert asked == [Down('the bank')] * 2
    assert asked[0] is DOWN.failure()


def test_a_handler_may_fail_itself() -> None:
    slow: Failure[Slow] = Failure(Slow())
    assert fallback(lambda _error: slow).run_sync(down) is slow


def test_what_is_told_is_told_before_the_handler_is_asked() -> None:
    told: list[GuardEvent | str] = []

    def asks(_error: TaggedError) -> Result[int, Slow]:
        told.append('asked')
        return ONE

    falls = fallback(asks, name='cached', observer=told.append)
    falls.run_sync(lambda: Success('done'))
    assert told == []
    falls.run_sync(down)
    assert told == [FellBack('cached', Down('the bank')), 'asked']


def test_a_failure_that_is_not_meant_comes_out_as_it_is() -> None:
    told: list[GuardEvent] = []
    wrong: Failure[Wrong] = Failure(Wrong())
    falls = fallback(one, when=retryable, observer=told.append)
    assert falls.run_sync(lambda: wrong) is wrong
    assert told == []
    assert falls.run_sync(down) is ONE


def test_a_failure_that_is_no_tagged_error_comes_out_as_it_is() -> None:
    text: Failure[str] = Failure('no')
    assert fallback(one).run_sync(lambda: text) is text


def test_defects_and_cancellations_are_nobodys_to_answer() -> None:
    async def cancelled() -> Result[str, Down]:
        raise asyncio.CancelledError

    def raises() -> Result[str, Down]:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fallback(one).run_sync(raises)

    async def main() -> None:
        with pytest.raises(asyncio.CancelledError):
            await fallback(one).run(cancelled)

    asyncio.run(main())


def test_the_caller_may_cancel_it_anywhere() -> None:
    async def call() -> object:
        return await fallback(one_later).run(down_later)

    assert asyncio.run(cancel_at_each_await(call, lambda: None)) == 2


def test_what_a_handler_raises_is_a_defect_that_shows_the_error() -> None:
    def raises(_error: TaggedError) -> Result[int, Slow]:
        raise KeyError('a defect')

    async def raises_later(_error: TaggedError) -> Result[int, Slow]:
        await asyncio.sleep(0)
        raise KeyError('a defect')

    with pytest.raises(KeyError, match='a defect') as caught:
        fallback(raises).run_sync(down)
    assert find(caught.value, Down) is DOWN.failure()
    with pytest.raises(KeyError, match='a defect') as caught:
        asyncio.run(fallback(raises_later).run(down_later))
    assert find(caught.value, Down) is DOWN.failure()


def test_a_handler_that_gives_no_result_is_a_type_error_that_shows_the_error() -> None:
    async def text_later(_error: TaggedError) -> str:
        return 'no result'

    def untyped(_error: TaggedError) -> int:
        return 1

    with pytest.raises(
        TypeError, match="The handler of 'cached' returned int, which is not a Result"
    ) as caught:
        UNTYPED(untyped, name='cached').run_sync(down)
    assert find(caught.value, Down) is DOWN.failure()
    with pytest.raises(
        TypeError, match="The handler of 'fallback' returned str, which is not a Result"
    ):
        asyncio.run(UNTYPED(text_later).run(down_later))


def test_an_async_handler_in_run_sync_is_a_type_error_and_is_closed() -> None:
    made: list[object] = []

    def asks(error: TaggedError) -> Awaitable[Result[int, Slow]]:
        coroutine = one_later(error)
        made.append(coroutine)
        return coroutine

    with pytest.raises(TypeError, match="The handler of 'fallback' is asynchronous"):
        fallback(asks).run_sync(down)
    assert inspect.iscoroutine(made[0])
    assert inspect.getcoroutinestate(made[0]) == inspect.CORO_CLOSED


def test_another_awaitable_in_run_sync_is_a_type_error_too() -> None:
    class Later:
        def __await__(self) -> Never:
            raise AssertionError

    with pytest.raises(TypeError, match='is asynchronous'):
        fallback(lambda _error: Later()).run_sync(down)


def test_it_stands_outside_of_guards_and_answers_for_them() -> None:
    world = FakeWorld()

    def late() -> Result[str, Down]:
        world.advance(5.0)
        return DOWN

    def shows(error: TaggedError) -> Result[TaggedError, Slow]:
        return Success(error)

    falls = (
        fallback(shows, name='shows')
        >> deadline(3.0, name='a', world=world)
        >> deadline(2.0, world=world)
    )
    assert isinstance(falls, Fallback)
    assert falls.run_sync(late) == Success(DeadlineExceeded('a', 3.0))
    assert falls.name == 'shows'
    assert repr(falls) == '<fallback shows >> a >> deadline>'
    assert falls.describe() == 'shows: handles all failures\na: 3 s\ndeadline: 2 s'
    assert fallback(one, when=retryable).describe() == 'fallback: handles some failures'


def test_the_pipeline_that_does_nothing_changes_nothing_inside() -> None:
    falls = fallback(one)
    assert (falls >> identity).run_sync(down) is ONE
    assert repr(falls >> identity) == repr(falls)


def test_a_fallback_is_unchanged_by_what_is_put_inside_of_it() -> None:
    falls = fallback(one)
    inside = falls >> deadline(3.0)
    assert inside is not falls
    assert repr(falls) == '<fallback fallback>'


def test_nothing_stands_outside_of_a_fallback() -> None:
    guard: Guard[DeadlineExceeded] = deadline(1.0)
    for outer in (guard, identity, 3):
        with pytest.raises(
            TypeError,
            match="The fallback 'cached' must be outermost, as in",
        ):
            print(outer >> UNTYPED(one, name='cached'))
    with pytest.raises(TypeError, match="The fallback 'cached' must be outermost"):
        print(fallback(one) >> UNTYPED(one, name='cached'))
    with pytest.raises(TypeError, match='A fallback must contain a guard, not 3'):
        print(UNTYPED(one) >> 3)


def test_a_second_choice_is_up_to_the_handler() -> None:
    def second(_error: TaggedError) -> Result[int, Slow]:
        return fallback(one).run_sync(lambda: Failure(Slow()))

    assert fallback(second).run_sync(down) is ONE


def test_it_decorates_functions_and_keeps_their_names() -> None:
    @fallback(one)
    def find_it(key: str) -> Result[str, Down]:
        """Find."""
        return Success(key) if key else DOWN

    @fallback(one_later)
    async def load(key: str, *, soon: int = 0) -> Result[str, Down]:
        return Success(key * soon) if key else DOWN

    assert (find_it('a'), find_it('')) == (Success('a'), ONE)
    assert (find_it.__name__, find_it.__doc__) == ('find_it', 'Find.')
    assert asyncio.run(load('a', soon=2)) == Success('aa')
    assert asyncio.run(load('')) is ONE
    assert inspect.iscoroutinefunction(load)


def test_what_it_cannot_be_made_with() -> None:
    with pytest.raises(
        TypeError, match=r'^handler must be a function that accepts an error, not 3'
    ):
        UNTYPED(3)
    with pytest.raises(TypeError, match=r'^when must be a function that accepts an error, not 3'):
        UNTYPED(one, when=3)
    with pytest.raises(TypeError, match='observer must be a function'):
        UNTYPED(one, observer=3)
    with pytest.raises(ValueError, match='name'):
        UNTYPED(one, name='')
