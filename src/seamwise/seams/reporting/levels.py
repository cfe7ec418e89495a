"""Level of each failure in logs: one table for records, tool calls, responses and events."""

import logging
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal, TypeAlias

from seamwise._errors.categories import Category, Recovery
from seamwise._errors.errors import TaggedError

Level: TypeAlias = Literal['debug', 'info', 'warning', 'error', 'critical']

LEVELS: Final[Mapping[Category, int]] = MappingProxyType(
    {
        Category.VALIDATION: logging.INFO,
        Category.NOT_FOUND: logging.INFO,
        Category.CONFLICT: logging.INFO,
        Category.AUTHENTICATION: logging.INFO,
        Category.PERMISSION: logging.INFO,
        Category.CANCELLED: logging.INFO,
        Category.RATE_LIMIT: logging.WARNING,
        Category.CAPACITY: logging.WARNING,
        Category.CIRCUIT_OPEN: logging.WARNING,
        Category.QUOTA: logging.WARNING,
        Category.CONFIGURATION: logging.ERROR,
        Category.TIMEOUT: logging.ERROR,
        Category.UNAVAILABLE: logging.ERROR,
        Category.CONNECTION: logging.ERROR,
        Category.RESOURCE: logging.ERROR,
        Category.EXECUTION: logging.ERROR,
    }
)
"""Level of the failures of each category. INFO: the client can avoid them; ERROR: only the server
can. Errors of tools have levels of their own, and an error that stops the operation is CRITICAL."""

LEVEL_NAMES: Final[Mapping[int, Level]] = MappingProxyType(
    {
        logging.DEBUG: 'debug',
        logging.INFO: 'info',
        logging.WARNING: 'warning',
        logging.ERROR: 'error',
        logging.CRITICAL: 'critical',
    }
)

SERVER_ERROR: Final = 500
"""First HTTP status of the errors of a server."""


_TOOL_MODULES: Final = frozenset({'seamwise.catalog.tools', 'seamwise.catalog.parsing'})


def failure_level(error: TaggedError, *, status: int | None = None) -> int:
    """Return the level of a failure in `logging`.

    - CANCELLED is INFO: a person stopped the operation, and nothing is wrong.
    - An HTTP status below 500 is an error of the client: its category decides.
    - An error whose recovery is STOP is CRITICAL: only an operator can help.
    - An error of a tool has the level of its group.
    - For all others, the category decides; with an HTTP status from 500 on, it is at least ERROR.

    >>> from seamwise.catalog.network import CredentialsRejected, HostUnreachable
    >>> failure_level(HostUnreachable('db', 'reset')), failure_level(CredentialsRejected('openai'))
    (40, 50)
    """
    return _level(type(error), error.category, error.recovery, status)


def class_level(kind: type[TaggedError], status: int | None) -> int | None:
    """Return the level of all errors of a class; None if category or recovery is its own property.

    Looking a category up runs code of `Enum`, too slow for each failure of a server.
    """
    if kind.category is not TaggedError.category or kind.recovery is not TaggedError.recovery:
        return None
    return _level(kind, kind.__traits__.category, kind.__traits__.recovery, status)


def _level(kind: type, category: Category, recovery: Recovery, status: int | None) -> int:
    level = LEVELS[category]
    if category is Category.CANCELLED or (status is not None and status < SERVER_ERROR):
        return level
    if recovery is Recovery.STOP:
        return logging.CRITICAL
    if kind.__module__ in _TOOL_MODULES:
        # Not every program has tools, and their errors take a while to load.
        from seamwise.seams.reporting.tool_groups import TOOL_GROUPS  # noqa: PLC0415

        group = TOOL_GROUPS.get(kind)
        level = level if group is None else group.level
    # The answer of an upstream service that this program asked wrongly is no error of the client.
    return logging.ERROR if status is not None and level == logging.INFO else level
