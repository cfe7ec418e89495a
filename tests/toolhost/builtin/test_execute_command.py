"""`execute_command`: results and failures of commands."""

import errno
import os
from pathlib import Path

import pytest

from seamwise.catalog.tools import (
    CommandFailed,
    CommandTimedOut,
    FileNotFound,
    InvalidParameter,
    PathForbidden,
    ResourceExhausted,
    ToolFailed,
)
from seamwise.toolhost.builtin import execute_command as execute_command_module
from seamwise.toolhost.builtin.execute_command import ExecuteCommand, Finished, execute_command
from seamwise.toolhost.builtin.processes.shell import CommandResult
from seamwise.toolhost.builtin.workspace.workspace import Workspace
from tests.toolhost.helpers import error_of, open_handles, unprivileged, value_of

LONG_TIMEOUT = 30.0


def run(workspace: Workspace, command: str, cwd: str = '.') -> Finished:
    return value_of(
        execute_command(workspace, ExecuteCommand(command=command, cwd=cwd, timeout=LONG_TIMEOUT))
    )


def run_failing(workspace: Workspace, command: str) -> CommandFailed:
    return error_of(
        execute_command(workspace, ExecuteCommand(command=command, timeout=LONG_TIMEOUT)),
        CommandFailed,
    )


def test_a_command_returns_its_output(folder: Path, workspace: Workspace) -> None:
    (folder / 'a').write_text('内容\n')
    assert run(workspace, 'cat a; echo err >&2') == Finished(0, '内容\nerr\n', truncated=False)
    assert run(workspace, 'echo 你好 | tr -d "\\n"').output == '你好'


def test_a_command_runs_in_the_given_folder(
    folder: Path, tmp_path: Path, workspace: Workspace
) -> None:
    (folder / 'src' / 'new\nline').mkdir(parents=True)
    (folder / 'link').symlink_to('src')
    for cwd, path in {
        '.': '',
        'src': '/src',
        'link': '/src',
        f'{folder}/src': '/src',
        'src/new\nline': '/src/new\nline',
    }.items():
        assert run(workspace, 'pwd -P', cwd).output == f'{folder}{path}\n'
    (folder / 'rel').write_text('x')
    assert run(workspace, 'cat ../rel', 'src').output == 'x'
    folder.rename(tmp_path / 'moved')
    assert run(workspace, 'pwd -P').output == f'{tmp_path}/moved\n'


def test_a_command_runs_in_the_path_if_proc_is_missing(
    folder: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / 'src').mkdir()
    monkeypatch.setattr(execute_command_module, '_DESCRIPTORS', Path('/nothere'))
    assert run(workspace, 'pwd -P', 'src').output == f'{folder}/src\n'


def test_a_long_output_is_truncated_to_its_end(workspace: Workspace) -> None:
    result = run(workspace, 'i=0; while [ $i -lt 2000 ]; do echo line $i; i=$((i+1)); done')
    assert result.truncated
    assert len(result.output) <= 4_000
    assert result.output.startswith('line 1')
    assert result.output.endswith('line 1999\n')


def test_a_nonzero_status_is_a_failure_with_the_output(workspace: Workspace) -> None:
    assert run_failing(workspace, 'echo out; echo err >&2; exit 3') == CommandFailed(
        'execute_command', 'echo out; echo err >&2; exit 3', 3, 'out\nerr\n'
    )
    assert run_failing(workspace, 'kill -9 $$').exit_code == 137
    failed = run_failing(workspace, 'seq 2000; exit 3')
    assert (failed.truncated, failed.output[-5:]) == (True, '2000\n')
    assert run_failing(workspace, 'nothing-of-this-name').exit_code == 127


@pytest.mark.slow
def test_a_timeout_is_a_failure_with_the_output_so_far(workspace: Workspace) -> None:
    result = execute_command(workspace, ExecuteCommand(command='echo begun; sleep 60', timeout=2.0))
    assert error_of(result, CommandTimedOut) == CommandTimedOut(
        'execute_command', 'echo begun; sleep 60', 2.0, 'begun\n', 1
    )
    result = execute_command(workspace, ExecuteCommand(command='seq 2000; sleep 60', timeout=1.0))
    assert error_of(result, CommandTimedOut).truncated


def test_an_invalid_folder_is_reported_for_cwd(folder: Path, workspace: Workspace) -> None:
    (folder / 'file').write_text('x')
    (folder / '.seamignore').write_text('secrets/\n')
    (folder / 'out').symlink_to('../outside')

    def arguments(cwd: str) -> ExecuteCommand:
        return ExecuteCommand(command='true', cwd=cwd)

    error = error_of(execute_command(workspace, arguments('file')), InvalidParameter)
    assert (error.parameter, error.reason) == ('cwd', 'is a file, not a folder')
    assert error_of(execute_command(workspace, arguments('fil')), FileNotFound) == FileNotFound(
        'execute_command', 'fil', ('file',)
    )
    for cwd, reason in {
        '..': 'outside_workspace',
        'out': 'outside_workspace',
        'secrets': 'ignored',
    }.items():
        assert error_of(execute_command(workspace, arguments(cwd)), PathForbidden).reason == reason


def test_a_folder_without_search_permission_is_forbidden(
    folder: Path, workspace: Workspace
) -> None:
    (folder / 'closed').mkdir(mode=0o700)
    with unprivileged():
        error = error_of(
            execute_command(workspace, ExecuteCommand(command='true', cwd='closed')), PathForbidden
        )
    assert error.reason == 'system'


def test_an_invalid_command_is_rejected(workspace: Workspace) -> None:
    error = error_of(
        execute_command(workspace, ExecuteCommand(command='echo \0')), InvalidParameter
    )
    assert (error.parameter, error.reason) == ('command', 'must not contain a NUL character')
    error = error_of(
        execute_command(workspace, ExecuteCommand(command='#' * 3_000_000)), InvalidParameter
    )
    assert (error.parameter, error.reason) == (
        'command',
        'has 3,000,000 characters, more than the system allows; put the command in a file',
    )


@pytest.mark.parametrize(
    ('number', 'type_', 'resource'),
    [
        (errno.EAGAIN, ResourceExhausted, 'threads'),
        (errno.ENOMEM, ResourceExhausted, 'memory'),
        (errno.EMFILE, ResourceExhausted, 'handles'),
        (errno.EIO, ToolFailed, None),
    ],
)
def test_an_error_of_the_system_is_reported(
    workspace: Workspace,
    monkeypatch: pytest.MonkeyPatch,
    number: int,
    type_: type[object],
    resource: str | None,
) -> None:
    def raise_error(*_args: object, **_kwargs: object) -> CommandResult:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(execute_command_module, 'run_command', raise_error)
    error = error_of(execute_command(workspace, ExecuteCommand(command='true')), type_)
    assert getattr(error, 'resource', None) == resource


def test_a_command_leaves_no_handle_open(workspace: Workspace) -> None:
    handles_before = open_handles()
    for command in ('true', 'false', 'echo \0', 'sleep 60'):
        execute_command(workspace, ExecuteCommand(command=command, timeout=0.2))
    assert open_handles() == handles_before
