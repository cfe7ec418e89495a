"""Simulation of an outage: load under the retry policies, and the written page."""

from pathlib import Path

from benchmarks.outage import DURATION, OUTAGE_END, OUTAGE_START, POLICIES, main, page, simulate
from tools.themes import THEMES

ROOT = Path(__file__).parents[1]

CLIENTS = 50


def test_outage_multiplies_the_load_only_without_a_budget() -> None:
    baseline, no_jitter, jitter, budget = (simulate(policy, CLIENTS) for policy in POLICIES)
    assert baseline.mean(OUTAGE_START, OUTAGE_END) == CLIENTS
    assert no_jitter.mean(OUTAGE_START, OUTAGE_END) > 3 * CLIENTS
    assert jitter.mean(OUTAGE_START, OUTAGE_END) > 3 * CLIENTS
    assert budget.mean(OUTAGE_START, OUTAGE_END) <= 1.2 * CLIENTS
    # Requests that failed together are retried together, unless there is jitter.
    assert no_jitter.peak(OUTAGE_START, OUTAGE_END) == 4 * CLIENTS
    assert jitter.peak(OUTAGE_START, OUTAGE_END) < 2 * CLIENTS
    assert no_jitter.mean(OUTAGE_END, OUTAGE_END + 5) > 2 * CLIENTS
    for load in (baseline, no_jitter, jitter, budget):
        assert load.mean(0, OUTAGE_START) == CLIENTS
        assert load.mean(OUTAGE_END + 10, DURATION) == CLIENTS


def test_same_seed_has_the_same_result() -> None:
    assert simulate(POLICIES[2], 10) == simulate(POLICIES[2], 10)
    assert simulate(POLICIES[2], 10) != simulate(POLICIES[2], 10, seed=2)


def assert_has_themes(folder: Path, name: str) -> None:
    """Check that a chart has a file for light and one for dark pages, in their colors."""
    assert {path.name for path in folder.iterdir()} == {f'{name}-{theme}.svg' for theme in THEMES}
    for theme, colors in THEMES.items():
        content = (folder / f'{name}-{theme}.svg').read_text(encoding='utf-8')
        assert content.startswith('<?xml')
        assert f'fill: {colors.card}' in content


def test_page_and_pictures_are_written(tmp_path: Path) -> None:
    main(tmp_path, clients=20)
    assert_has_themes(tmp_path / 'pictures', 'outage')
    assert '| no jitter, no budget |' in (tmp_path / 'outage.md').read_text(encoding='utf-8')


def test_page_in_the_documentation_is_current() -> None:
    documented = (ROOT / 'docs' / 'outage.md').read_text(encoding='utf-8')
    built = page([simulate(policy, 10) for policy in POLICIES])
    text = [line for line in built.splitlines() if not line.startswith('| ')]
    assert text == [line for line in documented.splitlines() if not line.startswith('| ')]
