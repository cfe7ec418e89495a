"""The workspace: no path leaves it, and the checks of paths run in their order."""

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
    ToolTimedOut,
)
from seamwise.toolhost.builtin.workspace import workspace as workspace_module
from seamwise.toolhost.builtin.workspace.location import ResolvedPath
from seamwise.toolhost.builtin.workspace.paths import PathRequest
from seamwise.toolhost.builtin.workspace.workspace import Workspace
from tests.toolhost.helpers import (
    FakeLimit,
    error_of,
    limit_handles,
    make_nested_folders,
    open_handles,
    unprivileged,
    value_of,
)


def request(path: str) -> PathRequest:
    return PathRequest('read_file', path)


def resolved_path(result: Result[ResolvedPath, object]) -> str:
    return '/'.join(value_of(result).names)


def forbidden_reason(result: Result[ResolvedPath, object]) -> str:
    return error_of(result, PathForbidden).reason


class TestPathResolution:
    def test_a_file_a_folder_and_the_workspace_itself_are_found(
        self, folder: Path, workspace: Workspace
    ) -> None:
        (folder / 'src').mkdir()
        (folder / 'src' / 'app.py').write_text('x')
        assert value_of(workspace.locate_file(request('src/app.py'))).names == ('src', 'app.py')
        assert value_of(workspace.locate_folder(request('src/'))).names == ('src',)
        for path in ('.', './', 'src/..', str(folder), f'{folder}/', f'{folder}/src/../.'):
            location = value_of(workspace.locate_folder(request(path)))
            assert location.names == ()
            assert location.is_folder

    def test_double_dots_can_lead_anywhere_inside(self, folder: Path, workspace: Workspace) -> None:
        (folder / 'a' / 'b').mkdir(parents=True)
        (folder / 'a' / 'x').write_text('x')
        for path in ('a/x', 'a/b/../x', 'a/../a/b/../../a/x', 'a/./b/.././x', f'{folder}/a/b/../x'):
            assert resolved_path(workspace.locate_file(request(path))) == 'a/x'

    def test_double_dots_after_a_symlink_lead_to_the_parent_of_its_target(
        self, folder: Path, workspace: Workspace
    ) -> None:
        """`..` after a symlink is the folder above its target, as for every other program."""
        (folder / 'a' / 'deep').mkdir(parents=True)
        (folder / 'a' / 'x').write_text('x')
        (folder / 'link').symlink_to('a/deep')
        assert resolved_path(workspace.locate_file(request('link/../x'))) == 'a/x'
        error_of(workspace.locate_file(request('nothere/../a/x')), FileNotFound)
        error_of(workspace.locate_file(request('a/x/../x')), InvalidParameter)

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
            assert resolved_path(workspace.locate_file(request(path))) == 'src/app.py'
        assert resolved_path(workspace.locate_folder(request('here'))) == ''
        assert resolved_path(workspace.locate_folder(request('dir'))) == 'src'

    def test_the_root_of_a_workspace_can_be_a_symlink(self, folder: Path, tmp_path: Path) -> None:
        (folder / 'a').write_text('x')
        (tmp_path / 'alias').symlink_to('ws')
        workspace = Workspace(tmp_path / 'alias')
        assert workspace.root == folder.resolve()
        for path in ('a', str(tmp_path / 'alias' / 'a'), str(folder / 'a')):
            assert resolved_path(workspace.locate_file(request(path))) == 'a'

    def test_a_missing_entry_has_names_and_the_depth_that_exists(
        self, folder: Path, workspace: Workspace
    ) -> None:
        (folder / 'a').mkdir()
        location = value_of(workspace.locate(request('a/b/c')))
        assert (location.names, location.depth, location.mode) == (('a', 'b', 'c'), 1, 0)

    def test_a_file_is_not_accepted_as_a_folder_nor_the_reverse(
        self, folder: Path, workspace: Workspace
    ) -> None:
        (folder / 'src').mkdir()
        (folder / 'file').write_text('x')
        assert (
            error_of(workspace.locate_file(request('src')), InvalidParameter).reason
            == 'is a folder, not a file'
        )
        assert (
            error_of(workspace.locate_folder(request('file')), InvalidParameter).reason
            == 'is a file, not a folder'
        )
        for path in ('file/', 'file/.', 'file/x', 'file/x/y', 'file/..'):
            assert (
                error_of(workspace.locate(request(path)), InvalidParameter).reason
                == 'uses a file as if it were a folder'
            )

    def test_an_entry_that_is_neither_is_reported_by_its_kind(
        self, folder: Path, workspace: Workspace
    ) -> None:
        os.mkfifo(folder / 'pipe')
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(os.path.relpath(folder / 'socket'))
            assert (
                error_of(workspace.locate_file(request('socket')), InvalidParameter).reason
                == 'is a socket, not a file'
            )
        assert (
            error_of(workspace.locate_file(request('pipe')), InvalidParameter).reason
            == 'is a pipe, not a file'
        )
        assert (
            error_of(workspace.locate_folder(request('pipe')), InvalidParameter).reason
            == 'is a pipe, not a folder'
        )

    def test_names_with_special_characters_are_ordinary_names(
        self, folder: Path, workspace: Workspace
    ) -> None:
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
            assert value_of(workspace.locate_file(request(name))).names == (name,)

    def test_a_deep_path_is_resolved_with_few_handles(
        self, folder: Path, workspace: Workspace
    ) -> None:
        make_nested_folders(folder, 300)
        with limit_handles(4):
            assert len(value_of(workspace.locate_folder(request('d/' * 300))).names) == 300
            assert resolved_path(workspace.locate_folder(request('d/' * 300 + '../' * 300))) == ''
            error_of(workspace.locate_existing(request('d/' * 300 + 'nothere')), FileNotFound)


class TestPathsOutside:
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
    def test_a_path_outside_is_forbidden(
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
        assert (
            forbidden_reason(workspace.locate(request(path), writing=writing))
            == 'outside_workspace'
        )

    def test_a_symlink_loop_is_not_found(self, folder: Path, workspace: Workspace) -> None:
        (folder / 'loop').symlink_to('loop')
        (folder / 'ping').symlink_to('pong')
        (folder / 'pong').symlink_to('ping')
        (folder / 'deeper').symlink_to('deeper/x')
        for path in ('loop', 'loop/x', 'ping', 'deeper', 'loop/'):
            for writing in (False, True):
                assert (
                    error_of(
                        workspace.locate(request(path), writing=writing), FileNotFound
                    ).suggestions
                    == ()
                )

    def test_as_many_symlinks_are_followed_as_by_the_system(
        self, folder: Path, workspace: Workspace
    ) -> None:
        (folder / 'link0').write_text('x')
        for number in range(1, 42):
            (folder / f'link{number}').symlink_to(f'link{number - 1}')
        assert (folder / 'link40').read_text() == 'x'
        assert resolved_path(workspace.locate_file(request('link40'))) == 'link0'
        error_of(workspace.locate_file(request('link41')), FileNotFound)


class TestIgnoredPaths:
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
    def test_an_ignored_path_is_forbidden_whether_it_exists_or_not(
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
        assert forbidden_reason(workspace.locate(request(path), writing=writing)) == 'ignored'

    def test_paths_that_match_no_rule_are_not_ignored(
        self, folder: Path, workspace: Workspace
    ) -> None:
        (folder / 'public.key').write_text('x')
        (folder / 'secrets').write_text('a file, but the rule is for folders')
        assert resolved_path(workspace.locate_file(request('public.key'))) == 'public.key'
        assert resolved_path(workspace.locate_file(request('secrets'))) == 'secrets'

    def test_a_symlink_below_an_ignored_name_is_not_followed(
        self, folder: Path, workspace: Workspace
    ) -> None:
        (folder / 'secrets').mkdir()
        (folder / 'secrets' / 'out').symlink_to('/etc')
        assert forbidden_reason(workspace.locate(request('secrets/out/passwd'))) == 'ignored'

    def test_changed_rules_apply_immediately(self, folder: Path, workspace: Workspace) -> None:
        (folder / 'a').write_text('x')
        resolved_path(workspace.locate_file(request('a')))
        (folder / '.seamignore').write_text('a\n')
        assert forbidden_reason(workspace.locate_file(request('a'))) == 'ignored'
        (folder / '.seamignore').unlink()
        resolved_path(workspace.locate_file(request('a')))


class TestRulesFile:
    def test_the_rules_file_can_be_a_symlink_inside(
        self, folder: Path, workspace: Workspace
    ) -> None:
        (folder / '.gitignore').write_text('a\n')
        (folder / '.seamignore').symlink_to('.gitignore')
        assert forbidden_reason(workspace.locate(request('a'))) == 'ignored'
        for path in ('.seamignore', '.gitignore'):
            assert (
                forbidden_reason(workspace.locate(request(path), writing=True)) == 'write_protected'
            )

    @pytest.mark.parametrize(
        'target', ['../outside/secret.txt', 'nothere', '.seamignore', 'folder', 'folder/nothere']
    )
    def test_a_rules_file_that_leads_nowhere_blocks_all_access(
        self, folder: Path, workspace: Workspace, target: str
    ) -> None:
        """Ignoring nothing instead would expose hidden files."""
        (folder / 'folder').mkdir()
        (folder / '.seamignore').symlink_to(target)
        cause = error_of(workspace.locate(request('a')), ToolFailed).cause
        assert (
            str(cause)
            == "[Errno 22] the ignore rules are not a file inside the workspace: '.seamignore'"
        )

    @pytest.mark.parametrize('create', [Path.mkdir, os.mkfifo])
    def test_a_rules_file_that_is_not_a_regular_file_blocks_all_access(
        self, folder: Path, workspace: Workspace, create: Callable[[Path], None]
    ) -> None:
        create(folder / '.seamignore')
        error_of(workspace.locate(request('a')), ToolFailed)

    def test_a_rules_file_over_the_limit_blocks_all_access(
        self, folder: Path, workspace: Workspace
    ) -> None:
        (folder / '.seamignore').write_bytes(b'#' * 1024 * 1024)
        value_of(workspace.locate(request('a')))
        (folder / '.seamignore').write_bytes(b'#' * (1024 * 1024 + 1))
        assert 'more than 1,048,576 bytes' in str(
            error_of(workspace.locate(request('a')), ToolFailed).cause
        )

    def test_an_unreadable_rules_file_blocks_all_access(
        self, folder: Path, workspace: Workspace
    ) -> None:
        (folder / '.seamignore').write_text('a')
        (folder / '.seamignore').chmod(0)
        with unprivileged():
            assert forbidden_reason(workspace.locate(request('b'))) == 'system'

    def test_a_rules_file_in_another_folder_has_no_meaning(
        self, folder: Path, workspace: Workspace
    ) -> None:
        (folder / 'sub').mkdir()
        (folder / 'sub' / '.seamignore').write_text('*\n')
        (folder / 'sub' / 'a').write_text('x')
        resolved_path(workspace.locate_file(request('sub/a')))
        value_of(workspace.locate(request('sub/.seamignore'), writing=True))


class TestProtectedPaths:
    @pytest.mark.parametrize(
        'path',
        ['.git', '.git/config', '.git/nothere/x', 'sub/.git/hooks/x', 'to-git/config', '.GIT/x'],
    )
    def test_a_git_folder_cannot_be_written(
        self, folder: Path, workspace: Workspace, path: str
    ) -> None:
        (folder / '.git').mkdir()
        (folder / '.git' / 'config').write_text('x')
        (folder / 'to-git').symlink_to('.git')
        assert forbidden_reason(workspace.locate(request(path), writing=True)) == 'system'

    def test_a_git_folder_can_be_read(self, folder: Path, workspace: Workspace) -> None:
        (folder / '.git').mkdir()
        (folder / '.git' / 'config').write_text('x')
        resolved_path(workspace.locate_file(request('.git/config')))

    @pytest.mark.parametrize('path', ['.seamignore', './.seamignore', 'link', '.seamignore/x'])
    @pytest.mark.parametrize('exists', [False, True])
    def test_the_rules_file_is_write_protected(
        self, folder: Path, workspace: Workspace, path: str, exists: bool
    ) -> None:
        (folder / 'link').symlink_to('.seamignore')
        if exists:
            (folder / '.seamignore').write_text('*.key\n')
        assert forbidden_reason(workspace.locate(request(path), writing=True)) == 'write_protected'

    def test_a_file_without_write_bits_is_protected_even_from_root(
        self, folder: Path, workspace: Workspace
    ) -> None:
        (folder / 'locked').write_text('x')
        (folder / 'locked').chmod(0o555)
        (folder / 'link').symlink_to('locked')
        for path in ('locked', 'link'):
            assert (
                forbidden_reason(workspace.locate(request(path), writing=True)) == 'write_protected'
            )
        resolved_path(workspace.locate_file(request('locked')))

    def test_a_file_that_the_user_cannot_write_is_forbidden_by_the_system(
        self, folder: Path, workspace: Workspace
    ) -> None:
        (folder / 'theirs').write_text('x')
        (folder / 'theirs').chmod(0o644)
        with unprivileged():
            is_mine = os.access(folder / 'theirs', os.W_OK, effective_ids=True)
            result = workspace.locate(request('theirs'), writing=True)
        # A user other than root owns the file and can write it.
        assert (
            (resolved_path(result) == 'theirs')
            if is_mine
            else (forbidden_reason(result) == 'system')
        )

    def test_a_missing_folder_cannot_be_written_as_a_file(
        self, folder: Path, workspace: Workspace
    ) -> None:
        (folder / 'file').write_text('x')
        for path in ('new/', 'new/.', 'new/sub/'):
            assert (
                'must name a file'
                in error_of(workspace.locate(request(path), writing=True), InvalidParameter).reason
            )
        error_of(workspace.locate(request('new/..'), writing=True), FileNotFound)
        error_of(workspace.locate(request('new/../file'), writing=True), FileNotFound)


class TestMissingPaths:
    def test_similar_names_in_the_same_folder_are_suggested(
        self, folder: Path, workspace: Workspace
    ) -> None:
        (folder / 'src').mkdir()
        for name in ('src/app.py', 'src/apt.py', 'app.py'):
            (folder / name).write_text('x')
        assert error_of(
            workspace.locate_existing(request('src/ap.py')), FileNotFound
        ).suggestions == (
            'src/app.py',
            'src/apt.py',
        )
        assert error_of(
            workspace.locate_existing(request(f'{folder}/./srcc/app.py')), FileNotFound
        ).suggestions == ('src/app.py',)

    def test_a_suggestion_is_a_place_of_the_same_depth(
        self, folder: Path, workspace: Workspace
    ) -> None:
        (folder / 'd').write_text('x')
        (folder / 'lib').mkdir()
        (folder / 'lib' / 'b.py').write_text('x')
        (folder / '.seamignore').write_text('/lib/b.py\n')
        for path in ('D/F', 'lab/core/a.py', 'libs/b.py'):
            error = error_of(workspace.locate_existing(request(path)), FileNotFound)
            assert error.suggestions == ()

    def test_hidden_names_are_not_suggested(self, folder: Path, workspace: Workspace) -> None:
        (folder / '.seamignore').write_text('secret.txt\nsecrets/\n')
        (folder / 'secret.txt').write_text('x')
        (folder / 'secrets').mkdir()
        (folder / '.git').mkdir()
        (folder / 'secret\udcff').write_text('x')
        for path in ('secre.txt', 'secret', '.gi'):
            assert (
                error_of(workspace.locate_existing(request(path)), FileNotFound).suggestions == ()
            )

    def test_an_unreadable_folder_has_no_suggestions(
        self, folder: Path, workspace: Workspace
    ) -> None:
        (folder / 'src').mkdir()
        (folder / 'src' / 'app.py').write_text('x')
        (folder / 'src').chmod(0o711)
        with unprivileged():
            resolved_path(workspace.locate_existing(request('src/app.py')))
            assert (
                error_of(workspace.locate_existing(request('src/ap.py')), FileNotFound).suggestions
                == ()
            )

    def test_suggestions_compare_a_limited_number_of_names(
        self, folder: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (folder / 'app.py').write_text('x')
        monkeypatch.setattr(workspace_module, 'MAX_CANDIDATES', 0)
        assert error_of(workspace.locate_existing(request('ap.py')), FileNotFound).suggestions == ()


class TestSystemErrors:
    def test_a_folder_without_search_permission_is_forbidden_by_the_system(
        self, folder: Path, workspace: Workspace
    ) -> None:
        (folder / 'closed').mkdir(mode=0o700)
        with unprivileged():
            assert forbidden_reason(workspace.locate(request('closed/x'))) == 'system'

    def test_too_many_open_files_are_reported_as_exhausted_handles(
        self, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def raise_too_many(_folder: int) -> int:
            raise OSError(errno.EMFILE, 'too many')

        with monkeypatch.context() as patched:
            patched.setattr(os, 'dup', raise_too_many)
            result = workspace.locate(request('a'))
        assert error_of(result, ResourceExhausted).resource == 'handles'

    def test_a_resolution_leaves_no_handle_open(self, folder: Path, workspace: Workspace) -> None:
        (folder / 'a' / 'b').mkdir(parents=True)
        (folder / 'a' / 'x').write_text('x')
        (folder / 'link').symlink_to('a')
        (folder / 'out').symlink_to('..')
        handles_before = open_handles()
        for path in ('link/b/../x', 'nothere/x', 'out/x', 'a/x/y', 'a/y', '', '.'):
            workspace.locate_existing(request(path), writing=True)
            workspace.locate_existing(request(path))
        assert open_handles() == handles_before

    def test_a_file_that_has_become_a_folder_leaves_no_handle_open(
        self, folder: Path, workspace: Workspace
    ) -> None:
        (folder / 'a').mkdir()
        handles_before = open_handles()
        with pytest.raises(FileNotFoundError), workspace.open_file(('a',)):
            pass
        assert open_handles() == handles_before

    def test_a_collected_workspace_closes_its_folder(self, folder: Path) -> None:
        gc.collect()
        handles_before = len(open_handles())
        workspace = Workspace(folder)
        assert len(open_handles()) == handles_before + 1
        del workspace
        gc.collect()
        assert len(open_handles()) == handles_before

    @pytest.mark.parametrize('name', ['nothere', 'file'])
    def test_a_root_that_is_not_a_folder_raises(self, folder: Path, name: str) -> None:
        (folder / 'file').write_text('x')
        with pytest.raises((FileNotFoundError, NotADirectoryError)):
            Workspace(folder / name)

    def test_a_workspace_follows_its_folder_when_that_is_moved(
        self, folder: Path, tmp_path: Path, workspace: Workspace
    ) -> None:
        (folder / 'secret.txt').write_text('mine')
        folder.rename(tmp_path / 'moved')
        folder.symlink_to('outside')
        with workspace.open_file(
            value_of(workspace.locate_file(request('secret.txt'))).names
        ) as stream:
            assert stream.read() == b'mine'


class TestOpenFile:
    def test_a_symlink_swapped_in_is_not_followed(self, folder: Path, workspace: Workspace) -> None:
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

    def test_a_pipe_swapped_in_neither_blocks_nor_opens(
        self, folder: Path, workspace: Workspace
    ) -> None:
        os.mkfifo(folder / 'pipe')
        with (
            pytest.raises(FileNotFoundError, match='no longer a regular file'),
            workspace.open_file(('pipe',)),
        ):
            pass


class TestWhitelists:
    """Rules that ignore everything but folders and some files."""

    RULES = '*\n!*/\n!*.md\n'

    def test_a_file_of_the_whitelist_can_be_created_in_a_new_folder(
        self, folder: Path, workspace: Workspace
    ) -> None:
        (folder / '.seamignore').write_text(self.RULES)
        location = value_of(workspace.locate(request('new/folder/a.md'), writing=True))
        assert location.names == ('new', 'folder', 'a.md')
        for path in ('new/a.txt', 'a.txt', 'new'):
            assert forbidden_reason(workspace.locate(request(path), writing=True)) == 'ignored'

    def test_an_ignored_entry_in_place_of_a_folder_looks_like_a_missing_folder(
        self, folder: Path, workspace: Workspace
    ) -> None:
        (folder / '.seamignore').write_text(self.RULES)
        (folder / 'file').write_text('x')
        (folder / 'link').symlink_to('.')
        for name in ('file', 'link', 'nothere'):
            assert error_of(
                workspace.locate_existing(request(f'{name}/a.md')), FileNotFound
            ) == FileNotFound('read_file', f'{name}/a.md')
            for path in (name, f'{name}/x'):
                assert forbidden_reason(workspace.locate(request(path))) == 'ignored'


def test_a_resolution_is_limited_in_time(folder: Path, workspace: Workspace) -> None:
    make_nested_folders(folder, 20)
    result = workspace.locate(request('d/' * 20), FakeLimit(3.0, checks=10))
    assert error_of(result, ToolTimedOut) == ToolTimedOut('read_file', 3.0, 1)
