"""Wire form of events: the JSON of server-sent events and of WebSocket frames."""

from collections.abc import Mapping
from typing import Final

import msgspec
from msgspec import UNSET, Struct, UnsetType

from seamwise._results.containers import Failure, Result, Success
from seamwise.live.events import MAX_SEQ, Event, Position, Stored
from seamwise.seams.wire.decoding import DECODE_ERRORS, UnreadableBody, unreadable_body

# Close codes: RFC 6455, 7.4.1, and the registry of IANA for 1012 and 1013.
NORMAL: Final = 1000
INVALID_DATA: Final = 1007
PROTOCOL_VIOLATION: Final = 1008
INTERNAL: Final = 1011
RESTART: Final = 1012
TRY_AGAIN_LATER: Final = 1013
# Codes of applications, with the status of HTTP in the last three digits.
UNAUTHENTICATED: Final = 4401
FORBIDDEN: Final = 4403
NOT_FOUND: Final = 4404
REPLACED: Final = 4409
TOO_LARGE: Final = 4413
TOO_MANY: Final = 4429


class WireEvent(Struct, frozen=True, kw_only=True):
    """An event of a session on the wire. Events without a number are not stored, e.g. notices.

    Attributes:
        event: The name.
        seq: The number of the event.
        session_id: The id of the session.
        at: The time at which it was stored, in seconds since 1970.
        content: The text for programs and developers.
        metadata: Further data.
        show_content: The text for the user, in the language of the reader.
    """

    event: str
    seq: int | UnsetType = UNSET
    session_id: str | UnsetType = UNSET
    at: float | UnsetType = UNSET
    content: str = ''
    metadata: Mapping[str, object] = {}
    show_content: str = ''


_DECODER: Final = msgspec.json.Decoder(WireEvent)


def wire_event(session: str, stored: Stored, *, locale: str) -> WireEvent:
    """Return the wire form of a stored event, with `show_content` in a language if it has one.

    >>> stored = Stored(Position('e1', 3), 0.5, Event('error.timeout'), {'zh_CN': '超时。'})
    >>> wire_event('s-1', stored, locale='zh_CN').show_content
    '超时。'
    """
    event = stored.event
    return WireEvent(
        event=event.event,
        seq=stored.position.seq,
        session_id=session,
        at=stored.at,
        content=event.content,
        metadata=event.metadata,
        show_content=stored.translations.get(locale, event.show_content),
    )


def encode_wire_event(event: WireEvent) -> bytes:
    """Return the JSON of an event, in one line."""
    return msgspec.json.encode(event)


def decode_wire_event(body: bytes | str) -> Result[WireEvent, UnreadableBody]:
    """Decode the JSON of an event. Unknown keys are ignored.

    >>> decode_wire_event('{"event": "user.message", "content": "Hello"}').unwrap().content
    'Hello'
    >>> print(decode_wire_event('{"event": 1}').failure())
    The body cannot be read: Expected `str`, got `int` - at `$.event`.
    """
    try:
        event = _DECODER.decode(body)
    except DECODE_ERRORS as error:
        return Failure(unreadable_body(error, body))
    return Success(event)


def stored_event(event: WireEvent, epoch: str) -> Stored | None:
    """Return a stored event that a reader has received, or None for one without a number."""
    if event.seq is UNSET or not 0 < event.seq <= MAX_SEQ:
        return None
    plain = Event(event.event, event.content, event.metadata, event.show_content)
    return Stored(Position(epoch, event.seq), event.at or 0.0, plain)
