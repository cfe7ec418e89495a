"""Turns of phrase that several suggestions share."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from math import ceil

from seamwise.catalog.problem import Problem
from seamwise.errors import TaggedError, retry_after
from seamwise.redaction import redact
from seamwise.seams._phrases import MOST_LISTED, listed, quoted
from seamwise.seams._redacted import direct_cause

EXCERPT_LIMIT = 600
"""Of what stands in a file, a suggestion shows at most so many characters."""


def again(error: TaggedError, what: str = 'try again') -> str:
    """Say when a second try makes sense: after the delay that the error knows, else after a short pause.

    >>> from seamwise.catalog.network import UpstreamFailed
    >>> again(UpstreamFailed('search', 503, '', retry_after=1.23)), again(UpstreamFailed('search', 503, ''))
    ('Wait 1.3 s, then try again', 'Wait a moment, then try again')
    """
    seconds = retry_after(error)
    if seconds is None:
        return f'Wait a moment, then {what}'
    return f'Wait {rounded_up(seconds)} s, then {what}' if seconds else f'{what[:1].upper()}{what[1:]} at once'


def rounded_up(seconds: float) -> str:
    """Give seconds with one digit after the point, rounded up: who waits that long has waited long enough."""
    tenths = ceil(round(seconds * 10, 6))
    return str(tenths // 10) if tenths % 10 == 0 else f'{tenths // 10}.{tenths % 10}'


def why(error: TaggedError) -> str:
    """Give the message of what caused an error, in brackets, where that is known to say something."""
    cause = direct_cause(error)
    return f' ({cause.message})' if cause and cause.message else ''


def places(problems: Iterable[Problem], whole: str) -> str:
    """List findings with their places; one without a place is about the whole."""
    return listed([f'{one.pointer or whole} ({one.message})' for one in problems]) or whole


def one_of(names: Iterable[str], nothing: str) -> str:
    """List what there is to choose from, or say that there is nothing."""
    known = tuple(names)
    return f'Take {quoted(known)}.' if known else nothing


def first_of(names: Sequence[str], *, last: str = 'or') -> str:
    """List names in quotes, each redacted; of very many, only those that are shown are looked at."""
    return listed([*(repr(redact(name)) for name in names[:MOST_LISTED]), *names[MOST_LISTED:]], last=last)


def meant(suggestions: Sequence[str], available: Sequence[str], *, noun: str) -> str:
    """Name the nearest names, then all there are."""
    near = f'Did you mean {first_of(suggestions)}? ' if suggestions else ''
    there = f'The {noun}s are {first_of(available, last="and")}.' if available else f'No {noun} is available; do without one.'
    return near + there


def moment(unix: float) -> str | None:
    """Say a Unix time in words, RFC 3339 to the second; None where it is no moment of this calendar."""
    try:
        return datetime.fromtimestamp(ceil(unix), UTC).strftime('%Y-%m-%dT%H:%M:%SZ')
    except (ValueError, OverflowError, OSError):
        return None
