"""A clock for Redis that tests set: the scripts run as they are, and read it instead of the server's."""

from seamwise.policies._engine.pipeline import Guard
from seamwise.policies.redis.store import Script, Store, new_script
from tests.policies.redis.servers import Server

_TIME = "redis.call('TIME')"
_BEGIN = 1_800_000_000_000_000


class Clock:
    """A clock in microseconds, in the server itself."""

    def __init__(self, server: Server) -> None:
        self._client = server.client()
        self.now = 0
        self.advance(0)

    def advance(self, microseconds: int) -> None:
        self.now += microseconds
        seconds, rest = divmod(_BEGIN + self.now, 1_000_000)
        self._client.hset('clock', mapping={'s': seconds, 'us': rest})

    def rule(self, guard: Guard[object]) -> None:
        """Let a guard keep this time."""
        store = guard.__dict__['_store']
        assert isinstance(store, Store)
        store._script = clocked(store._script)


def clocked(given: Script) -> Script:
    """Give the script with its one reading of the clock replaced."""
    assert given.text.count(_TIME) == 1
    return new_script(
        given.text.replace(
            _TIME, "{redis.call('HGET', 'clock', 's'), redis.call('HGET', 'clock', 'us')}"
        )
    )
