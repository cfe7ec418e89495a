"""A world whose time goes on only when a test says so: who sleeps is woken on the way, and the clock may go wrong meanwhile."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from fractions import Fraction
from functools import partial
from typing import Any

from seamwise.policies._engine.world import World


async def settle_tasks() -> None:
    """Let every task go on until all of them wait for something that the test decides."""
    for _ in range(20):
        await asyncio.sleep(0)


class ManualTime:
    """Time for models: `advance` lets it pass, `jump` sets the clock alone."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.passed = Fraction(0)
        self.shown = Fraction(0)
        self._forward = Fraction(0)
        self._last = Fraction(0)
        self._sleepers: list[tuple[Fraction, asyncio.Future[None]]] = []
        self.world = World(clock=self._clock, sleep=self._sleep)

    @property
    def forward(self) -> Fraction:
        """What has gone by for one that reads the clock now, and saw it go back wherever it showed less than the time before."""
        return self._forward + max(self.shown - self._last, Fraction(0))

    def _clock(self) -> float:
        self._forward = self.forward
        self._last = self.shown
        return float(self.shown)

    async def _sleep(self, seconds: float) -> None:
        woken: asyncio.Future[None] = self.loop.create_future()
        self._sleepers.append((self.passed + Fraction(seconds), woken))
        await woken

    def run(self, work: Awaitable[object]) -> None:
        """Do something in the loop, and let all go on that can."""

        async def and_settle() -> None:
            await work
            await settle_tasks()

        self.loop.run_until_complete(and_settle())

    def do(self, act: Callable[[], object] = lambda: None) -> None:
        """Do something in the loop that is no coroutine."""

        async def acting() -> None:
            act()

        self.run(acting())

    def start(self, call: Coroutine[Any, Any, Any]) -> 'asyncio.Task[Any]':
        """Start a task, and let it come as far as it can."""
        task = self.loop.create_task(call)
        self.do()
        return task

    def advance(self, seconds: Fraction) -> None:
        """Let time pass: each sleeper wakes at its time."""
        end = self.passed + seconds
        while due := sorted(
            (at, place) for place, (at, _) in enumerate(self._sleepers) if at <= end
        ):
            at, place = due[0]
            self._to(max(at, self.passed))
            _, woken = self._sleepers.pop(place)
            self.do(partial(_wake, woken))
        self._to(end)
        self.do()

    def jump(self, seconds: Fraction) -> None:
        """Set the clock, back or ahead, while no time passes."""
        self.shown += seconds

    def close(self) -> None:
        """End every task that is left."""

        async def ending() -> None:
            left = asyncio.all_tasks() - {asyncio.current_task()}
            for task in left:
                task.cancel()
            await asyncio.gather(*left, return_exceptions=True)

        self.loop.run_until_complete(ending())
        self.loop.close()

    def _to(self, at: Fraction) -> None:
        self.shown += at - self.passed
        self.passed = at


def _wake(sleeper: 'asyncio.Future[None]') -> None:
    if not sleeper.done():
        sleeper.set_result(None)
