"""Order in which calls start: a limit for all of them, and one at a time for each key."""

from collections import deque
from collections.abc import Hashable
from typing import Protocol


class Schedulable(Protocol):
    """A call that waits for its start.

    Attributes:
        key: The calls with the same key run one after the other; None: no such limit.
        is_settled: Whether the call has its result already, and must not start.
    """

    key: Hashable | None
    is_settled: bool

    @property
    def is_nested(self) -> bool:
        """Whether a running call has made this one.

        It needs no slot: the outer call has one, and would wait for ever if all slots were taken by
        such calls.
        """
        ...

    def start(self) -> None:
        """Start the call."""


class Scheduler:
    """Starts calls in the order of their arrival, at most `concurrency` at once.

    Args:
        concurrency: The maximum number of calls that run at once.
    """

    def __init__(self, concurrency: int) -> None:
        self._free = concurrency
        self._queue: deque[Schedulable] = deque()
        self._by_key: dict[Hashable, deque[Schedulable]] = {}
        """For each key in use, the calls that wait for it."""
        self._is_starting = False

    def add(self, call: Schedulable) -> None:
        """Start a call as soon as possible."""
        if call.key is not None:
            waiting = self._by_key.get(call.key)
            if waiting is not None:
                waiting.append(call)
                return
            self._by_key[call.key] = deque()
        self._enqueue(call)

    def release_slot(self, call: Schedulable) -> None:
        """Let another call start in place of one that has ended."""
        if not call.is_nested:
            self._free += 1
            self._start_calls()

    def release_key(self, call: Schedulable) -> None:
        """Let the next call with the same key start."""
        if call.key is None:
            return
        waiting = self._by_key[call.key]
        while waiting:
            following = waiting.popleft()
            if not following.is_settled:
                self._enqueue(following)
                return
        del self._by_key[call.key]

    def _enqueue(self, call: Schedulable) -> None:
        if call.is_nested:
            call.start()
        else:
            self._queue.append(call)
            self._start_calls()

    def _start_calls(self) -> None:
        # A call that starts eagerly can end before `start` returns, and come back here.
        if self._is_starting or not self._queue:
            return
        self._is_starting = True
        try:
            while self._free and self._queue:
                call = self._queue.popleft()
                if call.is_settled:
                    self.release_key(call)
                else:
                    self._free -= 1
                    call.start()
        finally:
            self._is_starting = False
