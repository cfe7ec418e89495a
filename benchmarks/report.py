"""The page of measurements: machine, table, and the reasons for missed targets."""

import os
import platform
from collections.abc import Sequence
from importlib.metadata import version
from math import ceil
from pathlib import Path

from benchmarks.measure import Measurement

_CPUINFO = Path('/proc/cpuinfo')
_PEERS = (
    'returns',
    'msgspec',
    'result',
    'chuk-tool-processor',
    'pydantic',
    'fastapi',
    'tenacity',
    'stamina',
    'pybreaker',
    'purgatory',
    'aiolimiter',
    'limits',
)

_ENVELOPE = 'a success of FastAPI, through `install`, in the envelope'
_FRAMES = 'fail through 5 frames, handled by the two-level match, `case Failure` first'
_STEPS = '`@fallible`, 5 steps, all succeed, constant results'
SUMMARY = {
    (_FRAMES, 'raise through 5 frames and `except`'): (
        'return a failure through five functions, and match it',
        'raise an exception and catch it',
    ),
    (_STEPS, 'plain calls with plain values'): ('five steps with `@fallible`', 'five plain calls'),
    (_ENVELOPE, 'a FastAPI handler that returns the value alone'): (
        'a successful request to FastAPI, through `install`',
        'FastAPI without an envelope',
    ),
    (
        'a failing request to FastAPI, through `install`',
        "FastAPI's exception handler, the same body as a dict",
    ): ('a failing request to FastAPI, through `install`', 'an exception handler of FastAPI'),
    ('retry, success', 'stamina'): ('`retry` around a call that succeeds', 'stamina'),
    ('circuit, closed, success', 'pybreaker'): ('a closed `circuit` around a call', 'pybreaker'),
    ('deadline, in time', 'asyncio.timeout'): (
        '`deadline` around a call that ends in time',
        '`asyncio.timeout`',
    ),
    ('`import seamwise`, each in a new interpreter', '`import returns.result, msgspec`'): (
        '`import seamwise`',
        '`import returns.result, msgspec`',
    ),
}
"""Short names of the comparisons at the top of the page."""

_PAGE = """\
# Performance

The costs that most programs have, beside those of the same work without Seamwise:

{summary}

The time of a request to FastAPI includes all of FastAPI, but no network. `install` adds the
difference of the two times to each request: for a middleware that answers defects, and for the
envelope around the JSON. Compare ratios only, not times, with other machines.

## All measurements

{table}

A row without a target is there for comparison.

- Machine: {machine}
- Python: {python}
- Peers: {peers}

## Missed targets

{over}

## Method

`python -m benchmarks` measures all of this and writes this page.

Both sides of a row run in the same process and take turns. (An import runs in a new interpreter,
with cached bytecode.) A round is a batch of at least 1 ms of each side, without garbage
collection. The rows take turns too, in ten passes, so that a slow minute of a shared machine
affects all of them. A time is the median duration of one call, including 10 ns of the loop.

The ratio is the median of the ratios of all rounds, rounded up; it is not the quotient of the two
medians. A change of speed of the machine affects both sides of a round, and so hardly their ratio.
But if the machine is fast in half of the rounds, the median of one side can be a fast round and
that of the other a slow one. The ratio varies by about 5 % from run to run, so a row that is this
close to its target can be on either side of it.
"""

_HEAD = ('job', 'peer', 'own median', 'peer median', 'ratio', 'target', 'met', 'rounds')


def page(measurements: Sequence[Measurement], /) -> str:
    """Return the page as Markdown."""
    return _PAGE.format(
        machine=f'{_processor()}, {os.cpu_count()} CPUs, {platform.system()}',
        python=f'{platform.python_implementation()} {platform.python_version()}',
        peers=', '.join(f'{name} {version(name)}' for name in _PEERS),
        summary=_summary(measurements),
        table=table(measurements),
        over=_over(measurements),
    )


def table(measurements: Sequence[Measurement], /) -> str:
    """Return a table with one row per comparison."""
    rows = [
        _HEAD,
        ('---', '---', '---:', '---:', '---:', '---:', '---', '---:'),
        *(_row(item) for item in measurements),
    ]
    return '\n'.join(f'| {" | ".join(row)} |' for row in rows)


def _summary(measurements: Sequence[Measurement]) -> str:
    rows = [
        '| task | time | compared with | its time | ratio |',
        '| --- | ---: | --- | ---: | ---: |',
    ]
    for item in measurements:
        names = SUMMARY.get((item.comparison.job, item.comparison.peer))
        if names is not None:
            task, peer = names
            ours, theirs = _time(item.ours_ns), _time(item.peer_ns)
            rows.append(f'| {task} | {ours} | {peer} | {theirs} | {_ratio(item)} |')
    return '\n'.join(rows)


def _over(measurements: Sequence[Measurement]) -> str:
    sentences = [
        f'- {item.comparison.job} / {item.comparison.peer}: {_ratio(item)} instead of '
        f'{item.comparison.target:g}, because {item.comparison.because}.'
        for item in measurements
        if not item.is_met
    ]
    return '\n'.join(sentences) or 'None.'


def _row(measurement: Measurement) -> tuple[str, ...]:
    comparison = measurement.comparison
    target, met = (
        ('', '')
        if comparison.target is None
        else (f'{comparison.target:g}', 'yes' if measurement.is_met else '**over**')
    )
    times = (_time(measurement.ours_ns), _time(measurement.peer_ns))
    return (
        comparison.job,
        comparison.peer,
        *times,
        _ratio(measurement),
        target,
        met,
        str(measurement.rounds),
    )


def _ratio(measurement: Measurement) -> str:
    # Rounded up, so that a ratio over its target never looks equal to it.
    return f'{ceil(round(measurement.ratio * 100, 6)) / 100:.2f}'


def _time(nanoseconds: float) -> str:
    amount = nanoseconds
    for unit in ('ns', 'µs', 'ms'):
        if amount < 999.5:  # three digits
            return f'{_digits(amount)} {unit}'
        amount /= 1000
    return f'{_digits(amount)} s'


def _digits(amount: float) -> str:
    return f'{amount:#.3g}'.rstrip('.')


def _processor() -> str:
    if _CPUINFO.exists():
        for line in _CPUINFO.read_text(encoding='utf-8').splitlines():
            if line.startswith('model name'):
                return line.partition(':')[2].strip()
    return platform.processor() or platform.machine()
