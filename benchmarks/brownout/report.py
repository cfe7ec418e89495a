"""The page of the simulation, and its picture."""

from pathlib import Path

from tools.themes import Theme

from benchmarks.brownout.clients import Strategy
from benchmarks.brownout.plan import Plan
from benchmarks.brownout.simulation import Run
from benchmarks.charts import Axes, write_chart

_TITLES: dict[Strategy, str] = {
    'timeout': 'time limit',
    'retries': 'time limit and retries',
    'adaptive': 'guards with an adaptive limit',
    'fixed': 'guards with a fixed limit',
}

_PAGE = """\
# A brown-out, with and without guards

`python -m benchmarks.brownout` runs this simulation in real time and writes this page.

{clients:,} clients in {processes} processes make {rate:.0f} calls per second. The service handles
{slots} requests at a time, in {service_time:g} s each: {capacity:.0f} per second. From second
{slow_from:g} to second {slow_until:g} a request takes {slow_time:g} s: {slow_capacity:.0f} per
second. Clients give up after {patience:g} s; their requests stay in its queue.

<picture>
  <source media="(prefers-color-scheme: dark)" srcset="pictures/brownout-dark.svg">
  <img alt="Calls, requests and answers per second. With retries, the service does not recover." src="pictures/brownout-light.svg">
</picture>

| clients have | answered in the brown-out | answered after it | recovered after | requests per call in the brown-out | and after it |
| --- | ---: | ---: | ---: | ---: | ---: |
{rows}

The service has recovered when at least 95 % of the calls of every later second are answered.

- Without guards, the queue grows, and most answers in the brown-out come too late.
- With retries, each call that fails becomes {attempts} requests, too many for the healthy service.
  The overload does not end with its cause (a *metastable failure*; Bronson et al., HotOS 2021).
- The guards are `bulkhead >> circuit >> retry`. The [bulkhead](guards/limits.md) keeps the queue
  of the service short, the [circuit in Redis](guards/redis.md) counts the failures of both
  processes, and the [budget](guards/retry.md#limit-retries-with-a-budget) limits retries to a tenth
  of the calls.
- The fixed limit is 25 calls in each process; `adaptive(5, 100, start=25)` finds it.
"""  # noqa: E501 -- tables and images in Markdown cannot be wrapped


def page(runs: list[Run]) -> str:
    """Return the page in Markdown."""
    plan = runs[0].plan
    return _PAGE.format(
        clients=plan.clients,
        processes=plan.processes,
        rate=plan.rate,
        slots=plan.slots,
        service_time=plan.service_time,
        capacity=plan.slots / plan.service_time,
        slow_from=plan.slow_from,
        slow_until=plan.slow_until,
        slow_time=plan.slow_time,
        slow_capacity=plan.slots / plan.slow_time,
        patience=plan.patience,
        attempts=plan.attempts,
        rows='\n'.join(map(_row, runs)),
    )


def _row(run: Run) -> str:
    plan = run.plan
    in_brownout = plan.slow_from, plan.slow_until
    after_it = plan.slow_until, plan.duration
    recovery = 'never' if run.recovery is None else f'{run.recovery} s'
    cells = [
        _TITLES[run.strategy],
        f'{run.answered_share(*in_brownout):.0%}'.replace('%', ' %'),
        f'{run.answered_share(*after_it):.0%}'.replace('%', ' %'),
        recovery,
        f'{run.load_multiple(*in_brownout):.2f}',
        f'{run.load_multiple(*after_it):.2f}',
    ]
    return f'| {" | ".join(cells)} |'


def write_picture(runs: list[Run], folder: Path) -> None:
    """Draw the calls, requests and answers of each second."""
    plan: Plan = runs[0].plan
    seconds = range(int(plan.duration))
    edges = range(int(plan.duration) + 1)

    def draw(axes: Axes, theme: Theme) -> None:
        for axis, run in zip(axes, runs, strict=True):
            requests = [run.requests[second] for second in seconds]
            answered = [run.answered[second] for second in seconds]
            calls = [run.calls[second] for second in seconds]
            axis.axvspan(plan.slow_from, plan.slow_until, color=theme.shade, lw=0)
            axis.stairs(
                requests, edges, fill=True, color=theme.load, label='requests to the service'
            )
            axis.stairs(answered, edges, fill=True, color=theme.accent, label='answered calls')
            axis.stairs(calls, edges, color=theme.text, label='calls')
            axis.set_title(_TITLES[run.strategy], loc='left')
            axis.grid(axis='y')
        axes[0].legend(loc='upper right')

    write_chart(
        folder,
        'brownout',
        draw,
        rows=len(runs),
        x_label='seconds; the service is slow in the shaded time',
        y_label='per second',
    )
