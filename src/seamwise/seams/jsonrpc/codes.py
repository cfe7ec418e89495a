"""Protocols based on JSON-RPC 2.0, their revisions, and the error codes of each."""

from collections.abc import Mapping
from enum import IntEnum, StrEnum
from types import MappingProxyType
from typing import TypeAlias


class Protocol(StrEnum):
    """A protocol based on JSON-RPC. The same code has different meanings in different protocols."""

    JSON_RPC = 'json-rpc'
    MCP = 'mcp'
    LSP = 'lsp'
    A2A = 'a2a'


Revision: TypeAlias = tuple[Protocol, str]
"""A protocol and the name of one of its revisions."""


class Code(IntEnum):
    """The codes of JSON-RPC 2.0 (section 5.1), which are valid in every protocol."""

    PARSE_ERROR = -32700
    INVALID_REQUEST = -32600
    METHOD_NOT_FOUND = -32601
    INVALID_PARAMS = -32602
    INTERNAL_ERROR = -32603


SERVER_ERROR = -32000
"""The code for failures without a code of their own.

JSON-RPC 2.0 leaves -32099 to -32000 to servers. MCP and A2A leave -32000 to them, too.
"""

MCP_REVISIONS = ('2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28')
"""The published revisions of the Model Context Protocol, oldest first.

They are dates, so that they can be compared as strings.
"""

A2A_REVISIONS = ('1.0.0', '1.0.1')
"""The revisions of A2A, oldest first."""

_STANDARD = {
    ''.join(word.capitalize() for word in code.name.split('_')): int(code) for code in Code
}

_MCP_2024: Mapping[str, int | None] = {
    'ResourceNotFound': -32002,
    'UnknownTool': Code.INVALID_PARAMS,
    'MalformedRequest': Code.INVALID_PARAMS,
    'ArgumentsAgainstTheSchema': Code.INVALID_PARAMS,
}
# SEP-1303: a model can correct its arguments only if it sees the problem in a tool result.
_MCP_2025_11: Mapping[str, int | None] = {**_MCP_2024, 'ArgumentsAgainstTheSchema': None}
_MCP: Mapping[str, Mapping[str, int | None]] = {
    '2025-11-25': {**_MCP_2025_11, 'UrlElicitationRequired': -32042},
    '2026-07-28': {
        **_MCP_2025_11,
        'ResourceNotFound': Code.INVALID_PARAMS,
        'HeaderMismatch': -32020,
        'MissingRequiredClientCapability': -32021,
        'UnsupportedProtocolVersion': -32022,
    },
}

_LSP: Mapping[str, int | None] = {
    'ServerNotInitialized': -32002,
    'UnknownErrorCode': -32001,
    'RequestFailed': -32803,
    'ServerCancelled': -32802,
    'ContentModified': -32801,
    'RequestCancelled': -32800,
}

_A2A: Mapping[str, int | None] = {
    'TaskNotFoundError': -32001,
    'TaskNotCancelableError': -32002,
    'PushNotificationNotSupportedError': -32003,
    'UnsupportedOperationError': -32004,
    'ContentTypeNotSupportedError': -32005,
    'InvalidAgentResponseError': -32006,
    'ExtendedAgentCardNotConfiguredError': -32007,
    'ExtensionSupportRequiredError': -32008,
    'VersionNotSupportedError': -32009,
}

CODES: Mapping[Revision, Mapping[str, int | None]] = MappingProxyType(
    {
        revision: MappingProxyType({**_STANDARD, **codes})
        for revision, codes in (
            ((Protocol.JSON_RPC, '2.0'), {}),
            *(((Protocol.MCP, date), _MCP.get(date, _MCP_2024)) for date in MCP_REVISIONS),
            ((Protocol.LSP, '3.17'), _LSP),
            *(((Protocol.A2A, number), _A2A) for number in A2A_REVISIONS),
        )
    }
)
"""The codes of each protocol and revision, by the names that it defines.

None means a result with `isError` instead of an error.
"""

REVISIONS = tuple(CODES)
"""All supported protocols and revisions."""
