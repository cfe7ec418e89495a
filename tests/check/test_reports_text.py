"""Tests of the text report and the JSON report."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from rich.cells import cell_len

from seamwise.check._mypy.sources import SourceProblem
from seamwise.check.facts import TextEdit
from seamwise.check.reports import (
    ReportStyle,
    Role,
    render_json,
    render_problem,
    render_report,
    render_summary,
)
from seamwise.check.reports.lines import wrap_columns

from .reporting import ODD, UNCONFIGURED, UNREAD, finding, report


def tag_role(text: str, role: Role) -> str:
    return f'<{role}>{text}</{role}>'


def source_and_carets(text: str) -> tuple[str, str]:
    lines = text.split('\n')
    index = next(index for index, line in enumerate(lines) if not line.strip(' ^') and line)
    return lines[index - 1], lines[index]


def test_finding_has_location_source_line_and_help() -> None:
    assert render_report(report(finding('    x = [save()]'))) == (
        'shop/orders.py:4:10: error[SW101] The Result is discarded.\n'
        '        x = [save()]\n'
        '             ^^^^^^\n'
        '    help: Use it.\n'
        '\n'
        '1 finding in 2 files (0.2 s)'
    )


def test_colours_depend_on_severity() -> None:
    text = render_report(report(finding('save()', severity='warning')), ReportStyle(paint=tag_role))
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
def test_carets_underline_the_code(source: str, expected: str, column: int) -> None:
    line, carets = source_and_carets(render_report(report(finding(source))))
    assert line == expected
    assert carets == f'{" " * column}^^^^^^'
    assert cell_len(line[: line.index('save')]) == column


@pytest.mark.parametrize('width', [None, 80, 40, 1])
def test_long_line_is_cut_around_the_code(width: int | None) -> None:
    source = f'{"错 = 1; " * 60}save(){"; y = 2" * 60}'
    line, carets = source_and_carets(
        render_report(report(finding(source)), ReportStyle(width=width))
    )
    assert cell_len(line) <= {None: 100, 80: 80, 40: 40, 1: 40}[width]
    assert carets.endswith('^^^^^^')
    assert cell_len(line[: line.index('save()')]) == carets.index('^')
    assert line.strip()[0] == line[-1] == '…'


def test_carets_end_with_the_cut_line() -> None:
    line, carets = source_and_carets(
        render_report(
            report(finding(f'save({"1, " * 100})', f'save({"1, " * 100})')), ReportStyle(width=80)
        )
    )
    assert cell_len(carets) <= cell_len(line) <= 80


def test_empty_range_has_one_caret() -> None:
    assert source_and_carets(render_report(report(finding('x', ''))))[1] == '    ^'
    assert source_and_carets(render_report(report(finding('x   ', '   '))))[1] == '     ^'


def test_messages_are_broken_only_at_a_given_width() -> None:
    message = (
        'The Result of `save(…)` is discarded; its errors are lost (DiskFull | TooLong | Busy).'
    )
    result = report(finding(message=message))
    lines = render_report(result, ReportStyle(width=60)).split('\n')
    assert lines[:3] == [
        'shop/orders.py:4:1: error[SW101] The Result of `save(…)` is',
        '    discarded; its errors are lost (DiskFull | TooLong |',
        '    Busy).',
    ]
    assert message in render_report(result)


def test_path_wider_than_the_terminal_is_not_broken() -> None:
    path = f'{"long/" * 20}a.py'
    lines = render_report(report(finding(path=path)), ReportStyle(width=40)).split('\n')
    assert lines[:2] == [f'{path}:4:1: error[SW101]', '    The Result is discarded.']


@given(
    text=st.text('ab 错\u0301', max_size=200), width=st.integers(1, 100), used=st.integers(0, 30)
)
def test_broken_lines_fit_and_keep_the_text(text: str, width: int, used: int) -> None:
    first, *more = wrap_columns(text, width=width, used=used, indent='    ')
    room = max(width, 40)
    assert used + cell_len(first) <= room
    assert all(cell_len(line) <= room and line.startswith('    ') for line in more)
    assert ''.join([first, *more]).replace(' ', '') == text.replace(' ', '')


def test_no_carets_are_drawn_for_a_screen_reader() -> None:
    assert '^' not in render_report(report(finding()), ReportStyle(has_carets=False))


def test_control_characters_are_escaped() -> None:
    text = render_report(report(finding(path=ODD, message='a\x1b[2J\nb')))
    assert text.split('\n')[0] == r'a b/说明,100%:\n::error::x\xff.py:4:1: error[SW101] a\x1b[2J\nb'


def test_summary_counts_by_severity_and_names_the_commit() -> None:
    hint, error = finding(severity='hint'), finding()
    assert render_summary(report()) == 'no findings in 2 files (0.2 s)'
    assert (
        render_summary(report(files=1), since='main')
        == 'no new findings since main in 1 file (0.2 s)'
    )
    assert render_summary(report(error, error)) == '2 findings in 2 files (0.2 s)'
    assert (
        render_summary(report(hint, error, hint), since='a\nb')
        == r'3 new findings since a\nb in 2 files (0.2 s): 1 error and 2 hints'
    )


def test_problem_is_one_line() -> None:
    assert render_problem(UNREAD) == 'broken.py:3: it does not parse: invalid syntax.'
    assert render_problem(UNCONFIGURED) == 'mypy refuses its configuration.'
    assert render_problem(SourceProblem('a\n::error::b.py', 'c\nd')) == r'a\n::error::b.py: c\nd'


def test_json_has_fields_of_findings_and_totals() -> None:
    assert json.loads(render_json(report(finding(), files=1))) == {
        'findings': [
            {
                'code': 'SW101',
                'path': 'shop/orders.py',
                'line': 4,
                'column': 1,
                'message': 'The Result is discarded.',
                'help': 'Use it.',
                'severity': 'error',
                'end_line': 4,
                'end_column': 7,
                'edits': [],
                'explain': 'seamwise check --explain SW101',
                'page': None,
            }
        ],
        'problems': [],
        'files': 1,
        'seconds': 0.25,
    }


def test_json_has_edits_and_problems() -> None:
    edit = TextEdit(4, 0, 4, 4, 'save', '_ = save')
    fixable = replace(finding(last_line=5), edits=(edit,))
    output = json.loads(render_json(report(fixable, problems=(UNREAD,))))
    assert output['problems'] == [
        {
            'path': 'broken.py',
            'line': 3,
            'message': 'it does not parse: invalid syntax.',
            'is_unread': True,
        }
    ]
    (result,) = output['findings']
    assert (result['end_line'], result['end_column']) == (5, None)
    assert result['edits'] == [
        {'line': 4, 'column': 1, 'end_line': 4, 'end_column': 5, 'new': '_ = save'}
    ]


def test_json_is_utf_8_for_any_file_name() -> None:
    (result,) = json.loads(render_json(report(finding(path=ODD))))['findings']
    assert result['path'] == ODD.replace('\udcff', '\ufffd')
