"""Guards in a task of trio: refused with an advice, instead of a deadline that never expires."""

import gc
from collections.abc import Callable

import pytest
import trio
import trio.lowlevel
from typing_extensions import override

from seamwise import Failure, Result, Success, TaggedError
from seamwise.policies import (
    ADMITTED,
    Admission,
    DeadlineExceeded,
    Guard,
    Layer,
    Permit,
    Waiting,
    bulkhead,
    circuit,
    deadline,
    fallback,
    hedge,
    rate_limit,
    retry,
)
from seamwise.testing import FakeWorld
from tests.policies.errors import Down

Outcome = Result[str, Down]


async def fail() -> Outcome:
    await trio.lowlevel.checkpoint()
    return Failure(Down())


@pytest.mark.parametrize(
    'build',
    [
        retry,
        lambda: deadline(1.0),
        lambda: hedge(after=1.0, name='x'),
        lambda: circuit(name='x') >> retry() >> deadline(1.0),
    ],
)
def test_guard_that_needs_a_timer_is_refused(build: Callable[[], Guard[object]]) -> None:
    guard = build()

    async def main() -> object:
        return await guard.run(fail)

    with pytest.raises(RuntimeError, match='need asyncio, and this is a task of trio'):
        trio.run(main)


@pytest.mark.parametrize('calls', [False, True], ids=['flat', 'with timed calls'])
@pytest.mark.parametrize('guard', [retry(attempts=2), circuit(name='x') >> retry()], ids=repr)
def test_retry_is_refused_before_the_operation(guard: Guard[object], *, calls: bool) -> None:
    runs: list[int] = []
    remove = guard.observe(lambda _: None, calls=calls)

    async def succeed() -> Outcome:
        runs.append(1)
        return Success('page')

    async def main() -> None:
        with pytest.raises(RuntimeError, match='trio'):
            await guard.run(succeed)
        with pytest.raises(RuntimeError, match='trio'):
            aiter(guard)
        # A call that blocks the task is no use of an event loop.
        assert guard.run_sync(lambda: Success('page')) == Success('page')

    trio.run(main)
    remove()
    assert runs == []


def test_fallback_with_an_asynchronous_handler_is_refused_before_the_operation() -> None:
    runs: list[int] = []

    async def handle(error: TaggedError) -> Result[str, TaggedError]:
        return Failure(error)

    async def succeed() -> Outcome:
        runs.append(1)
        return Success('page')

    async def main() -> Outcome:
        with pytest.raises(RuntimeError, match='trio'):
            await (fallback(handle) >> circuit(name='y')).run(succeed)
        return await fallback(lambda _: Success('cached')).run(succeed)

    assert trio.run(main) == Success('page')
    assert runs == [1]


def test_guard_works_in_a_thread_of_trio() -> None:
    async def main() -> Result[str, Down | DeadlineExceeded]:
        guard = retry(attempts=2, base=0.0) >> deadline(5.0)
        return await trio.to_thread.run_sync(lambda: guard.run_sync(load))

    def load() -> Outcome:
        calls.append(1)
        return Success('page') if len(calls) == 2 else Failure(Down())

    calls: list[int] = []
    assert trio.run(main) == Success('page')


def test_refused_guard_holds_no_permit() -> None:
    pool = bulkhead(1, name='x')

    async def main() -> None:
        with pytest.raises(RuntimeError, match='trio'):
            await (pool >> retry(world=FakeWorld())).run(fail)

    trio.run(main)
    assert pool.in_flight == 0


@pytest.mark.parametrize('kind', ['bulkhead', 'rate_limit'])
def test_refused_guard_leaves_no_waiter(kind: str) -> None:
    guard = (
        bulkhead(1, name='x', queue=5, wait=60.0)
        if kind == 'bulkhead'
        else rate_limit(1, name='x', period=60.0, wait=60.0)
    )

    async def main() -> None:
        with pytest.raises(RuntimeError, match='trio'):
            await guard.run(fail)

    def occupied() -> Result[str, Down]:
        trio.run(main)
        return Success('page')

    assert guard.run_sync(occupied) == Success('page')
    assert guard.waiting == 0


class OwnWait(Waiting):
    def __init__(self, steps: list[str]) -> None:
        self.steps = steps

    @override
    async def wait(self) -> Permit:
        self.steps.append('begun')
        return ADMITTED

    @override
    def withdraw(self) -> None:
        self.steps.append('withdrawn')


class OwnGuard(Layer[Down]):
    def __init__(self) -> None:
        super().__init__('own')
        self.steps: list[str] = []

    @override
    def enter(self) -> Admission:
        return OwnWait(self.steps)


def test_wait_of_an_own_guard_is_withdrawn_before_it_begins() -> None:
    guard = OwnGuard()

    async def main() -> None:
        with pytest.raises(RuntimeError, match='trio'):
            await guard.run(fail)

    trio.run(main)
    assert guard.steps == ['withdrawn']


def test_asynchronous_handler_of_a_fallback_is_refused_without_a_warning() -> None:
    async def handle(error: TaggedError) -> Result[str, TaggedError]:
        return Failure(error)

    async def main() -> None:
        with pytest.raises(RuntimeError, match='trio'):
            await (fallback(handle) >> circuit(name='y')).run(fail)
        gc.collect()

    trio.run(main)
