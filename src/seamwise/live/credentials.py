"""Credentials of requests and WebSockets: bearer tokens and subprotocols."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

SUBPROTOCOL: Final = 'seamwise.v1'
"""The WebSocket subprotocol of the gateway."""

TOKEN_PREFIX: Final = 'token.'  # noqa: S105 -- no secret
"""The prefix of the subprotocol that contains a token: browsers cannot send headers."""


def bearer_token(scope: Mapping[str, Any]) -> str | None:
    """Return the token of a connection, or None if it has none, or several different ones.

    Args:
        scope: The ASGI scope. The URL is never read: logs of servers and proxies contain it.

    >>> bearer_token({'type': 'http', 'headers': [(b'authorization', b'Bearer abc')]})
    'abc'
    >>> bearer_token({'type': 'websocket', 'headers': [], 'subprotocols': ['token.abc']})
    'abc'
    """
    tokens = {*_tokens(scope)}
    return tokens.pop() if len(tokens) == 1 else None


def _tokens(scope: Mapping[str, Any]) -> Iterator[str]:
    for name, value in scope['headers']:
        if name.lower() == b'authorization':
            scheme, _, credentials = value.decode('latin-1').partition(' ')
            if scheme.lower() == 'bearer' and credentials.strip():
                yield credentials.strip()
    if scope['type'] == 'websocket':
        for protocol in scope.get('subprotocols') or ():
            if protocol.startswith(TOKEN_PREFIX) and protocol != TOKEN_PREFIX:
                yield protocol.removeprefix(TOKEN_PREFIX)
