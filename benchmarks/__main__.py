"""The command: `python -m benchmarks` measures every job and writes the page."""

from pathlib import Path

import click

from benchmarks.jobs import JOBS
from benchmarks.measure import measure
from benchmarks.report import page, table

_PAGE = Path(__file__).parents[1] / 'docs' / 'performance.md'


@click.command()
@click.argument('jobs', nargs=-1, type=click.Choice(list(JOBS)))
@click.option(
    '--to',
    type=click.Path(dir_okay=False, path_type=Path),
    default=_PAGE,
    help='The page to write [default: docs/performance.md].',
)
def main(*, jobs: tuple[str, ...], to: Path) -> None:
    """Measure every job beside its peers and write the page; with JOBS, measure these and show their table.

    Example: python -m benchmarks building binding
    """
    comparisons = [comparison for name in jobs or JOBS for comparison in JOBS[name]]
    click.echo(f'{len(comparisons)} comparisons, some 2 seconds each.', err=True)
    measurements = measure(comparisons)
    if jobs:
        click.echo(table(measurements))
        return
    to.write_text(page(measurements), encoding='utf-8')


if __name__ == '__main__':
    main(prog_name='python -m benchmarks')
