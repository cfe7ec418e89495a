"""A thousand clients and a service that fails for half a minute: what retries do to it, with and without jitter and budget.

`python -m benchmarks.outage` writes `docs/outage.md` and its picture. The clients run the real guards in an event loop whose
time jumps to the next timer, so that the minute takes seconds, and every run gives the same numbers.
"""

import asyncio
import random
from collections import Counter
from collections.abc import Callable, Coroutine
from pathlib import Path
from selectors import DefaultSelector, SelectorKey
from typing import Any

from matplotlib import rc_context  # pyright: ignore[reportUnknownVariableType]  # it has a type for each of its 300 settings
from matplotlib.figure import Figure
from msgspec import Struct
from typing_extensions import override

from seamwise import Category, Failure, Result, Success, TaggedError
from seamwise.policies import Budget, Guard, World, identity, retry

BEGINS, ENDS, OVER = 10.0, 40.0, 60.0
"""In seconds: when the service begins to fail, when it works again, and when nobody asks any more."""

ASIDE = 100
"""So many clients run in one process, and share its budget."""

TICK = 0.1
"""In seconds: the peak is that of so short a time."""


class Down(
    TaggedError,
    namespace='benchmarks_outage',
    category=Category.UNAVAILABLE,
    message='The service is down.',
):
    """The service fails for now."""


class Policy(Struct, frozen=True):
    """How clients try again."""

    name: str
    guard: Callable[[World], Guard[object]]


class Load(Struct, frozen=True):
    """Requests that reached the service, by tenths of a second."""

    policy: str
    clients: int
    ticks: dict[int, int]

    def mean(self, start: float, end: float) -> float:
        """Give the requests of a second, in the mean of a time."""
        return sum(
            self.ticks.get(tick, 0) for tick in range(round(start / TICK), round(end / TICK))
        ) / (end - start)

    def peak(self, start: float, end: float) -> int:
        """Give the requests of the busiest tenth of a second."""
        return max(
            self.ticks.get(tick, 0) for tick in range(round(start / TICK), round(end / TICK))
        )


POLICIES = (
    Policy('no retry', lambda _: identity),
    Policy(
        'no jitter, no budget',
        lambda world: retry(attempts=4, base=1.0, cap=8.0, jitter='none', world=world),
    ),
    Policy(
        'full jitter, no budget', lambda world: retry(attempts=4, base=1.0, cap=8.0, world=world)
    ),
    Policy(
        'full jitter, budget of 20 %',
        lambda world: retry(
            attempts=4,
            base=1.0,
            cap=8.0,
            budget=Budget.share(0.2, minimum_per_second=1.0, world=world),
            world=world,
        ),
    ),
)


class _Jumping(DefaultSelector):
    """Does not wait: where nothing is ready, the time of the loop jumps to its next timer."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0

    @override
    def select(self, timeout: float | None = None) -> list[tuple[SelectorKey, int]]:
        self.now += timeout or 0.0
        return super().select(0)


def in_virtual_time(run: Callable[[World], Coroutine[object, object, None]], seed: int) -> None:
    """Run a coroutine in an event loop whose time jumps, in a world of that time."""
    selector = _Jumping()
    loop = asyncio.SelectorEventLoop(selector)
    loop.time = lambda: selector.now  # type: ignore[method-assign]  # the hook that asyncio documents for this
    dice = random.Random(seed)  # noqa: S311 -- every run gives the same numbers
    try:
        loop.run_until_complete(
            run(World(clock=loop.time, sleep=asyncio.sleep, random=dice.random))
        )
    finally:
        loop.close()


def simulate(policy: Policy, clients: int = 1000, *, seed: int = 1) -> Load:
    """Let so many clients ask once a second, all near the full second, and count what reaches the service."""
    ticks: Counter[int] = Counter()
    phases = random.Random(seed)  # noqa: S311 -- every run gives the same numbers

    async def run(world: World) -> None:
        async def request() -> Result[int, Down]:
            now = world.clock()
            ticks[int(now / TICK)] += 1
            return Failure(Down()) if BEGINS <= now < ENDS else Success(1)

        async def client(guard: Guard[object], phase: float) -> None:
            async with asyncio.TaskGroup() as calls:
                for second in range(int(OVER)):
                    await asyncio.sleep(second + phase - world.clock())
                    _ = calls.create_task(guard.run(request))

        async with asyncio.TaskGroup() as group:
            for first in range(0, clients, ASIDE):
                guard = policy.guard(world)
                for _ in range(min(ASIDE, clients - first)):
                    group.create_task(client(guard, phases.uniform(0, TICK)))

    in_virtual_time(run, seed)
    return Load(policy.name, clients, dict(ticks))


_PAGE = """\
# An outage, with and without jitter and budget

`python -m benchmarks.outage` simulates all of this and writes this page.

A thousand clients ask a service once a second, all at the full second, as timers do. From second {begins:.0f} to second
{ends:.0f} every request fails. Whoever retries makes up to four attempts, with a backoff that begins at 1 s and doubles.
A hundred clients at a time run in one process, and share its budget. The guards are the real ones, in an event loop whose
time jumps.

![Requests a second that reach the service: without jitter they come in waves, without budget they are four times as many](outage.svg)

| retries | requests a second in the outage | of those without retries | busiest tenth of a second | in the 5 s after it |
| --- | ---: | ---: | ---: | ---: |
{rows}

The backoff alone does not spread anything: whoever failed together comes back together. Full jitter takes the waves away,
and leaves the sum: in an outage each call is made four times. The budget takes the sum away: what is tried again is at
most a fifth of what is asked, counted over ten seconds, so that what it allows may come at once: the three peaks. After
the outage nobody has to catch up with anything.
"""


def page(loads: list[Load]) -> str:
    """Give the page in Markdown."""
    plain = loads[0].mean(BEGINS, ENDS)
    rows = [
        f'| {one.policy} | {one.mean(BEGINS, ENDS):.0f} | {one.mean(BEGINS, ENDS) / plain:.2f} | {one.peak(BEGINS, ENDS)} '
        f'| {one.mean(ENDS, ENDS + 5):.0f} |'
        for one in loads
    ]
    return _PAGE.format(begins=BEGINS, ends=ENDS, rows='\n'.join(rows))


def picture(loads: list[Load], target: Path) -> None:
    """Draw the requests of each second as an SVG."""
    with rc_context({'svg.hashsalt': 'seamwise', 'svg.fonttype': 'none', 'font.size': 9}):
        figure = Figure(figsize=(9, 8), layout='constrained')
        axes = figure.subplots(len(loads), 1, sharex=True, sharey=True)
        for axis, load in zip(axes, loads, strict=True):
            seconds = [load.mean(at, at + 1) for at in range(int(OVER))]
            axis.axvspan(BEGINS, ENDS, color='#f3d9d9', lw=0)
            axis.stairs(seconds, range(int(OVER) + 1), fill=True, color='#3b6ea5')
            axis.set_title(load.policy, loc='left')
            axis.grid(axis='y', lw=0.4)
        axes[-1].set_xlabel('seconds; the service fails in the shaded time')
        drawn: Any = figure  # it leaves keyword arguments untyped
        drawn.supylabel('requests a second')
        drawn.savefig(target, format='svg', metadata={'Date': None})


def main(folder: Path = Path('docs'), clients: int = 1000) -> None:
    """Simulate every policy, and write the page and its picture."""
    loads = [simulate(policy, clients) for policy in POLICIES]
    picture(loads, folder / 'outage.svg')
    (folder / 'outage.md').write_text(page(loads), encoding='utf-8')


if __name__ == '__main__':
    main()
