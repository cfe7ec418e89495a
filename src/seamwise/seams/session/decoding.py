"""Decoding of session events by clients."""

import msgspec

from seamwise.containers import Failure, Result, Success
from seamwise.seams.session.shape import ErrorEvent
from seamwise.seams.wire.decoding import DECODE_ERRORS, UnreadableBody, unreadable_body

_DECODER = msgspec.json.Decoder(ErrorEvent)


def decode(body: bytes | str) -> Result[ErrorEvent, UnreadableBody]:
    """Decode an event that `encode` wrote.

    The event equals the one that `event`, `publish` or `observe` made; it is not decoded to the
    error. Undocumented keys are ignored.

    >>> from seamwise.seams.session import encode
    >>> event = ErrorEvent(
    ...     event='error.timeout', content='Late.', metadata={'attempt': 1}, show_content='太晚了。'
    ... )
    >>> decode(encode(event)).unwrap() == event
    True
    >>> print(decode('{"event": "error.timeout"}').failure())
    The body cannot be read: Object missing required field `content`.
    """
    try:
        return Success(_DECODER.decode(body))
    except DECODE_ERRORS as error:
        return Failure(unreadable_body(error, body))
