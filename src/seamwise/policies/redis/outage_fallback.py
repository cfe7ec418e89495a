"""What a guard does while Redis is away, as it was chosen."""

from typing import assert_never

from seamwise.policies._engine.permit import ADMITTED, Decision, Fork, Outcome, Permit, Wait
from seamwise.policies._engine.pipeline import Guard
from seamwise.policies._engine.validation import check_choice
from seamwise.policies.redis.availability import OutageMode


class OutageFallback:
    """Another guard for as long as Redis is away: the one of this process alone, one that lets all pass, or one that refuses all."""

    def __init__(self, away: OutageMode, local: Guard[object], *, bound: float) -> None:
        check_choice('away', away, ('local', 'open', 'closed'))
        self._away: OutageMode = away
        self._enter = local._enters[0]
        self._bound = bound

    async def wait(self) -> Permit | Outcome | None:
        """Give what is said to a call, or None for a refusal, which the caller words."""
        said = self._said()
        while isinstance(said, Wait):
            said = await said.wait()
        return said

    def wait_sync(self) -> Permit | Outcome | None:
        """Likewise, in a thread."""
        said = self._said()
        while isinstance(said, Wait):
            said = said.wait_sync()
        return said

    def limits(self) -> str:
        """Say how long Redis is waited for, and what is done then."""
        match self._away:
            case 'local':
                then = 'then this process by itself'
            case 'open':
                then = 'then all pass'
            case 'closed':
                then = 'then none pass'
            case _:
                assert_never(self._away)
        return f'{self._bound:g} s at most for an answer, {then}'

    def _said(self) -> Permit | Outcome | Wait | None:
        if self._away == 'closed':
            return None
        said: Decision = self._enter() if self._away == 'local' else ADMITTED
        if isinstance(said, Fork):
            raise TypeError(f'{type(said).__name__} says nothing of who comes in.')
        return said
