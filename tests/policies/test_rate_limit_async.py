"""Those who wait for a rate limit pass in the order of coming, tasks and threads alike, and whoever goes away leaves no gap."""

import asyncio
import threading
import time
from fractions import Fraction
from itertools import pairwise
from typing import Any, Literal

import pytest

from seamwise import Result, Success
from seamwise.policies._engine.pipeline import Guard
from seamwise.policies._engine.world import World
from seamwise.policies.rate_limit import RateLimited, rate_limit
from seamwise.policies.testing import FakeWorld
from tests.policies.cancelling import cancelled_everywhere
from tests.policies.ticking import Ticking, settle


async def ok() -> Success[int]:
    return Success(1)


def ok_sync() -> Success[int]:
    return Success(1)


class Callers:
    """Tasks that come one after the other to one guard; `passed` says who went in, and when."""

    def __init__(self, limit: int = 1, *, burst: int = 1, wait: float = 100.0) -> None:
        self.time = Ticking()
        self.passed: list[tuple[str, float]] = []
        self.tasks: dict[str, asyncio.Task[Result[int, RateLimited]]] = {}
        self.cost = 1.0
        self.guard = rate_limit(
            limit, name='x', burst=burst, wait=wait, cost=lambda: self.cost, world=self.time.world
        )

    def come(self, *names: str, cost: float = 1.0) -> None:
        self.cost = cost
        for name in names:
            self.tasks[name] = self.time.start(self._call(name))

    async def _call(self, name: str) -> Result[int, RateLimited]:
        async def op() -> Success[int]:
            self.passed.append((name, float(self.time.passed)))
            return Success(1)

        return await self.guard.run(op)

    def advance(self, seconds: float) -> None:
        self.time.advance(Fraction(seconds))


def test_those_who_wait_pass_one_by_one_in_the_order_of_coming() -> None:
    callers = Callers()
    callers.come(*'abcd')
    assert callers.passed == [('a', 0.0)]
    callers.advance(10)
    assert callers.passed == [('a', 0.0), ('b', 1.0), ('c', 2.0), ('d', 3.0)]
    callers.time.close()


def test_a_newcomer_never_passes_those_who_wait_however_little_it_costs() -> None:
    callers = Callers(burst=4)
    callers.come('a', cost=3.0)
    callers.come('b', cost=4.0)
    callers.come('c', cost=0.5)
    callers.come('d', cost=0.0)
    callers.advance(2.75)
    assert callers.passed == [('a', 0.0)]
    callers.advance(1)
    assert callers.passed == [('a', 0.0), ('b', 3.0), ('c', 3.5), ('d', 3.5)]
    callers.time.close()


def test_when_somebody_goes_from_the_middle_nobody_passes_the_first() -> None:
    callers = Callers(burst=4)
    callers.come('a', 'b', cost=4.0)
    callers.come('c', 'd', cost=0.5)
    callers.time.do(callers.tasks['c'].cancel)
    callers.advance(3.75)
    assert callers.passed == [('a', 0.0)]
    callers.advance(1)
    assert callers.passed == [('a', 0.0), ('b', 4.0), ('d', 4.5)]
    callers.time.close()


def test_the_line_counts_in_what_a_newcomer_is_told() -> None:
    callers = Callers(wait=3.0)
    callers.come(*'abcd')
    callers.come('e')
    assert callers.tasks['e'].result().swap().unwrap() == RateLimited('x', 1, 1.0, 4.0)
    callers.advance(0.5)
    callers.come('f')
    assert callers.tasks['f'].result().swap().unwrap().retry_after == 3.5
    callers.advance(0.5)
    callers.come('g')
    assert not callers.tasks['g'].done()
    callers.advance(3)
    assert [name for name, _ in callers.passed] == ['a', 'b', 'c', 'd', 'g']
    callers.time.close()


@pytest.mark.parametrize(
    ('gone', 'order'), [('b', 'acd'), ('c', 'abd'), ('d', 'abc'), ('bc', 'ad'), ('bcd', 'a')]
)
def test_who_is_cancelled_takes_no_slot_and_those_behind_move_up(gone: str, order: str) -> None:
    callers = Callers()
    callers.come(*'abcd')
    callers.advance(0.5)
    for name in gone:
        callers.time.do(callers.tasks[name].cancel)
        assert callers.tasks[name].cancelled()
    callers.advance(10)
    assert callers.passed == [(name, float(at)) for at, name in enumerate(order)]
    callers.come('late')
    assert callers.tasks['late'].done()
    callers.time.close()


@pytest.mark.parametrize('gone', ['b', 'c', 'd'])
def test_when_somebody_goes_the_line_is_shorter_for_who_comes_next(gone: str) -> None:
    callers = Callers(wait=3.0)
    callers.come(*'abcde')
    assert callers.tasks['e'].done()
    callers.time.do(callers.tasks[gone].cancel)
    callers.come('f')
    assert not callers.tasks['f'].done()
    callers.advance(3)
    assert [name for name, _ in callers.passed] == [name for name in 'abcdf' if name != gone]
    callers.time.close()


def test_a_head_that_is_served_and_cancelled_at_once_gives_way() -> None:
    callers = Callers()
    callers.come(*'abc')
    head = callers.tasks['b']
    _, woken = callers.time._sleepers[0]

    def serve_and_cancel() -> None:
        callers.time.jump(Fraction(1))
        woken.set_result(None)
        head.cancel()

    callers.time.do(serve_and_cancel)
    assert head.cancelled()
    callers.advance(1)
    assert callers.passed == [('a', 0.0), ('c', 0.0)]
    callers.time.close()


@pytest.mark.parametrize('burst', [1, 3])
def test_cancelled_at_any_await_nothing_is_taken_and_nobody_left(burst: int) -> None:
    world = FakeWorld()
    guard = rate_limit(1000, period=1.0, name='x', burst=burst, cost=burst, wait=5.0, world=world)

    async def run() -> None:
        async def after() -> None:
            world.advance(10.0)
            assert await guard.run(ok) == Success(1)
            assert isinstance(rate_limited(guard), RateLimited)

        await after()
        assert await cancelled_everywhere(lambda: guard.run(ok), after) >= 1

    def rate_limited(guard: Guard[RateLimited]) -> object:
        (layer,) = guard._layers
        assert vars(layer)['_bucket'].head is None
        vars(layer)['wait'] = 0.0
        try:
            return guard.run_sync(ok_sync).swap().unwrap()
        finally:
            vars(layer)['wait'] = 5.0

    asyncio.run(run())


def test_a_place_in_the_middle_is_given_back_at_any_await() -> None:
    async def run() -> None:
        world = FakeWorld()
        guard = rate_limit(1000, name='x', burst=1, wait=50.0, world=world)

        async def waits_second() -> None:
            first, second = guard.run(ok), guard.run(ok)
            await ok()
            async with asyncio.TaskGroup() as group:
                group.create_task(first)
                group.create_task(second)

        async def after() -> None:
            (layer,) = guard._layers
            assert vars(layer)['_bucket'].head is None

        assert await cancelled_everywhere(waits_second, after) >= 1

    asyncio.run(run())


@pytest.mark.parametrize('jump', [-1000, -0.5])
def test_a_clock_that_goes_back_while_they_wait_lets_nobody_through_too_soon_nor_hang(
    jump: float,
) -> None:
    callers = Callers(wait=30.0)
    callers.come(*'abc')
    callers.advance(0.5)
    callers.time.jump(Fraction(jump))
    for _ in range(40):
        callers.advance(0.5)
    assert all(task.done() for task in callers.tasks.values())
    at = [at for _, at in callers.passed]
    assert all(later - sooner >= 1.0 for sooner, later in pairwise(at))
    callers.time.close()


def test_a_newcomer_who_is_first_to_see_that_the_clock_went_back_shifts_nothing() -> None:
    callers = Callers(wait=1.75)
    callers.advance(8)
    callers.come('a', 'b')
    callers.advance(0.5)
    callers.time.jump(Fraction(-1000))
    for name in 'cd':
        callers.come(name)
        # Of what went by since the last look, nobody knows.
        assert callers.tasks[name].result().swap().unwrap().retry_after == 2.0
    callers.advance(0.5)
    callers.come('e')
    callers.advance(5)
    assert callers.passed == [('a', 8.0), ('b', 9.5), ('e', 10.5)]
    callers.time.close()


def test_who_waits_is_refused_when_those_before_took_too_long() -> None:
    callers = Callers(wait=2.0)
    callers.come(*'abc')
    # The loop is busy elsewhere until long after the first one's slot.
    callers.time.jump(Fraction(1.75))
    callers.advance(1)
    assert callers.passed == [('a', 0.0), ('b', 1.0)]
    assert callers.tasks['c'].result().swap().unwrap().retry_after == pytest.approx(1.0)
    callers.time.close()


def test_a_place_that_is_never_called_ends_with_the_wait() -> None:
    async def run() -> Result[int, RateLimited]:
        guard = rate_limit(
            50, name='x', burst=1, wait=0.04, world=World(sleep_sync=lambda _: blocked.wait(5))
        )
        assert await guard.run(ok) == Success(1)
        # A thread is the head, and sleeps far beyond its slot.
        thread = asyncio.get_running_loop().run_in_executor(None, guard.run_sync, ok_sync)
        await asyncio.sleep(0.005)
        try:
            return await guard.run(ok)
        finally:
            assert not thread.done()
            blocked.set()
            await thread

    blocked = threading.Event()
    assert isinstance(asyncio.run(run()).swap().unwrap(), RateLimited)


def test_keys_for_which_somebody_waits_are_kept_though_they_are_too_many_and_in_nobodys_way_later() -> (
    None
):
    time, user, tasks = Ticking(), [''], list[asyncio.Task[object]]()
    guard = rate_limit(1, name='x', key=lambda: user[0], keys=17, wait=100.0, world=time.world)
    (layer,) = guard._layers

    def kept_after(name: str, *, calls: int = 1) -> int:
        user[0] = name
        for _ in range(calls):
            tasks.append(time.start(guard.run(ok)))
        return len(vars(layer)['_buckets']._buckets)

    for number in range(16):
        kept_after(f'waited for {number}', calls=2)
    assert kept_after('free') == 17
    # Of the sixteen oldest none can go; the next time others are the oldest.
    assert kept_after('one more') == 18
    assert kept_after('the next') == 18
    for task in tasks:
        task.cancel()
    time.do()
    assert kept_after('the last') == 17
    time.close()


def test_a_second_loop_is_refused() -> None:
    guard = rate_limit(100, name='x')
    assert asyncio.run(guard.run(ok)) == Success(1)
    assert guard.run_sync(ok_sync) == Success(1)
    with pytest.raises(RuntimeError, match='another event loop'):
        asyncio.run(guard.run(ok))


@pytest.mark.parametrize('head', ['task', 'thread'])
def test_tasks_and_threads_stand_in_one_line(head: Literal['task', 'thread']) -> None:
    order: list[str] = []

    async def run() -> None:
        guard: Guard[RateLimited] = rate_limit(100, name='x', burst=1, wait=5.0)
        (layer,) = guard._layers

        async def came(count: int) -> None:
            bucket = vars(layer)['_bucket']
            while len(order) + (0 if bucket.head is None else 1 + len(bucket._queue)) < count:  # noqa: ASYNC110 -- threads come, and tell nobody
                await asyncio.sleep(0.0002)

        def call(kind: str, name: str) -> Any:
            def op() -> Success[int]:
                order.append(name)
                return Success(1)

            async def op_async() -> Success[int]:
                return op()

            if kind == 'task':
                return asyncio.create_task(guard.run(op_async))
            return asyncio.get_running_loop().run_in_executor(None, guard.run_sync, op)

        assert await guard.run(ok) == Success(1)
        calls: list[Any] = []
        kinds = (
            ('task', 'thread', 'thread', 'task')
            if head == 'task'
            else ('thread', 'task', 'task', 'thread')
        )
        for count, kind in enumerate(kinds, 1):
            calls.append(call(kind, f'{count}'))
            await came(count)
        await asyncio.gather(*calls)

    asyncio.run(run())
    assert order == ['1', '2', '3', '4']


def test_threads_and_tasks_together_are_all_served_and_not_too_soon() -> None:
    guard = rate_limit(2000, name='x', burst=100, wait=5.0)
    outcomes: list[object] = []

    def from_a_thread() -> None:
        outcomes.extend(guard.run_sync(ok_sync) for _ in range(25))

    async def from_a_task() -> None:
        outcomes.extend([await guard.run(ok) for _ in range(5)])

    async def run() -> None:
        threads = [
            asyncio.get_running_loop().run_in_executor(None, from_a_thread) for _ in range(4)
        ]
        await asyncio.gather(*threads, *(from_a_task() for _ in range(40)))

    began = time.monotonic()
    asyncio.run(run())
    assert outcomes == [Success(1)] * 300
    assert time.monotonic() - began >= (300 - 100) / 2000


def test_a_thousand_tasks_that_are_cancelled_leave_nothing() -> None:
    async def run() -> None:
        guard = rate_limit(1, name='x', wait=1e6)
        assert await guard.run(ok) == Success(1)
        tasks = [asyncio.create_task(guard.run(ok)) for _ in range(1000)]
        await settle()
        for task in reversed(tasks):
            task.cancel()
        await asyncio.wait(tasks)
        assert all(task.cancelled() for task in tasks)
        (layer,) = guard._layers
        assert vars(layer)['_bucket'].head is None
        assert vars(layer)['_bucket'].waiting_weight == 0

    asyncio.run(run())
