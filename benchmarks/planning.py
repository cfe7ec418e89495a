"""Classifying an error for a planner: beside chuk-tool-processor, whose codes and keys are the same."""

from collections.abc import Iterable
from itertools import count

from chuk_tool_processor.core.exceptions import ToolRateLimitedError, ToolTimeoutError

from benchmarks.measure import Comparison, timed
from seamwise.catalog.tools import ToolTimedOut
from seamwise.policies import RateLimited
from seamwise.seams.planner import from_error
from seamwise.seams.planner.tables import GUARDS, TOOLS

_LATE = ToolTimedOut('search_files', 30.0, 3)
_LATE_THERE = ToolTimeoutError('search_files', 30.0, 3)
_NUMBERS = count()


def _ours(turns: Iterable[None]) -> None:
    for _ in turns:
        from_error(_LATE, adapter=TOOLS)


def _theirs(turns: Iterable[None]) -> None:
    for _ in turns:
        _LATE_THERE.to_error_info()


def _ours_built(turns: Iterable[None]) -> None:
    for _ in turns:
        from_error(RateLimited('search_files', 100, 60.0, 45.2), adapter=GUARDS)


def _theirs_built(turns: Iterable[None]) -> None:
    for _ in turns:
        ToolRateLimitedError('search_files', 45.2, 100, 60.0).to_error_info()


def _ours_unseen(turns: Iterable[None]) -> None:
    for _ in turns:
        from_error(ToolTimedOut(f'search_{next(_NUMBERS)}', 30.0, 3), adapter=TOOLS)


def _theirs_unseen(turns: Iterable[None]) -> None:
    for _ in turns:
        ToolTimeoutError(f'search_{next(_NUMBERS)}', 30.0, 3).to_error_info()


_CONSTRUCTOR = 'most of ours is to find the arm, to find the answer for an equal error, and the constructor with its checks'

COMPARISONS = (
    Comparison(
        job='`ErrorInfo` from an error that was seen before, redacted',
        peer='`to_error_info` of chuk-tool-processor, not redacted',
        ours=timed(_ours),
        theirs=timed(_theirs),
        target=0.5,
        because=_CONSTRUCTOR,
    ),
    Comparison(
        job='build an error with a delay, equal to one seen before, and its `ErrorInfo`, redacted',
        peer='the same of chuk-tool-processor, not redacted',
        ours=timed(_ours_built),
        theirs=timed(_theirs_built),
        target=0.5,
        because=_CONSTRUCTOR,
    ),
    Comparison(
        job='build an error with a text never seen before and its `ErrorInfo`, redacted',
        peer='the same of chuk-tool-processor, not redacted',
        ours=timed(_ours_unseen),
        theirs=timed(_theirs_unseen),
    ),
)
