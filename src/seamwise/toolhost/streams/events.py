"""Reader of server-sent events in bytes that are cut anywhere, with a limit on their size."""

import re
from collections.abc import Iterator
from typing import Final

from msgspec import Struct

EVENT_LIMIT: Final = 16 * 2**20
"""In bytes: the maximum size of an event, and of a line. An answer can contain an image."""

_LINE_END = re.compile(rb'\r\n|\n|\r')
_BOM = b'\xef\xbb\xbf'


class ServerSentEvent(Struct, frozen=True):
    """An event with data.

    Attributes:
        name: The type of the event, or an empty string.
        data: The data, usually JSON.
    """

    name: str
    data: bytes


class StreamTooLarge(Exception):
    """A part of a stream exceeds its limit. The message is the reason for an `InvalidStream`."""


class EventReader:
    r"""Incremental parser of an event stream.

    See https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream.
    Fields other than `event` and `data` are ignored.

    >>> reader = EventReader()
    >>> pieces = b'data: {"a"', b': 1}\r', b'\n\r\n'
    >>> [event.data for piece in pieces for event in reader.feed(piece)]
    [b'{"a": 1}']

    Args:
        limit: The maximum size of an event, and of a line, in bytes.
    """

    def __init__(self, limit: int = EVENT_LIMIT) -> None:
        self._limit = limit
        self._pieces: list[bytes] = []
        self._pieces_size = 0
        self._name = ''
        self._data: list[bytes] = []
        self._data_size = 0
        self._ends_with_cr = False
        self._is_first_line = True

    def feed(self, piece: bytes) -> Iterator[ServerSentEvent]:
        """Yield the events that are complete now.

        Raises:
            StreamTooLarge: An event or a line exceeds the limit.
        """
        if self._ends_with_cr and piece.startswith(b'\n'):
            # The two characters of one line end came in two pieces.
            piece = piece[1:]
            self._ends_with_cr = False
        if not piece:
            return
        self._ends_with_cr = piece.endswith(b'\r')
        start = 0
        for match in _LINE_END.finditer(piece):
            event = self._read_line(self._complete(piece[start : match.start()]))
            if event is not None:
                yield event
            start = match.end()
        self._hold(piece[start:])

    def end(self) -> ServerSentEvent | None:
        """Return the last event if no blank line follows it, which some servers forget."""
        event = self._read_line(self._complete(b''))
        return self._dispatch() if event is None else event

    def _hold(self, piece: bytes) -> None:
        if piece:
            self._pieces.append(piece)
            self._pieces_size += len(piece)
            self._check(self._pieces_size)

    def _complete(self, piece: bytes) -> bytes:
        """Return the line that ends with this piece."""
        self._hold(piece)
        line = b''.join(self._pieces)
        self._pieces.clear()
        self._pieces_size = 0
        if self._is_first_line:
            self._is_first_line = False
            line = line.removeprefix(_BOM)
        return line

    def _read_line(self, line: bytes) -> ServerSentEvent | None:
        if not line:
            return self._dispatch()
        field, _, value = line.partition(b':')
        value = value.removeprefix(b' ')
        if field == b'data':
            self._data.append(value)
            # The line end counts too: a million empty lines must not be free.
            self._data_size += len(value) + 1
            self._check(self._data_size)
        elif field == b'event':
            self._name = value.decode(errors='replace')
        return None

    def _dispatch(self) -> ServerSentEvent | None:
        data = b'\n'.join(self._data)
        event = ServerSentEvent(self._name, data) if data else None
        self._name = ''
        self._data.clear()
        self._data_size = 0
        return event

    def _check(self, size: int) -> None:
        if size > self._limit:
            raise StreamTooLarge(f'an event has more than {self._limit:,} bytes')
