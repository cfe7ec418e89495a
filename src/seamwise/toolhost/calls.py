"""Tool calls, and the input lines that contain them."""

from msgspec import Struct

from seamwise.catalog.parsing import ParsingError
from seamwise.containers import Result


class ToolCall(Struct, frozen=True):
    """A parsed call; its arguments are not checked yet.

    Attributes:
        id: The id of the call.
        tool: The name of the tool.
        arguments: The arguments by name.
        line: The number of its input line, from 1.
    """

    id: str
    tool: str
    arguments: dict[str, object]
    line: int


class InputLine(Struct, frozen=True):
    """An input line that is not blank.

    Attributes:
        number: The number of the line, from 1.
        id: The id of the call, `line-N` by default. On an invalid line, the id in the line if
            that is valid, else None.
        call: The call in the line, or the reason why there is none.
    """

    number: int
    id: str | None
    call: Result[ToolCall, ParsingError]
