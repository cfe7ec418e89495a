"""Classification of an error for a planner, compared with chuk-tool-processor (same codes)."""

from collections.abc import Iterable
from itertools import count

from chuk_tool_processor.core.exceptions import ToolRateLimitedError, ToolTimeoutError

from benchmarks.measure import Comparison, timed
from seamwise.catalog.tools import ToolTimedOut
from seamwise.policies import RateLimited
from seamwise.seams.planner.tables import GUARDS, TOOLS

_TIMEOUT = ToolTimedOut('search_files', 30.0, 3)
_PEER_TIMEOUT = ToolTimeoutError('search_files', 30.0, 3)
_UNIQUE_NUMBERS = count()


def _classify(rounds: Iterable[None]) -> None:
    for _ in rounds:
        TOOLS(_TIMEOUT)


def _peer_classify(rounds: Iterable[None]) -> None:
    for _ in rounds:
        _PEER_TIMEOUT.to_error_info()


def _build_and_classify(rounds: Iterable[None]) -> None:
    for _ in rounds:
        GUARDS(RateLimited('search_files', 100, 60.0, 45.2))


def _peer_build_and_classify(rounds: Iterable[None]) -> None:
    for _ in rounds:
        ToolRateLimitedError('search_files', 45.2, 100, 60.0).to_error_info()


def _classify_new_text(rounds: Iterable[None]) -> None:
    for _ in rounds:
        TOOLS(ToolTimedOut(f'search_{next(_UNIQUE_NUMBERS)}', 30.0, 3))


def _peer_classify_new_text(rounds: Iterable[None]) -> None:
    for _ in rounds:
        ToolTimeoutError(f'search_{next(_UNIQUE_NUMBERS)}', 30.0, 3).to_error_info()


_REASON = (
    'most of the time is the lookup of the arm and of the cached answer, '
    'and the constructor with its validation'
)

COMPARISONS = (
    Comparison(
        job='`ErrorInfo` of an error that is in the cache, redacted',
        peer='`to_error_info` of chuk-tool-processor, not redacted',
        ours=timed(_classify),
        theirs=timed(_peer_classify),
        target=0.5,
        because=_REASON,
    ),
    Comparison(
        job='build an error with a delay, equal to a cached one, and its `ErrorInfo`, redacted',
        peer='the same of chuk-tool-processor, not redacted',
        ours=timed(_build_and_classify),
        theirs=timed(_peer_build_and_classify),
        target=0.5,
        because=_REASON,
    ),
    Comparison(
        job='build an error with a new text and its `ErrorInfo`, redacted',
        peer='the same of chuk-tool-processor, not redacted',
        ours=timed(_classify_new_text),
        theirs=timed(_peer_classify_new_text),
    ),
)
