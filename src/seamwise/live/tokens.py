"""Signed tokens for the clients of a gateway."""

from collections.abc import Callable, Mapping
from hashlib import sha256
from hmac import digest
from time import time
from typing import TYPE_CHECKING, Final, final

from msgspec import Struct

from seamwise._results.containers import Failure, Result, Success
from seamwise._runtime.validation import check_float
from seamwise._text.secrets import Secret
from seamwise.catalog.access import Unauthenticated
from seamwise.live.credentials import bearer_token

try:
    import jwt
except ImportError as missing:
    raise ImportError("Signed tokens need PyJWT: pip install 'seamwise[live]'") from missing

if TYPE_CHECKING:
    from starlette.requests import HTTPConnection

MIN_SECRET: Final = 16
"""The minimum length of the secret, in bytes."""

MAX_TOKEN: Final = 4096
"""The maximum length of a token that is checked, in characters."""

_ALGORITHM: Final = 'HS256'
_AUDIENCE: Final = 'seamwise.live'
_CLAIMS: Final = ('exp', 'iat', 'aud', 'sub')
_SCHEME: Final = 'Bearer'


class Principal(Struct, frozen=True):
    """An authenticated caller.

    Attributes:
        name: The name, for logs and limits.
        session: The id of the only session that the caller may use. None: the caller may use every
            session, and begin new ones.
    """

    name: str
    session: str | None = None


def signed_tokens(
    secret: str | bytes | Secret[str], *, clock: Callable[[], float] = time
) -> 'Tokens':
    """Return the tokens that a secret signs, which are an `authorize` of a gateway.

    All processes of a service need the same secret.

    Args:
        secret: A random text of 16 bytes or more, such as that of `secrets.token_urlsafe(32)`.
        clock: Returns the time in seconds since 1970.

    Raises:
        TypeError: The secret is no text.
        ValueError: The secret is too short.

    >>> tokens = signed_tokens('a random text of a good length')
    >>> token = tokens.make('s-1', seconds=60.0)
    >>> tokens.verify(token)
    Success(Principal(name='s-1', session='s-1'))
    >>> tokens.verify(token[:-1])
    Failure(Unauthenticated(scheme='Bearer', reason='the token is not valid'))
    """
    value = secret.reveal() if isinstance(secret, Secret) else secret
    if not isinstance(value, str | bytes):
        raise TypeError(f'secret must be a text or bytes, not {type(value).__name__}.')
    key = value.encode() if isinstance(value, str) else value
    if len(key) < MIN_SECRET:
        raise ValueError(f'secret must have {MIN_SECRET} bytes or more, not {len(key)}.')
    # A key of its own: a secret that also signs other things does not sign tokens by accident.
    return Tokens(Secret(digest(key, _AUDIENCE.encode(), sha256)), clock)


@final
class Tokens:
    """Signed tokens (JWT, HS256), with a time limit; `signed_tokens` creates them.

    A token is sent in the header `Authorization: Bearer TOKEN`, or as the subprotocol
    `token.TOKEN` of a WebSocket, and never in a URL.
    """

    def __init__(self, key: Secret[bytes], clock: Callable[[], float]) -> None:
        self._key = key
        self._clock = clock

    def make(self, session: str | None = None, *, seconds: float = 3600.0) -> str:
        """Return a new token.

        Args:
            session: The id of the session that the token is for. None: all sessions, and new ones.
            seconds: The time for which the token is valid, in seconds.

        Raises:
            TypeError: The id is no text.
            ValueError: The id is empty, or the time is not positive.
        """
        if session is not None and not isinstance(session, str):
            raise TypeError(f'session must be a text or None, not {type(session).__name__}.')
        if session == '':
            raise ValueError('session must not be empty; omit it for a token for all sessions.')
        check_float('seconds', seconds, above=0.0)
        now = self._clock()
        claims: dict[str, object] = {
            'aud': _AUDIENCE,
            'sub': session or 'all',
            'iat': int(now),
            'exp': int(now + seconds),
        }
        if session is not None:
            claims['session'] = session
        return jwt.encode(claims, self._key.reveal(), _ALGORITHM)

    def verify(self, token: str) -> Result[Principal, Unauthenticated]:
        """Return the principal of a token."""
        if len(token) > MAX_TOKEN:
            return _refused('the token is too long')
        try:
            claims: Mapping[str, object] = jwt.decode(
                token,
                self._key.reveal(),
                algorithms=[_ALGORITHM],
                audience=_AUDIENCE,
                # The times are checked below, with the injected clock.
                options={'require': [*_CLAIMS], 'verify_exp': False, 'verify_iat': False},
            )
        except (jwt.PyJWTError, ValueError):
            return _refused('the token is not valid')
        match claims:
            case {'exp': int(expires), 'sub': str(name)} if 'session' not in claims:
                session = None
            case {'exp': int(expires), 'sub': str(name), 'session': str(session)}:
                pass
            case _:
                return _refused('the token is not valid')
        if expires <= self._clock():
            return _refused('the token has expired')
        return Success(Principal(name, session))

    def __call__(self, connection: 'HTTPConnection', /) -> Result[Principal, Unauthenticated]:
        """Return the principal of a request or a WebSocket, as an `authorize` of a gateway."""
        token = bearer_token(connection.scope)
        if token is None:
            return Failure(Unauthenticated(_SCHEME))
        return self.verify(token)


def _refused(reason: str) -> Failure[Unauthenticated]:
    # The reason never contains the token.
    return Failure(Unauthenticated(_SCHEME, reason))
