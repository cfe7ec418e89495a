"""The best guess at an error that is only a text."""

from seamwise.policies.hints import from_text
from seamwise.seams._common import milliseconds_or_none, safe_text
from seamwise.seams.planner.codes import ErrorCategory, ErrorCode
from seamwise.seams.planner.shape import ErrorInfo
from seamwise.seams.planner.text_rules import MCP, NAMED, PASSING, RULES


def from_error_string(text: str, tool_name: str | None = None) -> ErrorInfo:
    """Guess what a foreign text means: a code that it names, else its words, else TOOL_EXECUTION_FAILED; reads a delay in it.

    What cannot be told apart is final: a text says `temporary` or a delay where a second try may help. For texts of
    others only: an error has a class, and an exception a type (`from_exception`). Linear in the length of the text.

    >>> info = from_error_string('429 Too Many Requests, retry after 2s', tool_name='search')
    >>> info.code, info.retry_after_ms, info.details['tool_name']
    (<ErrorCode.TOOL_RATE_LIMITED: 'TOOL_RATE_LIMITED'>, 2000, 'search')
    """
    code = _code(text)
    category = code.category
    delay_ms = milliseconds_or_none(from_text(text))
    is_passing = (
        category.retryable
        if category is not ErrorCategory.EXECUTION
        else delay_ms is not None or bool(PASSING.search(text))
    )
    return ErrorInfo(
        code=code,
        category=category,
        message=safe_text(text),
        retryable=is_passing,
        retry_after_ms=delay_ms if is_passing else None,
        details={} if tool_name is None else {'tool_name': safe_text(tool_name)},
    )


def _code(text: str) -> ErrorCode:
    if named := NAMED.search(text):
        return ErrorCode(named[0])
    lowered = text.lower()
    for rule in RULES:
        if any(hint in lowered for hint in rule.hints) and rule.words.search(text):
            is_mcp = rule.code is ErrorCode.TOOL_TIMEOUT and MCP.search(text) is not None
            return ErrorCode.MCP_TIMEOUT if is_mcp else rule.code
    return ErrorCode.TOOL_EXECUTION_FAILED
