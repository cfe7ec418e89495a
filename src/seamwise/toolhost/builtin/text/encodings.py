"""Text encodings: lookup by name, and reports of bytes that do not fit."""

import codecs
from typing import BinaryIO

from seamwise.toolhost.builtin.time_limit import TimeLimit

MAX_NAME_LENGTH = 40
"""In characters: longer than the name of any encoding."""

BINARY_HEAD_SIZE = 8192
"""In bytes: a file with a NUL in its first bytes is binary."""

SAMPLE_SIZE = 64 * 1024
"""In bytes: the size of the samples that are decoded to find a fitting encoding."""

_WIDE = ('utf-16', 'utf-32')
_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
# These codecs transform text, interpret escapes or decode to lone surrogates (UTF-7). Files are
# not written in them.
_NOT_CHARSETS = {'idna', 'punycode', 'raw-unicode-escape', 'undefined', 'unicode-escape', 'utf-7'}


def text_encoding(name: str) -> str | None:
    """Return Python's canonical name of a text encoding, or None if there is no such encoding.

    >>> text_encoding('UTF8'), text_encoding('latin-1')
    ('utf-8', 'iso8859-1')
    >>> text_encoding('base64'), text_encoding('klingon')
    (None, None)
    """
    if len(name) > MAX_NAME_LENGTH or '\0' in name or not name.isascii():
        return None
    try:
        # `encode` rejects codecs that are not for text (`base64`, `rot13`); `lookup` does not.
        'a'.encode(name)
        canonical = codecs.lookup(name).name
    except (LookupError, UnicodeError):
        return None
    return None if canonical in _NOT_CHARSETS else canonical


def is_wide(encoding: str) -> bool:
    """Return whether ASCII text in this encoding contains NUL bytes.

    >>> is_wide('utf-16-le'), is_wide('utf-8')
    (True, False)
    """
    return encoding.startswith(_WIDE)


def is_binary(head: bytes, encoding: str) -> bool:
    r"""Return whether the head of a file shows that it is not text in this encoding.

    >>> is_binary(b'PNG\0', 'utf-8'), is_binary(b'a\0b\0', 'utf-16-le')
    (True, False)

    Args:
        head: The first `BINARY_HEAD_SIZE` bytes.
        encoding: The canonical name of the expected encoding.
    """
    return not is_wide(encoding) and b'\0' in head


def decoding_problem(stream: BinaryIO, encoding: str, limit: TimeLimit) -> str:
    r"""Describe the first byte that does not fit the encoding, and suggest another encoding.

    >>> from io import BytesIO
    >>> decoding_problem(BytesIO(b'caf\xe9'), 'utf-8', TimeLimit())
    'byte 0xe9 at position 3 is not utf-8; try latin-1'

    Raises:
        OutOfTime: the time is over.
    """
    stream.seek(0)
    position = _undecodable_position(stream, encoding, limit)
    stream.seek(position)
    byte = stream.read(1)
    stream.seek(0)
    suggestion = _fitting_encoding(stream, position, encoding)
    if byte:
        subject = f'byte 0x{byte.hex()} at position {position}'
    else:
        subject = f'the end, at position {position},'
    return f'{subject} is not {encoding}; try {suggestion}'


def _undecodable_position(stream: BinaryIO, encoding: str, limit: TimeLimit) -> int:
    decoder = codecs.getincrementaldecoder(encoding)('strict')
    offset = 0
    while True:
        limit.check()
        block = stream.read(SAMPLE_SIZE)
        pending = len(decoder.getstate()[0])
        try:
            decoder.decode(block, final=not block)
        except UnicodeDecodeError as error:
            return offset - pending + error.start
        except UnicodeError:
            # UTF-16 without its byte order mark.
            return 0
        offset += len(block)


def _fitting_encoding(stream: BinaryIO, position: int, encoding: str) -> str:
    if stream.read(2) in _MARKS and not is_wide(encoding):
        return 'utf-16'
    # The sample starts at a line, if one is near: no candidate uses 0x0A inside a character.
    start = max(0, position - SAMPLE_SIZE)
    stream.seek(start)
    stream.seek(start + stream.read(position - start).rfind(b'\n') + 1)
    sample = stream.read(position - stream.tell() + SAMPLE_SIZE)
    is_complete = not stream.read(1)
    for candidate in ('utf-8', 'gb18030'):
        if candidate != encoding and _fits(sample, candidate, final=is_complete):
            return candidate
    return 'latin-1'


def _fits(sample: bytes, encoding: str, *, final: bool) -> bool:
    try:
        codecs.getincrementaldecoder(encoding)('strict').decode(sample, final=final)
    except UnicodeDecodeError:
        return False
    return True
