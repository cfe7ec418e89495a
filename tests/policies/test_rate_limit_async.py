"""Rate limits in tasks: order of waiting calls, cancellations and clocks."""

import asyncio
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from itertools import pairwise
from typing import Any, Literal

import pytest

from seamwise import Failure, Result, Success
from seamwise._runtime.world import World
from seamwise.policies._engine.pipeline import Guard
from seamwise.policies.errors import RateLimited
from seamwise.policies.hedge import hedge
from seamwise.policies.rate_limit import rate_limit
from seamwise.testing import FakeWorld, assert_failure
from tests.policies.cancellation_helpers import cancel_at_each_await
from tests.policies.manual_time import ManualTime, settle_tasks


async def ok() -> Success[int]:
    return Success(1)


def ok_sync() -> Success[int]:
    return Success(1)


class Callers:
    """Tasks that call one guard in turn; `passed` lists name and time of each admitted call."""

    def __init__(self, limit: int = 1, *, burst: int = 1, wait: float = 100.0) -> None:
        self.time = ManualTime()
        self.passed: list[tuple[str, float]] = []
        self.tasks: dict[str, asyncio.Task[Result[int, RateLimited]]] = {}
        self.cost = 1.0
        self.guard = rate_limit(
            limit, name='x', burst=burst, wait=wait, cost=lambda: self.cost, world=self.time.world
        )

    def start_calls(self, *names: str, cost: float = 1.0) -> None:
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


def test_waiting_tasks_pass_one_by_one_in_order_of_arrival() -> None:
    callers = Callers()
    callers.start_calls(*'abcd')
    assert callers.passed == [('a', 0.0)]
    callers.advance(10)
    assert callers.passed == [('a', 0.0), ('b', 1.0), ('c', 2.0), ('d', 3.0)]
    callers.time.close()


def test_new_call_never_overtakes_waiting_calls_even_at_a_low_cost() -> None:
    callers = Callers(burst=4)
    callers.start_calls('a', cost=3.0)
    callers.start_calls('b', cost=4.0)
    callers.start_calls('c', cost=0.5)
    callers.start_calls('d', cost=0.0)
    callers.advance(2.75)
    assert callers.passed == [('a', 0.0)]
    callers.advance(1)
    assert callers.passed == [('a', 0.0), ('b', 3.0), ('c', 3.5), ('d', 3.5)]
    callers.time.close()


def test_cancellation_in_the_middle_lets_no_call_overtake_the_first() -> None:
    callers = Callers(burst=4)
    callers.start_calls('a', 'b', cost=4.0)
    callers.start_calls('c', 'd', cost=0.5)
    callers.time.run_callback(callers.tasks['c'].cancel)
    callers.advance(3.75)
    assert callers.passed == [('a', 0.0)]
    callers.advance(1)
    assert callers.passed == [('a', 0.0), ('b', 4.0), ('d', 4.5)]
    callers.time.close()


def test_retry_after_of_a_new_call_includes_the_waiting_calls() -> None:
    callers = Callers(wait=3.0)
    callers.start_calls(*'abcd')
    callers.start_calls('e')
    assert callers.tasks['e'].result() == Failure(RateLimited('x', 1, 1.0, 4.0))
    callers.advance(0.5)
    callers.start_calls('f')
    assert_failure(callers.tasks['f'].result(), RateLimited, retry_after=3.5)
    callers.advance(0.5)
    callers.start_calls('g')
    assert not callers.tasks['g'].done()
    callers.advance(3)
    assert [name for name, _ in callers.passed] == ['a', 'b', 'c', 'd', 'g']
    callers.time.close()


@pytest.mark.parametrize(
    ('cancelled_names', 'order'),
    [('b', 'acd'), ('c', 'abd'), ('d', 'abc'), ('bc', 'ad'), ('bcd', 'a')],
)
def test_cancelled_call_takes_no_slot_and_later_calls_move_up(
    cancelled_names: str, order: str
) -> None:
    callers = Callers()
    callers.start_calls(*'abcd')
    callers.advance(0.5)
    for name in cancelled_names:
        callers.time.run_callback(callers.tasks[name].cancel)
        assert callers.tasks[name].cancelled()
    callers.advance(10)
    assert callers.passed == [(name, float(at)) for at, name in enumerate(order)]
    callers.start_calls('late')
    assert callers.tasks['late'].done()
    callers.time.close()


@pytest.mark.parametrize('cancelled_names', ['b', 'c', 'd'])
def test_queue_is_shorter_for_a_new_call_after_a_cancellation(cancelled_names: str) -> None:
    callers = Callers(wait=3.0)
    callers.start_calls(*'abcde')
    assert callers.tasks['e'].done()
    callers.time.run_callback(callers.tasks[cancelled_names].cancel)
    callers.start_calls('f')
    assert not callers.tasks['f'].done()
    callers.advance(3)
    assert [name for name, _ in callers.passed] == [
        name for name in 'abcdf' if name != cancelled_names
    ]
    callers.time.close()


def test_head_that_is_woken_and_cancelled_passes_its_place_on() -> None:
    callers = Callers()
    callers.start_calls(*'abc')
    head = callers.tasks['b']
    _, woken = callers.time._sleepers[0]

    def serve_and_cancel() -> None:
        callers.time.shift_clock(Fraction(1))
        woken.set_result(None)
        head.cancel()

    callers.time.run_callback(serve_and_cancel)
    assert head.cancelled()
    callers.advance(1)
    assert callers.passed == [('a', 0.0), ('c', 0.0)]
    callers.time.close()


@pytest.mark.parametrize('burst', [1, 3])
def test_cancellation_at_any_await_takes_no_slot_and_leaves_no_waiter(burst: int) -> None:
    world = FakeWorld()
    guard = rate_limit(1000, period=1.0, name='x', burst=burst, cost=burst, wait=5.0, world=world)

    async def run() -> None:
        async def after() -> None:
            world.advance(10.0)
            assert await guard.run(ok) == Success(1)
            assert isinstance(get_refusal(guard), RateLimited)

        await after()
        assert await cancel_at_each_await(lambda: guard.run(ok), after) >= 1

    def get_refusal(guard: Guard[RateLimited]) -> object:
        (layer,) = guard._layers
        assert vars(layer)['_bucket'].head is None
        vars(layer)['wait'] = 0.0
        try:
            return guard.run_sync(ok_sync).swap().unwrap()
        finally:
            vars(layer)['wait'] = 5.0

    asyncio.run(run())


def test_cancellation_at_any_await_releases_a_place_in_the_middle_of_the_queue() -> None:
    async def run() -> None:
        world = FakeWorld()
        guard = rate_limit(1000, name='x', burst=1, wait=50.0, world=world)

        async def wait_in_second_place() -> None:
            first, second = guard.run(ok), guard.run(ok)
            await ok()
            async with asyncio.TaskGroup() as group:
                group.create_task(first)
                group.create_task(second)

        async def after() -> None:
            (layer,) = guard._layers
            assert vars(layer)['_bucket'].head is None

        assert await cancel_at_each_await(wait_in_second_place, after) >= 1

    asyncio.run(run())


@pytest.mark.parametrize('jump', [-1000, -0.5])
def test_waiting_calls_pass_in_time_if_the_clock_goes_back(
    jump: float,
) -> None:
    callers = Callers(wait=30.0)
    callers.start_calls(*'abc')
    callers.advance(0.5)
    callers.time.shift_clock(Fraction(jump))
    for _ in range(40):
        callers.advance(0.5)
    assert all(task.done() for task in callers.tasks.values())
    at = [at for _, at in callers.passed]
    assert all(later - sooner >= 1.0 for sooner, later in pairwise(at))
    callers.time.close()


def test_new_call_that_first_notices_a_clock_going_back_delays_no_other_call() -> None:
    callers = Callers(wait=1.75)
    callers.advance(8)
    callers.start_calls('a', 'b')
    callers.advance(0.5)
    callers.time.shift_clock(Fraction(-1000))
    for name in 'cd':
        callers.start_calls(name)
        # The time since the last reading of the clock is unknown.
        assert_failure(callers.tasks[name].result(), RateLimited, retry_after=2.0)
    callers.advance(0.5)
    callers.start_calls('e')
    callers.advance(5)
    assert callers.passed == [('a', 8.0), ('b', 9.5), ('e', 10.5)]
    callers.time.close()


def test_waiting_call_is_refused_if_earlier_calls_took_too_long() -> None:
    callers = Callers(wait=2.0)
    callers.start_calls(*'abc')
    # The loop is blocked until long after the slot of the first call.
    callers.time.shift_clock(Fraction(1.75))
    callers.advance(1)
    assert callers.passed == [('a', 0.0), ('b', 1.0)]
    assert_failure(callers.tasks['c'].result(), RateLimited, retry_after=pytest.approx(1.0))
    callers.time.close()


def test_waiting_call_that_is_never_woken_gives_up_at_the_end_of_its_wait() -> None:
    async def run() -> Result[int, RateLimited]:
        loop = asyncio.get_running_loop()
        is_asleep = asyncio.Event()

        def sleep(_seconds: float) -> None:
            loop.call_soon_threadsafe(is_asleep.set)
            assert can_wake.wait(60)

        # The clock stands still, so a busy machine cannot use up the waiting time.
        world = World(clock=lambda: 0.0, sleep_sync=sleep)
        guard = rate_limit(50, name='x', burst=1, wait=0.04, world=world)
        assert await guard.run(ok) == Success(1)
        # A thread is the head of the queue, and sleeps far beyond its slot.
        thread = loop.run_in_executor(None, guard.run_sync, ok_sync)
        await is_asleep.wait()
        try:
            return await guard.run(ok)
        finally:
            assert not thread.done()
            can_wake.set()
            await thread

    can_wake = threading.Event()
    assert_failure(asyncio.run(run()), RateLimited)


def test_keys_with_waiting_calls_are_not_evicted() -> None:
    time, user, tasks = ManualTime(), [''], list[asyncio.Task[object]]()
    guard = rate_limit(1, name='x', key=lambda: user[0], keys=16, wait=100.0, world=time.world)
    (layer,) = guard._layers

    def count_keys_after(name: str, *, calls: int = 1) -> int:
        user[0] = name
        for _ in range(calls):
            tasks.append(time.start(guard.run(ok)))
        return len(vars(layer)['_buckets'])

    for number in range(16):
        count_keys_after(f'waited for {number}', calls=2)
    # The clock says that they are idle, but their second calls have yet to be served.
    time.shift_clock(Fraction(50))
    assert count_keys_after('one more') == 16
    assert guard.waiting == 16
    for task in tasks:
        task.cancel()
    time.run_callback()
    time.shift_clock(Fraction(50))
    count_keys_after('the last')
    assert 'the last' in vars(layer)['_buckets']._buckets
    time.close()


def test_rate_limit_serves_several_event_loops() -> None:
    guard = rate_limit(1000, name='x', burst=1, wait=5.0)

    async def call() -> list[object]:
        return [*await asyncio.gather(*(guard.run(ok) for _ in range(5)))]

    assert [asyncio.run(call()) for _ in range(2)] == [[Success(1)] * 5] * 2
    with ThreadPoolExecutor() as executor:
        calls = [executor.submit(lambda: asyncio.run(call())) for _ in range(3)]
        assert [item.result(20) for item in calls] == [[Success(1)] * 5] * 3


@pytest.mark.parametrize('head', ['task', 'thread'])
def test_tasks_and_threads_wait_in_one_queue(head: Literal['task', 'thread']) -> None:
    order: list[str] = []

    async def run() -> None:
        guard: Guard[RateLimited] = rate_limit(100, name='x', burst=1, wait=5.0)
        (layer,) = guard._layers

        async def wait_for_calls(count: int) -> None:
            bucket = vars(layer)['_bucket']
            while len(order) + (0 if bucket.head is None else 1 + len(bucket._queue)) < count:  # noqa: ASYNC110 -- threads send no signal
                await asyncio.sleep(0.0002)

        def call(call_type: str, name: str) -> Any:
            def op() -> Success[int]:
                order.append(name)
                return Success(1)

            async def op_async() -> Success[int]:
                return op()

            if call_type == 'task':
                return asyncio.create_task(guard.run(op_async))
            return asyncio.get_running_loop().run_in_executor(None, guard.run_sync, op)

        assert await guard.run(ok) == Success(1)
        calls: list[Any] = []
        call_types = (
            ('task', 'thread', 'thread', 'task')
            if head == 'task'
            else ('thread', 'task', 'task', 'thread')
        )
        for count, call_type in enumerate(call_types, 1):
            calls.append(call(call_type, f'{count}'))
            await wait_for_calls(count)
        await asyncio.gather(*calls)

    asyncio.run(run())
    assert order == ['1', '2', '3', '4']


def test_concurrent_threads_and_tasks_all_pass_and_not_too_early() -> None:
    guard = rate_limit(2000, name='x', burst=100, wait=5.0)
    outcomes: list[object] = []

    def call_in_threads() -> None:
        outcomes.extend(guard.run_sync(ok_sync) for _ in range(25))

    async def call_in_task() -> None:
        outcomes.extend([await guard.run(ok) for _ in range(5)])

    async def run() -> None:
        threads = [
            asyncio.get_running_loop().run_in_executor(None, call_in_threads) for _ in range(4)
        ]
        await asyncio.gather(*threads, *(call_in_task() for _ in range(40)))

    started_at = time.monotonic()
    asyncio.run(run())
    assert outcomes == [Success(1)] * 300
    assert time.monotonic() - started_at >= (300 - 100) / 2000


def test_thousand_cancelled_tasks_leave_no_waiter() -> None:
    async def run() -> None:
        guard = rate_limit(1, name='x', wait=1e6)
        assert await guard.run(ok) == Success(1)
        tasks = [asyncio.create_task(guard.run(ok)) for _ in range(1000)]
        await settle_tasks()
        for task in reversed(tasks):
            task.cancel()
        await asyncio.wait(tasks)
        assert all(task.cancelled() for task in tasks)
        (layer,) = guard._layers
        assert vars(layer)['_bucket'].head is None
        assert guard.waiting == 0

    asyncio.run(run())


def test_cost_receives_the_arguments_of_tasks_and_of_hedged_attempts() -> None:
    def count_words(text: str) -> float:
        return len(text.split())

    limit = rate_limit(10, period=600.0, name='x', cost=count_words)
    hedged = hedge(after=60.0, name='x') >> limit

    @limit
    async def send(text: str) -> Result[str, RateLimited]:
        return Success(text)

    async def main() -> None:
        assert await send('one two') == Success('one two')
        assert await limit.run(send.__wrapped__, text='one') == Success('one')  # type: ignore[attr-defined]  # of functools
        assert await hedged.run(send.__wrapped__, 'one two') == Success('one two')  # type: ignore[attr-defined]  # of functools
        async with limit.acquire('one two three'):
            assert limit.available == 2
        assert type(await send('one two three')) is Failure

    asyncio.run(main())
