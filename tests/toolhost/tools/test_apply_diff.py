"""`apply_diff`: all hunks, or none and every one that does not fit."""

import stat
from pathlib import Path

import pytest

from seamwise.catalog.tools import (
    DiffRejected,
    FileNotFound,
    InvalidParameter,
    PathForbidden,
    RejectedHunk,
)
from seamwise.toolhost.tools.apply_diff import Applied, ApplyDiff, apply_diff
from seamwise.toolhost.workspace.workspace import Workspace
from tests.toolhost.helpers import error_of, tree, value_of

TEN = ''.join(f'line {number}\n' for number in range(1, 11))
DIFF = '@@ -2,3 +2,3 @@\n line 2\n-line 3\n+LINE 3\n line 4\n@@ -9,2 +9,3 @@\n line 9\n+between\n line 10\n'


def test_all_hunks_are_applied(folder: Path, workspace: Workspace) -> None:
    (folder / 'a').write_text(TEN)
    (folder / 'a').chmod(0o710)
    assert value_of(apply_diff(workspace, ApplyDiff(path='a', diff=DIFF))) == Applied('a', 2, 2, 1)
    assert (folder / 'a').read_text() == TEN.replace('line 3', 'LINE 3').replace(
        'line 10', 'between\nline 10'
    )
    assert stat.S_IMODE((folder / 'a').stat().st_mode) == 0o710


@pytest.mark.parametrize(
    'names',
    ['', '--- a/a\n+++ b/a\n', '--- a/other\n+++ ../../etc/passwd\n', '--- /dev/null\n+++ b/a\n'],
)
def test_the_names_in_it_are_not_believed(folder: Path, workspace: Workspace, names: str) -> None:
    (folder / 'a').write_text(TEN)
    (folder / 'other').write_text(TEN)
    value_of(apply_diff(workspace, ApplyDiff(path='a', diff=names + DIFF)))
    assert 'LINE 3' in (folder / 'a').read_text()
    assert (folder / 'other').read_text() == TEN


@pytest.mark.parametrize(
    ('content', 'diff', 'expected'),
    [
        ('one\r\ntwo\r\n', '@@ -1,2 +1,3 @@\n one\n-two\n+2\n+3\n', 'one\r\n2\r\n3\r\n'),
        ('one\ntwo\n', '@@ -1,2 +1,2 @@\r\n one\r\n-two\r\n+2\r\n', 'one\n2\n'),
        ('one\ntwo', '@@ -1,2 +1,2 @@\n one\n-two\n+2\n', 'one\n2'),
        ('one\ntwo', '@@ -1,2 +1,2 @@\n one\n-two\n\\ No newline at end of file\n+2\n', 'one\n2\n'),
        ('one\ntwo\n', '@@ -1,2 +1,2 @@\n one\n-two\n+2\n\\ No newline at end of file\n', 'one\n2'),
        ('one\ntwo', '@@ -1,2 +1,2 @@\n-one\n+1\n two\n\\ No newline at end of file\n', '1\ntwo'),
        ('', '@@ -0,0 +1,2 @@\n+one\n+two\n', 'one\ntwo\n'),
        ('one\n', '@@ -1 +0,0 @@\n-one\n', ''),
    ],
)
def test_line_ends_and_the_last_newline_stay_unless_the_diff_says_so(
    folder: Path, workspace: Workspace, content: str, diff: str, expected: str
) -> None:
    (folder / 'a').write_bytes(content.encode())
    value_of(apply_diff(workspace, ApplyDiff(path='a', diff=diff)))
    assert (folder / 'a').read_bytes().decode() == expected


def test_one_rejected_hunk_and_nothing_is_written(folder: Path, workspace: Workspace) -> None:
    content = 'head\nalpha\nmid\nalpha\ntail\n'
    (folder / 'a').write_text(content)
    diff = '@@ -1 +1 @@\n-head\n+HEAD\n@@ -3,1 +3,1 @@ def f():\n-gone\n+x\n@@ -9 +9 @@\n-alpha\n+beta\n'
    assert error_of(
        apply_diff(workspace, ApplyDiff(path='./a', diff=diff)), DiffRejected
    ) == DiffRejected(
        'apply_diff',
        './a',
        (
            RejectedHunk(2, '@@ -3,1 +3,1 @@', 3, 'not_found', 'gone', 'mid'),
            RejectedHunk(3, '@@ -9 +9 @@', 9, 'ambiguous', 'alpha', ''),
        ),
    )
    assert tree(folder) == {'a': content.encode()}


@pytest.mark.parametrize(
    'diff', ['', 'hello', '-old\n+new\n', '--- a\n+++ b\n', '@@ -1,9 +1,9 @@\n-x\n+y\n', '\0', '@@']
)
def test_what_is_no_unified_diff_is_refused(folder: Path, workspace: Workspace, diff: str) -> None:
    (folder / 'a').write_text('x\n')
    error = error_of(apply_diff(workspace, ApplyDiff(path='a', diff=diff)), InvalidParameter)
    assert (error.tool, error.parameter) == ('apply_diff', 'diff')
    assert tree(folder) == {'a': b'x\n'}


def test_what_cannot_be_edited_is_told(folder: Path, workspace: Workspace) -> None:
    (folder / 'src').mkdir()
    (folder / 'latin').write_bytes(b'caf\xe9\n')
    assert (
        error_of(
            apply_diff(workspace, ApplyDiff(path='src', diff=DIFF)), InvalidParameter
        ).parameter
        == 'path'
    )
    assert (
        error_of(
            apply_diff(workspace, ApplyDiff(path='latin', diff=DIFF)), InvalidParameter
        ).parameter
        == 'path'
    )
    assert (
        error_of(apply_diff(workspace, ApplyDiff(path='nothere', diff=DIFF)), FileNotFound).path
        == 'nothere'
    )
    assert (
        error_of(apply_diff(workspace, ApplyDiff(path='../x', diff=DIFF)), PathForbidden).reason
        == 'outside_workspace'
    )
