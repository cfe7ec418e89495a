"""Level of each error: the same in records, tool calls and session events."""

import io
import json
import logging
from collections.abc import Callable
from typing import Any

import pytest

from seamwise import Category, Failure, TaggedError
from seamwise._runtime.samples import sample_error
from seamwise.seams import log, session
from seamwise.seams.adapter import Adapter, Hidden
from seamwise.seams.reporting.failure_log import SILENT_LOG, FailureLog
from seamwise.seams.reporting.levels import LEVELS, failure_level
from seamwise.seams.session import ErrorEvent, tables
from seamwise.toolhost import ToolCall, ToolOutcome
from tests.seams.test_session import RecordingSession

CALL = ToolCall('search', {}, id='c-1', line=1)
PUBLISHED: dict[type[TaggedError], Any] = {
    kind: table
    for table in vars(tables).values()
    if isinstance(table, Adapter)
    for kind, arm in table.arms.items()
    if not isinstance(arm, Hidden)
}


class ShelfWrong(
    TaggedError, category=Category.NOT_FOUND, message='There is no shelf.', namespace='test_levels'
):
    pass


def level_of(write: Callable[[logging.Logger], object]) -> str:
    """Return the level of the only line that a function logs."""
    stream, logger = io.StringIO(), logging.Logger('levels')  # noqa: LOG001 -- only for a test
    handler = logging.StreamHandler(stream)
    handler.setFormatter(log.JsonFormatter())
    logger.addHandler(handler)
    write(logger)
    [line] = stream.getvalue().splitlines()
    return str(json.loads(line)['level'])


def event_of(error: TaggedError, table: Any) -> ErrorEvent:
    [event] = session.publish(Failure(error), RecordingSession(), adapter=table, log=SILENT_LOG)
    return event


@pytest.mark.parametrize('kind', PUBLISHED, ids=lambda kind: kind.__name__)
def test_an_error_has_one_level(kind: type[TaggedError]) -> None:
    error, table = sample_error(kind), PUBLISHED[kind]
    outcome = ToolOutcome(1, CALL, Failure(error), 1, 0.0, 0.1)
    level = log.record(error).level
    assert level_of(lambda logger: log.outcomes(logger, alert_on=())(outcome)) == level
    published = level_of(
        lambda logger: session.publish(
            Failure(error), RecordingSession(), adapter=table, log=logger
        )
    )
    assert published == level
    is_critical = event_of(error, table).metadata['severity'] == 'critical'
    assert is_critical == (level == 'critical')


@pytest.mark.parametrize('kind', PUBLISHED, ids=lambda kind: kind.__name__)
def test_the_flag_of_an_event_agrees_with_its_name(kind: type[TaggedError]) -> None:
    event = event_of(sample_error(kind), PUBLISHED[kind])
    is_final = event.event in {'error.permanent', 'error.recovery_failed'}
    assert event.metadata['recoverable'] is not is_final
    assert (event.metadata['recovery_strategy'] == 'terminate') is is_final


@pytest.mark.parametrize(
    ('name', 'published', 'recoverable', 'strategy', 'severity', 'level'),
    [
        ('error.permanent', 'error.permanent', False, 'terminate', 'critical', 'critical'),
        ('error.correctable', 'error.correctable', True, 'escalate_to_user', 'error', 'info'),
    ],
)
def test_an_own_arm_decides_whether_the_operation_can_go_on(
    name: Any, published: str, recoverable: bool, strategy: str, severity: str, level: str
) -> None:
    arm = session.on(ShelfWrong).publishes(name, 'ERR_SHELF_001')
    event = event_of(ShelfWrong(), arm)
    metadata = event.metadata
    assert event.event == published
    assert (metadata['recoverable'], metadata['recovery_strategy'], metadata['severity']) == (
        recoverable,
        strategy,
        severity,
    )
    logged = level_of(
        lambda logger: session.publish(
            Failure(ShelfWrong()), RecordingSession(), adapter=arm, log=logger
        )
    )
    assert logged == level


def test_an_error_that_stops_is_never_published_as_one_that_can_be_corrected() -> None:
    class KeyRevoked(TaggedError, category=Category.CONFIGURATION):
        pass

    for name in ('error.transient', 'error.correctable', 'error.validation'):
        table: Any = session.on(KeyRevoked).publishes(name, 'ERR_KEY_001')
        assert event_of(KeyRevoked(), table).event == 'error.permanent'


@pytest.mark.parametrize(
    ('status', 'level'), [(None, logging.CRITICAL), (502, logging.CRITICAL), (401, logging.INFO)]
)
def test_below_500_the_client_can_avoid_a_final_error(status: int | None, level: int) -> None:
    class TokenExpired(TaggedError, category=Category.AUTHENTICATION):
        pass

    assert failure_level(TokenExpired(), status=status) == level


def test_an_own_level_comes_first() -> None:
    own = {Category.NOT_FOUND: logging.DEBUG}
    arm = session.on(ShelfWrong).publishes('error.permanent', 'ERR_SHELF_001')

    def publish(logger: logging.Logger) -> None:
        session.publish(
            Failure(ShelfWrong()),
            RecordingSession(),
            adapter=arm,
            log=FailureLog(logger, levels=own),
        )

    assert level_of(publish) == 'debug'
    assert LEVELS[Category.NOT_FOUND] == logging.INFO
