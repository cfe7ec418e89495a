"""The measurements as a page: what was measured on what, one table, and what is over its target and why."""

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

_PAGE = """\
# Performance

`python -m benchmarks` measures all of this and writes this page.

Both sides of a row run in the same process (an import in a fresh interpreter, with cached bytecode), in turns: a round is
a batch of at least 1 ms of each, without garbage collection. The rows take turns too, in ten passes, so that a slow minute
of a shared machine is no single row's. A time is the median of one call over all rounds, 10 ns of the loop included; the
ratio is the median of the ratios of the rounds, rounded up. From run to run a ratio moves by some 5 %, so that a row as
close as that to its target may stand on either side of it; on another machine only ratios compare. A row without a target
is there to compare.

- Machine: {machine}
- Python: {python}
- Peers: {peers}

{table}

## Over the target

{over}
"""

_HEAD = ('job', 'peer', 'own median', 'peer median', 'ratio', 'target', 'met', 'rounds')


def page(measurements: Sequence[Measurement], /) -> str:
    """Give the whole page in Markdown."""
    return _PAGE.format(
        machine=f'{_processor()}, {os.cpu_count()} CPUs, {platform.system()}',
        python=f'{platform.python_implementation()} {platform.python_version()}',
        peers=', '.join(f'{name} {version(name)}' for name in _PEERS),
        table=table(measurements),
        over=_over(measurements),
    )


def table(measurements: Sequence[Measurement], /) -> str:
    """Give one row a comparison."""
    rows = [
        _HEAD,
        ('---', '---', '---:', '---:', '---:', '---:', '---', '---:'),
        *(_row(one) for one in measurements),
    ]
    return '\n'.join(f'| {" | ".join(row)} |' for row in rows)


def _over(measurements: Sequence[Measurement]) -> str:
    sentences = [
        f'- {one.comparison.job} / {one.comparison.peer}: {_ratio(one)} where {one.comparison.target:g} is the target, because '
        f'{one.comparison.because}.'
        for one in measurements
        if not one.is_met
    ]
    return '\n'.join(sentences) or 'Nothing.'


def _row(measured: Measurement) -> tuple[str, ...]:
    compared = measured.comparison
    target, met = (
        ('', '')
        if compared.target is None
        else (f'{compared.target:g}', 'yes' if measured.is_met else '**over**')
    )
    times = (_time(measured.ours_ns), _time(measured.peer_ns))
    return (
        compared.job,
        compared.peer,
        *times,
        _ratio(measured),
        target,
        met,
        str(measured.rounds),
    )


def _ratio(measured: Measurement) -> str:
    # Up, so that no ratio looks like its target and is over it.
    return f'{ceil(round(measured.ratio * 100, 6)) / 100:.2f}'


def _time(nanoseconds: float) -> str:
    amount = nanoseconds
    for unit in ('ns', 'µs', 'ms'):
        if amount < 999.5:  # what three digits can show
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
