"""A result of a tool as the message that a provider's interface takes."""

from collections.abc import Callable
from typing import Literal, TypeAlias, TypeVar, overload

from msgspec import UNSET, Struct

from seamwise._text.jsonable import to_json
from seamwise.containers import Result, Success
from seamwise.seams.model.shape import Done, Guidance
from seamwise.seams.model.token_budget import fit_to_tokens, fitted_value

E = TypeVar('E')

Provider: TypeAlias = Literal['openai', 'anthropic', 'gemini', 'mcp']


class OpenAiMessage(Struct, frozen=True, tag='tool', tag_field='role'):
    """A message of role `tool` (OpenAI, Chat Completions)."""

    tool_call_id: str
    content: str


class AnthropicBlock(Struct, frozen=True, tag='tool_result', tag_field='type'):
    """A content block of a user's message (Anthropic, Messages)."""

    tool_use_id: str
    content: str
    is_error: bool


class FunctionResponse(Struct, frozen=True):
    """What a function answered (Gemini); `response` is an object, not text."""

    id: str
    name: str
    response: object


class GeminiPart(Struct, frozen=True, rename='camel'):
    """A part of a user's content (Gemini)."""

    function_response: FunctionResponse


class TextContent(Struct, frozen=True, tag='text', tag_field='type'):
    """A text in a result (MCP)."""

    text: str


class ToolResult(Struct, frozen=True, rename='camel'):
    """The result of `tools/call` (MCP). `structured_content` is the value where that is an object."""

    content: tuple[TextContent, ...]
    structured_content: object = UNSET
    is_error: bool = False


Message: TypeAlias = OpenAiMessage | AnthropicBlock | GeminiPart | ToolResult


@overload
def tool_message(
    result: Result[object, E],
    *,
    adapter: Callable[[E], Guidance],
    call_id: str,
    provider: Literal['openai'] = 'openai',
    limit: int | None = None,
) -> OpenAiMessage: ...
@overload
def tool_message(
    result: Result[object, E],
    *,
    adapter: Callable[[E], Guidance],
    call_id: str,
    provider: Literal['anthropic'],
    limit: int | None = None,
) -> AnthropicBlock: ...
@overload
def tool_message(
    result: Result[object, E],
    *,
    adapter: Callable[[E], Guidance],
    call_id: str,
    provider: Literal['gemini'],
    limit: int | None = None,
    name: str | None = None,
) -> GeminiPart: ...
@overload
def tool_message(
    result: Result[object, E],
    *,
    adapter: Callable[[E], Guidance],
    call_id: str,
    provider: Literal['mcp'],
    limit: int | None = None,
) -> ToolResult: ...
def tool_message(
    result: Result[object, E],
    *,
    adapter: Callable[[E], Guidance],
    call_id: str,
    provider: Provider = 'openai',
    limit: int | None = None,
    name: str | None = None,
) -> Message:
    """Make the message that answers a model's call: the data of a success, the guidance of a failure, JSON once.

    `limit` is a budget in tokens for what the model reads (`fitting.tokens` tells how they are reckoned; below 1 is a
    ValueError): what matters least is cut until it fits, and what is left is whole JSON. `name` is the function's, which
    Gemini asks for; it defaults to the id of the call. Of a defect, the reference makes the message:
    `tool_message(Failure(report.ref), adapter=defect, call_id=…)`.

    The shapes are those of OpenAI (Chat Completions, a message of role `tool`), Anthropic (Messages, a `tool_result`
    with `is_error`), Gemini (a part with `functionResponse`) and MCP (the result of `tools/call`).

    >>> from seamwise import Success
    >>> from seamwise.seams.model.tables import TOOLS
    >>> tool_message(Success({'bytes': 7}), adapter=TOOLS, call_id='c1')
    OpenAiMessage(tool_call_id='c1', content='{"status":"success","result":{"bytes":7}}')
    """
    answer: Done[object] | Guidance = (
        Done(result.unwrap()) if type(result) is Success else adapter(result.failure())
    )
    if provider == 'mcp':
        return tool_result(answer, limit=limit)
    given = answer if limit is None else fit_to_tokens(answer, limit)
    match provider:
        case 'openai':
            return OpenAiMessage(call_id, to_json(given).decode())
        case 'anthropic':
            return AnthropicBlock(
                call_id, to_json(given).decode(), is_error=isinstance(answer, Guidance)
            )
        case 'gemini':
            return GeminiPart(FunctionResponse(call_id, name or call_id, given))
        case _:
            raise ValueError(
                f"provider is 'openai', 'anthropic', 'gemini' or 'mcp', not {provider!r}."
            )


def tool_result(
    answer: Done[object] | Guidance, *, limit: int | None = None, structured: bool = True
) -> ToolResult:
    """Make the result of MCP's `tools/call`: a failure's guidance as text, a success's value as text and, where it is an object, as it is.

    Both, so that a client from before revision 2025-06-18, which brought `structuredContent`, can read it; `limit` holds
    for each of the two. A value that had to be cut is given as text only: it may no longer be what the tool's schema says.
    """
    if isinstance(answer, Guidance):
        shown = answer if limit is None else fit_to_tokens(answer, limit)
        return ToolResult((TextContent(to_json(shown).decode()),), is_error=True)
    value = answer.result if limit is None else fitted_value(answer.result, limit)
    text = to_json(value).decode()
    is_object = structured and value is answer.result and text.startswith('{')
    return ToolResult((TextContent(text),), value if is_object else UNSET)
