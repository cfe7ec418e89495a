"""Tests of the concurrent functions: order, limit, failures, cancellation and defects."""

import asyncio
import gc
import weakref
from asyncio import CancelledError, Event, sleep
from collections.abc import Awaitable, Callable, Generator, Iterable, Iterator
from contextlib import suppress
from contextvars import ContextVar
from inspect import getcoroutinestate
from typing import Any, Never

import pytest

from seamwise import Failure, Result, Success, accumulate_async, collect_async, partition_async

Number = Result[int, str]
Many = Callable[..., Awaitable[Any]]
ALL: list[Many] = [collect_async, accumulate_async, partition_async]
every = pytest.mark.parametrize('many', ALL, ids=lambda many: many.__name__)


async def soon(number: int, *, iterations: int = 1) -> Number:
    """Return a Success of an even number or a Failure of an odd one, after some loop iterations."""
    for _ in range(iterations):
        await sleep(0)
    return Failure(f'{number} is odd') if number % 2 else Success(number)


async def bug(number: int = 0, *, iterations: int = 1) -> Number:
    for _ in range(iterations):
        await sleep(0)
    raise ValueError(number)


class Child:
    """Awaitables that wait until they are cancelled, and a record of that."""

    def __init__(self) -> None:
        self.begun: list[int] = []
        self.ended: list[int] = []

    async def waits(
        self, number: int, *, cleanup: int = 2, then: Awaitable[Number] | None = None
    ) -> Number:
        self.begun.append(number)
        try:
            await Event().wait()
        finally:
            for _ in range(cleanup):
                await sleep(0)
            self.ended.append(number)
            if then is not None:
                await then
        pytest.fail('nobody wakes it')


class Crowd:
    """Counter of concurrent awaitables and of items read from the iterator."""

    def __init__(self, count: int, *, fails_at: int | None = None) -> None:
        self.count = count
        self.fails_at = fails_at
        self.read = self.now = self.most = self.done = 0
        self.most_ahead = 0

    async def run_one(self, index: int) -> Result[int, str]:
        self.now += 1
        self.most = max(self.most, self.now)
        for _ in range(index % 3 + 1):
            await sleep(0)
        self.now -= 1
        self.done += 1
        return Failure(f'{index} failed') if index == self.fails_at else Success(index)

    def __iter__(self) -> Iterator[Awaitable[Result[int, str]]]:
        for index in range(self.count):
            self.read += 1
            self.most_ahead = max(self.most_ahead, self.read - self.done)
            yield self.run_one(index)


class Later:
    """An awaitable of its own class."""

    def __init__(self, number: int) -> None:
        self.number = number

    def __await__(self) -> Generator[Any, None, Number]:
        return soon(self.number).__await__()


async def cancelled(task: asyncio.Task[Any], *, times: int = 1) -> None:
    """Run a task for a while, cancel it, and check that it ends with CancelledError."""
    for _ in range(3):
        await sleep(0)
    for _ in range(times):
        task.cancel('enough')
        await sleep(0)
    await asyncio.wait([task])
    assert task.cancelled()


class TestResults:
    def test_collect_async_returns_the_values_of_its_arguments(self) -> None:
        async def name() -> Success[str]:
            return Success('a')

        async def main() -> Result[tuple[int, str], str]:
            return await collect_async(soon(2), name())

        assert asyncio.run(main()) == Success((2, 'a'))

    @pytest.mark.parametrize('limit', [None, 1, 2, 100])
    def test_results_have_the_order_of_the_arguments_not_of_completion(
        self, limit: int | None
    ) -> None:
        async def main() -> tuple[object, ...]:
            def jobs() -> list[Awaitable[Number]]:
                return [soon(number, iterations=9 - number) for number in range(0, 9, 2)]

            def odd() -> list[Awaitable[Number]]:
                return [soon(number, iterations=9 - number) for number in range(5)]

            return (
                await collect_async(jobs(), limit=limit),
                await accumulate_async(jobs(), limit=limit),
                await accumulate_async(odd(), limit=limit),
                await partition_async(odd(), limit=limit),
            )

        evens = Success((0, 2, 4, 6, 8))
        assert asyncio.run(main()) == (
            evens,
            evens,
            Failure(('1 is odd', '3 is odd')),
            ([0, 2, 4], ['1 is odd', '3 is odd']),
        )

    @pytest.mark.parametrize(
        'to_iterable',
        [list, tuple, iter, dict.fromkeys, set],
        ids=['list', 'tuple', 'iter', 'dict', 'set'],
    )
    def test_any_iterable_is_accepted(
        self, to_iterable: Callable[[list[Awaitable[Number]]], Iterable[Awaitable[Number]]]
    ) -> None:
        async def main() -> Result[tuple[int, ...], str]:
            return await collect_async(to_iterable([soon(2), soon(2)]))

        assert asyncio.run(main()) == Success((2, 2))

    @every
    def test_an_empty_iterable_gives_an_empty_result(self, many: Many) -> None:
        async def main() -> object:
            return await many([])

        assert asyncio.run(main()) == (([], []) if many is partition_async else Success(()))

    def test_coroutines_tasks_futures_and_other_awaitables_are_accepted(self) -> None:
        async def main() -> Result[tuple[int, int, int, int], str]:
            finished: asyncio.Future[Number] = asyncio.get_running_loop().create_future()
            finished.set_result(Success(6))
            return await collect_async(soon(2), asyncio.create_task(soon(4)), finished, Later(8))

        assert asyncio.run(main()) == Success((2, 4, 6, 8))

    def test_one_awaitable_is_treated_as_an_argument(self) -> None:
        async def main() -> tuple[object, ...]:
            future: asyncio.Future[Number] = asyncio.get_running_loop().create_future()
            future.set_result(Success(6))
            return (
                await collect_async(soon(2)),
                await collect_async(future),
                await accumulate_async(Later(4)),
            )

        assert asyncio.run(main()) == (Success((2,)), Success((6,)), Success((4,)))

    def test_twenty_thousand_awaitables_run_without_recursion(self) -> None:
        async def main() -> tuple[int, int]:
            values_of_all = await collect_async(soon(0, iterations=0) for _ in range(20_000))
            values, errors = await partition_async(
                (soon(number, iterations=0) for number in range(20_000)), limit=100
            )
            return len(values_of_all.unwrap()), len(values) - len(errors)

        assert asyncio.run(main()) == (20_000, 0)

    def test_children_inherit_context_variables(self) -> None:
        name = ContextVar('name', default='nobody')

        async def who() -> Success[str]:
            await sleep(0)
            return Success(name.get())

        async def main() -> Result[tuple[str, ...], Never]:
            name.set('somebody')
            return await collect_async([who(), who(), who()], limit=1)

        assert asyncio.run(main()) == Success(('somebody',) * 3)


class TestLimit:
    @every
    @pytest.mark.parametrize('limit', [1, 3, 7])
    def test_the_limit_bounds_running_and_read_awaitables(self, many: Many, limit: int) -> None:
        async def main(crowd: Crowd) -> None:
            await many(crowd, limit=limit)

        crowd = Crowd(30)
        asyncio.run(main(crowd))
        assert (crowd.most, crowd.most_ahead, crowd.done) == (limit, limit, 30)

    @every
    def test_all_awaitables_run_concurrently_without_a_limit(self, many: Many) -> None:
        async def main(crowd: Crowd) -> None:
            await many(crowd)

        crowd = Crowd(30)
        asyncio.run(main(crowd))
        assert crowd.most == 30

    def test_nothing_is_read_after_a_failure(self) -> None:
        async def main(awaitables: Iterable[Awaitable[Number]]) -> object:
            return await collect_async(awaitables, limit=2)

        crowd = Crowd(30, fails_at=4)
        assert asyncio.run(main(crowd)) == Failure('4 failed')
        assert crowd.read <= 6
        crowd = Crowd(30, fails_at=4)
        assert asyncio.run(main(iter(crowd))) == Failure('4 failed')
        assert crowd.read <= 6

    @every
    @pytest.mark.parametrize('limit', [1.5, 2.0, True, False, '3', float('inf')])
    def test_a_limit_that_is_no_whole_number_raises_type_error(
        self, many: Many, limit: Any
    ) -> None:
        async def main() -> None:
            await many([], limit=limit)

        with pytest.raises(
            TypeError,
            match=f'^{many.__name__}: limit must be a whole number or None, not {limit!r}\\.$',
        ):
            asyncio.run(main())

    @every
    @pytest.mark.parametrize('limit', [0, -1])
    def test_a_limit_below_one_raises_value_error(self, many: Many, limit: int) -> None:
        async def main() -> None:
            await many([], limit=limit)

        with pytest.raises(
            ValueError, match=f'^{many.__name__}: limit must be 1 or more, or None, not {limit}\\.$'
        ):
            asyncio.run(main())


class TestFailures:
    def test_collect_async_returns_the_first_failure_in_time_itself(self) -> None:
        late = Failure('late')

        async def fail() -> Number:
            return late

        async def main() -> object:
            return await collect_async(soon(1, iterations=3), fail(), soon(3, iterations=2))

        assert asyncio.run(main()) is late

    def test_a_failure_cancels_and_awaits_the_siblings(self) -> None:
        child = Child()

        async def main() -> object:
            result = await collect_async(child.waits(1), soon(3), child.waits(2))
            return result, sorted(child.ended)

        assert asyncio.run(main()) == (Failure('3 is odd'), [1, 2])

    @every
    def test_only_collect_async_stops_at_a_failure(self, many: Many) -> None:
        async def main(crowd: Crowd) -> None:
            await many(crowd)

        crowd = Crowd(9, fails_at=0)
        asyncio.run(main(crowd))
        assert (crowd.done < 9) is (many is collect_async)

    def test_a_cancelled_sibling_that_fails_does_not_replace_the_failure(self) -> None:
        async def stubborn(answer: object) -> Any:
            try:
                await Event().wait()
            except CancelledError:
                return answer

        async def main() -> object:
            return await collect_async(
                stubborn(Failure('other')), soon(1), stubborn(Success(2)), stubborn(None)
            )

        assert asyncio.run(main()) == Failure('1 is odd')

    def test_a_defect_of_a_cancelled_sibling_replaces_the_failure(self) -> None:
        child = Child()

        async def main() -> object:
            return await collect_async(soon(1), child.waits(1, then=bug(7)))

        with pytest.raises(ValueError, match='7'):
            asyncio.run(main())

    def test_coroutines_that_did_not_start_are_closed(self) -> None:
        async def main() -> tuple[object, bool]:
            jobs = [soon(1), *(soon(2) for _ in range(5))]
            result = await collect_async(jobs, limit=2)
            return result, [getcoroutinestate(job) for job in jobs] == ['CORO_CLOSED'] * 6

        assert asyncio.run(main()) == (Failure('1 is odd'), True)
        gc.collect()

    def test_tasks_beyond_the_limit_are_cancelled_and_awaited(self) -> None:
        child = Child()

        async def main() -> object:
            tasks = [
                asyncio.create_task(coroutine)
                for coroutine in (soon(1), child.waits(1), child.waits(2))
            ]
            return await collect_async(tasks, limit=1), [task.done() for task in tasks], child.ended

        assert asyncio.run(main()) == (Failure('1 is odd'), [True] * 3, [1, 2])

    def test_other_awaitables_that_did_not_start_are_not_touched(self) -> None:
        async def main() -> object:
            return await collect_async([Later(1), Later(2)], limit=1)

        assert asyncio.run(main()) == Failure('1 is odd')

    def test_the_rest_of_an_iterator_is_left_to_its_owner(self) -> None:
        async def main() -> tuple[object, Number]:
            rest = iter([soon(1), soon(2)])
            return await collect_async(rest, limit=1), await next(rest)

        assert asyncio.run(main()) == (Failure('1 is odd'), Success(2))


class TestCancellation:
    @every
    @pytest.mark.parametrize('limit', [None, 2])
    def test_cancelling_the_caller_cancels_and_awaits_the_children(
        self, many: Many, limit: int | None
    ) -> None:
        child = Child()

        async def caller() -> None:
            await many([child.waits(1), child.waits(2), child.waits(3)], limit=limit)

        async def main() -> None:
            await cancelled(asyncio.create_task(caller()))

        asyncio.run(main())
        assert sorted(child.ended) == child.begun == list(range(1, (limit or 3) + 1))
        gc.collect()

    @every
    def test_a_caller_that_is_cancelled_twice_still_awaits_the_children(self, many: Many) -> None:
        child = Child()

        async def caller() -> None:
            try:
                await many([child.waits(1, cleanup=9), child.waits(2, cleanup=9)])
            finally:
                assert child.ended == [1, 2]

        async def main() -> None:
            await cancelled(asyncio.create_task(caller()), times=3)

        asyncio.run(main())

    def test_a_child_that_succeeds_does_not_undo_the_cancellation(self) -> None:
        async def stubborn() -> Number:
            try:
                await Event().wait()
            except CancelledError:
                return Success(2)
            pytest.fail('nobody wakes it')

        async def main() -> None:
            await cancelled(asyncio.create_task(collect_async(stubborn())))
            await cancelled(asyncio.create_task(partition_async([stubborn()])))

        asyncio.run(main())

    def test_the_cancellation_of_the_caller_keeps_its_message(self) -> None:
        async def main() -> None:
            task = asyncio.create_task(collect_async(Child().waits(1)))
            await sleep(0)
            task.cancel('enough')
            with pytest.raises(CancelledError, match='enough'):
                await task

        asyncio.run(main())

    def test_a_cancellation_replaces_a_failure(self) -> None:
        child = Child()

        async def main() -> None:
            await cancelled(asyncio.create_task(collect_async(soon(1), child.waits(1, cleanup=9))))

        asyncio.run(main())
        assert child.ended == [1]

    def test_a_defect_replaces_a_cancellation(self) -> None:
        async def main() -> None:
            task = asyncio.create_task(collect_async(Child().waits(1, then=bug(7))))
            await sleep(0)
            task.cancel()
            await task

        with pytest.raises(ValueError, match='7'):
            asyncio.run(main())

    @every
    def test_a_child_that_is_cancelled_from_outside_cancels_all(self, many: Many) -> None:
        child = Child()

        async def main() -> None:
            task = asyncio.create_task(child.waits(1))
            asyncio.get_running_loop().call_later(0, task.cancel)
            with pytest.raises(CancelledError):
                await many([task, child.waits(2)])
            assert sorted(child.ended) == [1, 2]

        asyncio.run(main())

    def test_a_defect_replaces_the_cancellation_of_a_child(self) -> None:
        async def gives_up() -> Number:
            raise CancelledError

        async def main() -> None:
            await collect_async(gives_up(), bug(7, iterations=0))

        with pytest.raises(ValueError, match='7'):
            asyncio.run(main())

    @every
    def test_an_outer_timeout_raises_timeout_error(self, many: Many) -> None:
        child = Child()

        async def main() -> None:
            async with asyncio.timeout(0):
                await many([child.waits(1)])

        with pytest.raises(TimeoutError):
            asyncio.run(main())
        assert child.ended == child.begun

    def test_a_timeout_inside_a_child_belongs_to_the_child(self) -> None:
        async def patient() -> Number:
            try:
                async with asyncio.timeout(0):
                    never: asyncio.Future[Number] = asyncio.get_running_loop().create_future()
                    return await never
            except TimeoutError:
                return Failure('slow')

        async def main() -> object:
            return await accumulate_async(patient(), soon(2))

        assert asyncio.run(main()) == Failure(('slow',))


class Falsy(Exception):
    def __len__(self) -> int:
        return 0


class Alarm(BaseException):
    """BaseException that `except Exception` does not catch."""


class TestDefects:
    @every
    @pytest.mark.parametrize('kind', [ValueError, Falsy, Alarm])
    def test_a_defect_propagates_unchanged_after_the_siblings_have_ended(
        self, many: Many, kind: type[BaseException]
    ) -> None:
        child = Child()
        defect = kind('b')
        assert bool(defect) is (kind is not Falsy)

        async def raising() -> Never:
            await sleep(0)
            raise defect

        async def main() -> None:
            try:
                await many([child.waits(1), raising(), child.waits(2)])
            finally:
                assert sorted(child.ended) == [1, 2]

        with pytest.raises(kind) as raised:
            asyncio.run(main())
        assert raised.value is defect

    @every
    def test_several_defects_are_raised_as_a_group(self, many: Many) -> None:
        async def main() -> None:
            await many([bug(1), bug(2), soon(2)])

        with pytest.raises(ExceptionGroup, match='several awaitables raised') as raised:
            asyncio.run(main())
        assert [str(error) for error in raised.value.exceptions] == ['1', '2']

    @every
    @pytest.mark.parametrize('limit', [None, 1, 2])
    @pytest.mark.parametrize('kind', [ZeroDivisionError, Alarm])
    def test_an_exception_of_the_iterator_propagates_and_cancels_the_children(
        self, many: Many, limit: int | None, kind: type[BaseException]
    ) -> None:
        child = Child()

        def jobs() -> Iterator[Awaitable[Number]]:
            yield soon(2)
            if limit != 1:
                yield child.waits(1)
            raise kind('read')

        async def main() -> None:
            try:
                await many(jobs(), limit=limit)
            finally:
                assert child.ended == child.begun

        with pytest.raises(kind, match='read'):
            asyncio.run(main())

    def test_a_defect_leaves_no_reference_cycle(self) -> None:
        class Held:
            pass

        async def main() -> bool:
            held = Held()
            alive = weakref.ref(held)

            async def raising(_: Held) -> Number:
                raise ValueError

            for jobs in ([raising(held)], [raising(held), raising(held)]):
                with suppress(ValueError, ExceptionGroup):
                    await collect_async(jobs)
                del jobs
            del held
            return alive() is None

        gc.collect()
        gc.disable()
        try:
            assert asyncio.run(main())
        finally:
            gc.enable()


class TestInvalidArguments:
    @every
    @pytest.mark.parametrize('wrong', [7, None, Success(2)])
    def test_an_item_that_is_not_awaitable_raises_type_error_with_its_position(
        self, many: Many, wrong: object
    ) -> None:
        child = Child()

        async def main() -> None:
            await many([soon(2), child.waits(1), wrong, soon(4)])

        match = (
            f'^{many.__name__} takes awaitables of results, '
            f'but number 3 is {type(wrong).__name__}\\.$'
        )
        with pytest.raises(TypeError, match=match):
            asyncio.run(main())
        assert child.ended == child.begun
        gc.collect()

    @every
    @pytest.mark.parametrize('wrong', [7, None, [Success(2)]])
    def test_an_awaitable_without_a_result_raises_type_error_with_its_position(
        self, many: Many, wrong: object
    ) -> None:
        child = Child()

        async def gives() -> object:
            return wrong

        async def main() -> None:
            await many([child.waits(1), gives()])

        match = (
            f'^{many.__name__} takes awaitables of results, '
            f'but number 2 gave {type(wrong).__name__}\\.$'
        )
        with pytest.raises(TypeError, match=match):
            asyncio.run(main())
        assert child.ended == [1]

    @every
    def test_an_argument_that_is_neither_awaitable_nor_iterable_raises_type_error(
        self, many: Many
    ) -> None:
        async def main() -> None:
            await many(7)

        with pytest.raises(
            TypeError,
            match=f'^{many.__name__} takes awaitables or one iterable of awaitables, not int\\.$',
        ):
            asyncio.run(main())
