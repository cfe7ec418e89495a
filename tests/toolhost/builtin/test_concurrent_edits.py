"""Edits of one file at the same time, in threads and processes: none is lost."""

import fcntl
import multiprocessing
import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

import pytest

from seamwise.catalog.tools import (
    ContentMismatch,
    DiffRejected,
    FileNotFound,
    PathForbidden,
    ToolTimedOut,
)
from seamwise.toolhost.builtin import time_limit
from seamwise.toolhost.builtin.apply_diff import ApplyDiff, apply_diff
from seamwise.toolhost.builtin.replace_in_file import ReplaceInFile, replace_in_file
from seamwise.toolhost.builtin.workspace import file_lock
from seamwise.toolhost.builtin.workspace.workspace import Workspace
from seamwise.toolhost.builtin.write_file import WriteFile, write_file
from tests.toolhost.helpers import CANARY, error_of, open_handles, tree, unprivileged, value_of

WORKERS = 4
LINES = [f'line {number}\n' for number in range(WORKERS)]


def edit(folder: Path, number: int) -> str:
    """Change one line with a tool of its own; return the kind of the failure, or 'ok'."""
    workspace = Workspace(folder)
    if number % 2:
        result = replace_in_file(
            workspace, ReplaceInFile(path='a', search=f'line {number}', replace=f'LINE {number}')
        )
        return 'ok' if result.value_or(None) else type(result.failure()).__name__
    diff = f'@@ -{number + 1} +{number + 1} @@\n-line {number}\n+LINE {number}\n'
    applied = apply_diff(workspace, ApplyDiff(path='a', diff=diff))
    return 'ok' if applied.value_or(None) else type(applied.failure()).__name__


def threads() -> Executor:
    return ThreadPoolExecutor(WORKERS)


def processes() -> Executor:
    return ProcessPoolExecutor(WORKERS, multiprocessing.get_context('forkserver'))


@pytest.mark.slow
@pytest.mark.parametrize('executor', [threads, processes])
def test_edits_of_one_file_at_once_are_all_applied(
    folder: Path, executor: Callable[[], Executor]
) -> None:
    with executor() as pool:
        for _ in range(25):
            (folder / 'a').write_text(''.join(LINES))
            outcomes = list(pool.map(edit, [folder] * WORKERS, range(WORKERS)))
            assert outcomes == ['ok'] * WORKERS
            assert (folder / 'a').read_text() == ''.join(LINES).upper()
    assert [path.name for path in folder.iterdir()] == ['a']


def test_an_edit_and_an_overwrite_at_once_have_an_order(folder: Path) -> None:
    """The edit is in the file if it came last, and gone if it came first."""

    def overwrite(content: str) -> str:
        value_of(
            write_file(Workspace(folder), WriteFile(path='a', content=content, overwrite=True))
        )
        return 'ok'

    with ThreadPoolExecutor(2) as pool:
        for _ in range(25):
            (folder / 'a').write_text(''.join(LINES))
            edited, written = pool.submit(edit, folder, 1), pool.submit(overwrite, 'new\nline 1\n')
            assert written.result() == edited.result() == 'ok'
            assert (folder / 'a').read_text() in {'new\nline 1\n', 'new\nLINE 1\n'}


def test_one_of_several_creations_at_once_wins(folder: Path, workspace: Workspace) -> None:
    def create(number: int) -> str:
        result = apply_diff(workspace, ApplyDiff(path='new/a', diff=f'@@ -0,0 +1 @@\n+{number}\n'))
        return 'ok' if result.value_or(None) else type(result.failure()).__name__

    with ThreadPoolExecutor(WORKERS) as pool:
        outcomes = list(pool.map(create, range(WORKERS)))
    assert sorted(outcomes) == ['DiffRejected'] * (WORKERS - 1) + ['ok']
    assert (folder / 'new' / 'a').read_text() == f'{outcomes.index("ok")}\n'


def run_before_rename(monkeypatch: pytest.MonkeyPatch, action: Callable[[], object]) -> None:
    """Run an action after the new content is written, and before it is compared."""
    original = os.fsync

    def sync(descriptor: int) -> None:
        monkeypatch.setattr(os, 'fsync', original)
        original(descriptor)
        action()

    monkeypatch.setattr(os, 'fsync', sync)


@pytest.mark.parametrize(
    ('content', 'expected'),
    [
        (b'one\n2\n', ('two', '2', 2)),
        (b'one\ntwo\nthree\n', ('', 'three', 3)),
        (b'one\n', ('two', '', 2)),
        (b'\xff\n', ('one', '�', 1)),
    ],
)
def test_a_change_by_a_program_without_locks_is_a_mismatch(
    folder: Path,
    workspace: Workspace,
    monkeypatch: pytest.MonkeyPatch,
    content: bytes,
    expected: tuple[str, str, int],
) -> None:
    (folder / 'a').write_text('one\ntwo\n')
    run_before_rename(monkeypatch, lambda: (folder / 'a').write_bytes(content))
    error = error_of(
        replace_in_file(workspace, ReplaceInFile(path='a', search='two', replace='x')),
        ContentMismatch,
    )
    assert error == ContentMismatch('replace_in_file', 'a', *expected)
    assert list(tree(folder)) == ['a']
    assert b'x' not in (folder / 'a').read_bytes()


def test_a_symlink_swapped_in_during_an_edit_is_not_followed(
    folder: Path, tmp_path: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / 'a').write_text('one\n')

    def swap() -> None:
        (folder / 'a').unlink()
        (folder / 'a').symlink_to('../outside/secret.txt')

    run_before_rename(monkeypatch, swap)
    result = apply_diff(workspace, ApplyDiff(path='a', diff='@@ -1 +1 @@\n-one\n+1\n'))
    error_of(result, FileNotFound)
    assert (tmp_path / 'outside' / 'secret.txt').read_text() == CANARY


def test_a_file_removed_during_an_edit_is_not_created_again(
    folder: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / 'a').write_text('one\n')
    run_before_rename(monkeypatch, (folder / 'a').unlink)
    error_of(
        replace_in_file(workspace, ReplaceInFile(path='a', search='one', replace='1')), FileNotFound
    )
    assert tree(folder) == {}


def test_a_lock_that_another_program_keeps_ends_in_a_timeout(
    folder: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(time_limit, 'MAX_SECONDS', 0.05)
    (folder / 'a').write_text('one\n')
    handles = open_handles()
    with (folder / 'a').open() as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        for result in (
            replace_in_file(workspace, ReplaceInFile(path='a', search='one', replace='1')),
            apply_diff(workspace, ApplyDiff(path='a', diff='@@ -1 +1 @@\n-one\n+1\n')),
            write_file(workspace, WriteFile(path='a', content='1', overwrite=True)),
        ):
            assert error_of(result, ToolTimedOut).timeout == 0.05
    assert open_handles() == handles
    assert edit(folder, 1) == 'ContentNotFound'


@pytest.mark.parametrize('number', sorted(file_lock._UNSUPPORTED))
def test_a_file_system_without_locks_can_be_edited(
    folder: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def refuse(*_args: object) -> None:
        raise OSError(number, 'no locks here')

    monkeypatch.setattr(fcntl, 'flock', refuse)
    (folder / 'a').write_text(''.join(LINES))
    assert edit(folder, 1) == 'ok'


def test_other_errors_of_a_lock_are_reported(
    folder: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_args: object) -> None:
        raise PermissionError(1, 'not yours')

    monkeypatch.setattr(fcntl, 'flock', refuse)
    (folder / 'a').write_text('one\n')
    error_of(
        replace_in_file(workspace, ReplaceInFile(path='a', search='one', replace='1')),
        PathForbidden,
    )


def test_a_file_that_cannot_be_read_is_overwritten(folder: Path, workspace: Workspace) -> None:
    folder.chmod(0o777)
    (folder / 'a').write_text('old')
    (folder / 'a').chmod(0o222)
    with unprivileged():
        value_of(write_file(workspace, WriteFile(path='a', content='new', overwrite=True)))
    assert tree(folder) == {'a': b'new'}


def test_a_second_creation_of_a_file_is_rejected(folder: Path, workspace: Workspace) -> None:
    args = ApplyDiff(path='a', diff='@@ -0,0 +1 @@\n+1\n')
    value_of(apply_diff(workspace, args))
    error_of(apply_diff(workspace, args), DiffRejected)
    assert tree(folder) == {'a': b'1\n'}


HOLDER = """
import sys
from pathlib import Path
from seamwise.toolhost.builtin.text.editing import open_for_edit
from seamwise.toolhost.builtin.time_limit import TimeLimit
from seamwise.toolhost.builtin.workspace.paths import PathRequest
from seamwise.toolhost.builtin.workspace.workspace import Workspace
draft = open_for_edit(
    Workspace(Path(sys.argv[1])), PathRequest('apply_diff', 'a'), TimeLimit()
).unwrap()
print('locked', flush=True)
sys.stdin.read()
"""


def test_a_killed_edit_releases_its_lock(folder: Path) -> None:
    (folder / 'a').write_text(''.join(LINES))
    with subprocess.Popen(
        [sys.executable, '-c', HOLDER, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b'locked\n'
        with ThreadPoolExecutor(1) as pool:
            waiting = pool.submit(edit, folder, 1)
            assert not waiting.done()
            holder.kill()
            assert waiting.result() == 'ok'
