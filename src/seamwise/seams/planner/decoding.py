"""Decoding of `ErrorInfo`, with validation."""

import msgspec

from seamwise.containers import Failure, Result, Success
from seamwise.seams.planner.shape import ErrorInfo
from seamwise.seams.wire.decoding import DECODE_ERRORS, UnreadableBody, unreadable_body

_DECODER = msgspec.json.Decoder(ErrorInfo)


def decode(body: bytes | str) -> Result[ErrorInfo, UnreadableBody]:
    """Decode an `ErrorInfo` from JSON, or from its log form without the tag and the cause.

    >>> body = '{"code": "TOOL_TIMEOUT", "category": "timeout", "message": "", "retryable": true}'
    >>> decode(body).unwrap().details
    {}
    >>> decode(body.replace('true', 'false')).failure().problem
    'retryable must be True for TOOL_TIMEOUT'
    """
    try:
        return Success(_DECODER.decode(body))
    except DECODE_ERRORS as error:
        return Failure(unreadable_body(error, body))
