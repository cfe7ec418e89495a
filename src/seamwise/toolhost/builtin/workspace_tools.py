"""The seven tools of a workspace."""

import os
from collections.abc import Callable, Collection, Hashable, Mapping
from functools import wraps
from inspect import getdoc, signature
from typing import TypeVar

from msgspec import Struct

from seamwise._results.containers import Result
from seamwise.catalog.tools import ToolError
from seamwise.toolhost.builtin.apply_diff import ApplyDiff, apply_diff
from seamwise.toolhost.builtin.execute_command import ExecuteCommand, execute_command
from seamwise.toolhost.builtin.list_files import ListFiles, list_files
from seamwise.toolhost.builtin.read_file import ReadFile, read_file
from seamwise.toolhost.builtin.replace_in_file import ReplaceInFile, replace_in_file
from seamwise.toolhost.builtin.search_files import SearchFiles, search_files
from seamwise.toolhost.builtin.workspace.workspace import Workspace
from seamwise.toolhost.builtin.write_file import WriteFile, write_file
from seamwise.toolhost.function_tool import tool
from seamwise.toolhost.tools import Tool, Tools

A = TypeVar('A', bound=Struct)


def workspace_tools(workspace: Workspace, *, variables: Collection[str] = ()) -> Tools[ToolError]:
    """Return the tools that work in a folder.

    Those that write a file are exclusive by file; those that only read are repeatable.

    >>> from pathlib import Path
    >>> len(workspace_tools(Workspace(Path('.'))))
    7

    Args:
        workspace: The folder.
        variables: The names of environment variables that commands get, besides the usual ones.
    """

    def reader(
        service: Callable[[Workspace, A], Result[Struct, ToolError]], arguments: type[A]
    ) -> Tool[ToolError]:
        # The services return what they declare; a check of each entry would take long.
        decorate = tool(is_repeatable=True, validate=False)
        return decorate(_function(workspace, service, arguments))

    def writer(
        service: Callable[[Workspace, A], Result[Struct, ToolError]], arguments: type[A]
    ) -> Tool[ToolError]:
        decorate = tool(exclusive=lambda values: _file_key(workspace, values), validate=False)
        return decorate(_function(workspace, service, arguments))

    @wraps(execute_command)
    # seamwise: allow[SW105] one type for all tools
    def run_command(folder: Workspace, args: ExecuteCommand) -> Result[Struct, ToolError]:
        return execute_command(folder, args, variables)

    return Tools(
        [
            reader(read_file, ReadFile),
            writer(write_file, WriteFile),
            reader(list_files, ListFiles),
            reader(search_files, SearchFiles),
            writer(replace_in_file, ReplaceInFile),
            writer(apply_diff, ApplyDiff),
            tool(validate=False)(_function(workspace, run_command, ExecuteCommand)),
        ]
    )


def _function(
    workspace: Workspace,
    service: Callable[[Workspace, A], Result[Struct, ToolError]],
    arguments: type[A],
) -> Callable[..., Result[Struct, ToolError]]:
    """Return a service as a function of the fields of its arguments."""

    def run(**values: object) -> Result[Struct, ToolError]:
        return service(workspace, arguments(**values))

    run.__name__ = run.__qualname__ = service.__name__
    run.__module__ = service.__module__
    # The first paragraph describes the tool, and the attributes of the Struct its parameters.
    run.__doc__ = f'{getdoc(service)}\n\n{getdoc(arguments)}'
    vars(run)['__signature__'] = signature(arguments).replace(
        return_annotation=signature(service).return_annotation
    )
    return run


def _file_key(workspace: Workspace, values: Mapping[str, object]) -> Hashable:
    """Return the same key for each spelling of a path, also through symlinks."""
    path = os.path.join(workspace.root, str(values['path']))
    return 'file', path if '\0' in path else os.path.realpath(path)
