"""Encodings for text are taken, others are not, and what does not fit is said with its place."""

import encodings.aliases
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seamwise.toolhost.text.encodings import (
    SAMPLE_SIZE,
    decoding_problem,
    is_binary,
    is_wide,
    text_encoding,
)

ALL = sorted({*encodings.aliases.aliases, *encodings.aliases.aliases.values()})
KNOWN = sorted({known for name in ALL if (known := text_encoding(name)) is not None})


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
def test_encodings_for_text_are_known_by_all_their_names(name: str) -> None:
    assert text_encoding(name) is not None


NO_ENCODINGS = [
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
NO_CHARSETS = [
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


@pytest.mark.parametrize('name', [*NO_ENCODINGS, *NO_CHARSETS, 'undefined'])
def test_what_is_no_encoding_for_text_is_refused(name: str) -> None:
    assert text_encoding(name) is None


@pytest.mark.parametrize('encoding', KNOWN)
def test_every_known_encoding_gives_back_what_it_took(encoding: str) -> None:
    text = 'one\r\ntwo\n' * 10
    stream = io.TextIOWrapper(io.BytesIO(text.encode(encoding)), encoding, newline='\n')
    assert stream.read() == text


@given(st.sampled_from(KNOWN), st.binary(max_size=40))
def test_bytes_fit_or_it_is_said_where_they_do_not(encoding: str, data: bytes) -> None:
    try:
        io.TextIOWrapper(io.BytesIO(data), encoding, newline='\n').read()
    except UnicodeError:
        assert f'is not {encoding}; try ' in decoding_problem(io.BytesIO(data), encoding)


@pytest.mark.parametrize(
    ('data', 'encoding', 'said'),
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
def test_what_does_not_fit_is_said_with_its_place_and_what_might(
    data: bytes, encoding: str, said: str
) -> None:
    assert decoding_problem(io.BytesIO(data), encoding) == said


def test_a_zero_byte_makes_a_file_binary_unless_its_encoding_is_full_of_them() -> None:
    assert is_binary(b'a\0b', 'utf-8')
    assert not is_binary(b'ab', 'utf-8')
    for encoding in ('utf-16', 'utf-16-le', 'utf-32-be'):
        assert is_wide(encoding)
        assert not is_binary(b'a\0b', encoding)
