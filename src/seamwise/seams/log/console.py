"""Formatter for people: one line for each record, with its values and traceback indented below."""

import logging
import re
from collections.abc import Iterator, Mapping
from textwrap import indent, wrap
from typing import Any, Final, cast

from typing_extensions import override

from seamwise._text.escaping import escape, escape_lines
from seamwise._text.jsonable import to_json
from seamwise.redaction.settings import masking
from seamwise.seams.log.shape import EXTRA_NAMES, KEYS
from seamwise.seams.log.stdlib_logging import redacted_texts, secrets_of, values_of
from seamwise.seams.rendering.values import counted_items

WIDTH: Final = 80
"""Width of the lines in characters; long words and tracebacks are not wrapped."""

_INDENT: Final = ' ' * 9

_SUMMARY_KEYS: Final = {'error_type', EXTRA_NAMES['message'], 'chain'}
"""Keys that are shown as sentences."""

_SHOWN_KEYS: Final = {'tool', 'path', 'params', 'ref', 'attempts', 'duration_ms'}

_HIDDEN_KEYS: Final = {'tag', 'seam', 'operation', *KEYS} - _SHOWN_KEYS
"""Keys of the record of an error that repeat its line, or are for machines."""

_NESTED_KEYS: Final = {'fields', 'params', 'context'}
"""Keys whose items are shown like values of the record."""

_PLAIN: Final = re.compile(r'[^\s"=]+').fullmatch

_COLOURS: Final[Mapping[int, str]] = {
    logging.DEBUG: '\x1b[2m',
    logging.INFO: '\x1b[32m',
    logging.WARNING: '\x1b[33m',
    logging.ERROR: '\x1b[31m',
    logging.CRITICAL: '\x1b[1;31m',
}
_RESET: Final = '\x1b[0m'


class ConsoleFormatter(logging.Formatter):
    """Formatter that writes the time, the level, the logger, the message, and values below.

    Everything is redacted. Times are local.

    >>> log_record = logging.makeLogRecord(
    ...     {'name': 'shop', 'levelname': 'INFO', 'msg': 'paid', 'amount': 7, 'token': 'abc'}
    ... )
    >>> print(ConsoleFormatter().format(log_record)[9:])
    INFO     shop: paid
             amount=7 token=***

    Args:
        colours: Whether the level has a colour, with the control sequences of a terminal.
    """

    default_time_format = '%H:%M:%S'
    default_msec_format = ''

    def __init__(self, *, colours: bool = False) -> None:
        super().__init__()
        self._colours = colours

    @override
    def format(self, record: logging.LogRecord) -> str:
        """Return the lines, without a line break at the end."""
        with masking(secrets_of(record)):
            return self._format(record)

    def _format(self, record: logging.LogRecord) -> str:
        values, _ = counted_items(values_of(record))
        texts = redacted_texts(record)
        # Of a library or a user, so it can contain the control sequences of a terminal.
        message, level, name = (
            _escaped(text)
            for text in (texts.message.strip('\n'), f'{record.levelname:8}', str(record.name))
        )
        traces = {key: _escaped(trace) for key, trace in texts.traces.items()}
        first_line, *other_lines = f'{self.formatTime(record)} {level} {name}: {message}'.split(
            '\n'
        )
        head = _wrapped(first_line, subsequent_indent=_INDENT)
        if self._colours:
            head = head.replace(level, f'{_COLOURS.get(record.levelno, "")}{level}{_RESET}', 1)
        pairs = _wrapped(' '.join(map(escape, _pairs(values, texts.message, traces))))
        sentences = map(_escaped, _sentences(values, texts.message))
        below = [*other_lines, *sentences, pairs, *traces.values()]
        return '\n'.join([head, *(indent(text, _INDENT) for text in below if text)])

    @override
    def formatTime(self, record: logging.LogRecord, datefmt: str | None = None) -> str:
        """Return the local time of a record, to the second."""
        return super().formatTime(record, datefmt or self.default_time_format)


def _escaped(text: str) -> str:
    return '\n'.join(escape_lines(text))


def _sentences(values: Mapping[str, object], message: str) -> Iterator[str]:
    """Yield the error of a record, if its line does not show it, and the causes of the error."""
    error_message = values.get(EXTRA_NAMES['message'])
    if isinstance(error_message, str) and error_message not in message:
        yield f'{values.get("error_type")}: {error_message}'
    causes = values.get('chain')
    # After `isinstance`, type checkers do not know the types of the members.
    for cause in cast('list[Mapping[str, str]]', causes) if isinstance(causes, list) else []:
        yield f'caused by {cause["type"]}: {cause["message"]}'


def _pairs(values: Mapping[str, object], message: str, traces: Mapping[str, str]) -> Iterator[str]:
    """Yield the values that neither the message nor the traceback of a report shows."""
    is_error = 'fingerprint' in values
    hidden = _HIDDEN_KEYS | _SUMMARY_KEYS if is_error else {'error_type'}
    for name, value in values.items():
        is_repeated = (name == 'context' and traces) or (name == 'ref' and str(value) in message)
        if name in hidden or value is None or is_repeated:
            continue
        nested: Any = value
        items = nested if name in _NESTED_KEYS and isinstance(value, dict) else {name: value}
        # The tool of an error is a value of the record and one of its fields.
        yield from (
            f'{key}={_shown(item)}'
            for key, item in items.items()
            if name != 'fields' or key not in _SHOWN_KEYS or values.get(key) != item
        )


def _wrapped(text: str, *, subsequent_indent: str = '') -> str:
    width = WIDTH if subsequent_indent else WIDTH - len(_INDENT)
    lines = wrap(
        text,
        width,
        subsequent_indent=subsequent_indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return '\n'.join(lines)


def _shown(value: object) -> str:
    if isinstance(value, str) and _PLAIN(value):
        return value
    return to_json(value).decode()
