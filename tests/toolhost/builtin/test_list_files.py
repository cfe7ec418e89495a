"""`list_files`: the content of a folder in machine-readable form."""

import os
from pathlib import Path

import msgspec
import pytest

from seamwise.catalog.tools import FileNotFound, InvalidParameter, PathForbidden, ToolTimedOut
from seamwise.toolhost.builtin import list_files as list_files_module
from seamwise.toolhost.builtin.list_files import DirectoryEntry, ListFiles, Listing, list_files
from seamwise.toolhost.builtin.time_limit import MAX_SECONDS
from seamwise.toolhost.builtin.workspace.workspace import Workspace
from tests.toolhost.helpers import FakeLimit, error_of, make_nested_folders, unprivileged, value_of


def list_folder(
    workspace: Workspace, path: str = '.', *, recursive: bool = False, limit: int = 1_000
) -> Listing:
    return value_of(list_files(workspace, ListFiles(path=path, recursive=recursive, limit=limit)))


def paths(listing: Listing) -> list[str]:
    return [entry.path for entry in listing.entries]


@pytest.fixture(autouse=True)
def files(folder: Path) -> None:
    (folder / 'src' / 'deep').mkdir(parents=True)
    (folder / 'src' / 'app.py').write_text('12345')
    (folder / 'src' / 'deep' / 'x').write_text('')
    (folder / 'src-a').write_text('1')
    (folder / 'link').symlink_to('src')


def test_an_entry_has_a_kind_and_a_size(folder: Path, workspace: Workspace) -> None:
    os.mkfifo(folder / 'pipe')
    assert list_folder(workspace) == Listing(
        '.',
        (
            DirectoryEntry('link', 'symlink', 0),
            DirectoryEntry('pipe', 'file', 0),
            DirectoryEntry('src', 'directory', 0),
            DirectoryEntry('src-a', 'file', 1),
        ),
        truncated=False,
    )


def test_paths_have_the_spelling_of_the_given_path(folder: Path, workspace: Workspace) -> None:
    assert paths(list_folder(workspace, 'src')) == ['src/app.py', 'src/deep']
    assert paths(list_folder(workspace, './src/')) == ['./src/app.py', './src/deep']
    assert paths(list_folder(workspace, 'link')) == ['link/app.py', 'link/deep']
    assert paths(list_folder(workspace, f'{folder}/src/deep')) == [f'{folder}/src/deep/x']


def test_a_recursive_listing_is_sorted_by_path(workspace: Workspace) -> None:
    listing = list_folder(workspace, recursive=True)
    assert paths(listing) == ['link', 'src', 'src-a', 'src/app.py', 'src/deep', 'src/deep/x']
    assert paths(listing) == sorted(paths(listing))


@pytest.mark.parametrize(('limit', 'truncated'), [(1, True), (5, True), (6, False), (7, False)])
def test_a_listing_over_the_limit_is_truncated(
    workspace: Workspace, limit: int, truncated: bool
) -> None:
    listing = list_folder(workspace, recursive=True, limit=limit)
    assert (len(listing.entries), listing.truncated) == (min(limit, 6), truncated)


def test_ignored_entries_and_git_are_omitted(folder: Path, workspace: Workspace) -> None:
    (folder / '.seamignore').write_text('*.py\n/src/deep/\n')
    (folder / '.git').mkdir()
    assert paths(list_folder(workspace, recursive=True)) == ['.seamignore', 'link', 'src', 'src-a']
    assert (
        error_of(list_files(workspace, ListFiles(path='src/deep')), PathForbidden).reason
        == 'ignored'
    )


def test_an_empty_folder_has_no_entries(folder: Path, workspace: Workspace) -> None:
    (folder / 'empty').mkdir()
    assert list_folder(workspace, 'empty', recursive=True) == Listing('empty', (), truncated=False)


def test_a_path_that_is_not_a_folder_is_reported(folder: Path, workspace: Workspace) -> None:
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


def test_names_with_special_characters_can_be_encoded_as_json(
    folder: Path, workspace: Workspace
) -> None:
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
    listing = msgspec.json.decode(msgspec.json.encode(list_folder(workspace, 'deep')), type=Listing)
    assert set(paths(listing)) == {
        'deep/new\nline',
        'deep/\x1b[31m',
        'deep/bad\ufffd\ufffd',
        'deep/half\ufffd\ufffd\ufffd',
        'deep/数据',
        'deep/"',
    }


def test_an_unreadable_folder_is_forbidden(folder: Path, workspace: Workspace) -> None:
    (folder / 'closed').mkdir()
    (folder / 'closed').chmod(0o111)
    with unprivileged():
        assert (
            error_of(list_files(workspace, ListFiles(path='closed')), PathForbidden).reason
            == 'system'
        )


def test_a_deep_tree_is_listed(folder: Path, workspace: Workspace) -> None:
    make_nested_folders(folder / 'src', 500)
    assert len(list_folder(workspace, 'src', recursive=True).entries) == 503


@pytest.mark.parametrize('recursive', [False, True])
def test_a_listing_of_one_huge_folder_is_limited_in_time(
    folder: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch, recursive: bool
) -> None:
    for number in range(50):
        (folder / str(number)).write_text('')
    monkeypatch.setattr(list_files_module, 'TimeLimit', lambda: FakeLimit(checks=20))
    result = list_files(workspace, ListFiles(recursive=recursive))
    assert error_of(result, ToolTimedOut) == ToolTimedOut('list_files', MAX_SECONDS, 1)
