"""Formatter and filter for `logging`: JSON lines, and redaction before the handlers."""

import logging
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, ClassVar, NamedTuple, TypeAlias

from typing_extensions import override

from seamwise._defects.quoted_secrets import quoted_secrets
from seamwise._text.escaping import escape_json
from seamwise._text.jsonable import safe_str, to_json
from seamwise._text.safe_call import call_or_describe
from seamwise._text.secrets import MASK
from seamwise.redaction import redact_and_count
from seamwise.redaction.settings import current, masking
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
        with masking(secrets_of(record)):
            return self._format(record)

    def _format(self, record: logging.LogRecord) -> str:
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
        line = to_json({**fields, 'logger': record.name, **event, **texts.traces, **values})
        return escape_json(line.decode())


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
        with masking(secrets_of(record)):
            self._redact(record)
        return True

    def _redact(self, record: logging.LogRecord) -> None:
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


def secrets_of(record: logging.LogRecord) -> Iterator[str]:
    """Yield the secrets that the exceptions of a record quote."""
    arguments = record.args if isinstance(record.args, tuple) else ()
    values = [record.exc_info[1] if record.exc_info else None, record.msg, *arguments]
    for value in (*values, *log_extras(record).values()):
        if isinstance(value, BaseException):
            yield from quoted_secrets(value)


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
    message, masked = _message(record)
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


def _message(record: logging.LogRecord) -> tuple[str, int]:
    """Return the redacted message of a record, and the number of masked places in it."""
    arguments, masked = _safe_arguments(record)
    text = call_or_describe(
        lambda: str(record.msg) % arguments if arguments else str(record.msg),
        # Arguments may not match the format, and an exception of a filter would reach the caller.
        lambda _: _loosely_merged(safe_str(record.msg), arguments),
    )
    if str(record.name).startswith(_ENGINE_LOGGER):
        message, count = _engine_message(record.thread, text)
    else:
        message, count = counted_line(text)
    return message, masked + count


_Arguments: TypeAlias = 'tuple[object, ...] | Mapping[str, object] | None'


def _safe_arguments(record: logging.LogRecord) -> tuple[_Arguments, int]:
    """Return the arguments of a record; those with names are redacted, as merging loses a name."""
    if isinstance(record.args, Mapping) and '%(' in safe_str(record.msg):
        return redact_and_count(record.args)
    return record.args, 0


def _loosely_merged(text: str, arguments: _Arguments) -> str:
    """Merge arguments with a text whose format does not fit, such as `50% done, token=%s`."""
    if isinstance(arguments, tuple):
        pieces = text.split('%s')
        if len(pieces) == len(arguments) + 1:
            values = [*map(safe_str, arguments), '']
            return ''.join(f'{piece}{value}' for piece, value in zip(pieces, values, strict=True))
        if any(map(current().is_sensitive, _NAME.findall(text))):
            # Without a place in the text, an argument has no name.
            arguments = tuple(
                MASK if isinstance(argument, (str, bytes)) else argument for argument in arguments
            )
    return f'{text} {safe_str(arguments)}'


_NAME = re.compile(r'[\w.-]+')

_ENGINE_LOGGER = 'sqlalchemy.engine'

_MAX_THREADS = 256


def _engine_message(thread: int | None, text: str) -> tuple[str, int]:
    """Return the redacted message of an engine of SQLAlchemy.

    It logs a statement and its parameters in two records. The columns are in the first.
    """
    statement = _Statements.by_thread.get(thread)
    if text.startswith('[') and statement is not None:
        both, masked = counted_line(f'{statement}\n{text}')
        _, mark, rest = both.rpartition(f'\n{text[:_STATISTICS]}')
        if mark:
            return mark[1:] + rest, masked
    if len(_Statements.by_thread) >= _MAX_THREADS:
        _Statements.by_thread.clear()
    _Statements.by_thread[thread] = text
    return counted_line(text)


_STATISTICS = len('[cached')


class _Statements:
    """The last statement of each thread."""

    by_thread: ClassVar[dict[int | None, str]] = {}


def _error_type(record: logging.LogRecord) -> str | None:
    error = record.exc_info[1] if record.exc_info else None
    return None if error is None else type(error).__name__


def _traces(record: logging.LogRecord) -> Mapping[str, str]:
    exception = record.exc_text
    if not exception and record.exc_info and record.exc_info[1] is not None:
        exception = _traceback(record.exc_info)
    traces = {'exception': exception, 'stack': record.stack_info}
    # A carriage return would overwrite the line in a terminal.
    return {
        name: trace.replace('\r\n', '\n').replace('\r', '\\r')
        for name, trace in traces.items()
        if trace
    }


def _traceback(exc_info: Any) -> str:
    return call_or_describe(
        lambda: _TRACEBACK_FORMATTER.formatException(exc_info),
        lambda error: (
            f'{type(exc_info[1]).__name__}: (its traceback raised {type(error).__name__})'
        ),
    )
