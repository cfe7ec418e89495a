"""Somebody swaps a symlink while a tool runs: nothing outside is ever read or written."""

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
from seamwise.toolhost.tools.execute_command import ExecuteCommand, execute_command
from seamwise.toolhost.tools.list_files import ListFiles, list_files
from seamwise.toolhost.tools.read_file import ReadFile, read_file
from seamwise.toolhost.tools.replace_in_file import ReplaceInFile, replace_in_file
from seamwise.toolhost.tools.search_files import SearchFiles, search_files
from seamwise.toolhost.tools.write_file import WriteFile, write_file
from seamwise.toolhost.workspace.paths import PathRequest
from seamwise.toolhost.workspace.workspace import Workspace
from tests.toolhost.helpers import CANARY, error_of, value_of

ROUNDS = 150


@contextmanager
def swapping(folder: Path, name: str) -> Generator[None, None, None]:
    """Let `name` be a symlink to `real`, one that leads outside, nothing, and a folder, as fast as it goes."""
    over = Event()
    place, other, spare = folder / name, folder / f'{name}.next', folder / 'spare'
    spare.mkdir()

    def swap() -> None:
        for turn in count():
            if over.is_set():
                return
            # What a tool has made there meanwhile goes away; that it may be quicker once more is part of the game.
            with suppress(OSError):
                other.symlink_to('../outside' if turn % 2 else 'real')
                other.rename(place)
            with suppress(OSError):
                place.unlink()
                spare.rename(place)
            with suppress(OSError):
                place.rename(spare)
            with suppress(OSError):
                rmtree(place)
                spare.mkdir(exist_ok=True)

    place.symlink_to('real')
    thread = Thread(target=swap)
    thread.start()
    try:
        yield
    finally:
        over.set()
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
def test_a_swapped_symlink_never_leads_out(
    folder: Path, tmp_path: Path, workspace: Workspace, call: str
) -> None:
    (folder / 'real').mkdir()
    (folder / 'real' / 'secret.txt').write_text('mine')
    outside = tmp_path / 'outside'
    kinds: set[str] = set()
    with swapping(folder, 'x'):
        for _ in range(ROUNDS):
            result = CALLS[call](workspace)
            kinds.add(
                type(result.failure()).__name__
                if hasattr(result, 'failure') and not result.value_or(None)
                else 'ok'
            )
            assert CANARY.strip() not in repr(result)
            assert 'outside/' not in repr(result.value_or(None))
    assert (outside / 'secret.txt').read_text() == CANARY
    assert [one.name for one in outside.iterdir()] == ['secret.txt']
    assert kinds <= {'ok', 'FileNotFound', 'PathForbidden', 'InvalidParameter', 'FileAlreadyExists'}
    assert not list(folder.rglob('.seamwise-*'))


def test_a_file_that_becomes_a_symlink_while_it_is_searched_is_left_out(
    folder: Path, tmp_path: Path, workspace: Workspace
) -> None:
    (folder / 'real').mkdir()
    (folder / 'real' / 'secret.txt').write_text('mine')
    with swapping(folder, 'x'):
        for _ in range(20):
            found = value_of(search_files(workspace, SearchFiles(pattern='CANARY|mine', path='.')))
            assert {one.text for one in found.matches} <= {'mine'}


def test_a_command_never_runs_outside(folder: Path, workspace: Workspace) -> None:
    (folder / 'real').mkdir()
    with swapping(folder, 'x'):
        for _ in range(50):
            result = execute_command(workspace, ExecuteCommand(command='ls', cwd='x'))
            assert 'secret.txt' not in repr(result)


def swap_once(monkeypatch: pytest.MonkeyPatch, function: str, before: Callable[[], object]) -> None:
    """Do something right before the next call of a function of `os`."""
    original = getattr(os, function)

    def swapped(*args: object, **kwargs: object) -> object:
        monkeypatch.setattr(os, function, original)
        before()
        return original(*args, **kwargs)

    monkeypatch.setattr(os, function, swapped)


def test_a_symlink_that_becomes_a_file_between_two_looks_is_looked_at_again(
    folder: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / 'x').symlink_to('../outside/secret.txt')

    def swap() -> None:
        (folder / 'x').unlink()
        (folder / 'x').write_text('mine')

    swap_once(monkeypatch, 'readlink', swap)
    assert value_of(workspace.locate_file(PathRequest('read_file', 'x'))).names == ('x',)


def test_a_symlink_that_vanishes_between_two_looks_is_not_found(
    folder: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / 'x').symlink_to('y')
    swap_once(monkeypatch, 'readlink', (folder / 'x').unlink)
    assert (
        type(error_of(workspace.locate_file(PathRequest('read_file', 'x')), object)).__name__
        == 'FileNotFound'
    )


def test_a_symlink_that_is_swapped_for_ever_is_a_loop(
    folder: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / 'x').symlink_to('y')

    def never(*_args: object, **_kwargs: object) -> str:
        raise OSError(22, 'no symlink')

    monkeypatch.setattr(os, 'readlink', never)
    assert (
        type(error_of(workspace.locate_file(PathRequest('read_file', 'x')), object)).__name__
        == 'FileNotFound'
    )


def test_a_folder_that_becomes_a_symlink_between_two_looks_is_not_entered(
    folder: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / 'x').mkdir()

    def swap() -> None:
        (folder / 'x').rmdir()
        (folder / 'x').symlink_to('../outside')

    # The first one opens nothing of the path: there are no rules to be read.
    swap_once(monkeypatch, 'open', swap)
    assert (
        type(
            error_of(workspace.locate_file(PathRequest('read_file', 'x/secret.txt')), object)
        ).__name__
        == 'FileNotFound'
    )
