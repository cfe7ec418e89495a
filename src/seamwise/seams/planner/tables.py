"""What each error of the catalogue is to a planner."""

from collections.abc import Iterable

from seamwise.catalog.parsing import ParsingError, SchemaViolations, UnknownFormat, UnreadableCall
from seamwise.catalog.tools import (
    CommandFailed,
    CommandTimedOut,
    ContentMismatch,
    ContentNotFound,
    DiffRejected,
    DuplicateMatch,
    FileAlreadyExists,
    FileNotFound,
    InvalidParameter,
    InvalidResult,
    MissingParameter,
    PathForbidden,
    RegistrationRejected,
    ResourceExhausted,
    ToolCancelled,
    ToolError,
    ToolFailed,
    ToolRepeated,
    ToolTimedOut,
    TooManyMistakes,
    UnknownTool,
)
from seamwise.seams._common import only_known
from seamwise.seams.adapter import Adapter
from seamwise.seams.planner.on import on
from seamwise.seams.planner.shape import ErrorInfo

SAMPLE_LIMIT = 200
"""Of unreadable input, a planner is shown at most so many characters."""


def _missing(error: MissingParameter) -> dict[str, object]:
    errors = _by_place([(error.parameter, 'is missing'), *((one.parameter, one.reason) for one in error.also)])
    return only_known({'tool_name': error.tool, 'validation_type': 'arguments', 'errors': errors, 'example': error.example})


def _invalid(error: InvalidParameter) -> dict[str, object]:
    errors = _by_place([(error.parameter, error.reason), *((one.parameter, one.reason) for one in error.also)])
    return {'tool_name': error.tool, 'validation_type': 'arguments', 'errors': errors}


def _unknown_tool(error: UnknownTool) -> dict[str, object]:
    return {
        'tool_name': error.tool,
        'namespace': error.namespace,
        'available_tools': error.available,
        'suggestions': error.suggestions,
    }


def _invalid_result(error: InvalidResult) -> dict[str, object]:
    errors = {str(number): problem for number, problem in enumerate(error.problems, start=1)}
    return {'tool_name': error.tool, 'validation_type': 'result', 'errors': errors}


def _unreadable(error: UnreadableCall) -> dict[str, object]:
    return only_known(
        {
            'parser_name': error.format,
            'input_sample': error.excerpt[:SAMPLE_LIMIT],
            'problem': error.problem,
            'position': error.position,
            'tool_name': error.tool,
            'id': error.id,
        }
    )


def _unknown_format(error: UnknownFormat) -> dict[str, object]:
    return {'input_sample': error.excerpt[:SAMPLE_LIMIT]}


def _violations(error: SchemaViolations) -> dict[str, object]:
    return {'validation_type': 'arguments', 'errors': _by_place((one.pointer, one.message) for one in error.problems)}


def _by_place(findings: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Give what is wrong by its place; two findings about one place stand together."""
    found: dict[str, str] = {}
    for place, reason in findings:
        found[place] = f'{found[place]}; {reason}' if place in found else reason
    return found


TOOLS: Adapter[ToolError, ErrorInfo] = (
    on(MissingParameter).classifies('TOOL_ARGUMENT_ERROR', details=_missing)
    | on(InvalidParameter).classifies('TOOL_ARGUMENT_ERROR', details=_invalid)
    | on(UnknownTool).classifies('TOOL_NOT_FOUND', details=_unknown_tool)
    | on(FileNotFound).classifies('TOOL_EXECUTION_FAILED')
    | on(FileAlreadyExists).classifies('TOOL_EXECUTION_FAILED')
    | on(PathForbidden).classifies('TOOL_EXECUTION_FAILED')
    | on(ContentNotFound).classifies('TOOL_EXECUTION_FAILED')
    | on(ContentMismatch).classifies('TOOL_EXECUTION_FAILED')
    | on(DuplicateMatch).classifies('TOOL_EXECUTION_FAILED')
    | on(CommandTimedOut).classifies('TOOL_TIMEOUT')
    | on(CommandFailed).classifies('TOOL_EXECUTION_FAILED')
    | on(DiffRejected).classifies('TOOL_EXECUTION_FAILED')
    | on(ToolFailed).classifies('TOOL_EXECUTION_FAILED')
    | on(ToolTimedOut).classifies('TOOL_TIMEOUT')
    | on(ToolCancelled).classifies('TOOL_CANCELLED')
    | on(InvalidResult).classifies('TOOL_RESULT_ERROR', details=_invalid_result)
    | on(RegistrationRejected).classifies('TOOL_REGISTRATION_FAILED')
    | on(ToolRepeated).classifies('TOOL_VALIDATION_ERROR')
    | on(TooManyMistakes).classifies('TOOL_VALIDATION_ERROR')
    | on(ResourceExhausted).classifies('RESOURCE_EXHAUSTED')
)

PARSING: Adapter[ParsingError, ErrorInfo] = (
    on(UnreadableCall).classifies('PARSER_ERROR', details=_unreadable)
    | on(UnknownFormat).classifies('PARSER_INVALID_FORMAT', details=_unknown_format)
    | on(SchemaViolations).classifies('TOOL_VALIDATION_ERROR', details=_violations)
)
