"""No path leaves the workspace, and the rules for paths hold in their order."""

import errno
import gc
import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from seamwise import Result
from seamwise.catalog.tools import (
    FileNotFound,
    InvalidParameter,
    PathForbidden,
    ResourceExhausted,
    ToolFailed,
)
from seamwise.toolhost.workspace import workspace as module
from seamwise.toolhost.workspace.location import ResolvedPath
from seamwise.toolhost.workspace.paths import PathRequest
from seamwise.toolhost.workspace.workspace import Workspace
from tests.toolhost.helpers import (
    error_of,
    limit_handles,
    make_nested_folders,
    open_handles,
    unprivileged,
    value_of,
)


def asked(path: str) -> PathRequest:
    return PathRequest('read_file', path)


def names(result: Result[ResolvedPath, object]) -> str:
    return '/'.join(value_of(result).names)


def reason(result: Result[ResolvedPath, object]) -> str:
    return error_of(result, PathForbidden).reason


class TestWhereAPathLeads:
    def test_a_file_a_folder_and_the_workspace_itself_are_found(
        self, folder: Path, workspace: Workspace
    ) -> None:
        (folder / 'src').mkdir()
        (folder / 'src' / 'app.py').write_text('x')
        assert value_of(workspace.locate_file(asked('src/app.py'))).names == ('src', 'app.py')
        assert value_of(workspace.locate_folder(asked('src/'))).names == ('src',)
        for path in ('.', './', 'src/..', str(folder), f'{folder}/', f'{folder}/src/../.'):
            place = value_of(workspace.locate_folder(asked(path)))
            assert place.names == ()
            assert place.is_folder

    def test_dots_may_lead_anywhere_inside(self, folder: Path, workspace: Workspace) -> None:
        (folder / 'a' / 'b').mkdir(parents=True)
        (folder / 'a' / 'x').write_text('x')
        for path in ('a/x', 'a/b/../x', 'a/../a/b/../../a/x', 'a/./b/.././x', f'{folder}/a/b/../x'):
            assert names(workspace.locate_file(asked(path))) == 'a/x'

    def test_dots_go_where_the_system_goes(self, folder: Path, workspace: Workspace) -> None:
        """`..` after a symlink is the folder above its target, as for every other program."""
        (folder / 'a' / 'deep').mkdir(parents=True)
        (folder / 'a' / 'x').write_text('x')
        (folder / 'link').symlink_to('a/deep')
        assert names(workspace.locate_file(asked('link/../x'))) == 'a/x'
        error_of(workspace.locate_file(asked('nothere/../a/x')), FileNotFound)
        error_of(workspace.locate_file(asked('a/x/../x')), InvalidParameter)

    def test_symlinks_inside_are_followed(self, folder: Path, workspace: Workspace) -> None:
        (folder / 'src' / 'deep').mkdir(parents=True)
        (folder / 'src' / 'app.py').write_text('x')
        links = {
            'direct': 'src/app.py',
            'src/up': '../src/app.py',
            'src/deep/far': '../.././src//app.py',
            'absolute': str(folder / 'src' / 'app.py'),
            'twice': 'direct',
            'dir': 'src',
            'here': '.',
        }
        for name, target in links.items():
            (folder / name).symlink_to(target)
        for path in (
            *list(links)[:5],
            'dir/app.py',
            'here/src/app.py',
            'here/here/dir/up',
            'src/deep/../../dir/app.py',
        ):
            assert names(workspace.locate_file(asked(path))) == 'src/app.py'
        assert names(workspace.locate_folder(asked('here'))) == ''
        assert names(workspace.locate_folder(asked('dir'))) == 'src'

    def test_a_workspace_may_be_reached_by_a_symlink(self, folder: Path, tmp_path: Path) -> None:
        (folder / 'a').write_text('x')
        (tmp_path / 'alias').symlink_to('ws')
        workspace = Workspace(tmp_path / 'alias')
        assert workspace.root == folder.resolve()
        for path in ('a', str(tmp_path / 'alias' / 'a'), str(folder / 'a')):
            assert names(workspace.locate_file(asked(path))) == 'a'

    def test_what_is_missing_has_its_names_and_how_many_are_there(
        self, folder: Path, workspace: Workspace
    ) -> None:
        (folder / 'a').mkdir()
        place = value_of(workspace.locate(asked('a/b/c')))
        assert (place.names, place.depth, place.mode) == (('a', 'b', 'c'), 1, 0)

    def test_a_file_is_no_folder_and_the_reverse(self, folder: Path, workspace: Workspace) -> None:
        (folder / 'src').mkdir()
        (folder / 'file').write_text('x')
        assert (
            error_of(workspace.locate_file(asked('src')), InvalidParameter).reason
            == 'is a folder, not a file'
        )
        assert (
            error_of(workspace.locate_folder(asked('file')), InvalidParameter).reason
            == 'is a file, not a folder'
        )
        for path in ('file/', 'file/.', 'file/x', 'file/x/y', 'file/..'):
            assert (
                error_of(workspace.locate(asked(path)), InvalidParameter).reason
                == 'uses a file as if it were a folder'
            )

    def test_what_is_neither_says_what_it_is(self, folder: Path, workspace: Workspace) -> None:
        os.mkfifo(folder / 'pipe')
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(os.path.relpath(folder / 'socket'))
            assert (
                error_of(workspace.locate_file(asked('socket')), InvalidParameter).reason
                == 'is a socket, not a file'
            )
        assert (
            error_of(workspace.locate_file(asked('pipe')), InvalidParameter).reason
            == 'is a pipe, not a file'
        )
        assert (
            error_of(workspace.locate_folder(asked('pipe')), InvalidParameter).reason
            == 'is a pipe, not a folder'
        )

    def test_strange_names_are_names(self, folder: Path, workspace: Workspace) -> None:
        for name in (
            '~',
            '-',
            '*',
            ' ',
            '\n',
            '\x1b[31m',
            'a\tb',
            '..a',
            'x' * 255,
            '数据',
            '\udcff',
            'a\\b',
            '$HOME',
            '%2e%2e',
        ):
            (folder / name).write_text('x')
            assert value_of(workspace.locate_file(asked(name))).names == (name,)

    def test_a_long_way_down_needs_few_handles(self, folder: Path, workspace: Workspace) -> None:
        make_nested_folders(folder, 300)
        with limit_handles(4):
            assert len(value_of(workspace.locate_folder(asked('d/' * 300))).names) == 300
            assert names(workspace.locate_folder(asked('d/' * 300 + '../' * 300))) == ''
            error_of(workspace.locate_existing(asked('d/' * 300 + 'nothere')), FileNotFound)


class TestWhatLiesOutside:
    @pytest.mark.parametrize(
        'path',
        [
            '..',
            '../',
            '../outside/secret.txt',
            '../ws',
            '../ws/a',
            'a/../..',
            'a/../../outside/secret.txt',
            'nothere/../../outside/secret.txt',
            'file/../../outside/secret.txt',
            'secrets/../../outside/secret.txt',
            'loop/../../outside',
            '/',
            '/etc/passwd',
            'out',
            'out/secret.txt',
            'out/nothere',
            'out/../ws/file',
            'out-file',
            'absolute',
            'absolute/passwd',
            'round',
            'a/up/outside/secret.txt',
            'dangling-out',
        ],
    )
    @pytest.mark.parametrize('writing', [False, True])
    def test_is_forbidden(
        self, folder: Path, workspace: Workspace, path: str, writing: bool
    ) -> None:
        (folder / 'a').mkdir()
        (folder / 'file').write_text('x')
        (folder / '.seamignore').write_text('secrets/\n')
        links = {
            'out': '../outside',
            'out-file': '../outside/secret.txt',
            'absolute': '/etc',
            'loop': 'loop',
            'round': '../ws/file',
            'a/up': '../..',
            'dangling-out': '../outside/nothere',
        }
        for name, target in links.items():
            (folder / name).symlink_to(target)
        assert reason(workspace.locate(asked(path), writing=writing)) == 'outside_workspace'

    def test_a_loop_is_nothing(self, folder: Path, workspace: Workspace) -> None:
        (folder / 'loop').symlink_to('loop')
        (folder / 'ping').symlink_to('pong')
        (folder / 'pong').symlink_to('ping')
        (folder / 'deeper').symlink_to('deeper/x')
        for path in ('loop', 'loop/x', 'ping', 'deeper', 'loop/'):
            for writing in (False, True):
                assert (
                    error_of(
                        workspace.locate(asked(path), writing=writing), FileNotFound
                    ).suggestions
                    == ()
                )

    def test_as_many_symlinks_as_the_system_follows_are_followed(
        self, folder: Path, workspace: Workspace
    ) -> None:
        (folder / 'link0').write_text('x')
        for number in range(1, 42):
            (folder / f'link{number}').symlink_to(f'link{number - 1}')
        assert (folder / 'link40').read_text() == 'x'
        assert names(workspace.locate_file(asked('link40'))) == 'link0'
        error_of(workspace.locate_file(asked('link41')), FileNotFound)


class TestWhatIsIgnored:
    @pytest.fixture(autouse=True)
    def rules(self, folder: Path) -> None:
        (folder / '.seamignore').write_text('*.key\n!public.key\nsecrets/\n!secrets/open.txt\n')

    @pytest.mark.parametrize(
        'path',
        [
            'server.key',
            'nothere.key',
            'new/server.key',
            'new/folder.key/x',
            'secrets',
            'secrets/',
            'secrets/token.txt',
            'secrets/open.txt',
            'secrets/nothere',
            'secrets/../server.txt',
            'to-key',
            'to-secrets',
            'to-secrets/token.txt',
            'link.key',
            'file/x.key',
        ],
    )
    @pytest.mark.parametrize('exists', [False, True])
    @pytest.mark.parametrize('writing', [False, True])
    def test_is_forbidden_whether_it_exists_or_not(
        self, folder: Path, workspace: Workspace, path: str, exists: bool, writing: bool
    ) -> None:
        links = {'to-key': 'server.key', 'to-secrets': 'secrets', 'link.key': 'server.txt'}
        for name, target in links.items():
            (folder / name).symlink_to(target)
        (folder / 'file').write_text('x')
        if exists:
            (folder / 'secrets').mkdir()
            for name in ('server.key', 'server.txt', 'secrets/token.txt', 'secrets/open.txt'):
                (folder / name).write_text('x')
        assert reason(workspace.locate(asked(path), writing=writing)) == 'ignored'

    def test_what_is_not_meant_is_not_ignored(self, folder: Path, workspace: Workspace) -> None:
        (folder / 'public.key').write_text('x')
        (folder / 'secrets').write_text('a file, where the rule means a folder')
        assert names(workspace.locate_file(asked('public.key'))) == 'public.key'
        assert names(workspace.locate_file(asked('secrets'))) == 'secrets'

    def test_a_way_out_through_an_ignored_name_tells_nothing(
        self, folder: Path, workspace: Workspace
    ) -> None:
        (folder / 'secrets').mkdir()
        (folder / 'secrets' / 'out').symlink_to('/etc')
        assert reason(workspace.locate(asked('secrets/out/passwd'))) == 'ignored'

    def test_the_rules_are_those_of_now(self, folder: Path, workspace: Workspace) -> None:
        (folder / 'a').write_text('x')
        names(workspace.locate_file(asked('a')))
        (folder / '.seamignore').write_text('a\n')
        assert reason(workspace.locate_file(asked('a'))) == 'ignored'
        (folder / '.seamignore').unlink()
        names(workspace.locate_file(asked('a')))


class TestTheRulesFile:
    def test_may_be_a_symlink_inside(self, folder: Path, workspace: Workspace) -> None:
        (folder / '.gitignore').write_text('a\n')
        (folder / '.seamignore').symlink_to('.gitignore')
        assert reason(workspace.locate(asked('a'))) == 'ignored'
        for path in ('.seamignore', '.gitignore'):
            assert reason(workspace.locate(asked(path), writing=True)) == 'write_protected'

    @pytest.mark.parametrize(
        'target', ['../outside/secret.txt', 'nothere', '.seamignore', 'folder', 'folder/nothere']
    )
    def test_that_cannot_be_read_closes_everything(
        self, folder: Path, workspace: Workspace, target: str
    ) -> None:
        """To ignore nothing by mistake would show what nobody may see."""
        (folder / 'folder').mkdir()
        (folder / '.seamignore').symlink_to(target)
        cause = error_of(workspace.locate(asked('a')), ToolFailed).cause
        assert (
            str(cause)
            == "[Errno 22] the ignore rules are not a file inside the workspace: '.seamignore'"
        )

    @pytest.mark.parametrize('make', [Path.mkdir, os.mkfifo])
    def test_that_is_no_file_closes_everything(
        self, folder: Path, workspace: Workspace, make: Callable[[Path], None]
    ) -> None:
        make(folder / '.seamignore')
        error_of(workspace.locate(asked('a')), ToolFailed)

    def test_that_is_too_long_closes_everything(self, folder: Path, workspace: Workspace) -> None:
        (folder / '.seamignore').write_bytes(b'#' * 1024 * 1024)
        value_of(workspace.locate(asked('a')))
        (folder / '.seamignore').write_bytes(b'#' * (1024 * 1024 + 1))
        assert 'more than 1,048,576 bytes' in str(
            error_of(workspace.locate(asked('a')), ToolFailed).cause
        )

    def test_that_may_not_be_read_closes_everything(
        self, folder: Path, workspace: Workspace
    ) -> None:
        (folder / '.seamignore').write_text('a')
        (folder / '.seamignore').chmod(0)
        with unprivileged():
            assert reason(workspace.locate(asked('b'))) == 'system'

    def test_of_another_folder_is_any_file(self, folder: Path, workspace: Workspace) -> None:
        (folder / 'sub').mkdir()
        (folder / 'sub' / '.seamignore').write_text('*\n')
        (folder / 'sub' / 'a').write_text('x')
        names(workspace.locate_file(asked('sub/a')))
        value_of(workspace.locate(asked('sub/.seamignore'), writing=True))


class TestWriting:
    @pytest.mark.parametrize(
        'path',
        ['.git', '.git/config', '.git/nothere/x', 'sub/.git/hooks/x', 'to-git/config', '.GIT/x'],
    )
    def test_gits_own_folder_is_the_systems(
        self, folder: Path, workspace: Workspace, path: str
    ) -> None:
        (folder / '.git').mkdir()
        (folder / '.git' / 'config').write_text('x')
        (folder / 'to-git').symlink_to('.git')
        assert reason(workspace.locate(asked(path), writing=True)) == 'system'

    def test_gits_own_folder_may_be_read(self, folder: Path, workspace: Workspace) -> None:
        (folder / '.git').mkdir()
        (folder / '.git' / 'config').write_text('x')
        names(workspace.locate_file(asked('.git/config')))

    @pytest.mark.parametrize('path', ['.seamignore', './.seamignore', 'link', '.seamignore/x'])
    @pytest.mark.parametrize('exists', [False, True])
    def test_the_rules_are_protected(
        self, folder: Path, workspace: Workspace, path: str, exists: bool
    ) -> None:
        (folder / 'link').symlink_to('.seamignore')
        if exists:
            (folder / '.seamignore').write_text('*.key\n')
        assert reason(workspace.locate(asked(path), writing=True)) == 'write_protected'

    def test_a_file_with_no_write_bit_is_protected_from_root_too(
        self, folder: Path, workspace: Workspace
    ) -> None:
        (folder / 'locked').write_text('x')
        (folder / 'locked').chmod(0o555)
        (folder / 'link').symlink_to('locked')
        for path in ('locked', 'link'):
            assert reason(workspace.locate(asked(path), writing=True)) == 'write_protected'
        names(workspace.locate_file(asked('locked')))

    def test_a_file_that_others_may_write_is_the_systems(
        self, folder: Path, workspace: Workspace
    ) -> None:
        (folder / 'theirs').write_text('x')
        (folder / 'theirs').chmod(0o644)
        with unprivileged():
            is_mine = os.access(folder / 'theirs', os.W_OK, effective_ids=True)
            result = workspace.locate(asked('theirs'), writing=True)
        # Who runs the tests as somebody else than root owns the file.
        assert (names(result) == 'theirs') if is_mine else (reason(result) == 'system')

    def test_no_file_is_a_folder_that_does_not_exist_yet(
        self, folder: Path, workspace: Workspace
    ) -> None:
        (folder / 'file').write_text('x')
        for path in ('new/', 'new/.', 'new/sub/'):
            assert (
                'must name a file'
                in error_of(workspace.locate(asked(path), writing=True), InvalidParameter).reason
            )
        error_of(workspace.locate(asked('new/..'), writing=True), FileNotFound)
        error_of(workspace.locate(asked('new/../file'), writing=True), FileNotFound)


class TestWhatIsMissing:
    def test_near_names_of_the_same_folder_are_suggested(
        self, folder: Path, workspace: Workspace
    ) -> None:
        (folder / 'src').mkdir()
        for name in ('src/app.py', 'src/apt.py', 'app.py'):
            (folder / name).write_text('x')
        assert error_of(
            workspace.locate_existing(asked('src/ap.py')), FileNotFound
        ).suggestions == (
            'src/app.py',
            'src/apt.py',
        )
        assert error_of(
            workspace.locate_existing(asked(f'{folder}/./srcc/app.py')), FileNotFound
        ).suggestions == ('src',)

    def test_nothing_hidden_is_suggested(self, folder: Path, workspace: Workspace) -> None:
        (folder / '.seamignore').write_text('secret.txt\nsecrets/\n')
        (folder / 'secret.txt').write_text('x')
        (folder / 'secrets').mkdir()
        (folder / '.git').mkdir()
        (folder / 'secret\udcff').write_text('x')
        for path in ('secre.txt', 'secret', '.gi'):
            assert error_of(workspace.locate_existing(asked(path)), FileNotFound).suggestions == ()

    def test_a_folder_that_may_not_be_listed_suggests_nothing(
        self, folder: Path, workspace: Workspace
    ) -> None:
        (folder / 'src').mkdir()
        (folder / 'src' / 'app.py').write_text('x')
        (folder / 'src').chmod(0o711)
        with unprivileged():
            names(workspace.locate_existing(asked('src/app.py')))
            assert (
                error_of(workspace.locate_existing(asked('src/ap.py')), FileNotFound).suggestions
                == ()
            )

    def test_a_folder_of_very_many_names_is_not_read_to_its_end(
        self, folder: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (folder / 'app.py').write_text('x')
        monkeypatch.setattr(module, 'MAX_CANDIDATES', 0)
        assert error_of(workspace.locate_existing(asked('ap.py')), FileNotFound).suggestions == ()


class TestTheMachine:
    def test_a_folder_that_may_not_be_entered_is_the_systems(
        self, folder: Path, workspace: Workspace
    ) -> None:
        (folder / 'closed').mkdir(mode=0o700)
        with unprivileged():
            assert reason(workspace.locate(asked('closed/x'))) == 'system'

    def test_no_handles_left_is_no_handles_left(
        self, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def none_left(_folder: int) -> int:
            raise OSError(errno.EMFILE, 'too many')

        with monkeypatch.context() as patched:
            patched.setattr(os, 'dup', none_left)
            result = workspace.locate(asked('a'))
        assert error_of(result, ResourceExhausted).resource == 'handles'

    def test_no_handle_is_left_open(self, folder: Path, workspace: Workspace) -> None:
        (folder / 'a' / 'b').mkdir(parents=True)
        (folder / 'a' / 'x').write_text('x')
        (folder / 'link').symlink_to('a')
        (folder / 'out').symlink_to('..')
        before = open_handles()
        for path in ('link/b/../x', 'nothere/x', 'out/x', 'a/x/y', 'a/y', '', '.'):
            workspace.locate_existing(asked(path), writing=True)
            workspace.locate_existing(asked(path))
        assert open_handles() == before

    def test_a_workspace_that_is_let_go_closes_its_folder(self, folder: Path) -> None:
        gc.collect()
        before = len(open_handles())
        made = Workspace(folder)
        assert len(open_handles()) == before + 1
        del made
        gc.collect()
        assert len(open_handles()) == before

    @pytest.mark.parametrize('name', ['nothere', 'file'])
    def test_what_is_no_folder_is_no_workspace(self, folder: Path, name: str) -> None:
        (folder / 'file').write_text('x')
        with pytest.raises((FileNotFoundError, NotADirectoryError)):
            Workspace(folder / name)

    def test_the_workspace_stays_the_folder_that_it_was(
        self, folder: Path, tmp_path: Path, workspace: Workspace
    ) -> None:
        (folder / 'secret.txt').write_text('mine')
        folder.rename(tmp_path / 'moved')
        folder.symlink_to('outside')
        with workspace.open_file(
            value_of(workspace.locate_file(asked('secret.txt'))).names
        ) as stream:
            assert stream.read() == b'mine'


class TestOpening:
    def test_a_symlink_that_came_in_between_is_not_followed(
        self, folder: Path, workspace: Workspace
    ) -> None:
        (folder / 'out').symlink_to('../outside')
        (folder / 'out-file').symlink_to('../outside/secret.txt')
        for path in (('out', 'secret.txt'), ('out-file',)):
            with (
                pytest.raises(OSError, match=r'Not a directory|symbolic links'),
                workspace.open_file(path),
            ):
                pass
        with pytest.raises(NotADirectoryError), workspace.scan_folder(('out',)):
            pass

    def test_a_pipe_that_came_in_between_neither_blocks_nor_opens(
        self, folder: Path, workspace: Workspace
    ) -> None:
        os.mkfifo(folder / 'pipe')
        with (
            pytest.raises(FileNotFoundError, match='no longer a regular file'),
            workspace.open_file(('pipe',)),
        ):
            pass
