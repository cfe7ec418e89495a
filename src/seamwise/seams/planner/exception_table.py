"""Codes of foreign exceptions, by class name, errno and HTTP status."""

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


def _codes(code: ErrorCode, packages: str | tuple[str, ...], names: str) -> dict[str, ErrorCode]:
    package_names = packages.split() if isinstance(packages, str) else packages
    return {f'{package}.{name}': code for package, name in product(package_names, names.split())}


BY_NAME: Mapping[str, ErrorCode] = {
    **_codes(
        ErrorCode.TOOL_TIMEOUT,
        'builtins asyncio concurrent socket multiprocessing',
        'TimeoutError timeout',
    ),
    **_codes(ErrorCode.TOOL_TIMEOUT, 'subprocess', 'TimeoutExpired'),
    **_codes(
        ErrorCode.TOOL_TIMEOUT,
        _HTTP_CLIENTS,
        'TimeoutException Timeout ConnectTimeout ReadTimeout TimeoutError ConnectTimeoutError '
        'ReadTimeoutError ServerTimeoutError APITimeoutError',
    ),
    **_codes(ErrorCode.TOOL_TIMEOUT, 'trio', 'TooSlowError'),
    **_codes(ErrorCode.TOOL_TIMEOUT, 'redis', 'TimeoutError'),
    **_codes(ErrorCode.TOOL_CANCELLED, 'asyncio concurrent', 'CancelledError'),
    **_codes(ErrorCode.TOOL_CANCELLED, 'trio', 'Cancelled'),
    **_codes(ErrorCode.TOOL_CANCELLED, 'builtins', 'KeyboardInterrupt SystemExit GeneratorExit'),
    **_codes(ErrorCode.MCP_CONNECTION_FAILED, 'builtins', 'ConnectionRefusedError'),
    **_codes(ErrorCode.MCP_CONNECTION_FAILED, 'socket', 'gaierror herror'),
    **_codes(ErrorCode.MCP_CONNECTION_FAILED, 'ssl', 'SSLError'),
    **_codes(
        ErrorCode.MCP_CONNECTION_FAILED,
        _HTTP_CLIENTS,
        'ConnectError ProxyError ConnectionError NewConnectionError NameResolutionError '
        'ClientConnectorError APIConnectionError EndpointConnectionError SSLError',
    ),
    **_codes(ErrorCode.MCP_CONNECTION_FAILED, 'redis', 'ConnectionError'),
    **_codes(
        ErrorCode.MCP_TRANSPORT_ERROR,
        'builtins',
        'ConnectionError ConnectionResetError ConnectionAbortedError BrokenPipeError',
    ),
    **_codes(ErrorCode.MCP_TRANSPORT_ERROR, 'asyncio', 'IncompleteReadError'),
    **_codes(
        ErrorCode.MCP_TRANSPORT_ERROR, 'http', 'RemoteDisconnected IncompleteRead BadStatusLine'
    ),
    **_codes(
        ErrorCode.MCP_TRANSPORT_ERROR,
        'anyio trio',
        'BrokenResourceError ClosedResourceError EndOfStream IncompleteRead',
    ),
    **_codes(
        ErrorCode.MCP_TRANSPORT_ERROR,
        _HTTP_CLIENTS,
        'NetworkError ProtocolError RemoteProtocolError TransportError ChunkedEncodingError '
        'ServerDisconnectedError ClientConnectionError ClientPayloadError '
        'ConnectionClosedError',
    ),
    **_codes(ErrorCode.MCP_TRANSPORT_ERROR, 'websockets', 'ConnectionClosed'),
    **_codes(ErrorCode.CONFIGURATION_ERROR, 'ssl', 'SSLCertVerificationError'),
    **_codes(
        ErrorCode.CONFIGURATION_ERROR,
        _HTTP_CLIENTS,
        'UnsupportedProtocol InvalidURL MissingSchema InvalidSchema NoCredentialsError',
    ),
    **_codes(ErrorCode.CONFIGURATION_ERROR, 'configparser', 'Error'),
    **_codes(ErrorCode.MCP_SERVER_ERROR, 'mcp', 'McpError MCPError'),
    **_codes(
        ErrorCode.TOOL_VALIDATION_ERROR,
        'pydantic pydantic_core msgspec jsonschema marshmallow cattrs',
        'ValidationError',
    ),
    **_codes(ErrorCode.TOOL_VALIDATION_ERROR, 'cattrs', 'ClassValidationError BaseValidationError'),
    **_codes(ErrorCode.PARSER_ERROR, 'json', 'JSONDecodeError'),
    **_codes(ErrorCode.PARSER_ERROR, 'msgspec', 'DecodeError'),
    **_codes(ErrorCode.RESOURCE_EXHAUSTED, 'builtins', 'MemoryError'),
    **_codes(ErrorCode.BULKHEAD_FULL, 'asyncio', 'QueueFull'),
    **_codes(ErrorCode.BULKHEAD_FULL, 'queue _queue', 'Full'),
    **_codes(ErrorCode.BULKHEAD_FULL, 'anyio trio', 'WouldBlock'),
    **_codes(ErrorCode.BULKHEAD_FULL, _HTTP_CLIENTS, 'PoolTimeout EmptyPoolError'),
}
"""Codes by the top-level package of the module and the name of the class."""

BY_ERRNO: Mapping[int, ErrorCode] = {
    **dict.fromkeys((ENOSPC, EDQUOT, EMFILE, ENFILE, ENOMEM, EAGAIN), ErrorCode.RESOURCE_EXHAUSTED),
    **dict.fromkeys(
        (EHOSTUNREACH, EHOSTDOWN, ENETUNREACH, ENETDOWN), ErrorCode.MCP_CONNECTION_FAILED
    ),
    ETIMEDOUT: ErrorCode.TOOL_TIMEOUT,
}
"""Codes of OSErrors without their own subclass (POSIX)."""

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
    # Not registered; model providers use it for overload.
    529: ErrorCode.BULKHEAD_FULL,
}
"""Codes by HTTP status; another status from 400 to 599 is TOOL_EXECUTION_FAILED."""

TRANSIENT_STATUSES = frozenset(
    (
        HTTPStatus.TOO_EARLY,
        HTTPStatus.INTERNAL_SERVER_ERROR,
        HTTPStatus.BAD_GATEWAY,
        HTTPStatus.SERVICE_UNAVAILABLE,
    )
)
"""Statuses of TOOL_EXECUTION_FAILED that are retryable (RFC 9110, 15.6; RFC 8470)."""
