"""Reports of defects (unexpected exceptions), logged once under a reference for the client."""

import os
from collections.abc import Callable, Iterator, Mapping
from inspect import iscoroutinefunction, signature
from os import path, urandom
from re import Match
from re import compile as pattern
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final

from seamwise._defects.entries import DEFECT_KEY, DefectReport, Entry, Link, attributes_of, entry_of
from seamwise._errors.causes import causes, members
from seamwise._errors.errors import TaggedError
from seamwise._errors.reported import ReportedCause
from seamwise._text.safe_call import call_or_describe
from seamwise._text.shortening import shorten
from seamwise.redaction import redact, redact_named
from seamwise.redaction.settings import masking

if TYPE_CHECKING:
    from logging import Logger

MAX_FRAMES = 50
MAX_NOTES = 20
MAX_LEVELS = 100


def report_defect(
    defect: BaseException, /, *, log: 'Logger | None' = None, **context: str
) -> DefectReport:
    """Log a defect and return its report. The same exception is logged once and keeps its report.

    The log record has the attributes `ref`, `error_type`, `context` and `exc_info`. Secrets are
    redacted everywhere: if the exception may contain any, `exc_info` has a copy of it. If a log
    handler raises an exception, it propagates, and the next call logs the defect again.

    Args:
        defect: The unexpected exception.
        log: Logger, by default `seamwise`.
        context: Facts such as `request_id='r-1'`, appended to the text and added to the record.

    Returns:
        `ref` is `err_` and eight characters of base32 (RFC 4648, lower case). `pretty` is the
        redacted chain of causes with frames, the newest exception first. `chain` has no frames.

    >>> import logging; logging.getLogger('seamwise').setLevel(logging.CRITICAL)
    >>> defect = ZeroDivisionError('division by zero')
    >>> report = report_defect(defect)
    >>> report.pretty, report.ref == report_defect(defect).ref
    ('ZeroDivisionError: division by zero', True)
    >>> logging.getLogger('seamwise').setLevel(logging.NOTSET)
    """
    if not isinstance(defect, BaseException):
        raise TypeError(
            f'report_defect takes an exception, not {type(defect).__name__}; '
            'an error of a Failure is expected, and is shown at a seam.'
        )
    # The frame of the caller is in the log record.
    report, is_new = _report(defect, log, context, stack_level=3)
    for callback in [*_callbacks.values()] if is_new else []:
        try:
            callback(report, defect)
        # seamwise: allow[SW103] it is reported, and the other callbacks still run
        except Exception as error:  # noqa: BLE001
            # Without callbacks, because this one would fail again.
            _report(error, log, {'callback': _safe_repr(callback)}, stack_level=3)
    return report


def on_defect(callback: Callable[[DefectReport, BaseException], object], /) -> Callable[[], None]:
    """Call a function with each new defect, after it was logged; return a function that removes it.

    It receives the report and the original exception, which may contain secrets. If it raises an
    exception, that is logged as a defect, and the other callbacks still run.

    >>> import logging; logging.getLogger('seamwise').setLevel(logging.CRITICAL)
    >>> refs = []
    >>> remove = on_defect(lambda report, exception: refs.append(report.ref))
    >>> report_defect(ValueError('bad')).ref in refs
    True
    >>> remove()
    >>> logging.getLogger('seamwise').setLevel(logging.NOTSET)
    """
    if not _takes_two(callback):
        raise TypeError(
            'on_defect takes a function of a report and an exception (no coroutine function), '
            f'not {callback!r}.'
        )
    token = object()
    _callbacks[token] = callback

    def remove() -> None:
        _callbacks.pop(token, None)

    return remove


def _takes_two(callback: Any) -> bool:
    if not callable(callback) or iscoroutinefunction(callback):
        return False
    try:
        signature(callback).bind(None, None)
    except TypeError:
        return False
    # A function in C may have no signature.
    except ValueError:
        return True
    return True


_callbacks: dict[object, Callable[[DefectReport, BaseException], object]] = {}


def _report(
    defect: BaseException, log: 'Logger | None', context: Mapping[str, object], stack_level: int
) -> tuple[DefectReport, bool]:
    """Return the report of a defect and whether this call has logged it."""
    texts = {name: _context_text(name, value) for name, value in context.items()}
    entry = entry_of(defect)
    if entry is None:
        # If two threads report the same exception concurrently, one of them logs it.
        new_entry = Entry(_new_report(defect, texts), texts, [None])
        attributes_of(defect).setdefault(DEFECT_KEY, new_entry)
        entry = entry_of(defect) or new_entry
    if not entry.claim():
        return entry.report, False
    try:
        _log(defect, entry, log, texts, stack_level + 1)
    except BaseException:
        entry.release()
        raise
    return entry.report, True


def _new_report(defect: BaseException, context: Mapping[str, str]) -> DefectReport:
    from seamwise._defects.quoted_secrets import quoted_secrets  # noqa: PLC0415 -- defects are rare

    with masking(quoted_secrets(defect)):
        levels, is_complete = _levels(defect)
        lines = [line for level in levels for line in level.lines()]
        if not is_complete:
            lines.append('… (more causes)')
        lines += [f'{name}: {value}' for name, value in context.items()]
        return DefectReport(
            _reference(), redact('\n'.join(lines)), tuple(level.link for level in levels)
        )


def _log(
    defect: BaseException,
    entry: Entry,
    log: 'Logger | None',
    context: Mapping[str, str],
    stack_level: int,
) -> None:
    from logging import ERROR, getLogger  # noqa: PLC0415 -- loaded only when a record is written

    from seamwise._defects.redacted_exceptions import without_secrets  # noqa: PLC0415 -- as above
    from seamwise._defects.sentry import register  # noqa: PLC0415 -- as above

    register()
    logger = log or getLogger('seamwise')
    if not logger.isEnabledFor(ERROR):
        return
    exception = without_secrets(defect)
    # A copy is the same defect.
    attributes_of(exception)[DEFECT_KEY] = entry
    report = entry.report
    file, line, function, _ = logger.findCaller(stacklevel=stack_level)
    link = report.chain[0]
    head = f'{link.type}: {link.message}' if link.message else link.type
    record = logger.makeRecord(
        logger.name,
        ERROR,
        file,
        line,
        'defect %s: %s',
        (report.ref, head.partition('\n')[0]),
        (type(defect), exception, exception.__traceback__),
        function,
        {'ref': report.ref, 'error_type': link.type, 'context': dict(context)},
    )
    # Formatters print this text instead of a traceback with source lines.
    record.exc_text = report.pretty
    logger.handle(record)


def _context_text(name: str, value: object) -> str:
    return str(redact_named(name, _safe_text(value, 'text')))


def _safe_repr(value: object) -> str:
    return call_or_describe(lambda: repr(value), lambda _: type(value).__name__)


def _reference() -> str:
    from base64 import b32encode  # noqa: PLC0415 -- keeps the import of the core fast; defects are rare

    return f'err_{b32encode(urandom(5)).decode().lower()}'


class _Level:
    """One error or exception in the tree of causes, with its depth and its prefix in the text."""

    def __init__(self, error: TaggedError | BaseException, depth: int, prefix: str) -> None:
        self.error = error
        self.depth = depth
        self.prefix = prefix
        self.link = _link(error)

    def lines(self) -> Iterator[str]:
        indent = '  ' * self.depth
        name, message = self.link.type, self.link.message.replace('\n', f'\n{indent}    ')
        head = f'{indent}{self.prefix}{name}'
        yield f'{head}: {message}' if message else head
        if isinstance(self.error, BaseException):
            for frame in _frames(self.error.__traceback__):
                yield f'{indent}  {frame}'
            for note in _notes(self.error):
                yield f'{indent}  note: ' + note.replace('\n', f'\n{indent}    ')


def _levels(defect: BaseException) -> tuple[list[_Level], bool]:
    """Return the first levels of the tree of causes, each error once, and whether these are all."""
    visited: set[int] = set()
    levels: list[_Level] = []
    stack: list[tuple[TaggedError | BaseException, int, str]] = [(defect, 0, '')]
    while stack:
        error, depth, prefix = stack.pop()
        if id(error) in visited:
            continue
        if len(levels) == MAX_LEVELS:
            return levels, False
        visited.add(id(error))
        levels.append(_Level(error, depth, prefix))
        member_ids = set(map(id, members(error)))
        for cause in reversed(causes(error)):
            is_member = id(cause) in member_ids
            stack.append((cause, depth + is_member, '- ' if is_member else 'caused by '))
    return levels, True


def _link(error: TaggedError | BaseException) -> Link:
    if isinstance(error, ReportedCause):
        return Link(_printable(error.type), _printable(error.message))
    return Link(_printable(type(error).__name__), _safe_text(error, 'message'))


def _safe_text(value: object, name: str) -> str:
    """Return the text of a value, or a note if its `str` raises; the note contains `name`."""
    return call_or_describe(
        lambda: _printable(str(value)),
        lambda error: f'(its {name} raised {type(error).__name__})',
    )


_UNPRINTABLE = pattern('[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]')


def _printable(text: str) -> str:
    """Redact, escape and cut a text for a log; the result can be encoded in UTF-8."""
    # Redact before the cut: half a credential no longer looks like one.
    return shorten(_UNPRINTABLE.sub(_escaped, redact(text)))


def _escaped(match: Match[str]) -> str:
    return match[0].encode('unicode_escape').decode()


def _notes(error: BaseException) -> list[str]:
    value: Any = call_or_describe(
        lambda: getattr(error, '__notes__', ()),
        lambda raised: f'(its notes raised {type(raised).__name__})',
    )
    # `__notes__` should be a list of texts, but Python does not enforce that.
    notes: list[object] = list(value) if isinstance(value, (list, tuple)) else [value]  # pyright: ignore[reportUnknownArgumentType]
    lines = [_safe_text(note, 'text') for note in notes[:MAX_NOTES]]
    if len(notes) <= MAX_NOTES:
        return lines
    return [*lines, f'… ({_count(len(notes) - MAX_NOTES, "note")})']


def _frames(traceback: TracebackType | None) -> list[str]:
    """Return the frames, outermost first; without source lines, which can contain secrets."""
    frames: list[tuple[str, str]] = []
    while traceback is not None:
        code = traceback.tb_frame.f_code
        line = f'File "{code.co_filename}", line {traceback.tb_lineno}, in {code.co_name}'
        frames.append((code.co_filename, line))
        traceback = traceback.tb_next
    lines = [line for file, line in frames if not _is_plumbing(file)] or [
        line for _, line in frames
    ]
    half = MAX_FRAMES // 2
    if len(lines) > MAX_FRAMES:
        omitted = f'… ({_count(len(lines) - MAX_FRAMES, "frame")})'
        lines = [*lines[:half], omitted, *lines[-half:]]
    return [_printable(line) for line in lines]


def _count(number: int, noun: str) -> str:
    return f'{number} more {noun}' if number == 1 else f'{number} more {noun}s'


PLUMBING: Final = (
    '_defects', '_errors', '_results', '_runtime', '_text', 'policies', 'redaction', 'seams',
)  # fmt: skip
"""Packages whose frames say nothing about a defect. Those of the tool host and commands do."""

_PACKAGE = path.dirname(path.dirname(__file__))
_STANDARD_LIBRARY = path.dirname(os.__file__)
_PLUMBING_FOLDERS = tuple(
    folder + path.sep
    for folder in (
        *(path.join(_PACKAGE, name) for name in PLUMBING),
        path.join(_STANDARD_LIBRARY, 'asyncio'),
        path.join(_STANDARD_LIBRARY, 'concurrent', 'futures'),
    )
)
# The paths in uvloop are relative to the folder in which it was built.
_FRAMEWORKS = pattern(
    r'(?:[/\\](?:site|dist)-packages[/\\]|^)'
    r'(?:uvloop|anyio|trio|outcome|starlette|fastapi|uvicorn|sentry_sdk|click|typer)[/\\]'
)


def _is_plumbing(file: str) -> bool:
    """Return whether a file belongs to this library, an event loop or a framework."""
    return file.startswith(_PLUMBING_FOLDERS) or _FRAMEWORKS.search(file) is not None
