"""Simulation of an outage: retries against a failing service, with and without jitter and budget.

`python -m benchmarks.outage` writes `docs/outage.md` and its picture. The clients run the real
guards in an event loop whose time jumps to the next timer. The simulated minute therefore takes
seconds, and every run has the same result.
"""

import asyncio
import random
from collections import Counter
from collections.abc import Callable, Coroutine
from pathlib import Path
from selectors import DefaultSelector, SelectorKey

from msgspec import Struct
from tools.themes import Theme
from typing_extensions import override

from benchmarks.charts import Axes, write_chart
from seamwise import Category, Failure, Result, Success, TaggedError
from seamwise.policies import Budget, Guard, World, identity, retry

OUTAGE_START, OUTAGE_END, DURATION = 10.0, 40.0, 60.0
"""Start and end of the outage, and duration of the simulation, in seconds."""

CLIENTS_PER_PROCESS = 100
"""Number of clients that share the budget of one process."""

TICK = 0.1
"""Interval in seconds for which the peak load is counted."""


class Down(
    TaggedError,
    namespace='benchmarks_outage',
    category=Category.UNAVAILABLE,
    message='The service is down.',
):
    """The service is temporarily unavailable."""


class Policy(Struct, frozen=True):
    """Retry policy of the clients."""

    name: str
    guard: Callable[[World], Guard[object]]


class Load(Struct, frozen=True):
    """Number of requests that reached the service, for each tick."""

    policy: str
    clients: int
    ticks: dict[int, int]

    def mean(self, start: float, end: float) -> float:
        """Return the mean number of requests per second between two times."""
        return sum(
            self.ticks.get(tick, 0) for tick in range(round(start / TICK), round(end / TICK))
        ) / (end - start)

    def peak(self, start: float, end: float) -> int:
        """Return the number of requests in the busiest tick between two times."""
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


class _JumpingSelector(DefaultSelector):
    """A selector that does not wait: the time of the loop jumps to its next timer."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0

    @override
    def select(self, timeout: float | None = None) -> list[tuple[SelectorKey, int]]:
        self.now += timeout or 0.0
        return super().select(0)


def _run_in_virtual_time(
    run: Callable[[World], Coroutine[object, object, None]], seed: int
) -> None:
    """Run a coroutine in an event loop whose time jumps, with a world of that time."""
    selector = _JumpingSelector()
    loop = asyncio.SelectorEventLoop(selector)
    loop.time = lambda: selector.now  # type: ignore[method-assign]  # the documented way to change the time of a loop
    random_source = random.Random(seed)  # noqa: S311 -- results must be reproducible
    try:
        loop.run_until_complete(
            run(World(clock=loop.time, sleep=asyncio.sleep, random=random_source.random))
        )
    finally:
        loop.close()


def simulate(policy: Policy, clients: int = 1000, *, seed: int = 1) -> Load:
    """Send a request per client and second, shortly after the full second, and count them."""
    ticks: Counter[int] = Counter()
    phases = random.Random(seed)  # noqa: S311 -- results must be reproducible

    async def run(world: World) -> None:
        async def request() -> Result[int, Down]:
            now = world.clock()
            ticks[int(now / TICK)] += 1
            return Failure(Down()) if OUTAGE_START <= now < OUTAGE_END else Success(1)

        async def client(guard: Guard[object], phase: float) -> None:
            async with asyncio.TaskGroup() as calls:
                for second in range(int(DURATION)):
                    await asyncio.sleep(second + phase - world.clock())
                    _ = calls.create_task(guard.run(request))

        async with asyncio.TaskGroup() as group:
            for first in range(0, clients, CLIENTS_PER_PROCESS):
                guard = policy.guard(world)
                for _ in range(min(CLIENTS_PER_PROCESS, clients - first)):
                    group.create_task(client(guard, phases.uniform(0, TICK)))

    _run_in_virtual_time(run, seed)
    return Load(policy.name, clients, dict(ticks))


_PAGE = """\
# An outage, with and without jitter and budget

`python -m benchmarks.outage` simulates this and writes this page.

A thousand clients call a service at each full second. From second {start:.0f} to second {end:.0f},
every request fails. The clients make up to four attempts, with a backoff that starts at 1 s and
doubles; a hundred of them run in one process and share its budget.

<picture>
  <source media="(prefers-color-scheme: dark)" srcset="pictures/outage-dark.svg">
  <img alt="Requests per second. Without retries: 1000. Without jitter: steps up to 4000, until after the outage. With full jitter: a smooth rise to 4000. With a budget: 1000, and three peaks of 2200." src="pictures/outage-light.svg">
</picture>

| retries | requests per second in the outage | relative to no retries | busiest tenth of a second | in the 5 s after the outage |
| --- | ---: | ---: | ---: | ---: |
{rows}

The picture shows the mean of each second. Retries without a budget multiply the load by four.
Without jitter, requests that failed together are also retried together, all 4000 in a tenth of a
second. The [budget](guards/retry.md#limit-retries-with-a-budget) limits retries to a fifth of the
calls of ten seconds. It can be spent in one moment, which causes the three peaks.
"""  # noqa: E501 -- tables and images in Markdown cannot be wrapped


def page(loads: list[Load]) -> str:
    """Return the page in Markdown."""
    baseline = loads[0].mean(OUTAGE_START, OUTAGE_END)
    rows = list[str]()
    for load in loads:
        mean, peak = load.mean(OUTAGE_START, OUTAGE_END), load.peak(OUTAGE_START, OUTAGE_END)
        mean_after = load.mean(OUTAGE_END, OUTAGE_END + 5)
        rows.append(
            f'| {load.policy} | {mean:.0f} | {mean / baseline:.2f} | {peak} | {mean_after:.0f} |'
        )
    return _PAGE.format(start=OUTAGE_START, end=OUTAGE_END, rows='\n'.join(rows))


def write_picture(loads: list[Load], folder: Path) -> None:
    """Draw the requests of each second."""

    def draw(axes: Axes, theme: Theme) -> None:
        for axis, load in zip(axes, loads, strict=True):
            means = [load.mean(second, second + 1) for second in range(int(DURATION))]
            axis.axvspan(OUTAGE_START, OUTAGE_END, color=theme.shade, lw=0)
            axis.stairs(means, range(int(DURATION) + 1), fill=True, color=theme.accent)
            axis.set_title(load.policy, loc='left')
            axis.grid(axis='y')

    write_chart(
        folder,
        'outage',
        draw,
        rows=len(loads),
        x_label='seconds; the service fails in the shaded time',
        y_label='requests per second',
    )


def main(folder: Path = Path('docs'), clients: int = 1000) -> None:
    """Simulate every policy, and write the page and its picture."""
    loads = [simulate(policy, clients) for policy in POLICIES]
    write_picture(loads, folder / 'pictures')
    (folder / 'outage.md').write_text(page(loads), encoding='utf-8')


if __name__ == '__main__':
    main()
