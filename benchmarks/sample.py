"""The same trouble in three spellings: a tagged error, a bare Struct, and an exception as usual code writes it."""

import msgspec

from seamwise import Category, TaggedError


class FileMissing(TaggedError, category=Category.NOT_FOUND, message='{path!r} does not exist.'):
    """Ours."""

    tool: str
    path: str
    suggestions: tuple[str, ...] = ()


class DiskBusy(TaggedError, category=Category.RESOURCE, message='{disk!r} is busy.'):
    """The other error of a union."""

    disk: str


class BareStruct(msgspec.Struct, frozen=True):
    """The same fields, and nothing else."""

    tool: str
    path: str
    suggestions: tuple[str, ...] = ()


class FileMissingError(Exception):
    """The same fields, as an exception that takes them by keyword and formats its message."""

    def __init__(self, *, tool: str, path: str, suggestions: tuple[str, ...] = ()) -> None:
        super().__init__(f'{path!r} does not exist.')
        self.tool = tool
        self.path = path
        self.suggestions = suggestions


class DiskBusyError(Exception):
    """The other exception of a handler."""

    def __init__(self, *, disk: str) -> None:
        super().__init__(f'{disk!r} is busy.')
        self.disk = disk


def handle(error: object) -> None:
    """Stand for what a handler does with an error: the same on both sides."""
