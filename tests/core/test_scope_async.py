"""Tests of direct style in coroutine functions: tasks, timeouts and cancellation."""

import asyncio
from asyncio import CancelledError, Event, TaskGroup, sleep
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from inspect import iscoroutinefunction
from typing import Never

import pytest

from seamwise import Do, Failure, Result, Success, collect_async, fallible
from seamwise._errors.causes import iter_leaves
from seamwise._results.scope import Signal

LATE: Result[int, str] = Failure('late')


async def half(number: int) -> Result[int, str]:
    await sleep(0)
    return Failure(f'{number} is odd') if number % 2 else Success(number // 2)


@fallible
async def quarter(do: Do[str], number: int) -> int:
    return do(await half(do(await half(number))))


class Siblings:
    """Tasks that wait until they are cancelled, and a record of that."""

    def __init__(self) -> None:
        self.cancelled = 0

    async def wait(self) -> Success[bool]:
        try:
            return Success(await Event().wait())
        except CancelledError:
            await sleep(0)
            self.cancelled += 1
            raise


def type_names_in(error: BaseException) -> set[str]:
    """Return the type names of an exception and all its causes, contexts and members."""
    errors: list[BaseException | None] = [error]
    for current in errors:
        if current is not None:
            members: tuple[BaseException, ...] = getattr(current, 'exceptions', ())
            errors += [
                error
                for error in (current.__cause__, current.__context__, *members)
                if error not in errors
            ]
    return {type(error).__name__ for error in errors if error is not None}


class TestResult:
    def test_the_return_value_becomes_a_success(self) -> None:
        assert asyncio.run(quarter(8)) == Success(2)

    def test_do_ends_the_function_with_the_failure_itself(self) -> None:
        @fallible
        async def ends(do: Do[str]) -> None:
            do(LATE)
            pytest.fail('the function has ended')

        assert asyncio.run(ends()) is LATE

    def test_do_fail_ends_the_function_with_an_error(self) -> None:
        assert asyncio.run(quarter(6)) == Failure('3 is odd')

    def test_a_coroutine_function_remains_one(self) -> None:
        assert iscoroutinefunction(quarter)
        coroutine = quarter(1)
        assert asyncio.iscoroutine(coroutine)
        coroutine.close()

    def test_methods_can_be_fallible(self) -> None:
        class Shop:
            name = 'pens'

            @fallible
            async def sell(self, do: Do[str], *, count: int) -> str:
                return f'{do(await half(count))} {self.name}'

            @classmethod
            @fallible
            async def of(cls, do: Do[str], name: str) -> 'Shop':
                return cls() if name else do.fail('nameless')

            @staticmethod
            @fallible
            async def count(do: Do[str], number: int) -> int:
                return do(await half(number))

        async def main() -> list[object]:
            return [
                await Shop().sell(count=4),
                await Shop.of(''),
                (await Shop.of('a')).map(type),
                await Shop.count(3),
            ]

        assert asyncio.run(main()) == [
            Success('2 pens'),
            Failure('nameless'),
            Success(Shop),
            Failure('3 is odd'),
        ]

    def test_two_calls_can_run_concurrently(self) -> None:
        async def main() -> list[Result[int, str]]:
            return await asyncio.gather(*(quarter(number) for number in (8, 6, 4, 1)))

        assert asyncio.run(main()) == [
            Success(2),
            Failure('3 is odd'),
            Success(1),
            Failure('1 is odd'),
        ]

    def test_do_works_in_an_async_generator_that_the_function_consumes(self) -> None:
        async def numbers(do: Do[str]) -> AsyncIterator[int]:
            yield do(await half(2))
            yield do(await half(1))

        @fallible
        async def total(do: Do[str]) -> int:
            return sum([number async for number in numbers(do)])

        assert asyncio.run(total()) == Failure('1 is odd')

    def test_do_of_a_plain_function_works_inside_an_event_loop_that_it_runs(self) -> None:
        async def step(do: Do[str]) -> int:
            async with TaskGroup() as group:
                group.create_task(Event().wait())
                return do(await half(1))

        @fallible
        def outer(do: Do[str]) -> int:
            return asyncio.run(step(do))

        assert outer() == Failure('1 is odd')


class TestEarlyReturn:
    def test_finally_and_context_managers_run_on_an_early_return(self) -> None:
        events: list[str] = []

        @asynccontextmanager
        async def managed() -> AsyncGenerator[None]:
            try:
                yield
            finally:
                await sleep(0)
                events.append('managed')

        @fallible
        async def tidy(do: Do[str]) -> int:
            try:
                async with managed():
                    return do(LATE)
            except Exception as swallowed:  # noqa: BLE001 -- the blind except is the test
                pytest.fail(str(swallowed))
            finally:
                await sleep(0)
                events.append('finally')

        assert asyncio.run(tidy()) is LATE
        assert events == ['managed', 'finally']

    @pytest.mark.parametrize('kind', [ValueError, KeyboardInterrupt, SystemExit, CancelledError])
    def test_exceptions_propagate_unchanged(self, kind: type[BaseException]) -> None:
        raised = kind('a')

        @fallible
        async def raises(_do: Do[str]) -> None:
            raise raised

        async def main() -> None:
            with pytest.raises(kind) as caught:
                await raises()
            assert caught.value is raised
            assert (raised.__context__, raised.__cause__) == (None, None)

        asyncio.run(main())

    def test_a_group_without_signals_propagates_unchanged(self) -> None:
        group = ExceptionGroup('a', [ValueError('b')])

        @fallible
        async def raises(_do: Do[str]) -> None:
            raise group

        with pytest.raises(ExceptionGroup) as caught:
            asyncio.run(raises())
        assert caught.value is group

    def test_cancellation_propagates(self) -> None:
        siblings = Siblings()

        @fallible
        async def waits(_do: Do[str]) -> None:
            await siblings.wait()

        async def main() -> None:
            task = asyncio.create_task(waits())
            await sleep(0)
            task.cancel('enough')
            with pytest.raises(CancelledError, match='enough'):
                await task
            assert task.cancelled()

        asyncio.run(main())
        assert siblings.cancelled == 1

    def test_a_timeout_in_the_function_propagates(self) -> None:
        @fallible
        async def patient(do: Do[str]) -> None:
            try:
                async with asyncio.timeout(0):
                    await Event().wait()
            except TimeoutError:
                do.fail('slow')

        assert asyncio.run(patient()) == Failure('slow')

    def test_a_failure_inside_a_timeout_block_is_no_timeout(self) -> None:
        @fallible
        async def quick(do: Do[str]) -> int:
            async with asyncio.timeout(60):
                await sleep(0)
                return do(LATE)

        async def main() -> Result[int, str]:
            result = await asyncio.wait_for(quick(), 60)
            task = asyncio.current_task()
            assert task is not None
            assert task.cancelling() == 0
            return result

        assert asyncio.run(main()) is LATE

    def test_a_timeout_of_the_caller_cancels_the_function(self) -> None:
        siblings = Siblings()

        @fallible
        async def slow(_do: Do[str]) -> None:
            await siblings.wait()

        async def main() -> None:
            async with asyncio.timeout(0):
                await slow()

        with pytest.raises(TimeoutError):
            asyncio.run(main())
        assert siblings.cancelled == 1


class TestTaskGroups:
    @pytest.mark.parametrize('depth', [1, 2, 3])
    def test_a_failing_task_cancels_its_siblings_and_becomes_the_result(self, depth: int) -> None:
        siblings = Siblings()

        async def nested(do: Do[str], depth: int) -> None:
            async with TaskGroup() as group:
                group.create_task(siblings.wait())
                if depth > 1:
                    await nested(do, depth - 1)
                else:
                    group.create_task(step(do))

        async def step(do: Do[str]) -> None:
            await sleep(0)
            do(LATE)

        @fallible
        async def runs(do: Do[str]) -> None:
            await nested(do, depth)

        assert asyncio.run(runs()) is LATE
        assert siblings.cancelled == depth

    def test_a_failure_of_the_body_cancels_the_tasks(self) -> None:
        siblings = Siblings()

        @fallible
        async def runs(do: Do[str]) -> int:
            async with TaskGroup() as group:
                group.create_task(siblings.wait())
                await sleep(0)
                return do(LATE)

        assert asyncio.run(runs()) is LATE
        assert siblings.cancelled == 1

    @pytest.mark.parametrize('constant', [True, False], ids=['the same object', 'two objects'])
    def test_the_first_of_several_failures_is_the_result(self, constant: bool) -> None:
        first = Failure('first')

        async def step(do: Do[str]) -> None:
            do(first)

        async def on_the_way_out(do: Do[str]) -> None:
            try:
                await Event().wait()
            finally:
                do(first if constant else LATE)

        @fallible
        async def runs(do: Do[str]) -> None:
            async with TaskGroup() as group:
                group.create_task(on_the_way_out(do))
                await sleep(0)
                group.create_task(step(do))

        assert asyncio.run(runs()) is first

    @pytest.mark.parametrize('by', ['body', 'task', 'nested task'])
    def test_a_defect_replaces_the_failure_and_carries_no_signal(self, by: str) -> None:
        async def bug(do: Do[str], *, is_marked: bool) -> None:
            try:
                await Event().wait()
            except CancelledError:
                if not is_marked:
                    raise ValueError('bug') from KeyError('cause')
                try:
                    do.fail('later')
                except Signal:
                    raise ValueError('bug')  # noqa: B904 -- the context is the test

        async def step(do: Do[str]) -> None:
            await sleep(0)
            do(LATE)

        async def nested(do: Do[str]) -> None:
            async with TaskGroup() as group:
                group.create_task(step(do))
                group.create_task(bug(do, is_marked=True))

        @fallible
        async def runs(do: Do[str]) -> None:
            async with TaskGroup() as group:
                group.create_task(bug(do, is_marked=False))
                group.create_task(bug(do, is_marked=True))
                if by == 'nested task':
                    group.create_task(nested(do))
                elif by == 'task':
                    group.create_task(step(do))
                else:
                    await sleep(0)
                    do(LATE)

        with pytest.raises(ExceptionGroup) as raised:
            asyncio.run(runs())
        bugs, others = raised.value.split(ValueError)
        assert bugs is not None
        assert others is None
        assert type_names_in(raised.value) == {
            'ExceptionGroup',
            'ValueError',
            'KeyError',
            'CancelledError',
        }
        assert [
            str(leaf.__cause__) for leaf in iter_leaves(raised.value) if leaf.__cause__ is not None
        ] == ["'cause'"]

    def test_contexts_of_a_defect_that_are_no_signals_are_kept(self) -> None:
        async def bug(do: Do[str]) -> None:
            try:
                int('a')
            except ValueError:
                try:
                    do.fail('early')
                finally:
                    raise ValueError('bug')

        async def step(do: Do[str]) -> None:
            do(LATE)

        @fallible
        async def runs(do: Do[str]) -> None:
            async with TaskGroup() as group:
                group.create_task(bug(do))
                group.create_task(step(do))

        with pytest.raises(ExceptionGroup) as raised:
            asyncio.run(runs())
        assert type_names_in(raised.value) == {'ExceptionGroup', 'ValueError'}
        assert 'invalid literal' in str(raised.value.exceptions[0].__context__)

    def test_the_signal_of_an_outer_function_propagates_through_an_inner_one(self) -> None:
        siblings = Siblings()

        @fallible
        async def outer(do: Do[str]) -> None:
            async def step() -> None:
                await sleep(0)
                do(LATE)

            @fallible
            async def inner(_do: Do[str]) -> None:
                async with TaskGroup() as group:
                    group.create_task(siblings.wait())
                    group.create_task(step())

            await inner()
            pytest.fail('the outer function has ended')

        assert asyncio.run(outer()) is LATE
        assert siblings.cancelled == 1

    def test_an_outer_signal_replaces_an_inner_one(self) -> None:
        @fallible
        async def outer(do: Do[str]) -> None:
            @fallible
            async def inner(mine: Do[str]) -> None:
                async def fail_inner() -> None:
                    mine.fail('inner')

                async def fail_outer() -> None:
                    do(LATE)

                async with TaskGroup() as group:
                    group.create_task(fail_inner())
                    group.create_task(fail_outer())

            await inner()
            pytest.fail('the outer function has ended')

        assert asyncio.run(outer()) is LATE

    def test_a_direct_signal_of_an_outer_function_propagates(self) -> None:
        @fallible
        async def outer(do: Do[str]) -> None:
            @fallible
            async def inner(_do: Do[str]) -> None:
                await sleep(0)
                do(LATE)

            await inner()
            pytest.fail('the outer function has ended')

        assert asyncio.run(outer()) is LATE


class TestConcurrentFunctions:
    """Tests of `do` in the children and in the iterator of `collect_async`."""

    def test_do_in_a_child_of_collect_async_ends_the_function(self) -> None:
        siblings = Siblings()

        async def step(do: Do[str], number: int) -> Success[int]:
            return Success(do(await half(number)))

        @fallible
        async def runs(do: Do[str]) -> object:
            return do(await collect_async(step(do, 2), siblings.wait(), step(do, 1)))

        assert asyncio.run(runs()) == Failure('1 is odd')
        assert siblings.cancelled == 1

    @pytest.mark.parametrize('limit', [None, 1, 2])
    def test_do_in_the_iterator_of_collect_async_ends_the_function(self, limit: int | None) -> None:
        ended: list[int] = []

        async def child(number: int) -> Result[int, Never]:
            try:
                await sleep(0)
            finally:
                ended.append(number)
            return Success(number)

        @fallible
        async def runs(do: Do[str]) -> tuple[int, ...]:
            return do(
                await collect_async(
                    (child(do(result)) for result in (Success(1), Success(2), LATE)), limit=limit
                )
            )

        assert asyncio.run(runs()) is LATE
        assert ended == ([1, 2] if limit else [])
