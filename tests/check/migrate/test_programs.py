"""Programs that are migrated do the same as before."""

from pathlib import Path

import pytest

from seamwise.check.migrate.migration import Selection, plan_migration
from seamwise.check.migrate.writing import write_all
from tests.check.migrate.generator import Generator
from tests.check.migrate.migrating import migrate, run, write_package

# Each test runs mypy several times.
pytestmark = pytest.mark.slow

PROGRAMS = {
    path.stem: path.read_text(encoding='utf-8')
    for path in sorted((Path(__file__).parent / 'programs').glob('*.py'))
}
LEFT_ALONE = {
    'Kept': 'has a class body that is not only fields and a message',
    'Box.__init__': 'is a special method',
    'Box.check': 'is perhaps called through a value without a type',
    'Box.last': 'is a property',
    'Shape.area': 'is overridden in a subclass',
    'transaction': 'has a decorator that may handle exceptions',
    'saved': 'whose manager handles exceptions',
    'slow': 'returns a coroutine',
    'passed': 'is used as a value',
    'swallowed': 'leaves a `finally`',
    'later': 'returns an awaitable',
    'test_roll': 'is a test',
    'warns': 'looks at the frames of its callers',
    'shown': 'has overloads',
}


def test_programs_have_the_same_output_and_a_second_run_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / 'programs'
    write_package(folder, PROGRAMS)
    before = {name: run(folder, name) for name in PROGRAMS}
    migration = migrate(folder)
    assert len(migration.functions) >= 34
    assert {name: run(folder, name) for name in PROGRAMS} == before
    assert not migrate(folder).contents
    for comment in ('# try', '# inside', '# call', '# before the handler', '# in the handler'):
        assert comment in (folder / 'handlers.py').read_text()


def test_code_that_is_left_alone_is_named_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / 'programs'
    write_package(folder, {'more': PROGRAMS['more']})
    migration = migrate(folder)
    lines = (PROGRAMS['more']).splitlines()
    reasons = {item.name: item.reason for item in migration.not_migrated}
    assert reasons.keys() == LEFT_ALONE.keys()
    for name, reason in LEFT_ALONE.items():
        assert reason in reasons[name]
    for item in migration.not_migrated:
        assert item.path == str(Path('programs', 'more.py'))
        assert item.advice
        if item.name != 'Kept':
            assert f'def {item.name.rpartition(".")[2]}(' in lines[item.line - 1]


def random_programs(first: int, parent: Path) -> tuple[Path, dict[str, tuple[int, str]]]:
    """Write six programs, and return their folder and the output of each."""
    sources = {f'program{seed}': Generator(seed).source() for seed in range(first, first + 6)}
    folder = parent / 'random_programs'
    write_package(folder, sources)
    return folder, {name: run(folder, name) for name in sources}


# Errors left two functions of the programs 305 and 481 as exceptions.
@pytest.mark.parametrize(
    'first',
    [0, pytest.param(303, marks=pytest.mark.nightly), pytest.param(478, marks=pytest.mark.nightly)],
)
def test_random_programs_have_the_same_output(
    first: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    folder, before = random_programs(first, tmp_path)
    migration = migrate(folder)
    assert len(migration.functions) >= 20
    assert {name: run(folder, name) for name in before} == before


@pytest.mark.parametrize('first', [0, pytest.param(478, marks=pytest.mark.nightly)])
def test_random_programs_with_kept_exceptions_have_the_same_output(
    first: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    folder, before = random_programs(first, tmp_path)
    selection = Selection(keep=frozenset({'public'}))
    migration = plan_migration([folder.name], selection=selection).unwrap()
    write_all(migration.contents).unwrap()
    assert len(migration.functions) >= 20
    assert {name: run(folder, name) for name in before} == before
