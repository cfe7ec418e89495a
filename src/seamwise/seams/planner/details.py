"""`details` of errors whose fields differ from the keys of the wire."""

from __future__ import annotations

from collections.abc import Iterable

from seamwise._defects.exception_kinds import category_of
from seamwise._text.json_pointer import pointer_keys
from seamwise.seams import catalog
from seamwise.seams.planner.decisions import CAUSE_CATEGORY, OUTAGES
from seamwise.seams.rendering.values import drop_none

SAMPLE_LIMIT = 200
"""In characters. Longer unreadable input is cut."""


def missing_parameter_details(error: catalog.tools.MissingParameter) -> dict[str, object]:
    """Return all findings by parameter, and an example value."""
    errors = _merge(
        [
            (error.parameter, 'is missing'),
            *((finding.parameter, finding.reason) for finding in error.also),
        ]
    )
    return drop_none(
        {
            'tool_name': error.tool,
            'validation_type': 'arguments',
            'errors': errors,
            'example': error.example,
        }
    )


def invalid_parameter_details(error: catalog.tools.InvalidParameter) -> dict[str, object]:
    """Return all findings by parameter."""
    errors = _merge(
        [
            (error.parameter, error.reason),
            *((finding.parameter, finding.reason) for finding in error.also),
        ]
    )
    return {'tool_name': error.tool, 'validation_type': 'arguments', 'errors': errors}


def tool_failed_details(error: catalog.tools.ToolFailed) -> dict[str, object]:
    """Return the tool, and the category of the cause if it is an outage."""
    category = category_of(error.cause)
    return drop_none(
        {'tool_name': error.tool, CAUSE_CATEGORY: category.value if category in OUTAGES else None}
    )


def unknown_tool_details(error: catalog.tools.UnknownTool) -> dict[str, object]:
    """Return the available tools, even if there are none."""
    return {
        'tool_name': error.tool,
        'namespace': error.namespace,
        'available_tools': error.available,
        'suggestions': error.suggestions,
    }


def unknown_agent_details(error: catalog.agents.AgentNotFound) -> dict[str, object]:
    """Return the details of an unknown tool: to its caller, an agent is a tool."""
    return _name_details('agents', error.name, error.available, error.suggestions)


def unknown_command_details(error: catalog.agents.CommandNotFound) -> dict[str, object]:
    """Return the details of an unknown tool: to its caller, a command is a tool."""
    return _name_details('commands', error.name, error.available, error.suggestions)


def _name_details(
    namespace: str, name: str, available: tuple[str, ...], suggestions: tuple[str, ...]
) -> dict[str, object]:
    return {
        'tool_name': name,
        'namespace': namespace,
        'available_tools': available,
        'suggestions': suggestions,
    }


def invalid_result_details(error: catalog.tools.InvalidResult) -> dict[str, object]:
    """Return all problems by field."""
    errors = _merge((_field(problem.pointer), problem.message) for problem in error.problems)
    return {'tool_name': error.tool, 'validation_type': 'result', 'errors': errors}


def _field(pointer: str) -> str:
    """Return the name of a field: a JSON Pointer without its first `/` and its escapes."""
    return '/'.join(pointer_keys(pointer)) or 'result'


def unreadable_call_details(error: catalog.parsing.UnreadableCall) -> dict[str, object]:
    """Return a sample of the input, and the parts of the call that could be read."""
    return drop_none(
        {
            'parser_name': error.format,
            'input_sample': error.excerpt[:SAMPLE_LIMIT],
            'problem': error.problem,
            'position': error.position,
            'tool_name': error.tool,
            'id': error.id,
        }
    )


def unknown_format_details(error: catalog.parsing.UnknownFormat) -> dict[str, object]:
    """Return a sample of the input."""
    return {'input_sample': error.excerpt[:SAMPLE_LIMIT]}


def schema_violations_details(error: catalog.parsing.SchemaViolations) -> dict[str, object]:
    """Return all problems by pointer."""
    return {
        'validation_type': 'arguments',
        'errors': _merge((problem.pointer, problem.message) for problem in error.problems),
    }


def _merge(findings: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return the reasons by location; several reasons for one location are joined."""
    reasons: dict[str, str] = {}
    for location, reason in findings:
        reasons[location] = f'{reasons[location]}; {reason}' if location in reasons else reason
    return reasons
