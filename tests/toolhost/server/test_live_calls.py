"""The events of the calls in one message."""

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from seamwise.catalog.tools import ToolError
from seamwise.policies import GuardError, circuit, consecutive, retry
from seamwise.policies._engine.pipeline import Guard
from seamwise.testing import FakeWorld
from seamwise.toolhost import Processor, Tools, tool
from seamwise.toolhost.guards.guarded_call import record_event
from seamwise.toolhost.server.live_calls import CallRunner, report_begin

from .helpers import TOOLS, call
from .live_helpers import Sent, seam_outputs

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return 'asyncio'


@tool(is_repeatable=True)
async def reset() -> int:
    """Fail as a lost connection does."""
    report_begin()
    raise ConnectionResetError(104, 'Connection reset by peer')


@tool
async def stuck() -> None:
    """Never end."""
    await asyncio.Event().wait()


MORE: Tools[ToolError] = reset | stuck


def runner(
    guards: Mapping[str, Guard[GuardError]] | None = None, *, announced: tuple[str, ...] = ()
) -> CallRunner:
    return CallRunner(
        processors=(Processor(TOOLS), Processor(MORE, guards=guards)),
        seam_outputs=seam_outputs,
        max_calls=3,
        open_seconds={'reset': 4.0},
        announced=announced,
    )


async def run(output: object, *, by: CallRunner | None = None) -> Sent:
    sent = Sent()
    await (by or runner()).run(output, sent, session='s-1', run='r1')
    return sent


async def test_a_call_begins_and_ends_with_an_event() -> None:
    begin, end = await run(call('echo', value=7))
    assert (begin.event, end.event) == ('agent.tool_call', 'agent.tool_result')
    assert begin.metadata == {
        'run': 'r1',
        'task_id': 'r1.1',
        'place': 1,
        'total': 1,
        'tool': 'echo',
        'arguments': {'value': 7},
        'format': 'bare',
        'queued': False,
    }
    assert end.metadata['success'] is True
    assert end.metadata['attempts'] == 1
    assert end.metadata['seams'] == {'test': {'place': 1, 'events': 0}}


async def test_secrets_in_arguments_are_redacted() -> None:
    sent = await run(call('echo', value={'password': 'hunter2'}))
    assert 'hunter2' not in str(sent[0])


async def test_a_failure_is_an_event_of_the_session_seam() -> None:
    sent = await run(call('find', path='b.txt'))
    assert sent.names == ['agent.tool_call', 'error.correctable', 'agent.tool_result']
    assert sent[1].metadata['error_type'] == 'FileNotFound'
    assert sent[1].metadata['task_id'] == 'r1.1'
    assert sent[2].metadata['error_type'] == 'FileNotFound'
    assert sent[2].metadata['category'] == 'not_found'
    assert sent[2].metadata['retryable'] is False


async def test_a_bug_is_shown_without_its_text() -> None:
    sent = await run(call('crash'))
    assert sent[1].metadata['error_code'] == 'ERR_INTERNAL_001'
    assert sent[2].metadata['error_type'] == 'INTERNAL'
    assert 'hunter2' not in str(sent)


async def test_several_calls_are_told_apart() -> None:
    sent = await run([call('echo', value=1), call('find', path='b.txt')])
    assert [event.metadata['task_id'] for event in sent.named('agent.tool_call')] == [
        'r1.1',
        'r1.2',
    ]
    places = {event.metadata['place'] for event in sent.named('agent.tool_result')}
    assert places == {1, 2}
    assert sent.named('error.correctable')[0].metadata['task_id'] == 'r1.2'


@pytest.mark.parametrize(
    ('output', 'error_type'),
    [
        ('no call', 'UnknownFormat'),
        ('<tool_call>{"name": </tool_call>', 'UnreadableCall'),
        (7, 'SchemaViolations'),
        (None, 'SchemaViolations'),
        ([call('echo', value=1)] * 4, 'SchemaViolations'),
        (call('nothing'), 'UnknownTool'),
    ],
)
async def test_an_output_that_cannot_run_is_a_failure_too(output: object, error_type: str) -> None:
    sent = await run(output)
    assert sent.names == ['agent.tool_call', sent.names[1], 'agent.tool_result']
    assert sent.names[1].startswith('error.')
    assert sent[2].metadata['error_type'] == error_type
    assert sent[2].metadata['attempts'] == 0


async def test_attempts_and_waits_are_sent_as_they_happen() -> None:
    world = FakeWorld()
    guards = {'reset': retry(attempts=3, name='reset', observer=record_event, world=world)}
    sent = await run(call('reset'), by=runner(guards))
    assert sent.names == [
        'agent.tool_call',
        'error.transient',
        'error.retry_attempt',
        'error.transient',
        'error.retry_attempt',
        'error.recovery_failed',
        'agent.error',
        'agent.tool_result',
    ]
    assert [event.metadata['attempt'] for event in sent.named('error.transient')] == [1, 2]
    waits = [event.metadata['retry_after_ms'] for event in sent.named('error.transient')]
    assert waits == pytest.approx([1000 * seconds for seconds in world.slept], abs=1)
    assert sent[-1].metadata['attempts'] == 3
    assert sent[-1].metadata['seams'] == {'test': {'place': 1, 'events': 3}}


async def test_the_states_of_a_circuit_are_sent_and_a_refusal_is_the_failure_of_its_call() -> None:
    guards: dict[str, Any] = {
        'reset': circuit(trip=consecutive(1), open_for=4.0, name='reset', observer=record_event)
    }
    shared = runner(guards)
    first = await run(call('reset'), by=shared)
    assert first.named('guard.circuit')[0].metadata == {
        'task_id': 'r1.1',
        'circuit': 'reset',
        'before': 'closed',
        'after': 'open',
        'failures': 1,
        'retry_after_ms': 4000,
    }
    second = await run(call('reset'), by=shared)
    assert second[-1].metadata['error_type'] == 'CircuitOpen'
    assert second[-1].metadata['attempts'] == 0
    assert second.names.count('error.transient') == 1


async def test_the_time_of_an_open_circuit_may_be_unknown() -> None:
    guards: dict[str, Any] = {
        'reset': circuit(trip=consecutive(1), name='other', observer=record_event)
    }
    sent = await run(call('reset'), by=runner(guards))
    assert 'retry_after_ms' not in sent.named('guard.circuit')[0].metadata


async def test_a_queued_call_says_once_when_it_begins() -> None:
    guards = {'reset': retry(attempts=2, name='reset', observer=record_event, world=FakeWorld())}
    sent = await run(call('reset'), by=runner(guards, announced=('reset',)))
    assert sent[0].metadata['queued'] is True
    [begun] = sent.named('agent.tool_progress')
    assert begun.metadata == {'task_id': 'r1.1', 'tool': 'reset', 'status': 'begun'}


async def test_a_tool_outside_of_a_run_can_report_its_begin() -> None:
    report_begin()


@pytest.mark.parametrize(('announced', 'attempts'), [((), 1), (('stuck',), 0)])
async def test_a_stopped_call_is_cancelled_by_the_user(
    announced: tuple[str, ...], attempts: int
) -> None:
    sent = Sent()
    by = runner(announced=announced)
    task = asyncio.create_task(by.run(call('stuck'), sent, session='s-1', run='r1'))
    await asyncio.sleep(0.05)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    end: Mapping[str, Any] = sent[-1].metadata
    assert (end['error_type'], end['category']) == ('ToolCancelled', 'cancelled')
    assert end['attempts'] == attempts
    assert end['duration_ms'] >= 10


async def test_an_unreadable_call_among_others_has_its_own_events() -> None:
    sent = await run('<tool_call>{"name": </tool_call> <tool_call>{"name":"crash"}</tool_call>')
    assert len(sent.named('agent.tool_result')) == 2
    assert sent[0].metadata.get('tool') is None
