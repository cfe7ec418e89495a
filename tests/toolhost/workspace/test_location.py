"""What stands at a place."""

import os
import stat

import pytest

from seamwise.toolhost.workspace.ignore_rules import parse_ignore_rules
from seamwise.toolhost.workspace.location import ResolvedPath, is_git_path


@pytest.mark.parametrize(
    ('mode', 'kind'),
    [
        (stat.S_IFDIR, 'a folder'),
        (stat.S_IFREG, 'a file'),
        (stat.S_IFIFO, 'a pipe'),
        (stat.S_IFSOCK, 'a socket'),
        (stat.S_IFCHR, 'a device'),
        (stat.S_IFBLK, 'a device'),
    ],
)
def test_a_place_says_what_it_is(mode: int, kind: str) -> None:
    place = ResolvedPath(('x',), 1, mode | 0o644, parse_ignore_rules(b''))
    assert place.kind == kind
    assert place.is_folder is (kind == 'a folder')
    assert place.is_file is (kind == 'a file')


@pytest.mark.parametrize(
    'path', ['.git', '.git/config', 'sub/.git/hooks/x', '.GIT/config', 'sub/.git']
)
def test_gits_own_folder_is_known_at_any_depth(path: str) -> None:
    assert is_git_path(tuple(path.split('/')))


@pytest.mark.parametrize('path', ['.gitignore', 'git', 'a.git', '.github/x'])
def test_what_only_looks_like_git_is_not(path: str) -> None:
    assert not is_git_path(tuple(path.split('/')))


def test_a_list_hides_what_is_ignored_and_git() -> None:
    place = ResolvedPath((), 0, os.stat('/').st_mode, parse_ignore_rules(b'x/\n'))  # noqa: PTH116 -- the mode is all that is wanted
    assert place.hides(('x',), is_folder=True)
    assert not place.hides(('x',), is_folder=False)
    assert place.hides(('.git',), is_folder=True)
