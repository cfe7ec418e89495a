"""Results of tools as messages for the APIs of model providers."""

from collections.abc import Callable
from typing import Literal, TypeAlias, TypeVar, overload

from msgspec import UNSET, Struct, UnsetType

from seamwise._results.containers import Result, Success
from seamwise._text.jsonable import replace_surrogates
from seamwise.seams.adapter import translated
from seamwise.seams.model.shape import Done, Guidance
from seamwise.seams.model.suggestions import advise_check
from seamwise.seams.model.token_budget import fit_to_tokens, fit_value_to_tokens
from seamwise.seams.rendering.encoding import to_json
from seamwise.seams.rendering.errors import public_form
from seamwise.seams.reporting.tool_outcome import ToolOutcome, result_and_effect

E = TypeVar('E')

STRUCTURED_SINCE = '2025-06-18'
"""The first MCP revision in which a result has `structuredContent`, which is an object."""

ANY_STRUCTURED_SINCE = RESULT_TYPE_SINCE = '2026-07-28'
"""The first MCP revision with any value in `structuredContent`, and with `resultType`."""

Provider: TypeAlias = Literal['openai', 'anthropic', 'gemini', 'mcp']


class OpenAiMessage(Struct, frozen=True, tag='tool', tag_field='role'):
    """A message of role `tool` (OpenAI, Chat Completions)."""

    tool_call_id: str
    content: str


class AnthropicBlock(Struct, frozen=True, tag='tool_result', tag_field='type'):
    """A content block of a user message (Anthropic, Messages)."""

    tool_use_id: str
    content: str
    is_error: bool


class FunctionResponse(Struct, frozen=True):
    """The response of a function (Gemini); `response` is an object, not text."""

    id: str
    name: str
    response: object


class GeminiPart(Struct, frozen=True, rename='camel'):
    """A part of the content of a user message (Gemini)."""

    function_response: FunctionResponse


class TextContent(Struct, frozen=True, tag='text', tag_field='type'):
    """A text block of a result (MCP)."""

    text: str


class ToolResult(Struct, frozen=True, kw_only=True, rename='camel'):
    """The result of `tools/call` (MCP).

    `structured_content` is the value of a success, if the revision of the peer can carry it.
    """

    result_type: Literal['complete'] | UnsetType = 'complete'
    """Required since revision 2026-07-28. Clients of older revisions ignore it."""
    content: tuple[TextContent, ...]
    structured_content: object = UNSET
    is_error: bool = False


Message: TypeAlias = OpenAiMessage | AnthropicBlock | GeminiPart | ToolResult


@overload
def tool_message(
    result: Result[object, E] | ToolOutcome[E],
    *,
    adapter: Callable[[E], Guidance],
    call_id: str,
    provider: Literal['openai'] = 'openai',
    limit: int | None = None,
) -> OpenAiMessage: ...
@overload
def tool_message(
    result: Result[object, E] | ToolOutcome[E],
    *,
    adapter: Callable[[E], Guidance],
    call_id: str,
    provider: Literal['anthropic'],
    limit: int | None = None,
) -> AnthropicBlock: ...
@overload
def tool_message(
    result: Result[object, E] | ToolOutcome[E],
    *,
    adapter: Callable[[E], Guidance],
    call_id: str,
    provider: Literal['gemini'],
    limit: int | None = None,
    name: str | None = None,
) -> GeminiPart: ...
@overload
def tool_message(
    result: Result[object, E] | ToolOutcome[E],
    *,
    adapter: Callable[[E], Guidance],
    call_id: str,
    provider: Literal['mcp'],
    limit: int | None = None,
) -> ToolResult: ...
def tool_message(
    result: Result[object, E] | ToolOutcome[E],
    *,
    adapter: Callable[[E], Guidance],
    call_id: str,
    provider: Provider = 'openai',
    limit: int | None = None,
    name: str | None = None,
) -> Message:
    """Build the message that answers a model's call.

    It contains the data of a success or the guidance of a failure, encoded as JSON once.
    The shapes are those of OpenAI (Chat Completions, a message of role `tool`), Anthropic
    (Messages, a `tool_result` with `is_error`), Gemini (a part with `functionResponse`) and MCP
    (the result of `tools/call`). For a defect, pass its reference:
    `tool_message(Failure(report.ref), adapter=defect, call_id=…)`.

    Args:
        result: The result of the call, or its outcome. The guidance about a call that may have
            taken effect and must not run twice advises to check that before another call.
        adapter: Table from errors to guidance.
        call_id: Id of the model's call.
        provider: `openai`, `anthropic`, `gemini` or `mcp`.
        limit: Budget for the answer in tokens, as `tokens` estimates them, at least 1. The least
            important parts are cut first, and the rest is valid JSON. Default: no limit.
        name: Name of the function, which only Gemini requires. Default: `call_id`.

    Raises:
        ValueError: The provider is unknown, or the limit is below 1.

    >>> from seamwise import Success
    >>> from seamwise.seams.model.tables import TOOLS
    >>> tool_message(Success({'bytes': 7}), adapter=TOOLS, call_id='c1')
    OpenAiMessage(tool_call_id='c1', content='{"status":"success","result":{"bytes":7}}')
    """
    result, may_have_taken_effect = result_and_effect(result, 'tool_message')
    answer: Done[object] | Guidance
    if type(result) is Success:
        answer = Done(public_form(result.unwrap()))
    else:
        error = result.failure()
        answer = translated(error, adapter, Guidance)
        if may_have_taken_effect:
            answer = advise_check(answer, error)
    if provider == 'mcp':
        return tool_result(answer, limit=limit)
    content = answer if limit is None else fit_to_tokens(answer, limit)
    match provider:
        case 'openai':
            return OpenAiMessage(call_id, to_json(content).decode())
        case 'anthropic':
            return AnthropicBlock(
                call_id, to_json(content).decode(), is_error=isinstance(answer, Guidance)
            )
        case 'gemini':
            return GeminiPart(FunctionResponse(call_id, name or call_id, content))
        case _:
            raise ValueError(
                f"provider must be 'openai', 'anthropic', 'gemini' or 'mcp', not {provider!r}."
            )


def tool_result(
    answer: Done[object] | Guidance, *, limit: int | None = None, revision: str | None = None
) -> ToolResult:
    """Build the result of MCP's `tools/call`.

    A failure becomes its guidance as text, a success its value as text: a string as it is, any
    other value as JSON. The value becomes
    `structuredContent` too: an object since revision 2025-06-18, any value since 2026-07-28. A
    value that was cut is text only, since it may no longer match the schema of the tool.

    Args:
        answer: The success or the guidance.
        limit: Budget in tokens, for the text and for the structured content. Default: no limit.
        revision: Revision of MCP that the peer uses. Default: unknown; the result is then valid in
            every revision, with only objects as structured content.
    """
    result_type: Literal['complete'] | UnsetType = (
        'complete' if revision is None or revision >= RESULT_TYPE_SINCE else UNSET
    )
    if isinstance(answer, Guidance):
        guidance = answer if limit is None else fit_to_tokens(answer, limit)
        text = to_json(guidance).decode()
        return ToolResult(result_type=result_type, content=(TextContent(text),), is_error=True)
    whole = public_form(answer.result)
    value = whole if limit is None else fit_value_to_tokens(whole, limit)
    text = to_json(value).decode()
    is_structured = value is whole and _allows_structured(text, revision)
    return ToolResult(
        result_type=result_type,
        content=(TextContent(replace_surrogates(value) if isinstance(value, str) else text),),
        structured_content=value if is_structured else UNSET,
    )


def _allows_structured(text: str, revision: str | None) -> bool:
    """Return whether a revision of MCP allows a value, given as JSON, as structured content."""
    if text.startswith('{'):
        return revision is None or revision >= STRUCTURED_SINCE
    return revision is not None and revision >= ANY_STRUCTURED_SINCE
