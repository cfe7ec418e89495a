"""How long a gRPC server asks to wait: its pushback, and `google.rpc.RetryInfo`, read without any package for it."""

from collections.abc import Iterable, Iterator

from seamwise.errors import MAX_DELAY

PUSHBACK = 'grpc-retry-pushback-ms'
DETAILS = 'grpc-status-details-bin'

_RETRY_INFO = 'google.rpc.RetryInfo'
_SIZES = {1: 8, 5: 4}
"""How many bytes the values of fixed size have, by wire type."""


def pushback(metadata: Iterable[tuple[str, str | bytes]], /) -> float | None:
    """Give the seconds that the trailing metadata of a failed call ask to wait, or None where they do not say.

    A pushback that is negative or unreadable means that there must be no other try (gRFC A6): the longest delay that
    an error can hold, beyond what any retry waits. What cannot be read in a RetryInfo is no hint.

    >>> pushback([('grpc-retry-pushback-ms', '1500')]), pushback([])
    (1.5, None)
    """
    said = dict(metadata)
    if (milliseconds := said.get(PUSHBACK)) is not None:
        return _milliseconds(milliseconds)
    details = said.get(DETAILS)
    return _retry_info(details) if isinstance(details, bytes) else None


def _milliseconds(text: str | bytes) -> float:
    try:
        waited = int(text) / 1000
    except (ValueError, OverflowError):
        return MAX_DELAY
    return min(waited, MAX_DELAY) if waited >= 0 else MAX_DELAY


def _retry_info(status: bytes) -> float | None:
    """Read google.rpc.Status: in its field 3 each an Any (1: the type's URL, 2: the message), in that of RetryInfo a Duration (1)."""
    try:
        for detail in _messages(status, 3):
            url = b''.join(_messages(detail, 1)).decode()
            if url.rpartition('/')[2] == _RETRY_INFO:
                return _delay(b''.join(_messages(detail, 2)))
    except (ValueError, IndexError):
        pass  # What others send may be anything; then it does not say how long to wait.
    return None


def _delay(retry_info: bytes) -> float | None:
    """Read the Duration in a RetryInfo: seconds (1) and nanoseconds (2)."""
    parts = {
        number: value
        for number, value in _fields(b''.join(_messages(retry_info, 1)))
        if isinstance(value, int)
    }
    seconds, nanoseconds = _signed(parts.get(1, 0)), _signed(parts.get(2, 0))
    if seconds < 0 or nanoseconds < 0:
        return None
    return min(seconds + nanoseconds / 1e9, MAX_DELAY)


def _signed(value: int) -> int:
    return value - (1 << 64) if value >= 1 << 63 else value


def _messages(message: bytes, number: int) -> Iterator[bytes]:
    return (
        value for field, value in _fields(message) if field == number and isinstance(value, bytes)
    )


def _fields(message: bytes) -> Iterator[tuple[int, int | bytes]]:
    """Take a message of Protocol Buffers apart: each field's number and its value, a number or bytes.

    Raises ValueError or IndexError where it is none. https://protobuf.dev/programming-guides/encoding
    """
    at = 0
    while at < len(message):
        key, at = _varint(message, at)
        number, kind = key >> 3, key & 7
        if kind == 0:
            value, at = _varint(message, at)
            yield number, value
            continue
        size, at = _varint(message, at) if kind == 2 else (_SIZES.get(kind), at)  # noqa: PLR2004 -- what says its length itself
        if size is None or at + size > len(message):
            raise ValueError('no message')
        yield number, message[at : at + size]
        at += size


def _varint(message: bytes, at: int) -> tuple[int, int]:
    """Read a number of seven bits a byte, the lowest first, of ten bytes at most; give it and where it ends."""
    value = 0
    for shift in range(0, 70, 7):
        byte = message[at]
        value |= (byte & 0x7F) << shift
        at += 1
        if byte < 0x80:  # noqa: PLR2004 -- the last byte has no high bit
            return value, at
    raise ValueError('no number')
