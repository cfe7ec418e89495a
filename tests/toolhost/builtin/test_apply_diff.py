"""`apply_diff`: all hunks are applied, or none with a report of every rejected one."""

import stat
from pathlib import Path

import msgspec
import pytest

from seamwise.catalog.tools import (
    DiffRejected,
    FileNotFound,
    InvalidParameter,
    PathForbidden,
    RejectedHunk,
)
from seamwise.toolhost.builtin.apply_diff import Applied, ApplyDiff, apply_diff
from seamwise.toolhost.builtin.workspace.workspace import Workspace
from tests.toolhost.helpers import error_of, tree, unprivileged, value_of

TEN_LINES = ''.join(f'line {number}\n' for number in range(1, 11))
DIFF = (
    '@@ -2,3 +2,3 @@\n line 2\n-line 3\n+LINE 3\n line 4\n'
    '@@ -9,2 +9,3 @@\n line 9\n+between\n line 10\n'
)


def test_all_hunks_are_applied(folder: Path, workspace: Workspace) -> None:
    (folder / 'a').write_text(TEN_LINES)
    (folder / 'a').chmod(0o710)
    assert value_of(apply_diff(workspace, ApplyDiff(path='a', diff=DIFF))) == Applied('a', 2, 2, 1)
    assert (folder / 'a').read_text() == TEN_LINES.replace('line 3', 'LINE 3').replace(
        'line 10', 'between\nline 10'
    )
    assert stat.S_IMODE((folder / 'a').stat().st_mode) == 0o710


@pytest.mark.parametrize('line_end', ['\r', '\r\n'])
def test_a_diff_is_applied_with_the_line_ends_of_the_file(
    folder: Path, workspace: Workspace, line_end: str
) -> None:
    (folder / 'a').write_bytes(TEN_LINES.replace('\n', line_end).encode())
    value_of(apply_diff(workspace, ApplyDiff(path='a', diff=DIFF)))
    changed = TEN_LINES.replace('line 3', 'LINE 3').replace('line 10', 'between\nline 10')
    assert (folder / 'a').read_bytes() == changed.replace('\n', line_end).encode()


@pytest.mark.parametrize(
    'file_names',
    ['', '--- a/a\n+++ b/a\n', '--- a/other\n+++ ../../etc/passwd\n', '--- /dev/null\n+++ b/a\n'],
)
def test_the_file_names_in_a_diff_are_ignored(
    folder: Path, workspace: Workspace, file_names: str
) -> None:
    (folder / 'a').write_text(TEN_LINES)
    (folder / 'other').write_text(TEN_LINES)
    value_of(apply_diff(workspace, ApplyDiff(path='a', diff=file_names + DIFF)))
    assert 'LINE 3' in (folder / 'a').read_text()
    assert (folder / 'other').read_text() == TEN_LINES


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
        ('', '@@ -0,0 +1,2 @@\r\n+one\r\n+two\r\n', 'one\r\ntwo\r\n'),
        ('', '--- a\n+++ b\n@@ -0,0 +1 @@\n+one\r\n', 'one\r\n'),
        ('one', '@@ -1 +1,2 @@\r\n one\r\n+two\r\n', 'one\r\ntwo'),
    ],
)
def test_line_ends_and_the_last_newline_are_kept_unless_the_diff_changes_them(
    folder: Path, workspace: Workspace, content: str, diff: str, expected: str
) -> None:
    (folder / 'a').write_bytes(content.encode())
    value_of(apply_diff(workspace, ApplyDiff(path='a', diff=diff)))
    assert (folder / 'a').read_bytes().decode() == expected


CREATION = '--- /dev/null\n+++ b/a\n@@ -0,0 +1,2 @@\n+one\r\n+two\r\n'


def test_a_missing_file_is_created_with_its_folders(folder: Path, workspace: Workspace) -> None:
    applied = value_of(apply_diff(workspace, ApplyDiff(path='new/a', diff=CREATION)))
    assert applied == Applied('new/a', 1, 2, 0, created=True)
    assert tree(folder) == {'new': None, 'new/a': b'one\r\ntwo\r\n'}


def test_a_new_file_can_end_without_a_newline(folder: Path, workspace: Workspace) -> None:
    diff = '@@ -0,0 +1 @@\n+one\n\\ No newline at end of file\n'
    value_of(apply_diff(workspace, ApplyDiff(path='a', diff=diff)))
    assert tree(folder) == {'a': b'one'}


def test_an_empty_file_is_not_reported_as_created(folder: Path, workspace: Workspace) -> None:
    (folder / 'a').touch()
    applied = value_of(apply_diff(workspace, ApplyDiff(path='a', diff=CREATION)))
    assert msgspec.to_builtins(applied) == {'path': 'a', 'hunks': 1, 'added': 2, 'removed': 0}


@pytest.mark.parametrize(
    ('path', 'reason'),
    [
        ('a.key', 'ignored'),
        ('new/a.key', 'ignored'),
        ('.git/hooks/pre-commit', 'system'),
        ('.seamignore', 'write_protected'),
        ('../a', 'outside_workspace'),
        ('out/a', 'outside_workspace'),
    ],
)
def test_a_forbidden_file_is_not_created(
    folder: Path, tmp_path: Path, path: str, reason: str
) -> None:
    if path != '.seamignore':
        (folder / '.seamignore').write_text('*.key\n')
    (folder / 'out').symlink_to('../outside')
    before = tree(tmp_path)
    result = apply_diff(Workspace(folder), ApplyDiff(path=path, diff=CREATION))
    assert error_of(result, PathForbidden).reason == reason
    assert tree(tmp_path) == before


def test_a_file_that_cannot_be_created_is_reported(folder: Path, workspace: Workspace) -> None:
    (folder / 'b').write_text('x')
    diff = CREATION + '@@ -1 +3 @@\n-x\n+y\n'
    error_of(apply_diff(workspace, ApplyDiff(path='a', diff=diff)), FileNotFound)
    error_of(apply_diff(workspace, ApplyDiff(path='a/', diff=CREATION)), InvalidParameter)
    error_of(apply_diff(workspace, ApplyDiff(path='b/a', diff=CREATION)), InvalidParameter)
    (folder / 'closed').mkdir()
    (folder / 'closed').chmod(0o555)
    with unprivileged():
        result = apply_diff(workspace, ApplyDiff(path='closed/a', diff=CREATION))
    assert error_of(result, PathForbidden).reason == 'system'
    assert tree(folder) == {'b': b'x', 'closed': None}


def test_nothing_is_written_if_one_hunk_is_rejected(folder: Path, workspace: Workspace) -> None:
    content = 'head\nalpha\nmid\nalpha\ntail\n'
    (folder / 'a').write_text(content)
    diff = (
        '@@ -1 +1 @@\n-head\n+HEAD\n@@ -3,1 +3,1 @@ def f():\n-gone\n+x\n'
        '@@ -9 +9 @@\n-alpha\n+beta\n'
    )
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
def test_an_invalid_diff_is_rejected(folder: Path, workspace: Workspace, diff: str) -> None:
    (folder / 'a').write_text('x\n')
    error = error_of(apply_diff(workspace, ApplyDiff(path='a', diff=diff)), InvalidParameter)
    assert (error.tool, error.parameter) == ('apply_diff', 'diff')
    assert tree(folder) == {'a': b'x\n'}


def test_a_file_that_cannot_be_edited_is_reported(folder: Path, workspace: Workspace) -> None:
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
