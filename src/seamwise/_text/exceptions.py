"""One-line descriptions of exceptions, for messages to people."""

from seamwise._text.jsonable import safe_str
from seamwise.messages import shorten
from seamwise.redaction import redact

MAX_LENGTH = 200
"""In characters; an exception of another library can quote a whole document."""


def describe_exception(error: BaseException) -> str:
    """Return the type and the first line of an exception, redacted and cut.

    >>> describe_exception(ValueError('password=hunter2'))
    'ValueError: password=***'
    """
    # Redact first: a credential that was cut is no longer recognizable.
    lines = redact(safe_str(error)).strip().splitlines()
    name = type(error).__name__
    return f'{name}: {shorten(lines[0], MAX_LENGTH)}' if lines else name
