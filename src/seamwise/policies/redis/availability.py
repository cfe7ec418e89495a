"""When Redis is away: what shows it, and how long it is then left alone, so that not every call pays for asking in vain."""

from collections.abc import Callable
from threading import Lock
from typing import Final, Literal, TypeAlias

from redis import exceptions as redis
from redis.exceptions import RedisError, ResponseError

from seamwise.policies.classify.redis_codes import cannot_now

OutageMode: TypeAlias = Literal['local', 'open', 'closed']
"""What a guard does while Redis is away: what it would do for this process alone, let all pass, or refuse all."""

FIRST_PAUSE: Final = 1.0
LONGEST_PAUSE: Final = 30.0

_WRONG = (redis.AuthenticationError, redis.AuthorizationError)
_SERVER_IS_AWAY = (
    redis.ConnectionError,
    redis.TimeoutError,
    redis.ClusterDownError,
    redis.MasterDownError,
    redis.OutOfMemoryError,
    redis.ReadOnlyError,
    redis.TryAgainError,
)


def is_unavailable(error: RedisError) -> bool:
    """Say whether an error of Redis means that it cannot answer now; any other is a defect: a wrong password, a broken script.

    >>> is_unavailable(redis.ReadOnlyError('only a replica')), is_unavailable(ResponseError('ERR no such function'))
    (True, False)
    """
    if isinstance(error, _SERVER_IS_AWAY):
        return not isinstance(error, _WRONG)
    return isinstance(error, ResponseError) and cannot_now(str(error))


class OutageBackoff:
    """How long Redis is left alone after it failed: a second, then twice as long each time, half a minute at most.

    When the time is over one caller asks, and while it does the others still go without.

    >>> away = OutageBackoff(lambda: 0.0, bound=0.05)
    >>> away.failed(away.may_ask())
    >>> away.may_ask(), away.left()
    (None, 1.0)
    """

    def __init__(self, clock: Callable[[], float], *, bound: float) -> None:
        self._clock = clock
        self._bound = bound
        self._lock = Lock()
        self._round = 0
        self._pause = 0.0
        self._since = 0.0
        self._until: float | None = None

    def may_ask(self) -> int | None:
        """Give a number to say afterwards how it went, or None where Redis is to be left alone."""
        return self._round if self._until is None else self._may_try()

    def left(self) -> float:
        """Give the seconds until it is asked again; the bound at least."""
        until = self._until
        return (
            self._bound
            if until is None
            else min(max(until - self._clock(), self._bound), LONGEST_PAUSE)
        )

    def failed(self, asked: int | None) -> None:
        """Leave it alone from now on. Of all who asked at the same time and failed, one counts."""
        with self._lock:
            if asked != self._round:
                return
            self._round += 1
            self._pause = min(max(2.0 * self._pause, FIRST_PAUSE), LONGEST_PAUSE)
            self._since = self._clock()
            self._until = self._since + self._pause

    def answered(self, asked: int) -> None:
        """Ask it as ever from now on."""
        if self._until is None:
            return
        with self._lock:
            if asked == self._round:
                self._until = None
                self._pause = 0.0

    def _may_try(self) -> int | None:
        with self._lock:
            now, until = self._clock(), self._until
            if until is None:
                return self._round
            # A clock that has gone back does not know how long it was.
            if self._since <= now < until:
                return None
            self._since, self._until = now, now + self._bound
            return self._round
