"""The cache of a check: the answers are those of a check without it, whatever has happened to it in between."""

import fcntl
import os
from pathlib import Path

import pytest

from seamwise.check import code_base
from seamwise.check.checking import Report, run_check
from seamwise.check.code_base import facts_of
from seamwise.check.settings import CheckSettings
from seamwise.check.typed_ast.program import Module

CACHE = Path('.seamwise_cache')
CALLEE = """\
from seamwise import Category, Failure, Result, Success, TaggedError

class Missing(TaggedError, category=Category.NOT_FOUND, message='Gone.'): pass
class Busy(TaggedError, category=Category.CAPACITY, message='Later.'): pass

def find(name: str) -> Result[str, Missing]:
    return Success(name) if name else Failure(Missing())
"""
CALLER = 'from callee import find\n\ndef run() -> None:\n    find("x")\n'


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path('callee.py').write_text(CALLEE, encoding='utf-8')
    Path('caller.py').write_text(CALLER, encoding='utf-8')


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Note the names of the modules that are not taken from the cache."""
    names: list[str] = []

    def noting(module: Module) -> object:
        names.append(module.name)
        return facts_of(module)

    monkeypatch.setattr(code_base, 'facts_of', noting)
    return names


def said(report: Report) -> list[tuple[str, int, str, str]]:
    return [(one.path, one.line, one.code, one.message) for one in report.findings]


def checked(*paths: str) -> Report:
    """Check with the cache, and see that it says what a check without it says."""
    warm = run_check(paths or ['.'])
    cold = run_check(paths or ['.'], no_cache=True)
    assert said(warm) == said(cold)
    assert warm.problems == cold.problems
    assert warm.files == cold.files
    return warm


def test_what_has_not_changed_is_not_read_again(read: list[str]) -> None:
    first = run_check(['.'])
    assert sorted(read) == ['callee', 'caller']
    read.clear()
    assert said(run_check(['.'])) == said(first) != []
    assert read == []


def test_a_change_in_one_file_changes_what_is_found_in_another() -> None:
    assert 'Missing' in said(checked())[0][3]
    Path('callee.py').write_text(
        CALLEE.replace('Result[str, Missing]', 'Result[str, Missing | Busy]'), encoding='utf-8'
    )
    assert any(
        path == 'caller.py' and 'Missing | Busy' in message
        for path, _, _, message in said(checked())
    )
    Path('callee.py').write_text(CALLEE.replace('Result[str, Missing]', 'object'), encoding='utf-8')
    assert [path for path, *_ in said(checked())] == []


def test_a_change_that_no_other_file_can_see_leaves_the_others_alone(read: list[str]) -> None:
    run_check(['.'])
    read.clear()
    Path('callee.py').write_text(CALLEE.replace('else Failure', ' else  Failure'), encoding='utf-8')
    run_check(['.'])
    assert read == ['callee']


def test_files_come_and_go() -> None:
    Path('caller.py').write_text(f'import later\n{CALLER}later.find("x")\n', encoding='utf-8')
    assert [(one.path, one.line, one.is_unread) for one in checked().problems] == [
        ('caller.py', 1, False)
    ]
    Path('later.py').write_text(CALLEE, encoding='utf-8')
    assert ('caller.py', 6) in [one[:2] for one in said(checked())]
    Path('later.py').rename('sooner.py')
    assert len(checked().problems) == 1
    Path('callee.py').unlink()
    assert [one.line for one in checked().problems] == [1, 2]


def test_what_was_only_imported_before_is_read_when_it_is_asked_for(read: list[str]) -> None:
    Path('callee.py').write_text(f'{CALLEE}find("x")\n', encoding='utf-8')
    assert [path for path, *_ in said(run_check(['caller.py']))] == ['caller.py']
    assert [path for path, *_ in said(run_check(['callee.py']))] == ['callee.py']
    assert [path for path, *_ in said(run_check(['.']))] == ['callee.py', 'caller.py']
    assert set(read) == {'callee', 'caller'}


def test_what_was_imported_changed_and_asked_for_again_is_not_taken_for_what_it_was() -> None:
    checked()
    Path('callee.py').write_text(f'{CALLEE}find("x")\n', encoding='utf-8')
    checked('caller.py')
    assert len(said(checked())) == 2


def test_a_file_that_does_not_parse_for_a_while() -> None:
    checked()
    Path('callee.py').write_text('def (', encoding='utf-8')
    assert [one.path for one in checked().problems] == ['callee.py']
    Path('callee.py').write_text(CALLEE, encoding='utf-8')
    assert len(said(checked())) == 1


def test_other_options_of_mypy_count() -> None:
    Path('callee.py').write_text(CALLEE.replace('-> Result[str, Missing]', ' '), encoding='utf-8')
    assert said(checked()) == []
    Path('caller.py').write_text(
        'import sys\nfrom callee import *\nif sys.platform == "win32":\n    Failure(1)\n',
        encoding='utf-8',
    )
    assert said(checked()) == []
    Path('mypy.ini').write_text('[mypy]\nplatform = win32\n', encoding='utf-8')
    assert [one[1] for one in said(checked())] == [4]


def test_a_plugin_that_changes_counts() -> None:
    plugin = (
        'from mypy.plugin import Plugin\ndef plugin(version: str) -> type[Plugin]: return Plugin\n'
    )
    Path('plug.py').write_text(plugin, encoding='utf-8')
    Path('mypy.ini').write_text('[mypy]\nplugins = plug.py\nexclude = plug\n', encoding='utf-8')
    first = said(checked())
    Path('plug.py').write_text(f'{plugin}# changed\n', encoding='utf-8')
    assert said(checked()) == first


@pytest.mark.parametrize('damage', ['cut', 'foreign', 'empty', 'gone', 'folder'])
@pytest.mark.parametrize('pattern', ['build-0/facts', 'build-0/mypy/*/*.db', 'build-0', 'lock'])
def test_a_damaged_cache_misleads_nobody(pattern: str, damage: str) -> None:
    first = said(run_check(['.']))
    for path in CACHE.glob(pattern):
        if path.is_dir():
            for file in path.rglob('*'):
                if file.is_file():
                    _damage(file, damage)
        else:
            _damage(path, damage)
    assert said(run_check(['.'])) == first
    assert said(run_check(['.'])) == first


def _damage(path: Path, how: str) -> None:
    written = path.read_bytes()
    path.unlink()
    match how:
        case 'cut':
            path.write_bytes(written[: len(written) // 2])
        case 'foreign':
            path.write_bytes(b'\x93' + os.urandom(1000))
        case 'empty':
            path.write_bytes(b'')
        case 'folder':
            path.mkdir()
        case _:
            pass


def test_one_that_ended_in_between_misleads_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    first = said(run_check(['.']))
    Path('callee.py').write_text(
        CALLEE.replace('Result[str, Missing]', 'Result[str, Missing | Busy]'), encoding='utf-8'
    )

    def ended(module: Module) -> object:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(code_base, 'facts_of', ended)
        with pytest.raises(KeyboardInterrupt):
            run_check(['.'])
    assert said(checked()) != first


def test_a_cache_that_another_process_has_is_left_alone(read: list[str]) -> None:
    first = said(run_check(['.']))
    with (CACHE / 'lock').open('w') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        read.clear()
        assert said(run_check(['.'])) == first
        assert sorted(read) == ['callee', 'caller']
    read.clear()
    assert said(run_check(['.'])) == first
    assert read == []


def test_where_nothing_can_be_written_nothing_is_kept() -> None:
    Path('file').write_text('', encoding='utf-8')
    assert (
        len(said(run_check(['callee.py', 'caller.py'], CheckSettings(cache_dir='file/cache')))) == 1
    )
    assert (
        len(said(run_check(['callee.py', 'caller.py'], CheckSettings(cache_dir=os.devnull)))) == 1
    )
    assert not CACHE.exists()


def test_the_folder_is_none_of_git_and_of_backups() -> None:
    run_check(['.'])
    assert (CACHE / '.gitignore').read_text(encoding='utf-8').endswith('*\n')
    assert (
        (CACHE / 'CACHEDIR.TAG')
        .read_text(encoding='utf-8')
        .startswith('Signature: 8a477f597d28d172789f06886806bc55\n')
    )
