"""Bulkheads in threads: limits, keys, queues, refusals and validation."""

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from math import inf, nan
from typing import Any

import pytest

from seamwise import Failure, Result, Success
from seamwise._runtime.world import World
from seamwise.policies._engine.pipeline import Guard
from seamwise.policies._parts.adaptive_limit import adaptive
from seamwise.policies.bulkhead import bulkhead
from seamwise.policies.deadline import deadline
from seamwise.policies.errors import BulkheadFull
from seamwise.policies.events import GuardEvent, Refused
from seamwise.testing import FakeWorld


def ok() -> Success[int]:
    return Success(1)


def passes(guard: Guard[BulkheadFull]) -> bool:
    return guard.run_sync(ok) == Success(1)


def get_refusal(guard: Guard[BulkheadFull]) -> BulkheadFull:
    error = guard.run_sync(ok).swap().unwrap()
    assert isinstance(error, BulkheadFull)
    return error


def build_bulkhead(**options: Any) -> Guard[BulkheadFull]:
    defaults: dict[str, Any] = {'limit': 5, 'name': 'x'}
    return bulkhead(**defaults | options)


def run_nested(guard: Guard[BulkheadFull], depth: int, action: Callable[[], object]) -> None:
    """Run the action inside `depth` nested calls."""

    def op() -> Result[int, BulkheadFull]:
        run_nested(guard, depth - 1, action)
        return Success(1)

    if depth == 0:
        action()
    else:
        assert guard.run_sync(op) == Success(1)


def start_thread(action: Callable[[], object]) -> threading.Thread:
    thread = threading.Thread(target=action, daemon=True)
    thread.start()
    return thread


def wait_for_waiters(guard: Guard[BulkheadFull], count: int) -> None:
    """Wait until `count` calls are in the queue."""
    (layer,) = guard._layers
    deadline = time.monotonic() + 30
    while vars(layer)['_default_compartment'].waiting != count:
        assert time.monotonic() < deadline
        time.sleep(0.0002)


@pytest.mark.parametrize('limit', [1, 2, 5])
def test_call_is_refused_when_the_limit_is_reached(limit: int) -> None:
    guard = bulkhead(limit, name='search')

    def action() -> None:
        assert get_refusal(guard) == BulkheadFull('search', 'tool', '', limit, 0.0)

    run_nested(guard, limit, action)
    run_nested(guard, limit, action)


def test_nested_calls_are_admitted_up_to_the_limit() -> None:
    guard = bulkhead(3, name='x')
    run_nested(guard, 2, lambda: run_nested(guard, 1, lambda: None))


@pytest.mark.parametrize('operation', [lambda: Failure('down'), lambda: 1 // 0, lambda: 7])
def test_permit_is_released_after_a_failure_and_after_a_defect(
    operation: Callable[[], Any],
) -> None:
    guard = bulkhead(1, name='x')
    for _ in range(3):
        with suppress(ZeroDivisionError, TypeError):
            assert guard.run_sync(operation) == Failure('down')
    assert passes(guard)


def test_permit_is_released_after_a_keyboard_interrupt() -> None:
    def interrupt() -> Success[int]:
        raise KeyboardInterrupt

    guard = bulkhead(1, name='x')
    with pytest.raises(KeyboardInterrupt):
        guard.run_sync(interrupt)
    assert passes(guard)


def test_refusal_takes_no_permit() -> None:
    guard = bulkhead(1, name='x')
    run_nested(guard, 1, lambda: [get_refusal(guard) for _ in range(5)])
    run_nested(guard, 1, lambda: get_refusal(guard))


def test_each_key_has_a_separate_limit_and_is_the_namespace_of_the_error() -> None:
    user = ['a']
    guard = bulkhead(1, name='x', scope='namespace', key=lambda: user[0])

    def action() -> None:
        assert get_refusal(guard) == BulkheadFull('x', 'namespace', 'a', 1, 0.0)
        user[0] = 'b'
        assert passes(guard)
        run_nested(guard, 1, lambda: get_refusal(guard))
        user[0] = 'a'
        assert get_refusal(guard).namespace == 'a'

    run_nested(guard, 1, action)
    assert passes(guard)


def test_compartment_of_a_key_is_removed_when_it_is_empty() -> None:
    number = [0]
    guard = bulkhead(2, name='x', key=lambda: f'user {number[0]}')
    for number[0] in range(100):
        run_nested(guard, 2, lambda: get_refusal(guard))
    (layer,) = guard._layers
    assert vars(layer)['_compartments'] == {}


def test_key_that_is_not_a_string_is_a_defect_and_takes_no_permit() -> None:
    keys: list[Any] = [None, 'a']
    guard = bulkhead(1, name='x', key=lambda: keys.pop(0))
    with pytest.raises(TypeError, match='key must return a string, not None'):
        guard.run_sync(ok)
    assert passes(guard)


def test_waiting_thread_is_admitted_when_a_permit_is_released() -> None:
    guard = bulkhead(1, name='x', queue=1, wait=2.0)
    outcomes: list[object] = []

    def action() -> None:
        threads.append(start_thread(lambda: outcomes.append(guard.run_sync(ok))))
        wait_for_waiters(guard, 1)
        assert get_refusal(guard).waited == 0.0

    threads: list[threading.Thread] = []
    run_nested(guard, 1, action)
    threads[0].join(2)
    assert outcomes == [Success(1)]
    assert passes(guard)


def test_waiting_threads_are_admitted_in_order_of_arrival() -> None:
    guard = bulkhead(1, name='x', queue=None, wait=None)
    order: list[int] = []

    def call(number: int) -> None:
        def op() -> Success[int]:
            order.append(number)
            return Success(1)

        guard.run_sync(op)

    def action() -> None:
        for number in range(5):
            threads.append(start_thread(partial(call, number)))
            wait_for_waiters(guard, number + 1)

    threads: list[threading.Thread] = []
    run_nested(guard, 1, action)
    for thread in threads:
        thread.join(2)
    assert order == [0, 1, 2, 3, 4]


def test_refusal_after_a_wait_states_the_actual_waiting_time() -> None:
    errors: list[BulkheadFull] = []
    guard = bulkhead(1, name='x', queue=1, wait=0.005)
    run_nested(guard, 1, lambda: errors.append(get_refusal(guard)))
    assert 0.005 <= errors[0].waited < 30.0
    assert passes(guard)


def test_thread_sleeps_for_the_whole_wait_in_a_world_with_its_own_sleep() -> None:
    world = FakeWorld()
    guard = bulkhead(1, name='x', queue=1, wait=3.0, world=world)

    def action() -> None:
        assert get_refusal(guard).waited == 3.0
        assert world.slept == [3.0]

    run_nested(guard, 1, action)


def test_thread_is_admitted_after_its_sleep_if_it_was_woken_during_it() -> None:
    def sleep(seconds: float) -> None:
        sleep_started.set()
        sleep_may_end.wait(2)

    sleep_started, sleep_may_end = threading.Event(), threading.Event()
    guard = bulkhead(1, name='x', queue=1, wait=3.0, world=World(sleep_sync=sleep))
    outcomes: list[object] = []

    def action() -> None:
        threads.append(start_thread(lambda: outcomes.append(guard.run_sync(ok))))
        sleep_started.wait(2)

    threads: list[threading.Thread] = []
    run_nested(guard, 1, action)
    # The waiter has the permit, but its sleep has not ended.
    threads[0].join(0.001)
    assert outcomes == []
    sleep_may_end.set()
    threads[0].join(2)
    assert outcomes == [Success(1)]
    assert passes(guard)


def test_thread_leaves_the_queue_when_its_wait_is_interrupted() -> None:
    def interrupt(seconds: float) -> None:
        raise KeyboardInterrupt

    guard = bulkhead(1, name='x', queue=1, wait=3.0, world=World(sleep_sync=interrupt))

    def action() -> None:
        for _ in range(3):
            with pytest.raises(KeyboardInterrupt):
                guard.run_sync(ok)

    run_nested(guard, 1, action)
    assert passes(guard)


def test_wait_in_a_thread_is_limited_by_the_enclosing_deadline() -> None:
    world = FakeWorld()
    guard = bulkhead(1, name='x', queue=1, wait=None, world=world)
    run_nested(guard, 1, lambda: (deadline(0.5, world=world) >> guard).run_sync(ok))
    assert world.slept == [0.5]


def test_waiting_time_is_not_negative_if_the_clock_goes_back() -> None:
    now = [100.0]
    errors: list[BulkheadFull] = []

    def sleep(seconds: float) -> None:
        now[0] -= 50

    guard = bulkhead(
        1, name='x', queue=1, wait=3.0, world=World(clock=lambda: now[0], sleep_sync=sleep)
    )
    run_nested(guard, 1, lambda: errors.append(get_refusal(guard)))
    assert errors[-1].waited == 0.0


@pytest.mark.parametrize(('queue', 'wait'), [(0, 5.0), (0, None), (5, 0.0), (None, 0.0), (0, 0.0)])
def test_call_does_not_wait_unless_queue_and_wait_both_allow_it(
    queue: int | None, wait: float | None
) -> None:
    world = FakeWorld()
    guard = bulkhead(1, name='x', queue=queue, wait=wait, world=world)
    run_nested(guard, 1, lambda: get_refusal(guard))
    assert world.slept == []


def test_call_does_not_wait_by_default() -> None:
    world = FakeWorld()
    guards = [
        bulkhead(1, name='x', world=world),
        bulkhead(1, name='x', queue=3, world=world),
        bulkhead(1, name='x', wait=3, world=world),
    ]
    for guard in guards:
        run_nested(guard, 1, partial(get_refusal, guard))
    assert world.slept == []


def test_each_refusal_is_a_new_error_and_is_sent_to_the_observer() -> None:
    events: list[GuardEvent] = []
    guard = bulkhead(1, name='x', observer=events.append)
    errors: list[BulkheadFull] = []
    run_nested(guard, 1, lambda: errors.extend([get_refusal(guard), get_refusal(guard)]))
    assert errors[0] == errors[1]
    assert errors[0] is not errors[1]
    assert events == [Refused('x', errors[0]), Refused('x', errors[1])]


def test_lock_is_not_held_while_key_and_observer_run() -> None:
    def call_in_thread() -> None:
        if threading.current_thread() is threading.main_thread():
            thread = start_thread(lambda: guard.run_sync(ok))
            thread.join(1)
            assert not thread.is_alive()

    def key() -> str:
        call_in_thread()
        return 'a'

    guard = bulkhead(1, name='x', key=key, observer=lambda event: call_in_thread())
    run_nested(guard, 1, lambda: get_refusal(guard))


def test_result_object_is_returned_unchanged() -> None:
    result = Success(object())
    assert bulkhead(1, name='x').run_sync(lambda: result) is result
    assert bulkhead(adaptive(1, 2), name='x').run_sync(lambda: result) is result


@pytest.mark.parametrize(
    ('options', 'description'),
    [
        ({}, "bulkhead 'x': 5 at a time, no queue"),
        ({'queue': 3}, "bulkhead 'x': 5 at a time, no queue"),
        ({'wait': 3}, "bulkhead 'x': 5 at a time, no queue"),
        ({'queue': 3, 'wait': 2.5}, "bulkhead 'x': 5 at a time, queue of 3, waits up to 2.5 s"),
        ({'queue': None, 'wait': None}, "bulkhead 'x': 5 at a time, unlimited queue"),
        ({'limit': adaptive(1, 8)}, "bulkhead 'x': 1 to 8 (aimd) at a time, no queue"),
    ],
)
def test_description_states_the_limits(options: dict[str, Any], description: str) -> None:
    assert build_bulkhead(**options).describe() == description


@pytest.mark.parametrize(
    ('options', 'error_type', 'message'),
    [
        ({'limit': 0}, ValueError, 'limit must be 1 or more'),
        ({'limit': 2.0}, TypeError, 'limit must be a whole number'),
        ({'limit': True}, TypeError, 'limit must be a whole number'),
        (
            {'scope': 'all'},
            ValueError,
            "scope must be one of 'tool', 'namespace', 'global', not 'all'",
        ),
        ({'queue': -1}, ValueError, 'queue must be 0 or more'),
        ({'queue': 1.5}, TypeError, 'queue must be a whole number'),
        ({'wait': -1}, ValueError, 'wait must be'),
        ({'wait': nan}, ValueError, 'wait must be'),
        ({'wait': inf}, ValueError, 'wait must be'),
        ({'wait': 1.1e9}, ValueError, 'wait must be'),
        ({'key': 'a'}, TypeError, "key must be a function that returns a string, not 'a'"),
        ({'name': ''}, ValueError, 'name must not be empty'),
        ({'observer': 1}, TypeError, 'observer must be'),
    ],
)
def test_invalid_option_raises_when_the_guard_is_built(
    options: dict[str, Any], error_type: type[Exception], message: str
) -> None:
    with pytest.raises(error_type, match=f'^{message}'):
        build_bulkhead(**options)


def test_longest_valid_wait_is_accepted() -> None:
    assert passes(bulkhead(1, name='x', wait=1e9, queue=1, scope='global'))
