"""The same error as a tagged error, as a bare Struct, and as an ordinary exception."""

import msgspec

from seamwise import Category, TaggedError


class FileMissing(TaggedError, category=Category.NOT_FOUND, message='{path!r} does not exist.'):
    """A tagged error."""

    tool: str
    path: str
    suggestions: tuple[str, ...] = ()


class DiskBusy(TaggedError, category=Category.RESOURCE, message='{disk!r} is busy.'):
    """The second error of a union."""

    disk: str


class BareStruct(msgspec.Struct, frozen=True):
    """A Struct with the same fields."""

    tool: str
    path: str
    suggestions: tuple[str, ...] = ()


class FileMissingError(Exception):
    """An exception with the same fields, which formats its message when it is created."""

    def __init__(self, *, tool: str, path: str, suggestions: tuple[str, ...] = ()) -> None:
        super().__init__(f'{path!r} does not exist.')
        self.tool = tool
        self.path = path
        self.suggestions = suggestions


class DiskBusyError(Exception):
    """The second exception of a handler."""

    def __init__(self, *, disk: str) -> None:
        super().__init__(f'{disk!r} is busy.')
        self.disk = disk


def handle(error: object) -> None:
    """Stand in for the body of a handler, on both sides."""
