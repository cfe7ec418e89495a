"""Frames that clients send: requests for events, acknowledgements and messages."""

from re import compile as pattern
from typing import Annotated, Final, TypeAlias, TypeVar

import msgspec
from msgspec import Meta, Struct

from seamwise._results.containers import Failure, Result, Success
from seamwise._text.shortening import shorten
from seamwise.catalog.sessions import InvalidInput
from seamwise.live.events import MAX_SEQ, Event, Position, encode_record
from seamwise.live.wire import WireEvent, decode_wire_event

CONNECT: Final = 'user.connect'
RECONNECT: Final = 'user.reconnect_with_state'
ACKNOWLEDGE: Final = 'user.ack'

_NAME = pattern(r'user\.[A-Za-z0-9_.-]{1,100}').fullmatch
_MAX_EPOCH: Final = 200


class Subscribe(Struct, frozen=True):
    """A request for the events after a position, or for all that are kept."""

    since: Position | None


class Acknowledge(Struct, frozen=True):
    """An acknowledgement of the events up to a position."""

    position: Position


class Say(Struct, frozen=True):
    """An event for the application."""

    event: Event


Frame: TypeAlias = Subscribe | Acknowledge | Say

Data = TypeVar('Data', bound=Struct)

_Seq: TypeAlias = Annotated[int, Meta(ge=0, le=MAX_SEQ)]
_Epoch: TypeAlias = Annotated[str, Meta(min_length=1, max_length=_MAX_EPOCH)]


class _Reconnect(Struct, frozen=True):
    epoch: _Epoch
    last_seq: _Seq


class _Acknowledge(Struct, frozen=True):
    epoch: _Epoch
    seq: _Seq


def read_frame(body: bytes | str) -> Result[Frame, InvalidInput]:
    """Return the content of a frame, or of the body of a request.

    Clients can only say events whose names begin with `user.`: the other ones are those of the
    application and of the gateway.

    >>> read_frame('{"event": "user.ack", "metadata": {"epoch": "e1", "seq": 3}}').unwrap()
    Acknowledge(position=Position(epoch='e1', seq=3))
    >>> print(read_frame('{"event": "agent.error"}').failure())
    The input violates the rule: event is user.… with letters, digits, and _ . -.
    """
    decoded = decode_wire_event(body)
    if type(decoded) is Failure:
        problem = decoded.failure().problem
        return Failure(InvalidInput(f'a message is a JSON object with an event ({problem})', None))
    frame = decoded.unwrap()
    match frame.event:
        case 'user.connect':
            return Success(Subscribe(None))
        case 'user.reconnect_with_state':
            return _convert(frame, _Reconnect).map(
                lambda data: Subscribe(Position(data.epoch, data.last_seq))
            )
        case 'user.ack':
            return _convert(frame, _Acknowledge).map(
                lambda data: Acknowledge(Position(data.epoch, data.seq))
            )
        case _:
            return _said(frame)


def _said(frame: WireEvent) -> Result[Frame, InvalidInput]:
    if not _NAME(frame.event):
        return Failure(
            InvalidInput('event is user.… with letters, digits, and _ . -', shorten(frame.event))
        )
    event = Event(frame.event, frame.content, frame.metadata, frame.show_content)
    try:
        encode_record(event)
    except ValueError as error:
        return Failure(InvalidInput(str(error).rstrip('.'), None))
    return Success(Say(event))


def _convert(frame: WireEvent, kind: type[Data]) -> Result[Data, InvalidInput]:
    for field in msgspec.structs.fields(kind):
        if field.name not in frame.metadata:
            rule = f'the metadata of {frame.event} has {field.name!r}'
            return Failure(InvalidInput(rule, None, field.name))
    try:
        return Success(msgspec.convert(frame.metadata, kind))
    except msgspec.ValidationError as error:
        return Failure(InvalidInput(f'the metadata of {frame.event}: {error}', None))
