"""Tool calls, and the input lines that contain them."""

from msgspec import Struct

from seamwise._results.containers import Result
from seamwise.catalog.parsing import ParsingError


class ToolCall(Struct, frozen=True):
    """A parsed call; its arguments are not checked yet.

    >>> ToolCall('weather', {'city': 'Oslo'}, id='call_1').format
    'bare'

    Attributes:
        tool: The name of the tool.
        arguments: The arguments by name.
        id: The id of the call as the model wrote it, or None.
        namespace: The namespace of the tool, or None.
        format: The format that the call was written in, one of `formats.FORMATS`.
        span: The position of the call in its text, in characters: the first one and the one after
            the last. None for a call that was read from an object.
        line: The number of its input line, from 1; for JSON Lines only.
    """

    tool: str
    arguments: dict[str, object]
    id: str | int | None = None
    namespace: str | None = None
    format: str = 'bare'
    span: tuple[int, int] | None = None
    line: int | None = None


class InputLine(Struct, frozen=True):
    """An input line that is not blank, or a call in the output of a model.

    Attributes:
        number: The number of the line, or of the line in which the call begins, from 1.
        id: The id of the call. By default, it is `line-N`, or `call-N` in the output of a model.
            On an invalid line, the id in the line if that is valid, else None.
        call: The call, or the reason why it cannot be read.
    """

    number: int
    id: str | int | None
    call: Result[ToolCall, ParsingError]
