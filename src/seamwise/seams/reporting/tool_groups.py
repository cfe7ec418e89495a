"""Groups of the errors of tool calls, with their categories and levels in the log."""

import logging
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, NamedTuple, get_args

from seamwise._errors.categories import Category
from seamwise.catalog.parsing import ParsingError
from seamwise.catalog.tools import (
    ContentError,
    ExecutionError,
    FileError,
    ResourceExhausted,
    ToolInputError,
    ToolStateError,
)


class ToolGroup(NamedTuple):
    """Category and level of a group of tool errors in the log."""

    category: str
    level: int


def _for_members(union: object, category: str, level: int) -> dict[type, ToolGroup]:
    return dict.fromkeys(get_args(union), ToolGroup(category, level))


TOOL_GROUPS: Final[Mapping[type, ToolGroup]] = MappingProxyType(
    {
        **_for_members(ToolInputError, 'tool_validation', logging.WARNING),
        **_for_members(FileError, 'file_operation', logging.ERROR),
        **_for_members(ContentError, 'content_matching', logging.WARNING),
        **_for_members(ExecutionError, 'tool_execution', logging.ERROR),
        **_for_members(ToolStateError, 'tool_state', logging.WARNING),
        # A problem of the machine, not of the tool.
        ResourceExhausted: ToolGroup(Category.RESOURCE.value, logging.ERROR),
        **_for_members(ParsingError, Category.VALIDATION.value, logging.WARNING),
    }
)
