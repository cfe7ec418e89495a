"""Defects: exceptions that nobody expected, recorded once, under a reference that a client may see."""

from collections.abc import Iterator
from os import path, urandom

import msgspec

from seamwise.causes import causes, members
from seamwise.errors import TaggedError
from seamwise.messages import shorten
from seamwise.redaction import redact

FRAMES_A_LEVEL = 50
LEVELS = 100

_KEY = '__seamwise_defect__'


class Link(msgspec.Struct, frozen=True):
    """One error or exception of a chain: the name of its class, and its redacted message."""

    type: str
    message: str


class DefectReport(msgspec.Struct, frozen=True):
    """What is recorded of a defect: `ref` is all that a client is shown."""

    ref: str
    pretty: str
    chain: tuple[Link, ...]


def report_defect(defect: BaseException, /) -> DefectReport:
    """Record a defect in the log `seamwise` and give its report; the same exception again gives the same report.

    `ref` is `err_` and eight characters of base32 (RFC 4648, lower case), `pretty` the redacted chain of
    causes with its frames, newest exception first, `chain` the same without frames.

    >>> import logging; logging.getLogger('seamwise').setLevel(logging.CRITICAL)
    >>> defect = ZeroDivisionError('division by zero')
    >>> report = report_defect(defect)
    >>> report.pretty, report.ref == report_defect(defect).ref
    ('ZeroDivisionError: division by zero', True)
    """
    known: DefectReport | None = defect.__dict__.get(_KEY)
    if known is not None:
        return known
    ref = _reference()
    levels = list(_levels(defect))
    pretty = redact('\n'.join(line for level in levels for line in level.lines()))
    report = DefectReport(ref, pretty, tuple(level.link for level in levels))
    # Two threads may bring the same exception at once: one of them records it.
    kept: DefectReport = defect.__dict__.setdefault(_KEY, report)
    if kept is report:
        from logging import getLogger  # noqa: PLC0415 -- the core loads logging only where it writes

        getLogger('seamwise').error('defect %s: %s', ref, pretty, extra={'ref': ref})
    return kept


def _reference() -> str:
    from base64 import b32encode  # noqa: PLC0415 -- a defect is rare, importing the core is not

    return f'err_{b32encode(urandom(5)).decode().lower()}'


class _Level(msgspec.Struct):
    """One error or exception in the tree, how deep it stands and how it came there."""

    error: TaggedError | BaseException
    depth: int
    lead: str

    @property
    def link(self) -> Link:
        return Link(type(self.error).__name__, _message(self.error))

    def lines(self) -> Iterator[str]:
        indent = '  ' * self.depth
        name, message = self.link.type, self.link.message
        yield f'{indent}{self.lead}{name}: {message}' if message else f'{indent}{self.lead}{name}'
        if isinstance(self.error, BaseException):
            for line in [*_frames(self.error), *(f'note: {note}' for note in _notes(self.error))]:
                yield f'{indent}  {line}'


def _levels(defect: BaseException) -> Iterator[_Level]:
    seen: set[int] = set()
    ahead = [_Level(defect, 0, '')]
    while ahead and len(seen) < LEVELS:
        level = ahead.pop()
        if id(level.error) in seen:
            continue
        seen.add(id(level.error))
        yield level
        inside = members(level.error)
        for cause in reversed(causes(level.error)):
            is_member = any(cause is one for one in inside)
            ahead.append(_Level(cause, level.depth + is_member, '- ' if is_member else 'caused by '))


def _message(error: TaggedError | BaseException) -> str:
    try:
        return shorten(redact(str(error)))
    except Exception as unprintable:  # noqa: BLE001 -- a message that cannot be shown must not cost the report
        return f'(its message raised {type(unprintable).__name__})'


def _notes(error: BaseException) -> list[str]:
    return [shorten(str(note)) for note in getattr(error, '__notes__', ())]


def _frames(error: BaseException) -> list[str]:
    from traceback import extract_tb  # noqa: PLC0415 -- the core loads traceback only where it writes

    frames = extract_tb(error.__traceback__)
    kept = [one for one in frames if not _is_plumbing(one.filename)] or list(frames)
    lines = [f'File "{one.filename}", line {one.lineno}, in {one.name}' for one in kept]
    if len(lines) <= FRAMES_A_LEVEL:
        return lines
    half = FRAMES_A_LEVEL // 2
    return [*lines[:half], f'… ({len(lines) - FRAMES_A_LEVEL} more frames)', *lines[-half:]]


_HERE = path.dirname(__file__)
_GUARDS = path.join(_HERE, 'policies')


def _is_plumbing(file: str) -> bool:
    """Whether a frame belongs to the core or the guards of this library, or to the event loop."""
    folder = path.dirname(file)
    return folder in {_HERE, _GUARDS} or folder.endswith(('/asyncio', '/concurrent/futures'))
