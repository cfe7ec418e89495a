"""A clock in Redis that tests can set; the scripts read it instead of the server's clock."""

from seamwise.policies._engine.pipeline import Guard
from seamwise.policies.redis.scripts import Script, new_script
from seamwise.policies.redis.store import Store
from tests.policies.redis.servers import Server

_TIME = "redis.call('TIME')"
_START = 1_800_000_000_000_000


class RedisClock:
    """A clock in microseconds, stored in the server."""

    def __init__(self, server: Server) -> None:
        self._client = server.client()
        self.now = 0
        self.advance(0)

    def advance(self, microseconds: int) -> None:
        self.now += microseconds
        seconds, rest = divmod(_START + self.now, 1_000_000)
        self._client.hset('clock', mapping={'s': seconds, 'us': rest})

    def control(self, guard: Guard[object]) -> None:
        """Make a guard use this clock."""
        store = guard.__dict__['_store']
        assert isinstance(store, Store)
        store._script = _with_clock(store._script)


def _with_clock(script: Script) -> Script:
    """Return the script with its only reading of the server's clock replaced.

    Keys expire by the server's own clock, which this one cannot set, so they live a minute longer.
    """
    assert script.text.count(_TIME) == 1
    text = script.text.replace(
        _TIME, "{redis.call('HGET', 'clock', 's'), redis.call('HGET', 'clock', 'us')}"
    )
    for expiry in ("'PX', ttl", "'PEXPIRE', KEYS[1], ttl"):
        text = text.replace(expiry, f'{expiry} + 60000')
    return new_script(text)
