"""Tools whose annotations are strings, and contain names that are defined below, or never."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from seamwise import Category, Result, Success, TaggedError
from seamwise.toolhost import Tool, tool

if TYPE_CHECKING:
    from decimal import Decimal as Missing


@tool
def move(to: Point) -> Result[Point, Blocked]:
    return Success(to)


class Point(Struct):
    x: int
    y: int


class Blocked(TaggedError, category=Category.CONFLICT, namespace='tests.toolhost.later_types'):
    pass


def local_tool() -> Tool[TaggedError]:
    class Local(Struct):
        z: int

    @tool
    def move_locally(to: Local) -> Local:
        # The function uses the name, so it is known at run time.
        assert isinstance(to, Local)
        return to

    return move_locally


@tool
def lost(to: Missing) -> int:
    return int(to)


@tool
def unknown_result() -> Missing:
    return 7  # type: ignore[return-value]  # on purpose
