"""Log records of errors and defects."""

from collections.abc import Mapping
from datetime import datetime
from itertools import islice
from typing import NamedTuple, get_args

from seamwise._text.jsonable import safe_str
from seamwise.catalog.parsing import ParsingError
from seamwise.catalog.tools import (
    ContentError,
    ExecutionError,
    FileError,
    ResourceExhausted,
    ToolInputError,
    ToolStateError,
)
from seamwise.categories import Category, Recovery
from seamwise.causes import chain
from seamwise.codec import ReportedCause
from seamwise.defects import Link
from seamwise.errors import TaggedError
from seamwise.seams._common import (
    masked_places,
    masked_places_of,
    message_of,
    safe_items,
    safe_text,
    timestamp,
)
from seamwise.seams._fingerprint import fingerprint
from seamwise.seams.log.shape import Level, LogRecord, Outcome

CHAIN_LIMIT = 50
"""Maximum number of causes in a record."""


class _Group(NamedTuple):
    category: str
    level: Level


def _for_members(union: object, category: str, level: Level) -> dict[type, _Group]:
    return dict.fromkeys(get_args(union), _Group(category, level))


_GROUPS = {
    **_for_members(ToolInputError, 'tool_validation', 'warning'),
    **_for_members(FileError, 'file_operation', 'error'),
    **_for_members(ContentError, 'content_matching', 'warning'),
    **_for_members(ExecutionError, 'tool_execution', 'error'),
    **_for_members(ToolStateError, 'tool_state', 'warning'),
    # A problem of the machine, not of the tool.
    ResourceExhausted: _Group(Category.RESOURCE.value, 'error'),
    **_for_members(ParsingError, Category.VALIDATION.value, 'warning'),
}


def record(
    error: TaggedError | BaseException,
    *,
    operation: str | None = None,
    params: Mapping[str, object] | None = None,
    ref: str | None = None,
    now: datetime | None = None,
    outcome: Outcome = 'failed',
) -> LogRecord:
    """Return the redacted record of an error, or of a defect (any exception).

    Args:
        error: The error or the exception.
        operation: Name of the operation; it is part of the fingerprint only.
        params: Parameters of the operation.
        ref: Reference of the defect that the client received.
        now: Time of the record. Default: the current time.
        outcome: `retried` if another attempt follows, else `failed`.

    >>> from seamwise.catalog.tools import ContentMismatch
    >>> mismatch = ContentMismatch('replace_in_file', 'a.txt', 'old', 'new', 3)
    >>> log_record = record(mismatch, params={'path': 'a.txt', 'token': 'abc'})
    >>> log_record.level, log_record.category, log_record.params
    ('warning', 'content_matching', {'path': 'a.txt', 'token': '***'})
    """
    return LogRecord(
        level=_level(error, outcome),
        category=_category(error),
        tool=_text_field(error, 'tool'),
        error_type=_type(error),
        message=_message(error),
        path=_text_field(error, 'path'),
        params=None if params is None else safe_items(params),
        fingerprint=fingerprint(error, operation),
        ref=None if ref is None else safe_text(ref),
        chain=tuple(
            Link(_type(cause), _message(cause))
            for cause in islice(chain(error), 1, CHAIN_LIMIT + 1)
        ),
        masked=_masked(error) + masked_places(params, ref),
        timestamp=timestamp(now),
    )


_TEXT_FIELDS = ('tool', 'path')


def _masked(error: TaggedError | BaseException) -> int:
    """Return the number of masked places in the texts of an error and of its causes."""
    places = masked_places(*(_raw_text_field(error, name) for name in _TEXT_FIELDS))
    for link in islice(chain(error), CHAIN_LIMIT + 1):
        if isinstance(link, ReportedCause):
            places += masked_places(link.type, link.message)
        elif isinstance(link, TaggedError):
            places += masked_places_of(link)
        else:
            places += masked_places(safe_str(link))
    return places


def _level(error: TaggedError | BaseException, outcome: Outcome) -> Level:
    if not isinstance(error, TaggedError):
        return 'error'
    if error.category is Category.CANCELLED:
        return 'debug'
    if outcome == 'retried':
        return 'info'
    if error.recovery is Recovery.STOP:
        return 'critical'
    group = _GROUPS.get(type(error))
    return group.level if group else 'error'


def _category(error: TaggedError | BaseException) -> str:
    if not isinstance(error, TaggedError):
        return 'defect'
    group = _GROUPS.get(type(error))
    return group.category if group else error.category.value


def _type(error: TaggedError | BaseException) -> str:
    if isinstance(error, ReportedCause):
        return safe_text(error.type)
    return error.tag if isinstance(error, TaggedError) else type(error).__name__


def _message(error: TaggedError | BaseException) -> str:
    if isinstance(error, ReportedCause):
        return safe_text(error.message)
    return message_of(error) if isinstance(error, TaggedError) else safe_text(safe_str(error))


def _text_field(error: TaggedError | BaseException, field: str) -> str | None:
    value = _raw_text_field(error, field)
    return None if value is None else safe_text(value)


def _raw_text_field(error: TaggedError | BaseException, field: str) -> str | None:
    value: object = getattr(error, field, None) if isinstance(error, TaggedError) else None
    return value if isinstance(value, str) else None
