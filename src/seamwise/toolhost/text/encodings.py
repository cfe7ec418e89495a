"""Which encodings a file may be read in, where its bytes do not fit, and which one might."""

import codecs
from typing import BinaryIO

LONGEST_NAME = 40
"""In characters: no encoding has a longer name."""

BINARY_HEAD = 8192
"""In bytes: a NUL in them makes a file binary."""

SAMPLE = 64 * 1024
"""In bytes: so much is looked at to find an encoding that fits."""

_WIDE = ('utf-16', 'utf-32')
_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
# They turn text into other text, read escapes in it, or give halves of characters (UTF-7): no file is written in them.
_NO_CHARSETS = {'idna', 'punycode', 'raw-unicode-escape', 'undefined', 'unicode-escape', 'utf-7'}


def text_encoding(name: str) -> str | None:
    """Give Python's own name of an encoding for text, or None where there is no such encoding.

    >>> text_encoding('UTF8'), text_encoding('latin-1'), text_encoding('base64'), text_encoding('klingon')
    ('utf-8', 'iso8859-1', None, None)
    """
    if len(name) > LONGEST_NAME or '\0' in name or not name.isascii():
        return None
    try:
        # Encoding refuses what is no text encoding (`base64`, `rot13`, `zip`), which a look-up alone lets through.
        'a'.encode(name)
        known = codecs.lookup(name).name
    except (LookupError, UnicodeError):
        return None
    return None if known in _NO_CHARSETS else known


def is_wide(encoding: str) -> bool:
    """Whether plain text in this encoding is full of NUL bytes.

    >>> is_wide('utf-16-le'), is_wide('utf-8')
    (True, False)
    """
    return encoding.startswith(_WIDE)


def is_binary(head: bytes, encoding: str) -> bool:
    """Whether the first bytes of a file, `BINARY_HEAD` of them, hold a NUL where text in this encoding has none."""
    return not is_wide(encoding) and b'\0' in head


def misfit(stream: BinaryIO, encoding: str) -> str:
    """Say which byte of a stream is not `encoding`, where it stands (from 0), and which encoding might fit."""
    stream.seek(0)
    position = _first_misfit(stream, encoding)
    stream.seek(position)
    byte = stream.read(1)
    stream.seek(0)
    other = _fitting(stream, position, encoding)
    what = (
        f'byte 0x{byte.hex()} at position {position}'
        if byte
        else f'the end, at position {position},'
    )
    return f'{what} is not {encoding}; try {other}'


def _first_misfit(stream: BinaryIO, encoding: str) -> int:
    decoder = codecs.getincrementaldecoder(encoding)('strict')
    behind = 0
    while True:
        block = stream.read(SAMPLE)
        held = len(decoder.getstate()[0])
        try:
            decoder.decode(block, final=not block)
        except UnicodeDecodeError as raised:
            return behind - held + raised.start
        except UnicodeError:
            # UTF-16 without the mark that it begins with.
            return 0
        behind += len(block)


def _fitting(stream: BinaryIO, position: int, encoding: str) -> str:
    if stream.read(2) in _MARKS and not is_wide(encoding):
        return 'utf-16'
    # From a line's start, where one is near: in none of these encodings is a newline part of a character.
    start = max(0, position - SAMPLE)
    stream.seek(start)
    stream.seek(start + stream.read(position - start).rfind(b'\n') + 1)
    sample = stream.read(position - stream.tell() + SAMPLE)
    is_all = not stream.read(1)
    return next(
        (
            one
            for one in ('utf-8', 'gb18030')
            if one != encoding and _fits(sample, one, final=is_all)
        ),
        'latin-1',
    )


def _fits(sample: bytes, encoding: str, *, final: bool) -> bool:
    try:
        codecs.getincrementaldecoder(encoding)('strict').decode(sample, final=final)
    except UnicodeDecodeError:
        return False
    return True
