"""Log records of errors and defects."""

from collections.abc import Mapping
from datetime import datetime
from itertools import islice

from seamwise._defects.entries import Link
from seamwise._defects.quoted_secrets import quoted_secrets
from seamwise._errors.causes import error_chain
from seamwise._errors.errors import TaggedError
from seamwise._errors.reported import ReportedCause
from seamwise._text.jsonable import safe_str
from seamwise._text.shortening import shorten
from seamwise.redaction.settings import masking
from seamwise.seams.log.shape import LogRecord, Outcome
from seamwise.seams.rendering.errors import counted_message
from seamwise.seams.rendering.values import counted_items, counted_line, timestamp
from seamwise.seams.reporting.fingerprint import fingerprint
from seamwise.seams.reporting.levels import LEVEL_NAMES, Level, failure_level
from seamwise.seams.reporting.tool_groups import TOOL_GROUPS

CHAIN_LIMIT = 50
"""Maximum number of causes in a record."""


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
    with masking(quoted_secrets(error)):
        texts = _CountedTexts()
        first, *causes = (texts.link(link) for link in islice(error_chain(error), CHAIN_LIMIT + 1))
        safe_params, masked_params = counted_items(params or {})
        return LogRecord(
            level=_level(error, outcome),
            category=_category(error),
            tool=texts.field(error, 'tool'),
            error_type=first.type,
            message=first.message,
            path=texts.field(error, 'path'),
            params=None if params is None else safe_params,
            fingerprint=fingerprint(error, operation),
            ref=None if ref is None else texts.text(ref),
            chain=tuple(causes),
            masked=texts.masked + masked_params,
            timestamp=timestamp(now),
        )


class _CountedTexts:
    """Texts of errors that are safe to show, and the number of masked places in them."""

    def __init__(self) -> None:
        self.masked = 0

    def text(self, value: str) -> str:
        line, masked = counted_line(value)
        self.masked += masked
        return shorten(line)

    def link(self, error: TaggedError | BaseException) -> Link:
        if isinstance(error, ReportedCause):
            return Link(self.text(error.type), self.text(error.message))
        if isinstance(error, TaggedError):
            message, masked = counted_message(error)
            self.masked += masked
            return Link(error.tag, message)
        return Link(type(error).__name__, self.text(safe_str(error)))

    def field(self, error: TaggedError | BaseException, name: str) -> str | None:
        value: object = getattr(error, name, None) if isinstance(error, TaggedError) else None
        return self.text(value) if isinstance(value, str) else None


def _level(error: TaggedError | BaseException, outcome: Outcome) -> Level:
    if not isinstance(error, TaggedError):
        return 'error'
    return 'info' if outcome == 'retried' else LEVEL_NAMES[failure_level(error)]


def _category(error: TaggedError | BaseException) -> str:
    if not isinstance(error, TaggedError):
        return 'defect'
    group = TOOL_GROUPS.get(type(error))
    return group.category if group else error.category.value
