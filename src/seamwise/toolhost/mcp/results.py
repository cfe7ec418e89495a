"""Results of tools of a server as results of this library."""

from collections.abc import Iterable, Mapping
from typing import Final

import msgspec
from mcp.types import CallToolResult, TextContent

from seamwise._errors.categories import Category
from seamwise._errors.errors import TaggedError
from seamwise._results.containers import Failure, Result, Success
from seamwise._text.json_pointer import json_pointer
from seamwise._text.phrases import end_sentence
from seamwise._text.shortening import shorten
from seamwise.catalog.problem import Problem
from seamwise.catalog.tools import InvalidResult, ToolFailed
from seamwise.seams.model.messages import ANY_STRUCTURED_SINCE
from seamwise.seams.model.shape import Guidance
from seamwise.seams.rendering.encoding import to_json
from seamwise.toolhost.mcp.contents import RemoteBlocks

_TEXT_LIMIT: Final = 4_000
"""The maximum number of characters of the text of a failure."""


class McpToolFailed(TaggedError, category=Category.EXECUTION, message='{text}'):
    """A tool of an MCP server reports a failure; it is the cause of a `ToolFailed`.

    `text` is the text of its content; a block of another type is replaced by its type in brackets,
    and the guidance of a server that uses this library by its sentences. `has_suggestion` is
    whether this guidance suggests the next step.
    """

    server: str
    text: str
    has_suggestion: bool = False


def read_result(
    server: str, tool: str, result: CallToolResult, *, revision: str
) -> Result[object, ToolFailed]:
    """Return the value of a result, or the failure that it reports.

    A value is the structured content, else the text of a single text block, else all blocks.

    Args:
        server: The name of the server, for errors.
        tool: The name of the tool, for errors.
        result: The result as the server has sent it.
        revision: The revision of MCP that the connection uses.
    """
    if result.is_error:
        return Failure(ToolFailed(tool, _failure(server, result)))
    if 'structured_content' in result.model_fields_set:
        value: object = result.structured_content
        # Before, null is what some servers send for a field that is not there.
        if value is not None or revision >= ANY_STRUCTURED_SINCE:
            return Success(value)
    match result.content:
        case [TextContent(text=text)]:
            return Success(text)
        case _:
            return Success(RemoteBlocks(_blocks(result), result.content))


def invalid_result(tool: str, cause: BaseException) -> InvalidResult:
    """Return the error for a result that the client has rejected because of its schema."""
    error = cause.__cause__
    path: Iterable[str | int] = getattr(error, 'absolute_path', ())
    message: object = getattr(error, 'message', str(cause))
    return InvalidResult(tool, (Problem(json_pointer(path), shorten(str(message))),))


def _failure(server: str, result: CallToolResult) -> McpToolFailed:
    texts = [
        block.text if isinstance(block, TextContent) else f'[{block.type}]'
        for block in result.content
    ]
    guidance = _guidance(texts[0]) if len(texts) == 1 else None
    if guidance is not None:
        # A model would otherwise get JSON inside JSON.
        sentences = [end_sentence(guidance.message), guidance.suggestion, guidance.output]
        texts = [' '.join(filter(None, sentences))]
    if not texts and result.structured_content is not None:
        texts = [to_json(result.structured_content).decode()]
    text = shorten('\n'.join(texts), _TEXT_LIMIT) or 'It gives no reason.'
    has_suggestion = guidance is not None and guidance.suggestion is not None
    return McpToolFailed(server, text, has_suggestion)


def _guidance(text: str) -> Guidance | None:
    """Return the guidance that a server which uses this library has sent, or None."""
    try:
        return msgspec.json.decode(text, type=Guidance, strict=True)
    except msgspec.MsgspecError:
        return None


def _blocks(result: CallToolResult) -> list[dict[str, object]]:
    dumped: Mapping[str, list[dict[str, object]]] = result.model_dump(
        mode='json', by_alias=True, exclude_none=True, include={'content'}
    )
    return dumped['content']
