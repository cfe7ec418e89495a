"""Kinds of foreign exceptions, by class name, errno and HTTP status."""

from collections.abc import Mapping
from enum import StrEnum
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
from typing import Self

from seamwise._errors.categories import Category

_CATEGORIES: Mapping[str, Category] = {
    'timeout': Category.TIMEOUT,
    'cancelled': Category.CANCELLED,
    'unreachable': Category.CONNECTION,
    'broken': Category.CONNECTION,
    'unavailable': Category.UNAVAILABLE,
    'rate_limit': Category.RATE_LIMIT,
    'capacity': Category.CAPACITY,
    'resource': Category.RESOURCE,
    'configuration': Category.CONFIGURATION,
    'rejected': Category.VALIDATION,
    'invalid': Category.VALIDATION,
    'unreadable': Category.VALIDATION,
    'peer': Category.EXECUTION,
    'other': Category.EXECUTION,
}


class ExceptionKind(StrEnum):
    """Kind of a foreign exception; its `category` says whether a retry may succeed."""

    category: Category

    def __new__(cls, value: str) -> Self:
        """Create a member with its category."""
        member = str.__new__(cls, value)
        member._value_ = value
        member.category = _CATEGORIES[value]
        return member

    TIMEOUT = 'timeout'
    CANCELLED = 'cancelled'
    UNREACHABLE = 'unreachable'
    """No connection could be opened."""
    BROKEN = 'broken'
    """An open connection broke."""
    UNAVAILABLE = 'unavailable'
    """A server reports a fault that may pass."""
    RATE_LIMIT = 'rate_limit'
    CAPACITY = 'capacity'
    RESOURCE = 'resource'
    CONFIGURATION = 'configuration'
    REJECTED = 'rejected'
    """A server rejects the request as invalid."""
    INVALID = 'invalid'
    """Data violate their schema."""
    UNREADABLE = 'unreadable'
    """A text has not the syntax of its format."""
    PEER = 'peer'
    """An MCP server answered with an error."""
    OTHER = 'other'
    """An error of the operating system or an HTTP status that is none of the other kinds."""


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


def _kinds(
    kind: ExceptionKind, packages: str | tuple[str, ...], names: str
) -> dict[str, ExceptionKind]:
    package_names = packages.split() if isinstance(packages, str) else packages
    return {f'{package}.{name}': kind for package, name in product(package_names, names.split())}


BY_NAME: Mapping[str, ExceptionKind] = {
    **_kinds(
        ExceptionKind.TIMEOUT,
        'builtins asyncio concurrent socket multiprocessing',
        'TimeoutError timeout',
    ),
    **_kinds(ExceptionKind.TIMEOUT, 'subprocess', 'TimeoutExpired'),
    **_kinds(
        ExceptionKind.TIMEOUT,
        _HTTP_CLIENTS,
        'TimeoutException Timeout ConnectTimeout ReadTimeout TimeoutError ConnectTimeoutError '
        'ReadTimeoutError ServerTimeoutError APITimeoutError',
    ),
    **_kinds(ExceptionKind.TIMEOUT, 'trio', 'TooSlowError'),
    **_kinds(ExceptionKind.TIMEOUT, 'redis', 'TimeoutError'),
    **_kinds(ExceptionKind.CANCELLED, 'asyncio concurrent', 'CancelledError'),
    **_kinds(ExceptionKind.CANCELLED, 'trio', 'Cancelled'),
    **_kinds(ExceptionKind.CANCELLED, 'builtins', 'KeyboardInterrupt SystemExit GeneratorExit'),
    **_kinds(ExceptionKind.UNREACHABLE, 'builtins', 'ConnectionRefusedError'),
    **_kinds(ExceptionKind.UNREACHABLE, 'socket', 'gaierror herror'),
    **_kinds(ExceptionKind.UNREACHABLE, 'ssl', 'SSLError'),
    **_kinds(
        ExceptionKind.UNREACHABLE,
        _HTTP_CLIENTS,
        'ConnectError ProxyError ConnectionError NewConnectionError NameResolutionError '
        'ClientConnectorError APIConnectionError EndpointConnectionError SSLError',
    ),
    **_kinds(ExceptionKind.UNREACHABLE, 'redis', 'ConnectionError'),
    **_kinds(
        ExceptionKind.BROKEN,
        'builtins',
        'ConnectionError ConnectionResetError ConnectionAbortedError BrokenPipeError',
    ),
    **_kinds(ExceptionKind.BROKEN, 'asyncio', 'IncompleteReadError'),
    **_kinds(ExceptionKind.BROKEN, 'http', 'RemoteDisconnected IncompleteRead BadStatusLine'),
    **_kinds(
        ExceptionKind.BROKEN,
        'anyio trio',
        'BrokenResourceError ClosedResourceError EndOfStream IncompleteRead',
    ),
    **_kinds(
        ExceptionKind.BROKEN,
        _HTTP_CLIENTS,
        'NetworkError ProtocolError RemoteProtocolError TransportError ChunkedEncodingError '
        'ServerDisconnectedError ClientConnectionError ClientPayloadError '
        'ConnectionClosedError',
    ),
    **_kinds(ExceptionKind.BROKEN, 'websockets', 'ConnectionClosed'),
    **_kinds(ExceptionKind.CONFIGURATION, 'ssl', 'SSLCertVerificationError'),
    **_kinds(
        ExceptionKind.CONFIGURATION,
        _HTTP_CLIENTS,
        'UnsupportedProtocol InvalidURL MissingSchema InvalidSchema NoCredentialsError',
    ),
    **_kinds(ExceptionKind.CONFIGURATION, 'configparser', 'Error'),
    **_kinds(ExceptionKind.PEER, 'mcp', 'McpError MCPError'),
    **_kinds(
        ExceptionKind.INVALID,
        'pydantic pydantic_core msgspec jsonschema marshmallow cattrs',
        'ValidationError',
    ),
    **_kinds(ExceptionKind.INVALID, 'cattrs', 'ClassValidationError BaseValidationError'),
    **_kinds(ExceptionKind.UNREADABLE, 'json', 'JSONDecodeError'),
    **_kinds(ExceptionKind.UNREADABLE, 'msgspec', 'DecodeError'),
    **_kinds(ExceptionKind.RESOURCE, 'builtins', 'MemoryError'),
    **_kinds(ExceptionKind.CAPACITY, 'asyncio', 'QueueFull'),
    **_kinds(ExceptionKind.CAPACITY, 'queue _queue', 'Full'),
    **_kinds(ExceptionKind.CAPACITY, 'anyio trio', 'WouldBlock'),
    **_kinds(ExceptionKind.CAPACITY, _HTTP_CLIENTS, 'PoolTimeout EmptyPoolError'),
}
"""Kinds by the top-level package of the module and the name of the class."""

BY_ERRNO: Mapping[int, ExceptionKind] = {
    **dict.fromkeys((ENOSPC, EDQUOT, EMFILE, ENFILE, ENOMEM, EAGAIN), ExceptionKind.RESOURCE),
    **dict.fromkeys((EHOSTUNREACH, EHOSTDOWN, ENETUNREACH, ENETDOWN), ExceptionKind.UNREACHABLE),
    ETIMEDOUT: ExceptionKind.TIMEOUT,
}
"""Kinds of OSErrors without their own subclass (POSIX)."""

BY_STATUS: Mapping[int, ExceptionKind] = {
    HTTPStatus.BAD_REQUEST: ExceptionKind.REJECTED,
    HTTPStatus.UNAUTHORIZED: ExceptionKind.CONFIGURATION,
    HTTPStatus.PROXY_AUTHENTICATION_REQUIRED: ExceptionKind.CONFIGURATION,
    HTTPStatus.REQUEST_TIMEOUT: ExceptionKind.TIMEOUT,
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: ExceptionKind.REJECTED,
    HTTPStatus.UNSUPPORTED_MEDIA_TYPE: ExceptionKind.REJECTED,
    HTTPStatus.UNPROCESSABLE_ENTITY: ExceptionKind.REJECTED,
    HTTPStatus.TOO_MANY_REQUESTS: ExceptionKind.RATE_LIMIT,
    HTTPStatus.GATEWAY_TIMEOUT: ExceptionKind.TIMEOUT,
    # A retry may succeed (RFC 9110, 15.6; RFC 8470).
    **dict.fromkeys(
        (
            HTTPStatus.TOO_EARLY,
            HTTPStatus.INTERNAL_SERVER_ERROR,
            HTTPStatus.BAD_GATEWAY,
            HTTPStatus.SERVICE_UNAVAILABLE,
        ),
        ExceptionKind.UNAVAILABLE,
    ),
    # Not registered; model providers use it for overload.
    529: ExceptionKind.CAPACITY,
}
"""Kinds by HTTP status; another status from 400 to 599 is OTHER."""
