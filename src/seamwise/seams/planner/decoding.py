"""An `ErrorInfo` from a wire: one that agrees with itself, or a failure that says what is wrong with it."""

import msgspec

from seamwise.containers import Failure, Result, Success
from seamwise.seams._decoding import DECODE_ERRORS, UnreadableBody, unreadable_body
from seamwise.seams.planner.shape import ErrorInfo

_DECODER = msgspec.json.Decoder(ErrorInfo)


def decode(body: bytes | str) -> Result[ErrorInfo, UnreadableBody]:
    """Read an `ErrorInfo` from its JSON; the log form is read too, without its tag and its cause.

    >>> decode('{"code": "TOOL_TIMEOUT", "category": "timeout", "message": "Late.", "retryable": true}').unwrap().details
    {}
    >>> print(decode('{"code": "TOOL_TIMEOUT", "category": "timeout", "message": "Late.", "retryable": false}').failure().problem)
    retryable follows from the code: TOOL_TIMEOUT says True
    """
    try:
        return Success(_DECODER.decode(body))
    except DECODE_ERRORS as problem:
        return Failure(unreadable_body(problem, body))
