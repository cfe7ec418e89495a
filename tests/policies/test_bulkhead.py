"""A bulkhead lets so many in at once, whatever becomes of them, and tells the others that there is no room."""

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from math import inf, nan
from typing import Any

import pytest

from seamwise import Failure, Result, Success
from seamwise.policies._engine.pipeline import Guard
from seamwise.policies._engine.world import World
from seamwise.policies._parts.adaptive_limit import adaptive
from seamwise.policies.bulkhead import bulkhead
from seamwise.policies.deadline import deadline
from seamwise.policies.errors import BulkheadFull
from seamwise.policies.events import GuardEvent, Refused
from seamwise.policies.testing import FakeWorld


def ok() -> Success[int]:
    return Success(1)


def passes(guard: Guard[BulkheadFull]) -> bool:
    return guard.run_sync(ok) == Success(1)


def full(guard: Guard[BulkheadFull]) -> BulkheadFull:
    error = guard.run_sync(ok).swap().unwrap()
    assert isinstance(error, BulkheadFull)
    return error


def made(**more: Any) -> Guard[BulkheadFull]:
    given: dict[str, Any] = {'limit': 5, 'name': 'x'}
    return bulkhead(**given | more)


def inside(guard: Guard[BulkheadFull], depth: int, act: Callable[[], object]) -> None:
    """Do something while so many calls are inside."""

    def op() -> Result[int, BulkheadFull]:
        inside(guard, depth - 1, act)
        return Success(1)

    if depth == 0:
        act()
    else:
        assert guard.run_sync(op) == Success(1)


def in_a_thread(act: Callable[[], object]) -> threading.Thread:
    thread = threading.Thread(target=act, daemon=True)
    thread.start()
    return thread


def waiting(guard: Guard[BulkheadFull], count: int) -> None:
    """Wait until so many wait."""
    (layer,) = guard._layers
    end = time.monotonic() + 2
    while vars(layer)['_default_compartment'].waiting != count:
        assert time.monotonic() < end
        time.sleep(0.0002)


@pytest.mark.parametrize('limit', [1, 2, 5])
def test_so_many_are_let_in_at_once_and_the_next_is_refused(limit: int) -> None:
    guard = bulkhead(limit, name='search')

    def act() -> None:
        assert full(guard) == BulkheadFull('search', 'tool', '', limit, 0.0)

    inside(guard, limit, act)
    inside(guard, limit, act)


def test_there_is_room_up_to_the_limit() -> None:
    guard = bulkhead(3, name='x')
    inside(guard, 2, lambda: inside(guard, 1, lambda: None))


@pytest.mark.parametrize('ends', [lambda: Failure('down'), lambda: 1 // 0, lambda: 7])
def test_the_permit_comes_back_after_a_failure_and_after_a_defect(ends: Callable[[], Any]) -> None:
    guard = bulkhead(1, name='x')
    for _ in range(3):
        with suppress(ZeroDivisionError, TypeError):
            assert guard.run_sync(ends) == Failure('down')
    assert passes(guard)


def test_a_keyboard_interrupt_gives_the_permit_back() -> None:
    def interrupted() -> Success[int]:
        raise KeyboardInterrupt

    guard = bulkhead(1, name='x')
    with pytest.raises(KeyboardInterrupt):
        guard.run_sync(interrupted)
    assert passes(guard)


def test_what_is_refused_takes_nothing() -> None:
    guard = bulkhead(1, name='x')
    inside(guard, 1, lambda: [full(guard) for _ in range(5)])
    inside(guard, 1, lambda: full(guard))


def test_each_key_has_a_limit_of_its_own_and_stands_in_the_error() -> None:
    user = ['a']
    guard = bulkhead(1, name='x', scope='namespace', key=lambda: user[0])

    def act() -> None:
        assert full(guard) == BulkheadFull('x', 'namespace', 'a', 1, 0.0)
        user[0] = 'b'
        assert passes(guard)
        inside(guard, 1, lambda: full(guard))
        user[0] = 'a'
        assert full(guard).namespace == 'a'

    inside(guard, 1, act)
    assert passes(guard)


def test_the_room_of_a_key_goes_when_it_is_empty() -> None:
    number = [0]
    guard = bulkhead(2, name='x', key=lambda: f'user {number[0]}')
    for number[0] in range(100):
        inside(guard, 2, lambda: full(guard))
    (layer,) = guard._layers
    assert vars(layer)['_compartments'] == {}


def test_a_key_that_is_no_string_is_a_defect_and_takes_nothing() -> None:
    keys: list[Any] = [None, 'a']
    guard = bulkhead(1, name='x', key=lambda: keys.pop(0))
    with pytest.raises(TypeError, match='key must return a string, not None'):
        guard.run_sync(ok)
    assert passes(guard)


def test_who_waits_in_a_thread_is_let_in_when_there_is_room() -> None:
    guard = bulkhead(1, name='x', queue=1, wait=2.0)
    outcomes: list[object] = []

    def act() -> None:
        threads.append(in_a_thread(lambda: outcomes.append(guard.run_sync(ok))))
        waiting(guard, 1)
        assert full(guard).waited == 0.0

    threads: list[threading.Thread] = []
    inside(guard, 1, act)
    threads[0].join(2)
    assert outcomes == [Success(1)]
    assert passes(guard)


def test_threads_are_let_in_in_the_order_of_coming() -> None:
    guard = bulkhead(1, name='x', queue=None, wait=None)
    order: list[int] = []

    def call(number: int) -> None:
        def op() -> Success[int]:
            order.append(number)
            return Success(1)

        guard.run_sync(op)

    def act() -> None:
        for number in range(5):
            threads.append(in_a_thread(partial(call, number)))
            waiting(guard, number + 1)

    threads: list[threading.Thread] = []
    inside(guard, 1, act)
    for thread in threads:
        thread.join(2)
    assert order == [0, 1, 2, 3, 4]


def test_who_waits_in_vain_says_how_long_it_really_waited() -> None:
    errors: list[BulkheadFull] = []
    guard = bulkhead(1, name='x', queue=1, wait=0.005)
    inside(guard, 1, lambda: errors.append(full(guard)))
    assert 0.005 <= errors[0].waited < 1.0
    assert passes(guard)


def test_in_another_world_a_thread_sleeps_the_whole_wait_and_looks_then() -> None:
    world = FakeWorld()
    guard = bulkhead(1, name='x', queue=1, wait=3.0, world=world)

    def act() -> None:
        assert full(guard).waited == 3.0
        assert world.slept == [3.0]

    inside(guard, 1, act)


def test_who_was_called_while_it_slept_is_let_in() -> None:
    def sleep(seconds: float) -> None:
        go_on.set()
        left.wait(2)

    go_on, left = threading.Event(), threading.Event()
    guard = bulkhead(1, name='x', queue=1, wait=3.0, world=World(sleep_sync=sleep))
    outcomes: list[object] = []

    def act() -> None:
        threads.append(in_a_thread(lambda: outcomes.append(guard.run_sync(ok))))
        go_on.wait(2)

    threads: list[threading.Thread] = []
    inside(guard, 1, act)
    # The permit is the waiter's already.
    threads[0].join(0.001)
    assert outcomes == []
    left.set()
    threads[0].join(2)
    assert outcomes == [Success(1)]
    assert passes(guard)


def test_an_interrupted_wait_in_a_thread_leaves_the_line() -> None:
    def interrupted(seconds: float) -> None:
        raise KeyboardInterrupt

    guard = bulkhead(1, name='x', queue=1, wait=3.0, world=World(sleep_sync=interrupted))

    def act() -> None:
        for _ in range(3):
            with pytest.raises(KeyboardInterrupt):
                guard.run_sync(ok)

    inside(guard, 1, act)
    assert passes(guard)


def test_a_wait_in_a_thread_does_not_go_beyond_the_deadline_around_it() -> None:
    world = FakeWorld()
    guard = bulkhead(1, name='x', queue=1, wait=None, world=world)
    inside(guard, 1, lambda: (deadline(0.5, world=world) >> guard).run_sync(ok))
    assert world.slept == [0.5]


def test_a_clock_that_goes_back_makes_no_wait_negative() -> None:
    now = [100.0]
    errors: list[BulkheadFull] = []

    def sleep(seconds: float) -> None:
        now[0] -= 50

    guard = bulkhead(
        1, name='x', queue=1, wait=3.0, world=World(clock=lambda: now[0], sleep_sync=sleep)
    )
    inside(guard, 1, lambda: errors.append(full(guard)))
    assert errors[-1].waited == 0.0


@pytest.mark.parametrize(('queue', 'wait'), [(0, 5.0), (0, None), (5, 0.0), (None, 0.0), (0, 0.0)])
def test_nobody_waits_unless_queue_and_wait_both_allow_it(
    queue: int | None, wait: float | None
) -> None:
    world = FakeWorld()
    guard = bulkhead(1, name='x', queue=queue, wait=wait, world=world)
    inside(guard, 1, lambda: full(guard))
    assert world.slept == []


def test_nobody_waits_where_nobody_says() -> None:
    world = FakeWorld()
    guards = [
        bulkhead(1, name='x', world=world),
        bulkhead(1, name='x', queue=3, world=world),
        bulkhead(1, name='x', wait=3, world=world),
    ]
    for guard in guards:
        inside(guard, 1, partial(full, guard))
    assert world.slept == []


def test_every_refusal_is_an_error_of_its_own_and_is_told() -> None:
    told: list[GuardEvent] = []
    guard = bulkhead(1, name='x', observer=told.append)
    found: list[BulkheadFull] = []
    inside(guard, 1, lambda: found.extend([full(guard), full(guard)]))
    assert found[0] == found[1]
    assert found[0] is not found[1]
    assert told == [Refused('x', found[0]), Refused('x', found[1])]


def test_no_lock_is_held_while_key_and_observer_run() -> None:
    def elsewhere() -> None:
        if threading.current_thread() is threading.main_thread():
            thread = in_a_thread(lambda: guard.run_sync(ok))
            thread.join(1)
            assert not thread.is_alive()

    def key() -> str:
        elsewhere()
        return 'a'

    guard = bulkhead(1, name='x', key=key, observer=lambda event: elsewhere())
    inside(guard, 1, lambda: full(guard))


def test_the_same_result_object_comes_out() -> None:
    result = Success(object())
    assert bulkhead(1, name='x').run_sync(lambda: result) is result
    assert bulkhead(adaptive(1, 2), name='x').run_sync(lambda: result) is result


@pytest.mark.parametrize(
    ('more', 'words'),
    [
        ({}, 'x: 5 at a time, no queue'),
        ({'queue': 3}, 'x: 5 at a time, no queue'),
        ({'wait': 3}, 'x: 5 at a time, no queue'),
        ({'queue': 3, 'wait': 2.5}, 'x: 5 at a time, queue of 3, waits up to 2.5 s'),
        ({'queue': None, 'wait': None}, 'x: 5 at a time, unlimited queue'),
        ({'limit': adaptive(1, 8)}, 'x: 1 to 8 (aimd) at a time, no queue'),
    ],
)
def test_it_says_its_limits(more: dict[str, Any], words: str) -> None:
    assert made(**more).describe() == words


@pytest.mark.parametrize(
    ('wrong', 'kind', 'message'),
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
def test_what_cannot_be_meant_is_refused_when_it_is_made(
    wrong: dict[str, Any], kind: type[Exception], message: str
) -> None:
    with pytest.raises(kind, match=f'^{message}'):
        made(**wrong)


def test_the_longest_wait_that_can_be_meant_works() -> None:
    assert passes(bulkhead(1, name='x', wait=1e9, queue=1, scope='global'))
