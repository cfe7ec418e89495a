"""Reader of server-sent events: cut anywhere, compared with httpx-sse, and bounded."""

import collections
import tracemalloc
from collections.abc import Iterable
from itertools import pairwise, repeat

import pytest
from httpx_sse._decoders import SSEDecoder, SSELineDecoder
from hypothesis import given
from hypothesis import strategies as st

from seamwise.toolhost.streams.events import EventReader, ServerSentEvent, StreamTooLarge

TEXTS = st.lists(
    st.sampled_from(
        [
            'data: {"a"',
            'data',
            ':',
            ' ',
            'event: x',
            'event',
            '\n',
            '\r',
            '\r\n',
            'é',
            '\0',
            'id: 7',
        ]
    ),
    max_size=30,
).map(''.join)


def read_all(pieces: Iterable[bytes], limit: int = 100) -> list[ServerSentEvent]:
    reader = EventReader(limit)
    return [event for piece in pieces for event in reader.feed(piece)]


def peer_events(text: str) -> list[ServerSentEvent]:
    """Return what httpx-sse reads, without events that have no data, as the standard has it."""
    lines, decoder = SSELineDecoder(), SSEDecoder()
    # The peer holds back a carriage return at the end, in case a line feed follows.
    events = [decoder.decode(line) for line in (*lines.decode(text + '\n:'), *lines.flush())]
    return [
        # The peer names an event without a name by the default of browsers.
        ServerSentEvent('' if event.event == 'message' else event.event, event.data.encode())
        for event in events
        if event and event.data
    ]


@given(TEXTS)
def test_the_events_are_those_of_httpx_sse(text: str) -> None:
    assert read_all([text.encode(), b'\n:']) == peer_events(text)


@given(TEXTS, st.lists(st.integers(0, 200), max_size=8))
def test_the_events_do_not_depend_on_where_the_bytes_are_cut(text: str, cuts: list[int]) -> None:
    data = text.encode()
    edges = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    pieces = [data[start:end] for start, end in pairwise(edges)]
    assert read_all(pieces) == read_all([data])
    assert read_all(data[i : i + 1] for i in range(len(data))) == read_all([data])


def test_a_byte_order_mark_is_skipped() -> None:
    assert read_all([b'\xef\xbb', b'\xbfdata: a\n\n']) == [ServerSentEvent('', b'a')]


def test_the_lines_of_the_data_are_joined_and_its_bytes_are_kept() -> None:
    assert read_all([b'data: a\xff\ndata:b\ndata:  c\n\n']) == [
        ServerSentEvent('', b'a\xff\nb\n c')
    ]


def test_an_event_is_read_before_its_last_line_end_is_complete() -> None:
    """A server waits after its event: the line feed can come with the next one."""
    assert read_all([b'data: a\r\n\r']) == [ServerSentEvent('', b'a')]


def test_the_last_event_needs_no_blank_line() -> None:
    for data in (b'data: a', b'data: a\n', b'data: a\r'):
        reader = EventReader()
        assert [*reader.feed(data)] == []
        assert reader.end() == ServerSentEvent('', b'a')
    assert EventReader().end() is None


@pytest.mark.parametrize(
    'pieces',
    [
        [b'data: ' + b'a' * 100],
        [b'a'] * 101,
        [b':', *[b'a' * 10] * 10],
        [b'data:\n'] * 101,
        [b'data: aaaaaaaaaa\n'] * 10,
    ],
    ids=['line in one piece', 'line in many pieces', 'comment', 'empty lines', 'lines'],
)
def test_a_line_and_an_event_have_a_maximum_size(pieces: list[bytes]) -> None:
    with pytest.raises(StreamTooLarge, match='more than 100 bytes'):
        read_all(pieces)


def test_an_endless_line_takes_no_more_memory_than_its_limit() -> None:
    reader = EventReader(limit=2**20)
    tracemalloc.start()
    try:
        with pytest.raises(StreamTooLarge):
            collections.deque(map(list, map(reader.feed, repeat(bytes(2**16), 200))))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 4 * 2**20


def test_many_small_events_are_not_counted_together() -> None:
    assert len(read_all([b'data: aaaaaaaaaa\n\n'] * 50)) == 50
