"""A file is written as a whole or not at all, whatever happens in between."""

import errno
import os
import signal
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from seamwise.toolhost.workspace import atomic_write
from seamwise.toolhost.workspace.atomic_write import create_file, replace_file
from seamwise.toolhost.workspace.paths import PathRequest
from seamwise.toolhost.workspace.workspace import Workspace
from tests.toolhost.helpers import open_handles, tree, unprivileged, value_of

NEW = b'new\n' * 100_000


def create(workspace: Workspace, path: str, data: bytes = NEW) -> None:
    create_file(
        workspace, value_of(workspace.locate(PathRequest('write_file', path), writing=True)), data
    )


@pytest.fixture(params=['unnamed', 'named', 'refused'])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Each way of writing: without a name, with one, and with one because the system does not know the other."""
    chosen: str = request.param
    if chosen == 'named':
        monkeypatch.setattr(atomic_write, '_UNNAMED_FLAG', 0)
    if chosen == 'refused':
        original = os.open

        def refuse(path: str, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
            if flags & os.O_TMPFILE == os.O_TMPFILE:
                raise OSError(errno.EOPNOTSUPP, 'not on this file system')
            return original(path, flags, mode, dir_fd=dir_fd)

        monkeypatch.setattr(os, 'open', refuse)
    return chosen


@pytest.mark.usefixtures('way')
class TestEveryWay:
    def test_a_file_is_replaced(self, folder: Path, workspace: Workspace) -> None:
        (folder / 'a').write_text('old')
        replace_file(workspace, ('a',), NEW)
        assert tree(folder) == {'a': NEW}

    def test_a_file_is_made_with_its_folders(self, folder: Path, workspace: Workspace) -> None:
        (folder / 'x').mkdir()
        create(workspace, 'x/y/z/a')
        assert tree(folder) == {'x': None, 'x/y': None, 'x/y/z': None, 'x/y/z/a': NEW}

    def test_an_empty_file_is_a_file(self, folder: Path, workspace: Workspace) -> None:
        create(workspace, 'a', b'')
        replace_file(workspace, ('a',), b'')
        assert tree(folder) == {'a': b''}

    @pytest.mark.parametrize('mode', [0o600, 0o644, 0o755, 0o4755, 0o666])
    def test_permissions_stay(self, folder: Path, workspace: Workspace, mode: int) -> None:
        (folder / 'a').write_text('old')
        (folder / 'a').chmod(mode)
        replace_file(workspace, ('a',), NEW)
        assert stat.S_IMODE((folder / 'a').stat().st_mode) == mode

    def test_a_new_file_has_the_permissions_of_every_new_file(
        self, folder: Path, workspace: Workspace
    ) -> None:
        before = os.umask(0o027)
        try:
            create(workspace, 'x/a')
        finally:
            os.umask(before)
        assert stat.S_IMODE((folder / 'x' / 'a').stat().st_mode) == 0o640
        assert stat.S_IMODE((folder / 'x').stat().st_mode) == 0o750

    def test_the_owner_stays_where_that_is_allowed(
        self, folder: Path, workspace: Workspace
    ) -> None:
        (folder / 'a').write_text('old')
        owner = 12345 if os.geteuid() == 0 else os.geteuid()
        os.chown(folder / 'a', owner, -1)
        replace_file(workspace, ('a',), NEW)
        assert (folder / 'a').stat().st_uid == owner

    def test_the_owner_changes_where_it_must(self, folder: Path, workspace: Workspace) -> None:
        (folder / 'a').write_text('old')
        folder.chmod(0o777)
        with unprivileged():
            replace_file(workspace, ('a',), NEW)
            writer = os.geteuid()
        assert (folder / 'a').stat().st_uid == writer
        assert (folder / 'a').read_bytes() == NEW

    def test_a_name_of_any_length_can_be_written(self, folder: Path, workspace: Workspace) -> None:
        create(workspace, 'x' * 255, b'1')
        replace_file(workspace, ('x' * 255,), b'2')
        assert tree(folder) == {'x' * 255: b'2'}

    def test_somebody_who_was_quicker_keeps_the_file(
        self, folder: Path, workspace: Workspace
    ) -> None:
        place = value_of(workspace.locate(PathRequest('write_file', 'a'), writing=True))
        (folder / 'a').write_text('theirs')
        with pytest.raises(FileExistsError):
            create_file(workspace, place, NEW)
        assert tree(folder) == {'a': b'theirs'}

    def test_a_folder_that_somebody_else_has_made_is_used(
        self, folder: Path, workspace: Workspace
    ) -> None:
        place = value_of(workspace.locate(PathRequest('write_file', 'x/y/a'), writing=True))
        (folder / 'x').mkdir()
        create_file(workspace, place, b'1')
        assert tree(folder) == {'x': None, 'x/y': None, 'x/y/a': b'1'}

    @pytest.mark.parametrize('function', ['fsync', 'fchmod', 'rename', 'link'])
    @pytest.mark.parametrize('raised', [OSError(errno.ENOSPC, 'full'), KeyboardInterrupt()])
    def test_a_failure_leaves_everything_as_it_was(
        self,
        folder: Path,
        workspace: Workspace,
        monkeypatch: pytest.MonkeyPatch,
        function: str,
        raised: BaseException,
    ) -> None:
        (folder / 'a').write_text('old')

        def fail(*_args: object, **_kwargs: object) -> None:
            raise raised

        def replace() -> None:
            replace_file(workspace, ('a',), NEW)

        def make() -> None:
            create(workspace, 'new/deep/b')

        before = len(open_handles())
        for write in (replace, make):
            with monkeypatch.context() as patched:
                patched.setattr(os, function, fail)
                try:
                    write()
                except type(raised):
                    assert tree(folder) == {'a': b'old'}
                else:
                    # This way of writing does without the function.
                    assert len(tree(folder)) in {1, 4}
                    (folder / 'a').write_text('old')
        assert len(open_handles()) == before


def test_a_file_system_without_hard_links_can_be_written(
    folder: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_links(*_args: object, **_kwargs: object) -> None:
        raise PermissionError(errno.EPERM, 'no hard links here')

    monkeypatch.setattr(os, 'link', no_links)
    create(workspace, 'x/a', b'1')
    replace_file(workspace, ('x', 'a'), b'2')
    assert tree(folder) == {'x': None, 'x/a': b'2'}


def test_a_new_folder_that_is_not_empty_any_more_stays(
    folder: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_descriptor: int) -> None:
        (folder / 'x' / 'theirs').write_text('x')
        raise OSError(errno.ENOSPC, 'full')

    monkeypatch.setattr(os, 'fsync', fail)
    with pytest.raises(OSError, match='full'):
        create(workspace, 'x/y/a')
    assert tree(folder) == {'x': None, 'x/theirs': b'x'}


def test_a_file_in_the_way_of_a_new_folder_stops_it(folder: Path, workspace: Workspace) -> None:
    place = value_of(workspace.locate(PathRequest('write_file', 'x/y/a'), writing=True))
    (folder / 'x').write_text('theirs')
    with pytest.raises(NotADirectoryError):
        create_file(workspace, place, b'1')
    assert tree(folder) == {'x': b'theirs'}


def test_a_symlink_that_came_in_between_is_replaced_itself(
    folder: Path, tmp_path: Path, workspace: Workspace
) -> None:
    (folder / 'a').symlink_to('../outside/secret.txt')
    replace_file(workspace, ('a',), b'1')
    assert tree(folder) == {'a': b'1'}
    assert (tmp_path / 'outside' / 'secret.txt').read_text().startswith('OUTSIDE')


KILLED = """
import os, signal, sys
from pathlib import Path
from seamwise.toolhost.workspace import atomic_write
from seamwise.toolhost.workspace.workspace import Workspace
from seamwise.toolhost.workspace.atomic_write import replace_file, create_file
from seamwise.toolhost.workspace.paths import PathRequest

root, function, when, way, what = sys.argv[1:]
original = getattr(os, function)

def killed(*args, **kwargs):
    if when == 'after':
        original(*args, **kwargs)
    os.kill(os.getpid(), signal.SIGKILL)

workspace = Workspace(Path(root))
place = workspace.locate(PathRequest('write_file', 'new/b'), writing=True).unwrap()
if way == 'named':
    atomic_write._UNNAMED_FLAG = 0
setattr(os, function, killed)
if what == 'replace':
    replace_file(workspace, ('a',), b'new' * 100_000)
else:
    create_file(workspace, place, b'new' * 100_000)
"""


@pytest.mark.parametrize('way', ['unnamed', 'named'])
@pytest.mark.parametrize('what', ['replace', 'create'])
@pytest.mark.parametrize('function', ['fsync', 'link', 'rename', 'unlink'])
@pytest.mark.parametrize('when', ['before', 'after'])
def test_a_kill_leaves_the_old_file_or_the_new_one(
    folder: Path, way: str, what: str, function: str, when: str
) -> None:
    (folder / 'a').write_bytes(b'old')
    ended = subprocess.run(
        [sys.executable, '-c', KILLED, str(folder), function, when, way, what],
        check=False,
        capture_output=True,
    )
    assert ended.returncode in {-signal.SIGKILL, 0}, ended.stderr
    left = tree(folder)
    assert left['a'] in {b'old', b'new' * 100_000}
    assert left.get('new/b', b'new' * 100_000) == b'new' * 100_000
    others = [Path(name).name for name in left if name not in {'a', 'new', 'new/b'}]
    assert all(name.startswith('.seamwise-') and name.endswith('.tmp') for name in others)
    if way == 'unnamed' and function == 'fsync':
        assert others == []


def test_every_write_reaches_the_disk_before_it_gets_its_name(
    folder: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / 'a').write_text('old')
    done: list[str] = []

    def noting(name: str) -> Callable[..., object]:
        original = getattr(os, name)

        def note(*args: object, **kwargs: object) -> object:
            done.append(name)
            return original(*args, **kwargs)

        return note

    for name in ('fsync', 'link', 'rename'):
        monkeypatch.setattr(os, name, noting(name))
    replace_file(workspace, ('a',), b'1')
    assert done == ['fsync', 'link', 'rename']
