"""`list_files`: what is in a folder, as a program can read it."""

import os
from pathlib import Path

import msgspec
import pytest

from seamwise.catalog.tools import FileNotFound, InvalidParameter, PathForbidden
from seamwise.toolhost.tools.list_files import DirectoryEntry, ListFiles, Listing, list_files
from seamwise.toolhost.workspace.workspace import Workspace
from tests.toolhost.helpers import error_of, make_nested_folders, unprivileged, value_of


def listing(
    workspace: Workspace, path: str = '.', *, recursive: bool = False, limit: int = 1_000
) -> Listing:
    return value_of(list_files(workspace, ListFiles(path=path, recursive=recursive, limit=limit)))


def paths(found: Listing) -> list[str]:
    return [one.path for one in found.entries]


@pytest.fixture(autouse=True)
def content(folder: Path) -> None:
    (folder / 'src' / 'deep').mkdir(parents=True)
    (folder / 'src' / 'app.py').write_text('12345')
    (folder / 'src' / 'deep' / 'x').write_text('')
    (folder / 'src-a').write_text('1')
    (folder / 'link').symlink_to('src')


def test_every_entry_says_what_it_is(folder: Path, workspace: Workspace) -> None:
    os.mkfifo(folder / 'pipe')
    assert listing(workspace) == Listing(
        '.',
        (
            DirectoryEntry('link', 'symlink', 0),
            DirectoryEntry('pipe', 'file', 0),
            DirectoryEntry('src', 'directory', 0),
            DirectoryEntry('src-a', 'file', 1),
        ),
        truncated=False,
    )


def test_paths_are_written_as_the_one_that_was_given(folder: Path, workspace: Workspace) -> None:
    assert paths(listing(workspace, 'src')) == ['src/app.py', 'src/deep']
    assert paths(listing(workspace, './src/')) == ['./src/app.py', './src/deep']
    assert paths(listing(workspace, 'link')) == ['link/app.py', 'link/deep']
    assert paths(listing(workspace, f'{folder}/src/deep')) == [f'{folder}/src/deep/x']


def test_all_below_is_sorted_by_path(workspace: Workspace) -> None:
    found = listing(workspace, recursive=True)
    assert paths(found) == ['link', 'src', 'src-a', 'src/app.py', 'src/deep', 'src/deep/x']
    assert paths(found) == sorted(paths(found))


@pytest.mark.parametrize(('limit', 'truncated'), [(1, True), (5, True), (6, False), (7, False)])
def test_a_limit_is_said(workspace: Workspace, limit: int, truncated: bool) -> None:
    found = listing(workspace, recursive=True, limit=limit)
    assert (len(found.entries), found.truncated) == (min(limit, 6), truncated)


def test_what_is_ignored_and_git_are_left_out(folder: Path, workspace: Workspace) -> None:
    (folder / '.seamignore').write_text('*.py\n/src/deep/\n')
    (folder / '.git').mkdir()
    assert paths(listing(workspace, recursive=True)) == ['.seamignore', 'link', 'src', 'src-a']
    assert (
        error_of(list_files(workspace, ListFiles(path='src/deep')), PathForbidden).reason
        == 'ignored'
    )


def test_an_empty_folder_is_empty(folder: Path, workspace: Workspace) -> None:
    (folder / 'empty').mkdir()
    assert listing(workspace, 'empty', recursive=True) == Listing('empty', (), truncated=False)


def test_what_is_no_folder_is_told(folder: Path, workspace: Workspace) -> None:
    assert (
        error_of(list_files(workspace, ListFiles(path='src-a')), InvalidParameter).reason
        == 'is a file, not a folder'
    )
    assert error_of(list_files(workspace, ListFiles(path='srx')), FileNotFound).suggestions == (
        'src',
    )
    assert (
        error_of(list_files(workspace, ListFiles(path='..')), PathForbidden).reason
        == 'outside_workspace'
    )


def test_strange_names_can_be_written_as_json(folder: Path, workspace: Workspace) -> None:
    (folder / 'deep').mkdir()
    for name in (
        b'new\nline',
        b'\x1b[31m',
        b'bad\xff\xfe',
        b'half\xed\xa0\x80',
        '数据'.encode(),
        b'"',
    ):
        Path(os.fsdecode(os.fsencode(folder / 'deep') + b'/' + name)).write_text('x')
    found = msgspec.json.decode(msgspec.json.encode(listing(workspace, 'deep')), type=Listing)
    assert set(paths(found)) == {
        'deep/new\nline',
        'deep/\x1b[31m',
        'deep/bad\ufffd\ufffd',
        'deep/half\ufffd\ufffd\ufffd',
        'deep/数据',
        'deep/"',
    }


def test_a_folder_that_may_not_be_listed_is_the_systems(folder: Path, workspace: Workspace) -> None:
    (folder / 'closed').mkdir()
    (folder / 'closed').chmod(0o111)
    with unprivileged():
        assert (
            error_of(list_files(workspace, ListFiles(path='closed')), PathForbidden).reason
            == 'system'
        )


def test_a_tree_of_any_depth_is_listed(folder: Path, workspace: Workspace) -> None:
    make_nested_folders(folder / 'src', 500)
    assert len(listing(workspace, 'src', recursive=True).entries) == 503
