"""Tests of the fake world for guards that exist already, and of their reset."""

import asyncio
import gc
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import pytest

from seamwise import Failure, Result, Success
from seamwise._runtime.world import replace_real
from seamwise.catalog.network import HostUnreachable
from seamwise.policies import (
    REAL,
    Budget,
    BulkheadFull,
    CircuitOpen,
    DeadlineExceeded,
    Guard,
    RateLimited,
    World,
    adaptive,
    bulkhead,
    cache,
    chaos,
    circuit,
    consecutive,
    deadline,
    hedge,
    percentile,
    rate_limit,
    registered,
    retry,
)
from seamwise.policies.fault_injection import FaultPlan
from seamwise.testing import FakeWorld, assert_failure
from seamwise.testing.guards import fake_world

DOWN = HostUnreachable('bank', 'reset')
DONE: Result[int, HostUnreachable] = Success(1)


def fail() -> Result[int, HostUnreachable]:
    return Failure(DOWN)


def succeed() -> Result[int, HostUnreachable]:
    return DONE


async def succeed_async() -> Result[int, HostUnreachable]:
    return DONE


# As in the modules of a program: built with the real world, before any test.
CIRCUIT = circuit(name='module circuit', trip=consecutive(1), open_for=30.0)
LIMIT = rate_limit(1, period=60.0, name='module limit', wait=600.0)
RETRY = retry(attempts=3, base=10.0, cap=10.0, timeout=1000.0)
DEADLINE = deadline(5.0, name='module deadline')
HEDGE = hedge(after=3.0, name='module hedge', share=1.0)
BULKHEAD = bulkhead(1, name='module bulkhead', wait=20.0, queue=None)


@pytest.mark.parametrize('_run', range(2))
def test_guards_of_a_module_use_the_fake_world_and_are_fresh_in_each_test(
    guard_world: FakeWorld, _run: int
) -> None:
    started_at = time.monotonic()
    assert RETRY.run_sync(fail) == Failure(DOWN)
    assert guard_world.slept == [5.0, 5.0]
    assert CIRCUIT.state == 'closed'
    CIRCUIT.run_sync(fail)
    refusal = CIRCUIT.run_sync(succeed)
    assert refusal == Failure(CircuitOpen('module circuit', 1, 30.0, 'open'))
    assert LIMIT.run_sync(succeed) == DONE
    assert guard_world.now == 10.0
    assert LIMIT.run_sync(succeed) == DONE
    assert guard_world.now == 70.0
    guard_world.advance(0.0)
    assert CIRCUIT.run_sync(succeed) == DONE
    assert time.monotonic() - started_at < 5.0


@pytest.mark.parametrize('_run', range(2))
def test_guards_of_a_module_serve_a_new_event_loop_in_each_test(
    guard_world: FakeWorld, _run: int
) -> None:
    calls: list[float] = []
    has_started = asyncio.Event()

    async def slow_first() -> Result[int, HostUnreachable]:
        calls.append(guard_world.now)
        has_started.set()
        if len(calls) == 1:
            await asyncio.Event().wait()
        return DONE

    async def hang() -> Result[int, HostUnreachable]:
        await REAL.sleep(100.0)
        return DONE

    async def main() -> None:
        for guard in (LIMIT, BULKHEAD, LIMIT >> BULKHEAD):
            assert await guard.run(succeed_async) == DONE
        hedged = asyncio.create_task(HEDGE.run(slow_first))
        await has_started.wait()
        guard_world.advance(3.0)
        assert await hedged == DONE
        assert len(calls) == 2
        result = await DEADLINE.run(hang)
        assert_failure(result, DeadlineExceeded, timeout=5.0)

    asyncio.run(main())


@pytest.mark.parametrize('_run', range(2))
def test_a_pipeline_of_a_module_serves_a_new_event_loop_in_each_test(
    guard_world: FakeWorld, _run: int
) -> None:
    asyncio.run(_run_pipeline())


PIPELINE = LIMIT >> BULKHEAD >> RETRY


async def _run_pipeline() -> None:
    assert await PIPELINE.run(succeed_async) == DONE


@pytest.mark.parametrize('_run', range(2))
def test_caches_of_a_module_are_empty_in_each_test(guard_world: FakeWorld, _run: int) -> None:
    CALLS.clear()
    assert load(1) == load(1) == Success(1)
    assert asyncio.run(load_async(1)) == Success(1)
    assert CALLS == [1, 1]
    guard_world.advance(61.0)
    assert load(1) == Success(1)
    assert CALLS == [1, 1, 1]


CALLS: list[int] = []


@cache(ttl=60.0, name='module cache')
def load(uid: int) -> Result[int, HostUnreachable]:
    CALLS.append(uid)
    return Success(uid)


@cache(ttl=60.0, name='module cache')
async def load_async(uid: int) -> Result[int, HostUnreachable]:
    CALLS.append(uid)
    return Success(uid)


def test_guards_that_are_built_during_the_test_use_the_fake_world(guard_world: FakeWorld) -> None:
    retry(jitter='none').run_sync(fail)
    assert guard_world.slept == [0.1, 0.2]


def test_guards_with_a_world_of_their_own_keep_it(guard_world: FakeWorld) -> None:
    own = FakeWorld()
    retry(jitter='none', world=own).run_sync(fail)
    assert (own.slept, guard_world.slept) == ([0.1, 0.2], [])


def test_the_real_world_returns_after_the_block() -> None:
    before = (REAL.clock, REAL.sleep, REAL.sleep_sync, REAL.random)
    with fake_world():
        assert REAL.clock is not before[0]
        assert REAL.random() == 0.5
    with pytest.raises(ZeroDivisionError), fake_world():
        raise ZeroDivisionError
    assert (REAL.clock, REAL.sleep, REAL.sleep_sync, REAL.random) == before


def test_a_circuit_that_is_open_before_the_block_is_closed_in_it_and_after_it() -> None:
    own = circuit(name='own', trip=consecutive(1))
    own.run_sync(fail)
    states = [own.state]
    with fake_world():
        states.append(own.state)
        own.run_sync(fail)
        states.append(own.state)
    states.append(own.state)
    assert states == ['open', 'closed', 'open', 'closed']


def test_a_deadline_that_spans_the_replacement_keeps_its_clock() -> None:
    with ExitStack() as stack:

        def op() -> Result[int, HostUnreachable]:
            stack.enter_context(replace_real(World(clock=lambda: 1e12)))
            return DONE

        assert deadline(60.0).run_sync(op) == DONE


def test_the_time_of_a_circuit_is_that_of_its_clock_after_a_reset() -> None:
    now = [1e6]
    own = circuit(name='own', trip=consecutive(1), world=World(clock=lambda: now[0]))
    now[0] = 0.1
    own.reset()
    assert own._machine.time() == 0.1
    own.run_sync(fail)
    assert_failure(own.run_sync(succeed), CircuitOpen, retry_after=30.0)


def test_nested_replacements_end_in_any_order() -> None:
    outer, inner = replace_real(World(clock=lambda: 1.0)), replace_real(World(clock=lambda: 2.0))
    outer.__enter__()
    inner.__enter__()
    assert REAL.clock() == 2.0
    outer.__exit__(None, None, None)
    assert REAL.clock() == 2.0
    inner.__exit__(None, None, None)
    assert REAL.clock is time.monotonic


def test_the_real_world_cannot_replace_itself() -> None:
    with pytest.raises(ValueError, match='another world'), replace_real(REAL):
        pass
    with pytest.raises(TypeError), replace_real(NOT_VALID):
        pass


def test_the_replacement_applies_to_all_threads(guard_world: FakeWorld) -> None:
    guards = [retry(jitter='none', base=1.0, cap=1.0) for _ in range(8)]
    threads = [threading.Thread(target=guard.run_sync, args=(fail,)) for guard in guards]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert guard_world.slept == [1.0] * 16
    assert 2.0 <= guard_world.now <= 16.0


def test_the_replacement_applies_to_several_event_loops(guard_world: FakeWorld) -> None:
    async def main() -> float:
        return assert_failure(await deadline(5.0).run(_hang), DeadlineExceeded).timeout

    assert [asyncio.run(main()) for _ in range(2)] == [5.0, 5.0]
    assert guard_world.now == 10.0


async def _hang() -> Result[int, HostUnreachable]:
    await REAL.sleep(100.0)
    return DONE


@pytest.mark.parametrize(
    'budget', [Budget.share(0.5), Budget.quota(10), Budget.tokens(10, ratio=0.5)]
)
def test_a_reset_fills_a_budget(budget: Budget) -> None:
    full = budget.left
    assert full
    while budget.acquire(1):
        pass
    retry(budget=budget).reset()
    assert budget.left == full


def test_a_budget_of_a_module_follows_the_fake_clock(guard_world: FakeWorld) -> None:
    assert BUDGET.acquire(10)
    assert not BUDGET.acquire(1)
    guard_world.advance(10.0)
    assert BUDGET.acquire(10)


BUDGET = Budget.share(0.5, minimum_per_second=1.0)


def test_a_refund_of_a_retry_from_before_the_reset_adds_nothing() -> None:
    budget = Budget.share(0.5, world=FakeWorld())
    receipt = budget.charge(DOWN)
    assert receipt is not None
    budget.reset()
    budget.refund(receipt)
    assert budget.left == 10.0


def test_a_reset_makes_a_bulkhead_forget_its_calls() -> None:
    guard = bulkhead(1, name='own')

    def op() -> Result[int, HostUnreachable]:
        guard.reset()
        assert guard.run_sync(succeed) == DONE
        return DONE

    assert guard.run_sync(op) == DONE
    assert_failure(guard.run_sync(lambda: guard.run_sync(succeed)), BulkheadFull, limit=1)


def test_a_reset_makes_a_bulkhead_with_keys_forget_its_calls_and_limits() -> None:
    guard = bulkhead(adaptive(1, 4), name='own', key=lambda: 'a')

    def op() -> Result[int, HostUnreachable]:
        guard.reset()
        assert guard.run_sync(succeed) == DONE
        return DONE

    assert guard.run_sync(op) == DONE
    assert guard.run_sync(succeed) == DONE


def test_a_reset_discards_the_measurements_of_a_hedge() -> None:
    latency = percentile(0.5, minimum=1)
    latency.record(3.0)
    hedge(after=latency, name='own').reset()
    assert latency.seconds() is None


def test_a_reset_starts_the_faults_of_chaos_again() -> None:
    guard = chaos(seed=1, failures=FaultPlan.of('first', None))
    for _ in range(2):
        assert guard.run_sync(succeed) == Failure('first')
        assert guard.run_sync(succeed) == DONE
        guard.reset()


def test_a_reset_of_a_pipeline_resets_its_layers() -> None:
    outer, inner = rate_limit(1, name='outer'), circuit(name='inner', trip=consecutive(1))
    pipeline = outer >> inner
    pipeline.run_sync(fail)
    assert_failure(pipeline.run_sync(succeed), RateLimited)
    pipeline.reset()
    assert pipeline.run_sync(succeed) == DONE


def test_a_waiting_call_passes_after_a_reset(guard_world: FakeWorld) -> None:
    async def main() -> None:
        first = asyncio.create_task(LIMIT.run(succeed_async))
        second = asyncio.create_task(LIMIT.run(succeed_async))
        await asyncio.sleep(0)
        LIMIT.reset()
        assert [*await asyncio.gather(first, second)] == [DONE, DONE]

    asyncio.run(main())


def test_registered_guards_are_listed_by_name() -> None:
    guards = [circuit(name='twins') for _ in range(2)]
    assert registered()['twins'] == tuple(guards)
    assert registered()['module circuit'] == (CIRCUIT,)
    assert all(isinstance(guard, Guard) for group in registered().values() for guard in group)


def test_registered_guards_are_held_weakly() -> None:
    guard = circuit(name='short-lived')
    assert 'short-lived' in registered()
    del guard
    gc.collect()
    assert 'short-lived' not in registered()


NOT_VALID: Any = 3


@pytest.mark.parametrize(
    'build',
    [
        lambda: circuit(name='half-built', open_for=-1.0),
        lambda: rate_limit(0, name='half-built'),
        lambda: bulkhead(1, name='half-built', wait=-1.0),
        lambda: deadline(-1.0, name='half-built'),
        lambda: hedge(after=-1.0, name='half-built'),
        lambda: hedge(after=1.0, name='half-built', share=2.0),
        lambda: chaos(seed=1, name='half-built', delays=NOT_VALID),
        lambda: retry(attempts=0, name='half-built'),
        lambda: circuit(name='half-built', world=NOT_VALID),
    ],
)
def test_a_guard_that_could_not_be_built_is_not_registered(build: Callable[[], object]) -> None:
    with pytest.raises((TypeError, ValueError)) as raised:
        build()
    # The traceback keeps the half-built guard alive.
    assert raised.tb is not None
    assert 'half-built' not in registered()


def test_guards_can_be_built_while_others_are_listed() -> None:
    stop = threading.Event()

    def build() -> None:
        # Bounded: the collector of a process with many objects leaves all of them alive.
        for _ in range(20_000):
            circuit(name='built meanwhile')
            if stop.is_set():
                return

    thread = threading.Thread(target=build)
    thread.start()
    try:
        for _ in range(200):
            registered()
    finally:
        stop.set()
        thread.join()
