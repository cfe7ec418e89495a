"""Attempts and waiting time of a call in words."""

from seamwise.toolhost.guards.guarded_call import CallStats

MIN_REPORTED_WAIT = 0.01
"""In seconds. Shorter waits are the overhead of the guards, not a delay for users."""


def retry_summary(stats: CallStats | None) -> str | None:
    """Return the attempts and the waiting time of a call, or None if it ran once without waiting.

    >>> retry_summary(CallStats(attempts=3, waited=1.2))
    'tried 3 times, waited 1.2 s'
    >>> retry_summary(CallStats(attempts=1, waited=0.5))
    'waited 0.5 s'
    >>> retry_summary(CallStats(attempts=1)) is None
    True
    """
    if stats is None:
        return None
    parts: list[str] = []
    if stats.attempts > 1:
        parts.append(f'tried {stats.attempts} times')
    if stats.waited >= MIN_REPORTED_WAIT:
        parts.append(f'waited {round(stats.waited, 3):g} s')
    return ', '.join(parts) or None
