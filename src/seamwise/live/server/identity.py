"""Identity of a client: its principal, its origin and its language."""

from collections.abc import Awaitable, Callable
from inspect import isawaitable
from typing import TYPE_CHECKING, TypeAlias

from msgspec import Struct
from starlette.requests import HTTPConnection

from seamwise._results.containers import Failure, Result, Success
from seamwise._text.shortening import shorten
from seamwise.catalog.access import AccessDenied, AccessError
from seamwise.catalog.sessions import SessionNotFound
from seamwise.live.stores.base import MAX_SESSION_ID
from seamwise.seams.http.negotiation import locale_for
from seamwise.seams.rendering.locales import best_locale

if TYPE_CHECKING:
    from seamwise.live.tokens import Principal

Authorize: TypeAlias = Callable[
    [HTTPConnection],
    'Result[Principal, AccessError] | Awaitable[Result[Principal, AccessError]]',
]
"""Returns the principal of a request or a WebSocket; it may be async."""

_MAX_LOCALE = 40


class Client(Struct, frozen=True):
    """A client that may use a session.

    Attributes:
        name: The name of its principal.
        locale: Its language.
    """

    name: str
    locale: str


class Identification:
    """Decides who may use which session.

    Args:
        authorize: Returns the principal of a connection.
        origins: The origins of web pages that may write.
    """

    def __init__(self, authorize: Authorize, origins: frozenset[str]) -> None:
        self._authorize = authorize
        self._origins = origins

    async def may_begin(self, connection: HTTPConnection) -> Result[Client, AccessError]:
        """Return the client if it may begin sessions."""
        refusal = self.refused_origin(connection)
        if refusal is not None:
            return Failure(refusal)
        principal = await self._principal(connection)
        if type(principal) is Failure:
            return principal
        if principal.unwrap().session is not None:
            return Failure(AccessDenied('begin', 'sessions'))
        return Success(Client(principal.unwrap().name, client_locale(connection)))

    async def may_use(
        self, connection: HTTPConnection, session: str
    ) -> Result[Client, AccessError | SessionNotFound]:
        """Return the client if it may use a session.

        A session of somebody else is answered like one that does not exist.
        """
        principal = await self._principal(connection)
        if type(principal) is Failure:
            return principal
        if principal.unwrap().session not in {None, session}:
            return Failure(SessionNotFound(session))
        if not 0 < len(session) <= MAX_SESSION_ID or '\0' in session:
            return Failure(SessionNotFound(shorten(session)))
        return Success(Client(principal.unwrap().name, client_locale(connection)))

    def refused_origin(self, connection: HTTPConnection) -> AccessDenied | None:
        """Return the refusal of a web page of another site; other clients send no `Origin`."""
        for origin in connection.headers.getlist('origin'):
            if origin.lower() not in self._origins:
                return AccessDenied('use', f'this server from {shorten(origin)}')
        return None

    async def _principal(self, connection: HTTPConnection) -> 'Result[Principal, AccessError]':
        principal = self._authorize(connection)
        if isawaitable(principal):
            principal = await principal
        if not isinstance(principal, Success | Failure):
            raise TypeError(
                f'authorize must return Success(Principal(…)) or a Failure, '
                f'not {type(principal).__name__}.'
            )
        return principal


def client_locale(connection: HTTPConnection) -> str:
    """Return the language of a client: `?locale=`, else the header `Accept-Language`."""
    locale = connection.query_params.get('locale')
    if locale is not None and 0 < len(locale) <= _MAX_LOCALE:
        return best_locale((locale,))
    return locale_for(connection.headers.get('accept-language'))
