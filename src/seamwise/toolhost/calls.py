"""What the reader hands to the host: one line of the input, and the call in it."""

from msgspec import Struct

from seamwise.catalog.parsing import ParsingError
from seamwise.containers import Result


class ToolCall(Struct, frozen=True):
    """A call that was understood; its arguments are not checked yet. `line` counts from 1."""

    id: str
    tool: str
    arguments: dict[str, object]
    line: int


class InputLine(Struct, frozen=True):
    """One line that is not blank: its number, counted from 1, and the call in it or what is wrong with it.

    `id` is the call's: `line-N` where the line gives none. On a bad line it is the one that the line itself gives,
    where that is valid, else None.
    """

    number: int
    id: str | None
    call: Result[ToolCall, ParsingError]
