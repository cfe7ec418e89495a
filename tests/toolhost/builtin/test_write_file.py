"""`write_file`: new files and new content, without partial results."""

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
from seamwise.toolhost.builtin.workspace.workspace import Workspace
from seamwise.toolhost.builtin.write_file import WriteFile, Written, write_file
from tests.toolhost.helpers import CANARY, error_of, open_handles, tree, unprivileged, value_of


def write(
    workspace: Workspace, path: str, content: str = 'new\n', *, overwrite: bool = False
) -> Written:
    return value_of(
        write_file(workspace, WriteFile(path=path, content=content, overwrite=overwrite))
    )


def invalid_reason(workspace: Workspace, path: str) -> str:
    return error_of(
        write_file(workspace, WriteFile(path=path, content='new\n', overwrite=True)),
        InvalidParameter,
    ).reason


def test_a_new_file_is_created_with_its_folders(folder: Path, workspace: Workspace) -> None:
    assert write(workspace, 'new/dir/新文件.txt', '内容\r\n') == Written(
        'new/dir/新文件.txt', 8, created=True
    )
    assert tree(folder) == {'new': None, 'new/dir': None, 'new/dir/新文件.txt': '内容\r\n'.encode()}


def test_content_is_written_unchanged(folder: Path, workspace: Workspace) -> None:
    for content in ('', '\n', 'a\r\nb\rc\n', '\ufeffx', '\0', '😀' * 100_000):
        size = len(content.encode())
        # Over another file, which can have a byte order mark, see below.
        (folder / 'a').write_text('old')
        assert write(workspace, 'a', content, overwrite=True).bytes == size
        assert (folder / 'a').read_bytes() == content.encode()


def test_an_existing_file_is_replaced_only_with_overwrite(
    folder: Path, workspace: Workspace
) -> None:
    (folder / 'a').write_text('old')
    (folder / 'a').chmod(0o751)
    error = error_of(write_file(workspace, WriteFile(path='./a', content='new')), FileAlreadyExists)
    assert error == FileAlreadyExists('write_file', './a')
    assert tree(folder) == {'a': b'old'}
    assert write(workspace, './a', 'new', overwrite=True) == Written('./a', 3, created=False)
    assert tree(folder) == {'a': b'new'}
    assert stat.S_IMODE((folder / 'a').stat().st_mode) == 0o751


def test_a_symlink_inside_is_followed(folder: Path, workspace: Workspace) -> None:
    (folder / 'a').write_text('old')
    (folder / 'link').symlink_to('a')
    (folder / 'dangling').symlink_to('new/b')
    write(workspace, 'link', 'x', overwrite=True)
    write(workspace, 'dangling', 'y')
    assert tree(folder) == {'a': b'x', 'link': 'a', 'dangling': 'new/b', 'new': None, 'new/b': b'y'}


def test_an_entry_that_is_not_a_file_is_not_written(folder: Path, workspace: Workspace) -> None:
    (folder / 'src').mkdir()
    (folder / 'notes.txt').write_text('old')
    os.mkfifo(folder / 'pipe')
    content_before = tree(folder)
    assert (
        invalid_reason(workspace, 'src')
        == invalid_reason(workspace, 'src/')
        == invalid_reason(workspace, '.')
        == 'is a folder, not a file'
    )
    assert invalid_reason(workspace, 'pipe') == 'is a pipe, not a file'
    assert (
        invalid_reason(workspace, 'notes.txt/x.txt')
        == invalid_reason(workspace, 'notes.txt/')
        == 'uses a file as if it were a folder'
    )
    assert (
        invalid_reason(workspace, 'new/')
        == 'must name a file, so it must not end in "/", "." or ".."'
    )
    assert invalid_reason(workspace, '') == 'must not be empty; the workspace itself is "."'
    assert (
        invalid_reason(workspace, 'x/' + 'y' * 256)
        == 'contains a name of 256 bytes; the maximum is 255'
    )
    assert tree(folder) == content_before


def test_a_forbidden_path_is_not_written(
    folder: Path, tmp_path: Path, workspace: Workspace
) -> None:
    (folder / '.seamignore').write_text('*.key\n')
    (folder / 'locked').write_text('old')
    (folder / 'locked').chmod(0o444)
    (folder / 'out').symlink_to('../outside')
    content_before = tree(folder)
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
    for path, reason in reasons.items():
        error = error_of(
            write_file(workspace, WriteFile(path=path, content='new', overwrite=True)),
            PathForbidden,
        )
        assert error == PathForbidden('write_file', path, reason)  # type: ignore[arg-type]  # a literal, but in a dict
    assert tree(folder) == content_before
    assert tree(tmp_path / 'outside') == {'secret.txt': CANARY.encode()}


def test_a_symlink_loop_cannot_be_written(folder: Path, workspace: Workspace) -> None:
    (folder / 'loop').symlink_to('loop')
    error_of(write_file(workspace, WriteFile(path='loop', content='x')), FileNotFound)


def test_a_file_created_by_another_process_is_kept(
    folder: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    def create_first(_descriptor: int) -> None:
        (folder / 'a').write_text('theirs')

    monkeypatch.setattr(os, 'fsync', create_first)
    error_of(write_file(workspace, WriteFile(path='a', content='x')), FileAlreadyExists)
    assert tree(folder) == {'a': b'theirs'}


@contextmanager
def limit_file_size() -> Generator[None, None, None]:
    """Limit the size of files to 1,000 bytes."""
    saved = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, saved[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, saved)


def test_a_partial_write_changes_nothing(folder: Path, workspace: Workspace) -> None:
    (folder / 'a').write_text('old')
    handles_before = open_handles()
    with limit_file_size():
        for path in ('a', 'new/b'):
            error = error_of(
                write_file(workspace, WriteFile(path=path, content='x' * 100_000, overwrite=True)),
                ToolFailed,
            )
            assert isinstance(error.cause, OSError)
            assert error.cause.errno == errno.EFBIG
    assert tree(folder) == {'a': b'old'}
    assert open_handles() == handles_before


def test_a_full_disk_is_reported_as_exhausted(
    folder: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    def raise_no_space(_descriptor: int) -> None:
        raise OSError(errno.ENOSPC, 'no space left')

    monkeypatch.setattr(os, 'fsync', raise_no_space)
    assert (
        error_of(
            write_file(workspace, WriteFile(path='new/a', content='x')), ResourceExhausted
        ).resource
        == 'disk'
    )
    assert tree(folder) == {}


def test_a_folder_without_write_permission_is_forbidden(folder: Path, workspace: Workspace) -> None:
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


@pytest.mark.parametrize('content', ['b\n', '\ufeffb\n'])
def test_an_overwritten_file_keeps_its_byte_order_mark(
    folder: Path, workspace: Workspace, content: str
) -> None:
    (folder / 'a.txt').write_bytes(b'\xef\xbb\xbfa\n')
    assert write(workspace, 'a.txt', content, overwrite=True).bytes == 5
    assert (folder / 'a.txt').read_bytes() == b'\xef\xbb\xbfb\n'
