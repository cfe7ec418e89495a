"""What can go wrong before a tool call is understood."""

from typing import TypeAlias

from seamwise.catalog.problem import Problem
from seamwise.categories import Category
from seamwise.errors import TaggedError


class UnreadableCall(
    TaggedError,
    category=Category.VALIDATION,
    message='This is not {format}: {problem} at position {position}.',
):
    """The text of a call cannot be read. The caller sends it again, well formed; `id` and `tool` are what the text seems to tell."""

    format: str
    problem: str
    excerpt: str
    position: int
    id: str | None = None
    tool: str | None = None


class UnknownFormat(
    TaggedError,
    category=Category.VALIDATION,
    message='No known format of a tool call fits the text.',
):
    """The text holds no call in any format that is read here. The caller uses one of them."""

    excerpt: str


class SchemaViolations(
    TaggedError, category=Category.VALIDATION, message='The call does not have the right shape.'
):
    """The text was read, but is no tool call. The caller mends every place that `problems` names."""

    problems: tuple[Problem, ...]


ParsingError: TypeAlias = UnreadableCall | UnknownFormat | SchemaViolations
