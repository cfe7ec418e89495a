"""What `details` hold where the fields of a class are not what the wire wants to hear."""

from collections.abc import Iterable

from seamwise.catalog.agents import AgentNotFound, CommandNotFound
from seamwise.catalog.parsing import SchemaViolations, UnknownFormat, UnreadableCall
from seamwise.catalog.problem import Problem
from seamwise.catalog.tools import InvalidParameter, InvalidResult, MissingParameter, UnknownTool
from seamwise.seams._common import drop_none

SAMPLE_LIMIT = 200
"""Of unreadable input, a planner is shown at most so many characters."""


def missing_parameter(error: MissingParameter) -> dict[str, object]:
    """Tell every finding by its parameter."""
    errors = _by_place(
        [(error.parameter, 'is missing'), *((one.parameter, one.reason) for one in error.also)]
    )
    return drop_none(
        {
            'tool_name': error.tool,
            'validation_type': 'arguments',
            'errors': errors,
            'example': error.example,
        }
    )


def invalid_parameter(error: InvalidParameter) -> dict[str, object]:
    """Tell every finding by its parameter."""
    errors = _by_place(
        [(error.parameter, error.reason), *((one.parameter, one.reason) for one in error.also)]
    )
    return {'tool_name': error.tool, 'validation_type': 'arguments', 'errors': errors}


def unknown_tool(error: UnknownTool) -> dict[str, object]:
    """Tell what there is, also where that is nothing."""
    return {
        'tool_name': error.tool,
        'namespace': error.namespace,
        'available_tools': error.available,
        'suggestions': error.suggestions,
    }


def unknown_agent(error: AgentNotFound) -> dict[str, object]:
    """Tell of an agent as of a tool: that is what it is to its caller."""
    return _named('agents', error.name, error.available, error.suggestions)


def unknown_command(error: CommandNotFound) -> dict[str, object]:
    """Tell of a command as of a tool: that is what it is to its caller."""
    return _named('commands', error.name, error.available, error.suggestions)


def _named(
    namespace: str, name: str, available: tuple[str, ...], suggestions: tuple[str, ...]
) -> dict[str, object]:
    return {
        'tool_name': name,
        'namespace': namespace,
        'available_tools': available,
        'suggestions': suggestions,
    }


def invalid_result(error: InvalidResult) -> dict[str, object]:
    """Tell every problem by its number."""
    errors = {str(number): problem for number, problem in enumerate(error.problems, start=1)}
    return {'tool_name': error.tool, 'validation_type': 'result', 'errors': errors}


def unreadable_call(error: UnreadableCall) -> dict[str, object]:
    """Show a sample of the input, and what the text seems to tell."""
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


def unknown_format(error: UnknownFormat) -> dict[str, object]:
    """Show a sample of the input."""
    return {'input_sample': error.excerpt[:SAMPLE_LIMIT]}


def schema_violations(error: SchemaViolations) -> dict[str, object]:
    """Tell every problem by its pointer."""
    return {'validation_type': 'arguments', 'errors': by_pointer(error.problems)}


def by_pointer(problems: Iterable[Problem]) -> dict[str, str]:
    """Give problems by their pointers; two about one place stand together."""
    return _by_place((one.pointer, one.message) for one in problems)


def _by_place(findings: Iterable[tuple[str, str]]) -> dict[str, str]:
    found: dict[str, str] = {}
    for place, reason in findings:
        found[place] = f'{found[place]}; {reason}' if place in found else reason
    return found
