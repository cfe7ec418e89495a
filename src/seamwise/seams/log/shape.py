"""What a log is told of an error: one record, redacted, its keys in one fixed order."""

from collections.abc import Mapping
from logging import getLevelNamesMapping
from typing import Literal, TypeAlias

import msgspec
from msgspec import Struct

from seamwise._text.jsonable import to_json
from seamwise.defects import Link

Level: TypeAlias = Literal['debug', 'info', 'warning', 'error', 'critical']

Outcome: TypeAlias = Literal['failed', 'retried']
"""What became of an operation: it failed, or it was tried again."""


class LogRecord(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An error as a log has it; what is unknown is absent.

    `fingerprint` is the same for the same trouble, `ref` is what a client was shown of a defect, `chain` its causes, nearest first.
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

    @property
    def levelno(self) -> int:
        """The level as `logging` counts."""
        return getLevelNamesMapping()[self.level.upper()]

    def extra(self) -> dict[str, object]:
        """Give the record for `extra=` of `logging`, which has a `message` of its own: ours is `error_message` there.

        >>> from seamwise.catalog.tools import FileNotFound
        >>> from seamwise.seams.log import record
        >>> list(record(FileNotFound('read_file', 'a.txt')).extra())
        ['level', 'category', 'tool', 'error_type', 'error_message', 'path', 'fingerprint', 'timestamp']
        """
        return {EXTRA_NAMES.get(name, name): value for name, value in as_dict(self).items()}


KEYS = LogRecord.__struct_fields__
"""The keys of a record, in the order of the wire."""

EXTRA_NAMES = {'message': 'error_message'}
"""What of a record has another name beside the attributes of `logging.LogRecord`."""


def as_dict(record: LogRecord) -> dict[str, object]:
    """Give a record as builtins, without what is absent."""
    made: dict[str, object] = msgspec.to_builtins(record)
    return made


def encode(record: LogRecord) -> bytes:
    """Write a record as JSON, the keys in their documented order."""
    return to_json(record)
