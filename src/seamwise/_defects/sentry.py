"""Sentry events of defects: one event for each defect, without secrets.

Sentry captures a defect when it is logged, and again in each integration that sees the exception.
Its own check for duplicates compares exception objects, and the log has a redacted copy.
"""

import sys
from collections.abc import Callable, Iterator
from itertools import accumulate, islice
from typing import Any, Final

from seamwise._defects.entries import Entry, attributes_of, entry_of
from seamwise._errors.causes import iter_leaves
from seamwise.redaction import redact, redact_part
from seamwise.redaction.settings import masking

CAPTURED_KEY: Final = '__seamwise_captured__'
"""Attribute of an exception that Sentry captured before it was reported; copies keep it."""


def register() -> None:
    """Register event processors with the Sentry SDK, once, if the program has imported it.

    That of the current isolation scope runs last: integrations add the request after the first one.
    """
    scopes: Any = sys.modules.get('sentry_sdk.scope')
    if scopes is None:
        return
    if _process not in scopes.global_event_processors:
        scopes.add_global_event_processor(_process)
    scope = scopes.Scope.get_isolation_scope()
    # A scope inherits those of the scope around it, and an integration adds its own behind them.
    if scope._event_processors[-1:] != [_redact_rest]:
        scope.add_event_processor(_redact_rest)


def _process(event: Any, hint: Any) -> Any:
    """Return the event of a defect without secrets, and None for each further event of it."""
    error = _error_of(hint)
    if error is None:
        return event
    errors = _reported_errors(error)
    entries = [entry for entry in map(entry_of, errors) if entry is not None]
    if len(entries) < len(errors):
        attributes_of(error)[CAPTURED_KEY] = True
        return event
    if all(map(_is_captured, entries, errors)):
        return None
    for entry in entries:
        entry.is_captured = True
    if not _is_report(hint, entries):
        event['exception'] = _redacted_exception(error, event['exception'])
    return event


def _redact_rest(event: Any, hint: Any) -> Any:
    """Return the event of a defect or of a record of this library with all of it redacted."""
    error = _error_of(hint)
    if error is None:
        record = hint.get('log_record')
        is_own = any(hasattr(record, name) for name in _RECORD_ATTRIBUTES) or _is_of_granian(record)
    else:
        is_own = None not in map(entry_of, _reported_errors(error))
    if not is_own:
        return event
    from seamwise._defects.quoted_secrets import quoted_secrets  # noqa: PLC0415 -- events are rare

    if error is None:
        _attach_stack(event)
    with masking(quoted_secrets(error)):
        event.update(redact({name: event[name] for name in _SHOWN if name in event}))
        for frame in _frames(event):
            _redact_source(frame)
    return event


def _frames(event: Any) -> Iterator[dict[str, Any]]:
    for part in ('exception', 'threads'):
        values: list[Any] = event.get(part, {}).get('values', [])
        for value in values:
            # An exception that was not raised has no stack.
            yield from value.get('stacktrace', {}).get('frames', [])


_RECORD_ATTRIBUTES: Final = ('error_type', 'event_type')
"""Attributes of the records of this library, one of which each record has."""

_SHOWN: Final = (
    *('breadcrumbs', 'contexts', 'extra', 'logentry', 'message', 'request', 'tags', 'threads'),
    *('transaction', 'user'),
)
"""Parts of an event with values of the program, except the exception."""


def _is_of_granian(record: Any) -> bool:
    """Return whether a record is of the server granian, whose texts contain tracebacks."""
    return str(getattr(record, 'name', '')).startswith('_granian')


def _attach_stack(event: Any) -> None:
    """Attach the stack if the program asks for it, without the variables that Sentry would add."""
    from sentry_sdk import get_client  # noqa: PLC0415 -- optional
    from sentry_sdk.utils import current_stacktrace  # noqa: PLC0415 -- optional

    if get_client().options['attach_stacktrace']:
        stack: object = current_stacktrace(include_local_variables=False)
        event['threads'] = {'values': [{'stacktrace': stack, 'current': True}]}


def _redact_source(frame: dict[str, Any]) -> None:
    """Redact the lines of source code of a frame, which can have a secret as a literal."""
    names = [name for name in _SOURCE_LINES if frame.get(name)]
    lines = [line for name in names for line in _lines_of(frame[name])]
    # A name or the head of a key can be in another line than the secret.
    source = '\n'.join(lines)
    starts = accumulate((len(line) + 1 for line in lines), initial=0)
    redacted = iter(
        [redact_part(source, at, at + len(line)) for at, line in zip(starts, lines, strict=False)]
    )
    for name in names:
        value = frame[name]
        frame[name] = next(redacted) if isinstance(value, str) else [*islice(redacted, len(value))]


_SOURCE_LINES: Final = ('pre_context', 'context_line', 'post_context')


def _lines_of(value: str | list[str]) -> list[str]:
    return [value] if isinstance(value, str) else value


def _error_of(hint: Any) -> BaseException | None:
    exc_info = hint.get('exc_info')
    return exc_info[1] if exc_info else None


def _reported_errors(error: BaseException) -> list[BaseException]:
    # An exception group around reported defects shows nothing new.
    return [error] if entry_of(error) is not None else [*iter_leaves(error)]


def _is_captured(entry: Entry, error: BaseException) -> bool:
    return entry.is_captured or CAPTURED_KEY in attributes_of(error)


def _is_report(hint: Any, entries: list[Entry]) -> bool:
    """Return whether an event is the log record of `report_defect`, which has no secrets."""
    ref = getattr(hint.get('log_record'), 'ref', None)
    return any(entry.report.ref == ref for entry in entries)


def _redacted_exception(error: BaseException, exception: Any) -> Any:
    from sentry_sdk import get_client  # noqa: PLC0415 -- optional
    from sentry_sdk.utils import event_from_exception  # noqa: PLC0415 -- optional

    from seamwise._defects.redacted_exceptions import without_secrets  # noqa: PLC0415 -- events are rare

    convert: Callable[..., Any] = event_from_exception
    copy = without_secrets(error)
    mechanism: dict[str, object] = exception['values'][-1]['mechanism']
    event, _ = convert(
        (type(copy), copy, copy.__traceback__),
        client_options=get_client().options,
        mechanism={name: mechanism[name] for name in ('type', 'handled') if name in mechanism},
    )
    return event['exception']
