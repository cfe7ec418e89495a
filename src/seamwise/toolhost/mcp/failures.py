"""Translation of the exceptions of the official package into the errors of MCP."""

from collections.abc import Iterator
from http import HTTPStatus
from typing import Final

import httpx2
from mcp.client._input_required import InputRequiredRoundsExceededError
from mcp.shared.exceptions import MCPError
from mcp.types import CONNECTION_CLOSED, INTERNAL_ERROR, PARSE_ERROR
from pydantic import ValidationError

from seamwise._errors.causes import iter_leaves
from seamwise._text.shortening import shorten
from seamwise.catalog.protocols import (
    McpConnectionFailed,
    McpError,
    McpServerFailed,
    McpTransportFailed,
)
from seamwise.toolhost.mcp.channel import UNREADABLE_RESPONSE, ChannelState
from seamwise.toolhost.mcp.exchange import Exchange
from seamwise.toolhost.mcp.transports import MAX_MESSAGE

_PASSING: Final = frozenset(
    {HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_EARLY, HTTPStatus.TOO_MANY_REQUESTS}
)
"""Statuses below 500 of requests that may succeed when they are repeated."""

_CLOSED_TEXT: Final = 'Connection closed'
"""The text of the client for a connection that has ended."""

_UNREADABLE: Final = 'Its answer violates the protocol.'

_NOT_OPENED: Final = (
    httpx2.ConnectError,
    httpx2.ConnectTimeout,
    httpx2.ProxyError,
    httpx2.UnsupportedProtocol,
)


def connection_error(
    server: str, error: BaseException, state: ChannelState, exchange: Exchange
) -> McpError:
    """Return the error for a connection that could not be opened.

    Args:
        server: The name of the server.
        error: The exception of the client.
        state: The end of the channel.
        exchange: The HTTP part of the last request.
    """
    leaf = next(_leaves(error))
    failure = call_error(server, leaf, state, exchange)
    if isinstance(failure, McpServerFailed):
        return failure
    if isinstance(failure, McpTransportFailed | McpConnectionFailed):
        return McpConnectionFailed(server, failure.reason, failure.cause)
    return McpConnectionFailed(server, shorten(str(leaf) or type(leaf).__name__), leaf)


def call_error(
    server: str, error: BaseException, state: ChannelState, exchange: Exchange
) -> McpError | None:
    """Return the error for a request that failed, or None if the exception is a defect.

    Args:
        server: The name of the server.
        error: The exception of the client.
        state: The end of the channel.
        exchange: The HTTP part of the request.
    """
    failure = _request_error(server, error, exchange)
    if failure is not None and not isinstance(failure, McpServerFailed):
        return failure
    # A server can use the code too, such as for a refused `initialize`.
    is_closed = isinstance(error, MCPError) and error.code == CONNECTION_CLOSED
    if state.has_ended and is_closed and str(error) == _CLOSED_TEXT:
        return McpTransportFailed(server, state.reason or 'it was closed', cause=state.cause)
    return failure


def _request_error(server: str, error: BaseException, exchange: Exchange) -> McpError | None:
    return _http_error(server, error, exchange) or _protocol_error(server, error)


def _http_error(server: str, error: BaseException, exchange: Exchange) -> McpError | None:
    """Return the error for what went wrong below the protocol, or None."""
    if exchange.error is not None:
        reason = shorten(str(exchange.error) or type(exchange.error).__name__)
        if isinstance(exchange.error, _NOT_OPENED):
            return McpConnectionFailed(server, reason, exchange.error)
        return McpTransportFailed(server, reason, cause=exchange.error)
    if exchange.status is not None and not exchange.is_session_lost:
        return _status_error(server, exchange.status, exchange.retry_after, error)
    if exchange.is_too_large:
        reason = f'it sent a response of more than {MAX_MESSAGE:,} bytes'
    elif exchange.has_ended_early:
        reason = 'its response ended without an answer'
    elif exchange.is_session_lost:
        reason = 'its session has ended'
    else:
        return None
    return McpTransportFailed(server, reason, cause=error)


def _protocol_error(server: str, error: BaseException) -> McpError | None:
    """Return the error for an answer of the server, or None if the exception is a defect."""
    match error:
        case MCPError(code=code) if code == PARSE_ERROR and _is_own(error.message):
            return McpServerFailed(server, PARSE_ERROR, _UNREADABLE, error)
        case MCPError():
            return McpServerFailed(server, error.code, shorten(error.message), error)
        case ValidationError():
            return McpServerFailed(server, PARSE_ERROR, _UNREADABLE, error)
        case InputRequiredRoundsExceededError():
            return McpServerFailed(server, INTERNAL_ERROR, 'It asks for input repeatedly.', error)
        case OSError() | httpx2.HTTPError():
            return McpTransportFailed(
                server, shorten(str(error) or type(error).__name__), cause=error
            )
        case _:
            return None


def _is_own(text: str) -> bool:
    """Return whether a text for a response that cannot be read is that of the client."""
    return text == UNREADABLE_RESPONSE or text.startswith('Failed to parse ')


def _status_error(
    server: str, status: int, retry_after: float | None, error: BaseException
) -> McpError:
    phrase = next((item.phrase for item in HTTPStatus if item == status), 'no known status')
    text = f'HTTP status {status} ({phrase})'
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR or status in _PASSING:
        return McpTransportFailed(server, f'it responded with {text}', retry_after, error)
    return McpServerFailed(server, status, text, error)


def _leaves(error: BaseException) -> Iterator[BaseException]:
    """Yield the exceptions of a group; those of the protocol come first."""
    yield from sorted(iter_leaves(error), key=lambda leaf: not isinstance(leaf, MCPError))
