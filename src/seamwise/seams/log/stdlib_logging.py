"""For `logging`: a formatter that writes JSON, and a filter that takes the secrets out before any handler sees them."""

import logging
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from typing_extensions import override

from seamwise._safe_call import call_or_describe
from seamwise._text.jsonable import safe_str, to_json
from seamwise.seams._common import safe_items, safe_line, timestamp
from seamwise.seams.log.shape import EXTRA_NAMES, KEYS

_STANDARD = frozenset((*logging.makeLogRecord({}).__dict__, 'message', 'asctime', 'taskName'))
_TRACEBACKS = logging.Formatter()


class JsonFormatter(logging.Formatter):
    """Write a log record as one line of JSON: the keys of our own record first, in their order, then all other `extra`.

    `event` is what was logged, where that is not the error's message; `exception` is the redacted traceback.

    >>> from seamwise.catalog.tools import FileNotFound
    >>> from seamwise.seams.log import record
    >>> made = logging.makeLogRecord({'levelname': 'ERROR', **record(FileNotFound('read_file', 'a.txt')).extra()})
    >>> JsonFormatter().format(made)[:58]
    '{"level":"error","category":"file_operation","tool":"read_'
    """

    @override
    def format(self, record: logging.LogRecord) -> str:
        """Give the line, without a line break at its end."""
        found = safe_items(_extras(record))
        logged = safe_line(_logged(record))
        found['level'] = record.levelname.lower()
        found['message'] = found.pop(EXTRA_NAMES['message'], logged)
        found.setdefault('timestamp', timestamp(datetime.fromtimestamp(record.created, UTC)))
        if kind := _error_type(record):
            found.setdefault('error_type', kind)
        line = {name: found.pop(name) for name in KEYS if name in found}
        event = {} if line['message'] == logged else {'event': logged}
        return to_json(
            {**line, 'logger': record.name, **event, **_traces(record), **found}
        ).decode()


class RedactingFilter(logging.Filter):
    """Take the secrets out of every log record that passes: its text, its `extra`, its traceback.

    Put it on a handler or a logger. It changes the record in place, also for handlers that come later: arguments
    become part of the text, `extra` becomes builtins, and of an exception its redacted text stays (`exc_text`) and
    the name of its class (`error_type`), so that nobody can pickle or print it with what it holds.

    >>> made = logging.makeLogRecord({'msg': 'calling %s', 'args': ('https://ann:hunter2@example.org',)})
    >>> RedactingFilter().filter(made), made.getMessage()
    (True, 'calling https://***@example.org')
    """

    @override
    def filter(self, record: logging.LogRecord) -> bool:
        """Redact the record; it always passes."""
        kind = _error_type(record)
        kept = {**({'error_type': kind} if kind else {}), **_extras(record)}
        traces = _traces(record)
        record.msg, record.args = safe_line(_logged(record)), None
        record.exc_info, record.exc_text, record.stack_info = (
            None,
            traces.get('exception'),
            traces.get('stack'),
        )
        record.__dict__.update(safe_items(kept))
        return True


def _extras(record: logging.LogRecord) -> dict[str, object]:
    return {name: value for name, value in record.__dict__.items() if name not in _STANDARD}


def _logged(record: logging.LogRecord) -> str:
    # Arguments may not fit, and what a filter raises comes up in the middle of whoever logs.
    return call_or_describe(
        record.getMessage, lambda _: f'{safe_str(record.msg)} {safe_str(record.args)}'
    )


def _error_type(record: logging.LogRecord) -> str | None:
    error = record.exc_info[1] if record.exc_info else None
    return None if error is None else type(error).__name__


def _traces(record: logging.LogRecord) -> Mapping[str, str]:
    exception = record.exc_text
    if record.exc_info and record.exc_info[1] is not None:
        exception = _traceback(record.exc_info)
    found = {'exception': exception, 'stack': record.stack_info}
    return {name: safe_line(trace) for name, trace in found.items() if trace}


def _traceback(exc_info: Any) -> str:
    return call_or_describe(
        lambda: _TRACEBACKS.formatException(exc_info),
        lambda raised: (
            f'{type(exc_info[1]).__name__}: (its traceback raised {type(raised).__name__})'
        ),
    )
