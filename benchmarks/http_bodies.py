"""Encoding of an error as a redacted HTTP body, compared with the same envelope in pydantic."""

from collections.abc import Iterable
from datetime import UTC, datetime
from itertools import count
from typing import Annotated

from pydantic import BaseModel, Field

from benchmarks.measure import Comparison, timed
from seamwise import Category, TaggedError
from seamwise.seams.http import envelope, on

_REQUEST_ID = 'req-5475ee48251c4356ab4c3d4c737c6742'


class _NoteMissing(
    TaggedError,
    namespace='benchmarks',
    category=Category.NOT_FOUND,
    message='There is no note {name!r} of {owner}.',
):
    name: str
    owner: str


class ErrorBody(BaseModel):
    code: str
    type: str
    message: str
    details: dict[str, str]
    retryable: bool
    retry_after_ms: int | None = None
    docs: str | None = None


class Envelope(BaseModel):
    success: bool = False
    error: ErrorBody
    timestamp: datetime
    request_id: Annotated[str, Field(pattern='^[A-Za-z0-9._-]{1,128}$')]


_TABLE = on(_NoteMissing).responds(404, 'NOTE_NOT_FOUND')
_MISSING = _NoteMissing('shopping list', 'ann')
_NUMBERS = count()
assert len(str(_MISSING)) == 40, 'the job says that the text has 40 characters'


def _ours(turns: Iterable[None]) -> None:
    for _ in turns:
        envelope(_TABLE(_MISSING), request_id=_REQUEST_ID)


def _theirs(turns: Iterable[None]) -> None:
    for _ in turns:
        _dump(str(_MISSING))


def _ours_with_new_text(turns: Iterable[None]) -> None:
    for _ in turns:
        envelope(
            _TABLE(_NoteMissing('shopping list', f'ann{next(_NUMBERS)}')), request_id=_REQUEST_ID
        )


def _theirs_with_new_text(turns: Iterable[None]) -> None:
    for _ in turns:
        _dump(str(_NoteMissing('shopping list', f'ann{next(_NUMBERS)}')))


def _theirs_with_ready_text(turns: Iterable[None]) -> None:
    text = str(_MISSING)
    for _ in turns:
        _dump(text)


def _dump(text: str) -> bytes:
    error = ErrorBody(
        code='NOTE_NOT_FOUND',
        type='_NoteMissing',
        message=text,
        details={'name': _MISSING.name, 'owner': _MISSING.owner},
        retryable=False,
    )
    return (
        Envelope(error=error, timestamp=datetime.now(UTC), request_id=_REQUEST_ID)
        .model_dump_json(exclude_none=True)
        .encode()
    )


_JOB = 'an error as the bytes of an HTTP body, redacted: a text of 40 characters, two details'
_BECAUSE = 'every text is searched for secrets before it is written'

COMPARISONS = (
    Comparison(
        job=_JOB,
        peer='the same error as the same envelope, built and dumped with pydantic',
        ours=timed(_ours),
        theirs=timed(_theirs),
        target=0.5,
        because=_BECAUSE,
    ),
    Comparison(
        job=_JOB,
        peer='the same envelope with a ready text, built and dumped with pydantic',
        ours=timed(_ours),
        theirs=timed(_theirs_with_ready_text),
        target=0.5,
        because=_BECAUSE,
    ),
    Comparison(
        job='the same, each with a new text',
        peer='the same error as the same envelope, built and dumped with pydantic',
        ours=timed(_ours_with_new_text),
        theirs=timed(_theirs_with_new_text),
    ),
)
