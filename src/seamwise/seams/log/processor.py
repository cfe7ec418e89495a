"""Processor for structlog; a plain function, so that structlog is not required."""

import logging
from collections.abc import MutableMapping

from seamwise._errors.errors import TaggedError
from seamwise.seams.log.record import record
from seamwise.seams.log.shape import KEYS, as_dict
from seamwise.seams.log.stdlib_logging import RedactingFilter, add_masked, log_extras
from seamwise.seams.rendering.values import counted_items, masked_places, safe_line

_UNLIMITED = ('event', 'exception', 'stack')
"""Texts that are redacted but not cut."""

_PROCESSOR_FORMATTER_KEYS = ('_record', '_from_structlog')
"""Keys that structlog's `ProcessorFormatter` adds for its own use."""

_FILTER = RedactingFilter()


def structlog_processor(
    logger: object,  # noqa: ARG001 -- structlog passes it
    method_name: str,  # noqa: ARG001 -- structlog passes it
    event_dict: MutableMapping[str, object],
) -> dict[str, object]:
    """Redact an event, and replace its `error` by the fields of its record.

    `error` is a tagged error or an exception, and `operation` is part of the fingerprint. Values
    of the event itself (`level`, `timestamp`, `params`, `ref`) take precedence. Add the processor
    after `format_exc_info` and before the renderer.

    >>> from seamwise.catalog.tools import FileNotFound
    >>> event = {'event': 'failed', 'error': FileNotFound('read_file', 'a.txt'), 'level': 'warning'}
    >>> redacted = structlog_processor(None, 'warning', event)
    >>> redacted['level'], redacted['error_type'], redacted['event']
    ('warning', 'FileNotFound', 'failed')
    """
    values = dict(event_dict)
    formatter_values = {
        name: values.pop(name) for name in _PROCESSOR_FORMATTER_KEYS if name in values
    }
    log_record = formatter_values.get('_record')
    masked_extras = _redact_log_record(log_record)
    error = values.get('error')
    fields: dict[str, object] = {}
    if isinstance(error, (TaggedError, BaseException)):
        del values['error']
        operation = values.get('operation')
        fields = as_dict(record(error, operation=operation if isinstance(operation, str) else None))
    unlimited_texts = {
        name: safe_line(value) for name in _UNLIMITED if isinstance(value := values.get(name), str)
    }
    items, masked = counted_items(values)
    merged = {**fields, **items, **unlimited_texts}
    add_masked(merged, masked + masked_extras)
    if isinstance(log_record, logging.LogRecord) and 'masked' in merged:
        # `ExtraAdder` copies the `extra` of the record into the event.
        log_record.__dict__['masked'] = merged['masked']
    ordered_fields = {name: merged[name] for name in KEYS if name in merged}
    return {**ordered_fields, **merged, **formatter_values}


def _redact_log_record(record: object) -> int:
    """Redact a record of `logging`, and return the number of masked places in its `extra`.

    Its message is the event, whose masked places are counted there.
    """
    # Later processors read the `extra` of this record, and its `repr` contains the message.
    if not isinstance(record, logging.LogRecord):
        return 0
    extras = log_extras(record)
    earlier: object = extras.get('masked')
    masked = masked_places(extras) + (earlier if type(earlier) is int else 0)
    _FILTER.filter(record)
    return masked
