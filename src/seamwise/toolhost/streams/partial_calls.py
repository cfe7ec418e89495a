"""Calls whose arguments arrive in pieces."""

from typing import Final, NamedTuple, TypeAlias

from msgspec import Struct, field

from seamwise._results.containers import Failure
from seamwise.catalog.parsing import UnreadableCall
from seamwise.toolhost.formats.entries import BrokenCall, Entry, ParsedCall, read_entry
from seamwise.toolhost.streams.events import StreamTooLarge

HELD_LIMIT: Final = 16 * 2**20
"""In characters: the maximum size of the calls that are not complete yet."""

# The memory of a call without arguments and of a piece, so that their number is limited too.
_CALL_SIZE = 200
_PIECE_SIZE = 32


Key: TypeAlias = tuple[int, int]
"""The choice of a call, 0 if there is only one, and its index."""


class ArgumentText(NamedTuple):
    """A piece of the arguments.

    Attributes:
        text: The piece, or the JSON of arguments that a server has sent as a value.
        problem: The reason why the arguments cannot be read, or ''.
    """

    text: str
    problem: str = ''


class PartialCall(Struct):
    """A call that has begun.

    Attributes:
        format: The format of the call.
        tool: The name of the tool.
        id: The id of the call.
        namespace: The namespace of the tool.
        initial: The arguments that came with the start of the call. Pieces replace them.
        pieces: The pieces of the arguments.
        was_tried: Whether `PartialCalls.take_complete` has looked at it.
        problem: The reason why the call cannot be read, if it is known already.
    """

    format: str
    tool: object = None
    id: object = None
    namespace: object = None
    initial: str = ''
    pieces: list[str] = field(default_factory=list[str])
    was_tried: bool = False
    problem: str = ''

    @property
    def arguments(self) -> str:
        """The arguments as far as they have arrived."""
        return ''.join(self.pieces) or self.initial

    @property
    def is_blank(self) -> bool:
        """Whether no argument has arrived."""
        return not self.arguments.strip()

    @property
    def size(self) -> int:
        """The memory of the call, roughly in characters."""
        pieces = sum(len(piece) + _PIECE_SIZE for piece in self.pieces)
        return _CALL_SIZE + len(self.initial) + pieces

    def read(self) -> ParsedCall:
        """Return the call, which is complete; without arguments, it has none."""
        arguments = self.arguments
        call = read_entry(
            Entry(self.format, (), self.tool, arguments, self.id, self.namespace, self.problem)
        )
        if type(call) is not Failure:
            return call
        error = call.failure()
        return _failure(error.format, error.problem, arguments, error)

    def read_cut(self) -> ParsedCall:
        """Return the call of an answer that was stopped; without arguments, it is cut off."""
        return self.cut_off() if self.is_blank and not self.problem else self.read()

    def cut_off(self) -> ParsedCall:
        """Return the failure of a call that is not complete at the end of the stream."""
        entry = Entry(self.format, (), self.tool, None, self.id, problem='the call is cut off')
        # seamwise: allow[SW104] an entry with a problem is unreadable
        error = read_entry(entry).failure()
        return _failure(error.format, error.problem, self.arguments, error)


def _failure(format_name: str, problem: str, arguments: str, error: UnreadableCall) -> ParsedCall:
    """Return a failure with an excerpt of the arguments."""
    span = (0, len(arguments))
    return BrokenCall(format_name, problem, arguments, span, id=error.id, tool=error.tool).failure()


class PartialCalls:
    """The calls of a stream that have begun and are not complete, in the order in which they began.

    Args:
        limit: The maximum size of all of them, in characters.
    """

    def __init__(self, limit: int = HELD_LIMIT) -> None:
        self._calls: dict[Key, PartialCall] = {}
        self._size = 0
        self._limit = limit

    def get(self, key: Key) -> PartialCall | None:
        """Return a call, or None."""
        return self._calls.get(key)

    def begin(self, key: Key, call: PartialCall) -> None:
        """Add a call.

        Raises:
            StreamTooLarge: The calls exceed the limit.
        """
        self._calls[key] = call
        self._grow(call.size)

    def add(self, key: Key, piece: ArgumentText) -> None:
        """Add a piece of the arguments; a piece without its call is ignored.

        Raises:
            StreamTooLarge: The calls exceed the limit.
        """
        call = self._calls.get(key)
        if call is not None and piece.text:
            call.pieces.append(piece.text)
            call.problem = call.problem or piece.problem
            self._grow(len(piece.text) + _PIECE_SIZE)

    def take(self, key: Key) -> PartialCall | None:
        """Remove a call and return it, or None."""
        call = self._calls.pop(key, None)
        if call is not None:
            self._size -= call.size
        return call

    def take_all(self) -> list[PartialCall]:
        """Remove all calls and return them."""
        calls = [*self._calls.values()]
        self._calls.clear()
        self._size = 0
        return calls

    def take_complete(self) -> list[tuple[Key, ParsedCall]]:
        """Remove the first calls whose arguments are a complete object; return keys and calls.

        Each call is tried once, so that the time is linear.
        """
        complete: list[tuple[Key, ParsedCall]] = []
        while self._calls:
            key, call = next(iter(self._calls.items()))
            if call.was_tried:
                break
            call.was_tried = True
            result = call.read_cut()
            if type(result) is Failure:
                break
            complete.append((key, result))
            self.take(key)
        return complete

    def _grow(self, size: int) -> None:
        self._size += size
        if self._size > self._limit:
            raise StreamTooLarge(f'its unfinished calls have more than {self._limit:,} characters')
