"""Tests of `checking`: locations, suppressions, and files that cannot be analysed."""

import os
import sys
from pathlib import Path

import pytest

from seamwise.check.checking import Report, run_check
from seamwise.check.settings import CheckSettings

# Each test runs mypy.
pytestmark = pytest.mark.slow

START = (
    'from seamwise import Failure, Result, Success\n'
    'def save() -> Result[int, str]: return Success(1) if id else Failure("")\n'
)


@pytest.fixture(scope='module')
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp('cache')


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # All tests share a cache, which saves time and tests that its entries do not leak.
    (tmp_path / '.seamwise_cache').symlink_to(cache)
    monkeypatch.chdir(tmp_path)


def check_source(source: str | bytes, *, settings: CheckSettings | None = None) -> Report:
    Path('module.py').write_bytes(source if isinstance(source, bytes) else source.encode())
    return run_check(['module.py'], settings)


def test_columns_count_characters_from_one() -> None:
    (finding,) = check_source(START + "def run() -> None:\n\tprint('äöü'); save()\n").findings
    assert (finding.path, finding.line, finding.column, finding.end_column) == (
        'module.py',
        4,
        16,
        22,
    )
    assert finding.source == "\tprint('äöü'); save()"


@pytest.mark.parametrize('end', ['\r\n', '\r', '\n\x0c'])
def test_lines_are_counted_like_in_python(end: str) -> None:
    (finding,) = check_source(
        f'{START}# \u2028 no end of a line\x0b\nsave()\n'.replace('\n', end)
    ).findings
    assert (finding.line, finding.source.strip()) == (4, 'save()')


def test_compound_statements_are_located_at_their_keyword() -> None:
    handler = '    try:\n        print()\n    except Exception:  # noqa\n        pass\n'
    source = f'from returns.result import safe\n@safe\ndef run() -> None:\n{handler}'
    findings = check_source(source).findings
    assert [
        (finding.code, finding.line, finding.column, finding.end_column) for finding in findings
    ] == [
        ('SW106', 3, 1, 4),
        ('SW103', 6, 5, 11),
    ]


def test_paths_are_relative_to_the_current_directory(tmp_path: Path) -> None:
    (tmp_path / 'folder').mkdir()
    (tmp_path / 'folder' / 'one.py').write_text(f'{START}save()\n', encoding='utf-8')
    assert [finding.path for finding in run_check([str(tmp_path / 'folder')]).findings] == [
        os.path.join('folder', 'one.py')
    ]


def test_suppression_without_a_reason_has_no_effect_and_changes_the_help() -> None:
    (finding,) = check_source(f'{START}save()  # seamwise: allow[SW101]\n').findings
    assert finding.help.startswith('The suppression has no effect without a reason')


@pytest.mark.parametrize(
    'comment',
    [
        '# seamwise: allow[SW102] another rule',
        '# allow[SW101] without a prefix',
        "# it is no seamwise: allow['SW101'] x",
    ],
)
def test_only_suppressions_of_the_same_rule_apply(comment: str) -> None:
    report = check_source(f'{START}save()  {comment}\n', settings=CheckSettings(ignore=('SW100',)))
    assert len(report.findings) == 1


def test_suppression_in_a_string_has_no_effect() -> None:
    assert (
        len(check_source(f"{START}save(), '# seamwise: allow[SW101] no comment'\n").findings) == 1
    )


def test_suppressions_apply_on_lines_of_the_statement_and_directly_above() -> None:
    source = (
        f'{START}# seamwise: allow[SW101, SW102] above\n# a second comment\nsave()\n'
        '[\n    save(),  # seamwise: allow[SW101] inside\n]\n'
        '# seamwise: allow[SW101] too far above\n\nsave()\n'
    )
    report = check_source(source, settings=CheckSettings(ignore=('SW100',)))
    assert [finding.line for finding in report.findings] == [5, 11]


STATEMENT = """\
def describe(names: list[str]) -> str:
    {above}
    return '{{}} {{}}'.format(  {first}
        names,
        {above_inner}
        save().unwrap(),  {inner}
        save().unwrap(),
    )  {last}
"""


@pytest.mark.parametrize(
    ('place', 'reported'),
    [
        ('above', []), ('first', []), ('last', []),
        ('above_inner', [9]), ('inner', [9]), ('none', [8, 9]),
    ],
)  # fmt: skip
def test_suppressions_apply_to_the_whole_statement(place: str, reported: list[int]) -> None:
    places = ['above', 'first', 'last', 'above_inner', 'inner']
    comments = dict.fromkeys(places, '#')
    comments[place] = '# seamwise: allow[SW104] a test'
    report = check_source(START + STATEMENT.format(**comments))
    assert [(finding.code, finding.line) for finding in report.findings] == [
        ('SW104', line) for line in reported
    ]


def test_suppressions_of_a_compound_statement_apply_to_its_header() -> None:
    header = (
        '# seamwise: allow[SW104] above\nif (\n    save().unwrap()\n):\n    save().unwrap()\n'
        'while (\n    save().unwrap()\n):  # seamwise: allow[SW104] behind\n    save().unwrap()\n'
        '# seamwise: allow[SW106] above the decorators\n@staticmethod\n'
        'def run(\n    number: int,\n) -> Result[int, Exception]:\n    return Success(number)\n'
    )
    report = check_source(START + header)
    assert [(finding.code, finding.line) for finding in report.findings] == [
        ('SW104', 7),
        ('SW104', 11),
    ]


def test_suppression_behind_a_string_of_several_lines_applies() -> None:
    source = f"{START}print(f'''\n{{save().unwrap()}}\n''')  # seamwise: allow[SW104] a test\n"
    assert not check_source(source).findings


@pytest.mark.parametrize(
    'comment',
    [
        '# noqa: E501  # seamwise: allow[SW101] a cache',
        '# type: ignore[x] # seamwise: allow[SW101] a cache  # fmt: skip',
        '#Seamwise: Allow [SW101] a cache',
        '# seamwise: allow[SW101] #12',
        '# seamwise: allow[SW104] another  # seamwise: allow[SW101] a cache',
    ],
)
def test_suppression_can_stand_between_other_comments(comment: str) -> None:
    settings = CheckSettings(select=('SW101',))
    assert not check_source(f'{START}save()  {comment}\n', settings=settings).findings


def test_comment_behind_a_suppression_is_no_reason() -> None:
    (finding,) = check_source(f'{START}save()  # seamwise: allow[SW101]  # noqa\n').findings
    assert finding.help.startswith('The suppression has no effect without a reason')


@pytest.mark.parametrize(
    'comment',
    ['# seamwise: allow SW101 x', '# seamwise: ignore[SW101] x', '# seamwise: allow[] x'],
)
def test_comment_in_another_form_is_reported(comment: str) -> None:
    findings = check_source(f'{START}save()  # noqa  {comment}\n').findings
    assert [(finding.code, finding.column) for finding in findings] == [
        ('SW101', 1),
        ('SW100', 17),
    ]
    assert findings[1].message.startswith('This comment does not have the form')


@pytest.mark.parametrize(
    ('line', 'fixed'),
    [
        ('print()  # seamwise: allow[SW101] x', 'print()'),
        ('print()  # noqa  # seamwise: allow[SW101] x', 'print()  # noqa'),
        ('print()  # seamwise: allow[SW101] x  # noqa', 'print()  # noqa'),
        ('    # seamwise: allow[SW101] x', None),
        ('# seamwise: allow[SW101] x  # noqa', '# noqa'),
    ],
)
def test_fix_removes_an_unused_suppression_only(line: str, fixed: str | None) -> None:
    (finding,) = check_source(START + line + '\n').findings
    (edit,) = finding.edits
    if fixed is None:
        assert (edit.old, edit.new, edit.last_line) == (f'{line}\n', '', edit.line + 1)
    else:
        assert edit.old == line[edit.column : edit.end_column]
        assert line[: edit.column] + edit.new + line[edit.end_column :] == fixed


def test_suppression_of_a_rule_that_is_off_is_not_reported() -> None:
    source = START + '# seamwise: allow[SW102] nothing\n_ = save()\n'
    assert [finding.code for finding in check_source(source).findings] == ['SW100']
    assert not check_source(source, settings=CheckSettings(ignore=('SW102',))).findings
    settings = CheckSettings(per_file_ignores={'*.py': ('SW102',)})
    assert not check_source(source, settings=settings).findings


RAISING = 'def read(name: str) -> int:\n    raise LookupError(name)\n'
HARMLESS = 'def read(name: str) -> int: return 1\n'
CALLING = (
    f'{START}from helpers import read\n'
    'def load() -> Result[int, str]:\n'
    '    # seamwise: allow[SW102] the framework answers it\n'
    '    return Success(read("a")) if id else Failure("")\n'
    'print()  # seamwise: allow[SW101] nothing\n'
)


@pytest.mark.parametrize('paths', [['module.py'], ['module.py', 'other.py'], ['.']])
def test_imported_files_decide_about_suppressions_also_if_they_are_not_requested(
    paths: list[str],
) -> None:
    Path('module.py').write_text(CALLING, encoding='utf-8')
    Path('other.py').write_text('import third\nthird.run()\n', encoding='utf-8')
    Path('third.py').write_text('import module\ndef run() -> None: print()\n', encoding='utf-8')
    Path('helpers.py').write_text('from innermost import read as read\n', encoding='utf-8')
    for source, lines in ((RAISING, [7]), (HARMLESS, [5, 7]), (RAISING, [7])):
        Path('innermost.py').write_text(source, encoding='utf-8')
        report = run_check(paths)
        assert [(file.path, file.line) for file in report.findings] == [
            ('module.py', line) for line in lines
        ]
        assert report.files == (5 if paths == ['.'] else len(paths))


@pytest.mark.parametrize('follow', ['normal', 'silent', 'skip'])
def test_findings_and_problems_of_files_that_are_only_imported_are_not_reported(
    follow: str,
) -> None:
    Path('mypy.ini').write_text(f'[mypy]\nfollow_imports = {follow}\n', encoding='utf-8')
    source = f'import missing_module\n{RAISING}{START}save()\n'
    Path('helpers.py').write_text(source, encoding='utf-8')
    report = check_source(CALLING)
    assert [(file.path, file.line) for file in report.findings] == [('module.py', 7)]
    assert report.problems == ()


def test_suppression_is_not_reported_if_the_finding_depends_on_another_source_folder(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / 'library').mkdir()
    (tmp_path / 'library' / 'helpers.py').write_text(HARMLESS, encoding='utf-8')
    monkeypatch.setenv('MYPYPATH', str(tmp_path / 'library'))
    Path('user.py').write_text('import module\nprint(module)\n', encoding='utf-8')
    Path('module.py').write_text(CALLING, encoding='utf-8')
    Path('independent.py').write_text(
        f'{START}def run() -> Result[int, str]:\n'
        '    # seamwise: allow[SW102] nothing\n'
        '    return Success(1) if id else Failure("")\n',
        encoding='utf-8',
    )
    report = run_check(['user.py', 'module.py', 'independent.py'])
    assert [(file.path, file.line) for file in report.findings] == [
        ('independent.py', 4),
        ('module.py', 7),
    ]
    report = run_check(['module.py', 'library'])
    assert [(file.path, file.line) for file in report.findings] == [
        ('module.py', 5),
        ('module.py', 7),
    ]


UNIT = """\
class Session:
    def commit(self) -> None: ...
class Unit:
    def __enter__(self) -> Session: return Session()
    def __exit__(self, *error: object) -> None:
        if {condition}: Session().commit()
"""


def test_unit_of_work_in_another_file_commits() -> None:
    source = (
        f'{START}from units import Unit\n'
        'def run(rows: list[int]) -> Result[int, str]:\n'
        '    with Unit():\n        rows.append(1)\n        return Failure("")\n'
    )
    lines = [
        [finding.line for finding in check_source(source).findings]
        for condition in ('not any(error)', 'any(error)')
        if Path('units.py').write_text(UNIT.format(condition=condition), encoding='utf-8')
    ]
    assert lines == [[7], []]


def test_suppression_is_not_reported_where_types_are_unknown() -> None:
    source = START + 'import missing_module\n# seamwise: allow[SW101] x\nmissing_module.save()\n'
    report = check_source(source)
    assert len(report.problems) == 1
    assert not report.findings


def test_unknown_code_of_a_suppression_has_a_suggestion() -> None:
    (finding,) = check_source(START + '_ = save()  # seamwise: allow[sw101] a cache\n').findings
    assert finding.message == 'This suppression names `sw101`, which is no rule.'
    assert 'Did you mean `SW101`?' in finding.help


def test_settings_select_rules_and_severities() -> None:
    source = f'{START}save()\nsave().unwrap()\n'
    assert [finding.code for finding in check_source(source).findings] == ['SW101', 'SW104']
    assert [
        finding.code
        for finding in check_source(source, settings=CheckSettings(select=('SW104',))).findings
    ] == ['SW104']
    assert [
        finding.code
        for finding in check_source(source, settings=CheckSettings(ignore=('SW104',))).findings
    ] == ['SW101']
    assert [
        finding.severity
        for finding in check_source(
            source, settings=CheckSettings(severity={'SW101': 'hint'})
        ).findings
    ] == ['hint', 'warning']


@pytest.mark.parametrize(
    ('source', 'message'),
    [
        ('def (:', 'does not parse'), (b'x = 1\0', 'does not parse'),
        (b'x = "\xff"', 'cannot be read'), ('break', 'outside loop'),
        ('x = ' + '(' * 5000, 'does not parse'),
        ('# coding: latin1x\n', 'cannot be read: unknown encoding: latin1x.'),
        ('# coding: hex\n', 'cannot be read'),
    ],
)  # fmt: skip
def test_unreadable_file_is_a_problem_and_the_others_are_checked(
    source: str | bytes, message: str
) -> None:
    Path('other.py').write_text(
        f'import module\n{START}save()\nmodule.anything()\n', encoding='utf-8'
    )
    Path('module.py').write_bytes(source if isinstance(source, bytes) else source.encode())
    for paths in (['.'], ['other.py']):
        report = run_check(paths)
        assert [(finding.path, finding.line) for finding in report.findings] == [('other.py', 4)], (
            paths
        )
        if paths == ['.']:
            assert [problem.path for problem in report.problems] == ['module.py']
            assert message in report.problems[0].message
            assert not report.is_complete


@pytest.mark.nightly
def test_file_nested_too_deeply_for_python_is_a_problem() -> None:
    Path('other.py').write_text(f'{START}save()\n', encoding='utf-8')
    Path('module.py').write_text('x = ' + '+'.join('1' * 8000), encoding='utf-8')
    report = run_check(['.'])
    assert [(finding.path, finding.line) for finding in report.findings] == [('other.py', 3)]
    assert [problem.path for problem in report.problems] == ['module.py']
    # If the file is only imported, mypy reads it, and mypy has no such limit.
    Path('third.py').write_text(f'import module\n{START}save()\n', encoding='utf-8')
    third = run_check(['third.py'])
    assert [(finding.path, finding.line) for finding in third.findings] == [('third.py', 4)]
    assert third.problems == ()


def test_missing_import_is_a_problem_and_the_rest_is_checked() -> None:
    report = check_source(f'import nowhere\n{START}save()\nnowhere.save()\n')
    assert [finding.line for finding in report.findings] == [4]
    assert [(problem.path, problem.line, problem.is_unread) for problem in report.problems] == [
        ('module.py', 1, False)
    ]
    assert report.is_complete


def test_import_cycle_is_checked() -> None:
    Path('other.py').write_text(f'import module\n{START}module.save()\n', encoding='utf-8')
    report = check_source(f'import other\n{START}other.save()\n')
    assert [finding.line for finding in report.findings] == [4]
    assert report.problems == ()


def test_stub_package_is_checked() -> None:
    Path('foo-stubs').mkdir()
    Path('foo-stubs/__init__.pyi').write_text(
        'from seamwise import Result\ndef f() -> Result[int, object]: ...\n', encoding='utf-8'
    )
    report = run_check(['foo-stubs'])
    assert [(finding.code, finding.line) for finding in report.findings] == [('SW106', 2)]
    assert report.problems == ()


def test_path_without_python_files_is_a_problem() -> None:
    Path('empty').mkdir()
    Path('book.ipynb').write_text('{}', encoding='utf-8')
    Path('data.txt').write_text('', encoding='utf-8')
    report = run_check(['empty', 'book.ipynb', 'data.txt', 'nowhere'])
    assert [problem.path for problem in report.problems] == [
        'empty',
        'book.ipynb',
        'data.txt',
        'nowhere',
    ]
    assert [report.files, report.findings, report.is_complete] == [0, (), False]


def test_mypy_configuration_error_is_a_problem() -> None:
    Path('mypy.ini').write_text('[mypy]\npython_version = 2.7\n', encoding='utf-8')
    report = check_source(f'{START}save()\n')
    assert 'refuses its configuration' in report.problems[0].message
    assert not report.is_complete


def test_excluded_files_are_counted_and_named(tmp_path: Path) -> None:
    for name in (
        *('kept/a.py', 'kept/old_a.py', 'generated/a.py', 'generated/deep/b.pyi'),
        *('generated/c.txt', 'data/d.txt', 'venv/pyvenv.cfg', 'venv/e.py', '.hidden/f.py'),
    ):
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).touch()
    Path('mypy.ini').write_text(
        '[mypy]\nexclude = (?x)( ^generated/ | ^data/ | old_ | ^venv/ )\n', encoding='utf-8'
    )
    for path in ('.', str(tmp_path)):
        report = run_check([path])
        (note,) = report.problems
        assert note.message == (
            'the configuration of mypy excludes 3 Python files from the check:'
            ' generated/ and kept/old_a.py.'
        )
        assert (report.files, report.is_complete) == (1, True)
    assert run_check(['kept/a.py', 'kept/old_a.py']).problems == ()
    Path('generated/a.py').unlink()
    Path('generated/deep/b.pyi').unlink()
    Path('kept/old_a.py').unlink()
    assert run_check(['.']).problems == ()


def test_files_that_git_ignores_are_named_if_mypy_excludes_them() -> None:
    Path('.gitignore').write_text('made.py\n', encoding='utf-8')
    Path('made.py').touch()
    assert check_source('').problems == ()
    assert run_check(['.']).problems == ()
    Path('mypy.ini').write_text('[mypy]\nexclude_gitignore = True\n', encoding='utf-8')
    (note,) = run_check(['.']).problems
    assert note.message.endswith('excludes 1 Python file from the check: made.py.')


def test_ignore_errors_of_mypy_has_no_effect() -> None:
    Path('mypy.ini').write_text(
        '[mypy]\nignore_errors = True\n'
        '[mypy-module]\nignore_errors = True\ncheck_untyped_defs = False\n',
        encoding='utf-8',
    )
    assert len(check_source(f'{START}def run():\n    save()\n').findings) == 1


def test_file_that_is_passed_twice_is_checked_once() -> None:
    Path('module.py').write_text(f'{START}save()\n', encoding='utf-8')
    report = run_check(['module.py', '.', './module.py'])
    assert (report.files, len(report.findings)) == (1, 1)


def test_file_with_two_spellings_of_its_path_is_checked_once(tmp_path: Path) -> None:
    folder = tmp_path / 'folder'
    folder.mkdir()
    (folder / 'module.py').write_text(f'{START}save()\n', encoding='utf-8')
    (tmp_path / 'link').symlink_to('folder')
    for first in ('folder/module.py', str(folder / 'module.py'), 'link/module.py'):
        for second in ('folder/module.py', str(folder / 'module.py')):
            report = run_check([first, second])
            assert [finding.path for finding in report.findings] == ['folder/module.py']
            assert (report.files, report.problems) == (1, ())


@pytest.mark.parametrize('paths', [['.'], ['pipe.py', 'module.py']])
def test_named_pipe_is_a_problem_and_is_not_opened(paths: list[str]) -> None:
    os.mkfifo('pipe.py')
    Path('module.py').write_text(f'{START}save()\n', encoding='utf-8')
    report = run_check(paths)
    assert [(finding.path, finding.line) for finding in report.findings] == [('module.py', 3)]
    assert [(problem.path, problem.message) for problem in report.problems] == [
        ('pipe.py', 'this is not a regular file.')
    ]
    assert not report.is_complete


@pytest.mark.skipif(sys.version_info >= (3, 14), reason='this Python parses all lines')
@pytest.mark.parametrize(
    ('line', 'version'),
    [
        ('def first[T](items: list[T]) -> T: ...', (3, 12)),
        ('type Names = list[str]', (3, 12)),
        ('print(f"{names["a"]}")', (3, 12)),
        ('try: ...\nexcept KeyError, ValueError: ...', (3, 14)),
        ('page = t"{name}"', (3, 14)),
    ],
)
def test_syntax_of_a_newer_python_is_mentioned(line: str, version: tuple[int, int]) -> None:
    if sys.version_info >= version:
        pytest.skip('this Python parses the line')
    (problem,) = check_source(line).problems
    running, needed = (f'{major}.{minor}' for major, minor in (sys.version_info[:2], version))
    assert problem.message.endswith(
        f' The check runs on Python {running}; if this is syntax of Python {needed},'
        ' run the check on it.'
    )


def test_file_that_mypy_refuses_is_reported_once() -> None:
    Path('types.py').touch()
    report = run_check(['.'])
    assert [problem.path for problem in report.problems] == ['types.py']
    assert 'shadows library module' in report.problems[0].message


def test_modules_of_equal_names_in_two_folders_are_checked_separately() -> None:
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
    assert [(finding.path, finding.line) for finding in report.findings] == [
        ('a/app.py', 2),
        ('b/app.py', 2),
        ('c/alone.py', 3),
    ]
    assert report.problems == ()
    assert report.files == 5


def test_file_that_crashes_mypy_is_a_problem_and_the_others_are_checked() -> None:
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
    assert [(finding.path, finding.line) for finding in report.findings] == [('other.py', 3)]
    note, crash = report.problems
    assert note.message.endswith('excludes 1 Python file from the check: breaking.py.')
    assert (crash.path, crash.line, 'mypy crashed' in crash.message) == ('module.py', 5, True)
    assert [(finding.path, finding.line) for finding in run_check(['other.py']).findings] == [
        ('other.py', 3)
    ]


def test_byte_order_mark_and_encoding_do_not_change_columns() -> None:
    (finding,) = check_source(f'\ufeff{START}print("ä"); save()\n').findings
    assert (finding.line, finding.column) == (3, 13)
    (finding,) = check_source(
        f'# coding: latin-1\n{START}print("ä"); save()\n'.encode('latin-1')
    ).findings
    assert (finding.line, finding.column) == (4, 13)


@pytest.mark.parametrize('text', ['ä', '漢字、', '😀', 'ä漢😀'])
def test_findings_after_multibyte_characters_are_reported(text: str) -> None:
    line = (
        f'print(id, "{text}", id, f"{text}{{id}}"); save(); '
        f'print([save() for _ in "{text}"], ("{text}" + (text))); save().unwrap()'
    )
    findings = check_source(f'{START}text = ""\n{line}\n').findings
    assert [(finding.code, finding.column) for finding in findings] == [
        ('SW101', line.index('save(') + 1),
        ('SW104', line.rindex('save(') + 1),
    ]


def test_empty_file_has_no_findings() -> None:
    report = check_source('')
    assert (report.findings, report.problems, report.files) == ((), (), 1)


def test_selected_unused_suppressions_are_found_without_the_other_rules() -> None:
    Path('module.py').write_text(
        f'{START}save()  # seamwise: allow[SW101] a cache\n'
        'print()  # seamwise: allow[SW101] nothing\n',
        encoding='utf-8',
    )
    findings = run_check(['module.py'], CheckSettings(select=('SW100',))).findings
    assert [(finding.code, finding.line) for finding in findings] == [('SW100', 4)]
