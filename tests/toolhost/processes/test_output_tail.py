"""Of an output of any length the end is kept, in bounded memory."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seamwise.toolhost.processes.output_tail import OUTPUT_LIMIT, TailBuffer


def tail(*pieces: bytes) -> tuple[str, bool]:
    taken = TailBuffer()
    for piece in pieces:
        taken.add(piece)
    return taken.text()


@pytest.mark.parametrize(
    'text',
    [
        '',
        'x',
        'x' * OUTPUT_LIMIT,
        '数' * OUTPUT_LIMIT,
        '😀' * OUTPUT_LIMIT,
        'a\n' * (OUTPUT_LIMIT // 2),
    ],
)
def test_what_is_short_is_kept_as_it_is(text: str) -> None:
    assert tail(text.encode()) == (text, False)


def test_what_is_long_begins_at_a_line() -> None:
    text, truncated = tail(b'first line\n' * 1_000)
    assert truncated
    assert text == 'first line\n' * (OUTPUT_LIMIT // 11)


def test_a_line_that_fits_exactly_stays() -> None:
    assert tail(b'lost\n' + b'x' * (OUTPUT_LIMIT - 1) + b'\n') == (
        'x' * (OUTPUT_LIMIT - 1) + '\n',
        True,
    )
    assert tail(b'lost' + b'x' * (OUTPUT_LIMIT - 1) + b'\n') == (
        'x' * (OUTPUT_LIMIT - 1) + '\n',
        True,
    )


def test_one_long_line_gives_its_end() -> None:
    assert tail(b'a' * 5_000 + b'b' * OUTPUT_LIMIT) == ('b' * OUTPUT_LIMIT, True)
    assert tail(b'a' * 5_000 + b'b' * (OUTPUT_LIMIT - 1) + b'\n') == (
        'b' * (OUTPUT_LIMIT - 1) + '\n',
        True,
    )


def test_bytes_that_are_not_utf_8_are_shown_as_such() -> None:
    assert tail(b'a\xffb\xe6\x95') == ('a\ufffdb\ufffd', False)
    assert tail(b'\xff' * 1_000_000) == ('\ufffd' * OUTPUT_LIMIT, True)


def test_a_character_in_two_pieces_is_one() -> None:
    data = '数'.encode()
    assert tail(data[:1], data[1:]) == ('数', False)


def test_enough_is_kept_for_characters_of_four_bytes() -> None:
    assert tail('😀'.encode() * 1_000_000) == ('😀' * OUTPUT_LIMIT, True)


def test_no_character_is_halved_by_what_is_thrown_away() -> None:
    for extra in range(8):
        text, truncated = tail(*['😀'.encode() * 1_000] * 500, b'x' * extra)
        assert truncated
        assert text == '😀' * (OUTPUT_LIMIT - extra) + 'x' * extra


def test_memory_is_bounded() -> None:
    taken = TailBuffer()
    for _ in range(2_000):
        taken.add(b'x' * 65_536)
        assert len(taken._data) < 400_000
    assert taken.text() == ('x' * OUTPUT_LIMIT, True)


@given(st.lists(st.text('a\n数', max_size=3).map(lambda text: text * 700), max_size=12))
def test_it_is_the_end_of_the_whole_text(pieces: list[str]) -> None:
    whole = ''.join(pieces)
    text, truncated = tail(*(piece.encode() for piece in pieces))
    assert whole.endswith(text)
    assert truncated is (len(whole) > OUTPUT_LIMIT) is (text != whole)
    before = whole.removesuffix(text)
    assert not truncated or before.endswith('\n') or '\n' not in whole[-OUTPUT_LIMIT:-1]
