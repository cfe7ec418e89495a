"""Helpers that the tests of the formats share."""

from collections.abc import Collection, Iterable

from seamwise import Failure, Result, Success
from seamwise.catalog.parsing import UnreadableCall
from seamwise.toolhost.calls import ToolCall
from seamwise.toolhost.formats import Reader, parse
from seamwise.toolhost.formats.parsing import Output

ParsedCall = Result[ToolCall, UnreadableCall]


def read_pieces(
    pieces: Iterable[str | bytes], *, only: Collection[str] | None = None
) -> list[ParsedCall]:
    """Return the calls that a reader returns for a text in pieces."""
    reader = Reader(only=only)
    calls = [call for piece in pieces for call in reader.feed(piece)]
    return calls + reader.end()


def calls_in(output: Output, *, only: Collection[str] | None = None) -> list[ToolCall]:
    """Return the calls in an output, all of which can be read."""
    return [call.unwrap() for call in parse(output, only=only)]


def call_in(output: Output, *, only: Collection[str] | None = None) -> ToolCall:
    """Return the only call in an output."""
    (call,) = calls_in(output, only=only)
    return call


def error_in(output: Output, *, only: Collection[str] | None = None) -> UnreadableCall:
    """Return the only call in an output, which cannot be read."""
    (call,) = parse(output, only=only)
    return call.failure()


def outline(calls: Iterable[ParsedCall]) -> list[tuple[str, object]]:
    """Return the format of each call, with the tool and its arguments, or `None` if unreadable.

    >>> outline(parse('<tool name="add" args="{}"/> and <tool name="add" args="}"/>'))
    [('xml', ('add', {})), ('xml', None)]
    """
    return [
        (call.unwrap().format, (call.unwrap().tool, call.unwrap().arguments))
        if type(call) is Success
        else (call.failure().format, None)
        for call in calls
    ]


def span_of(call: ParsedCall) -> tuple[int, int] | int | None:
    """Return the span of a call, or the position of one that cannot be read."""
    return call.failure().position if type(call) is Failure else call.unwrap().span
