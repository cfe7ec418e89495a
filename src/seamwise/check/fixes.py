"""Automatic fixes (`--fix`): the edits of findings, applied to otherwise unchanged files.

A fix that adds a type error is taken back. mypy sees this after the next check only, so that fixes
are applied in batches; a batch with a bad fix is halved until that one is found.
"""

import ast
import codecs
import io
import os
import tempfile
import tokenize
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import TypeAlias

from msgspec import Struct

from seamwise.check._mypy.sources import decode_source
from seamwise.check.checking import Report
from seamwise.check.facts import TextEdit
from seamwise.check.findings import Finding
from seamwise.check.rules.unused_suppression import CODE as UNUSED_SUPPRESSION

_IMPOSSIBLE_ERROR = 'SW105'

_Identity: TypeAlias = tuple[str, str, str, str]
"""Code, path, message and source line of a finding, which do not depend on other lines."""

_Span: TypeAlias = tuple[int, int]
"""Offsets of the first character and of the one after the last."""


def apply_fixes(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Write the edits of findings into their files, and return the fixed findings.

    An edit is skipped if the text at its position has changed, or if it overlaps another one. A
    file is left unchanged if it would no longer parse.

    Raises:
        OSError: A file cannot be read or written.
    """
    by_path: dict[str, list[Finding]] = {}
    for finding in findings:
        if finding.edits:
            by_path.setdefault(finding.path, []).append(finding)
    return tuple(
        fixed for path, fixable in by_path.items() for fixed in _fix_file(Path(path), fixable)
    )


class FixSummary(Struct, frozen=True):
    """Result of all fixes."""

    report: Report
    """The remaining findings."""
    fixed: int
    paths: frozenset[str]
    rejected: tuple[Finding, ...]
    """Findings whose fixes were taken back, because mypy reported an error."""


def fix_all(run: Callable[[], Report]) -> FixSummary:
    """Apply fixes until none is left: a narrower channel can allow a fix in its caller.

    Args:
        run: Checks the code, also after each batch of fixes.

    Raises:
        OSError: A file cannot be read or written.
    """
    report = run()
    rejected: dict[_Identity, Finding] = {}
    fixed, paths = 0, set[str]()
    batches: list[Sequence[Finding]] = []
    while True:
        if not batches:
            batches = [_next_batch(report, rejected.keys())]
        # The lines of findings from an earlier report may have moved.
        wanted = {_identity(item) for item in batches.pop()}
        batch = [item for item in report.findings if item.edits and _identity(item) in wanted]
        contents = {item.path: Path(item.path).read_bytes() for item in batch}
        applied = apply_fixes(batch)
        if not applied and not batches:
            return FixSummary(report, fixed, frozenset(paths), tuple(rejected.values()))
        if not applied:
            continue
        after = run()
        if not _has_new_errors(report, after):
            report, fixed = after, fixed + len(applied)
            paths |= {item.path for item in applied}
            continue
        for path in {item.path for item in applied}:
            _replace_file(Path(path), contents[path])
        if len(applied) == 1:
            rejected[_identity(applied[0])] = applied[0]
            continue
        middle = len(applied) // 2
        batches += [applied[middle:], applied[:middle]]


def _next_batch(report: Report, rejected: AbstractSet[_Identity]) -> list[Finding]:
    """Return the findings to fix next. Channels come last: other fixes propagate more errors."""
    items = [item for item in report.findings if item.edits and _identity(item) not in rejected]
    return [item for item in items if item.code != _IMPOSSIBLE_ERROR] or items


def _identity(finding: Finding) -> _Identity:
    return finding.code, finding.path, finding.message, finding.source


def _has_new_errors(before: Report, after: Report) -> bool:
    """Return whether mypy reports more errors of a kind in a file, or cannot read a file."""
    counts = {(path, code): count for path, code, count in before.type_errors}
    return (before.is_complete and not after.is_complete) or any(
        count > counts.get((path, code), 0) for path, code, count in after.type_errors
    )


def _fix_file(path: Path, findings: Sequence[Finding]) -> list[Finding]:
    content = path.read_bytes()
    text = decode_source(content)
    line_offsets = _line_offsets(text)
    fixed: list[Finding] = []
    replacements: dict[_Span, str] = {}
    for finding in findings:
        new = _replacements(finding.edits, line_offsets, text)
        if finding.code != UNUSED_SUPPRESSION and any(map(_loses_comment, finding.edits)):
            continue
        if new is not None and not _conflicts(new, replacements):
            replacements.update(new)
            fixed.append(finding)
    for (start, end), replacement in sorted(replacements.items(), reverse=True):
        text = text[:start] + replacement + text[end:]
    if not fixed or not _is_valid(text):
        return []
    _replace_file(path, _encode_like(content, text))
    return fixed


def _replacements(
    edits: Iterable[TextEdit], line_offsets: Sequence[int], text: str
) -> Mapping[_Span, str] | None:
    """Return the new texts by span; None if the text at one of them has changed."""
    replacements: dict[_Span, str] = {}
    for edit in edits:
        if edit.last_line > len(line_offsets):
            return None
        start = line_offsets[edit.line - 1] + edit.column
        end = line_offsets[edit.last_line - 1] + edit.end_column
        # Edits have '\n' at the end of each line; the file may have other line ends.
        if text[start:end].replace('\r\n', '\n').replace('\r', '\n') != edit.old:
            return None
        replacements[start, end] = edit.new
    return replacements


def _loses_comment(edit: TextEdit) -> bool:
    """Return whether an edit replaces a comment that its new text does not have."""
    if '#' not in edit.old:
        return False
    try:
        # Parentheses, because the text may be a part of an expression on several lines.
        tokens = list(tokenize.generate_tokens(io.StringIO(f'(\n{edit.old}\n)\n').readline))
    except (tokenize.TokenError, SyntaxError):
        return True
    comments = [token.string for token in tokens if token.type == tokenize.COMMENT]
    return any(comment not in edit.new for comment in comments)


def _conflicts(new: Mapping[_Span, str], replacements: Mapping[_Span, str]) -> bool:
    """Return whether spans overlap; two findings may share an identical edit, such as an import."""
    return any(
        _overlap(span, other)
        for span in new
        for other, replacement in replacements.items()
        if new.get(other) != replacement
    )


def _overlap(first: _Span, second: _Span) -> bool:
    return (first[0] < second[1] and second[0] < first[1]) or first == second


def _line_offsets(text: str) -> list[int]:
    r"""Return the offset of each line; lines end with '\n', '\r' or '\r\n'."""
    offsets = [0]
    for index, character in enumerate(text):
        if character == '\n' or (character == '\r' and text[index + 1 : index + 2] != '\n'):
            offsets.append(index + 1)
    return offsets


def _encode_like(content: bytes, text: str) -> bytes:
    """Encode text in the encoding of the old content, with its byte order mark if it had one."""
    encoding, _ = tokenize.detect_encoding(io.BytesIO(content).readline)
    mark = codecs.BOM_UTF8 if content.startswith(codecs.BOM_UTF8) else b''
    return mark + text.encode('utf-8' if encoding == 'utf-8-sig' else encoding)


def _is_valid(text: str) -> bool:
    try:
        ast.parse(text)
    except (SyntaxError, ValueError):
        return False
    return True


def _replace_file(path: Path, content: bytes) -> None:
    """Replace a file atomically, so that a killed process leaves the old or the new content."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f'.{path.name}.')
    try:
        with os.fdopen(handle, 'wb') as stream:
            stream.write(content)
        Path(temporary).chmod(path.stat().st_mode)
        Path(temporary).replace(path.resolve())
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
