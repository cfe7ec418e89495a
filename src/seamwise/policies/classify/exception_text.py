"""Short, redacted, single-line texts of foreign exceptions, for the fields of errors."""

from seamwise.redaction import redact

MAX_LENGTH = 200
"""Maximum number of characters of a foreign text in an error."""

_MAX_INPUT = 4096
"""Number of characters that are redacted. It exceeds `MAX_LENGTH`, because `redact` does not
recognize a credential that is cut off.
"""


def redacted_excerpt(text: str, /) -> str:
    """Return the beginning of a text with secrets masked.

    >>> redacted_excerpt('no user at postgresql://ann:hunter2@db/shop')
    'no user at postgresql://***@db/shop'
    """
    result = redact(text[:_MAX_INPUT])
    if len(result) <= MAX_LENGTH and len(text) > _MAX_INPUT:
        # Masking shortened the text so much that a credential cut off at its end would be visible.
        result = redact(text)
    return result[:MAX_LENGTH]


def exception_reason(error: BaseException, /) -> str:
    r"""Return the first line of an exception's message, or its class name if it has none.

    >>> exception_reason(ConnectionError('refused\nIs the server running?'))
    'refused'
    >>> exception_reason(ConnectionError())
    'ConnectionError'
    """
    line = str(error).strip().partition('\n')[0]
    return redacted_excerpt(line.strip().removesuffix('.')) or type(error).__name__
