"""The client's side: an event as it was sent, or why a body is none."""

import msgspec

from seamwise.containers import Failure, Result, Success
from seamwise.seams._decoding import DECODE_ERRORS, UnreadableBody, unreadable_body
from seamwise.seams.session.shape import ErrorEvent

_DECODER = msgspec.json.Decoder(ErrorEvent)


def decode(body: bytes | str) -> Result[ErrorEvent, UnreadableBody]:
    """Read an event that `encode` wrote: it equals the one that `event`, `publish` or `observe` made.

    What comes back is the event, not the error: texts for people, and metadata in the builtins of JSON. Keys beside
    the documented ones are left aside.

    >>> from seamwise.seams.session import encode
    >>> made = ErrorEvent(event='error.timeout', content='Too late.', metadata={'attempt': 1}, show_content='太晚了。')
    >>> decode(encode(made)).unwrap() == made
    True
    >>> print(decode('{"event": "error.timeout"}').failure())
    The body cannot be read: Object missing required field `content`.
    """
    try:
        return Success(_DECODER.decode(body))
    except DECODE_ERRORS as problem:
        return Failure(unreadable_body(problem, body))
