"""Errors of tool calls that cannot be decoded."""

from typing import TypeAlias

from seamwise._errors.categories import Category
from seamwise._errors.errors import TaggedError
from seamwise.catalog.problem import Problem


class UnreadableCall(
    TaggedError,
    category=Category.VALIDATION,
    message='This is not {format}: {problem} at position {position}.',
):
    """The text of a tool call is malformed.

    The caller sends it again; `id` and `tool` are guesses from the text. `format` is the name of a
    format, or `text` if the format cannot be known, as for bytes that are not UTF-8.
    """

    format: str
    problem: str
    excerpt: str
    position: int
    id: str | int | None = None
    tool: str | None = None


class UnknownFormat(
    TaggedError,
    category=Category.VALIDATION,
    message='The text contains no tool call in a known format.',
):
    """The text contains no tool call in a supported format.

    The caller uses one of these formats.
    """

    excerpt: str


class SchemaViolations(
    TaggedError, category=Category.VALIDATION, message='The call does not have the right shape.'
):
    """The text is well-formed but is not a tool call. The caller corrects all `problems`."""

    problems: tuple[Problem, ...]


ParsingError: TypeAlias = UnreadableCall | UnknownFormat | SchemaViolations
