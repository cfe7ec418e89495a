"""Outage detection and backoff for Redis: calls fail fast instead of each paying a timeout."""

from collections.abc import Callable
from threading import Lock
from typing import Final, Literal, TypeAlias

from redis import exceptions as redis
from redis.exceptions import RedisError, ResponseError

from seamwise.policies.classify.driver_codes import is_redis_unavailable

OutageMode: TypeAlias = Literal['local', 'open', 'closed']
"""Behaviour of a guard during a Redis outage: limit this process alone, admit all, or refuse all
calls.
"""

FAILURES_BEFORE_PAUSE: Final = 3
"""Number of failures without a success between them that mean an outage. A single late reply, such
as that of a server that forks to save its data, does not.
"""

FIRST_PAUSE: Final = 1.0
"""Seconds without calls to Redis in an outage; each further failure doubles them."""

MAX_PAUSE: Final = 30.0
"""Upper bound of a pause, in seconds."""

_CREDENTIAL_ERRORS = (redis.AuthenticationError, redis.AuthorizationError)
_OUTAGE_ERRORS = (
    redis.AskError,
    redis.ConnectionError,
    redis.TimeoutError,
    redis.ClusterDownError,
    redis.MasterDownError,
    redis.OutOfMemoryError,
    redis.ReadOnlyError,
    redis.TryAgainError,
)


def is_unavailable(error: RedisError) -> bool:
    """Return whether an error is temporary; any other is a defect, e.g. a wrong password.

    >>> is_unavailable(redis.ReadOnlyError('only a replica'))
    True
    >>> is_unavailable(ResponseError('ERR no such function'))
    False
    """
    if isinstance(error, _OUTAGE_ERRORS):
        return not isinstance(error, _CREDENTIAL_ERRORS)
    return isinstance(error, ResponseError) and is_redis_unavailable(str(error))


class OutageBackoff:
    """Pauses without calls to Redis in an outage: one second, doubled up to 30 seconds.

    An outage begins after three failures without a success between them. After a pause, one caller
    tries Redis. The others do without it until that call ends, or until `bound` seconds have
    passed.

    Args:
        clock: Current time in seconds.
        bound: Maximum duration of a call to Redis, in seconds.
        on_away: Called when an outage begins, with the seconds of the first pause.
        on_back: Called when it ends, with its duration in seconds.

    >>> backoff = OutageBackoff(lambda: 0.0, bound=0.05)
    >>> for _ in range(3):
    ...     backoff.on_failure(backoff.try_acquire())
    >>> backoff.try_acquire(), backoff.seconds_left()
    (None, 1.0)
    """

    def __init__(
        self,
        clock: Callable[[], float],
        *,
        bound: float,
        on_away: Callable[[float], object] | None = None,
        on_back: Callable[[float], object] | None = None,
    ) -> None:
        self._clock = clock
        self._bound = bound
        self._on_away = on_away
        self._on_back = on_back
        self._lock = Lock()
        self._failure_count = 0
        self._failures_in_a_row = 0
        self._away_since = 0.0
        self._pause = 0.0
        self._paused_at = 0.0
        self._paused_until: float | None = None

    def reset(self) -> None:
        """End the pause; calls in flight no longer count."""
        with self._lock:
            self._failure_count += 1
            self._failures_in_a_row = 0
            self._pause = 0.0
            self._paused_until = None

    def after_fork(self) -> None:
        """Replace the lock, in a forked process: a thread of the parent may have held it."""
        self._lock = Lock()

    @property
    def is_paused(self) -> bool:
        """Whether there is an outage."""
        return self._paused_until is not None

    def is_current(self, ticket: int) -> bool:
        """Return whether a call may still be sent: no outage has begun since its ticket."""
        return self._paused_until is None or ticket == self._failure_count

    def try_acquire(self) -> int | None:
        """Return a ticket for a call to Redis, or None during a pause.

        The ticket is the number of failures so far. Pass it to `on_success` or `on_failure`.
        """
        return self._failure_count if self._paused_until is None else self._try_after_pause()

    def seconds_left(self) -> float:
        """Return the seconds until Redis is called again, at least `bound`."""
        until = self._paused_until
        if until is None:
            return self._bound
        return min(max(until - self._clock(), self._bound), MAX_PAUSE)

    def on_failure(self, ticket: int | None) -> None:
        """Count a failure, and pause if Redis is away.

        Of several concurrent calls that fail, only the first one counts.
        """
        with self._lock:
            if ticket != self._failure_count:
                return
            self._failure_count += 1
            self._failures_in_a_row += 1
            if self._failures_in_a_row < FAILURES_BEFORE_PAUSE:
                return
            is_new = self._paused_until is None
            self._pause = min(max(2.0 * self._pause, FIRST_PAUSE), MAX_PAUSE)
            self._paused_at = self._clock()
            self._paused_until = self._paused_at + self._pause
            if is_new:
                self._away_since = self._paused_at
        if is_new and self._on_away is not None:
            self._on_away(FIRST_PAUSE)

    def on_success(self, ticket: int) -> None:
        """End the outage, unless another call has failed since the ticket was issued."""
        if not self._failures_in_a_row:
            return
        with self._lock:
            if self._paused_until is None:
                self._failures_in_a_row = 0
                return
            if ticket != self._failure_count:
                return
            self._failures_in_a_row = 0
            self._paused_until = None
            self._pause = 0.0
            seconds = max(self._clock() - self._away_since, 0.0)
        if self._on_back is not None:
            self._on_back(seconds)

    def _try_after_pause(self) -> int | None:
        with self._lock:
            now, until = self._clock(), self._paused_until
            if until is None:
                return self._failure_count
            # If the clock went back, the length of the pause is unknown: try again.
            if self._paused_at <= now < until:
                return None
            self._paused_at, self._paused_until = now, now + self._bound
            return self._failure_count
