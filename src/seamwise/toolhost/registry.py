"""The tools by name: finds the one that is called, checks its arguments, and runs it."""

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
from seamwise.toolhost.arguments import check
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
"""All tools here have the one namespace."""

Value: TypeAlias = Struct
"""What a tool gives: a Struct of its own, whose fields are the keys of its result, in their order."""

A = TypeVar('A', bound=Struct)
V = TypeVar('V', bound=Struct)

_NAME = re.compile(r'[a-z][a-z0-9_]{0,63}')


Operation: TypeAlias = Callable[[], Result[Value, ToolError]]
"""The work of one call, whose arguments are right; each time it is called it is done."""

ArgumentError: TypeAlias = MissingParameter | InvalidParameter
"""What is wrong with the arguments of a call."""


@final
class Tool(Struct, frozen=True):
    """A tool as the registry knows it; `tool` makes one."""

    name: str
    prepare: Callable[[Workspace, Mapping[str, object]], Result[Operation, ArgumentError]]
    is_repeatable: bool


def tool(
    name: str,
    arguments: type[A],
    service: Callable[[Workspace, A], Result[V, ToolError]],
    *,
    is_repeatable: bool = False,
) -> Tool:
    """Make a tool of a service function and of the Struct that says what its arguments are.

    `is_repeatable` says that it changes nothing: a second run does no harm where the first one may have done its work.
    """

    def prepare(
        workspace: Workspace, given: Mapping[str, object]
    ) -> Result[Operation, ArgumentError]:
        return check(name, arguments, given).map(
            lambda checked: partial(service, workspace, checked)
        )

    return Tool(name, prepare, is_repeatable)


@final
class Registry:
    """The tools by name; `registry` makes one."""

    def __init__(self, tools: Mapping[str, Tool]) -> None:
        self._tools = tools

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the tools, sorted."""
        return tuple(sorted(self._tools))

    def is_repeatable(self, name: str) -> bool:
        """Whether a second run of the tool of this name does no harm; KeyError where there is none."""
        return self._tools[name].is_repeatable

    def run(
        self,
        workspace: Workspace,
        call: ToolCall,
        *,
        runner: GuardedRunner | None = None,
        stats: CallStats | None = None,
    ) -> Result[Value, ToolError | GuardError]:
        """Find the tool of a call, check its arguments, and run it inside its guards; `stats` is told how it went.

        UnknownTool where there is no such tool. What a tool raises is a bug, and passes.
        """
        found = self._tools.get(call.tool)
        if found is None:
            return Failure(
                UnknownTool(call.tool, NAMESPACE, self.names, close_matches(call.tool, self.names))
            )
        prepared = found.prepare(workspace, call.arguments)
        if type(prepared) is Failure:
            return prepared
        return (runner or GuardedRunner()).run(
            call.tool, prepared.unwrap(), stats=stats or CallStats()
        )


def registry(tools: Iterable[Tool]) -> Result[Registry, RegistrationRejected]:
    """Put tools together; each needs a plain name of its own (`[a-z][a-z0-9_]*`, 64 characters at most)."""
    known: dict[str, Tool] = {}
    for one in tools:
        if not _NAME.fullmatch(one.name):
            return Failure(
                RegistrationRejected(
                    one.name,
                    'a name has lower-case letters, digits and "_", and begins with a letter',
                )
            )
        if one.name in known:
            return Failure(RegistrationRejected(one.name, 'another tool has this name'))
        known[one.name] = one
    return Success(Registry(known))


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
"""The seven tools of the tool host."""
