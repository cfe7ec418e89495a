"""Document 000: errors of tools, with guidance for the model and a record for the log."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field

import pytest

from seamwise import Failure, Result, Success, TaggedError
from seamwise.catalog.parsing import UnreadableCall
from seamwise.catalog.protocols import McpConnectionFailed, McpTimedOut
from seamwise.catalog.tools import (
    FileNotFound,
    MissingParameter,
    PathForbidden,
    ResourceExhausted,
    UnknownTool,
)
from seamwise.policies import RateLimited
from seamwise.seams.log import JsonFormatter, LogRecord, outcomes
from seamwise.seams.model.tables import TOOLS as FOR_MODELS
from seamwise.toolhost.calls import ToolCall
from seamwise.toolhost.outcome import ToolOutcome
from tests.sources.helpers import Records
from tests.strategies import PLANTED


@pytest.fixture
def handler() -> Records:
    return Records()


@pytest.fixture
def logger(handler: Records) -> logging.Logger:
    return handler.logger


def outcome(
    error: MissingParameter
    | FileNotFound
    | ResourceExhausted
    | UnknownTool
    | McpConnectionFailed
    | McpTimedOut
    | RateLimited,
    *,
    tool: str = 'read_file',
    arguments: Mapping[str, object] = {},
    attempts: int = 1,
) -> ToolOutcome[McpConnectionFailed | McpTimedOut]:
    call = ToolCall(tool, {**arguments}, id='c-1', line=1)
    return ToolOutcome(1, call, Failure(error), attempts, 0.0, 0.0125)


# The handler of tool errors


@pytest.mark.requirement('000-33', '000-34')
def test_a_failed_call_is_logged_with_the_fields_of_the_document(
    logger: logging.Logger, handler: Records
) -> None:
    """The log entry of the document: level, category, tool, error type, message, parameters."""
    missing = MissingParameter('read_file', 'path')
    outcomes(logger)(outcome(missing, arguments={'token': PLANTED, 'encoding': 'utf-8'}))
    [record] = handler.records
    expected = {
        'level': 'warning',
        'category': 'tool_validation',
        'tool': 'read_file',
        'error_type': 'MissingParameter',
        'error_message': "read_file needs the parameter 'path'.",
        'params': {'token': '***', 'encoding': 'utf-8'},
        'attempts': 1,
        'duration_ms': 13,
    }
    assert {name: getattr(record, name) for name in expected} == expected
    assert record.getMessage() == (
        "read_file failed: read_file needs the parameter 'path'. (MissingParameter)"
    )
    assert PLANTED not in JsonFormatter().format(record)


@pytest.mark.requirement('000-38')
def test_an_error_of_a_file_is_logged_with_its_path(
    logger: logging.Logger, handler: Records
) -> None:
    outcomes(logger)(outcome(FileNotFound('read_file', 'a.txt')))
    [record] = handler.records
    extra = vars(record)
    assert (extra['level'], extra['category'], extra['path']) == (
        'error',
        'file_operation',
        'a.txt',
    )


@pytest.mark.requirement('000-44')
def test_the_model_and_the_log_receive_different_forms(
    logger: logging.Logger, handler: Records
) -> None:
    """The document separates the guidance for the model from the entry of the log."""
    error = FileNotFound('read_file', 'a.txt')
    outcomes(logger)(outcome(error))
    guidance = FOR_MODELS(error)
    assert guidance.suggestion
    assert guidance.suggestion not in JsonFormatter().format(handler.records[0])


def test_a_successful_call_is_not_logged(logger: logging.Logger, handler: Records) -> None:
    call = ToolCall('read_file', {}, id='c-1', line=1)
    outcomes(logger)(ToolOutcome(1, call, Success('text'), 1, 0.0, 0.1))
    assert handler.records == []


def test_an_error_of_a_guard_is_logged_with_the_tool_of_the_call(
    logger: logging.Logger, handler: Records
) -> None:
    outcomes(logger)(outcome(RateLimited('global', 10, 60.0, 1.5), tool='weather', attempts=0))
    [record] = handler.records
    assert (vars(record)['tool'], vars(record)['attempts']) == ('weather', 0)


def test_a_call_that_could_not_be_read_is_logged_without_parameters(
    logger: logging.Logger, handler: Records
) -> None:
    unreadable = UnreadableCall('fence', 'a comma is missing', '{', 1)
    outcomes(logger)(ToolOutcome(1, None, Failure(unreadable), 0, 0.0, 0.0))
    [record] = handler.records
    assert not {'tool', 'params'} & vars(record).keys()
    assert record.getMessage().startswith('A tool call failed: ')


def test_a_name_that_the_model_invented_is_no_part_of_the_fingerprint(
    logger: logging.Logger, handler: Records
) -> None:
    log_outcome = outcomes(logger)
    for name in ('serach', 'find 100%'):
        log_outcome(outcome(UnknownTool(name, 'default', ('search',)), tool=name))
    first, second = handler.records
    assert vars(first)['fingerprint'] == vars(second)['fingerprint']
    assert first.msg == second.msg
    assert vars(second)['tool'] == 'find 100%'


def test_a_percent_sign_in_the_name_of_a_tool_is_no_placeholder(
    logger: logging.Logger, handler: Records
) -> None:
    outcomes(logger)(outcome(FileNotFound('t', 'a.txt'), tool='100%'))
    assert handler.records[0].getMessage().startswith('100% failed: ')


# Alerts


@dataclass
class Pager:
    """An operator who is alerted."""

    alerts: list[LogRecord] = field(default_factory=list[LogRecord])

    def page(self, record: LogRecord) -> None:
        self.alerts.append(record)


@pytest.mark.requirement('003-77')
def test_the_errors_of_the_document_alert_by_default(
    logger: logging.Logger, handler: Records
) -> None:
    """Document 003, example 2: exhausted resources and a failed connection to an MCP server."""
    pager = Pager()
    log_outcome = outcomes(logger, alert=pager.page)
    log_outcome(outcome(ResourceExhausted('memory'), attempts=3))
    log_outcome(outcome(McpConnectionFailed('notion', 'Connection refused')))
    log_outcome(outcome(McpTimedOut('sqlite', 'tool_call', 30.0)))
    alerts = [(alert.error_type, alert.attempts, alert.level) for alert in pager.alerts]
    assert alerts == [
        ('ResourceExhausted', 3, 'critical'),
        ('McpConnectionFailed', 1, 'critical'),
    ]
    levels = [record.levelno for record in handler.records]
    assert levels == [logging.CRITICAL, logging.CRITICAL, logging.ERROR]


@pytest.mark.parametrize('kind', [FileNotFound, MissingParameter])
def test_the_classes_that_alert_can_be_replaced(
    logger: logging.Logger, kind: type[TaggedError]
) -> None:
    pager = Pager()
    log_outcome = outcomes(logger, alert=pager.page, alert_on={kind})
    log_outcome(outcome(FileNotFound('read_file', 'a.txt')))
    log_outcome(outcome(MissingParameter('read_file', 'path')))
    log_outcome(outcome(ResourceExhausted('memory')))
    assert [alert.error_type for alert in pager.alerts] == [kind.__name__]


def test_an_alert_that_fails_is_logged_as_a_defect(
    logger: logging.Logger, handler: Records
) -> None:
    def fail(_: LogRecord) -> Result[None, FileNotFound]:
        raise ConnectionError('the pager is out of reach')

    outcomes(logger, alert=fail)(outcome(ResourceExhausted('disk')))
    _, defect = handler.records
    assert vars(defect)['ref'].startswith('err_')


@pytest.mark.requirement('000-42')
def test_a_protected_path_asks_for_the_approval_of_one_operation() -> None:
    error = PathForbidden('write_to_file', '.env', 'write_protected')
    assert 'request approval for this one operation' in str(FOR_MODELS(error).suggestion)
