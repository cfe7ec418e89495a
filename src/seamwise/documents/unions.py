"""Unions of the catalogue, their classes, and all errors of the catalogue."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, TypeAlias, get_args

from seamwise._errors.errors import TaggedError
from seamwise.catalog.access import AccessError
from seamwise.catalog.agents import AgentError
from seamwise.catalog.models import ModelError
from seamwise.catalog.network import NetworkError
from seamwise.catalog.parsing import ParsingError
from seamwise.catalog.protocols import A2aError, LspError, McpError
from seamwise.catalog.sessions import SessionError
from seamwise.catalog.storage import StorageError
from seamwise.catalog.streaming import StreamingError
from seamwise.catalog.tools import ToolError
from seamwise.catalog.workspace import WorkspaceError
from seamwise.policies import GuardError

CatalogError: TypeAlias = (
    ToolError
    | ParsingError
    | StreamingError
    | NetworkError
    | ModelError
    | AgentError
    | McpError
    | LspError
    | A2aError
    | SessionError
    | AccessError
    | StorageError
    | WorkspaceError
    | GuardError
)
"""Any error of the catalogue."""

_UNIONS: Mapping[str, Any] = {
    'ToolError': ToolError,
    'ParsingError': ParsingError,
    'StreamingError': StreamingError,
    'NetworkError': NetworkError,
    'ModelError': ModelError,
    'AgentError': AgentError,
    'McpError': McpError,
    'LspError': LspError,
    'A2aError': A2aError,
    'SessionError': SessionError,
    'AccessError': AccessError,
    'StorageError': StorageError,
    'WorkspaceError': WorkspaceError,
    'GuardError': GuardError,
}

UNIONS: Mapping[str, tuple[type[TaggedError], ...]] = MappingProxyType(
    {name: get_args(union) for name, union in _UNIONS.items()}
)
"""The classes of each union, by its name, in the order of the documents."""

UNION_OF: Mapping[type[TaggedError], str] = MappingProxyType(
    {kind: name for name, kinds in UNIONS.items() for kind in kinds}
)
"""The name of the union of each class, in the order of the documents."""
