"""Settings and limits of a gateway."""

from collections.abc import Collection
from typing import Final, Self
from urllib.parse import urlsplit

from msgspec import Struct

from seamwise._runtime.validation import check_float, check_int

FIRST_FRAME: Final = 10.0
"""The maximum time until the first frame of a WebSocket, in seconds."""

BODY_SECONDS: Final = 30.0
"""The maximum time until the body of a request has arrived, in seconds."""

CLOSE_SECONDS: Final = 2.0
"""The maximum time for the last frame and the close frame of a WebSocket, in seconds."""

RETRY_MS: Final = 2000
"""The delay before a reader of server-sent events connects again, in milliseconds."""

BUFFER: Final = 1000
"""The maximum number of new events that wait for a reader."""

TURN: Final = 50
"""The number of events after which a connection that sends many lets others run."""


class Settings(Struct, frozen=True, kw_only=True):
    """The settings of `gateway`."""

    origins: frozenset[str]
    heartbeat: float
    max_message: int
    messages_per_second: float
    connections_per_session: int
    connections: int

    def __post_init__(self) -> None:
        check_float('heartbeat', self.heartbeat, above=0.0)
        check_int('max_message', self.max_message)
        check_float('messages_per_second', self.messages_per_second, above=0.0)
        check_int('connections_per_session', self.connections_per_session)
        check_int('connections', self.connections)

    @property
    def silence(self) -> float:
        """The maximum time in which a reader takes a frame, in seconds."""
        return 2 * self.heartbeat

    @classmethod
    def of(
        cls,
        *,
        origins: Collection[str],
        heartbeat: float,
        max_message: int,
        messages_per_second: float,
        connections_per_session: int,
        connections: int,
    ) -> Self:
        """Return checked settings.

        Raises:
            TypeError: A value has another type.
            ValueError: A value is out of range, or an origin is none.
        """
        return cls(
            origins=_checked_origins(origins),
            heartbeat=heartbeat,
            max_message=max_message,
            messages_per_second=messages_per_second,
            connections_per_session=connections_per_session,
            connections=connections,
        )


def _checked_origins(origins: Collection[str]) -> frozenset[str]:
    if isinstance(origins, str):
        raise TypeError(f'origins must be a collection of texts, such as [{origins!r}].')
    for origin in origins:
        if not isinstance(origin, str):
            raise TypeError(f'An origin must be a text, not {type(origin).__name__}.')
        parts = urlsplit(origin)
        if not parts.scheme or not parts.netloc or origin != f'{parts.scheme}://{parts.netloc}':
            raise ValueError(
                f'An origin has the form https://example.org, without a path; {origin!r} has not.'
            )
    return frozenset(origin.lower() for origin in origins)
