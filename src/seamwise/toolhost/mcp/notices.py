"""Log records of tools as log messages and progress for the client that made the call."""

import logging
from asyncio import AbstractEventLoop, Queue, create_task, get_running_loop
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from math import isfinite
from typing import Any, Final

from mcp.server.connection import allowed_log_levels
from mcp.server.context import ServerRequestContext
from mcp.types import (
    LoggingLevel,
    LoggingMessageNotification,
    LoggingMessageNotificationParams,
)
from typing_extensions import override

from seamwise._text.safe_call import call_or_describe
from seamwise._text.shortening import shorten
from seamwise.redaction import redact

_LOGGER: Final = logging.getLogger('seamwise.mcp')

LEVELS: Final[tuple[tuple[int, LoggingLevel], ...]] = (
    (logging.CRITICAL, 'critical'),
    (logging.ERROR, 'error'),
    (logging.WARNING, 'warning'),
    (logging.INFO, 'info'),
)
"""The levels of `logging` with their names in MCP, the highest first; a lower one is `debug`."""

SEVERITY: Final[dict[str, int]] = {
    'debug': logging.DEBUG,
    'info': logging.INFO,
    # `logging` has none between.
    'notice': logging.INFO + 1,
    'warning': logging.WARNING,
    'error': logging.ERROR,
    'critical': logging.CRITICAL,
    'alert': logging.CRITICAL + 1,
    'emergency': logging.CRITICAL + 2,
}
"""The numbers of `logging` for the levels of MCP."""


class _Call:
    """The client of one call, as far as records are sent to it."""

    def __init__(
        self, context: ServerRequestContext[Any, Any], level: int, loop: AbstractEventLoop
    ) -> None:
        self.context = context
        self.level = level
        self.loop = loop
        self.queue: Queue[logging.LogRecord | None] = Queue()


_CURRENT: Final[ContextVar[_Call | None]] = ContextVar('seamwise_mcp_call', default=None)


class _Handler(logging.Handler):
    """Handler that hands each record of a call to the task which sends it."""

    @override
    def emit(self, record: logging.LogRecord) -> None:
        call = _CURRENT.get()
        if call is None or call.loop.is_closed():
            return
        # A tool can log in a thread. The order is that of the records.
        call.loop.call_soon_threadsafe(call.queue.put_nowait, record)


@contextmanager
def forwarding(logger: logging.Logger | None) -> Generator[None]:
    """Hand the records of a logger to the calls in which they are made."""
    if logger is None:
        yield
        return
    handler = _Handler()
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)


@asynccontextmanager
async def records_to_client(
    context: ServerRequestContext[Any, Any], level: int
) -> AsyncGenerator[None]:
    """Send the records that are made in the block to the client, before the block ends.

    Args:
        context: The request.
        level: The minimum level of log messages.
    """
    call = _Call(context, level, get_running_loop())
    sender = create_task(_send_all(call))
    token = _CURRENT.set(call)
    try:
        yield
        # After the records that threads have handed over.
        call.loop.call_soon(call.queue.put_nowait, None)
        await sender
    finally:
        _CURRENT.reset(token)
        sender.cancel()


async def _send_all(call: _Call) -> None:
    while (record := await call.queue.get()) is not None:
        try:
            await _send(call, record)
        # seamwise: allow[SW103] the call itself reports a connection that broke
        except Exception as error:
            _LOGGER.debug('A record could not be sent to the client.', exc_info=error)
            return


async def _send(call: _Call, record: logging.LogRecord) -> None:
    session = call.context.session
    text = shorten(redact(call_or_describe(record.getMessage, lambda _: '')))
    progress = _number(record, 'progress')
    if progress is not None:
        await session.report_progress(progress, _number(record, 'total'), text or None)
        return
    level = next((name for number, name in LEVELS if record.levelno >= number), 'debug')
    allowed = allowed_log_levels(call.context.protocol_version, call.context.meta)
    if record.levelno >= call.level and level in allowed:
        params = LoggingMessageNotificationParams(level=level, logger=record.name, data=text)
        await session.send_notification(
            LoggingMessageNotification(params=params),
            related_request_id=call.context.request_id,
        )


def _number(record: logging.LogRecord, name: str) -> float | None:
    value: object = getattr(record, name, None)
    if not isinstance(value, int | float) or isinstance(value, bool) or not isfinite(value):
        return None
    return value
