"""Locations: the kind of an entry, and the paths that listings hide."""

import os
import stat

import pytest

from seamwise.toolhost.builtin.workspace.ignore_rules import parse_ignore_rules
from seamwise.toolhost.builtin.workspace.location import ResolvedPath, is_git_path


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
def test_a_location_has_the_kind_of_its_entry(mode: int, kind: str) -> None:
    location = ResolvedPath(('x',), 1, mode | 0o644, parse_ignore_rules(b''))
    assert location.kind == kind
    assert location.is_folder is (kind == 'a folder')
    assert location.is_file is (kind == 'a file')


@pytest.mark.parametrize(
    'path', ['.git', '.git/config', 'sub/.git/hooks/x', '.GIT/config', 'sub/.git']
)
def test_a_git_folder_is_detected_at_any_depth(path: str) -> None:
    assert is_git_path(tuple(path.split('/')))


@pytest.mark.parametrize('path', ['.gitignore', 'git', 'a.git', '.github/x'])
def test_names_similar_to_git_are_not_git_paths(path: str) -> None:
    assert not is_git_path(tuple(path.split('/')))


def test_listings_hide_ignored_paths_and_git() -> None:
    location = ResolvedPath((), 0, os.stat('/').st_mode, parse_ignore_rules(b'x/\n'))  # noqa: PTH116 -- only the mode is needed
    assert location.hides(('x',), is_folder=True)
    assert not location.hides(('x',), is_folder=False)
    assert location.hides(('.git',), is_folder=True)
