"""Text encodings: accepted names, and reports of bytes that do not fit."""

import encodings.aliases
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seamwise.toolhost.builtin.text.encodings import (
    SAMPLE_SIZE,
    decoding_problem,
    is_binary,
    is_wide,
    text_encoding,
)
from seamwise.toolhost.builtin.time_limit import TimeLimit

ALL_NAMES = sorted({*encodings.aliases.aliases, *encodings.aliases.aliases.values()})
ENCODINGS = sorted(
    {encoding for name in ALL_NAMES if (encoding := text_encoding(name)) is not None}
)


@pytest.mark.parametrize(
    'name',
    [
        'utf-8',
        'UTF8',
        'gb18030',
        'GBK',
        'latin-1',
        'ISO-8859-1',
        'shift_jis',
        'utf-16',
        'utf_8_sig',
        'cp1252',
    ],
)
def test_a_text_encoding_is_known_by_all_its_names(name: str) -> None:
    assert text_encoding(name) is not None


UNKNOWN_NAMES = [
    '',
    '\0',
    'utf-8\0',
    'klingon',
    'x' * 41,
    'ü',
    '../x',
    'encodings.utf_8',
    'os',
    'aliases',
    'mbcs',
    'oem',
    '\n',
    '\udcff',
]
NOT_CHARSETS = [
    'hex',
    'rot13',
    'base64',
    'zip',
    'bz2',
    'uu',
    'quopri',
    'idna',
    'punycode',
    'unicode_escape',
    'raw_unicode_escape',
    'utf-7',
]


@pytest.mark.parametrize('name', [*UNKNOWN_NAMES, *NOT_CHARSETS, 'undefined'])
def test_a_codec_that_is_not_a_text_encoding_is_rejected(name: str) -> None:
    assert text_encoding(name) is None


@pytest.mark.parametrize('encoding', ENCODINGS)
def test_every_accepted_encoding_round_trips_text(encoding: str) -> None:
    text = 'one\r\ntwo\n' * 10
    stream = io.TextIOWrapper(io.BytesIO(text.encode(encoding)), encoding, newline='\n')
    assert stream.read() == text


@given(st.sampled_from(ENCODINGS), st.binary(max_size=40))
def test_any_undecodable_bytes_are_reported(encoding: str, data: bytes) -> None:
    try:
        io.TextIOWrapper(io.BytesIO(data), encoding, newline='\n').read()
    except UnicodeError:
        assert f'is not {encoding}; try ' in decoding_problem(
            io.BytesIO(data), encoding, TimeLimit()
        )


@pytest.mark.parametrize(
    ('data', 'encoding', 'expected'),
    [
        (b'caf\xe9\n', 'utf-8', 'byte 0xe9 at position 3 is not utf-8; try latin-1'),
        (
            '你好，世界\n'.encode('gb18030'),
            'utf-8',
            'byte 0xc4 at position 0 is not utf-8; try gb18030',
        ),
        ('x\n你好\n'.encode(), 'ascii', 'byte 0xe4 at position 2 is not ascii; try utf-8'),
        ('你好'.encode()[:-1], 'utf-8', 'byte 0xe5 at position 3 is not utf-8; try latin-1'),
        ('héllo\n'.encode('utf-16'), 'utf-8', 'byte 0xff at position 0 is not utf-8; try utf-16'),
        (b'ab', 'utf-16', 'byte 0x61 at position 0 is not utf-16; try utf-8'),
        (b'a\0\n\0x', 'utf-16-le', 'byte 0x78 at position 4 is not utf-16-le; try utf-8'),
        (
            b'x' * (3 * SAMPLE_SIZE) + b'\xe9\n',
            'utf-8',
            f'byte 0xe9 at position {3 * SAMPLE_SIZE} is not utf-8; try latin-1',
        ),
        (
            b'x' * (SAMPLE_SIZE - 1) + '数'.encode() + b'\xff',
            'utf-8',
            f'byte 0xff at position {SAMPLE_SIZE + 2} is not utf-8; try latin-1',
        ),
        (
            ('数' * SAMPLE_SIZE).encode('gb18030'),
            'utf-8',
            'byte 0xca at position 0 is not utf-8; try gb18030',
        ),
    ],
)
def test_undecodable_bytes_are_reported_with_position_and_suggestion(
    data: bytes, encoding: str, expected: str
) -> None:
    assert decoding_problem(io.BytesIO(data), encoding, TimeLimit()) == expected


def test_a_nul_byte_makes_a_file_binary_unless_the_encoding_is_wide() -> None:
    assert is_binary(b'a\0b', 'utf-8')
    assert not is_binary(b'ab', 'utf-8')
    for encoding in ('utf-16', 'utf-16-le', 'utf-32-be'):
        assert is_wide(encoding)
        assert not is_binary(b'a\0b', encoding)
