"""Reader for the calls in the output of a model, each with the number of its line."""

from collections.abc import Collection
from typing import BinaryIO

from seamwise._results.containers import Failure, Success
from seamwise._text.secrets import MASK
from seamwise.catalog.parsing import UnreadableCall
from seamwise.redaction import redact
from seamwise.toolhost.calls import InputLine
from seamwise.toolhost.formats.entries import EXCERPT_LIMIT, REDACTED_SIZE, ParsedCall
from seamwise.toolhost.formats.parsing import FORMATS, parse

OUTPUT_LIMIT = 16 * 1024 * 1024
"""In bytes: the maximum length of an output. Its values in memory can be many times as large."""


def read_output(stream: BinaryIO, *, only: Collection[str] | None = None) -> list[InputLine]:
    r"""Read the output of a model to its end, and return the calls in it.

    A call without an id gets `call-N`, where N is its place in the output.

    >>> from io import BytesIO
    >>> stream = BytesIO(b'First:\n{"tool": "a", "args": {}}\n{"tool": "b", "args": {}, "id": "x"}')
    >>> [(line.number, line.id) for line in read_output(stream)]
    [(2, 'call-1'), (3, 'x')]

    Args:
        stream: The output in UTF-8.
        only: The names of the formats to read, of `FORMATS`. Default: all.

    Raises:
        OSError: The stream cannot be read.
        ValueError: A name in `only` is not in `FORMATS`.
    """
    data = stream.read(OUTPUT_LIMIT + 1)
    # A byte order mark is no character of the output.
    text = data.decode('utf-8-sig', 'replace')
    calls = [_too_long(text)] if len(data) > OUTPUT_LIMIT else parse(_content(data), only=only)
    lines: list[InputLine] = []
    number = position = end = 0
    for place, call in enumerate(calls, 1):
        start, end = _span(call, text, end)
        number += text.count('\n', position, start)
        position = start
        call_id = call.unwrap().id if type(call) is Success else call.failure().id
        lines.append(InputLine(number + 1, f'call-{place}' if call_id is None else call_id, call))
    return lines


def _content(data: bytes) -> str | bytes:
    try:
        return data.decode('utf-8-sig')
    except UnicodeDecodeError:
        # `parse` describes the invalid byte.
        return data


def _span(call: ParsedCall, text: str, end: int) -> tuple[int, int]:
    """Return the positions of the first character of a call, and of the one after it.

    Args:
        call: The call.
        text: The output.
        end: The position after the call before.
    """
    if type(call) is Success:
        return call.unwrap().span or (end, end)
    error = call.failure()
    # The excerpt is the start of the call, as far as redaction leaves it. A text that is not UTF-8
    # is no call, and has a position only.
    head = error.excerpt.partition(MASK)[0] if error.format in FORMATS else ''
    start = text.find(head, end, error.position + len(head)) if head else -1
    return (max(error.position, end) if start < 0 else start), max(error.position + 1, end)


def _too_long(text: str) -> ParsedCall:
    problem = f'the output has more than {OUTPUT_LIMIT:,} bytes'
    excerpt = redact(text[:REDACTED_SIZE])[:EXCERPT_LIMIT]
    return Failure(UnreadableCall('text', problem, excerpt, 0))
