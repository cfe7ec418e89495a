"""Formatter and filter for `logging`: JSON lines, and redaction before the handlers."""

import logging
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple

from typing_extensions import override

from seamwise._text.jsonable import safe_str, to_json
from seamwise._text.safe_call import call_or_describe
from seamwise.seams.log.shape import EXTRA_NAMES, KEYS
from seamwise.seams.rendering.values import counted_items, counted_line, timestamp

STANDARD_ATTRIBUTES = frozenset(
    (*logging.makeLogRecord({}).__dict__, 'message', 'asctime', 'taskName')
)

RESERVED_VALUES = '_seamwise_values'
"""Attribute with values of structlog whose names are those of standard attributes."""

_TRACEBACK_FORMATTER = logging.Formatter()


class JsonFormatter(logging.Formatter):
    """Formatter that writes a log record as one line of JSON.

    The keys of `LogRecord` come first, in their order, then all other `extra`. `event` is the
    logged text if it differs from the error's message; `exception` is the redacted traceback.

    >>> from seamwise.catalog.tools import FileNotFound
    >>> from seamwise.seams.log import record
    >>> extra = record(FileNotFound('read_file', 'a.txt')).extra()
    >>> log_record = logging.makeLogRecord({'levelname': 'ERROR', **extra})
    >>> JsonFormatter().format(log_record)[:58]
    '{"level":"error","category":"file_operation","tool":"read_'
    """

    @override
    def format(self, record: logging.LogRecord) -> str:
        """Return the line, without a line break at its end."""
        values, masked = counted_items(values_of(record))
        if values.get('request_id', '') is None:
            del values['request_id']
        texts = redacted_texts(record)
        logged_text = texts.message
        values['level'] = record.levelname.lower()
        values['message'] = values.pop(EXTRA_NAMES['message'], logged_text)
        values.setdefault('timestamp', timestamp(datetime.fromtimestamp(record.created, UTC)))
        if error_type := _error_type(record):
            values.setdefault('error_type', error_type)
        add_masked(values, masked + texts.masked)
        fields = {name: values.pop(name) for name in KEYS if name in values}
        event = {} if fields['message'] == logged_text else {'event': logged_text}
        return to_json(
            {**fields, 'logger': record.name, **event, **texts.traces, **values}
        ).decode()


class RedactingFilter(logging.Filter):
    """Filter that redacts the text, the `extra` and the traceback of every log record.

    Add it to a handler or a logger. It changes the record in place, also for later handlers:
    arguments are merged into the text, and `extra` is converted to builtins. An exception is
    replaced by its redacted text (`exc_text`) and the name of its class (`error_type`), so that no
    handler can pickle or print its secrets.

    >>> url = 'https://ann:hunter2@example.org'
    >>> log_record = logging.makeLogRecord({'msg': 'calling %s', 'args': (url,)})
    >>> RedactingFilter().filter(log_record), log_record.getMessage()
    (True, 'calling https://***@example.org')
    """

    @override
    def filter(self, record: logging.LogRecord) -> bool:
        """Redact the record and return True."""
        error_type = _error_type(record)
        extras, masked = counted_items(
            {**({'error_type': error_type} if error_type else {}), **log_extras(record)}
        )
        texts = redacted_texts(record)
        add_masked(extras, masked + texts.masked)
        record.msg, record.args = texts.message, None
        record.exc_info = None
        record.exc_text = texts.traces.get('exception')
        record.stack_info = texts.traces.get('stack')
        record.__dict__.update(extras)
        return True


def log_extras(record: logging.LogRecord) -> dict[str, object]:
    """Return the attributes of a record that are its `extra`."""
    return {
        name: value
        for name, value in record.__dict__.items()
        if name not in STANDARD_ATTRIBUTES and name != RESERVED_VALUES
    }


def values_of(record: logging.LogRecord) -> dict[str, object]:
    """Return the `extra` of a record, and its values under reserved names."""
    reserved: Mapping[str, object] = getattr(record, RESERVED_VALUES, {})
    return {**log_extras(record), **reserved}


class _Texts(NamedTuple):
    """The redacted message and traces of a record, and the number of masked places in them."""

    message: str
    traces: Mapping[str, str]
    masked: int


def redacted_texts(record: logging.LogRecord) -> _Texts:
    """Return the redacted texts of a record."""
    message, masked = counted_line(_logged_text(record))
    traces = {name: counted_line(trace) for name, trace in _traces(record).items()}
    return _Texts(
        message,
        {name: trace for name, (trace, _) in traces.items()},
        masked + sum(count for _, count in traces.values()),
    )


def add_masked(values: dict[str, object], masked: int) -> None:
    """Add the masked places of a record to those that its fields have counted."""
    counted = values.get('masked')
    if masked:
        values['masked'] = masked + (counted if type(counted) is int else 0)


def _logged_text(record: logging.LogRecord) -> str:
    # Arguments may not match the format, and an exception of a filter would reach the caller.
    return call_or_describe(
        record.getMessage, lambda _: f'{safe_str(record.msg)} {safe_str(record.args)}'
    )


def _error_type(record: logging.LogRecord) -> str | None:
    error = record.exc_info[1] if record.exc_info else None
    return None if error is None else type(error).__name__


def _traces(record: logging.LogRecord) -> Mapping[str, str]:
    exception = record.exc_text
    if not exception and record.exc_info and record.exc_info[1] is not None:
        exception = _traceback(record.exc_info)
    traces = {'exception': exception, 'stack': record.stack_info}
    return {name: trace for name, trace in traces.items() if trace}


def _traceback(exc_info: Any) -> str:
    return call_or_describe(
        lambda: _TRACEBACK_FORMATTER.formatException(exc_info),
        lambda error: (
            f'{type(exc_info[1]).__name__}: (its traceback raised {type(error).__name__})'
        ),
    )
