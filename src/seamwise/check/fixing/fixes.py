"""Automatic fixes (`--fix`): the edits of findings, applied to otherwise unchanged files."""

import ast
import codecs
import io
import os
import re
import tempfile
import tokenize
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from seamwise.check._mypy.sources import decode_source
from seamwise.check.facts import TextEdit
from seamwise.check.findings import Finding
from seamwise.check.rules.unused_suppression import CODE as UNUSED_SUPPRESSION

_LINE_END = re.compile(r'\r\n|\r|\n')

_Span: TypeAlias = tuple[int, int]
"""Offsets of the first character and of the one after the last."""


def apply_fixes(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Write the edits of findings into their files, and return the fixed findings.

    A finding is skipped if its edits change nothing, if the text at their position has changed, or
    if they overlap those of another finding. A file is left unchanged if it would no longer parse.

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


def _fix_file(path: Path, findings: Sequence[Finding]) -> list[Finding]:
    content = path.read_bytes()
    text = decode_source(content)
    line_offsets = _line_offsets(text)
    line_end = _line_end(text)
    fixed: list[Finding] = []
    replacements: dict[_Span, str] = {}
    for finding in findings:
        new = _replacements(finding.edits, line_offsets, text, line_end)
        if finding.code != UNUSED_SUPPRESSION and any(map(_loses_comment, finding.edits)):
            continue
        if new is not None and not _conflicts(new, replacements):
            replacements.update(new)
            fixed.append(finding)
    for (start, end), replacement in sorted(replacements.items(), reverse=True):
        text = text[:start] + replacement + text[end:]
    if not fixed or not _is_valid(text):
        return []
    replace_file(path, _encode_like(content, text))
    return fixed


def _replacements(
    edits: Iterable[TextEdit], line_offsets: Sequence[int], text: str, line_end: str
) -> Mapping[_Span, str] | None:
    """Return the new texts by span; None if there are none, or an old text has changed."""
    replacements: dict[_Span, str] = {}
    for edit in edits:
        if edit.last_line > len(line_offsets):
            return None
        start = line_offsets[edit.line - 1] + edit.column
        end = line_offsets[edit.last_line - 1] + edit.end_column
        # Edits have '\n' at the end of each line; the file may have other line ends.
        if text[start:end].replace('\r\n', '\n').replace('\r', '\n') != edit.old:
            return None
        if edit.new != edit.old:
            replacements[start, end] = edit.new.replace('\n', line_end)
    return replacements or None


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
    return [0, *(match.end() for match in _LINE_END.finditer(text))]


def _line_end(text: str) -> str:
    """Return the end of the first line."""
    match = _LINE_END.search(text)
    return '\n' if match is None else match[0]


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


def replace_file(path: Path, content: bytes) -> None:
    """Replace a file atomically, so that a killed process leaves the old or the new content.

    Raises:
        OSError: The file cannot be written; `filename` is its path.
    """
    try:
        _replace(path.resolve(), content)
    except OSError as error:
        # Not the name of the temporary file.
        raise OSError(error.errno, error.strerror, str(path)) from error


def _replace(path: Path, content: bytes) -> None:
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f'.{path.name}.')
    try:
        with os.fdopen(handle, 'wb') as stream:
            stream.write(content)
        Path(temporary).chmod(path.stat().st_mode)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
