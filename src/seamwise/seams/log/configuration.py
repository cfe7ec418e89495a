"""Logging of a whole program in one call: `logging`, structlog, and the loggers of servers."""

import logging
import sys
from collections.abc import MutableMapping
from copy import copy
from importlib.util import find_spec
from typing import Final, Literal, TypeAlias

from typing_extensions import override

from seamwise._defects.entries import entry_of
from seamwise._defects.sentry import register
from seamwise.seams.log.console import ConsoleFormatter
from seamwise.seams.log.processor import structlog_processor
from seamwise.seams.log.request_ids import RequestIdFilter
from seamwise.seams.log.shape import EXTRA_NAMES
from seamwise.seams.log.stdlib_logging import RESERVED_VALUES, STANDARD_ATTRIBUTES, JsonFormatter

Style: TypeAlias = Literal['json', 'console']

_SERVER_LOGGERS: Final = (
    'uvicorn',
    'uvicorn.error',
    'uvicorn.access',
    'uvicorn.asgi',
    'hypercorn.error',
    'hypercorn.access',
    '_granian',
    'granian.access',
)

_CALL_ARGUMENTS: Final = ('exc_info', 'stack_info', 'stacklevel')
"""Keys of an event of structlog that are arguments of `Logger.log`."""


def setup(style: Style = 'json', level: int | str = 'INFO') -> None:
    """Log the whole program to stderr: redacted, one format, the request id in every record.

    The records of `logging`, structlog (if it is installed), uvicorn, hypercorn and granian go
    through one handler at the root logger. If a server logs an exception that was reported as a
    defect, its record has the reference instead of a second traceback.

    Handlers of the root logger and of the servers that write to stdout or stderr are removed, so
    that no line appears twice. All others (files, queues, Sentry) stay as they are. Levels of
    other loggers stay too: `uvicorn --log-level` and `--no-access-log` work. A second call
    replaces the first. With the Sentry SDK, each defect becomes one event without secrets.

    Args:
        style: `json` for one object a line, `console` for people. The console has colours if
            stderr is a terminal.
        level: Level of the root logger, such as `DEBUG` or `logging.WARNING`.

    Raises:
        ValueError: The style or the level is unknown.
    """
    if style not in ('json', 'console'):
        raise ValueError(f"The style must be 'json' or 'console', not {style!r}.")
    root = logging.getLogger()
    root.setLevel(level.upper() if isinstance(level, str) else level)
    handler = _Handler(sys.stderr)
    handler.setFormatter(
        JsonFormatter() if style == 'json' else ConsoleFormatter(colours=sys.stderr.isatty())
    )
    handler.addFilter(RequestIdFilter())
    _remove_terminal_handlers(root)
    root.addHandler(handler)
    _take_over_servers()
    for name in _SERVER_LOGGERS:
        logger = logging.getLogger(name)
        if _SERVER_FILTER not in logger.filters:
            logger.addFilter(_SERVER_FILTER)
    if find_spec('structlog') is not None:
        _configure_structlog()
    register()


class _Handler(logging.StreamHandler):  # type: ignore[type-arg]  # not subscriptable in Python 3.11
    """Handler that leaves records unchanged, because handlers of others also read them."""

    @override
    def handle(self, record: logging.LogRecord) -> bool:
        own_record = copy(record)
        # Of uvicorn: the same text with the control sequences of a terminal.
        own_record.__dict__.pop('color_message', None)
        _refer_to_report(own_record)
        return bool(super().handle(own_record))


def _refer_to_report(record: logging.LogRecord) -> None:
    """Replace the traceback of a reported defect by its reference, except in the report itself."""
    exception = record.exc_info[1] if record.exc_info else None
    entry = None if exception is None else entry_of(exception)
    if entry is None or hasattr(record, 'ref'):
        return
    text = record.getMessage().strip()
    record.msg, record.args = f'{text} (reported as defect {entry.report.ref})', None
    record.exc_info = record.exc_text = None
    record.__dict__.update({'ref': entry.report.ref, 'request_id': entry.context.get('request_id')})


class _ServerFilter(logging.Filter):
    """Filter that removes the handlers which a server adds after `setup`, at the first record."""

    @override
    def filter(self, record: logging.LogRecord) -> bool:
        _take_over_servers()
        return True


_SERVER_FILTER: Final = _ServerFilter()


def _take_over_servers() -> None:
    for name in _SERVER_LOGGERS:
        logger = logging.getLogger(name)
        # Without handlers, the logger is turned off (`--no-access-log`) or passes its records on.
        if logger.handlers:
            _remove_terminal_handlers(logger)
            logger.propagate = True


def _remove_terminal_handlers(logger: logging.Logger) -> None:
    for handler in filter(_writes_to_terminal, [*logger.handlers]):
        logger.removeHandler(handler)


def _writes_to_terminal(handler: logging.Handler) -> bool:
    # Subclasses, such as those of pytest and rich, do more than writing to a stream.
    if type(handler) not in {logging.StreamHandler, _Handler}:
        return False
    stream: object = vars(handler)['stream']
    terminal = (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__)
    return type(handler) is _Handler or stream in terminal


def _configure_structlog() -> None:
    import structlog  # noqa: PLC0415 -- optional

    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            structlog.contextvars.merge_contextvars,
            structlog.stdlib.PositionalArgumentsFormatter(),
            _as_log_call,
        ],
        wrapper_class=structlog.stdlib.BoundLogger,
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=True,
    )


def _as_log_call(
    logger: object, method_name: str, event_dict: MutableMapping[str, object]
) -> dict[str, object]:
    """Convert an event of structlog to the arguments of `Logger.log`."""
    arguments = {name: event_dict.pop(name) for name in _CALL_ARGUMENTS if name in event_dict}
    has_error = 'error' in event_dict
    values = structlog_processor(logger, method_name, event_dict)
    text = values.pop('event', '')
    if has_error:
        # The record of the error has a level and a time of its own.
        for name in ('level', 'timestamp'):
            values.pop(name, None)
        values = {EXTRA_NAMES.get(name, name): value for name, value in values.items()}
    # `logging` refuses `extra` with the names of its own attributes, such as `name`.
    reserved = {name: values.pop(name) for name in [*values] if name in STANDARD_ATTRIBUTES}
    extra = {**values, RESERVED_VALUES: reserved} if reserved else values
    return {'msg': text, 'extra': extra, **arguments}
