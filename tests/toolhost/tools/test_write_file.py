"""`write_file`: a new file or a new text, and nothing in between."""

import errno
import os
import resource
import stat
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from seamwise.catalog.tools import (
    FileAlreadyExists,
    FileNotFound,
    InvalidParameter,
    PathForbidden,
    ResourceExhausted,
    ToolFailed,
)
from seamwise.toolhost.tools.write_file import WriteFile, Written, write_file
from seamwise.toolhost.workspace.workspace import Workspace
from tests.toolhost.helpers import CANARY, error_of, open_handles, tree, unprivileged, value_of


def write(
    workspace: Workspace, path: str, content: str = 'new\n', *, overwrite: bool = False
) -> Written:
    return value_of(
        write_file(workspace, WriteFile(path=path, content=content, overwrite=overwrite))
    )


def reason(workspace: Workspace, path: str) -> str:
    return error_of(
        write_file(workspace, WriteFile(path=path, content='new\n', overwrite=True)),
        InvalidParameter,
    ).reason


def test_a_new_file_is_made_with_its_folders(folder: Path, workspace: Workspace) -> None:
    assert write(workspace, 'new/dir/新文件.txt', '内容\r\n') == Written(
        'new/dir/新文件.txt', 8, created=True
    )
    assert tree(folder) == {'new': None, 'new/dir': None, 'new/dir/新文件.txt': '内容\r\n'.encode()}


def test_a_content_is_written_as_it_is(folder: Path, workspace: Workspace) -> None:
    for content in ('', '\n', 'a\r\nb\rc\n', '\ufeffx', '\0', '😀' * 100_000):
        size = len(content.encode())
        assert write(workspace, 'a', content, overwrite=True).bytes == size
        assert (folder / 'a').read_bytes() == content.encode()


def test_an_existing_file_is_replaced_only_on_purpose(folder: Path, workspace: Workspace) -> None:
    (folder / 'a').write_text('old')
    (folder / 'a').chmod(0o751)
    error = error_of(write_file(workspace, WriteFile(path='./a', content='new')), FileAlreadyExists)
    assert error == FileAlreadyExists('write_file', './a')
    assert tree(folder) == {'a': b'old'}
    assert write(workspace, './a', 'new', overwrite=True) == Written('./a', 3, created=False)
    assert tree(folder) == {'a': b'new'}
    assert stat.S_IMODE((folder / 'a').stat().st_mode) == 0o751


def test_a_symlink_inside_is_written_through(folder: Path, workspace: Workspace) -> None:
    (folder / 'a').write_text('old')
    (folder / 'link').symlink_to('a')
    (folder / 'dangling').symlink_to('new/b')
    write(workspace, 'link', 'x', overwrite=True)
    write(workspace, 'dangling', 'y')
    assert tree(folder) == {'a': b'x', 'link': 'a', 'dangling': 'new/b', 'new': None, 'new/b': b'y'}


def test_what_is_no_file_is_not_written(folder: Path, workspace: Workspace) -> None:
    (folder / 'src').mkdir()
    (folder / 'notes.txt').write_text('old')
    os.mkfifo(folder / 'pipe')
    before = tree(folder)
    assert (
        reason(workspace, 'src')
        == reason(workspace, 'src/')
        == reason(workspace, '.')
        == 'is a folder, not a file'
    )
    assert reason(workspace, 'pipe') == 'is a pipe, not a file'
    assert (
        reason(workspace, 'notes.txt/x.txt')
        == reason(workspace, 'notes.txt/')
        == 'uses a file as if it were a folder'
    )
    assert reason(workspace, 'new/') == 'must name a file, so it must not end in "/", "." or ".."'
    assert reason(workspace, '') == 'must not be empty; the workspace itself is "."'
    assert reason(workspace, 'x/' + 'y' * 256) == 'contains a name of 256 bytes; the maximum is 255'
    assert tree(folder) == before


def test_what_is_forbidden_stays_as_it_is(
    folder: Path, tmp_path: Path, workspace: Workspace
) -> None:
    (folder / '.seamignore').write_text('*.key\n')
    (folder / 'locked').write_text('old')
    (folder / 'locked').chmod(0o444)
    (folder / 'out').symlink_to('../outside')
    before = tree(folder)
    reasons = {
        '../x': 'outside_workspace',
        'out/secret.txt': 'outside_workspace',
        'out/new': 'outside_workspace',
        '/etc/new': 'outside_workspace',
        'a.key': 'ignored',
        '.git/config': 'system',
        '.seamignore': 'write_protected',
        'locked': 'write_protected',
    }
    for path, why in reasons.items():
        error = error_of(
            write_file(workspace, WriteFile(path=path, content='new', overwrite=True)),
            PathForbidden,
        )
        assert error == PathForbidden('write_file', path, why)  # type: ignore[arg-type]  # a literal, but in a dict
    assert tree(folder) == before
    assert tree(tmp_path / 'outside') == {'secret.txt': CANARY.encode()}


def test_a_loop_is_nothing_that_can_be_written(folder: Path, workspace: Workspace) -> None:
    (folder / 'loop').symlink_to('loop')
    error_of(write_file(workspace, WriteFile(path='loop', content='x')), FileNotFound)


def test_somebody_who_was_quicker_keeps_the_file(
    folder: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    def quicker(_descriptor: int) -> None:
        (folder / 'a').write_text('theirs')

    monkeypatch.setattr(os, 'fsync', quicker)
    error_of(write_file(workspace, WriteFile(path='a', content='x')), FileAlreadyExists)
    assert tree(folder) == {'a': b'theirs'}


@contextmanager
def small_files() -> Generator[None, None, None]:
    """Let no file be longer than 1,000 bytes."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_write_that_fails_half_way_leaves_everything_as_it_was(
    folder: Path, workspace: Workspace
) -> None:
    (folder / 'a').write_text('old')
    before = open_handles()
    with small_files():
        for path in ('a', 'new/b'):
            error = error_of(
                write_file(workspace, WriteFile(path=path, content='x' * 100_000, overwrite=True)),
                ToolFailed,
            )
            assert isinstance(error.cause, OSError)
            assert error.cause.errno == errno.EFBIG
    assert tree(folder) == {'a': b'old'}
    assert open_handles() == before


def test_a_full_disk_is_a_full_disk(
    folder: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_descriptor: int) -> None:
        raise OSError(errno.ENOSPC, 'no space left')

    monkeypatch.setattr(os, 'fsync', full)
    assert (
        error_of(
            write_file(workspace, WriteFile(path='new/a', content='x')), ResourceExhausted
        ).resource
        == 'disk'
    )
    assert tree(folder) == {}


def test_a_folder_that_may_not_be_written_is_the_systems(
    folder: Path, workspace: Workspace
) -> None:
    (folder / 'closed').mkdir(mode=0o555)
    (folder / 'closed').chmod(0o555)
    with unprivileged():
        for path in ('closed/a', 'closed/new/a'):
            assert (
                error_of(
                    write_file(workspace, WriteFile(path=path, content='x')), PathForbidden
                ).reason
                == 'system'
            )
    assert tree(folder) == {'closed': None}
