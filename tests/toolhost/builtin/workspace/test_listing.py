"""Folder listings in the order of paths."""

import errno
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typing_extensions import override

from seamwise.toolhost.builtin.time_limit import TimeLimit
from seamwise.toolhost.builtin.workspace import listing
from seamwise.toolhost.builtin.workspace.listing import ListedItem, iter_items
from seamwise.toolhost.builtin.workspace.paths import PathRequest
from seamwise.toolhost.builtin.workspace.workspace import Workspace
from tests.toolhost.helpers import limit_handles, make_nested_folders, unprivileged, value_of


def list_paths(workspace: Workspace, path: str = '.', *, recursive: bool = True) -> list[str]:
    location = value_of(workspace.locate_folder(PathRequest('list_files', path)))
    return [
        '/'.join(item.names)
        for item in iter_items(workspace, location, TimeLimit(), recursive=recursive)
    ]


def test_items_are_sorted_by_path(folder: Path, workspace: Workspace) -> None:
    for path in ('a/x', 'a-b', 'a.txt', 'a0', 'A', 'b/c/d', 'b/c-d', 'B/x', 'z', 'ä', '数据'):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text('x')
    paths = list_paths(workspace)
    assert paths == sorted(paths)
    assert paths == sorted(str(path.relative_to(folder)) for path in folder.rglob('*'))
    assert list_paths(workspace, recursive=False) == sorted(path.name for path in folder.iterdir())


@given(st.lists(st.text('ab-./0', min_size=1, max_size=4), max_size=12))
def test_paths_are_sorted_as_text(texts: list[str]) -> None:
    names = {part for path in texts for part in path.split('/') if part.strip('.')}
    items = [ListedItem((name,), 0o040755, 0) for name in names]
    sort_keys = [
        item.names[-1] + ('' if isinstance(item, ListedItem) else '/')
        for item in reversed(listing._sorted_stack(items, recursive=True))
    ]
    assert sort_keys == sorted(sort_keys)


def test_symlinks_are_listed_and_not_followed(folder: Path, workspace: Workspace) -> None:
    (folder / 'out').symlink_to('../outside')
    (folder / 'here').symlink_to('.')
    (folder / 'loop').symlink_to('loop')
    assert list_paths(workspace) == ['here', 'loop', 'out']


def test_ignored_items_and_git_folders_are_omitted_at_any_depth(
    folder: Path, workspace: Workspace
) -> None:
    (folder / '.seamignore').write_text('*.key\nsecrets/\n!secrets/open.txt\n')
    for path in (
        '.git/config',
        'sub/.git',
        'a.key',
        'sub/b.key',
        'secrets/open.txt',
        'sub/secrets/x',
        'sub/seen',
    ):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text('x')
    assert list_paths(workspace) == ['.seamignore', 'sub', 'sub/seen']
    assert list_paths(workspace, '.git') == []


def test_a_folder_that_is_not_readable_is_skipped(folder: Path, workspace: Workspace) -> None:
    for name in ('a', 'b', 'c'):
        (folder / name).mkdir()
        (folder / name / 'x').write_text('x')
    (folder / 'b').chmod(0o700)
    with unprivileged():
        paths = list_paths(workspace)
    # A user other than root owns the folder and can still list it.
    assert [path for path in paths if path != 'b/x'] == ['a', 'a/x', 'b', 'c', 'c/x']


def test_a_folder_that_vanishes_during_the_walk_is_skipped(
    folder: Path, workspace: Workspace
) -> None:
    (folder / 'a').mkdir()
    (folder / 'b').mkdir()
    (folder / 'b' / 'x').write_text('x')
    location = value_of(workspace.locate_folder(PathRequest('list_files', '.')))
    walk = iter_items(workspace, location, TimeLimit(), recursive=True)
    assert next(walk).names == ('a',)
    (folder / 'b' / 'x').unlink()
    (folder / 'b').rmdir()
    assert [item.names for item in walk] == [('b',)]


def test_an_entry_that_vanishes_before_its_stat_is_skipped() -> None:
    class Gone(os.PathLike[str]):
        name = 'gone'

        def stat(self, *, follow_symlinks: bool) -> os.stat_result:
            assert not follow_symlinks
            raise FileNotFoundError(errno.ENOENT, 'gone')

        @override
        def __fspath__(self) -> str:
            return self.name

    assert listing._item(Gone(), ('gone',)) is None  # type: ignore[arg-type]  # only `name` and `stat` are used


def test_an_error_of_the_system_propagates(
    folder: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / 'a').mkdir()
    location = value_of(workspace.locate_folder(PathRequest('list_files', '.')))
    walk = iter_items(workspace, location, TimeLimit(), recursive=True)
    next(walk)

    def raise_error(*_args: object, **_kwargs: object) -> object:
        raise OSError(errno.EIO, 'the disk is broken')

    monkeypatch.setattr(workspace, 'scan_folder', raise_error)
    with pytest.raises(OSError, match='the disk is broken'):
        next(walk)


def test_a_deep_tree_is_listed_with_few_handles(folder: Path, workspace: Workspace) -> None:
    make_nested_folders(folder, 300)
    with limit_handles(5):
        assert len(list_paths(workspace)) == 300
