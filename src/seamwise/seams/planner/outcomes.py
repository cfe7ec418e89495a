"""Classification of the outcomes of tool calls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, overload

from seamwise._results.containers import Success
from seamwise.seams import catalog
from seamwise.seams.adapter import Adapter, translated
from seamwise.seams.planner.decisions import POSSIBLE_EFFECT
from seamwise.seams.planner.shape import ErrorInfo, with_details
from seamwise.seams.planner.tables import GUARDS, MCP, PARSING, TOOLS
from seamwise.seams.rendering.values import safe_text
from seamwise.seams.reporting.tool_outcome import ToolOutcome

E = TypeVar('E')

PLANNER: Adapter[
    catalog.tools.ToolError
    | catalog.parsing.ParsingError
    | catalog.policies.GuardError
    | catalog.protocols.McpError,
    ErrorInfo,
] = Adapter(lambda: TOOLS | PARSING | GUARDS | MCP)
"""The errors of tool calls: of tools, of the parser, of guards and of MCP servers."""


@overload
def classify(
    outcome: ToolOutcome[
        catalog.tools.ToolError
        | catalog.parsing.ParsingError
        | catalog.policies.GuardError
        | catalog.protocols.McpError
    ],
    /,
) -> ErrorInfo | None: ...
@overload
def classify(
    outcome: ToolOutcome[E], /, *, adapter: Callable[[E], ErrorInfo]
) -> ErrorInfo | None: ...
def classify(
    outcome: ToolOutcome[Any], /, *, adapter: Callable[[Any], ErrorInfo] = PLANNER
) -> ErrorInfo | None:
    """Return the classified error of a tool call, or None if the call succeeded.

    `tool_name` in the details is the tool of the call. The name of a guard that refused the call is
    `guard_name`. If the call must not be repeated because it may have taken effect,
    `may_have_taken_effect` is in the details, and `decide` does not advise a retry.

    Args:
        outcome: The outcome of the call.
        adapter: The table of the errors. Default: `PLANNER`, the errors of tools, of the parser, of
            guards and of MCP servers. A tool with other errors needs `PLANNER` and its own arms.

    >>> from seamwise import Failure
    >>> from seamwise.policies import CircuitOpen
    >>> from seamwise.toolhost import ToolCall, ToolOutcome
    >>> call = ToolCall('weather', {'city': 'Bern'}, id='c-1', line=1)
    >>> is_open = Failure(CircuitOpen('api', failures=5, retry_after=30.0, state='open'))
    >>> info = classify(ToolOutcome(1, call, is_open, attempts=0, waited=0.0, duration=0.001))
    >>> info.category, info.retry_after_ms, info.details['tool_name'], info.details['guard_name']
    (<ErrorCategory.CIRCUIT_OPEN: 'circuit_open'>, 30000, 'weather', 'api')
    """
    result = outcome.result
    if type(result) is Success:
        return None
    error = result.failure()
    info = translated(error, adapter, ErrorInfo)
    if outcome.call is None:
        return info
    details: dict[str, object] = {'tool_name': None, **info.details}
    if outcome.may_have_taken_effect:
        details[POSSIBLE_EFFECT] = True
    if type(error) in GUARDS.kinds:
        details['guard_name'] = details['tool_name']
    details['tool_name'] = safe_text(outcome.call.tool)
    return with_details(info, details)
