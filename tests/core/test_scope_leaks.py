"""A `do` that fails where its function cannot end with the failure: too late, in another thread, or unheard."""

import asyncio
import contextvars
import threading
from asyncio import Event, TaskGroup, sleep, to_thread
from collections.abc import AsyncIterator, Callable, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import Any

import pytest

from seamwise import Do, Failure, Result, ScopeLeaked, Success, attempt, fallible, when
from seamwise.scope import Signal

LATE: Result[int, str] = Failure('late')
TOO_LATE = r'^A do outlived its function and failed too late, with <Failure: late>\.$'
ELSEWHERE = r'^A do failed in another thread than that of its function, with <Failure: late>\.$'
SWALLOWED = r'^A do failed with <Failure: late>, but some code swallowed its early return\.$'


class TestTooLate:
    def test_a_closure_that_is_returned(self) -> None:
        @fallible
        def escapes(do: Do[str]) -> Callable[[], int]:
            return lambda: do(LATE)

        with pytest.raises(ScopeLeaked, match=TOO_LATE):
            escapes().unwrap()()

    def test_a_generator_that_is_consumed_later(self) -> None:
        @fallible
        def lazy(do: Do[str]) -> Iterator[int]:
            return (do(one) for one in (Success(1), LATE))

        numbers = lazy().unwrap()
        assert next(numbers) == 1
        with pytest.raises(ScopeLeaked, match=TOO_LATE):
            next(numbers)

    def test_an_async_generator_that_is_consumed_later(self) -> None:
        async def numbers(do: Do[str]) -> AsyncIterator[int]:
            yield do(Success(1))
            yield do(LATE)

        @fallible
        async def lazy(do: Do[str]) -> AsyncIterator[int]:
            return numbers(do)

        async def main() -> list[int]:
            return [one async for one in (await lazy()).unwrap()]

        with pytest.raises(ScopeLeaked, match=TOO_LATE):
            asyncio.run(main())

    @pytest.mark.parametrize('ending', ['value', 'failure', 'exception', 'swallowed'])
    def test_however_the_function_has_ended(self, ending: str) -> None:
        kept: list[Do[str]] = []

        @fallible
        def ends(do: Do[str]) -> None:
            kept.append(do)
            if ending == 'failure':
                do.fail('early')
            if ending == 'swallowed':
                with suppress(BaseException):
                    do.fail('early')
            if ending == 'exception':
                raise ValueError

        @fallible
        async def ends_async(do: Do[str]) -> None:
            await to_thread(kept.append, do)
            if ending == 'failure':
                do.fail('early')
            if ending == 'swallowed':
                with suppress(BaseException):
                    do.fail('early')
            if ending == 'exception':
                raise ValueError

        with suppress(ValueError, ScopeLeaked):
            ends()
        with suppress(ValueError, ScopeLeaked):
            asyncio.run(ends_async())
        for do in kept:
            assert do(Success(1)) == 1
            with pytest.raises(ScopeLeaked, match=TOO_LATE):
                do.fail('late')
            with pytest.raises(ScopeLeaked, match=TOO_LATE):
                do(LATE)
        assert len(kept) == 2

    def test_a_function_that_was_closed_has_ended_too(self) -> None:
        kept: list[Do[str]] = []

        @fallible
        async def waits(do: Do[str]) -> None:
            kept.append(do)
            await sleep(0)

        coroutine = waits()
        coroutine.send(None)  # type: ignore[arg-type]  # no task sends anything; to start it by hand, None is needed
        coroutine.close()
        with pytest.raises(ScopeLeaked, match=TOO_LATE):
            kept[0].fail('late')

    def test_a_task_that_nobody_awaits(self) -> None:
        tasks: list[asyncio.Task[int]] = []

        async def later(do: Do[str]) -> int:
            await sleep(0)
            return do(LATE)

        @fallible
        async def forgets(do: Do[str]) -> None:
            tasks.append(asyncio.create_task(later(do)))

        async def main() -> None:
            assert await forgets() == Success(None)
            await tasks[0]

        with pytest.raises(ScopeLeaked, match=TOO_LATE):
            asyncio.run(main())

    def test_a_callback_of_the_loop(self) -> None:
        contexts: list[dict[str, Any]] = []

        @fallible
        async def schedules(do: Do[str]) -> None:
            asyncio.get_running_loop().call_soon(do, LATE)

        async def main() -> Result[None, str]:
            asyncio.get_running_loop().set_exception_handler(
                lambda _, context: contexts.append(context)
            )
            result = await schedules()
            await sleep(0)
            return result

        assert asyncio.run(main()) == Success(None)
        assert [type(one['exception']) for one in contexts] == [ScopeLeaked]


class TestOtherThread:
    def test_a_thread(self) -> None:
        seen: list[BaseException] = []

        def work(do: Do[str]) -> None:
            try:
                do(LATE)
            except BaseException as raised:  # noqa: BLE001 -- what a thread raises has to be carried out of it
                seen.append(raised)

        @fallible
        def starts(do: Do[str]) -> None:
            thread = threading.Thread(target=work, args=(do,))
            thread.start()
            thread.join()

        with pytest.raises(ScopeLeaked, match=SWALLOWED):
            starts()
        with pytest.raises(ScopeLeaked, match=ELSEWHERE):
            raise seen[0]

    def test_a_pool(self) -> None:
        @fallible
        def pooled(do: Do[str]) -> list[int]:
            with ThreadPoolExecutor(1) as pool:
                return list(pool.map(do, [Success(1), LATE]))

        with pytest.raises(ScopeLeaked, match=ELSEWHERE):
            pooled()

    def test_a_thread_with_a_function_of_its_own(self) -> None:
        @fallible
        def other(_: Do[str], do: Do[str]) -> int:
            return do(LATE)

        @fallible
        def pooled(do: Do[str]) -> Result[int, str]:
            with ThreadPoolExecutor(1) as pool:
                return pool.submit(other, do).result()

        with pytest.raises(ScopeLeaked, match=ELSEWHERE):
            pooled()

    def test_a_thread_that_fails_with_what_has_failed_before_names_it(self) -> None:
        @fallible
        def pooled(do: Do[str]) -> object:
            with suppress(BaseException):
                do(LATE)
            with ThreadPoolExecutor(1) as pool:
                return pool.submit(do, LATE).result()

        with pytest.raises(ScopeLeaked, match=ELSEWHERE):
            pooled()

    def test_a_thread_beside_a_coroutine_function(self) -> None:
        @fallible
        async def threaded(do: Do[str]) -> int:
            return await to_thread(do, LATE)

        with pytest.raises(ScopeLeaked, match=ELSEWHERE):
            asyncio.run(threaded())

    def test_a_thread_that_is_not_listened_to_leaves_no_success(self) -> None:
        @fallible
        async def careless(do: Do[str]) -> int:
            with suppress(ScopeLeaked):
                await to_thread(do, LATE)
            return 1

        with pytest.raises(ScopeLeaked, match=SWALLOWED):
            asyncio.run(careless())

    def test_a_do_that_goes_well_may_be_anywhere(self) -> None:
        @fallible
        async def threaded(do: Do[str]) -> int:
            return await to_thread(do, Success(1))

        assert asyncio.run(threaded()) == Success(1)

    def test_a_function_that_runs_in_a_thread_is_at_home_there(self) -> None:
        @fallible
        def fails(do: Do[str]) -> int:
            return do(LATE)

        @fallible
        async def fails_too(do: Do[str]) -> int:
            await sleep(0)
            return do(LATE)

        async def main() -> list[Result[int, str]]:
            return [await to_thread(fails), await to_thread(asyncio.run, fails_too())]

        assert asyncio.run(main()) == [LATE, LATE]

    def test_another_context_is_no_other_thread(self) -> None:
        @fallible
        def elsewhere(do: Do[str]) -> int:
            return contextvars.copy_context().run(do, LATE)

        assert elsewhere() is LATE


@contextmanager
def deaf() -> Generator[None]:
    with suppress(BaseException):
        yield


def with_suppress(do: Do[str]) -> None:
    with suppress(BaseException):
        do(LATE)


def with_own_manager(do: Do[str]) -> None:
    with deaf():
        do(LATE)


def with_except(do: Do[str]) -> int:
    try:
        return do(LATE)
    except BaseException:  # noqa: BLE001 -- the blind except is the test
        return 1


def with_except_star(do: Do[str]) -> None:
    try:
        do(LATE)
    except* BaseException:  # noqa: BLE001, S110 -- the blind except is the test
        pass


def with_return_in_finally(do: Do[str]) -> int:
    try:
        return do(LATE)
    finally:
        return 1  # noqa: B012, SIM107 -- the swallowed exception is the test


def with_break_in_finally(do: Do[str]) -> None:
    while True:
        try:
            do(LATE)
        finally:
            break  # noqa: B012 -- the swallowed exception is the test


def with_second_failure(do: Do[str]) -> int:
    with suppress(BaseException):
        do(LATE)
    return do(Failure('later'))


def with_second_failure_of_the_same_object(do: Do[str]) -> int:
    with suppress(BaseException):
        do(LATE)
    return do(LATE)


def with_second_failure_in_a_group(do: Do[str]) -> int:
    with suppress(BaseException):
        do(LATE)
    try:
        return do(LATE)
    except Signal as signal:
        raise BaseExceptionGroup('a', [signal]) from None


def with_failure_in_finally(do: Do[str]) -> int:
    try:
        return do(LATE)
    finally:
        do.fail('later')


SWALLOWING = [
    with_suppress,
    with_own_manager,
    with_except,
    with_except_star,
    with_return_in_finally,
    with_break_in_finally,
    with_second_failure,
    with_second_failure_of_the_same_object,
    with_second_failure_in_a_group,
    with_failure_in_finally,
]


class TestUnheard:
    @pytest.mark.parametrize('body', SWALLOWING)
    def test_a_plain_function_that_swallows_its_way_out_is_loud(
        self, body: Callable[[Do[str]], object]
    ) -> None:
        with pytest.raises(ScopeLeaked, match=SWALLOWED) as raised:
            fallible(body)()
        assert (raised.value.__context__, raised.value.__cause__) == (None, None)

    @pytest.mark.parametrize('body', SWALLOWING)
    def test_a_coroutine_function_that_swallows_its_way_out_is_loud(
        self, body: Callable[[Do[str]], object]
    ) -> None:
        @fallible
        async def run(do: Do[str]) -> object:
            await sleep(0)
            return body(do)

        with pytest.raises(ScopeLeaked, match=SWALLOWED) as raised:
            asyncio.run(run())
        assert (raised.value.__context__, raised.value.__cause__) == (None, None)

    @pytest.mark.parametrize('body', SWALLOWING)
    def test_a_nested_function_that_swallows_the_way_out_of_its_outer_one_does_not_help(
        self, body: Callable[[Do[str]], object]
    ) -> None:
        @fallible
        def outer(do: Do[str]) -> object:
            @fallible
            def inner(_: Do[str]) -> object:
                return body(do)

            return inner()

        with pytest.raises(ScopeLeaked, match=SWALLOWED):
            outer()

    def test_gather_that_returns_exceptions(self) -> None:
        async def step(do: Do[str]) -> int:
            return do(LATE)

        @fallible
        async def gathers(do: Do[str]) -> int:
            return len(await asyncio.gather(step(do), step(do), return_exceptions=True))

        with pytest.raises(ScopeLeaked, match=SWALLOWED):
            asyncio.run(gathers())

    def test_a_task_that_fails_beside_a_function_that_does_not_look(self) -> None:
        async def step(do: Do[str]) -> int:
            return do(LATE)

        @fallible
        async def looks_away(do: Do[str]) -> None:
            await asyncio.wait([asyncio.create_task(step(do))])

        async def main() -> None:
            asyncio.get_running_loop().set_exception_handler(lambda _, __: None)
            await looks_away()

        with pytest.raises(ScopeLeaked, match=SWALLOWED):
            asyncio.run(main())

    def test_a_callback_of_the_loop_while_the_function_runs(self) -> None:
        @fallible
        async def schedules(do: Do[str]) -> None:
            asyncio.get_running_loop().call_soon(do, LATE)
            await sleep(0)

        async def main() -> None:
            asyncio.get_running_loop().set_exception_handler(lambda _, __: None)
            await schedules()

        with pytest.raises(ScopeLeaked, match=SWALLOWED):
            asyncio.run(main())

    def test_a_first_failure_that_is_lost_before_a_task_group_fails(self) -> None:
        async def step(do: Do[str]) -> None:
            do.fail('later')

        @fallible
        async def runs(do: Do[str]) -> None:
            with suppress(BaseException):
                do(LATE)
            async with TaskGroup() as group:
                group.create_task(step(do))
                await Event().wait()

        with pytest.raises(ScopeLeaked, match=SWALLOWED):
            asyncio.run(runs())

    def test_an_edge_swallows_nothing(self) -> None:
        @fallible
        def inside(do: Do[str]) -> Result[int, str]:
            return attempt(lambda: do(LATE), when(Exception).becomes(str))

        assert inside() is LATE

    def test_an_exception_after_a_swallowed_failure_passes(self) -> None:
        @fallible
        def raises(do: Do[str]) -> None:
            with suppress(BaseException):
                do(LATE)
            raise ValueError('a')

        with pytest.raises(ValueError, match='a'):
            raises()
