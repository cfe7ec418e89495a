"""Registry of tools: lookup by name, conversion of arguments, execution."""

import re
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import TypeAlias, TypeVar, final

from msgspec import Struct

from seamwise._close_matches import close_matches
from seamwise.catalog.tools import (
    InvalidParameter,
    MissingParameter,
    RegistrationRejected,
    ToolError,
    UnknownTool,
)
from seamwise.containers import Failure, Result, Success
from seamwise.edges import or_raise
from seamwise.policies import GuardError
from seamwise.toolhost.arguments import convert_arguments
from seamwise.toolhost.calls import ToolCall
from seamwise.toolhost.guards.guarded_call import CallStats, GuardedRunner
from seamwise.toolhost.tools.apply_diff import ApplyDiff, apply_diff
from seamwise.toolhost.tools.execute_command import ExecuteCommand, execute_command
from seamwise.toolhost.tools.list_files import ListFiles, list_files
from seamwise.toolhost.tools.read_file import ReadFile, read_file
from seamwise.toolhost.tools.replace_in_file import ReplaceInFile, replace_in_file
from seamwise.toolhost.tools.search_files import SearchFiles, search_files
from seamwise.toolhost.tools.write_file import WriteFile, write_file
from seamwise.toolhost.workspace.workspace import Workspace

NAMESPACE = 'default'
"""The only namespace of tools."""

Value: TypeAlias = Struct
"""The value that a tool returns; its fields are the keys of the result, in this order."""

A = TypeVar('A', bound=Struct)
V = TypeVar('V', bound=Struct)

_NAME = re.compile(r'[a-z][a-z0-9_]{0,63}')


ToolOperation: TypeAlias = Callable[[], Result[Value, ToolError]]
"""The work of a call with valid arguments; each invocation does it once."""

ArgumentError: TypeAlias = MissingParameter | InvalidParameter
"""The failures of the arguments of a call."""


@final
class Tool(Struct, frozen=True):
    """A tool in a registry; `tool` creates it."""

    name: str
    prepare: Callable[[Workspace, Mapping[str, object]], Result[ToolOperation, ArgumentError]]
    is_repeatable: bool


def tool(
    name: str,
    arguments: type[A],
    service: Callable[[Workspace, A], Result[V, ToolError]],
    *,
    is_repeatable: bool = False,
) -> Tool:
    """Return a tool that runs a service function.

    Args:
        name: The name of the tool.
        arguments: The Struct with the parameters of the tool.
        service: The function that does the work.
        is_repeatable: Whether running the tool twice does no harm; by default it does.
    """

    def prepare(
        workspace: Workspace, values: Mapping[str, object]
    ) -> Result[ToolOperation, ArgumentError]:
        return convert_arguments(name, arguments, values).map(
            lambda args: partial(service, workspace, args)
        )

    return Tool(name, prepare, is_repeatable)


@final
class Registry:
    """Tools by name; `registry` creates it."""

    def __init__(self, tools: Mapping[str, Tool]) -> None:
        self._tools = tools

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the tools, sorted."""
        return tuple(sorted(self._tools))

    def is_repeatable(self, name: str) -> bool:
        """Return whether running a tool twice does no harm.

        Raises:
            KeyError: there is no tool of this name.
        """
        return self._tools[name].is_repeatable

    def run(
        self,
        workspace: Workspace,
        call: ToolCall,
        *,
        runner: GuardedRunner | None = None,
        stats: CallStats | None = None,
    ) -> Result[Value, ToolError | GuardError]:
        """Find the tool of a call, convert its arguments, and run it inside its guards.

        An exception of a tool is a bug and propagates unchanged.

        Args:
            workspace: The folder that the tool works in.
            call: The call.
            runner: The guards of the tools; by default there are none.
            stats: The statistics to update; by default they are discarded.

        Returns:
            The result of the tool, or `UnknownTool` with similar names.
        """
        tool = self._tools.get(call.tool)
        if tool is None:
            return Failure(
                UnknownTool(call.tool, NAMESPACE, self.names, close_matches(call.tool, self.names))
            )
        operation = tool.prepare(workspace, call.arguments)
        if type(operation) is Failure:
            return operation
        return (runner or GuardedRunner()).run(
            call.tool, operation.unwrap(), stats=stats or CallStats()
        )


def registry(tools: Iterable[Tool]) -> Result[Registry, RegistrationRejected]:
    """Return a registry of tools.

    Each tool needs a unique name that matches `[a-z][a-z0-9_]*`, at most 64 characters long.
    """
    by_name: dict[str, Tool] = {}
    for item in tools:
        if not _NAME.fullmatch(item.name):
            return Failure(
                RegistrationRejected(
                    item.name,
                    'a name has lower-case letters, digits and "_", and begins with a letter',
                )
            )
        if item.name in by_name:
            return Failure(RegistrationRejected(item.name, 'another tool has this name'))
        by_name[item.name] = item
    return Success(Registry(by_name))


STANDARD = or_raise(
    registry(
        [
            tool('read_file', ReadFile, read_file, is_repeatable=True),
            tool('write_file', WriteFile, write_file),
            tool('list_files', ListFiles, list_files, is_repeatable=True),
            tool('search_files', SearchFiles, search_files, is_repeatable=True),
            tool('replace_in_file', ReplaceInFile, replace_in_file),
            tool('apply_diff', ApplyDiff, apply_diff),
            tool('execute_command', ExecuteCommand, execute_command),
        ]
    )
)
"""The seven standard tools."""
