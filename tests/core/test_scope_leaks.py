"""Tests of a `do` that fails too late, in another thread, or is swallowed."""

import asyncio
import contextvars
import threading
from asyncio import Event, TaskGroup, sleep, to_thread
from collections.abc import AsyncIterator, Callable, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import Any
from warnings import catch_warnings

import pytest

from seamwise import Do, Failure, Result, ScopeLeaked, Success, attempt, fallible, when
from seamwise._results.scope import Signal

LATE: Result[int, str] = Failure('late')
TOO_LATE = r"^A do outlived its function and failed too late, with Failure\('late'\)\.$"
OTHER_THREAD = (
    r"^A do failed in another thread than that of its function, with Failure\('late'\)\.$"
)
SWALLOWED = r"^A do failed with Failure\('late'\), but some code swallowed its early return\.$"


class TestLateFailures:
    def test_do_raises_scope_leaked_in_a_returned_closure(self) -> None:
        @fallible
        def escapes(do: Do[str]) -> Callable[[], int]:
            return lambda: do(LATE)

        with pytest.raises(ScopeLeaked, match=TOO_LATE):
            escapes().unwrap()()

    def test_do_raises_scope_leaked_in_a_generator_that_is_consumed_later(self) -> None:
        @fallible
        def lazy(do: Do[str]) -> Iterator[int]:
            return (do(result) for result in (Success(1), LATE))

        numbers = lazy().unwrap()
        assert next(numbers) == 1
        with pytest.raises(ScopeLeaked, match=TOO_LATE):
            next(numbers)

    def test_do_raises_scope_leaked_in_an_async_generator_that_is_consumed_later(self) -> None:
        async def numbers(do: Do[str]) -> AsyncIterator[int]:
            yield do(Success(1))
            yield do(LATE)

        @fallible
        async def lazy(do: Do[str]) -> AsyncIterator[int]:
            return numbers(do)

        async def main() -> list[int]:
            return [number async for number in (await lazy()).unwrap()]

        with pytest.raises(ScopeLeaked, match=TOO_LATE):
            asyncio.run(main())

    @pytest.mark.parametrize('ending', ['value', 'failure', 'exception', 'swallowed'])
    def test_do_raises_scope_leaked_after_any_end_of_the_function(self, ending: str) -> None:
        scopes: list[Do[str]] = []

        @fallible
        def ends(do: Do[str]) -> None:
            scopes.append(do)
            if ending == 'failure':
                do.fail('early')
            if ending == 'swallowed':
                with suppress(BaseException):
                    do.fail('early')
            if ending == 'exception':
                raise ValueError

        @fallible
        async def ends_async(do: Do[str]) -> None:
            await to_thread(scopes.append, do)
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
        for do in scopes:
            assert do(Success(1)) == 1
            with pytest.raises(ScopeLeaked, match=TOO_LATE):
                do.fail('late')
            with pytest.raises(ScopeLeaked, match=TOO_LATE):
                do(LATE)
        assert len(scopes) == 2

    def test_do_raises_scope_leaked_after_the_coroutine_was_closed(self) -> None:
        scopes: list[Do[str]] = []

        @fallible
        async def waits(do: Do[str]) -> None:
            scopes.append(do)
            await sleep(0)

        coroutine = waits()
        coroutine.send(None)  # type: ignore[arg-type]  # a manual start needs None
        coroutine.close()
        with pytest.raises(ScopeLeaked, match=TOO_LATE):
            scopes[0].fail('late')

    def test_do_raises_scope_leaked_in_a_task_that_is_not_awaited(self) -> None:
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

    def test_do_raises_scope_leaked_in_a_late_callback_of_the_event_loop(self) -> None:
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
        assert [type(context['exception']) for context in contexts] == [ScopeLeaked]


class TestThreads:
    def test_do_raises_scope_leaked_in_a_thread(self) -> None:
        errors: list[BaseException] = []

        def work(do: Do[str]) -> None:
            try:
                do(LATE)
            except BaseException as raised:  # noqa: BLE001 -- carries the exception out of the thread
                errors.append(raised)

        @fallible
        def starts(do: Do[str]) -> None:
            thread = threading.Thread(target=work, args=(do,))
            thread.start()
            thread.join()

        with pytest.raises(ScopeLeaked, match=SWALLOWED):
            starts()
        with pytest.raises(ScopeLeaked, match=OTHER_THREAD):
            raise errors[0]

    def test_do_raises_scope_leaked_in_a_thread_pool(self) -> None:
        @fallible
        def pooled(do: Do[str]) -> list[int]:
            with ThreadPoolExecutor(1) as pool:
                return list(pool.map(do, [Success(1), LATE]))

        with pytest.raises(ScopeLeaked, match=OTHER_THREAD):
            pooled()

    def test_do_raises_scope_leaked_in_a_thread_that_runs_another_function(self) -> None:
        @fallible
        def other_function(_: Do[str], do: Do[str]) -> int:
            return do(LATE)

        @fallible
        def pooled(do: Do[str]) -> int:
            with ThreadPoolExecutor(1) as pool:
                return do(pool.submit(other_function, do).result())

        with pytest.raises(ScopeLeaked, match=OTHER_THREAD):
            pooled()

    def test_the_message_names_a_failure_that_fails_again_in_a_thread(self) -> None:
        @fallible
        def pooled(do: Do[str]) -> object:
            with suppress(BaseException):
                do(LATE)
            with ThreadPoolExecutor(1) as pool:
                return pool.submit(do, LATE).result()

        with pytest.raises(ScopeLeaked, match=OTHER_THREAD):
            pooled()

    def test_do_of_a_coroutine_function_raises_scope_leaked_in_a_thread(self) -> None:
        @fallible
        async def threaded(do: Do[str]) -> int:
            return await to_thread(do, LATE)

        with pytest.raises(ScopeLeaked, match=OTHER_THREAD):
            asyncio.run(threaded())

    def test_a_failure_in_an_ignored_thread_raises_scope_leaked_at_the_end(self) -> None:
        @fallible
        async def careless(do: Do[str]) -> int:
            with suppress(ScopeLeaked):
                await to_thread(do, LATE)
            return 1

        with pytest.raises(ScopeLeaked, match=SWALLOWED):
            asyncio.run(careless())

    def test_do_with_a_success_works_in_any_thread(self) -> None:
        @fallible
        async def threaded(do: Do[str]) -> int:
            return await to_thread(do, Success(1))

        assert asyncio.run(threaded()) == Success(1)

    def test_a_function_that_runs_in_a_thread_can_fail_there(self) -> None:
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

    def test_do_can_fail_in_a_greenlet_of_its_thread_beside_other_threads(self) -> None:
        greenlet = pytest.importorskip('greenlet')

        @fallible
        def switching(do: Do[str]) -> int:
            return int(greenlet.greenlet(do).switch(LATE))

        with ThreadPoolExecutor(1) as pool:
            pool.submit(int).result()
            assert switching() is LATE

    def test_a_function_called_in_a_greenlet_can_fail_there(self) -> None:
        greenlet = pytest.importorskip('greenlet')

        @fallible
        def fails(do: Do[str]) -> int:
            return do(LATE)

        with ThreadPoolExecutor(1) as pool:
            pool.submit(int).result()
            assert greenlet.greenlet(fails).switch() is LATE

    def test_another_context_is_the_same_thread(self) -> None:
        @fallible
        def elsewhere(do: Do[str]) -> int:
            return contextvars.copy_context().run(do, LATE)

        assert elsewhere() is LATE


@contextmanager
def swallow() -> Generator[None]:
    with suppress(BaseException):
        yield


def with_suppress(do: Do[str]) -> None:
    with suppress(BaseException):
        do(LATE)


def with_own_manager(do: Do[str]) -> None:
    with swallow():
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


def swallowing(statement: str) -> Callable[[Do[str]], object]:
    """Return a function whose `finally` ends with a statement that swallows the exception.

    Python 3.14 warns of it (PEP 765), so the function is compiled at run time.
    """
    names: dict[str, Any] = {'Do': Do, 'LATE': LATE}
    source = (
        f'def with_finally(do: Do[str]):\n while True:\n  try: do(LATE)\n  finally: {statement}'
    )
    with catch_warnings(action='ignore'):
        exec(source, names)  # noqa: S102 -- see above
    function: Callable[[Do[str]], object] = names['with_finally']
    return function


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
    swallowing('return 1'),
    swallowing('break'),
    with_second_failure,
    with_second_failure_of_the_same_object,
    with_second_failure_in_a_group,
    with_failure_in_finally,
]


class TestSwallowedFailures:
    @pytest.mark.parametrize('body', SWALLOWING)
    def test_a_plain_function_that_swallows_its_signal_raises_scope_leaked(
        self, body: Callable[[Do[str]], object]
    ) -> None:
        with pytest.raises(ScopeLeaked, match=SWALLOWED) as raised:
            fallible(body)()
        assert (raised.value.__context__, raised.value.__cause__) == (None, None)

    @pytest.mark.parametrize('body', SWALLOWING)
    def test_a_coroutine_function_that_swallows_its_signal_raises_scope_leaked(
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
    def test_a_nested_function_that_swallows_the_outer_signal_raises_scope_leaked(
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

    def test_gather_that_returns_exceptions_raises_scope_leaked_at_the_end(self) -> None:
        async def step(do: Do[str]) -> int:
            return do(LATE)

        @fallible
        async def gathers(do: Do[str]) -> int:
            return len(await asyncio.gather(step(do), step(do), return_exceptions=True))

        with pytest.raises(ScopeLeaked, match=SWALLOWED):
            asyncio.run(gathers())

    def test_a_failure_in_an_ignored_task_raises_scope_leaked_at_the_end(self) -> None:
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

    def test_a_failure_in_a_callback_of_the_event_loop_raises_scope_leaked(self) -> None:
        @fallible
        async def schedules(do: Do[str]) -> None:
            asyncio.get_running_loop().call_soon(do, LATE)
            await sleep(0)

        async def main() -> None:
            asyncio.get_running_loop().set_exception_handler(lambda _, __: None)
            await schedules()

        with pytest.raises(ScopeLeaked, match=SWALLOWED):
            asyncio.run(main())

    def test_a_swallowed_first_failure_raises_scope_leaked_if_a_task_group_fails(self) -> None:
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

    def test_attempt_does_not_swallow_a_signal(self) -> None:
        @fallible
        def inner(do: Do[str]) -> int:
            return do(attempt(lambda: do(LATE), when(Exception).becomes(str)))

        assert inner() is LATE

    def test_an_exception_after_a_swallowed_failure_propagates(self) -> None:
        @fallible
        def raises(do: Do[str]) -> None:
            with suppress(BaseException):
                do(LATE)
            raise ValueError('a')

        with pytest.raises(ValueError, match='a'):
            raises()
