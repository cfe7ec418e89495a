"""Client of a gateway: the events of a session, over all losses of the connection.

The wire is that of the gateway. The client relies on these parts of it:

- The address has `client=`, a name, and `attempt=`, a number that grows. A gateway that receives an
  attempt after a later one of the same client closes it, and keeps the later one.
- The first frame is `user.connect`, or `user.reconnect_with_state` with a position. The gateway
  answers with a `system.notice` that has no number, and then sends the events.
- After `gap`, `unknown_epoch` and `ack_ahead` the gateway sends nothing until `user.connect`.
- After the last event of a session the gateway closes the WebSocket with the code 1000. Every
  other code, and the code 1000 before the event `top` of the answer, is a loss.
- In each heartbeat the gateway sends at least one frame; a `system.heartbeat` without a number
  where there is no event. The answer may contain the interval as `heartbeat`, in seconds, and a
  snapshot as `state`, with the number of the last event that it replaces as `state_seq`.
- After the code 1012 the first attempt to connect is early, and after 4429 it is late.
- The codes 4401, 4403 and 4404 refuse the caller. 4409 says that a newer connection of the session
  has taken over. The client does not connect again after either.
- An `error.*` event without a number may precede the close frame: its `content` is the reason of a
  close frame without one, and `retry_after_ms` the minimum delay, at most two minutes.
"""

from collections.abc import Callable, Iterator
from functools import partial
from secrets import token_hex
from ssl import SSLContext

from seamwise._runtime.validation import check_callable, check_float, check_int
from seamwise._runtime.world import check_world
from seamwise._text.secrets import Secret
from seamwise.live.connection.address import websocket_url
from seamwise.live.connection.delays import ReconnectDelays
from seamwise.live.connection.line import LineSettings
from seamwise.live.connection.reconnecting import Connection
from seamwise.live.connection.tracker import Tracker
from seamwise.live.events import Position
from seamwise.policies import REAL, World
from seamwise.policies import backoff as exponential_backoff


def connect(  # noqa: PLR0913 -- independent settings, each with a default
    url: str,
    session: str,
    *,
    token: str | Secret[str] | None = None,
    since: Position | None = None,
    backoff: Callable[[], Iterator[float]] | None = None,
    locale: str | None = None,
    watch: bool = False,
    heartbeat: float | None = None,
    max_message: int = 16 * 2**20,
    ssl: SSLContext | None = None,
    world: World = REAL,
) -> Connection:
    """Create a client of a session, to be opened with `async with`.

    Args:
        url: The address at which the gateway is mounted, such as `https://example.org/live`. It
            must not contain credentials.
        session: The id of the session.
        token: The token for the header `Authorization: Bearer`.
        since: The position behind the last event that the caller has; None: from the first event
            that is kept.
        backoff: Returns the delays before the attempts to connect again, in seconds, from the
            first attempt on. The client ends after the last delay. The default is
            `backoff(base=0.5, cap=30.0)` of `seamwise.policies`, which does not end. The delays
            begin again after a connection that brought a new event or lasted for a heartbeat.
        locale: The language of `show_content`, such as `zh_CN`; None: that of the gateway.
        watch: Whether the connection only watches. A connection that does not watch takes over
            from an older one.
        heartbeat: The interval of the gateway's heartbeats, in seconds. A connection without data
            for two heartbeats is lost. None: the interval that the gateway announces, or 15 s.
        max_message: The maximum length of a frame that is received, in bytes.
        ssl: Settings of TLS.
        world: The clock, the sleep and the randomness of the delays.

    Raises:
        TypeError: An argument has another type.
        ValueError: The URL is not the address of a gateway, or a number is out of range.

    >>> connect('https://user:secret@example.org', 's-1')
    Traceback (most recent call last):
    ValueError: url must not contain credentials: pass the token as token=…
    """
    for name, value in (('url', url), ('session', session)):
        if not isinstance(value, str):
            raise TypeError(f'{name} must be a text, not {type(value).__name__}.')
    if since is not None and not isinstance(since, Position):
        raise TypeError(f'since must be a Position or None, not {type(since).__name__}.')
    check_world(world)
    if backoff is None:
        backoff = partial(exponential_backoff, base=0.5, cap=30.0, world=world)
    check_callable('backoff', backoff, 'that returns an iterator over delays')
    address = websocket_url(url, session, locale=locale, watch=watch, client=token_hex(8))
    if ssl is not None and not address.startswith('wss:'):
        raise ValueError('ssl needs a url that begins with https: or wss:.')
    if heartbeat is not None:
        check_float('heartbeat', heartbeat, above=0.0)
    settings = LineSettings(
        url=address,
        token=_check_token(token),
        ssl=ssl,
        max_message=check_int('max_message', max_message),
    )
    return Connection(
        session,
        settings,
        tracker=Tracker(since),
        delays=ReconnectDelays(backoff, world),
        heartbeat=heartbeat,
        is_watching=watch,
        world=world,
    )


def _check_token(token: str | Secret[str] | None) -> Secret[str] | None:
    if token is None:
        return None
    secret = token if isinstance(token, Secret) else Secret(token)
    value = secret.reveal()
    if not isinstance(value, str):
        raise TypeError(f'token must be a text or a Secret, not {type(value).__name__}.')
    if not value or not value.isascii() or not value.isprintable() or ' ' in value:
        raise ValueError('token must have printable ASCII characters only, and no space.')
    return secret
