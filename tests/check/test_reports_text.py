"""A report as text, and as JSON."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from seamwise.check.mypy_sources import SourceProblem
from seamwise.check.reports import Look, Role, as_json, as_line, as_text, summary
from seamwise.check.reports.lines import wrapped

from .reporting import ODD, UNCONFIGURED, UNREAD, finding, report


def marked(text: str, role: Role) -> str:
    return f'<{role}>{text}</{role}>'


def source_and_marks(text: str) -> tuple[str, str]:
    lines = text.split('\n')
    at = next(number for number, line in enumerate(lines) if not line.strip(' ^') and line)
    return lines[at - 1], lines[at]


def test_a_finding_has_its_place_its_line_and_what_to_do() -> None:
    assert as_text(report(finding('    x = [save()]'))) == (
        'shop/orders.py:4:10: error[SW101] The Result is thrown away.\n'
        '        x = [save()]\n'
        '             ^^^^^^\n'
        '    help: Use it.\n'
        '\n'
        '1 finding in 2 files (0.2 s)'
    )


def test_colours_follow_the_severity() -> None:
    text = as_text(report(finding('save()', severity='warning')), Look(paint=marked))
    assert text.startswith(
        '<place>shop/orders.py:4:1:</place> <warning>warning[SW101]</warning> The'
    )
    assert '\n    <warning>^^^^^^</warning>\n    <help>help:</help> Use it.\n' in text


@pytest.mark.parametrize(
    ('source', 'expected', 'column'),
    [
        ("print('错误'); save()", "    print('错误'); save()", 19),
        ('\tif x: save()', '        if x: save()', 14),
        ("'e\u0301'; save()", "    'e\u0301'; save()", 9),
        ("'\x1b[2J'; save()", "    '\\x1b[2J'; save()", 15),
    ],
)
def test_carets_stand_under_what_is_meant(source: str, expected: str, column: int) -> None:
    shown, marks = source_and_marks(as_text(report(finding(source))))
    assert shown == expected
    assert marks == f'{" " * column}^^^^^^'
    assert cell_len(shown[: shown.index('save')]) == column


@pytest.mark.parametrize('width', [None, 80, 40, 1])
def test_of_a_long_line_the_part_that_is_meant_is_shown(width: int | None) -> None:
    source = f'{"错 = 1; " * 60}save(){"; y = 2" * 60}'
    shown, marks = source_and_marks(as_text(report(finding(source)), Look(width=width)))
    assert cell_len(shown) <= {None: 100, 80: 80, 40: 40, 1: 40}[width]
    assert marks.endswith('^^^^^^')
    assert cell_len(shown[: shown.index('save()')]) == marks.index('^')
    assert shown.strip()[0] == shown[-1] == '…'


def test_carets_end_with_the_part_that_is_shown() -> None:
    shown, marks = source_and_marks(
        as_text(report(finding(f'save({"1, " * 100})', f'save({"1, " * 100})')), Look(width=80))
    )
    assert cell_len(marks) <= cell_len(shown) <= 80


def test_of_an_empty_range_one_caret_is_left() -> None:
    assert source_and_marks(as_text(report(finding('x', ''))))[1] == '    ^'
    assert source_and_marks(as_text(report(finding('x   ', '   '))))[1] == '     ^'


def test_on_a_narrow_terminal_messages_are_broken_and_elsewhere_not() -> None:
    one = finding(
        message='The Result of `save(…)` is thrown away, and with it its error (DiskFull | NotFound | TooLong).'
    )
    lines = as_text(report(one), Look(width=60)).split('\n')
    assert lines[:3] == [
        'shop/orders.py:4:1: error[SW101] The Result of `save(…)` is',
        '    thrown away, and with it its error (DiskFull | NotFound',
        '    | TooLong).',
    ]
    assert one.message in as_text(report(one))


def test_a_path_that_is_longer_than_the_terminal_is_not_broken() -> None:
    one = finding(path=f'{"long/" * 20}a.py')
    lines = as_text(report(one), Look(width=40)).split('\n')
    assert lines[:2] == [f'{one.path}:4:1: error[SW101]', '    The Result is thrown away.']


@given(
    text=st.text('ab 错\u0301', max_size=200), width=st.integers(1, 100), used=st.integers(0, 30)
)
def test_broken_lines_fit_and_say_the_same(text: str, width: int, used: int) -> None:
    first, *more = wrapped(text, width=width, used=used, indent='    ')
    room = max(width, 40)
    assert used + cell_len(first) <= room
    assert all(cell_len(one) <= room and one.startswith('    ') for one in more)
    assert ''.join([first, *more]).replace(' ', '') == text.replace(' ', '')


def test_nothing_is_drawn_for_a_screen_reader() -> None:
    assert '^' not in as_text(report(finding()), Look(draws=False))


def test_nothing_in_a_name_or_a_message_moves_the_cursor() -> None:
    text = as_text(report(finding(path=ODD, message='a\x1b[2J\nb')))
    assert (
        text.split('\n')[0] == r'a b/说明,100%:\n::error::x\udcff.py:4:1: error[SW101] a\x1b[2J\nb'
    )


def test_the_sum_counts_by_severity_and_names_the_commit() -> None:
    hint, error = finding(severity='hint'), finding()
    assert summary(report()) == 'nothing found in 2 files (0.2 s)'
    assert (
        summary(report(files=1), since='main') == 'nothing new found since main in 1 file (0.2 s)'
    )
    assert summary(report(error, error)) == '2 findings in 2 files (0.2 s)'
    assert (
        summary(report(hint, error, hint), since='a\nb')
        == r'3 new findings since a\nb in 2 files (0.2 s): 1 error and 2 hints'
    )


def test_a_problem_is_one_line() -> None:
    assert as_line(UNREAD) == 'broken.py:3: it does not parse: invalid syntax.'
    assert as_line(UNCONFIGURED) == 'mypy refuses its configuration.'
    assert as_line(SourceProblem('a\n::error::b.py', 'c\nd')) == r'a\n::error::b.py: c\nd'


def test_json_has_what_programs_need_and_no_more() -> None:
    assert json.loads(as_json(report(finding(), files=1))) == {
        'findings': [
            {
                'code': 'SW101',
                'path': 'shop/orders.py',
                'line': 4,
                'column': 1,
                'message': 'The Result is thrown away.',
                'help': 'Use it.',
                'severity': 'error',
            }
        ],
        'files': 1,
        'seconds': 0.25,
    }


def test_json_is_utf_8_whatever_a_file_is_called() -> None:
    (found,) = json.loads(as_json(report(finding(path=ODD))))['findings']
    assert found['path'] == ODD.replace('\udcff', '\ufffd')
