"""Items of a stream."""

from typing import TypeAlias

from msgspec import Struct

from seamwise._results.containers import Result
from seamwise.catalog.parsing import UnreadableCall
from seamwise.catalog.streaming import StreamingError
from seamwise.toolhost.calls import ToolCall


class Text(Struct, frozen=True):
    """A piece of the text of an answer.

    Attributes:
        text: The piece, which is not empty.
    """

    text: str


class Reasoning(Struct, frozen=True):
    """A piece of the reasoning before an answer, or of its summary. It is no text of the answer.

    Attributes:
        text: The piece, which is not empty.
    """

    text: str


StreamItem: TypeAlias = Result[ToolCall | Text | Reasoning, StreamingError | UnreadableCall]
"""A complete call, a piece of text or of reasoning, or the reason why one of them is missing."""
