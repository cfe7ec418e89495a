"""A check as a whole: places, allowances, and what cannot be read."""

import os
from pathlib import Path

import pytest

from seamwise.check.checking import Report, run_check
from seamwise.check.settings import CheckSettings

START = 'from seamwise import Failure, Result, Success\ndef save() -> Result[int, str]: return Success(1) if id else Failure("")\n'


@pytest.fixture(scope='module')
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp('cache')


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # One cache for all tests: it saves time, and what one test has left may mislead no other.
    (tmp_path / '.seamwise_cache').symlink_to(cache)
    monkeypatch.chdir(tmp_path)


def checked(source: str | bytes, *, settings: CheckSettings | None = None) -> Report:
    Path('module.py').write_bytes(source if isinstance(source, bytes) else source.encode())
    return run_check(['module.py'], settings)


def test_a_finding_has_its_place_in_characters_from_one() -> None:
    (found,) = checked(START + "def run() -> None:\n\tprint('äöü'); save()\n").findings
    assert (found.path, found.line, found.column, found.end_column) == ('module.py', 4, 16, 22)
    assert found.source == "\tprint('äöü'); save()"


@pytest.mark.parametrize('end', ['\r\n', '\r', '\n\x0c'])
def test_lines_are_counted_as_python_does(end: str) -> None:
    (found,) = checked(
        f'{START}# \u2028 no end of a line\x0b\nsave()\n'.replace('\n', end)
    ).findings
    assert (found.line, found.source.strip()) == (4, 'save()')


def test_a_handler_stands_at_its_except_and_a_function_at_its_def() -> None:
    handler = '    try:\n        print()\n    except Exception:  # noqa\n        pass\n'
    source = f'from returns.result import safe\n@safe\ndef run() -> None:\n{handler}'
    findings = checked(source).findings
    assert [(one.code, one.line, one.column, one.end_column) for one in findings] == [
        ('SW106', 3, 1, 4),
        ('SW103', 6, 5, 11),
    ]


def test_a_path_is_relative_to_the_current_directory(tmp_path: Path) -> None:
    (tmp_path / 'folder').mkdir()
    (tmp_path / 'folder' / 'one.py').write_text(f'{START}save()\n', encoding='utf-8')
    assert [one.path for one in run_check([str(tmp_path / 'folder')]).findings] == [
        os.path.join('folder', 'one.py')
    ]


def test_an_allowance_without_a_reason_allows_nothing_and_says_so() -> None:
    (found,) = checked(f'{START}save()  # seamwise: allow[SW101]\n').findings
    assert found.help.startswith('The suppression has no effect without a reason')


@pytest.mark.parametrize(
    'comment',
    [
        '# seamwise: allow[SW102] another rule',
        '# an allow[SW101] of nobody',
        "# it is no seamwise: allow['SW101'] x",
    ],
)
def test_only_an_allowance_of_this_rule_allows(comment: str) -> None:
    assert len(checked(f'{START}save()  {comment}\n').findings) == 1


def test_an_allowance_in_a_text_is_none() -> None:
    assert len(checked(f"{START}save(), '# seamwise: allow[SW101] no comment'\n").findings) == 1


def test_an_allowance_stands_on_any_line_of_its_statement_or_above_but_not_below() -> None:
    source = (
        f'{START}# seamwise: allow[SW101, SW102] above\n# with more to say\nsave()\n'
        '[\n    save(),  # seamwise: allow[SW101] inside\n]\n# seamwise: allow[SW101] in vain\n\nsave()\n'
    )
    assert [one.line for one in checked(source).findings] == [5, 11]


def test_settings_select_rules_and_say_how_grave_they_are() -> None:
    source = f'{START}save()\nsave().unwrap()\n'
    assert [one.code for one in checked(source).findings] == ['SW101', 'SW104']
    assert [
        one.code for one in checked(source, settings=CheckSettings(select=('SW104',))).findings
    ] == ['SW104']
    assert [
        one.code for one in checked(source, settings=CheckSettings(ignore=('SW104',))).findings
    ] == ['SW101']
    assert [
        one.severity
        for one in checked(source, settings=CheckSettings(severity={'SW101': 'hint'})).findings
    ] == ['hint', 'warning']


@pytest.mark.parametrize(
    ('source', 'said'),
    [
        ('def (:', 'does not parse'), (b'x = 1\0', 'does not parse'), (b'x = "\xff"', 'cannot be read'), ('break', 'outside loop'),
        ('x = ' + '(' * 5000, 'does not parse'),
    ],
)  # fmt: skip
def test_a_file_that_cannot_be_read_is_told_and_the_rest_is_checked(
    source: str | bytes, said: str
) -> None:
    Path('other.py').write_text(
        f'import module\n{START}save()\nmodule.anything()\n', encoding='utf-8'
    )
    Path('module.py').write_bytes(source if isinstance(source, bytes) else source.encode())
    for paths in (['.'], ['other.py']):
        report = run_check(paths)
        assert [(one.path, one.line) for one in report.findings] == [('other.py', 4)], paths
        if paths == ['.']:
            assert [one.path for one in report.problems] == ['module.py']
            assert said in report.problems[0].message
            assert not report.is_complete


def test_a_file_that_is_too_deep_for_python_is_told() -> None:
    Path('other.py').write_text(f'{START}save()\n', encoding='utf-8')
    Path('module.py').write_text('x = ' + '+'.join('1' * 8000), encoding='utf-8')
    report = run_check(['.'])
    assert [(one.path, one.line) for one in report.findings] == [('other.py', 3)]
    assert [one.path for one in report.problems] == ['module.py']
    # From elsewhere it is mypy that meets it, and mypy can.
    Path('third.py').write_text(f'import module\n{START}save()\n', encoding='utf-8')
    third = run_check(['third.py'])
    assert [(one.path, one.line) for one in third.findings] == [('third.py', 4)]
    assert third.problems == ()


def test_a_missing_import_is_told_and_the_rest_is_checked() -> None:
    report = checked(f'import nowhere\n{START}save()\nnowhere.save()\n')
    assert [one.line for one in report.findings] == [4]
    assert [(one.path, one.line, one.is_unread) for one in report.problems] == [
        ('module.py', 1, False)
    ]
    assert report.is_complete


def test_a_cycle_of_imports_is_checked() -> None:
    Path('other.py').write_text(f'import module\n{START}module.save()\n', encoding='utf-8')
    report = checked(f'import other\n{START}other.save()\n')
    assert [one.line for one in report.findings] == [4]
    assert report.problems == ()


def test_a_package_of_stubs_is_checked() -> None:
    Path('foo-stubs').mkdir()
    Path('foo-stubs/__init__.pyi').write_text(
        'from seamwise import Result\ndef f() -> Result[int, object]: ...\n', encoding='utf-8'
    )
    report = run_check(['foo-stubs'])
    assert [(one.code, one.line) for one in report.findings] == [('SW106', 2)]
    assert report.problems == ()


def test_what_is_no_python_is_told() -> None:
    Path('empty').mkdir()
    Path('book.ipynb').write_text('{}', encoding='utf-8')
    Path('data.txt').write_text('', encoding='utf-8')
    report = run_check(['empty', 'book.ipynb', 'data.txt', 'nowhere'])
    assert [one.path for one in report.problems] == ['empty', 'book.ipynb', 'data.txt', 'nowhere']
    assert [report.files, report.findings, report.is_complete] == [0, (), False]


def test_a_configuration_that_mypy_refuses_is_told() -> None:
    Path('mypy.ini').write_text('[mypy]\npython_version = 2.7\n', encoding='utf-8')
    report = checked(f'{START}save()\n')
    assert 'refuses its configuration' in report.problems[0].message
    assert not report.is_complete


def test_errors_that_mypy_is_told_to_ignore_hide_nothing() -> None:
    Path('mypy.ini').write_text(
        '[mypy]\nignore_errors = True\n[mypy-module]\nignore_errors = True\ncheck_untyped_defs = False\n',
        encoding='utf-8',
    )
    assert len(checked(f'{START}def run():\n    save()\n').findings) == 1


def test_the_same_file_twice_is_one() -> None:
    Path('module.py').write_text(f'{START}save()\n', encoding='utf-8')
    report = run_check(['module.py', '.', './module.py'])
    assert (report.files, len(report.findings)) == (1, 1)


def test_files_of_the_same_name_in_two_folders_are_checked_each_for_itself() -> None:
    for folder, channel in (('a', 'str'), ('b', 'int')):
        Path(folder).mkdir()
        Path(folder, 'helper.py').write_text(
            f'{START}def other() -> Result[{channel}, str]: return save().map({channel})\n',
            encoding='utf-8',
        )
        Path(folder, 'app.py').write_text('from helper import other\nother()\n', encoding='utf-8')
    Path('c').mkdir()
    Path('c', 'alone.py').write_text(f'{START}save()\n', encoding='utf-8')
    report = run_check(['.'])
    assert [(one.path, one.line) for one in report.findings] == [
        ('a/app.py', 2),
        ('b/app.py', 2),
        ('c/alone.py', 3),
    ]
    assert report.problems == ()
    assert report.files == 5


def test_a_file_that_makes_mypy_fail_is_told_and_the_rest_is_checked() -> None:
    Path('breaking.py').write_text(
        'from mypy.plugin import Plugin\n'
        'class Fails(Plugin):\n'
        '    def get_function_hook(self, fullname):\n'
        '        assert fullname != "module.fails"\n'
        'def plugin(version): return Fails\n',
        encoding='utf-8',
    )
    Path('mypy.ini').write_text(
        '[mypy]\nplugins = breaking.py\nexclude = breaking\n', encoding='utf-8'
    )
    Path('module.py').write_text(
        f'{START}def fails() -> None: ...\nsave()\nfails()\n', encoding='utf-8'
    )
    Path('other.py').write_text(f'{START}save()\nimport module\n', encoding='utf-8')
    report = run_check(['.'])
    assert [(one.path, one.line) for one in report.findings] == [('other.py', 3)]
    assert [(one.path, one.line) for one in report.problems] == [('module.py', 5)]
    assert 'mypy crashed' in report.problems[0].message
    assert [(one.path, one.line) for one in run_check(['other.py']).findings] == [('other.py', 3)]


def test_a_byte_order_mark_and_another_encoding_move_no_place() -> None:
    (found,) = checked(f'\ufeff{START}print("ä"); save()\n').findings
    assert (found.line, found.column) == (3, 13)
    (found,) = checked(f'# coding: latin-1\n{START}print("ä"); save()\n'.encode('latin-1')).findings
    assert (found.line, found.column) == (4, 13)


@pytest.mark.parametrize('text', ['ä', '漢字、', '😀', 'ä漢😀'])
def test_characters_longer_than_a_byte_hide_nothing(text: str) -> None:
    line = f'print(id, "{text}", id, f"{text}{{id}}"); save(); print([save() for _ in "{text}"], ("{text}" + (text))); save().unwrap()'
    found = checked(f'{START}text = ""\n{line}\n').findings
    assert [(one.code, one.column) for one in found] == [
        ('SW101', line.index('save(') + 1),
        ('SW104', line.rindex('save(') + 1),
    ]


def test_an_empty_file_is_nothing() -> None:
    report = checked('')
    assert (report.findings, report.problems, report.files) == ((), (), 1)
