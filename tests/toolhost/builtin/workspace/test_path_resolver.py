"""Races: swapped symlinks never let a tool read or write outside the workspace."""

import os
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from shutil import rmtree
from threading import Event, Thread

import msgspec
import pytest

from seamwise import Result
from seamwise.toolhost.builtin.execute_command import ExecuteCommand, execute_command
from seamwise.toolhost.builtin.list_files import ListFiles, list_files
from seamwise.toolhost.builtin.read_file import ReadFile, read_file
from seamwise.toolhost.builtin.replace_in_file import ReplaceInFile, replace_in_file
from seamwise.toolhost.builtin.search_files import SearchFiles, search_files
from seamwise.toolhost.builtin.workspace.paths import PathRequest
from seamwise.toolhost.builtin.workspace.workspace import Workspace
from seamwise.toolhost.builtin.write_file import WriteFile, write_file
from tests.toolhost.helpers import CANARY, error_of, value_of

ROUNDS = 150


@contextmanager
def swap_repeatedly(folder: Path, name: str) -> Generator[None, None, None]:
    """Change `name` as fast as possible.

    It is in turn a symlink to `real`, a symlink to the outside, missing, and a folder.
    """
    stopped = Event()
    path, next_symlink, spare_folder = folder / name, folder / f'{name}.next', folder / 'spare'
    spare_folder.mkdir()

    def swap() -> None:
        for turn in count():
            if stopped.is_set():
                return
            # Remove entries that a tool has created; it can create others before the next step.
            with suppress(OSError):
                next_symlink.symlink_to('../outside' if turn % 2 else 'real')
                next_symlink.rename(path)
            with suppress(OSError):
                path.unlink()
                spare_folder.rename(path)
            with suppress(OSError):
                path.rename(spare_folder)
            with suppress(OSError):
                rmtree(path)
                spare_folder.mkdir(exist_ok=True)

    path.symlink_to('real')
    thread = Thread(target=swap)
    thread.start()
    try:
        yield
    finally:
        stopped.set()
        thread.join()


CALLS: dict[str, Callable[[Workspace], Result[msgspec.Struct, object]]] = {
    'read': lambda workspace: read_file(workspace, ReadFile(path='x/secret.txt')),
    'list': lambda workspace: list_files(workspace, ListFiles(path='x')),
    'list all': lambda workspace: list_files(workspace, ListFiles(recursive=True)),
    'write': lambda workspace: write_file(
        workspace, WriteFile(path='x/secret.txt', content='mine', overwrite=True)
    ),
    'write new': lambda workspace: write_file(
        workspace, WriteFile(path='x/new/file.txt', content='mine', overwrite=True)
    ),
    'replace': lambda workspace: replace_in_file(
        workspace, ReplaceInFile(path='x/secret.txt', search='m', replace='m')
    ),
}


@pytest.mark.parametrize('call', CALLS)
def test_a_swapped_symlink_never_leads_outside(
    folder: Path, tmp_path: Path, workspace: Workspace, call: str
) -> None:
    (folder / 'real').mkdir()
    (folder / 'real' / 'secret.txt').write_text('mine')
    outside_folder = tmp_path / 'outside'
    outcomes: set[str] = set()
    with swap_repeatedly(folder, 'x'):
        for _ in range(ROUNDS):
            result = CALLS[call](workspace)
            outcomes.add(
                type(result.failure()).__name__
                if hasattr(result, 'failure') and not result.value_or(None)
                else 'ok'
            )
            assert CANARY.strip() not in repr(result)
            assert 'outside/' not in repr(result.value_or(None))
    assert (outside_folder / 'secret.txt').read_text() == CANARY
    assert [path.name for path in outside_folder.iterdir()] == ['secret.txt']
    assert outcomes <= {
        'ok',
        'FileNotFound',
        'PathForbidden',
        'InvalidParameter',
        'FileAlreadyExists',
    }
    assert not list(folder.rglob('.seamwise-*'))


def test_a_file_that_becomes_a_symlink_during_a_search_is_skipped(
    folder: Path, tmp_path: Path, workspace: Workspace
) -> None:
    (folder / 'real').mkdir()
    (folder / 'real' / 'secret.txt').write_text('mine')
    with swap_repeatedly(folder, 'x'):
        for _ in range(20):
            result = value_of(search_files(workspace, SearchFiles(pattern='CANARY|mine', path='.')))
            assert {match.text for match in result.matches} <= {'mine'}


def test_a_command_never_runs_outside(folder: Path, workspace: Workspace) -> None:
    (folder / 'real').mkdir()
    with swap_repeatedly(folder, 'x'):
        for _ in range(50):
            result = execute_command(workspace, ExecuteCommand(command='ls', cwd='x'))
            assert 'secret.txt' not in repr(result)


def run_before(
    monkeypatch: pytest.MonkeyPatch, function: str, action: Callable[[], object]
) -> None:
    """Run an action immediately before the next call of a function of `os`."""
    original = getattr(os, function)

    def call_with_action(*args: object, **kwargs: object) -> object:
        monkeypatch.setattr(os, function, original)
        action()
        return original(*args, **kwargs)

    monkeypatch.setattr(os, function, call_with_action)


def test_a_symlink_that_becomes_a_file_is_looked_up_again(
    folder: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / 'x').symlink_to('../outside/secret.txt')

    def swap() -> None:
        (folder / 'x').unlink()
        (folder / 'x').write_text('mine')

    run_before(monkeypatch, 'readlink', swap)
    assert value_of(workspace.locate_file(PathRequest('read_file', 'x'))).names == ('x',)


def test_a_symlink_that_vanishes_during_resolution_is_not_found(
    folder: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / 'x').symlink_to('y')
    run_before(monkeypatch, 'readlink', (folder / 'x').unlink)
    assert (
        type(error_of(workspace.locate_file(PathRequest('read_file', 'x')), object)).__name__
        == 'FileNotFound'
    )


def test_a_symlink_that_changes_on_every_lookup_is_a_loop(
    folder: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / 'x').symlink_to('y')

    def raise_error(*_args: object, **_kwargs: object) -> str:
        raise OSError(22, 'no symlink')

    monkeypatch.setattr(os, 'readlink', raise_error)
    assert (
        type(error_of(workspace.locate_file(PathRequest('read_file', 'x')), object)).__name__
        == 'FileNotFound'
    )


def test_a_folder_that_becomes_a_symlink_is_not_entered(
    folder: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / 'x').mkdir()

    def swap() -> None:
        (folder / 'x').rmdir()
        (folder / 'x').symlink_to('../outside')

    # Without a rules file, the first `open` is for the path.
    run_before(monkeypatch, 'open', swap)
    assert (
        type(
            error_of(workspace.locate_file(PathRequest('read_file', 'x/secret.txt')), object)
        ).__name__
        == 'FileNotFound'
    )
