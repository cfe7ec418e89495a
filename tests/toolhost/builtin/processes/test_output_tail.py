"""The tail of an output of any length, in bounded memory."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seamwise.toolhost.builtin.processes.output_tail import OUTPUT_LIMIT, TailBuffer


def tail(*pieces: bytes) -> tuple[str, bool]:
    buffer = TailBuffer()
    for piece in pieces:
        buffer.add(piece)
    return buffer.text()


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
def test_a_short_output_is_complete(text: str) -> None:
    assert tail(text.encode()) == (text, False)


def test_a_tail_begins_at_the_start_of_a_line() -> None:
    text, truncated = tail(b'first line\n' * 1_000)
    assert truncated
    assert text == 'first line\n' * (OUTPUT_LIMIT // 11)


def test_a_line_that_fits_exactly_is_kept() -> None:
    assert tail(b'lost\n' + b'x' * (OUTPUT_LIMIT - 1) + b'\n') == (
        'x' * (OUTPUT_LIMIT - 1) + '\n',
        True,
    )
    assert tail(b'lost' + b'x' * (OUTPUT_LIMIT - 1) + b'\n') == (
        'x' * (OUTPUT_LIMIT - 1) + '\n',
        True,
    )


def test_the_tail_of_one_long_line_is_its_end() -> None:
    assert tail(b'a' * 5_000 + b'b' * OUTPUT_LIMIT) == ('b' * OUTPUT_LIMIT, True)
    assert tail(b'a' * 5_000 + b'b' * (OUTPUT_LIMIT - 1) + b'\n') == (
        'b' * (OUTPUT_LIMIT - 1) + '\n',
        True,
    )


def test_invalid_utf_8_is_replaced() -> None:
    assert tail(b'a\xffb\xe6\x95') == ('a\ufffdb\ufffd', False)
    assert tail(b'\xff' * 1_000_000) == ('\ufffd' * OUTPUT_LIMIT, True)


def test_a_character_split_between_two_reads_is_decoded() -> None:
    data = '数'.encode()
    assert tail(data[:1], data[1:]) == ('数', False)


def test_the_buffer_fits_characters_of_four_bytes() -> None:
    assert tail('😀'.encode() * 1_000_000) == ('😀' * OUTPUT_LIMIT, True)


def test_discarding_bytes_does_not_split_a_character() -> None:
    for extra in range(8):
        text, truncated = tail(*['😀'.encode() * 1_000] * 500, b'x' * extra)
        assert truncated
        assert text == '😀' * (OUTPUT_LIMIT - extra) + 'x' * extra


def test_the_memory_of_the_buffer_is_bounded() -> None:
    buffer = TailBuffer()
    for _ in range(2_000):
        buffer.add(b'x' * 65_536)
        assert len(buffer._data) < 400_000
    assert buffer.text() == ('x' * OUTPUT_LIMIT, True)


@given(st.lists(st.text('a\n数', max_size=3).map(lambda text: text * 700), max_size=12))
def test_a_tail_is_the_end_of_the_output(pieces: list[str]) -> None:
    output = ''.join(pieces)
    text, truncated = tail(*(piece.encode() for piece in pieces))
    assert output.endswith(text)
    assert truncated is (len(output) > OUTPUT_LIMIT) is (text != output)
    discarded = output.removesuffix(text)
    assert not truncated or discarded.endswith('\n') or '\n' not in output[-OUTPUT_LIMIT:-1]


def test_the_redacted_tail_hides_a_value_whose_name_is_before_it() -> None:
    for lead, end in (
        (' {"password": "', '"} '),
        (' DB_PASSWORD=', ' '),
        (' https://ann:', '@h/ '),
    ):
        buffer = TailBuffer()
        value = 'FAKE-hunter2'
        rest = 'y' * (OUTPUT_LIMIT - len(value) - len(end))
        buffer.add(f'{"z" * 500_000}{lead}{value}{end}{rest}'.encode())
        text, truncated = buffer.text(redacted=True)
        assert truncated
        assert value not in text
        assert text.endswith(rest)
        assert buffer.text()[0].startswith(value)
