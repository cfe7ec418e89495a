"""Tests of the processor: outcomes, order, limits of time and number, cancellation, and its end."""

import asyncio
import contextvars
import logging
import subprocess
import sys
import threading
import time
from collections.abc import Awaitable
from contextlib import suppress
from typing import TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seamwise import Category, Failure, Result, Success, TaggedError
from seamwise.catalog.tools import (
    InvalidParameter,
    ResourceExhausted,
    ToolCancelled,
    ToolFailed,
    ToolRepeated,
    ToolTimedOut,
    TooManyMistakes,
    UnknownTool,
)
from seamwise.policies import DeadlineExceeded, circuit, deadline, hedge, retry
from seamwise.policies.deadline import remaining
from seamwise.toolhost import Processor, ToolCall, ToolOutcome, stop_requested, tool

E = TypeVar('E', bound=TaggedError)

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return 'asyncio'


class ServiceDown(
    TaggedError, category=Category.UNAVAILABLE, message='Down.', namespace='tests.processor'
):
    pass


def call(name: str, /, **arguments: object) -> ToolCall:
    return ToolCall(name, arguments)


def results(outcomes: list[ToolOutcome[E]]) -> list[object]:
    return [outcome.result for outcome in outcomes]


@tool
async def echo(value: int) -> int:
    return value


@tool
async def pause(seconds: float) -> float:
    await asyncio.sleep(seconds)
    return seconds


@tool
def block(seconds: float) -> str:
    end = time.monotonic() + seconds
    while time.monotonic() < end and not stop_requested():
        time.sleep(0.005)
    return threading.current_thread().name


class TestOutcomes:
    async def test_each_call_has_an_outcome_in_the_order_of_the_text(self) -> None:
        text = (
            '<tool name="echo" args=\'{"value": 1}\'/> <tool name="ecko"/> '
            '<tool name="echo" args=\'{"value": "1"}\'/> <tool name="echo" args=\'{"value\'/>'
        )
        async with Processor(echo) as processor:
            outcomes = await processor.run(text)
        assert [outcome.place for outcome in outcomes] == [1, 2, 3, 4]
        assert outcomes[0].result == Success(1)
        assert outcomes[0].attempts == 1
        assert [type(outcome.result.failure()) for outcome in outcomes[1:3]] == [
            UnknownTool,
            InvalidParameter,
        ]
        assert [outcome.attempts for outcome in outcomes[1:]] == [0, 0, 0]
        assert outcomes[3].call is None

    async def test_an_output_without_calls_has_no_outcomes(self) -> None:
        async with Processor(echo) as processor:
            assert await processor.run('Which city do you mean?') == []
            assert await processor.run([]) == []

    async def test_the_same_call_twice_runs_twice(self) -> None:
        async with Processor(echo) as processor:
            outcomes = await processor.run([call('echo', value=1)] * 2)
        assert results(outcomes) == [Success(1)] * 2

    async def test_parsed_results_are_accepted(self) -> None:
        async with Processor(echo) as processor:
            assert results(await processor.run([Success(call('echo', value=1))])) == [Success(1)]

    async def test_a_typed_error_arrives_unchanged(self) -> None:
        error = ServiceDown()

        @tool
        async def look_up() -> Result[int, ServiceDown]:
            return Failure(error)

        async with Processor(look_up) as processor:
            [outcome] = await processor.run(call('look_up'))
        assert outcome.result.failure() is error

    async def test_an_unknown_exception_is_logged_once_with_a_reference(
        self, caplog: pytest.LogCaptureFixture
    ) -> None:
        @tool
        async def fail() -> int:
            raise KeyError('x')

        async with Processor(fail) as processor:
            [outcome] = await processor.run(call('fail'))
        error = outcome.result.failure()
        assert isinstance(error, ToolFailed)
        assert isinstance(error.cause, KeyError)
        assert not error.retryable
        assert [record.levelno for record in caplog.records] == [logging.ERROR]
        assert 'err_' in caplog.text

    async def test_an_exception_of_a_known_kind_is_no_defect(
        self, caplog: pytest.LogCaptureFixture
    ) -> None:
        @tool
        async def fail() -> int:
            raise ConnectionResetError('reset')

        async with Processor(fail) as processor:
            [outcome] = await processor.run(call('fail'))
        assert outcome.result.failure().retryable
        assert not caplog.records

    @pytest.mark.parametrize(
        'error',
        [
            SystemExit(3),
            TimeoutError('own'),
            GeneratorExit(),
            BaseExceptionGroup('of a task group', [asyncio.CancelledError(), SystemExit(3)]),
        ],
    )
    async def test_an_exit_and_a_timeout_of_the_tool_itself_are_failures_of_the_tool(
        self, error: BaseException
    ) -> None:
        @tool
        async def fail() -> int:
            raise error

        @tool
        def fail_in_thread() -> int:
            raise error

        async with Processor(fail | fail_in_thread | echo) as processor:
            *outcomes, sibling = await processor.run(
                [call('fail'), call('fail_in_thread'), call('echo', value=1)]
            )
        assert sibling.result == Success(1)
        for outcome in outcomes:
            failure = outcome.result.failure()
            assert isinstance(failure, ToolFailed)
            assert failure.cause is error

    async def test_a_keyboard_interrupt_passes(self) -> None:
        @tool
        def interrupt() -> int:
            raise pytest.fail.Exception('stop')

        async with Processor(interrupt | pause) as processor:
            with pytest.raises(pytest.fail.Exception, match='stop'):
                await processor.run([call('interrupt'), call('pause', seconds=60)])

    async def test_a_keyboard_interrupt_in_a_group_passes(self) -> None:
        @tool
        async def interrupt() -> int:
            raise BaseExceptionGroup('of a task group', [KeyboardInterrupt(), ValueError('x')])

        async with Processor(interrupt) as processor:
            with pytest.raises(BaseExceptionGroup, match='of a task group'):
                await processor.run(call('interrupt'))

    async def test_a_group_of_cancellations_after_the_timeout_is_a_timeout(self) -> None:
        @tool
        async def wrap() -> int:
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError as error:
                raise BaseExceptionGroup('of a task group', [error]) from None
            return 1

        async with Processor(wrap, timeout=0.01) as processor:
            [outcome] = await processor.run(call('wrap'))
        assert isinstance(outcome.result.failure(), ToolTimedOut)

    async def test_awaiting_something_cancelled_is_a_failure_of_the_tool(self) -> None:
        @tool
        async def await_cancelled() -> int:
            future = asyncio.get_running_loop().create_future()
            future.cancel()
            await future
            return 1

        async with Processor(await_cancelled) as processor:
            [outcome] = await processor.run(call('await_cancelled'))
        assert isinstance(outcome.result.failure(), ToolFailed)

    async def test_an_observer_that_fails_changes_no_outcome(
        self, caplog: pytest.LogCaptureFixture
    ) -> None:
        seen: list[int] = []

        def observe(outcome: ToolOutcome[TaggedError]) -> None:
            seen.append(outcome.place)
            raise ValueError('observer')

        async with Processor(echo, on_outcome=observe) as processor:
            outcomes = await processor.run([call('echo', value=1), call('none')])
        assert len(outcomes) == len(caplog.records) == 2
        assert sorted(seen) == [1, 2]


class TestOrderAndLimits:
    async def test_calls_of_a_batch_run_at_once(self) -> None:
        barrier = asyncio.Barrier(10)

        @tool
        async def meet() -> int:
            await barrier.wait()
            return 1

        async with Processor(meet) as processor:
            outcomes = await processor.run([call('meet')] * 10)
        assert results(outcomes) == [Success(1)] * 10

    async def test_at_most_the_given_number_of_calls_run_at_once(self) -> None:
        running = peak = 0

        @tool
        async def count() -> None:
            nonlocal running, peak
            running += 1
            peak = max(peak, running)
            await asyncio.sleep(0)
            running -= 1

        async with Processor(count, concurrency=3) as processor:
            await asyncio.gather(*(processor.run([call('count')] * 10) for _ in range(2)))
        assert peak == 3

    async def test_calls_inside_a_call_need_no_slot(self) -> None:
        processors: list[Processor[ToolFailed]] = []

        @tool
        async def nest() -> int:
            [outcome] = await processors[0].run(call('echo', value=7))
            return int(str(outcome.result.unwrap()))

        async with Processor(nest | echo, concurrency=1) as processor:
            processors.append(processor)  # type: ignore[arg-type]  # the errors do not matter here
            assert results(await processor.run(call('nest'))) == [Success(7)]

    async def test_calls_with_the_same_key_run_in_the_order_of_the_text(self) -> None:
        events: list[tuple[str, str, int]] = []

        @tool(exclusive=lambda arguments: arguments['file'])
        async def write(file: str, number: int) -> None:
            events.append(('begin', file, number))
            await asyncio.sleep(0.001 * (5 - number))
            events.append(('end', file, number))

        async with Processor(write) as processor:
            await processor.run(
                [call('write', file=file, number=number) for number in range(4) for file in 'ab']
            )
        for file in 'ab':
            assert [(event, number) for event, name, number in events if name == file] == [
                (event, number) for number in range(4) for event in ('begin', 'end')
            ]
        assert events[1] == ('begin', 'b', 0)

    async def test_a_call_inside_a_call_with_the_same_key_does_not_wait_for_it(self) -> None:
        @tool(exclusive=lambda arguments: 'key', timeout=5.0)
        async def descend(depth: int) -> int:
            if not depth:
                return 0
            [outcome] = await processor.run(call('descend', depth=depth - 1))
            assert isinstance(outcome.result, Success)
            return depth

        async with Processor(descend) as processor:
            outcomes = await processor.run([call('descend', depth=depth) for depth in (2, 1)])
        assert results(outcomes) == [Success(2), Success(1)]

    async def test_context_variables_of_the_caller_are_visible_and_changes_are_not(self) -> None:
        variable = contextvars.ContextVar('variable', default='unset')
        variable.set('caller')

        @tool
        async def change() -> str:
            value = variable.get()
            variable.set('tool')
            return value

        @tool
        def change_in_thread() -> str:
            value = variable.get()
            variable.set('tool')
            return value

        async with Processor(change | change_in_thread, concurrency=1) as processor:
            outcomes = await processor.run([call('change'), call('change_in_thread')] * 2)
        assert results(outcomes) == [Success('caller')] * 4
        assert variable.get() == 'caller'

    @given(
        st.lists(st.sampled_from('gbu'), max_size=12),
        st.integers(0, 4),
        st.integers(1, 3),
    )
    def test_mistakes_are_judged_as_if_the_calls_ran_one_by_one(
        self, kinds: list[str], limit: int, concurrency: int
    ) -> None:
        calls = {'g': call('echo', value=1), 'b': call('echo', value='x'), 'u': call('nothing')}

        async def run(batches: list[list[str]]) -> list[bool]:
            outcomes: list[ToolOutcome[ToolFailed]] = []
            async with Processor(echo, mistake_limit=limit, concurrency=concurrency) as processor:
                for batch in batches:
                    outcomes += await processor.run(
                        [calls[kind] for kind in batch], conversation='c'
                    )
            return [
                isinstance(item.result.swap().value_or(None), TooManyMistakes) for item in outcomes
            ]

        assert asyncio.run(run([kinds])) == asyncio.run(run([[kind] for kind in kinds]))

    async def test_repeated_calls_are_refused_per_conversation(self) -> None:
        async with Processor(echo, repeat_limit=2) as processor:
            batch = [call('echo', value=1)] * 2
            first = await processor.run(batch, conversation='a')
            again = await processor.run(batch[:1], conversation='a')
            other = await processor.run(batch[:1], conversation='b')
        assert results(first) == [Success(1)] * 2
        assert isinstance(again[0].result.failure(), ToolRepeated)
        assert results(other) == [Success(1)]

    async def test_a_call_whose_value_changes_is_not_repeated(self) -> None:
        ticks = iter(range(9))

        @tool
        def date() -> int:
            return next(ticks)

        async with Processor(date, repeat_limit=2) as processor:
            for tick in range(5):
                outcomes = await processor.run(call('date'), conversation='a')
                assert results(outcomes) == [Success(tick)]

    async def test_an_argument_without_a_json_form_is_a_failure_of_its_call(self) -> None:
        async with Processor(echo, repeat_limit=2) as processor:
            outcomes = await processor.run([call('echo', value=1), call('echo', value=b'1')])
        assert outcomes[0].result == Success(1)
        assert isinstance(outcomes[1].result.failure(), InvalidParameter)

    async def test_two_tasks_cannot_iterate_over_one_output(self) -> None:
        async with Processor(pause) as processor:
            calls = [call('pause', seconds=0.05)] * 2
            async with processor.stream(calls) as outcomes:

                async def next_outcome() -> ToolOutcome[ToolFailed]:
                    return await anext(outcomes)

                first = asyncio.create_task(next_outcome())
                await asyncio.sleep(0)
                with pytest.raises(RuntimeError, match='one task at a time'):
                    await anext(outcomes)
                assert (await first).result == Success(0.05)
                assert (await anext(outcomes)).result == Success(0.05)


class TestTimeouts:
    async def test_a_late_call_is_cancelled_and_has_its_attempts(self) -> None:
        async with Processor(pause | block, timeout=0.05) as processor:
            outcomes = await processor.run([call('pause', seconds=60), call('block', seconds=60)])
        assert results(outcomes) == [
            Failure(ToolTimedOut('pause', 0.05, 1)),
            Failure(ToolTimedOut('block', 0.05, 1)),
        ]

    async def test_the_timeout_includes_waiting_for_a_slot(self) -> None:
        async with Processor(pause, timeout=0.05, concurrency=1) as processor:
            outcomes = await processor.run([call('pause', seconds=60)] * 2)
        assert outcomes[1].result == Failure(ToolTimedOut('pause', 0.05, 0))

    async def test_the_timeout_of_a_tool_takes_precedence(self) -> None:
        @tool(timeout=0.05)
        async def short() -> None:
            await asyncio.sleep(60)

        async with Processor(short | pause, timeout=60) as processor:
            outcomes = await processor.run([call('short'), call('pause', seconds=0.1)])
        assert results(outcomes) == [Failure(ToolTimedOut('short', 0.05, 1)), Success(0.1)]

    async def test_a_tool_can_read_the_time_that_is_left(self) -> None:
        @tool
        def left() -> float:
            return remaining(99.0)

        async with Processor(left, timeout=7.0) as processor:
            [outcome] = await processor.run(call('left'))
        assert 6.0 < float(str(outcome.result.unwrap())) <= 7.0

    async def test_retries_end_at_the_timeout(self) -> None:
        @tool(is_repeatable=True)
        async def fail() -> Result[int, ServiceDown]:
            return Failure(ServiceDown())

        guard = retry(attempts=100, base=0.01, cap=0.01, jitter='none')
        async with Processor(fail, guard=guard, timeout=0.05) as processor:
            [outcome] = await processor.run(call('fail'))
        assert outcome.attempts > 1
        assert outcome.waited > 0.0

    async def test_a_task_that_ignores_its_cancellation_is_reported_and_left(
        self, caplog: pytest.LogCaptureFixture
    ) -> None:
        is_over = asyncio.Event()

        @tool
        async def ignore() -> None:
            while not is_over.is_set():
                with suppress(asyncio.CancelledError):
                    await is_over.wait()

        async with Processor(ignore, timeout=0.02, grace=0.02) as processor:
            [outcome] = await processor.run(call('ignore'))
            assert outcome.result == Failure(ToolTimedOut('ignore', 0.02, 1))
            assert 'still runs' in caplog.text
            is_over.set()
            await asyncio.sleep(0)

    async def test_threads_that_do_not_end_are_replaced_up_to_their_number(self) -> None:
        release = threading.Event()

        @tool
        def hang() -> None:
            release.wait(60)

        async with Processor(hang, timeout=0.03, threads=2, grace=0.5) as processor:
            for _ in range(2):
                outcomes = await processor.run([call('hang')] * 2)
                assert results(outcomes) == [Failure(ToolTimedOut('hang', 0.03, 1))] * 2
            [outcome] = await processor.run(call('hang'))
            assert outcome.result == Failure(ResourceExhausted('threads'))
            release.set()


class TestGuards:
    async def test_a_tool_that_is_not_repeatable_runs_once(self) -> None:
        runs = 0

        @tool
        async def pay() -> Result[int, ServiceDown]:
            nonlocal runs
            runs += 1
            return Failure(ServiceDown())

        guard = retry(base=0.0) >> hedge(after=0.001, name='hedge')
        async with Processor(pay, guards={'pay': guard}) as processor:
            [outcome] = await processor.run(call('pay'))
        assert runs == outcome.attempts == 1

    async def test_what_failed_before_the_tool_began_is_retried(self) -> None:
        breaker = circuit(name='pay', open_for=0.05)
        breaker.open()

        @tool
        async def pay() -> int:
            return 1

        guard = retry(base=0.01) >> breaker
        async with Processor(pay, guard=guard) as processor:
            [outcome] = await processor.run(call('pay'))
        assert outcome.result == Success(1)
        assert outcome.attempts == 1
        assert outcome.waited > 0.01

    async def test_guards_inside_the_tool_retry_as_usual(self) -> None:
        tries = 0

        async def connect() -> Result[int, ServiceDown]:
            nonlocal tries
            tries += 1
            return Failure(ServiceDown()) if tries < 3 else Success(tries)

        @tool
        async def pay() -> Result[int, ServiceDown]:
            return await retry(base=0.0).run(connect)

        async with Processor(pay, guard=retry(base=0.0)) as processor:
            assert results(await processor.run(call('pay'))) == [Success(3)]

    async def test_a_deadline_of_the_guards_keeps_its_name(self) -> None:
        async with Processor(pause, guard=deadline(0.02, name='mine')) as processor:
            [outcome] = await processor.run(call('pause', seconds=60))
        error = outcome.result.failure()
        assert isinstance(error, DeadlineExceeded)
        assert error.name == 'mine'

    def test_guards_of_an_unknown_tool_are_an_error(self) -> None:
        with pytest.raises(ValueError, match=r"'ech', which is no tool\. Did you mean: echo"):
            Processor(echo, guards={'ech': retry()})


async def cancel_after(seconds: float, work: Awaitable[object]) -> None:
    task = asyncio.ensure_future(work)
    await asyncio.sleep(seconds)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


class TestCancellation:
    async def test_a_cancelled_caller_leaves_no_task_and_no_thread(self) -> None:
        ended: list[str] = []

        @tool
        async def clean_up() -> None:
            try:
                await asyncio.sleep(60)
            finally:
                await asyncio.sleep(0.01)
                ended.append('task')

        async with Processor(clean_up | block) as processor:
            before = len(asyncio.all_tasks())
            await cancel_after(0.02, processor.run([call('clean_up'), call('block', seconds=60)]))
            assert ended == ['task']
            assert len(asyncio.all_tasks()) == before
            # The processor still works.
            assert results(await processor.run(call('block', seconds=0.0)))

    @pytest.mark.parametrize('steps', range(12))
    async def test_a_cancellation_at_any_step_leaves_nothing(self, steps: int) -> None:
        async with Processor(pause | echo, concurrency=2) as processor:
            before = len(asyncio.all_tasks())
            task = asyncio.ensure_future(
                processor.run([call('pause', seconds=0.0), call('echo', value=1)] * 3)
            )
            for _ in range(steps):
                await asyncio.sleep(0)
            task.cancel()
            await asyncio.wait([task])
            assert len(asyncio.all_tasks()) == before
            assert results(await processor.run([call('echo', value=1)] * 5)) == [Success(1)] * 5

    async def test_leaving_a_stream_cancels_the_rest(self) -> None:
        async with Processor(pause) as processor:
            before = len(asyncio.all_tasks())
            calls = [call('pause', seconds=seconds) for seconds in (60, 0.0, 60)]
            async with processor.stream(calls) as outcomes:
                async for outcome in outcomes:
                    assert outcome.place == 2
                    break
            assert len(asyncio.all_tasks()) == before

    async def test_a_stream_gives_each_outcome_as_soon_as_it_is_there(self) -> None:
        async with Processor(pause) as processor:
            calls = [call('pause', seconds=seconds) for seconds in (0.06, 0.03, 0.0)]
            async with processor.stream(calls) as outcomes:
                places = [outcome.place async for outcome in outcomes]
        assert places == [3, 2, 1]


class TestEnd:
    async def test_running_calls_have_time_to_end_and_new_ones_are_refused(self) -> None:
        async with Processor(pause, grace=5.0) as processor:
            task = asyncio.ensure_future(processor.run(call('pause', seconds=0.05)))
            await asyncio.sleep(0)
        assert results(await task) == [Success(0.05)]
        assert results(await processor.run(call('pause', seconds=0.0))) == [
            Failure(ToolCancelled('pause', 'shutdown'))
        ]

    async def test_calls_that_take_too_long_are_cancelled(self) -> None:
        async with Processor(pause, grace=0.02, concurrency=1) as processor:
            task = asyncio.ensure_future(processor.run([call('pause', seconds=60)] * 2))
            await asyncio.sleep(0.01)
        assert results(await task) == [Failure(ToolCancelled('pause', 'shutdown'))] * 2

    def test_a_processor_serves_one_event_loop_after_the_other(self) -> None:
        processor = Processor(echo)
        for _ in range(2):
            assert results(asyncio.run(processor.run(call('echo', value=1)))) == [Success(1)]


def test_a_processor_checks_its_numbers() -> None:
    for option in ('timeout', 'concurrency', 'threads', 'grace', 'repeat_limit', 'mistake_limit'):
        with pytest.raises(ValueError, match=option):
            Processor(echo, **{option: -1})  # type: ignore[arg-type]  # each is a number


@pytest.mark.parametrize('option', ['on_outcome', 'guard', 'guards'])
def test_a_processor_checks_its_functions_and_guards(option: str) -> None:
    with pytest.raises(TypeError, match=f'^{option} must be a .*, not 3'):
        Processor(echo, **{option: 3})  # type: ignore[arg-type]  # on purpose


_PEAK_OF_MANY_CALLS = """
import asyncio, resource
from seamwise.policies import bulkhead, circuit, rate_limit, retry
from seamwise.toolhost import Processor, ToolCall, tool

@tool(is_repeatable=True)
async def increment(number: int) -> int:
    return number + 1

def peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

async def main() -> None:
    guard = (
        rate_limit(10**9, name='many')
        >> bulkhead(10_000, name='many')
        >> circuit(name='many')
        >> retry(attempts=3)
    )
    async with Processor(increment, guard=guard, timeout=60.0, concurrency=10_000) as processor:
        await processor.run(ToolCall('increment', {'number': 1}))
        calls = [ToolCall('increment', {'number': 1})] * 10_000
        before = peak()
        outcomes = await processor.run(calls)
        print(len(outcomes), peak() - before)

asyncio.run(main())
"""


def test_ten_thousand_guarded_calls_in_one_run_need_less_than_60_mib() -> None:
    output = subprocess.check_output([sys.executable, '-c', _PEAK_OF_MANY_CALLS], text=True)
    outcomes, kibibytes = map(int, output.split())
    assert outcomes == 10_000
    assert kibibytes < 60 * 1024
