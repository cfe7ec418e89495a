"""Events of a session, their positions, and their form in a log."""

import re
from collections.abc import Mapping
from typing import Final, Self

import msgspec
from msgspec import Struct
from typing_extensions import override

from seamwise._text.jsonable import encodable
from seamwise._text.secrets import MASK, Secret
from seamwise.seams.rendering.encoding import encode_public
from seamwise.seams.session.shape import ErrorEvent

MAX_SEQ: Final = 2**53 - 1
"""The largest number of an event: numbers of JSON are exact up to here in every language."""


MAX_DEPTH: Final = 200
"""The maximum depth of the JSON of an event: decoders fail on deeper ones if the stack is full."""

_TOO_DEEP: Final = (
    f'The data of an event is nested too deeply: JSON has at most {MAX_DEPTH} levels.'
)

# Strings, and everything else that is no bracket.
_NO_BRACKETS: Final = re.compile(rb'(?:"(?:[^"\\]|\\.)*+"|[^"\[\]{}]++)++')


class Position(Struct, frozen=True, order=True):
    """A place in the events of a session: behind the event with the number `seq`.

    Attributes:
        epoch: Identifier of the numbering. A log that has lost its memory begins a new one.
        seq: Number of the last event before the position; 0 is the beginning.

    >>> str(Position('9f2c', 42))
    '9f2c:42'
    >>> Position.parse('9f2c:42')
    Position(epoch='9f2c', seq=42)
    """

    epoch: str
    seq: int

    @override
    def __str__(self) -> str:
        return f'{self.epoch}:{self.seq}'

    @classmethod
    def parse(cls, text: str) -> Self | None:
        """Return the position that a text such as `Last-Event-ID` contains, or None."""
        epoch, separator, digits = text.rpartition(':')
        if not (epoch and separator and digits.isascii() and digits.isdigit()):
            return None
        if len(digits) > len(str(MAX_SEQ)) or (seq := int(digits)) > MAX_SEQ:
            return None
        return cls(epoch, seq)


class Event(Struct, frozen=True, omit_defaults=True):
    """An event of a session, as the application writes it.

    >>> Event('agent.thinking', 'Reading the file.')
    Event(event='agent.thinking', content='Reading the file.', metadata={}, show_content='')

    Attributes:
        event: The name, such as `agent.thinking`, `user.message` or `error.timeout`.
        content: The text for programs and developers, in English.
        metadata: Further data, which JSON can represent.
        show_content: The text for the user.
    """

    event: str
    content: str = ''
    metadata: Mapping[str, object] = {}
    show_content: str = ''


class Stored(Struct, frozen=True):
    """An event in a log.

    Attributes:
        position: The position behind the event; `position.seq` is its number.
        at: The time at which it was stored, in seconds since 1970.
        event: The event.
        translations: `show_content` by language, for an event that has more than one.
    """

    position: Position
    at: float
    event: Event
    translations: Mapping[str, str] = {}


class Record(Struct, frozen=True):
    """An event as a store writes it.

    Attributes:
        body: JSON of the event and of its translations.
        weight: Length of the JSON of the event alone, in bytes.
    """

    body: bytes
    weight: int


class _Body(Struct, frozen=True, omit_defaults=True):
    event: Event
    translations: Mapping[str, str] = {}


_BODY_DECODER: Final = msgspec.json.Decoder(_Body)


def _encode_other(value: object) -> object:
    if isinstance(value, Secret):
        return MASK
    if isinstance(value, Mapping):
        mapping: Mapping[object, object] = value  # pyright: ignore[reportUnknownVariableType]  # any
        return dict(mapping)
    raise TypeError(f'JSON cannot represent {type(value).__name__}.')


_ENCODER: Final = msgspec.json.Encoder(enc_hook=_encode_other)


def as_event(event: Event | ErrorEvent) -> Event:
    """Return an event of the session seam as an event of a log.

    Raises:
        TypeError: It is neither, or a field has a value of another type.
    """
    if isinstance(event, ErrorEvent):
        event = Event(event.event, event.content, event.metadata, event.show_content)
    elif type(event) is not Event:
        raise TypeError(f'append takes Event and ErrorEvent, not {type(event).__name__}.')
    # A store that had kept another type could not read the session again.
    for name in ('event', 'content', 'show_content'):
        value: object = getattr(event, name)
        if not isinstance(value, str):
            raise TypeError(f'{name} of an event must be a text, not {type(value).__name__}.')
    if not isinstance(event.metadata, Mapping):
        raise TypeError(
            f'metadata of an event must be a mapping, not {type(event.metadata).__name__}.'
        )
    return event


def encode_record(event: Event, translations: Mapping[str, str] | None = None) -> Record:
    """Return the form of an event in a store.

    Raises:
        TypeError: JSON cannot represent its metadata.
        ValueError: The metadata contains itself.
    """
    text = _checked_depth(encode_public(event, _encode))
    body = b'{"event":%b}' % text
    if translations:
        body = b'{"event":%b,"translations":%b}' % (text, _encode(translations))
    return Record(body, len(text))


def encode_state(state: object) -> bytes:
    """Return the JSON of a snapshot.

    Raises:
        TypeError: JSON cannot represent it.
        ValueError: It contains itself, or is nested too deeply.
    """
    return _checked_depth(encode_public(state, _encode))


def decode_record(body: bytes | memoryview | str, position: Position, at: float) -> Stored:
    """Return the event of `encode_record`.

    Raises:
        msgspec.DecodeError: The store is damaged.
    """
    decoded = _BODY_DECODER.decode(body)
    return Stored(position, at, decoded.event, decoded.translations)


def _encode(value: object) -> bytes:
    try:
        return _ENCODER.encode(value)
    except UnicodeEncodeError:
        # Half a surrogate, as in the name of a file that is not UTF-8.
        builtins = msgspec.to_builtins(value, str_keys=True, enc_hook=_encode_other)
        return _ENCODER.encode(encodable(builtins))
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None


def _checked_depth(text: bytes) -> bytes:
    """Return JSON that decoders can read wherever the stack is."""
    if text.count(b'[') + text.count(b'{') <= MAX_DEPTH:
        return text
    depth = deepest = 0
    for brackets in _NO_BRACKETS.split(text):
        for bracket in brackets:
            depth += 1 if bracket in b'[{' else -1
            deepest = max(deepest, depth)
    if deepest > MAX_DEPTH:
        raise ValueError(_TOO_DEEP)
    return text
