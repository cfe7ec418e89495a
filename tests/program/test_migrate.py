"""`seamwise migrate`: input that is not good, and writing of all files or none."""

import os
import signal
import subprocess
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner, Result

from seamwise.program.cli import seamwise
from seamwise.program.migrate import Progress

# The tests run mypy.
pytestmark = pytest.mark.slow

ERRORS = 'class Wet(Exception):\n    pass\n'
WALK = (
    'from shop.errors import Wet\n\n\n'
    'def walk(day: int) -> int:\n    if day:\n        raise Wet("rain")\n    return day\n'
)


def git(*arguments: str) -> str:
    return subprocess.run(
        ['git', '-c', 'user.name=a', '-c', 'user.email=a@example.org', *arguments],
        capture_output=True,
        text=True,
        check=True,
    ).stdout


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Create a repository with a package of two modules, and go there."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / 'shop'
    folder.mkdir()
    (folder / '__init__.py').touch()
    (folder / 'errors.py').write_text(ERRORS)
    (folder / 'walk.py').write_text(WALK)
    (tmp_path / '.gitignore').write_text('.mypy_cache/\n.seamwise_cache/\n')
    git('init', '-q')
    commit()
    return folder


def commit() -> None:
    git('add', '-A')
    git('commit', '-qm', 'state')


def migrate(*arguments: str) -> Result:
    return CliRunner().invoke(seamwise, ['migrate', *arguments])


def contents(folder: Path) -> Mapping[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def test_a_patch_gives_what_the_command_writes(shop: Path) -> None:
    before = contents(shop)
    patch = migrate('shop', '--all', '--diff')
    assert patch.exit_code == 0
    assert contents(shop) == before
    subprocess.run(['git', 'apply'], input=patch.stdout_bytes, check=True)
    patched = contents(shop)
    git('checkout', '-q', '.')
    assert migrate('shop', '--all').exit_code == 0
    assert contents(shop) == patched
    assert contents(shop) != before


@pytest.mark.parametrize('is_staged', [False, True])
def test_uncommitted_changes_need_force(shop: Path, is_staged: bool) -> None:
    changed = WALK + '\n\nx = 1  # changed\n'
    (shop / 'walk.py').write_text(changed)
    if is_staged:
        git('add', '-A')
    before = contents(shop)
    refused = migrate('shop', '--all')
    assert refused.exit_code == 1
    assert '--force' in refused.stderr
    assert contents(shop) == before
    assert migrate('shop', '--all', '--force').exit_code == 0
    assert (shop / 'walk.py').read_text().endswith('\n\nx = 1  # changed\n')
    assert 'Failure(' in (shop / 'walk.py').read_text()


def test_a_file_that_does_not_parse_is_named_and_nothing_is_written(shop: Path) -> None:
    (shop / 'broken.py').write_text('x = 1\ndef f(:\n')
    commit()
    before = contents(shop)
    result = migrate('shop', '--all')
    assert result.exit_code == 2
    assert 'shop/broken.py:2' in result.stderr
    assert 'Traceback' not in result.output
    assert contents(shop) == before


def test_a_wrong_configuration_of_mypy_is_a_message(shop: Path) -> None:
    (shop.parent / 'mypy.ini').write_text('[mypy\npython_version = 3.11\n')
    commit()
    before = contents(shop)
    result = migrate('shop', '--all')
    assert result.exit_code == 2
    assert 'mypy.ini' in result.stderr
    assert 'Traceback' not in result.output
    assert contents(shop) == before


def test_two_modules_of_one_name_are_a_message(shop: Path) -> None:
    for name in ('one', 'two'):
        (shop.parent / name).mkdir()
        (shop.parent / name / 'job.py').write_text('class Late(Exception):\n    pass\n')
    commit()
    before = contents(shop)
    result = migrate('.', '--all')
    assert result.exit_code == 2
    assert 'job' in result.stderr
    assert 'Traceback' not in result.output
    assert contents(shop) == before


def test_an_unknown_function_is_named(shop: Path) -> None:
    before = contents(shop)
    result = migrate('shop', '--function', 'shop.walk.run')
    assert result.exit_code == 2
    assert "'shop.walk.run'" in result.stderr
    assert contents(shop) == before


def test_one_function_or_one_step_is_converted(shop: Path) -> None:
    (shop / 'ride.py').write_text(
        'class Flat(Exception):\n    pass\n\n\n'
        'def ride(day: int) -> int:\n    if day:\n        raise Flat\n    return day\n'
    )
    commit()
    assert migrate('shop', '--function', 'shop.walk.walk').exit_code == 0
    assert 'Failure(' in (shop / 'walk.py').read_text()
    assert 'raise Flat' in (shop / 'ride.py').read_text()
    commit()
    assert migrate('shop', '--step', '1').exit_code == 0
    assert 'Failure(Flat())' in (shop / 'ride.py').read_text()
    commit()
    assert migrate('shop', '--step', '9').exit_code == 2


def test_callers_in_other_files_prevent_the_migration(shop: Path) -> None:
    (shop.parent / 'script.py').write_text('from shop.walk import walk\n\nprint(walk(0))\n')
    commit()
    before = contents(shop)
    result = migrate('shop', '--all')
    assert result.exit_code == 1
    assert 'script.py:1: `walk` is used here' in result.stderr
    assert contents(shop) == before
    assert '--keep' in result.stderr
    assert migrate('shop', 'script.py', '--all').exit_code == 0
    assert 'or_raise(walk(0))' in (shop.parent / 'script.py').read_text()


def test_callers_by_a_star_import_prevent_the_migration_without_keep(shop: Path) -> None:
    (shop.parent / 'script.py').write_text('from shop.walk import *\n\nprint(walk(0))\n')
    commit()
    before = contents(shop)
    result = migrate('shop', '--all')
    assert result.exit_code == 1
    assert 'script.py:3: `walk` is used here' in result.stderr
    assert contents(shop) == before
    assert migrate('shop', '--all', '--keep', 'public', '--suffix', '_safely').exit_code == 0
    assert 'match walk_safely(day):' in (shop / 'walk.py').read_text()
    assert 'raise error.exception()' in (shop / 'walk.py').read_text()


@pytest.mark.parametrize('suffix', ['', '-x', ' '])
def test_a_suffix_that_is_no_part_of_a_name_is_an_error(shop: Path, suffix: str) -> None:
    before = contents(shop)
    result = migrate('shop', '--all', '--keep', 'public', '--suffix', suffix)
    assert result.exit_code == 2
    assert f'--suffix {suffix!r}' in result.stderr
    assert contents(shop) == before


def test_a_file_that_cannot_be_written_leaves_all_as_they_are(
    shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = contents(shop)
    replace = Path.replace

    def fail(path: Path, target: Path) -> Path:
        if target.name == 'walk.py':
            raise PermissionError(13, 'Permission denied')
        return replace(path, target)

    monkeypatch.setattr(Path, 'replace', fail)
    result = migrate('shop', '--all')
    assert result.exit_code == 1
    assert 'shop/walk.py: Permission denied. No file is changed.' in result.stderr
    assert contents(shop) == before


def test_a_read_only_file_is_named(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = contents(shop)

    def may_write(path: Path, _: int) -> bool:
        return path.name != 'walk.py'

    monkeypatch.setattr(os, 'access', may_write)
    result = migrate('shop', '--all')
    assert result.exit_code == 1
    assert 'cannot write shop/walk.py: the file is read-only' in result.stderr
    assert contents(shop) == before


def test_an_interrupt_while_files_are_renamed_comes_after_the_last_one(
    shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    replace = Path.replace

    def interrupt(path: Path, target: Path) -> Path:
        os.kill(os.getpid(), signal.SIGINT)
        return replace(path, target)

    monkeypatch.setattr(Path, 'replace', interrupt)
    result = migrate('shop', '--all')
    assert result.exit_code == 130
    assert 'TaggedError' in (shop / 'errors.py').read_text()
    assert 'Failure(' in (shop / 'walk.py').read_text()
    assert not [name for name in contents(shop) if name.startswith('.')]


def test_an_entry_point_keeps_its_returned_value(shop: Path) -> None:
    (shop.parent / 'pyproject.toml').write_text(
        '[project]\nname = "shop"\n\n[project.scripts]\nwalk = "shop.walk:walk"\n'
    )
    commit()
    result = migrate('shop', '--all')
    assert result.exit_code == 0
    assert 'shop/walk.py:4: `walk` is an entry point in pyproject.toml.' in result.stdout
    assert 'raise Raised(Wet("rain"))' in (shop / 'walk.py').read_text()


def test_exactly_one_selection_is_needed() -> None:
    assert migrate('shop').exit_code == 2
    assert migrate('shop', '--all', '--step', '1').exit_code == 2


def test_progress_without_a_terminal_is_a_line_every_few_seconds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    times = iter([0.0, 1.0, 5.0, 6.0, 9.9, 11.0])
    lines: list[str] = []
    clock = SimpleNamespace(monotonic=lambda: next(times))
    monkeypatch.setattr('seamwise.program.migrate.time', clock)
    monkeypatch.setattr('seamwise.program.migrate.write_stderr', lines.append)
    progress = Progress()
    for stage in ('one', 'two', 'three', 'four', 'five'):
        progress(stage)
    assert lines == ['two …', 'five …']
