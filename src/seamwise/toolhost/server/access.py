"""Access to the server: own host names, own origin, and a bearer token.

Any page in a browser of the same machine can send requests to the server. A page of another site
sends its own `Origin`; a page whose name was rebound to this machine sends its own `Host`.
"""

from collections.abc import Collection, Sequence
from ipaddress import ip_address
from re import compile as pattern
from secrets import compare_digest
from typing import Final, final

from msgspec import Struct
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Receive, Scope, Send

from seamwise._text.secrets import Secret
from seamwise._text.shortening import shorten

PROTECTED: Final = '/v1/'
"""The prefix of the paths that need the token."""

_HOST = pattern(r'(?P<name>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::\d{1,5})?').fullmatch


@final
class OwnHosts(Struct, frozen=True):
    """The hosts under which clients reach the server.

    >>> hosts = OwnHosts.of(['localhost', '127.0.0.1'])
    >>> hosts.includes('LOCALHOST:8642'), hosts.includes('evil.example'), hosts.includes(None)
    (True, False, False)

    Attributes:
        names: The names and addresses, in lower case.
        has_every_address: Whether any IP address is an own one, for a server that listens on all
            of them. A page can be served under a name of its own, but not under an address.
    """

    names: frozenset[str]
    has_every_address: bool = False

    @classmethod
    def of(cls, names: Collection[str], *, has_every_address: bool = False) -> 'OwnHosts':
        """Return the hosts with these names and addresses."""
        return cls(frozenset(name.lower() for name in names), has_every_address)

    def includes(self, host: str | None) -> bool:
        """Return whether a `Host` header, with or without a port, names an own host."""
        match = _HOST(host or '')
        if match is None:
            return False
        name = match['name'].strip('[]').lower()
        return name in self.names or (self.has_every_address and _is_address(name))


class Access(Struct, frozen=True):
    """The conditions under which requests are served.

    Attributes:
        token: The token that clients send in the header `Authorization`.
        hosts: The own hosts of the server.
    """

    token: Secret[str]
    hosts: OwnHosts


class CheckAccess:
    """Middleware that refuses requests.

    Its exceptions need the exception handlers of the application around it.

    Args:
        app: The application.
        access: The conditions.
    """

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self._app = app
        self._access = access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request.

        Raises:
            HTTPException: The request is refused: 401, 403 or 421.
        """
        headers = Headers(scope=scope)
        if scope['type'] == 'websocket':
            # The token of a WebSocket is checked by the gateway: a browser sends it elsewhere.
            if _host_problem(headers, self._access.hosts) is not None:
                # Before it is accepted: the client receives 403.
                await send({'type': 'websocket.close', 'code': 1008})
                return
        else:
            _check(headers, _route_path(scope), self._access)
        scope = {**scope, 'headers': _without_origin(scope['headers'])}
        await self._app(scope, receive, send)


def _check(headers: Headers, path: str, access: Access) -> None:
    problem = _host_problem(headers, access.hosts)
    if problem is not None:
        raise problem
    if path.startswith(PROTECTED) and not _has_token(headers, access.token.reveal()):
        raise HTTPException(
            401,
            'Send the token of this server in the header Authorization.',
            {'WWW-Authenticate': 'Bearer'},
        )


def _route_path(scope: Scope) -> str:
    """Return the path of a request below the mount of this application, as Starlette routes it."""
    path: str = scope['path']
    root_path: str = scope.get('root_path', '')
    return path.removeprefix(root_path) if path.startswith(f'{root_path}/') else path


def _host_problem(headers: Headers, own: OwnHosts) -> HTTPException | None:
    """Return the refusal of a request with a foreign `Host` or `Origin`."""
    hosts = headers.getlist('host')
    host = hosts[0] if len(hosts) == 1 else None
    if not own.includes(host):
        return HTTPException(421, f'{shorten(host or "")!r} is no host of this server.')
    for origin in headers.getlist('origin'):
        if origin.lower() not in {f'http://{host}'.lower(), f'https://{host}'.lower()}:
            return HTTPException(403, f'Pages of {shorten(origin)!r} cannot use this server.')
    return None


def _without_origin(headers: Sequence[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    # It is an own one, of which the gateway has no list: the server may listen on any address.
    return [(name, value) for name, value in headers if name.lower() != b'origin']


def _has_token(headers: Headers, token: str) -> bool:
    scheme, _, credentials = headers.get('authorization', '').partition(' ')
    # In constant time, and as bytes: texts would have to be ASCII.
    return scheme.lower() == 'bearer' and compare_digest(
        credentials.strip().encode(), token.encode()
    )


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True
