"""Tests of the simulated outage and its page."""

from pathlib import Path

from benchmarks.outage import BEGINS, ENDS, OVER, POLICIES, main, page, simulate

ROOT = Path(__file__).parents[1]

CLIENTS = 50


def test_retries_multiply_the_load_of_an_outage_only_without_a_budget() -> None:
    plain, waves, spread, frugal = (simulate(policy, CLIENTS) for policy in POLICIES)
    assert plain.mean(BEGINS, ENDS) == CLIENTS
    assert waves.mean(BEGINS, ENDS) > 3 * CLIENTS
    assert spread.mean(BEGINS, ENDS) > 3 * CLIENTS
    assert frugal.mean(BEGINS, ENDS) <= 1.2 * CLIENTS
    # Clients that failed together retry together, unless there is jitter.
    assert waves.peak(BEGINS, ENDS) == 4 * CLIENTS
    assert spread.peak(BEGINS, ENDS) < 2 * CLIENTS
    assert waves.mean(ENDS, ENDS + 5) > 2 * CLIENTS
    for load in (plain, waves, spread, frugal):
        assert load.mean(0, BEGINS) == CLIENTS
        assert load.mean(ENDS + 10, OVER) == CLIENTS


def test_the_simulation_is_reproducible_with_the_same_seed() -> None:
    assert simulate(POLICIES[2], 10) == simulate(POLICIES[2], 10)
    assert simulate(POLICIES[2], 10) != simulate(POLICIES[2], 10, seed=2)


def test_main_writes_the_page_and_its_picture(tmp_path: Path) -> None:
    main(tmp_path, clients=20)
    assert (tmp_path / 'outage.svg').read_text(encoding='utf-8').startswith('<?xml')
    assert '| no jitter, no budget |' in (tmp_path / 'outage.md').read_text(encoding='utf-8')


def test_the_page_in_the_documentation_has_the_current_text() -> None:
    stored = (ROOT / 'docs' / 'outage.md').read_text(encoding='utf-8')
    rendered = page([simulate(policy, 10) for policy in POLICIES])
    words = [line for line in rendered.splitlines() if not line.startswith('| ')]
    assert words == [line for line in stored.splitlines() if not line.startswith('| ')]
