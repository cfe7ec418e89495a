"""Fallback used while Redis is unavailable: local guard, admit all, or refuse all."""

from collections.abc import Callable
from typing import assert_never

from seamwise._runtime.registry import unregister
from seamwise._runtime.validation import check_choice
from seamwise.policies._engine.permit import (
    ADMITTED,
    Admission,
    Fork,
    Outcome,
    Permit,
    Waiting,
    complete_wait,
    complete_wait_sync,
)
from seamwise.policies._engine.pipeline import Layer
from seamwise.policies.redis.availability import OutageMode


class OutageFallback:
    """Decisions on calls while Redis is unavailable.

    Args:
        away: The chosen behaviour.
        local: Guard of this process alone, for `'local'`.
        bound: Maximum duration of a call to Redis, in seconds; for the description.
    """

    def __init__(self, away: OutageMode, local: Layer[object], *, bound: float) -> None:
        check_choice('away', away, ('local', 'open', 'closed'))
        self.mode: OutageMode = away
        self._local = local
        # It is a part of the guard, and not for the users of `registered`.
        unregister([local])
        self._bound = bound

    def reset(self) -> None:
        """Discard the state of the local guard."""
        self._local.reset()

    def after_fork(self) -> None:
        """Forget the calls of the parent process, in a forked one."""
        self._local.after_fork()

    async def admit(self, enter: Callable[[], Admission]) -> Permit | Outcome | None:
        """Return the decision on a call, or None if the caller must create a refusal.

        Args:
            enter: Returns the decision of the local guard.
        """
        decision = self._decide(enter)
        while isinstance(decision, Waiting):
            decision = await complete_wait(decision)
        return decision

    def admit_sync(self, enter: Callable[[], Admission]) -> Permit | Outcome | None:
        """Return the same as `admit`, in a thread."""
        decision = self._decide(enter)
        while isinstance(decision, Waiting):
            decision = complete_wait_sync(decision)
        return decision

    def limits(self) -> str:
        """Return a description of the time bound and of the behaviour after it."""
        match self.mode:
            case 'local':
                behaviour = 'each process on its own'
            case 'open':
                behaviour = 'all calls pass'
            case 'closed':
                behaviour = 'no call passes'
            case _:
                assert_never(self.mode)
        return f'timeout {self._bound:g} s, during an outage {behaviour}'

    def _decide(self, enter: Callable[[], Admission]) -> Permit | Outcome | Waiting | None:
        if self.mode == 'closed':
            return None
        decision: Admission = enter() if self.mode == 'local' else ADMITTED
        if isinstance(decision, Fork):
            raise TypeError(f'{type(decision).__name__} cannot decide on a single call.')
        return decision
