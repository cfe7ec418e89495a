"""Simulate a brown-out and write docs/brownout.md: `python -m benchmarks.brownout`."""

from pathlib import Path

from benchmarks.brownout.clients import STRATEGIES
from benchmarks.brownout.plan import Plan
from benchmarks.brownout.report import page, write_picture
from benchmarks.brownout.simulation import redis_server, simulate


def main(folder: Path = Path('docs')) -> None:
    """Run the simulation with each strategy, and write the page and its pictures."""
    with redis_server() as port:
        runs = [simulate(strategy, Plan(), redis_port=port) for strategy in STRATEGIES]
    write_picture(runs, folder / 'pictures')
    (folder / 'brownout.md').write_text(page(runs), encoding='utf-8')


if __name__ == '__main__':
    main()
