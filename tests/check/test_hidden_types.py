"""Tests of configurations and comments that hide missing types, which a check reports."""

import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from seamwise.program.check import command

# Each test runs mypy.
pytestmark = [pytest.mark.slow, pytest.mark.usefixtures('warm_cache')]

MODULE = """\
from seamwise import Failure, Result, Success
def save(uid: int) -> Result[int, str]: return Success(1) if uid else Failure('')
save(1)
"""
MISSING = (
    'module.py:1: Cannot find implementation or library stub for module named "nowhere":'
    ' its values have no types, so no rule checks them.'
)


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / 'module.py'
    file.write_text(MODULE, encoding='utf-8')
    return file


def check(configuration: str = '', *arguments: str) -> Result:
    if configuration:
        Path('mypy.ini').write_text(configuration, encoding='utf-8')
    return CliRunner().invoke(command, ['module.py', *arguments])


@pytest.mark.nightly
@pytest.mark.parametrize(
    'configuration',
    [
        '[mypy]\nfollow_imports = skip\n',
        '[mypy-seamwise.*]\nfollow_imports = skip\n',
        '[mypy-returns.*]\nfollow_imports = error\n',
        '[mypy]\nno_site_packages = True\nignore_missing_imports = True\n',
        '[mypy]\nignore_errors = True\n',
        '[mypy-module]\nignore_errors = True\n',
        # mypy fails on an unknown code in a section, and knows the codes of plugins too late.
        '[mypy-module]\ndisable_error_code = unknown-code\nenable_error_code = unknown-code\n',
        '[mypy]\nplugins = pydantic.mypy\ndisable_error_code = pydantic-field\n',
        # Only the arguments decide which files are checked.
        '[mypy]\npackages = nowhere\n',
        '[mypy]\nfiles = nowhere\n',
    ],
)
def test_options_that_hide_types_are_overridden(module: Path, configuration: str) -> None:
    result = check(configuration)
    assert (result.exit_code, result.stderr) == (1, '')
    assert 'module.py:3:1: error[SW101]' in result.stdout


@pytest.mark.parametrize(
    'configuration',
    [
        '[mypy]\nignore_missing_imports = True\n',
        '[mypy]\n[mypy-nowhere.*]\nignore_missing_imports = True\n',
        '[mypy]\ndisable_error_code = import-not-found\n',
        '[mypy]\ndisable_error_code = import\n',
        '[mypy-module]\ndisable_error_code = import-not-found\n',
    ],
)
def test_missing_imports_are_reported_although_mypy_does_not(
    module: Path, configuration: str
) -> None:
    module.write_text('import nowhere\nnowhere.call()\n', encoding='utf-8')
    result = check(configuration)
    assert (result.exit_code, result.stderr) == (0, f'seamwise: {MISSING}\n')


def test_missing_module_is_reported_once(module: Path) -> None:
    module.write_text('import nowhere\nimport nowhere\nnowhere.call()\n', encoding='utf-8')
    Path('other.py').write_text('import nowhere\n', encoding='utf-8')
    Path('third.py').write_text('import nowhere\n', encoding='utf-8')
    result = CliRunner().invoke(command, ['.'])
    assert result.stderr.count('nowhere') == 1
    assert ', also in 2 other files: its values' in result.stderr


@pytest.mark.parametrize(
    'comment',
    [
        '# type: ignore',
        '# A license.\n\n#type:ignore[attr-defined]',
        '# mypy: ignore-errors',
        '# mypy: disable-error-code="import-not-found"',
        '# mypy: ignore-missing-imports=True',
        '# mypy: follow-imports=skip',
    ],
)
@pytest.mark.parametrize('has_others', [True, False])
def test_comments_that_hide_types_are_overridden(
    module: Path, comment: str, *, has_others: bool
) -> None:
    module.write_text(f'{comment}\nimport nowhere\n{MODULE}', encoding='utf-8')
    paths = ['module.py']
    if has_others:
        Path('other.py').write_text('1\n', encoding='utf-8')
        paths.append('other.py')
    line = comment.count('\n') + 2
    # The second check has a cache.
    for _ in range(2):
        result = CliRunner().invoke(command, paths)
        assert f'module.py:{line}: Cannot find' in result.stderr
        assert f'module.py:{line + 3}:1: error[SW101]' in result.stdout


def test_function_without_type_checks_has_types(module: Path) -> None:
    decorator = 'import typing\n@typing.no_type_check\ndef call(value: 3) -> None:\n    save(1)\n'
    module.write_text(MODULE + decorator, encoding='utf-8')
    assert 'module.py:7:5: error[SW101]' in check().stdout


DECORATORS = """\
import functools
import typing as t
from typing import no_type_check as unchecked
@(t.no_type_check)
def first(value: 3) -> None:
    save(1)
@unchecked
def second(value: 3) -> None:
    save(1)
@(
    t.
    no_type_check
)
@functools.cache
@t.no_type_check
# A comment.
def third(value: 3) -> None:
    save(1)
"""


def test_decorator_that_hides_types_is_found_in_every_form(module: Path) -> None:
    module.write_text(MODULE + DECORATORS, encoding='utf-8')
    output = json.loads(check('', '--json').stdout)
    assert [(finding['line'], finding['column']) for finding in output['findings']] == [
        (3, 1),
        (9, 5),
        (12, 5),
        (21, 5),
    ]


def test_comments_behind_the_first_statement_are_kept(module: Path) -> None:
    module.write_text(f'import nowhere  # type: ignore\n{MODULE}', encoding='utf-8')
    assert check().stderr == ''


@pytest.mark.parametrize(
    'text',
    [
        f'import sys\nassert sys.platform == "amiga"\n{MODULE}',
        'import sys\nif sys.platform == "amiga":\n    print(1)\n',
        'import sys\nif sys.version_info < (3, 8):\n    if print: print(1)\n',
        'import sys\nif sys.platform != "amiga":\n    pass\nelse:\n    print(1)\n',
    ],
)
def test_unreachable_file_is_counted_and_named(module: Path, text: str) -> None:
    module.write_text(text, encoding='utf-8')
    Path('other.py').write_text('print(1)\n', encoding='utf-8')
    # The second check takes the facts from the cache.
    for _ in range(2):
        result = CliRunner().invoke(command, ['.'])
        assert result.stderr.startswith('seamwise: module.py: mypy regards all calls')
        assert result.stdout.startswith('no findings in 2 files, 1 of them without types (')


@pytest.mark.parametrize(
    'text',
    [
        'from typing import TYPE_CHECKING\nif not TYPE_CHECKING:\n    print(1)\n',
        'import sys\nprint(0)\nif sys.platform == "amiga":\n    print(1)\n',
        'from typing import *\ndef call(value: Never) -> None:\n    assert_never(value)\n',
    ],
)
def test_unreachable_branch_is_not_reported(module: Path, text: str) -> None:
    module.write_text(text, encoding='utf-8')
    assert check().stderr == ''


@pytest.fixture
def empty_environment(tmp_path: Path) -> None:
    """Create an environment without any package."""
    environment = tmp_path / '.venv'
    (environment / 'bin').mkdir(parents=True)
    (environment / 'pyvenv.cfg').touch()
    python = environment / 'bin' / 'python'
    python.write_text('#!/bin/sh\necho "([], [])"\n', encoding='utf-8')
    python.chmod(0o755)


@pytest.mark.usefixtures('empty_environment')
@pytest.mark.parametrize(
    'source',
    [
        MODULE,
        'from returns.result import Result  # type: ignore[import-not-found]\n',
        'import typing, returns.result  # type: ignore\n',
        'if 1: import returns.result as r; print(r)  # noqa  # type: ignore\n',
        'from returns.result \\\n    import Result  # type: ignore\n',
        'from returns.result import (  # type: ignore\n    Result,\n)\n',
    ],
)
def test_check_without_the_types_of_results_ends_with_2(module: Path, source: str) -> None:
    module.write_text(source, encoding='utf-8')
    result = check()
    assert result.exit_code == 2
    package = 'seamwise' if source == MODULE else 'returns'
    assert f'module named "{package}' in result.stderr
    assert 'no Result has a type. Install it in the environment of the project' in result.stderr


@pytest.mark.nightly
@pytest.mark.parametrize('name', ['seamwise/__init__.pyi', 'returns/result.pyi'])
@pytest.mark.parametrize(
    'text',
    [
        'def __getattr__(name: str) -> object: ...\n',
        'from typing import Any\nResult: Any\nSuccess: Any\nFailure: Any\n',
        'from typing import Any\nResult = Any\nclass Success: ...\nclass Failure: ...\n',
    ],
)
def test_stub_without_the_types_of_results_ends_with_2(module: Path, name: str, text: str) -> None:
    stub = Path('stubs', name)
    stub.parent.mkdir(parents=True)
    (stub.parent / '__init__.pyi').touch()
    stub.write_text(text, encoding='utf-8')
    # The second check has a cache.
    for _ in range(2):
        result = check('[mypy]\nmypy_path = stubs\n')
        assert result.exit_code == 2
        assert result.stderr.startswith(f'seamwise: stubs/{name}: this stub of `')
        assert 'has no type `Result`, so no Result has a type.' in result.stderr
        assert result.stderr.count('\n') == 1


@pytest.mark.parametrize('name', ['seamwise.py', 'seamwise/__init__.py'])
@pytest.mark.parametrize('import_', ['', 'from seamwise.seams import http\n'])
def test_file_that_hides_a_package_of_results_ends_with_2(
    module: Path, name: str, import_: str
) -> None:
    Path(name).parent.mkdir(exist_ok=True)
    Path(name).touch()
    module.write_text(import_ + MODULE, encoding='utf-8')
    for _ in range(2):
        result = check()
        assert result.exit_code == 2
        assert result.stderr.startswith(f'seamwise: {name}: this file hides the module `')
        assert result.stderr.count('\n') == 1


@pytest.mark.nightly
@pytest.mark.parametrize('name', ['seamwise.py', 'seamwise/data.json', 'returns/result.py'])
def test_unrelated_path_with_the_name_of_a_package_is_not_reported(module: Path, name: str) -> None:
    path = Path(name)
    path.parent.mkdir(exist_ok=True)
    path.touch()
    if name == 'seamwise.py':
        module.write_text('from returns.result import Success\nSuccess(1)\n', encoding='utf-8')
    elif path.suffix == '.py':
        Path('returns/__init__.py').touch()
        module.write_text('import returns.result\nprint(1)\n', encoding='utf-8')
    assert CliRunner().invoke(command, ['.']).stderr == ''


@pytest.mark.usefixtures('empty_environment')
@pytest.mark.parametrize('folder', ['', 'seamwise'])
def test_missing_package_of_an_imported_file_ends_with_2(module: Path, folder: str) -> None:
    Path(folder).mkdir(exist_ok=True)
    Path('save.py').write_text(MODULE, encoding='utf-8')
    module.write_text("from save import save\nsave('a')\n", encoding='utf-8')
    for _ in range(2):
        result = check()
        assert result.exit_code == 2
        assert 'The package `seamwise` is not installed: no Result has a type.' in result.stderr
        assert result.stderr.count('\n') == 1


@pytest.mark.usefixtures('empty_environment')
def test_optional_import_of_a_dependency_is_not_reported(module: Path) -> None:
    package = Path('site-packages/package')
    package.mkdir(parents=True)
    (package / 'py.typed').touch()
    (package / '__init__.py').write_text('from returns.result import Result\n', encoding='utf-8')
    module.write_text('import package\nprint(package)\n', encoding='utf-8')
    result = check('[mypy]\nmypy_path = site-packages\n')
    assert (result.exit_code, result.stderr) == (0, '')


@pytest.mark.usefixtures('empty_environment')
@pytest.mark.parametrize('name', ['returns.result', 'seamwise._results.containers'])
def test_incomplete_stub_ends_with_2(module: Path, name: str) -> None:
    package = name.partition('.')[0]
    module.write_text(f'from {name} import Success\nSuccess(1)\n', encoding='utf-8')
    Path('stubs', package).mkdir(parents=True)
    Path('stubs', package, '__init__.pyi').write_text(
        'def __getattr__(name: str) -> object: ...\n', encoding='utf-8'
    )
    result = check('[mypy]\nmypy_path = stubs\n')
    assert result.exit_code == 2
    assert f'this stub of `{package}` has no module `{name}`' in result.stderr


@pytest.mark.parametrize(
    ('configuration', 'message', 'exit_code'),
    [
        (
            '[mypy\nstrict = True\n',
            'mypy cannot use its configuration: mypy.ini: File contains no section headers.',
            2,
        ),
        (
            '[mypy]\nstrict = maybe\n',
            'mypy cannot use its configuration: mypy.ini: [mypy]: strict: Not a boolean: maybe',
            1,
        ),
        (
            '[mypy]\nplugins = nowhere\n',
            'mypy.ini:2: mypy cannot run: Error importing plugin "nowhere": No module named',
            2,
        ),
        (
            '[mypy]\npython_version = 2.7\n',
            'mypy refuses its configuration: Mypy no longer supports checking Python 2 code.',
            2,
        ),
        (
            '[mypy]\npython_executable = /nowhere/python\n',
            "mypy cannot run: Invalid python executable '/nowhere/python'",
            2,
        ),
        (
            '[mypy]\nenable_error_code = unknown-code\n',
            'mypy cannot run: Invalid error code(s): unknown-code.',
            2,
        ),
    ],
)
def test_mistake_in_the_configuration_of_mypy_is_one_line(
    module: Path, configuration: str, message: str, exit_code: int
) -> None:
    result = check(configuration)
    assert result.exit_code == exit_code
    assert result.stderr.startswith(f'seamwise: {message}')
    assert result.stderr.count('\n') == 1
    is_unchecked = message.startswith(('mypy cannot run', 'mypy refuses', 'mypy.ini'))
    assert ('no file was checked' in result.stdout) == is_unchecked


@pytest.mark.nightly
@pytest.mark.parametrize(
    ('imports', 'call'),
    [
        ('from returns.pipeline import flow', 'flow'),
        ('from returns import pipeline', 'pipeline.flow'),
        ('import returns.pipeline', 'returns.pipeline.flow'),
    ],
)
def test_flow_of_returns_without_its_plugin_is_mentioned_once(
    module: Path, imports: str, call: str
) -> None:
    module.write_text(f'{MODULE}{imports}\n{call}(1, save)\n', encoding='utf-8')
    Path('other.py').write_text(f'{imports}\n', encoding='utf-8')
    # The second check takes the facts from the cache.
    for _ in range(2):
        result = CliRunner().invoke(command, ['module.py', 'other.py'])
        assert result.stderr.startswith('seamwise: module.py:4: without the plugin')
        assert ', also in 1 other file: no rule checks' in result.stderr
        assert result.stderr.count('\n') == 1
    result = check('[mypy]\nplugins = returns.contrib.mypy.returns_plugin\n')
    assert (result.exit_code, result.stderr) == (1, '')
    assert f'The Result of `{call}(…)` is discarded' in result.stdout


@pytest.mark.nightly
def test_other_functions_of_the_pipeline_need_no_plugin(module: Path) -> None:
    module.write_text(f'from returns.pipeline import is_successful\n{MODULE}', encoding='utf-8')
    assert check().stderr == ''


PLUGIN_FUNCTION = 'def plugin(version):\n    raise ValueError("two\\nlines")\n'
PLUGIN_CLASS = """\
from mypy.plugin import Plugin
class Fails(Plugin):
    def __init__(self, options):
        raise ValueError("two\\nlines")
def plugin(version): return Fails
"""


@pytest.mark.parametrize(
    ('file', 'source', 'name'),
    [
        ('fails_first.py', PLUGIN_FUNCTION, 'fails_first.py'),
        ('fails_later.py', PLUGIN_CLASS, 'Fails'),
    ],
)
def test_plugin_that_raises_is_one_line(module: Path, file: str, source: str, name: str) -> None:
    Path(file).write_text(source, encoding='utf-8')
    result = check(f'[mypy]\nplugins = {file}\n')
    assert result.exit_code == 2
    assert result.stderr == (
        f'seamwise: mypy.ini: mypy cannot run: its plugin `{name}` raised ValueError: two lines.\n'
    )


@pytest.mark.parametrize(
    ('name', 'text'),
    [
        ('mypy.ini', '[mypy\nbroken'),
        ('.mypy.ini', '[mypy]\nbroken'),
        ('pyproject.toml', '[tool.mypy]\noverrides = 1\n'),
    ],
)
def test_configuration_that_does_not_parse_ends_with_2_although_another_does(
    module: Path, name: str, text: str
) -> None:
    Path(name).write_text(text, encoding='utf-8')
    Path('setup.cfg').write_text('[mypy]\nstrict = maybe\n', encoding='utf-8')
    result = check()
    assert result.exit_code == 2
    assert result.stderr.startswith(f'seamwise: mypy cannot use its configuration: {name}: ')
    assert result.stderr.count('\n') == 1


def test_configuration_that_is_not_text_is_one_line(module: Path) -> None:
    Path('mypy.ini').write_bytes(b'[mypy]\xff')
    result = check()
    assert result.exit_code == 2
    assert result.stderr.startswith("seamwise: mypy refuses its configuration: 'utf-8' codec")
    assert result.stderr.count('\n') == 1


def test_configuration_with_sections_for_modules_only_is_no_mistake(module: Path) -> None:
    assert check('[mypy-nowhere]\nstrict_optional = True\n').stderr == ''


@pytest.mark.nightly
def test_loops_of_symbolic_links_end(module: Path, tmp_path: Path) -> None:
    for folder in ('first', 'second'):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / 'module.py').write_text(MODULE, encoding='utf-8')
    (tmp_path / 'first' / 'up').symlink_to('..')
    (tmp_path / 'first' / 'other').symlink_to('../second')
    (tmp_path / 'second' / 'other').symlink_to('../first')
    result = CliRunner().invoke(command, ['.'])
    assert result.exit_code == 1
    # Each file is checked once, by its path without links.
    assert '3 findings in 3 files' in result.stdout


def test_file_that_changes_twice_in_a_second_is_read_twice(module: Path) -> None:
    assert check().exit_code == 1
    status = module.stat()
    module.write_text(MODULE.replace('\nsave(1)', '\n_ = (1)'), encoding='utf-8')
    assert module.stat().st_size == status.st_size
    # The modification time differs by half a second, within the same second.
    second, rest = divmod(status.st_mtime_ns, 10**9)
    time = second * 10**9 + (rest + 5 * 10**8) % 10**9
    os.utime(module, ns=(time, time))
    assert check().exit_code == 0


def test_files_without_annotations_are_counted_and_named(module: Path) -> None:
    module.write_text('def double(number):\n    return number * 2\n', encoding='utf-8')
    Path('typed.py').write_text('def half(number: int) -> int: ...\n', encoding='utf-8')
    Path('empty.py').write_text('def main():\n    print(1)\n', encoding='utf-8')
    # The second check takes the facts from the cache.
    for _ in range(2):
        result = CliRunner().invoke(command, ['.'])
        assert result.exit_code == 0
        assert result.stdout.startswith('no findings in 3 files (')
        assert result.stderr == (
            'seamwise: 1 file without annotations, so that most rules find nothing there:'
            ' module.py.\n'
        )
