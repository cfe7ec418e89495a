"""Findings as diagnostics and quick fixes of the Language Server Protocol."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from lsprotocol import types
from pygls.workspace import PositionCodec

from seamwise.check._mypy.sources import SourceProblem
from seamwise.check.facts import Severity, TextEdit
from seamwise.check.findings import Finding, page_url
from seamwise.check.rules.registry import RULES
from seamwise.check.rules.unused_suppression import CODE as UNUSED_SUPPRESSION
from seamwise.check.suppressions import comment_line

_SEVERITIES: Mapping[Severity, types.DiagnosticSeverity] = {
    'error': types.DiagnosticSeverity.Error,
    'warning': types.DiagnosticSeverity.Warning,
    'hint': types.DiagnosticSeverity.Hint,
}
_SOURCE = 'seamwise'


class Converter:
    """Conversion for one file.

    Args:
        lines: Lines of the file, as they were checked.
        codec: The unit of columns that the client has chosen.
    """

    def __init__(self, lines: Sequence[str], codec: PositionCodec) -> None:
        self._lines = lines
        self._codec = codec

    def diagnostic(self, finding: Finding) -> types.Diagnostic:
        """Return the diagnostic of a finding."""
        is_one_line = finding.last_line == finding.line
        last = finding.last_line - 1
        page = page_url(finding.code)
        end = finding.end_column - 1 if is_one_line else len(self._line(last).rstrip())
        return types.Diagnostic(
            range=self._range(finding.line - 1, finding.column - 1, last, end),
            message=f'{finding.message}\n{finding.help}',
            severity=_SEVERITIES[finding.severity],
            code=finding.code,
            code_description=types.CodeDescription(page) if page else None,
            source=_SOURCE,
            tags=[types.DiagnosticTag.Unnecessary] if finding.code == UNUSED_SUPPRESSION else None,
        )

    def problem(self, problem: SourceProblem) -> types.Diagnostic:
        """Return the diagnostic of a file that could not be analysed, or only in part."""
        line = max(problem.line - 1, 0)
        is_error = problem.is_unread
        return types.Diagnostic(
            range=self._range(line, 0, line, len(self._line(line).rstrip())),
            message=problem.message,
            severity=_SEVERITIES['error' if is_error else 'warning'],
            source=_SOURCE,
        )

    def actions(
        self, finding: Finding, uri: str, diagnostic: types.Diagnostic
    ) -> Iterator[types.CodeAction]:
        """Yield the quick fixes of a finding; the first is the one of `--fix`, if there is one."""
        fix = (f'Fix {finding.code}: {RULES[finding.code].title}', finding.edits)
        for title, edits in [fix, *((fix.title, fix.edits) for fix in finding.quick_fixes)]:
            if edits and all(map(self._applies, edits)):
                # An editor can apply a preferred fix without a question.
                is_preferred = edits is finding.edits
                yield _action(
                    title, self._text_edits(edits), uri, diagnostic, is_preferred=is_preferred
                )
        suppression = self._suppression(finding)
        if suppression is not None:
            title = f'Suppress {finding.code} here'
            yield _action(title, [suppression], uri, diagnostic, is_preferred=False)

    def _suppression(self, finding: Finding) -> types.TextEdit | None:
        """Return the edit that adds a suppression; None if the line of the finding has changed."""
        if finding.code == UNUSED_SUPPRESSION or self._line(finding.line - 1) != finding.source:
            return None
        target = comment_line(self._lines, finding.line)
        if target is None:
            return None
        line = self._line(target - 1)
        indent = line[: len(line) - len(line.lstrip())]
        comment = f'{indent}# seamwise: allow[{finding.code}] TODO: give the reason\n'
        position = types.Position(target - 1, 0)
        return types.TextEdit(types.Range(position, position), comment)

    def _text_edits(self, edits: Iterable[TextEdit]) -> list[types.TextEdit]:
        return [
            types.TextEdit(
                self._range(edit.line - 1, edit.column, edit.last_line - 1, edit.end_column),
                edit.new,
            )
            for edit in edits
        ]

    def _applies(self, edit: TextEdit) -> bool:
        """Return whether the file still has the text that an edit replaces."""
        lines = self._lines[edit.line - 1 : edit.last_line]
        if len(lines) < edit.last_line - edit.line + 1:
            # Behind the last line there is nothing.
            return edit.end_column == 0 and len(lines) == edit.last_line - edit.line
        if len(lines) == 1:
            return lines[0][edit.column : edit.end_column] == edit.old
        text = [lines[0][edit.column :], *lines[1:-1], lines[-1][: edit.end_column]]
        return '\n'.join(text) == edit.old

    def _line(self, index: int) -> str:
        return self._lines[index] if index < len(self._lines) else ''

    def _range(self, line: int, column: int, last_line: int, end_column: int) -> types.Range:
        return types.Range(self._position(line, column), self._position(last_line, end_column))

    def _position(self, line: int, column: int) -> types.Position:
        units: int = self._codec.client_num_units(self._line(line)[:column])
        return types.Position(line, units)


def _action(
    title: str,
    edits: list[types.TextEdit],
    uri: str,
    diagnostic: types.Diagnostic,
    *,
    is_preferred: bool,
) -> types.CodeAction:
    return types.CodeAction(
        title=title,
        kind=types.CodeActionKind.QuickFix,
        diagnostics=[diagnostic],
        edit=types.WorkspaceEdit(changes={uri: edits}),
        is_preferred=is_preferred,
    )
