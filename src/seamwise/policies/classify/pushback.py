"""Retry delays in gRPC metadata: pushback and RetryInfo, parsed without dependencies."""

from collections.abc import Iterable, Iterator

from seamwise._errors.errors import MAX_DELAY

PUSHBACK_KEY = 'grpc-retry-pushback-ms'
STATUS_DETAILS_KEY = 'grpc-status-details-bin'

_RETRY_INFO = 'google.rpc.RetryInfo'

# Wire types of Protocol Buffers.
_VARINT = 0
_LENGTH_DELIMITED = 2
_FIXED_SIZES = {1: 8, 5: 4}
"""Size in bytes of the values of each fixed-size wire type."""


def pushback(metadata: Iterable[tuple[str, str | bytes]], /) -> float | None:
    """Return the retry delay in the trailing metadata of a failed call, in seconds, or None.

    A negative or invalid pushback means that the call must not be retried (gRFC A6). The result
    is then the longest delay of an error, which exceeds that of any retry. An invalid RetryInfo
    is ignored.

    >>> pushback([('grpc-retry-pushback-ms', '1500')])
    1.5
    >>> pushback([]) is None
    True
    """
    values = dict(metadata)
    if (milliseconds := values.get(PUSHBACK_KEY)) is not None:
        return _parse_milliseconds(milliseconds)
    details = values.get(STATUS_DETAILS_KEY)
    return _retry_info_delay(details) if isinstance(details, bytes) else None


def _parse_milliseconds(text: str | bytes) -> float:
    try:
        seconds = int(text) / 1000
    except (ValueError, OverflowError):
        return MAX_DELAY
    return min(seconds, MAX_DELAY) if seconds >= 0 else MAX_DELAY


def _retry_info_delay(status: bytes) -> float | None:
    """Return the delay of the RetryInfo in a google.rpc.Status, in seconds, or None.

    The fields 3 of a Status are messages of type Any. An Any has a type URL (1) and a message (2).
    """
    try:
        for detail in _submessages(status, 3):
            type_url = b''.join(_submessages(detail, 1)).decode()
            if type_url.rpartition('/')[2] == _RETRY_INFO:
                return _parse_retry_info(b''.join(_submessages(detail, 2)))
    except (ValueError, IndexError):
        # The server sent an invalid message: it contains no usable delay.
        pass
    return None


def _parse_retry_info(retry_info: bytes) -> float | None:
    """Return the Duration (1) in a RetryInfo: seconds (1) and nanoseconds (2)."""
    fields = {
        number: value
        for number, value in _iter_fields(b''.join(_submessages(retry_info, 1)))
        if isinstance(value, int)
    }
    seconds, nanoseconds = _to_signed(fields.get(1, 0)), _to_signed(fields.get(2, 0))
    if seconds < 0 or nanoseconds < 0:
        return None
    return min(seconds + nanoseconds / 1e9, MAX_DELAY)


def _to_signed(value: int) -> int:
    return value - (1 << 64) if value >= 1 << 63 else value


def _submessages(message: bytes, number: int) -> Iterator[bytes]:
    return (
        value
        for field, value in _iter_fields(message)
        if field == number and isinstance(value, bytes)
    )


def _iter_fields(message: bytes) -> Iterator[tuple[int, int | bytes]]:
    """Yield the number and the value of each field of a Protocol Buffers message.

    See https://protobuf.dev/programming-guides/encoding.

    Raises:
        ValueError: The message is invalid.
        IndexError: The message is incomplete.
    """
    offset = 0
    while offset < len(message):
        tag, offset = _read_varint(message, offset)
        number, wire_type = tag >> 3, tag & 7
        if wire_type == _VARINT:
            value, offset = _read_varint(message, offset)
            yield number, value
            continue
        if wire_type == _LENGTH_DELIMITED:
            length, offset = _read_varint(message, offset)
        elif wire_type in _FIXED_SIZES:
            length = _FIXED_SIZES[wire_type]
        else:
            raise ValueError(f'unknown wire type {wire_type}')
        if offset + length > len(message):
            raise ValueError('the message is incomplete')
        yield number, message[offset : offset + length]
        offset += length


def _read_varint(message: bytes, offset: int) -> tuple[int, int]:
    """Return an integer of at most ten bytes, seven bits each, and the offset of its end."""
    value = 0
    for shift in range(0, 70, 7):
        byte = message[offset]
        value |= (byte & 0x7F) << shift
        offset += 1
        if byte < 0x80:  # noqa: PLR2004 -- only the last byte has a clear high bit
            return value, offset
    raise ValueError('the integer is longer than ten bytes')
