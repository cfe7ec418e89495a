"""Shape of the log seam: a redacted record with its keys in a fixed order."""

from collections.abc import Mapping
from logging import getLevelNamesMapping
from typing import Literal, TypeAlias

import msgspec
from msgspec import Struct

from seamwise._defects.entries import Link
from seamwise._text.escaping import escape_json
from seamwise._text.jsonable import to_json
from seamwise.seams.reporting.event_record import EventRecord
from seamwise.seams.reporting.levels import Level

Outcome: TypeAlias = Literal['failed', 'retried']
"""Outcome of an attempt: it failed for good, or it is retried."""


class LogRecord(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An error in a log; unknown fields are absent.

    `fingerprint` is equal for errors of the same class, operation and code location. `ref` is the
    reference of a defect that the client received. `chain` contains the causes, nearest first.
    `masked` is the number of places that redaction masked; without any it is absent. `attempts` and
    `duration_ms` are those of a tool call.
    """

    level: Level
    category: str
    tool: str | None = None
    error_type: str
    message: str
    path: str | None = None
    params: Mapping[str, object] | None = None
    fingerprint: str
    ref: str | None = None
    chain: tuple[Link, ...] = ()
    timestamp: str
    masked: int = 0
    attempts: int | None = None
    duration_ms: int | None = None

    @property
    def levelno(self) -> int:
        """The numeric level of `logging`."""
        return getLevelNamesMapping()[self.level.upper()]

    def extra(self) -> dict[str, object]:
        """Return the record as `extra=` for `logging`.

        The message is `error_message` there, since `message` is reserved by `logging`.

        >>> from seamwise.catalog.tools import FileNotFound
        >>> from seamwise.seams.log import record
        >>> extra = record(FileNotFound('read_file', 'a.txt')).extra()
        >>> ', '.join(extra)
        'level, category, tool, error_type, error_message, path, fingerprint, timestamp'
        """
        return {EXTRA_NAMES.get(name, name): value for name, value in as_dict(self).items()}


KEYS = LogRecord.__struct_fields__
"""Keys of a record, in the order of the wire."""

EXTRA_NAMES = {'message': 'error_message'}
"""Keys that are renamed because they are attributes of `logging.LogRecord`."""


def as_dict(record: LogRecord) -> dict[str, object]:
    """Return a record as builtins, without absent fields."""
    fields: dict[str, object] = msgspec.to_builtins(record)
    return fields


def encode(record: LogRecord | EventRecord) -> bytes:
    """Encode a record as JSON, with the keys in their documented order.

    >>> from seamwise.catalog.storage import RecordNotFound
    >>> from seamwise.seams.log import record
    >>> encode(record(RecordNotFound('cart', '7')))
    b'{"level":"info","category":"not_found","error_type":"RecordNotFound",...}'
    """
    return escape_json(to_json(record).decode()).encode()
