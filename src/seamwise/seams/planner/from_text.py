"""Classification of error texts, by their words."""

from seamwise.policies.hints import from_text
from seamwise.seams.planner.codes import ErrorCategory, ErrorCode
from seamwise.seams.planner.shape import ErrorInfo
from seamwise.seams.planner.text_rules import CODE_NAMES, MCP, RULES, TRANSIENT
from seamwise.seams.rendering.values import milliseconds_or_none, safe_text


def from_error_string(text: str, tool_name: str | None = None) -> ErrorInfo:
    """Classify a foreign error text: by a code that it contains, else by its words.

    The default is TOOL_EXECUTION_FAILED, which is retryable only if the text contains a delay or
    a word such as `temporary`. Use it only for texts: a table and `from_exception` are exact.
    The time is linear in the length of the text.

    Args:
        text: The text of the error.
        tool_name: Name of the tool, for `details`. Default: unknown.

    >>> info = from_error_string('429 Too Many Requests, retry after 2s', tool_name='search')
    >>> info.code, info.retry_after_ms, info.details['tool_name']
    (<ErrorCode.TOOL_RATE_LIMITED: 'TOOL_RATE_LIMITED'>, 2000, 'search')
    """
    code = _code(text)
    category = code.category
    delay_ms = milliseconds_or_none(from_text(text))
    is_retryable = (
        category.retryable
        if category is not ErrorCategory.EXECUTION
        else delay_ms is not None or bool(TRANSIENT.search(text))
    )
    return ErrorInfo(
        code=code,
        category=category,
        message=safe_text(text),
        retryable=is_retryable,
        retry_after_ms=delay_ms if is_retryable else None,
        details={} if tool_name is None else {'tool_name': safe_text(tool_name)},
    )


def _code(text: str) -> ErrorCode:
    if match := CODE_NAMES.search(text):
        return ErrorCode(match[0])
    lowercase_text = text.lower()
    for rule in RULES:
        if any(hint in lowercase_text for hint in rule.hints) and rule.pattern.search(text):
            is_mcp_timeout = rule.code is ErrorCode.TOOL_TIMEOUT and MCP.search(text) is not None
            return ErrorCode.MCP_TIMEOUT if is_mcp_timeout else rule.code
    return ErrorCode.TOOL_EXECUTION_FAILED
