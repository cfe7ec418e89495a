"""The simulated outage shows what retries do to a service, in small as in large."""

from pathlib import Path

from benchmarks.outage import BEGINS, ENDS, OVER, POLICIES, main, page, simulate

ROOT = Path(__file__).parents[1]

CLIENTS = 50


def test_without_a_budget_an_outage_multiplies_the_load_and_with_one_it_does_not() -> None:
    plain, waves, spread, frugal = (simulate(policy, CLIENTS) for policy in POLICIES)
    assert plain.mean(BEGINS, ENDS) == CLIENTS
    assert waves.mean(BEGINS, ENDS) > 3 * CLIENTS
    assert spread.mean(BEGINS, ENDS) > 3 * CLIENTS
    assert frugal.mean(BEGINS, ENDS) <= 1.2 * CLIENTS
    # Whoever failed together comes back together, unless there is jitter.
    assert waves.peak(BEGINS, ENDS) == 4 * CLIENTS
    assert spread.peak(BEGINS, ENDS) < 2 * CLIENTS
    assert waves.mean(ENDS, ENDS + 5) > 2 * CLIENTS
    for load in (plain, waves, spread, frugal):
        assert load.mean(0, BEGINS) == CLIENTS
        assert load.mean(ENDS + 10, OVER) == CLIENTS


def test_the_same_seed_gives_the_same_outage() -> None:
    assert simulate(POLICIES[2], 10) == simulate(POLICIES[2], 10)
    assert simulate(POLICIES[2], 10) != simulate(POLICIES[2], 10, seed=2)


def test_the_page_and_its_picture_are_written(tmp_path: Path) -> None:
    main(tmp_path, clients=20)
    assert (tmp_path / 'outage.svg').read_text(encoding='utf-8').startswith('<?xml')
    assert '| no jitter, no budget |' in (tmp_path / 'outage.md').read_text(encoding='utf-8')


def test_the_page_in_the_documents_is_of_this_text() -> None:
    shown = (ROOT / 'docs' / 'outage.md').read_text(encoding='utf-8')
    made = page([simulate(policy, 10) for policy in POLICIES])
    words = [line for line in made.splitlines() if not line.startswith('| ')]
    assert words == [line for line in shown.splitlines() if not line.startswith('| ')]
