"""Limit of the time of one call, checked between the steps of its work."""

from time import monotonic

from seamwise.toolhost.guards.guarded_call import MIN_TIMEOUT, time_left

MAX_SECONDS = 60.0
"""The limit of tools without a timeout of their own."""


class OutOfTime(TimeoutError):
    """The time of the call is over; `seconds` is its limit."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f'the call did not finish within {seconds} s')
        self.seconds = seconds


class TimeLimit:
    """A limit that begins now and lasts `seconds`, or less if a deadline is nearer.

    >>> TimeLimit(10.0).seconds
    10.0
    """

    def __init__(self, seconds: float | None = None) -> None:
        self.seconds = time_left(MAX_SECONDS if seconds is None else seconds)
        self._end = monotonic() + self.seconds

    @property
    def remaining(self) -> float:
        """The rest of the time in seconds, never 0 or less."""
        # setitimer(0) would disable the timer of a child process.
        return max(self._end - monotonic(), MIN_TIMEOUT)

    def check(self) -> None:
        """Check the time.

        Raises:
            OutOfTime: the time is over.
        """
        if monotonic() > self._end:
            raise OutOfTime(self.seconds)
