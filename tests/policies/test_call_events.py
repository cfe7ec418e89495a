"""Events for each call of a pipeline, with its duration, for the observers that ask for them."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from seamwise import Failure, Result, Success, TaggedError, or_raise
from seamwise._errors.causes import Raised
from seamwise.policies import (
    CircuitOpen,
    Completed,
    DeadlineExceeded,
    Guard,
    GuardEvent,
    bulkhead,
    circuit,
    deadline,
    fallback,
    hedge,
    identity,
    observe,
    rate_limit,
    retry,
    set_active,
)
from seamwise.testing import FakeWorld
from tests.policies.errors import Down

OK: Result[str, Down] = Success('ok')
DOWN: Result[str, Down] = Failure(Down())


class Clocked:
    """An operation that takes a second of a fake world and returns the next of its results."""

    def __init__(self, world: FakeWorld, *results: Result[str, Down] | BaseException) -> None:
        self.world = world
        self.results = list(results)

    def __call__(self) -> Result[str, Down]:
        self.world.advance(1.0)
        result = self.results.pop(0)
        if isinstance(result, BaseException):
            raise result
        return result

    async def in_task(self) -> Result[str, Down]:
        await asyncio.sleep(0)
        return self()


def watched(guard: Guard[object]) -> list[GuardEvent]:
    """Return the list in which the events of the calls of a pipeline appear."""
    events: list[GuardEvent] = []
    guard.observe(
        lambda event: events.append(event) if isinstance(event, Completed) else None, calls=True
    )
    return events


def pipelines(world: FakeWorld) -> list[Guard[object]]:
    return [
        circuit(name='bank', world=world),
        deadline(60.0, name='bank', world=world),
        bulkhead(3, name='bank', world=world),
        rate_limit(100, name='bank', world=world),
        retry(attempts=1, name='bank', world=world),
        hedge(after=30.0, name='bank', world=world),
    ]


@pytest.mark.parametrize('index', range(6))
def test_each_guard_reports_how_its_calls_ended(index: int) -> None:
    world = FakeWorld()
    guard = pipelines(world)[index]
    events = watched(guard)
    operation = Clocked(world, OK, DOWN, ValueError('a defect'))

    guard.run_sync(operation)
    guard.run_sync(operation)
    with pytest.raises(ValueError, match='a defect'):
        guard.run_sync(operation)

    assert events == [
        Completed('bank', 'success', 1.0),
        Completed('bank', 'failure', 1.0, Down()),
        Completed('bank', 'defect', 1.0),
    ]


@pytest.mark.parametrize('index', range(6))
def test_each_guard_reports_how_its_calls_in_tasks_ended(index: int) -> None:
    world = FakeWorld()
    guard = pipelines(world)[index]
    events = watched(guard)
    operation = Clocked(world, OK, DOWN, ValueError('a defect'))

    async def main() -> None:
        await guard.run(operation.in_task)
        await guard.run(operation.in_task)
        with pytest.raises(ValueError, match='a defect'):
            await guard.run(operation.in_task)

    asyncio.run(main())
    assert events == [
        Completed('bank', 'success', 1.0),
        Completed('bank', 'failure', 1.0, Down()),
        Completed('bank', 'defect', 1.0),
    ]


def test_call_of_a_pipeline_is_one_event_with_all_its_attempts_and_waits() -> None:
    world = FakeWorld()
    guard = circuit(name='bank', world=world) >> retry(
        attempts=3, base=2.0, jitter='none', name='again', world=world
    )
    events = watched(guard)
    assert guard.run_sync(Clocked(world, DOWN, DOWN, OK)) == OK
    # Three attempts, and waits of two and four seconds.
    assert events == [Completed('bank >> again', 'success', 9.0)]


def test_attempts_of_a_hedge_are_one_call() -> None:
    async def main() -> None:
        guard = hedge(after=0.001, share=1.0, name='reads') >> deadline(5.0)
        events = watched(guard)
        first = True

        async def slow_then_fast() -> Result[str, Down]:
            nonlocal first
            if first:
                first = False
                await asyncio.sleep(30.0)
            return OK

        assert await guard.run(slow_then_fast) == OK
        assert [event.name for event in events] == ['reads >> deadline']

    asyncio.run(main())


def test_refusal_is_a_failure_with_the_error_of_the_guard() -> None:
    world = FakeWorld()
    guard = circuit(name='bank', world=world)
    guard.open()
    events = watched(guard >> retry(attempts=1, world=world))
    pipeline_events = watched(guard)
    guard.run_sync(lambda: OK)
    [event] = pipeline_events
    assert isinstance(event, Completed)
    assert (event.outcome, event.elapsed) == ('failure', 0.0)
    assert isinstance(event.error, CircuitOpen)
    # It was a call of the circuit, not of the pipeline.
    assert events == []


def test_error_that_a_guard_replaced_is_not_reported() -> None:
    world = FakeWorld()

    def use_archive(error: TaggedError) -> Result[str, Down]:
        return Success('from the archive')

    guard = fallback(use_archive) >> circuit(name='bank', world=world)
    events: list[GuardEvent] = []
    remove = observe(events.append, calls=True)
    assert guard.run_sync(Clocked(world, DOWN)) == Success('from the archive')
    remove()
    assert [event for event in events if isinstance(event, Completed)][-1].outcome == 'success'


def test_cancelled_call_is_reported_as_cancelled() -> None:
    async def main() -> list[GuardEvent]:
        guard = bulkhead(1, name='bank')
        events = watched(guard)
        task = asyncio.create_task(guard.run(lambda: asyncio.sleep(30.0, OK)))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return events

    [event] = asyncio.run(main())
    assert isinstance(event, Completed)
    assert event.outcome == 'cancelled'


def test_expired_deadline_is_a_failure() -> None:
    async def main() -> list[GuardEvent]:
        guard = deadline(0.01, name='quick')
        events = watched(guard)
        await guard.run(lambda: asyncio.sleep(30.0, OK))
        return events

    [event] = asyncio.run(main())
    assert isinstance(event, Completed)
    assert event.outcome == 'failure'
    assert isinstance(event.error, DeadlineExceeded)


def test_blocks_and_attempts_are_calls() -> None:
    world = FakeWorld()
    guard = retry(attempts=3, base=0.0, jitter='none', name='again', world=world)
    events = watched(guard)
    operation = Clocked(world, DOWN, OK, DOWN)
    for attempt in guard:
        with attempt:
            or_raise(operation())
    single = circuit(name='bank', world=world)
    single_events = watched(single)
    with pytest.raises(Raised), single.acquire():
        or_raise(operation())
    assert events == [Completed('again', 'success', 2.0)]
    assert single_events == [Completed('bank', 'failure', 1.0, Down())]


def test_observer_without_calls_receives_none() -> None:
    events: list[GuardEvent] = []
    guard = circuit(name='bank', observer=events.append)
    remove = guard.observe(events.append)
    remove_from_process = observe(events.append)
    assert guard.run_sync(lambda: OK) == OK
    remove()
    remove_from_process()
    assert events == []


def test_observer_of_the_process_receives_the_calls_of_old_and_new_guards_until_removed() -> None:
    events: list[GuardEvent] = []
    old = circuit(name='old') >> retry(attempts=1)
    remove = observe(events.append, calls=True)
    new = deadline(5.0, name='new') >> retry(attempts=1)
    for guard in (old, new):
        guard.run_sync(lambda: OK)
    remove()
    old.run_sync(lambda: OK)
    assert [event.name for event in events] == ['old >> retry', 'new >> retry']


def test_observer_that_comes_or_goes_during_a_call_does_not_disturb_it() -> None:
    world = FakeWorld()
    bank = circuit(name='bank', world=world)
    guard = bank >> retry(attempts=3, base=0.0, world=world)
    events: list[GuardEvent] = []
    removes: list[Callable[[], None]] = []
    results = [DOWN, DOWN, OK, DOWN, OK]

    def operation() -> Result[str, Down]:
        if removes:
            removes.pop()()
        else:
            removes.append(guard.observe(events.append, calls=True))
        return results.pop(0)

    # It comes with the first attempt, goes with the second, and comes with the third.
    assert guard.run_sync(operation) == OK
    assert [event for event in events if isinstance(event, Completed)] == []
    # This call began with an observer that goes during it.
    assert guard.run_sync(operation) == OK
    assert bank.state == 'closed'
    assert results == []


def test_inactive_guard_reports_no_calls() -> None:
    guard = circuit(name='bank')
    events = watched(guard)
    set_active(False)
    try:
        guard.run_sync(lambda: OK)
    finally:
        set_active(True)
    assert events == []


def test_guard_without_the_repeating_layers_reports_to_the_observers_of_the_pipeline() -> None:
    guard = circuit(name='bank') >> retry()
    events = watched(guard)
    assert guard.once().run_sync(lambda: OK) == OK
    assert [event.name for event in events] == ['bank']


def test_observer_that_comes_later_receives_the_calls_without_repetition_until_removed() -> None:
    guard = circuit(name='bank') >> retry()
    once = guard.once()
    events: list[GuardEvent] = []
    remove = guard.observe(events.append, calls=True)
    assert once.run_sync(lambda: OK) == OK
    remove()
    assert once.run_sync(lambda: OK) == OK
    assert [event.name for event in events] == ['bank']


def test_empty_pipeline_has_no_calls_to_report() -> None:
    events = watched(identity)
    assert identity.run_sync(lambda: OK) == OK
    assert events == []


def test_call_with_wrong_arguments_is_a_defect() -> None:
    guard = circuit(name='bank')
    events = watched(guard)
    untyped_guard: Any = guard
    with pytest.raises(TypeError):
        untyped_guard.run_sync(lambda: OK, 'unexpected')
    [event] = events
    assert isinstance(event, Completed)
    assert event.outcome == 'defect'
