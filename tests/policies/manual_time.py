"""A world for models: a test controls its time and the jumps of its clock."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from fractions import Fraction
from functools import partial
from typing import Any

from seamwise._runtime.world import World


async def settle_tasks() -> None:
    """Run all tasks until they wait for something that the test controls."""
    for _ in range(20):
        await asyncio.sleep(0)


class ManualTime:
    """Time for models: `advance` lets it pass, `shift_clock` changes only the clock."""

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
        """Sum of the increases of the clock between its readings; decreases are ignored."""
        return self._forward + max(self.shown - self._last, Fraction(0))

    def _clock(self) -> float:
        self._forward = self.forward
        self._last = self.shown
        return float(self.shown)

    async def _sleep(self, seconds: float) -> None:
        woken: asyncio.Future[None] = self.loop.create_future()
        self._sleepers.append((self.passed + Fraction(seconds), woken))
        await woken

    def run(self, awaitable: Awaitable[object]) -> None:
        """Await something in the loop, then run all tasks as far as possible."""

        async def main() -> None:
            await awaitable
            await settle_tasks()

        self.loop.run_until_complete(main())

    def run_callback(self, callback: Callable[[], object] = lambda: None) -> None:
        """Call a function in the loop, then run all tasks as far as possible."""

        async def main() -> None:
            callback()

        self.run(main())

    def start(self, call: Coroutine[Any, Any, Any]) -> 'asyncio.Task[Any]':
        """Start a task and run it as far as possible."""
        task = self.loop.create_task(call)
        self.run_callback()
        return task

    def advance(self, seconds: Fraction) -> None:
        """Let time pass, and wake each sleeper at its time."""
        end = self.passed + seconds
        while due := sorted(
            (wake_at, index) for index, (wake_at, _) in enumerate(self._sleepers) if wake_at <= end
        ):
            wake_at, index = due[0]
            self._advance_to(max(wake_at, self.passed))
            _, woken = self._sleepers.pop(index)
            self.run_callback(partial(_wake, woken))
        self._advance_to(end)
        self.run_callback()

    def shift_clock(self, seconds: Fraction) -> None:
        """Set the clock forward or back while no time passes."""
        self.shown += seconds

    def close(self) -> None:
        """Cancel all remaining tasks, and close the loop."""

        async def cancel_all() -> None:
            tasks = asyncio.all_tasks() - {asyncio.current_task()}
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

        self.loop.run_until_complete(cancel_all())
        self.loop.close()

    def _advance_to(self, time: Fraction) -> None:
        self.shown += time - self.passed
        self.passed = time


def _wake(sleeper: 'asyncio.Future[None]') -> None:
    if not sleeper.done():
        sleeper.set_result(None)
