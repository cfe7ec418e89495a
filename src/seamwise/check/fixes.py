"""`--fix`: what is safe to mend is mended, piece by piece, and everything else in the file stays as it is."""

import ast
import io
import os
import tempfile
import tokenize
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from mypy.util import decode_python_encoding

from seamwise.check.facts import TextEdit
from seamwise.check.findings import Finding


def apply_fixes(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Write the edits of findings into their files, and give the findings that are mended so.

    An edit of a place that has changed since it was read, or that overlaps another one, is left for the next time. A file that
    would not parse afterwards stays as it is. OSError where a file cannot be written.
    """
    by_path: dict[str, list[Finding]] = {}
    for one in findings:
        if one.edits:
            by_path.setdefault(one.path, []).append(one)
    return tuple(one for path, found in by_path.items() for one in _mended(Path(path), found))


def _mended(path: Path, findings: Sequence[Finding]) -> list[Finding]:
    raw = path.read_bytes()
    text = _decoded(raw)
    # As it was read, a line ends in any of the three ways; here each keeps its own.
    starts = _starts(text)
    done: list[Finding] = []
    taken: dict[tuple[int, int], str] = {}
    for finding in findings:
        spans = _spans(finding.edits, starts, text)
        if spans is None or any(
            _overlap(one, other)
            for one in spans
            for other in taken
            if spans.get(other) != taken[other]
        ):
            continue
        taken.update(spans)
        done.append(finding)
    for (begin, end), new in sorted(taken.items(), reverse=True):
        text = text[:begin] + new + text[end:]
    if not done or not _parses(text):
        return []
    _replaced(path, _encoded(text, raw))
    return done


def _spans(
    edits: Iterable[TextEdit], starts: Sequence[int], text: str
) -> Mapping[tuple[int, int], str] | None:
    """Give the places of edits, counted from the start of the file; None where something else stands there now."""
    found: dict[tuple[int, int], str] = {}
    for one in edits:
        if one.last_line > len(starts):
            return None
        begin, end = starts[one.line - 1] + one.column, starts[one.last_line - 1] + one.end_column
        if text[begin:end].replace('\r\n', '\n').replace('\r', '\n') != one.old:
            return None
        found[begin, end] = one.new
    return found


def _overlap(one: tuple[int, int], other: tuple[int, int]) -> bool:
    return (one[0] < other[1] and other[0] < one[1]) or one == other


def _starts(text: str) -> list[int]:
    starts = [0]
    for place, character in enumerate(text):
        if character == '\n' or (character == '\r' and text[place + 1 : place + 2] != '\n'):
            starts.append(place + 1)
    return starts


def _decoded(raw: bytes) -> str:
    return decode_python_encoding(raw)


def _encoded(text: str, raw: bytes) -> bytes:
    """Encode as the file was: with its mark of byte order, and in its own encoding."""
    mark = b'\xef\xbb\xbf' if raw.startswith(b'\xef\xbb\xbf') else b''
    return mark + text.encode(_encoding(raw))


def _encoding(raw: bytes) -> str:
    name, _ = tokenize.detect_encoding(io.BytesIO(raw).readline)
    return 'utf-8' if name == 'utf-8-sig' else name


def _parses(text: str) -> bool:
    try:
        ast.parse(text)
    except (SyntaxError, ValueError):
        return False
    return True


def _replaced(path: Path, content: bytes) -> None:
    """Write beside the file and put it in its place at once, so that a process that is killed leaves the old one or the new one."""
    handle, beside = tempfile.mkstemp(dir=path.parent, prefix=f'.{path.name}.')
    try:
        with os.fdopen(handle, 'wb') as stream:
            stream.write(content)
        Path(beside).chmod(path.stat().st_mode)
        Path(beside).replace(path.resolve())
    except BaseException:
        Path(beside).unlink(missing_ok=True)
        raise
