"""Memory of one conversation: calls that repeat, and mistakes in a row."""

from collections import deque
from collections.abc import Callable

from seamwise._errors.categories import Recovery
from seamwise._errors.errors import TaggedError
from seamwise._results.containers import Result, Success
from seamwise.catalog.tools import ToolRepeated, TooManyMistakes
from seamwise.toolhost.calls import ToolCall
from seamwise.toolhost.memory.repeat_detector import RepeatDetector


class Conversation:
    """Memory of the calls of one conversation, which can refuse the next one.

    Each call has a turn. Calls may run at the same time and end in any order, but they are judged
    as if each one had ended before the next.

    >>> conversation = Conversation(repeat_limit=1)
    >>> ping = ToolCall('ping', {})
    >>> [conversation.refusal(conversation.take_turn(), ping) for _ in range(2)]
    [None, ToolRepeated(tool='ping', count=2, limit=1)]

    Args:
        repeat_limit: The number of times that a call, or a cycle of two or three calls, can run
            before it fails with `ToolRepeated`, unless its value changes; 0 disables the check.
        mistake_limit: The number of failures with Recovery CORRECT in a row, calls that cannot be
            read included, after which calls fail with `TooManyMistakes`; 0 disables the check.
            Only a success resets the count.
    """

    def __init__(self, *, repeat_limit: int = 0, mistake_limit: int = 0) -> None:
        self._repeat_detector = RepeatDetector(limit=repeat_limit) if repeat_limit else None
        self._mistake_limit = mistake_limit
        self._mistakes = 0
        self._next_turn = 0
        self._judged = 0
        """The number of turns from the first one whose results are counted."""
        self._results: dict[int, Result[object, TaggedError] | None] = {}
        """By turn: the results that are not counted yet."""
        self._undecided: deque[tuple[int, Callable[[], None]]] = deque()
        self._is_deciding = False

    def take_turn(self) -> int:
        """Return the number of the next call; `end_turn` must follow."""
        self._next_turn += 1
        return self._next_turn - 1

    def when_decidable(self, turn: int, decide: Callable[[], None]) -> None:
        """Call `decide` as soon as no result of an earlier call can refuse this one.

        The calls of a batch run in parallel until their failures could reach the limit.
        """
        if self._is_decidable(turn):
            decide()
        else:
            self._undecided.append((turn, decide))

    def refusal(self, turn: int, call: ToolCall) -> ToolRepeated | TooManyMistakes | None:
        """Record a call, and return the reason why it must not run, or None."""
        if 0 < self._mistake_limit <= self._mistakes:
            return TooManyMistakes(self._mistakes, self._mistake_limit)
        return None if self._repeat_detector is None else self._repeat_detector.record(call, turn)

    def end_turn(self, turn: int, result: Result[object, TaggedError] | None) -> None:
        """Count the result of a call; None if it was cancelled."""
        if self._repeat_detector is not None and result is not None:
            self._repeat_detector.answer(turn, result)
        if not self._mistake_limit:
            return
        self._results[turn] = result
        while self._judged in self._results:
            self._count(self._results.pop(self._judged))
            self._judged += 1
        # A call that is refused ends its turn before `decide` returns, and comes back here.
        if self._is_deciding:
            return
        self._is_deciding = True
        try:
            while self._undecided and self._is_decidable(self._undecided[0][0]):
                self._undecided.popleft()[1]()
        finally:
            self._is_deciding = False

    def _is_decidable(self, turn: int) -> bool:
        pending = turn - self._judged
        limit = self._mistake_limit
        return not limit or not pending or self._mistakes + pending < limit

    def _count(self, result: Result[object, TaggedError] | None) -> None:
        if result is None:
            return
        if type(result) is Success:
            self._mistakes = 0
        elif result.failure().recovery is Recovery.CORRECT:
            self._mistakes += 1
