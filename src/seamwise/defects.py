"""Defects: exceptions that nobody expected, recorded once, under a reference that a client may see."""

import os
from collections.abc import Iterator
from os import path, urandom
from re import Match
from re import compile as pattern
from types import TracebackType
from typing import TYPE_CHECKING, Any

import msgspec

from seamwise._safe_call import call_or_describe
from seamwise.causes import causes, members
from seamwise.codec import ReportedCause
from seamwise.errors import TaggedError
from seamwise.messages import shorten
from seamwise.redaction import redact

if TYPE_CHECKING:
    from logging import Logger

FRAMES_A_LEVEL = 50
NOTES_A_LEVEL = 20
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


def report_defect(
    defect: BaseException, /, *, log: 'Logger | None' = None, **context: str
) -> DefectReport:
    """Record a defect in `log`, default the logger `seamwise`, and give its report; the same exception again gives the same report.

    `ref` is `err_` and eight characters of base32 (RFC 4648, lower case), `pretty` the redacted chain of
    causes with its frames, newest exception first, `chain` the same without frames. What the caller knows beside,
    as in `request_id='r-1'`, stands at the end of the text, and in the record's attributes.

    >>> import logging; logging.getLogger('seamwise').setLevel(logging.CRITICAL)
    >>> defect = ZeroDivisionError('division by zero')
    >>> report = report_defect(defect)
    >>> report.pretty, report.ref == report_defect(defect).ref
    ('ZeroDivisionError: division by zero', True)
    >>> logging.getLogger('seamwise').setLevel(logging.NOTSET)
    """
    known: DefectReport | None = defect.__dict__.get(_KEY)
    if known is not None:
        return known
    ref = _reference()
    levels, is_whole = _levels(defect)
    lines = [line for level in levels for line in level.lines()]
    if not is_whole:
        lines.append('… (more causes)')
    lines += [f'{name}: {_printable(value)}' for name, value in context.items()]
    pretty = redact('\n'.join(lines))
    report = DefectReport(ref, pretty, tuple(level.link for level in levels))
    # Two threads may bring the same exception at once: one of them records it.
    kept: DefectReport = defect.__dict__.setdefault(_KEY, report)
    if kept is report:
        from logging import getLogger  # noqa: PLC0415 -- the core loads logging only where it writes

        (log or getLogger('seamwise')).error(
            'defect %s: %s', ref, pretty, extra={**context, 'ref': ref}
        )
    return kept


def _reference() -> str:
    from base64 import b32encode  # noqa: PLC0415 -- a defect is rare, importing the core is not

    return f'err_{b32encode(urandom(5)).decode().lower()}'


class _Level:
    """One error or exception in the tree, how deep it stands and how it came there."""

    def __init__(self, error: TaggedError | BaseException, depth: int, lead: str) -> None:
        self.error = error
        self.depth = depth
        self.lead = lead
        self.link = _link(error)

    def lines(self) -> Iterator[str]:
        indent = '  ' * self.depth
        name, message = self.link.type, self.link.message.replace('\n', f'\n{indent}    ')
        yield f'{indent}{self.lead}{name}: {message}' if message else f'{indent}{self.lead}{name}'
        if isinstance(self.error, BaseException):
            for frame in _frames(self.error.__traceback__):
                yield f'{indent}  {frame}'
            for note in _notes(self.error):
                yield f'{indent}  note: ' + note.replace('\n', f'\n{indent}    ')


def _levels(defect: BaseException) -> tuple[list[_Level], bool]:
    """Give the first levels of the tree, each error once, and whether that is all of them."""
    seen: set[int] = set()
    found: list[_Level] = []
    ahead: list[tuple[TaggedError | BaseException, int, str]] = [(defect, 0, '')]
    while ahead:
        error, depth, lead = ahead.pop()
        if id(error) in seen:
            continue
        if len(found) == LEVELS:
            return found, False
        seen.add(id(error))
        found.append(_Level(error, depth, lead))
        inside = set(map(id, members(error)))
        for cause in reversed(causes(error)):
            is_member = id(cause) in inside
            ahead.append((cause, depth + is_member, '- ' if is_member else 'caused by '))
    return found, True


def _link(error: TaggedError | BaseException) -> Link:
    if isinstance(error, ReportedCause):
        return Link(_printable(error.type), _printable(error.message))
    return Link(_printable(type(error).__name__), _said(error, 'message'))


def _said(value: object, what: str) -> str:
    """Give the text of anything: one that cannot be had must not cost the report."""
    return call_or_describe(
        lambda: _printable(str(value)),
        lambda raised: f'(its {what} raised {type(raised).__name__})',
    )


_UNPRINTED = pattern('[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]')


def _printable(text: str) -> str:
    """Make a text fit for a log: redacted before it is cut, and nothing in it that moves a cursor or that UTF-8 cannot say."""
    return shorten(_UNPRINTED.sub(_escaped, redact(text)))


def _escaped(found: Match[str]) -> str:
    return found[0].encode('unicode_escape').decode()


def _notes(error: BaseException) -> list[str]:
    given: Any = call_or_describe(
        lambda: getattr(error, '__notes__', ()),
        lambda raised: f'(its notes raised {type(raised).__name__})',
    )
    # Python asks for a list of texts; nobody holds anybody to it.
    notes: list[object] = list(given) if isinstance(given, (list, tuple)) else [given]  # pyright: ignore[reportUnknownArgumentType]
    told = [_said(note, 'text') for note in notes[:NOTES_A_LEVEL]]
    return (
        told
        if len(notes) <= NOTES_A_LEVEL
        else [*told, f'… ({len(notes) - NOTES_A_LEVEL} more notes)']
    )


def _frames(step: TracebackType | None) -> list[str]:
    """Give the frames, outermost first, never a line of source: what stands in one may be a secret."""
    frames: list[tuple[str, str]] = []
    while step is not None:
        code = step.tb_frame.f_code
        frames.append(
            (
                code.co_filename,
                f'File "{code.co_filename}", line {step.tb_lineno}, in {code.co_name}',
            )
        )
        step = step.tb_next
    lines = [line for file, line in frames if not _is_plumbing(file)] or [
        line for _, line in frames
    ]
    half = FRAMES_A_LEVEL // 2
    cut = (
        [*lines[:half], f'… ({len(lines) - FRAMES_A_LEVEL} more frames)', *lines[-half:]]
        if len(lines) > FRAMES_A_LEVEL
        else lines
    )
    return [_printable(line) for line in cut]


_HERE = path.dirname(__file__)
_STANDARD = path.dirname(os.__file__)
_FOLDERS = {
    _HERE,
    path.join(_HERE, 'policies'),
    path.join(_STANDARD, 'asyncio'),
    path.join(_STANDARD, 'concurrent', 'futures'),
}
_LOOPS = pattern(r'(?:[/\\](?:site|dist)-packages[/\\]|^)(?:uvloop|anyio|trio|outcome)[/\\]')


def _is_plumbing(file: str) -> bool:
    """Whether a frame belongs to the core or the guards of this library, or to an event loop; uvloop's own are relative to its build."""
    folder = path.dirname(file)
    return folder in _FOLDERS or _LOOPS.search(file) is not None
