"""Names of the keys in Redis: all keys of one session are in one slot of a Redis Cluster."""

from functools import lru_cache
from typing import Final
from urllib.parse import quote, unquote

from msgspec import Struct

_PLAIN: Final = ''.join(chr(code) for code in range(33, 127) if chr(code) not in '%{}')
"""Characters of a session id that a key contains as they are. Braces delimit a hash tag."""

_MAX_CACHED: Final = 1000

_HASH: Final = '}:session'


class SessionKeys(Struct, frozen=True):
    """The keys of one session, and the channel of its signals.

    Attributes:
        session: Hash with the epoch, the number of the last event, and the snapshot.
        events: Stream of the events; the id of an event is its number.
        batches: Hash from the ids of batches to their last events.
        batch_order: Sorted set of the ids of batches, from the oldest to the newest.
        channel: Pub/sub channel; a message says that the session has changed.
    """

    session: bytes
    events: bytes
    batches: bytes
    batch_order: bytes
    channel: bytes

    @property
    def script_keys(self) -> tuple[bytes, ...]:
        """The keys that are passed to each script."""
        return self.session, self.events, self.batches, self.batch_order


class Keys:
    """The keys of one log.

    >>> Keys('seamwise:').of('s-1').events
    b'seamwise:{s-1}:events'
    >>> Keys('seamwise:').session_of(b'seamwise:{a%7Bb}:session')
    'a{b'

    Args:
        prefix: The beginning of all keys.
    """

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        base = prefix.encode()
        self.lease_holders = base + b'{leases}:lease-holders'
        self.lease_times = base + b'{leases}:lease-times'
        self.lease_attempts = base + b'{leases}:lease-attempts'
        # The quoting takes 3 microseconds.
        self.of: Final = lru_cache(_MAX_CACHED)(self._of)

    @property
    def pattern(self) -> str:
        """The pattern of SCAN for the hashes of all sessions."""
        escaped = ''.join(f'\\{char}' if char in '\\*?[]^-' else char for char in self._prefix)
        return f'{escaped}{{*{_HASH}'

    def _of(self, session: str) -> SessionKeys:
        """Return the keys of a session."""
        tag = quote(session, safe=_PLAIN, errors='surrogatepass')
        base = f'{self._prefix}{{{tag}}}:'.encode()
        return SessionKeys(
            session=base + b'session',
            events=base + b'events',
            batches=base + b'batches',
            batch_order=base + b'batch-order',
            channel=base + b'signals',
        )

    def session_of(self, key: bytes) -> str:
        """Return the id of the session that a hash belongs to."""
        tag = key.decode()[len(self._prefix) + 1 : -len(_HASH)]
        return unquote(tag, errors='surrogatepass')
