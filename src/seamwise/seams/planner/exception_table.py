"""What exceptions of others mean: by module and class name, by errno, by status of HTTP."""

from collections.abc import Mapping
from errno import (
    EAGAIN,
    EDQUOT,
    EHOSTDOWN,
    EHOSTUNREACH,
    EMFILE,
    ENETDOWN,
    ENETUNREACH,
    ENFILE,
    ENOMEM,
    ENOSPC,
    ETIMEDOUT,
)
from http import HTTPStatus
from itertools import product

from seamwise.seams.planner.codes import ErrorCode

_HTTP_CLIENTS = (
    'httpx',
    'httpx2',
    'httpcore',
    'httpcore2',
    'requests',
    'urllib3',
    'aiohttp',
    'openai',
    'anthropic',
    'botocore',
)


def _named(code: ErrorCode, packages: str | tuple[str, ...], names: str) -> dict[str, ErrorCode]:
    tops = packages.split() if isinstance(packages, str) else packages
    return {f'{top}.{name}': code for top, name in product(tops, names.split())}


BY_NAME: Mapping[str, ErrorCode] = {
    **_named(
        ErrorCode.TOOL_TIMEOUT,
        'builtins asyncio concurrent socket multiprocessing',
        'TimeoutError timeout',
    ),
    **_named(ErrorCode.TOOL_TIMEOUT, 'subprocess', 'TimeoutExpired'),
    **_named(
        ErrorCode.TOOL_TIMEOUT,
        _HTTP_CLIENTS,
        'TimeoutException Timeout ConnectTimeout ReadTimeout TimeoutError ConnectTimeoutError ReadTimeoutError ServerTimeoutError '
        'APITimeoutError',
    ),
    **_named(ErrorCode.TOOL_TIMEOUT, 'trio', 'TooSlowError'),
    **_named(ErrorCode.TOOL_TIMEOUT, 'redis', 'TimeoutError'),
    **_named(ErrorCode.TOOL_CANCELLED, 'asyncio concurrent', 'CancelledError'),
    **_named(ErrorCode.TOOL_CANCELLED, 'trio', 'Cancelled'),
    **_named(ErrorCode.TOOL_CANCELLED, 'builtins', 'KeyboardInterrupt SystemExit GeneratorExit'),
    **_named(ErrorCode.MCP_CONNECTION_FAILED, 'builtins', 'ConnectionRefusedError'),
    **_named(ErrorCode.MCP_CONNECTION_FAILED, 'socket', 'gaierror herror'),
    **_named(ErrorCode.MCP_CONNECTION_FAILED, 'ssl', 'SSLError'),
    **_named(
        ErrorCode.MCP_CONNECTION_FAILED,
        _HTTP_CLIENTS,
        'ConnectError ProxyError ConnectionError NewConnectionError NameResolutionError ClientConnectorError APIConnectionError '
        'EndpointConnectionError SSLError',
    ),
    **_named(ErrorCode.MCP_CONNECTION_FAILED, 'redis', 'ConnectionError'),
    **_named(
        ErrorCode.MCP_TRANSPORT_ERROR,
        'builtins',
        'ConnectionError ConnectionResetError ConnectionAbortedError BrokenPipeError',
    ),
    **_named(ErrorCode.MCP_TRANSPORT_ERROR, 'asyncio', 'IncompleteReadError'),
    **_named(
        ErrorCode.MCP_TRANSPORT_ERROR, 'http', 'RemoteDisconnected IncompleteRead BadStatusLine'
    ),
    **_named(
        ErrorCode.MCP_TRANSPORT_ERROR,
        'anyio trio',
        'BrokenResourceError ClosedResourceError EndOfStream IncompleteRead',
    ),
    **_named(
        ErrorCode.MCP_TRANSPORT_ERROR,
        _HTTP_CLIENTS,
        'NetworkError ProtocolError RemoteProtocolError TransportError ChunkedEncodingError ServerDisconnectedError ClientConnectionError '
        'ClientPayloadError ConnectionClosedError',
    ),
    **_named(ErrorCode.MCP_TRANSPORT_ERROR, 'websockets', 'ConnectionClosed'),
    **_named(ErrorCode.CONFIGURATION_ERROR, 'ssl', 'SSLCertVerificationError'),
    **_named(
        ErrorCode.CONFIGURATION_ERROR,
        _HTTP_CLIENTS,
        'UnsupportedProtocol InvalidURL MissingSchema InvalidSchema NoCredentialsError',
    ),
    **_named(ErrorCode.CONFIGURATION_ERROR, 'configparser', 'Error'),
    **_named(ErrorCode.MCP_SERVER_ERROR, 'mcp', 'McpError MCPError'),
    **_named(
        ErrorCode.TOOL_VALIDATION_ERROR,
        'pydantic pydantic_core msgspec jsonschema marshmallow cattrs',
        'ValidationError',
    ),
    **_named(ErrorCode.TOOL_VALIDATION_ERROR, 'cattrs', 'ClassValidationError BaseValidationError'),
    **_named(ErrorCode.PARSER_ERROR, 'json', 'JSONDecodeError'),
    **_named(ErrorCode.PARSER_ERROR, 'msgspec', 'DecodeError'),
    **_named(ErrorCode.RESOURCE_EXHAUSTED, 'builtins', 'MemoryError'),
    **_named(ErrorCode.BULKHEAD_FULL, 'asyncio', 'QueueFull'),
    **_named(ErrorCode.BULKHEAD_FULL, 'queue _queue', 'Full'),
    **_named(ErrorCode.BULKHEAD_FULL, 'anyio trio', 'WouldBlock'),
    **_named(ErrorCode.BULKHEAD_FULL, _HTTP_CLIENTS, 'PoolTimeout EmptyPoolError'),
}
"""By the first package of the module and the name of the class."""

BY_ERRNO: Mapping[int, ErrorCode] = {
    **dict.fromkeys((ENOSPC, EDQUOT, EMFILE, ENFILE, ENOMEM, EAGAIN), ErrorCode.RESOURCE_EXHAUSTED),
    **dict.fromkeys(
        (EHOSTUNREACH, EHOSTDOWN, ENETUNREACH, ENETDOWN), ErrorCode.MCP_CONNECTION_FAILED
    ),
    ETIMEDOUT: ErrorCode.TOOL_TIMEOUT,
}
"""What an OSError of no class of its own means (POSIX)."""

BY_STATUS: Mapping[int, ErrorCode] = {
    HTTPStatus.BAD_REQUEST: ErrorCode.TOOL_ARGUMENT_ERROR,
    HTTPStatus.UNAUTHORIZED: ErrorCode.CONFIGURATION_ERROR,
    HTTPStatus.PROXY_AUTHENTICATION_REQUIRED: ErrorCode.CONFIGURATION_ERROR,
    HTTPStatus.REQUEST_TIMEOUT: ErrorCode.TOOL_TIMEOUT,
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: ErrorCode.TOOL_ARGUMENT_ERROR,
    HTTPStatus.UNSUPPORTED_MEDIA_TYPE: ErrorCode.TOOL_ARGUMENT_ERROR,
    HTTPStatus.UNPROCESSABLE_ENTITY: ErrorCode.TOOL_ARGUMENT_ERROR,
    HTTPStatus.TOO_MANY_REQUESTS: ErrorCode.TOOL_RATE_LIMITED,
    HTTPStatus.GATEWAY_TIMEOUT: ErrorCode.TOOL_TIMEOUT,
    529: ErrorCode.BULKHEAD_FULL,  # no registered status: what model providers say when they are overloaded
}
"""A status of 400 to 599 that is not here is TOOL_EXECUTION_FAILED."""

PASSING_STATUSES = frozenset(
    (
        HTTPStatus.TOO_EARLY,
        HTTPStatus.INTERNAL_SERVER_ERROR,
        HTTPStatus.BAD_GATEWAY,
        HTTPStatus.SERVICE_UNAVAILABLE,
    )
)
"""Of those, the ones that a second try may not meet (RFC 9110, 15.6; RFC 8470)."""
