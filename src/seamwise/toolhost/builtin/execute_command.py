"""`execute_command`: run a shell command in a folder of the workspace."""

import errno
from collections.abc import Collection
from pathlib import Path
from typing import Annotated

from msgspec import Meta, Struct
from msgspec.structs import astuple, replace

from seamwise._results.scope import Do, fallible
from seamwise._text.secrets import Secret
from seamwise.catalog.tools import CommandFailed, CommandTimedOut, InvalidParameter
from seamwise.toolhost.builtin.processes.shell import (
    CommandResult,
    command_environment,
    run_command,
)
from seamwise.toolhost.builtin.workspace.paths import Names, PathError, PathRequest
from seamwise.toolhost.builtin.workspace.workspace import Workspace
from seamwise.toolhost.guards.guarded_call import time_left
from seamwise.toolhost.schema.arguments import Example

_DESCRIPTORS = Path('/proc/self/fd')


class ExecuteCommand(Struct, frozen=True, kw_only=True):
    """The arguments of `execute_command`.

    Attributes:
        command: A command for `/bin/sh`.
        cwd: The folder that it runs in, relative to the workspace.
        timeout: The maximum time in seconds.
    """

    command: Annotated[str, Meta(min_length=1), Example('ls -l')]
    cwd: str = '.'
    timeout: Annotated[float, Meta(ge=0.1, le=600)] = 60.0


class Finished(Struct, frozen=True):
    """The exit status and the output of a command.

    Attributes:
        exit_code: The exit status.
        output: The last 4,000 characters of the output and the errors, as they came.
        truncated: Whether there was more output before them.
    """

    exit_code: int
    output: str
    truncated: bool


@fallible
def execute_command(
    do: Do[PathError | CommandFailed | CommandTimedOut],
    workspace: Workspace,
    args: ExecuteCommand,
    variables: Collection[str] = (),
) -> Finished:
    """Run a command with `/bin/sh`, without input.

    When the shell exits or the timeout passes, all processes that it has started are killed.

    It gets the environment variables PATH, HOME, LANG, LC_*, TERM, TMPDIR, and those in
    `variables`.
    """
    args = replace(args, timeout=time_left(args.timeout))
    request = PathRequest('execute_command', args.cwd, 'cwd')
    location = do(workspace.locate_folder(request))
    if '\0' in args.command:
        do.fail(_invalid(args, 'must not contain a NUL character'))
    try:
        result = _run(workspace, location.names, args, variables)
    except OSError as error:
        if error.errno == errno.E2BIG:
            reason = (
                f'has {len(args.command):,} characters, more than the system allows; '
                'put the command in a file'
            )
            do.fail(_invalid(args, reason))
        do.fail(request.error_for(error))
    if result.exit_code is None:
        do.fail(
            CommandTimedOut(
                'execute_command',
                args.command,
                args.timeout,
                result.output,
                truncated=result.truncated,
            )
        )
    finished = Finished(result.exit_code, result.output, result.truncated)
    if finished.exit_code != 0:
        do.fail(CommandFailed('execute_command', args.command, *astuple(finished)))
    return finished


def _run(
    workspace: Workspace, names: Names, args: ExecuteCommand, variables: Collection[str]
) -> CommandResult:
    with workspace.open_folder(names) as folder:
        # Prefer the open folder (/proc): its path can lead elsewhere by now.
        cwd = (
            _DESCRIPTORS / str(folder) if _DESCRIPTORS.is_dir() else workspace.root.joinpath(*names)
        )
        return run_command(
            args.command.encode(),
            cwd=cwd,
            timeout=args.timeout,
            environment=command_environment(variables),
        )


def _invalid(args: ExecuteCommand, reason: str) -> InvalidParameter:
    return InvalidParameter('execute_command', 'command', reason, Secret(args.command))
