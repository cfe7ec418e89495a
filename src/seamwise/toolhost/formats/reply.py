"""Content of the answer to a call, before a format gives it its shape."""

import msgspec
from msgspec import Struct

from seamwise.toolhost.formats.entries import is_object


class Reply(Struct, frozen=True):
    """The outcome of a call as data for the model.

    Attributes:
        tool: The name of the tool.
        id: The id of the call.
        text: The value or the guidance as JSON.
        is_error: Whether the call failed.
    """

    tool: str
    id: str | int
    text: str
    is_error: bool

    def plain_text(self) -> str:
        """Return a value that is a string as it is, and any other one as JSON."""
        if not self.text.startswith('"'):
            return self.text
        text: str = msgspec.json.decode(self.text)
        return text

    def as_object(self) -> dict[str, object]:
        """Return the value or the guidance as an object; another value is its `result`."""
        value: object = msgspec.json.decode(self.text)
        return value if is_object(value) else {'result': value}


def answer_with_json(reply: Reply) -> str:
    """Return the answer in formats without a convention of their own: the JSON."""
    return reply.text
