"""Resources and prompts of an MCP server, each a tool, and completion of their arguments."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final
from urllib.parse import unquote

from mcp import MCPError
from mcp.types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    BlobResourceContents,
    Completion,
    GetPromptResult,
    Prompt,
    PromptArgument,
    PromptMessage,
    ReadResourceResult,
    Resource,
    ResourceTemplate,
    TextContent,
    TextResourceContents,
)

from seamwise._errors.errors import TaggedError
from seamwise._errors.texts import public_message
from seamwise._results.containers import Success
from seamwise._text.json_fields import object_of
from seamwise.catalog.tools import InvalidParameter, MissingParameter
from seamwise.seams.rendering.encoding import to_json
from seamwise.toolhost.calls import ToolCall
from seamwise.toolhost.content import Content
from seamwise.toolhost.formats.entries import is_array, is_object
from seamwise.toolhost.formats.guidance import sendable_result
from seamwise.toolhost.formats.untyped import typed_arguments
from seamwise.toolhost.mcp.contents import content_blocks, items_of, resource_contents
from seamwise.toolhost.processor import Processor
from seamwise.toolhost.tools import Tool, Tools

_RESOURCE_NOT_FOUND: Final = -32002
"""The code for an unknown resource before 2026-07-28."""

_NOT_FOUND_IS_INVALID_SINCE: Final = '2026-07-28'

_VARIABLE: Final = re.compile(r'\{([A-Za-z_][A-Za-z0-9_]*)\}')

_MAX_COMPLETIONS: Final = 100
"""The maximum number of values of a completion, by the protocol."""

_JSON: Final = 'application/json'


class Offers:
    """Resources and prompts besides the tools of a server.

    Args:
        resources: The tools that return resources, by address. An address with variables, such as
            `notes://{year}/{name}`, is a template, whose variables are the parameters of the tool.
        prompts: The tools that return the messages of prompts.

    Raises:
        ValueError: The variables of an address are not the parameters of its tool.
        TypeError: A resource or a prompt is no tool, or two prompts have the same name.
    """

    def __init__(
        self, resources: Mapping[str, Tool[Any]], prompts: Tools[Any] | Tool[Any] | None
    ) -> None:
        self._resources = dict(resources)
        self._prompts: Tools[Any] = Tools(
            [] if prompts is None else prompts if isinstance(prompts, Tools) else [prompts]
        )
        for uri, tool in self._resources.items():
            _check_variables(uri, tool)
        self._readers: Processor[Any] = Processor(
            Tools({id(tool): tool for tool in self._resources.values()}.values())
        )
        self._writers: Processor[Any] = Processor(self._prompts)

    @property
    def has_resources(self) -> bool:
        """Whether there are resources."""
        return bool(self._resources)

    @property
    def has_prompts(self) -> bool:
        """Whether there are prompts."""
        return bool(len(self._prompts))

    async def aclose(self) -> None:
        """End what still runs."""
        await self._readers.close()
        await self._writers.close()

    def resources(self) -> list[Resource]:
        """Return the resources with a fixed address."""
        return [
            Resource(
                uri=uri, name=tool.name, title=tool.title, description=tool.description or None
            )
            for uri, tool in self._resources.items()
            if not _VARIABLE.search(uri)
        ]

    def templates(self) -> list[ResourceTemplate]:
        """Return the resources with variables in their address."""
        return [
            ResourceTemplate(
                uri_template=uri,
                name=tool.name,
                title=tool.title,
                description=tool.description or None,
            )
            for uri, tool in self._resources.items()
            if _VARIABLE.search(uri)
        ]

    def prompts(self) -> list[Prompt]:
        """Return the prompts."""
        return [
            Prompt(
                name=tool.qualified_name,
                title=tool.title,
                description=tool.description or None,
                arguments=[*_arguments(tool)],
            )
            for tool in self._prompts
        ]

    async def read(self, uri: str, revision: str) -> ReadResourceResult:
        """Return a resource.

        Raises:
            MCPError: There is no such resource, or its tool failed.
        """
        for template, tool in self._resources.items():
            match = _pattern(template).fullmatch(uri)
            if match is not None:
                texts = {name: unquote(text) for name, text in match.groupdict().items()}
                value = await _run(self._readers, tool, texts)
                return ReadResourceResult(contents=[*_contents(uri, value)])
        is_invalid = revision >= _NOT_FOUND_IS_INVALID_SINCE
        code = INVALID_PARAMS if is_invalid else _RESOURCE_NOT_FOUND
        raise MCPError(code, 'Resource not found', {'uri': uri})

    async def prompt(
        self, name: str, arguments: Mapping[str, str], revision: str
    ) -> GetPromptResult:
        """Return the messages of a prompt.

        Raises:
            MCPError: There is no such prompt, an argument is wrong, or its tool failed.
        """
        found = self._prompts.find(name)
        if type(found) is not Success:
            raise MCPError(INVALID_PARAMS, f'Unknown prompt: {name}')
        tool = found.unwrap()
        value = await _run(self._writers, tool, arguments)
        blocks = content_blocks(value, revision)
        if blocks is None:
            blocks = [TextContent(text=_text(item)) for item in items_of(value)]
        return GetPromptResult(
            description=tool.description or None,
            messages=[PromptMessage(role='user', content=block) for block in blocks],
        )

    def complete(self, prompt: str | None, uri: str | None, name: str, start: str) -> Completion:
        """Return the values of an argument that begin with a text.

        They are those of the type of the parameter: a `Literal`, an enumeration or a boolean.

        Args:
            prompt: The name of the prompt, or None.
            uri: The address of the resource with its variables, or None.
            name: The name of the argument.
            start: The beginning of the value.
        """
        tool = self._resources.get(uri or '')
        if prompt is not None:
            tool = self._prompts.find(prompt).value_or(None)
        schema: Mapping[str, object] = {} if tool is None else tool.input_schema
        texts = [
            text
            for text in _values(object_of(schema.get('properties')).get(name), schema)
            if text.startswith(start)
        ]
        return Completion(
            values=texts[:_MAX_COMPLETIONS],
            total=len(texts),
            has_more=len(texts) > _MAX_COMPLETIONS,
        )


async def _run(processor: Processor[Any], tool: Tool[Any], texts: Mapping[str, str]) -> object:
    arguments = typed_arguments(texts, tool.input_schema)
    [outcome] = await processor.run(ToolCall(tool.name, arguments, namespace=tool.namespace))
    result = sendable_result(outcome)
    if type(result) is Success:
        return result.unwrap()
    error: TaggedError = result.failure()
    is_invalid = isinstance(error, InvalidParameter | MissingParameter)
    raise MCPError(INVALID_PARAMS if is_invalid else INTERNAL_ERROR, public_message(error))


def _check_variables(uri: str, tool: Tool[Any]) -> None:
    if not isinstance(tool, Tool):
        raise TypeError(f'The resource {uri!r} must be a tool, not {tool!r}.')
    variables = _VARIABLE.findall(uri)
    parameters = [*object_of(tool.input_schema.get('properties'))]
    if sorted(variables) != sorted(parameters):
        raise ValueError(
            f'The variables of {uri!r} must be the parameters of {tool.name!r}: '
            f'{", ".join(parameters) or "none"}.'
        )


def _pattern(template: str) -> re.Pattern[str]:
    parts = _VARIABLE.split(template)
    # Every second part is the name of a variable.
    texts = [
        f'(?P<{part}>[^/?#]+)' if index % 2 else re.escape(part) for index, part in enumerate(parts)
    ]
    return re.compile(''.join(texts))


def _contents(uri: str, value: object) -> Iterator[TextResourceContents | BlobResourceContents]:
    items: Sequence[object] = items_of(value)
    if not all(isinstance(item, str | bytes | Content) for item in items):
        items = [value]
    for item in items:
        match item:
            case Content():
                yield resource_contents(item.uri or uri, item)
            case bytes():
                yield resource_contents(uri, Content(uri=uri, data=item))
            case str():
                yield resource_contents(uri, Content(text=item))
            case _:
                yield resource_contents(uri, Content(text=_text(item), mime_type=_JSON))


def _text(value: object) -> str:
    return value if isinstance(value, str) else to_json(value).decode()


def _arguments(tool: Tool[Any]) -> Iterator[PromptArgument]:
    schema = tool.input_schema
    required = schema.get('required')
    names = required if is_array(required) else []
    for name, member in object_of(schema.get('properties')).items():
        description = member.get('description') if is_object(member) else None
        text = description if isinstance(description, str) else None
        yield PromptArgument(name=name, description=text, required=name in names)


def _values(schema: object, root: Mapping[str, object]) -> Iterator[str]:
    """Yield the values that a schema lists, as texts."""
    if not is_object(schema):
        return
    reference = schema.get('$ref')
    if isinstance(reference, str):
        definitions = object_of(root.get('$defs'))
        yield from _values(definitions.get(reference.rpartition('/')[2]), root)
    if schema.get('type') == 'boolean':
        yield from ('true', 'false')
    for value in [*_list(schema.get('enum')), *([schema['const']] if 'const' in schema else [])]:
        yield _text(value)
    for member in _list(schema.get('anyOf')):
        yield from _values(member, root)


def _list(value: object) -> list[object]:
    return value if is_array(value) else []
