"""Answers to calls, in the shape that each provider expects."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, overload

from seamwise._errors.errors import TaggedError
from seamwise._results.containers import Success
from seamwise.catalog.parsing import ParsingError, UnreadableCall
from seamwise.catalog.tools import ToolError
from seamwise.policies import GuardError
from seamwise.seams.adapter import Adapter
from seamwise.seams.model.shape import Guidance
from seamwise.seams.model.tables import GUARDS, PARSING, TOOLS
from seamwise.seams.rendering.encoding import to_json
from seamwise.toolhost.formats import (
    anthropic,
    function_call,
    gemini,
    harmony,
    hermes,
    mcp,
    openai,
    openai_responses,
    react,
    sections,
    tagged,
)
from seamwise.toolhost.formats.guidance import guide, sendable_result
from seamwise.toolhost.formats.parsing import check_format
from seamwise.toolhost.formats.reply import Reply, answer_with_json
from seamwise.toolhost.outcome import ToolOutcome

E = TypeVar('E', bound=TaggedError)

TOOL_GUIDANCE: Adapter[ToolError | ParsingError | GuardError, Guidance] = Adapter(
    lambda: TOOLS | PARSING | GUARDS
)
"""The guidance for errors of tools, of the parser and of guards."""

# A format that is not here is answered with JSON.
_ANSWERS: dict[str, Callable[[Reply], dict[str, object] | str]] = {
    'openai': openai.answer,
    'function_call': function_call.answer,
    'openai_responses': openai_responses.answer,
    'anthropic': anthropic.answer,
    'gemini': gemini.answer,
    'mcp': mcp.answer,
    'hermes': hermes.answer,
    'harmony': harmony.answer,
    'deepseek': sections.answer_deepseek,
    'kimi': sections.answer_kimi,
    'qwen': hermes.answer,
    'glm': hermes.answer,
    'invoke': tagged.answer_invoke,
    'minimax': tagged.answer_minimax,
    'cline': tagged.answer_cline,
    'react': react.answer,
}


@overload
def answer(
    outcome: ToolOutcome[ToolError | ParsingError | GuardError], *, format: str | None = None
) -> dict[str, object] | str: ...
@overload
def answer(
    outcome: ToolOutcome[E],
    *,
    format: str | None = None,
    model: Callable[[E | ToolError | ParsingError | GuardError], Guidance],
) -> dict[str, object] | str: ...
def answer(
    outcome: ToolOutcome[Any],
    *,
    format: str | None = None,  # noqa: A002 -- the word of the formats
    model: Callable[[Any], Guidance] = TOOL_GUIDANCE,
) -> dict[str, object] | str:
    """Return the answer to a call, to send back to the model.

    A success is its value as JSON, a failure the guidance of the model seam. A call without an id
    is answered as `call-N`, where N is its place in the output.

    >>> from seamwise.toolhost import ToolCall
    >>> call = ToolCall('add', {'a': 1, 'b': 2}, id='call_1', format='openai')
    >>> outcome = ToolOutcome(1, call, Success(3), attempts=1, waited=0.0, duration=0.1)
    >>> answer(outcome)
    {'role': 'tool', 'tool_call_id': 'call_1', 'content': '3'}
    >>> answer(outcome, format='react')
    'Observation: 3'

    Args:
        outcome: The outcome of the call.
        format: The format of the answer, of `FORMATS`. Default: the format of the call.
        model: The table of the errors. Default: `TOOL_GUIDANCE`. A tool with errors of its own
            needs `TOOL_GUIDANCE` and its own arms.

    Raises:
        ValueError: The format is not in `FORMATS`.
    """
    if format is not None:
        check_format(format)
    result = sendable_result(outcome)
    error = None if type(result) is Success else result.failure()
    content: object = result.unwrap() if error is None else guide(outcome, error, model)
    unread = error if isinstance(error, UnreadableCall) else None
    call = outcome.call or unread
    name = format or (call.format if call else 'bare')
    call_id = call.id if call else None
    reply = Reply(
        tool=(call.tool if call else None) or 'unknown',
        id=f'call-{outcome.place}' if call_id is None else call_id,
        text=to_json(content).decode(),
        is_error=error is not None,
    )
    return _ANSWERS.get(name, answer_with_json)(reply)
