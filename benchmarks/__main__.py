"""Run all benchmarks and write docs/performance.md: `python -m benchmarks`."""

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
    help='The page to write.  [default: docs/performance.md]',
)
def main(*, jobs: tuple[str, ...], to: Path) -> None:
    """Measure all jobs and write the page, or measure JOBS and print their table.

    Example: python -m benchmarks building binding
    """
    comparisons = [comparison for name in jobs or JOBS for comparison in JOBS[name]]
    click.echo(f'{len(comparisons)} comparisons, about 2 seconds each.', err=True)
    measurements = measure(comparisons)
    if jobs:
        click.echo(table(measurements))
        return
    to.write_text(page(measurements), encoding='utf-8')


if __name__ == '__main__':
    main(prog_name='python -m benchmarks')
