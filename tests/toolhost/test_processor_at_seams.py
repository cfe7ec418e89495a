"""Tests of outcomes at the seams: log, planner, model, session and telemetry."""

import json
import logging
from typing import TypeAlias

import pytest

from seamwise import Category, Failure, Result, Success, TaggedError
from seamwise.catalog.network import HostUnreachable
from seamwise.catalog.tools import ResourceExhausted, ToolFailed
from seamwise.policies import circuit, consecutive, rate_limit, retry
from seamwise.seams import log, planner, session
from seamwise.seams.log import LogRecord
from seamwise.seams.model.tables import NETWORK as MODEL_NETWORK
from seamwise.seams.planner.tables import NETWORK as PLANNER_NETWORK
from seamwise.seams.session.tables import GUARDS, NETWORK, PARSING
from seamwise.seams.session.tables import TOOLS as SESSION_TOOLS
from seamwise.toolhost import Processor, ToolCall, ToolOutcome, formats, tool
from tests.seams.test_session import RecordingSession
from tests.seams.test_session_observer import names
from tests.seams.test_telemetry import RecordedTelemetry

OwnError: TypeAlias = HostUnreachable | ResourceExhausted

SESSION = NETWORK | GUARDS | PARSING | SESSION_TOOLS

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return 'asyncio'


@tool(is_repeatable=True)
async def search(pattern: str) -> Result[int, HostUnreachable]:
    return Failure(HostUnreachable('search.internal', 'refused'))


@tool
async def fill_memory(token: str) -> Result[int, ResourceExhausted]:
    return Failure(ResourceExhausted('memory'))


@tool
async def divide(by: int) -> float:
    return 1 / by


@tool
async def add(a: int, b: int) -> int:
    return a + b


TOOLS = search | fill_memory | divide | add

OUTPUT = {
    'tool_calls': [
        {'id': f'c{number}', 'type': 'function', 'function': {'name': name, 'arguments': arguments}}
        for number, (name, arguments) in enumerate(
            [
                ('add', '{"a": 1, "b": 2}'),
                ('search', '{"pattern": "x"}'),
                ('fill_memory', '{"token": "sk-ant-api03-not-a-real-key"}'),
                ('divide', '{"by": 0}'),
                ('add', '{"a": "1", "b": 2}'),
                ('add', '{"a": 1, "b": '),
            ]
        )
    ]
}


async def run(processor: Processor[OwnError]) -> list[ToolOutcome[OwnError]]:
    async with processor:
        return await processor.run(OUTPUT)


async def test_the_planner_classifies_each_outcome_by_its_class() -> None:
    outcomes = await run(Processor(TOOLS))
    adapter = planner.PLANNER | PLANNER_NETWORK
    errors = [planner.classify(outcome, adapter=adapter) for outcome in outcomes]
    assert [error and (error.code.value, error.retryable) for error in errors] == [
        None,
        ('MCP_CONNECTION_FAILED', True),
        ('RESOURCE_EXHAUSTED', True),
        ('TOOL_EXECUTION_FAILED', False),
        ('TOOL_ARGUMENT_ERROR', False),
        ('PARSER_ERROR', False),
    ]
    assert [error and error.details.get('tool_name') for error in errors] == [
        None,
        'search',
        'fill_memory',
        'divide',
        'add',
        'add',
    ]


async def test_the_log_has_each_failure_once_and_alerts(caplog: pytest.LogCaptureFixture) -> None:
    logger = logging.getLogger('app')
    alerts: list[LogRecord] = []
    with caplog.at_level(logging.DEBUG):
        outcomes = await run(Processor(TOOLS, on_outcome=log.outcomes(logger, alert=alerts.append)))
    records = [record for record in caplog.records if record.name == 'app']
    assert [record.__dict__['error_type'] for record in records].count('InvalidParameter') == 1
    assert len(records) == sum(isinstance(outcome.result, Failure) for outcome in outcomes)
    assert [alert.error_type for alert in alerts] == ['ResourceExhausted']
    assert 'not-a-real-key' not in str([record.__dict__ for record in records])
    # The bug of the tool has the same reference in both of its records.
    [bug] = [outcome.result.failure() for outcome in outcomes if 'divide' in str(outcome.call)]
    assert isinstance(bug, ToolFailed)
    [defect] = [record for record in caplog.records if record.exc_info]
    [failed] = [record for record in records if record.__dict__['error_type'] == 'ToolFailed']
    assert defect.__dict__['ref'] == failed.__dict__['ref']


async def test_the_model_is_answered_for_each_call_under_its_id() -> None:
    outcomes = await run(Processor(TOOLS))
    answers = [
        formats.answer(item, model=formats.TOOL_GUIDANCE | MODEL_NETWORK) for item in outcomes
    ]
    assert all(isinstance(answer, dict) for answer in answers)
    assert [answer['tool_call_id'] for answer in answers if isinstance(answer, dict)] == [
        f'c{number}' for number in range(6)
    ]
    contents = [
        json.loads(str(answer['content'])) for answer in answers if isinstance(answer, dict)
    ]
    assert contents[0] == 3
    assert {content['status'] for content in contents[1:]} == {'error'}
    assert 'ZeroDivisionError' not in str(contents)


async def test_a_session_sees_the_attempts_of_a_call() -> None:
    recorder = RecordingSession()
    guard = retry(
        attempts=3,
        base=0.0,
        name='search',
        observer=session.observer(recorder, adapter=NETWORK | GUARDS),
    )
    async with Processor(search | add, guards={'search': guard}) as processor:
        [outcome] = await processor.run(ToolCall('search', {'pattern': 'x'}))
    assert outcome.attempts == 3
    assert names(recorder.sent) == [
        'error.transient',
        'error.retry_attempt',
        'error.transient',
        'error.retry_attempt',
        'error.recovery_failed',
        'agent.error',
        'agent.session_end',
    ]


async def test_telemetry_counts_the_retries_of_tools() -> None:
    recorded = RecordedTelemetry()
    observer = recorded.telemetry.observer()
    guard = circuit(name='search', trip=consecutive(2), observer=observer) >> retry(
        attempts=2, base=0.0, name='search', observer=observer
    )
    async with Processor(search, guards={'search': guard}, concurrency=1) as processor:
        outcomes = await processor.run([ToolCall('search', {'pattern': 'x'})] * 3)
    recorded.close()
    assert [outcome.attempts for outcome in outcomes] == [2, 2, 0]
    assert recorded.total('seamwise.retry.attempts') == 2
    assert recorded.by('seamwise.retry.outcomes', 'seamwise.guard.outcome') == {'gave_up': 2}


async def test_a_success_reaches_no_error_seam() -> None:
    async with Processor(add) as processor:
        [outcome] = await processor.run(ToolCall('add', {'a': 1, 'b': 2}))
    assert outcome.result == Success(3)
    assert planner.classify(outcome) is None


class Booked(TaggedError, category=Category.CONFLICT, namespace='tests.toolhost.seams'):
    pass


async def test_the_category_of_other_errors_decides_their_level(
    caplog: pytest.LogCaptureFixture,
) -> None:
    @tool
    async def book() -> Result[int, Booked]:
        return Failure(Booked())

    caplog.set_level(logging.DEBUG, 'app')
    on_outcome = log.outcomes(logging.getLogger('app'))
    limit = rate_limit(1, period=60.0, name='book')
    async with Processor(book | search, guards={'book': limit}, on_outcome=on_outcome) as processor:
        await processor.run([ToolCall('book', {})] * 2)
        await processor.run(ToolCall('search', {'pattern': 'x'}))
    assert [record.levelno for record in caplog.records if record.name == 'app'] == [
        logging.INFO,
        logging.WARNING,
        logging.ERROR,
    ]


async def test_levels_of_categories_can_be_changed(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, 'app')
    on_outcome = log.outcomes(
        logging.getLogger('app'),
        levels={Category.CONNECTION: logging.DEBUG, Category.RESOURCE: logging.WARNING},
        alert_on=(),
    )
    async with Processor(search | fill_memory, on_outcome=on_outcome) as processor:
        await processor.run(ToolCall('search', {'pattern': 'x'}))
        await processor.run(ToolCall('fill_memory', {'token': 'x'}))
    assert [record.levelno for record in caplog.records if record.name == 'app'] == [
        logging.DEBUG,
        logging.WARNING,
    ]


async def test_a_failure_that_a_session_shows_too_has_one_record_in_an_operation(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG, 'app')
    failures = log.FailureLog(logging.getLogger('app'))
    on_outcome = log.outcomes(logging.getLogger('app'))
    call = ToolCall('search', {'pattern': 'x'})
    with failures.operation():
        async with Processor(search, on_outcome=on_outcome) as processor:
            [first, second] = await processor.run([call, call])
        assert isinstance(first.result, Failure)
        session.publish(first.result, RecordingSession(), adapter=SESSION, log=failures)
    texts = [record.getMessage() for record in caplog.records]
    assert len(texts) == 2
    assert all(text.startswith('search failed: ') for text in texts)
    assert isinstance(second.result, Failure)


async def test_a_record_of_the_tool_host_does_not_replace_the_count_of_a_session() -> None:
    recorded = RecordedTelemetry()
    failures = log.FailureLog(logging.getLogger('app'), telemetry=recorded.telemetry)
    on_outcome = log.outcomes(logging.getLogger('app'))
    with failures.operation():
        async with Processor(search, on_outcome=on_outcome) as processor:
            [outcome] = await processor.run(ToolCall('search', {'pattern': 'x'}))
        assert isinstance(outcome.result, Failure)
        session.publish(outcome.result, RecordingSession(), adapter=SESSION, log=failures)
    assert recorded.total() == 1


def test_a_failure_that_the_log_of_tools_does_not_write_is_logged_by_the_next_seam(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.ERROR, 'tools')
    caplog.set_level(logging.DEBUG, 'app')
    failures = log.FailureLog(logging.getLogger('app'))
    error = Booked()
    with failures.operation():
        log.outcomes(logging.getLogger('tools'))(ToolOutcome(1, None, Failure(error), 1, 0.0, 0.1))
        failures.failed(error, seam='session', operation='book')
    assert [record.name for record in caplog.records] == ['app']


def test_the_failure_of_a_task_is_logged_although_its_cause_was(
    caplog: pytest.LogCaptureFixture,
) -> None:
    logger = logging.getLogger('app')
    failures = log.FailureLog(logger)
    cause = HostUnreachable('search.internal', 'refused')
    with failures.operation():
        log.outcomes(logger)(ToolOutcome(1, None, Failure(cause), 1, 0.0, 0.1))
        failures.failed(ToolFailed('task', cause), seam='session', operation='task')
    assert [record.getMessage().split()[0] for record in caplog.records] == ['A', 'task']


def test_an_alert_is_raised_for_a_failure_that_another_seam_has_logged() -> None:
    alerts: list[LogRecord] = []
    failures = log.FailureLog(logging.getLogger('app'))
    error = ResourceExhausted('memory')
    with failures.operation():
        failures.failed(error, seam='session', operation='task')
        on_outcome = log.outcomes(logging.getLogger('app'), alert=alerts.append)
        on_outcome(ToolOutcome(1, None, Failure(error), 1, 0.0, 0.1))
    assert [alert.error_type for alert in alerts] == ['ResourceExhausted']


def test_a_level_that_has_no_name_is_refused() -> None:
    with pytest.raises(ValueError, match=r'the level of NOT_FOUND is 25\. Use logging\.DEBUG'):
        log.outcomes(logging.getLogger('app'), levels={Category.NOT_FOUND: 25})
