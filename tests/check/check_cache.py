"""Tests of `cache`: a check with the cache has the same result as one without it."""

import fcntl
import os
from pathlib import Path

import pytest

from seamwise.check.checking import Report, run_check
from seamwise.check.collection import code_base
from seamwise.check.collection.code_base import facts_of
from seamwise.check.settings import CheckSettings
from seamwise.check.typed_ast.program import Module

pytestmark = pytest.mark.slow

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
def _in_temporary_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path('callee.py').write_text(CALLEE, encoding='utf-8')
    Path('caller.py').write_text(CALLER, encoding='utf-8')


@pytest.fixture
def analysed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Record the names of the modules that are analysed, not taken from the cache."""
    names: list[str] = []

    def record(module: Module) -> object:
        names.append(module.name)
        return facts_of(module)

    monkeypatch.setattr(code_base, 'facts_of', record)
    return names


def summaries(report: Report) -> list[tuple[str, int, str, str]]:
    return [
        (finding.path, finding.line, finding.code, finding.message) for finding in report.findings
    ]


def check_twice(*paths: str) -> Report:
    """Check with the cache, and assert that a check without it has the same result."""
    warm = run_check(paths or ['.'])
    cold = run_check(paths or ['.'], no_cache=True)
    assert summaries(warm) == summaries(cold)
    assert warm.problems == cold.problems
    assert warm.files == cold.files
    return warm


@pytest.mark.usefixtures('warm_cache')
def test_unchanged_files_are_not_analysed_again(analysed: list[str]) -> None:
    first = run_check(['.'])
    assert sorted(analysed) == ['callee', 'caller']
    analysed.clear()
    assert summaries(run_check(['.'])) == summaries(first) != []
    assert analysed == []


@pytest.mark.usefixtures('warm_cache')
def test_change_of_a_file_updates_findings_in_another() -> None:
    assert 'Missing' in summaries(check_twice())[0][3]
    Path('callee.py').write_text(
        CALLEE.replace('Result[str, Missing]', 'Result[str, Missing | Busy]'), encoding='utf-8'
    )
    assert any(
        path == 'caller.py' and 'Missing | Busy' in message
        for path, _, _, message in summaries(check_twice())
    )
    Path('callee.py').write_text(CALLEE.replace('Result[str, Missing]', 'object'), encoding='utf-8')
    assert [path for path, *_ in summaries(check_twice())] == []


@pytest.mark.usefixtures('warm_cache')
def test_change_without_effect_on_the_interface_affects_only_its_file(analysed: list[str]) -> None:
    run_check(['.'])
    analysed.clear()
    Path('callee.py').write_text(CALLEE.replace('else Failure', ' else  Failure'), encoding='utf-8')
    run_check(['.'])
    assert analysed == ['callee']


@pytest.mark.usefixtures('warm_cache')
def test_added_renamed_and_deleted_files_are_noticed() -> None:
    Path('caller.py').write_text(f'import later\n{CALLER}later.find("x")\n', encoding='utf-8')
    assert [
        (problem.path, problem.line, problem.is_unread) for problem in check_twice().problems
    ] == [('caller.py', 1, False)]
    Path('later.py').write_text(CALLEE, encoding='utf-8')
    assert ('caller.py', 6) in [summary[:2] for summary in summaries(check_twice())]
    Path('later.py').rename('sooner.py')
    assert len(check_twice().problems) == 1
    Path('callee.py').unlink()
    assert [problem.line for problem in check_twice().problems] == [1, 2]


@pytest.mark.usefixtures('warm_cache')
def test_file_that_was_only_imported_is_analysed_when_requested(analysed: list[str]) -> None:
    Path('callee.py').write_text(f'{CALLEE}find("x")\n', encoding='utf-8')
    assert [path for path, *_ in summaries(run_check(['caller.py']))] == ['caller.py']
    assert [path for path, *_ in summaries(run_check(['callee.py']))] == ['callee.py']
    assert [path for path, *_ in summaries(run_check(['.']))] == ['callee.py', 'caller.py']
    assert set(analysed) == {'callee', 'caller'}


@pytest.mark.usefixtures('warm_cache')
def test_file_that_changed_while_it_was_only_imported_is_analysed_again() -> None:
    check_twice()
    Path('callee.py').write_text(f'{CALLEE}find("x")\n', encoding='utf-8')
    check_twice('caller.py')
    assert len(summaries(check_twice())) == 2


@pytest.mark.usefixtures('warm_cache')
def test_file_that_temporarily_does_not_parse_is_analysed_again() -> None:
    check_twice()
    Path('callee.py').write_text('def (', encoding='utf-8')
    assert [problem.path for problem in check_twice().problems] == ['callee.py']
    Path('callee.py').write_text(CALLEE, encoding='utf-8')
    assert len(summaries(check_twice())) == 1


def test_changed_mypy_options_invalidate_the_cache() -> None:
    Path('callee.py').write_text(CALLEE.replace('-> Result[str, Missing]', ' '), encoding='utf-8')
    assert summaries(check_twice()) == []
    Path('caller.py').write_text(
        'import sys\nfrom callee import *\nif sys.platform == "win32":\n    Failure(1)\n',
        encoding='utf-8',
    )
    assert summaries(check_twice()) == []
    Path('mypy.ini').write_text('[mypy]\nplatform = win32\n', encoding='utf-8')
    assert [summary[1] for summary in summaries(check_twice())] == [4]


def test_changed_mypy_plugin_invalidates_the_cache() -> None:
    plugin = (
        'from mypy.plugin import Plugin\ndef plugin(version: str) -> type[Plugin]: return Plugin\n'
    )
    Path('plug.py').write_text(plugin, encoding='utf-8')
    Path('mypy.ini').write_text('[mypy]\nplugins = plug.py\nexclude = plug\n', encoding='utf-8')
    first = summaries(check_twice())
    Path('plug.py').write_text(f'{plugin}# changed\n', encoding='utf-8')
    assert summaries(check_twice()) == first


@pytest.mark.usefixtures('warm_cache')
@pytest.mark.parametrize(
    'damage',
    [
        'cut',
        'gone',
        *(pytest.param(name, marks=pytest.mark.nightly) for name in ('foreign', 'empty', 'folder')),
    ],
)
@pytest.mark.parametrize('pattern', ['build-0/facts', 'build-0/mypy/*/*.db', 'build-0', 'lock'])
def test_damaged_cache_does_not_change_the_result(pattern: str, damage: str) -> None:
    first = summaries(run_check(['.']))
    for path in CACHE.glob(pattern):
        if path.is_dir():
            for file in path.rglob('*'):
                if file.is_file():
                    _damage(file, damage)
        else:
            _damage(path, damage)
    assert summaries(run_check(['.'])) == first
    assert summaries(run_check(['.'])) == first


def _damage(path: Path, damage: str) -> None:
    content = path.read_bytes()
    path.unlink()
    match damage:
        case 'cut':
            path.write_bytes(content[: len(content) // 2])
        case 'foreign':
            path.write_bytes(b'\x93' + os.urandom(1000))
        case 'empty':
            path.write_bytes(b'')
        case 'folder':
            path.mkdir()
        case _:
            pass


@pytest.mark.usefixtures('warm_cache')
def test_interrupted_check_does_not_change_the_result(monkeypatch: pytest.MonkeyPatch) -> None:
    first = summaries(run_check(['.']))
    Path('callee.py').write_text(
        CALLEE.replace('Result[str, Missing]', 'Result[str, Missing | Busy]'), encoding='utf-8'
    )

    def interrupt(module: Module) -> object:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(code_base, 'facts_of', interrupt)
        with pytest.raises(KeyboardInterrupt):
            run_check(['.'])
    assert summaries(check_twice()) != first


@pytest.mark.usefixtures('warm_cache')
def test_cache_in_use_by_another_process_is_not_used(analysed: list[str]) -> None:
    first = summaries(run_check(['.']))
    with (CACHE / 'lock').open('w') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        analysed.clear()
        assert summaries(run_check(['.'])) == first
        assert sorted(analysed) == ['callee', 'caller']
    analysed.clear()
    assert summaries(run_check(['.'])) == first
    assert analysed == []


def test_check_without_a_writable_cache_creates_no_files() -> None:
    Path('file').write_text('', encoding='utf-8')
    assert (
        len(summaries(run_check(['callee.py', 'caller.py'], CheckSettings(cache_dir='file/cache'))))
        == 1
    )
    assert (
        len(summaries(run_check(['callee.py', 'caller.py'], CheckSettings(cache_dir=os.devnull))))
        == 1
    )
    assert not CACHE.exists()


def test_cache_folder_is_excluded_from_git_and_backups() -> None:
    run_check(['.'])
    assert (CACHE / '.gitignore').read_text(encoding='utf-8').endswith('*\n')
    assert (
        (CACHE / 'CACHEDIR.TAG')
        .read_text(encoding='utf-8')
        .startswith('Signature: 8a477f597d28d172789f06886806bc55\n')
    )
