"""Tools of an MCP server as tools of a processor."""

import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from functools import partial
from hashlib import sha256
from typing import Final

from mcp.types import Tool as ToolDefinition
from typing_extensions import override

from seamwise._results.containers import Failure, Result, Success
from seamwise.catalog.protocols import McpError
from seamwise.catalog.tools import InvalidParameter, MissingParameter, ToolError
from seamwise.toolhost.mcp.json_schema import ArgumentsSchema
from seamwise.toolhost.schema.definitions import name_problem, qualified_name
from seamwise.toolhost.schema.results import ResultType, check_json_result
from seamwise.toolhost.tools import Invocation, Tool, Tools

Call = Callable[
    ['RemoteTool', Mapping[str, object]], Awaitable[Result[object, McpError | ToolError]]
]

_INVALID: Final = re.compile('[^a-zA-Z0-9_-]')

_NAME_LIMIT: Final = 64

_HASH_LENGTH: Final = 8


class RemoteTool(Tool[McpError | ToolError]):
    """A tool of an MCP server.

    Args:
        definition: The tool as the server describes it.
        name: The name for the model.
        namespace: The namespace of the tools of the server, or None.
        call: Calls the tool with checked arguments.

    Attributes:
        remote_name: The name that the server uses.
    """

    def __init__(
        self, definition: ToolDefinition, *, name: str, namespace: str | None, call: Call
    ) -> None:
        hints = definition.annotations
        super().__init__(
            name,
            namespace=namespace,
            description=definition.description or definition.title or '',
            is_repeatable=hints is not None and hints.idempotent_hint is True,
            title=definition.title or (None if hints is None else hints.title),
            is_read_only=None if hints is None else hints.read_only_hint,
            is_open_world=None if hints is None else hints.open_world_hint,
        )
        self.remote_name = definition.name
        self._definition = definition
        self._arguments = ArgumentsSchema(self.qualified_name, definition.input_schema)
        self._call = call

    @property
    @override
    def annotations(self) -> Mapping[str, object]:
        """The hints of the server about the tool."""
        hints = self._definition.annotations
        own = {} if hints is None else hints.model_dump(by_alias=True, exclude_none=True)
        return {**super().annotations, **own}

    @property
    @override
    def input_schema(self) -> Mapping[str, object]:
        """The JSON Schema of the arguments, an object."""
        return self._definition.input_schema

    @property
    @override
    def output_schema(self) -> Mapping[str, object] | None:
        """The JSON Schema of the structured content, or None if the server has not declared it."""
        return self._definition.output_schema

    @override
    def bind(
        self, arguments: Mapping[str, object]
    ) -> Result[Invocation[McpError | ToolError], MissingParameter | InvalidParameter]:
        """Check the arguments of a call, and return the call, ready to run."""
        checked = self._arguments.check(arguments)
        if type(checked) is Failure:
            return checked
        values = checked.unwrap()
        return Success(
            Invocation(
                run=partial(self._call, self, values),
                is_async=True,
                check=partial(check_json_result, self.qualified_name, ResultType()),
                function=self._call,
                arguments=values,
            )
        )


def remote_tools(
    definitions: Iterable[ToolDefinition], *, namespace: str | None, call: Call
) -> Tools[McpError | ToolError]:
    """Return the tools of a server, with names that every provider accepts.

    Other characters than letters, digits, `_` and `-` are replaced by `_`. A name that is too long,
    or that another tool has then, ends with a hash of the name that the server uses.

    Args:
        definitions: The tools as the server describes them; of two with the same name, the first.
        namespace: The namespace of the tools, or None.
        call: Calls a tool with checked arguments.
    """
    tools: dict[str, RemoteTool] = {}
    remote_names: set[str] = set()
    for definition in definitions:
        if definition.name in remote_names:
            continue
        remote_names.add(definition.name)
        name = _local_name(definition.name, namespace)
        if name in tools:
            name = _with_hash(name, definition.name, namespace)
        tools[name] = RemoteTool(definition, name=name, namespace=namespace, call=call)
    return Tools(tools.values())


def _local_name(remote_name: str, namespace: str | None) -> str:
    if name_problem(remote_name, namespace) is None:
        return remote_name
    name = _INVALID.sub('_', remote_name) or '_'
    if namespace is None and not (name[0].isalpha() or name[0] == '_'):
        name = f'_{name}'
    if len(qualified_name(name, namespace)) > _NAME_LIMIT:
        name = _with_hash(name, remote_name, namespace)
    return name


def _with_hash(name: str, remote_name: str, namespace: str | None) -> str:
    suffix = sha256(remote_name.encode(errors='replace')).hexdigest()[:_HASH_LENGTH]
    room = _NAME_LIMIT - len(qualified_name('', namespace)) - len(suffix) - 1
    return f'{name[:room]}_{suffix}'
