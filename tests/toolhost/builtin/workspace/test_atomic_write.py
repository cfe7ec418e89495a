"""Atomic writes: a file has its old or its complete new content after any interruption."""

import errno
import os
import signal
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from seamwise.toolhost.builtin.workspace import atomic_write
from seamwise.toolhost.builtin.workspace.atomic_write import create_file, replace_file
from seamwise.toolhost.builtin.workspace.paths import PathRequest
from seamwise.toolhost.builtin.workspace.workspace import Workspace
from tests.toolhost.helpers import open_handles, tree, unprivileged, value_of

NEW_CONTENT = b'new\n' * 100_000


def create(workspace: Workspace, path: str, data: bytes = NEW_CONTENT) -> None:
    create_file(
        workspace, value_of(workspace.locate(PathRequest('write_file', path), writing=True)), data
    )


@pytest.fixture(params=['unnamed', 'named', 'refused'])
def write_method(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Select a method: unnamed files, named files, or unnamed ones that the system refuses."""
    method: str = request.param
    if method == 'named':
        monkeypatch.setattr(atomic_write, '_UNNAMED_FLAG', 0)
    if method == 'refused':
        original = os.open

        def refuse(path: str, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
            if flags & os.O_TMPFILE == os.O_TMPFILE:
                raise OSError(errno.EOPNOTSUPP, 'not on this file system')
            return original(path, flags, mode, dir_fd=dir_fd)

        monkeypatch.setattr(os, 'open', refuse)
    return method


@pytest.mark.usefixtures('write_method')
class TestAllWriteMethods:
    def test_a_file_is_replaced(self, folder: Path, workspace: Workspace) -> None:
        (folder / 'a').write_text('old')
        replace_file(workspace, ('a',), NEW_CONTENT)
        assert tree(folder) == {'a': NEW_CONTENT}

    def test_a_file_is_created_with_its_parent_folders(
        self, folder: Path, workspace: Workspace
    ) -> None:
        (folder / 'x').mkdir()
        create(workspace, 'x/y/z/a')
        assert tree(folder) == {'x': None, 'x/y': None, 'x/y/z': None, 'x/y/z/a': NEW_CONTENT}

    def test_an_empty_file_can_be_written(self, folder: Path, workspace: Workspace) -> None:
        create(workspace, 'a', b'')
        replace_file(workspace, ('a',), b'')
        assert tree(folder) == {'a': b''}

    @pytest.mark.parametrize('mode', [0o600, 0o644, 0o755, 0o4755, 0o666])
    def test_a_replaced_file_keeps_its_permissions(
        self, folder: Path, workspace: Workspace, mode: int
    ) -> None:
        (folder / 'a').write_text('old')
        (folder / 'a').chmod(mode)
        replace_file(workspace, ('a',), NEW_CONTENT)
        assert stat.S_IMODE((folder / 'a').stat().st_mode) == mode

    def test_a_new_file_has_the_default_permissions(
        self, folder: Path, workspace: Workspace
    ) -> None:
        old_umask = os.umask(0o027)
        try:
            create(workspace, 'x/a')
        finally:
            os.umask(old_umask)
        assert stat.S_IMODE((folder / 'x' / 'a').stat().st_mode) == 0o640
        assert stat.S_IMODE((folder / 'x').stat().st_mode) == 0o750

    def test_a_replaced_file_keeps_its_owner_if_allowed(
        self, folder: Path, workspace: Workspace
    ) -> None:
        (folder / 'a').write_text('old')
        owner = 12345 if os.geteuid() == 0 else os.geteuid()
        os.chown(folder / 'a', owner, -1)
        replace_file(workspace, ('a',), NEW_CONTENT)
        assert (folder / 'a').stat().st_uid == owner

    def test_a_replaced_file_gets_the_writer_as_owner_otherwise(
        self, folder: Path, workspace: Workspace
    ) -> None:
        (folder / 'a').write_text('old')
        folder.chmod(0o777)
        with unprivileged():
            replace_file(workspace, ('a',), NEW_CONTENT)
            writer = os.geteuid()
        assert (folder / 'a').stat().st_uid == writer
        assert (folder / 'a').read_bytes() == NEW_CONTENT

    def test_a_name_of_the_maximum_length_can_be_written(
        self, folder: Path, workspace: Workspace
    ) -> None:
        create(workspace, 'x' * 255, b'1')
        replace_file(workspace, ('x' * 255,), b'2')
        assert tree(folder) == {'x' * 255: b'2'}

    def test_a_file_created_by_another_process_is_not_replaced(
        self, folder: Path, workspace: Workspace
    ) -> None:
        location = value_of(workspace.locate(PathRequest('write_file', 'a'), writing=True))
        (folder / 'a').write_text('theirs')
        with pytest.raises(FileExistsError):
            create_file(workspace, location, NEW_CONTENT)
        assert tree(folder) == {'a': b'theirs'}

    def test_a_folder_created_by_another_process_is_used(
        self, folder: Path, workspace: Workspace
    ) -> None:
        location = value_of(workspace.locate(PathRequest('write_file', 'x/y/a'), writing=True))
        (folder / 'x').mkdir()
        create_file(workspace, location, b'1')
        assert tree(folder) == {'x': None, 'x/y': None, 'x/y/a': b'1'}

    @pytest.mark.parametrize('function', ['fsync', 'fchmod', 'rename', 'link'])
    @pytest.mark.parametrize('error', [OSError(errno.ENOSPC, 'full'), KeyboardInterrupt()])
    def test_a_failed_write_changes_nothing(
        self,
        folder: Path,
        workspace: Workspace,
        monkeypatch: pytest.MonkeyPatch,
        function: str,
        error: BaseException,
    ) -> None:
        (folder / 'a').write_text('old')

        def fail(*_args: object, **_kwargs: object) -> None:
            raise error

        def replace() -> None:
            replace_file(workspace, ('a',), NEW_CONTENT)

        def create_new() -> None:
            create(workspace, 'new/deep/b')

        handles_before = len(open_handles())
        for write in (replace, create_new):
            with monkeypatch.context() as patched:
                patched.setattr(os, function, fail)
                try:
                    write()
                except type(error):
                    assert tree(folder) == {'a': b'old'}
                else:
                    # This method does not call the function.
                    assert len(tree(folder)) in {1, 4}
                    (folder / 'a').write_text('old')
        assert len(open_handles()) == handles_before


def test_files_are_written_without_hard_links(
    folder: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse_link(*_args: object, **_kwargs: object) -> None:
        raise PermissionError(errno.EPERM, 'no hard links here')

    monkeypatch.setattr(os, 'link', refuse_link)
    create(workspace, 'x/a', b'1')
    replace_file(workspace, ('x', 'a'), b'2')
    assert tree(folder) == {'x': None, 'x/a': b'2'}


def test_a_new_folder_with_content_of_others_is_not_removed(
    folder: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_descriptor: int) -> None:
        (folder / 'x' / 'theirs').write_text('x')
        raise OSError(errno.ENOSPC, 'full')

    monkeypatch.setattr(os, 'fsync', fail)
    with pytest.raises(OSError, match='full'):
        create(workspace, 'x/y/a')
    assert tree(folder) == {'x': None, 'x/theirs': b'x'}


def test_a_file_in_place_of_a_new_folder_is_an_error(folder: Path, workspace: Workspace) -> None:
    location = value_of(workspace.locate(PathRequest('write_file', 'x/y/a'), writing=True))
    (folder / 'x').write_text('theirs')
    with pytest.raises(NotADirectoryError):
        create_file(workspace, location, b'1')
    assert tree(folder) == {'x': b'theirs'}


def test_a_symlink_swapped_in_is_replaced_itself(
    folder: Path, tmp_path: Path, workspace: Workspace
) -> None:
    (folder / 'a').symlink_to('../outside/secret.txt')
    replace_file(workspace, ('a',), b'1')
    assert tree(folder) == {'a': b'1'}
    assert (tmp_path / 'outside' / 'secret.txt').read_text().startswith('OUTSIDE')


KILL_SCRIPT = """
import os, signal, sys
from pathlib import Path
from seamwise.toolhost.builtin.workspace import atomic_write
from seamwise.toolhost.builtin.workspace.workspace import Workspace
from seamwise.toolhost.builtin.workspace.atomic_write import replace_file, create_file
from seamwise.toolhost.builtin.workspace.paths import PathRequest

root, function, moment, method, action = sys.argv[1:]
original = getattr(os, function)

def kill(*args, **kwargs):
    if moment == 'after':
        original(*args, **kwargs)
    os.kill(os.getpid(), signal.SIGKILL)

workspace = Workspace(Path(root))
location = workspace.locate(PathRequest('write_file', 'new/b'), writing=True).unwrap()
if method == 'named':
    atomic_write._UNNAMED_FLAG = 0
setattr(os, function, kill)
if action == 'replace':
    replace_file(workspace, ('a',), b'new' * 100_000)
else:
    create_file(workspace, location, b'new' * 100_000)
"""


@pytest.mark.parametrize('write_method', ['unnamed', 'named'])
@pytest.mark.parametrize('action', ['replace', 'create'])
@pytest.mark.parametrize('function', ['fsync', 'link', 'rename', 'unlink'])
@pytest.mark.parametrize('moment', ['before', 'after'])
def test_a_killed_write_leaves_the_old_or_the_new_file(
    folder: Path, write_method: str, action: str, function: str, moment: str
) -> None:
    (folder / 'a').write_bytes(b'old')
    process = subprocess.run(
        [sys.executable, '-c', KILL_SCRIPT, str(folder), function, moment, write_method, action],
        check=False,
        capture_output=True,
    )
    assert process.returncode in {-signal.SIGKILL, 0}, process.stderr
    content = tree(folder)
    assert content['a'] in {b'old', b'new' * 100_000}
    assert content.get('new/b', b'new' * 100_000) == b'new' * 100_000
    leftover_names = [Path(name).name for name in content if name not in {'a', 'new', 'new/b'}]
    assert all(name.startswith('.seamwise-') and name.endswith('.tmp') for name in leftover_names)
    if write_method == 'unnamed' and function == 'fsync':
        assert leftover_names == []


def test_content_is_synced_before_the_file_gets_its_name(
    folder: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / 'a').write_text('old')
    calls: list[str] = []

    def recorder(name: str) -> Callable[..., object]:
        original = getattr(os, name)

        def record(*args: object, **kwargs: object) -> object:
            calls.append(name)
            return original(*args, **kwargs)

        return record

    for name in ('fsync', 'link', 'rename'):
        monkeypatch.setattr(os, name, recorder(name))
    replace_file(workspace, ('a',), b'1')
    assert calls == ['fsync', 'link', 'rename']
