"""For structlog: a processor, which is just a function; structlog itself is not needed here."""

import logging
from collections.abc import MutableMapping

from seamwise.errors import TaggedError
from seamwise.seams._common import safe_items, safe_line
from seamwise.seams.log.record import record
from seamwise.seams.log.shape import KEYS, as_dict
from seamwise.seams.log.stdlib_logging import RedactingFilter

_LONG = ('event', 'exception', 'stack')

_STRUCTLOG_S_OWN = ('_record', '_from_structlog')
"""What structlog's `ProcessorFormatter` keeps in an event for itself."""

_FILTER = RedactingFilter()


def structlog_processor(
    logger: object,  # noqa: ARG001 -- so structlog calls it
    method_name: str,  # noqa: ARG001
    event_dict: MutableMapping[str, object],
) -> dict[str, object]:
    """Redact an event, and write out what stands under `error`: a tagged error, or an exception.

    `operation` has a part in the fingerprint; what the event says itself (`level`, `timestamp`, `params`, `ref`) stays.
    Put it after `format_exc_info`, before the renderer.

    >>> from seamwise.catalog.tools import FileNotFound
    >>> told = structlog_processor(None, 'warning', {'event': 'no luck', 'error': FileNotFound('read_file', 'a.txt'), 'level': 'warning'})
    >>> told['level'], told['error_type'], told['event']
    ('warning', 'FileNotFound', 'no luck')
    """
    given = dict(event_dict)
    theirs = {name: given.pop(name) for name in _STRUCTLOG_S_OWN if name in given}
    _clean(theirs.get('_record'))
    error = given.get('error')
    told: dict[str, object] = {}
    if isinstance(error, (TaggedError, BaseException)):
        del given['error']
        told = as_dict(record(error, operation=_text(given.get('operation'))))
    long = {name: safe_line(value) for name in _LONG if isinstance(value := given.get(name), str)}
    merged = {**told, **safe_items(given), **long}
    first = {name: merged[name] for name in KEYS if name in merged}
    return {**first, **merged, **theirs}


def _clean(record: object) -> None:
    """Redact the record of `logging` that an event was made of: later processors read its `extra`, and its `repr` tells the message."""
    if isinstance(record, logging.LogRecord):
        _FILTER.filter(record)


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
