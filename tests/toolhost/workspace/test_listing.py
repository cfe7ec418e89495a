"""What is in a folder, in the order of the paths."""

import errno
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typing_extensions import override

from seamwise.toolhost.workspace import listing
from seamwise.toolhost.workspace.listing import ListedItem, iter_items
from seamwise.toolhost.workspace.paths import PathRequest
from seamwise.toolhost.workspace.workspace import Workspace
from tests.toolhost.helpers import limit_handles, make_nested_folders, unprivileged, value_of


def listed(workspace: Workspace, path: str = '.', *, recursive: bool = True) -> list[str]:
    place = value_of(workspace.locate_folder(PathRequest('list_files', path)))
    return ['/'.join(one.names) for one in iter_items(workspace, place, recursive=recursive)]


def test_what_is_in_a_folder_comes_in_the_order_of_its_path(
    folder: Path, workspace: Workspace
) -> None:
    for path in ('a/x', 'a-b', 'a.txt', 'a0', 'A', 'b/c/d', 'b/c-d', 'B/x', 'z', 'ä', '数据'):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text('x')
    found = listed(workspace)
    assert found == sorted(found)
    assert found == sorted(str(one.relative_to(folder)) for one in folder.rglob('*'))
    assert listed(workspace, recursive=False) == sorted(one.name for one in folder.iterdir())


@given(st.lists(st.text('ab-./0', min_size=1, max_size=4), max_size=12))
def test_the_order_is_that_of_the_paths_as_text(paths: list[str]) -> None:
    names = {part for path in paths for part in path.split('/') if part.strip('.')}
    found = [ListedItem((name,), 0o040755, 0) for name in names]
    turns = [
        one.names[-1] + ('' if isinstance(one, ListedItem) else '/')
        for one in reversed(listing._sorted_stack(found, recursive=True))
    ]
    assert turns == sorted(turns)


def test_symlinks_are_listed_and_not_followed(folder: Path, workspace: Workspace) -> None:
    (folder / 'out').symlink_to('../outside')
    (folder / 'here').symlink_to('.')
    (folder / 'loop').symlink_to('loop')
    assert listed(workspace) == ['here', 'loop', 'out']


def test_what_is_ignored_and_git_are_left_out_at_any_depth(
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
    assert listed(workspace) == ['.seamignore', 'sub', 'sub/seen']
    assert listed(workspace, '.git') == []


def test_a_folder_that_may_not_be_listed_is_passed_over(folder: Path, workspace: Workspace) -> None:
    for name in ('a', 'b', 'c'):
        (folder / name).mkdir()
        (folder / name / 'x').write_text('x')
    (folder / 'b').chmod(0o700)
    with unprivileged():
        found = listed(workspace)
    # Who runs the tests as somebody else than root owns the folder.
    assert [one for one in found if one != 'b/x'] == ['a', 'a/x', 'b', 'c', 'c/x']


def test_what_vanishes_meanwhile_is_left_out(folder: Path, workspace: Workspace) -> None:
    (folder / 'a').mkdir()
    (folder / 'b').mkdir()
    (folder / 'b' / 'x').write_text('x')
    place = value_of(workspace.locate_folder(PathRequest('list_files', '.')))
    found = iter_items(workspace, place, recursive=True)
    assert next(found).names == ('a',)
    (folder / 'b' / 'x').unlink()
    (folder / 'b').rmdir()
    assert [one.names for one in found] == [('b',)]


def test_a_name_that_vanishes_before_it_is_looked_at_is_left_out() -> None:
    class Gone(os.PathLike[str]):
        name = 'gone'

        def stat(self, *, follow_symlinks: bool) -> os.stat_result:
            assert not follow_symlinks
            raise FileNotFoundError(errno.ENOENT, 'gone')

        @override
        def __fspath__(self) -> str:
            return self.name

    assert listing._item(Gone(), ('gone',)) is None  # type: ignore[arg-type]


def test_trouble_of_the_machine_is_passed_on(
    folder: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / 'a').mkdir()
    place = value_of(workspace.locate_folder(PathRequest('list_files', '.')))
    found = iter_items(workspace, place, recursive=True)
    next(found)

    def broken(*_args: object, **_kwargs: object) -> object:
        raise OSError(errno.EIO, 'the disk is broken')

    monkeypatch.setattr(workspace, 'scan_folder', broken)
    with pytest.raises(OSError, match='the disk is broken'):
        next(found)


def test_a_deep_tree_needs_few_handles_and_no_recursion(folder: Path, workspace: Workspace) -> None:
    make_nested_folders(folder, 300)
    with limit_handles(5):
        assert len(listed(workspace)) == 300
