"""`execute_command`: a shell command in a folder of the workspace."""

import errno
from pathlib import Path
from typing import Annotated

from msgspec import Meta, Struct
from msgspec.structs import replace

from seamwise.catalog.tools import CommandFailed, CommandTimedOut, InvalidParameter
from seamwise.scope import Do, fallible
from seamwise.secrets import Secret
from seamwise.toolhost.arguments import Example
from seamwise.toolhost.guards.guarded_call import time_left
from seamwise.toolhost.processes import shell
from seamwise.toolhost.workspace.paths import Names, PathRequest, Trouble
from seamwise.toolhost.workspace.workspace import Workspace

_DESCRIPTORS = Path('/proc/self/fd')


class ExecuteCommand(Struct, frozen=True, kw_only=True):
    """The arguments of `execute_command`; `timeout` is in seconds."""

    command: Annotated[str, Meta(min_length=1), Example('ls -l')]
    cwd: str = '.'
    timeout: Annotated[float, Meta(ge=0.1, le=600)] = 60.0


class Finished(Struct, frozen=True):
    """How the command ended, and the last characters (at most 4,000) of what it wrote, errors too."""

    exit_code: int
    output: str
    truncated: bool


@fallible
def execute_command(
    do: Do[Trouble | CommandFailed | CommandTimedOut], workspace: Workspace, args: ExecuteCommand
) -> Finished:
    """Run a command by `/bin/sh`, with no input; when the shell ends or the time is over, its whole group is killed."""
    args = replace(args, timeout=time_left(args.timeout))
    asked = PathRequest('execute_command', args.cwd, 'cwd')
    place = do(workspace.folder(asked))
    if '\0' in args.command:
        do.fail(_invalid(args, 'must not hold a NUL character'))
    try:
        ended = _run(workspace, place.names, args)
    except OSError as raised:
        if raised.errno == errno.E2BIG:
            do.fail(
                _invalid(
                    args,
                    f'has {len(args.command):,} characters, more than a command may have here; put it in a file',
                )
            )
        do.fail(asked.trouble(raised))
    if ended.exit_code is None:
        do.fail(CommandTimedOut('execute_command', args.command, args.timeout, ended.output))
    if ended.exit_code != 0:
        do.fail(CommandFailed('execute_command', args.command, ended.exit_code, ended.output))
    return Finished(ended.exit_code, ended.output, ended.truncated)


def _run(workspace: Workspace, names: Names, args: ExecuteCommand) -> shell.CommandResult:
    with workspace.open_folder(names) as folder:
        # By the open folder, where the system knows that way: the path to it may lead elsewhere by now.
        cwd = (
            _DESCRIPTORS / str(folder) if _DESCRIPTORS.is_dir() else workspace.root.joinpath(*names)
        )
        return shell.run(args.command.encode(), cwd=cwd, timeout=args.timeout)


def _invalid(args: ExecuteCommand, reason: str) -> InvalidParameter:
    return InvalidParameter('execute_command', 'command', reason, Secret(args.command))
