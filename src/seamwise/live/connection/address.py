"""Address of the WebSocket of a session."""

from typing import Final
from urllib.parse import quote, urlencode, urlsplit

_SCHEMES: Final = {'http': 'ws', 'https': 'wss', 'ws': 'ws', 'wss': 'wss'}


def websocket_url(
    url: str, session: str, *, locale: str | None = None, watch: bool = False, client: str
) -> str:
    """Return the address of the WebSocket of a session.

    Args:
        url: The address at which the gateway is mounted.
        session: The id of the session.
        locale: The language of the texts for the user, or None for that of the gateway.
        watch: Whether the connection only watches.
        client: The name of the client. Each attempt to connect adds its number.

    Raises:
        ValueError: The address is not one of a gateway, or no URL can contain the id.

    >>> websocket_url('https://example.org/live/', 'a/b', watch=True, client='c1')
    'wss://example.org/live/v1/sessions/a%2Fb/ws?watch&client=c1'
    """
    # The messages do not contain the URL: it may contain credentials.
    parts = urlsplit(url)
    scheme = _SCHEMES.get(parts.scheme)
    if scheme is None or not parts.hostname or parts.port == 0:
        raise ValueError('url must be the address of a gateway, such as https://example.org/live.')
    try:
        parts.hostname.encode('idna')
    except UnicodeError as error:
        raise ValueError(f'url must have the name of a host that DNS can find: {error}.') from None
    if '@' in parts.netloc:
        raise ValueError('url must not contain credentials: pass the token as token=…')
    if parts.query or parts.fragment:
        raise ValueError('url must end with the path of the gateway, without ? and #.')
    if session in {'', '.', '..'}:
        raise ValueError(f'session must be the id of a session, not {session!r}.')
    query = [urlencode({'client': client})]
    if watch:
        query.insert(0, 'watch')
    if locale is not None:
        query.insert(0, urlencode({'locale': locale}))
    path = f'{parts.path.rstrip("/")}/v1/sessions/{quote(session, safe="")}/ws'
    return f'{scheme}://{parts.netloc}{path}?{"&".join(query)}'
