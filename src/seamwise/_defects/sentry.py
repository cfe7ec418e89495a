"""Sentry events of defects: one event for each defect, without secrets.

Sentry captures a defect when it is logged, and again in each integration that sees the exception.
Its own check for duplicates compares exception objects, and the log has a redacted copy.
"""

import sys
from collections.abc import Callable
from typing import Any, Final

from seamwise._defects.entries import Entry, attributes_of, entry_of
from seamwise._defects.redacted_exceptions import without_secrets
from seamwise._errors.causes import iter_leaves
from seamwise.redaction import redact

CAPTURED_KEY: Final = '__seamwise_captured__'
"""Attribute of an exception that Sentry captured before it was reported; copies keep it."""


def register() -> None:
    """Register an event processor with the Sentry SDK, once, if the program has imported it."""
    scope: Any = sys.modules.get('sentry_sdk.scope')
    if scope is not None and _process not in scope.global_event_processors:
        scope.add_global_event_processor(_process)


def _process(event: Any, hint: Any) -> Any:
    """Return the event of a defect without secrets, and None for each further event of it."""
    exc_info = hint.get('exc_info')
    error: BaseException | None = exc_info[1] if exc_info else None
    if error is None:
        return event
    # An exception group around reported defects shows nothing new.
    errors = [error] if entry_of(error) is not None else [*iter_leaves(error)]
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
    _redact_sources(event['exception'])
    return event


def _redact_sources(exception: Any) -> None:
    """Redact the lines of source code around each frame, which can have a secret as a literal."""
    values: list[Any] = exception.get('values') or []
    for value in values:
        frames: list[Any] = (value.get('stacktrace') or {}).get('frames') or []  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]  # of the Sentry SDK
        for frame in frames:  # pyright: ignore[reportUnknownVariableType]  # of the Sentry SDK
            for name in _SOURCE_LINES:
                if frame.get(name):  # pyright: ignore[reportUnknownMemberType]  # of the Sentry SDK
                    frame[name] = redact(frame[name])  # pyright: ignore[reportUnknownArgumentType]  # of the Sentry SDK


_SOURCE_LINES: Final = ('pre_context', 'context_line', 'post_context')


def _is_captured(entry: Entry, error: BaseException) -> bool:
    return entry.is_captured or CAPTURED_KEY in attributes_of(error)


def _is_report(hint: Any, entries: list[Entry]) -> bool:
    """Return whether an event is the log record of `report_defect`, which has no secrets."""
    ref = getattr(hint.get('log_record'), 'ref', None)
    return any(entry.report.ref == ref for entry in entries)


def _redacted_exception(error: BaseException, exception: Any) -> Any:
    from sentry_sdk import get_client  # noqa: PLC0415 -- optional
    from sentry_sdk.utils import event_from_exception  # noqa: PLC0415 -- optional

    convert: Callable[..., Any] = event_from_exception
    copy = without_secrets(error)
    mechanism: dict[str, object] = exception['values'][-1]['mechanism']
    event, _ = convert(
        (type(copy), copy, copy.__traceback__),
        client_options=get_client().options,
        mechanism={name: mechanism[name] for name in ('type', 'handled') if name in mechanism},
    )
    return event['exception']
