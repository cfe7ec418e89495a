"""A report as annotations, read again as the runner of GitHub reads them."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seamwise.check.mypy_sources import SourceProblem
from seamwise.check.reports import as_github
from seamwise.check.rules.registry import RULES

from .reporting import ODD, UNCONFIGURED, UNREAD, UNTYPED, finding, report

COMMAND = re.compile(r'^\s*::(?P<name>[^ :]+)(?: (?P<properties>.*?))?::(?P<data>.*)$')
NASTY = st.text(st.sampled_from('a:,%\r\n 0DA25=错') | st.characters(exclude_categories=['Cs']))


def annotations(text: str) -> list[tuple[str, dict[str, str], str]]:
    """Read commands as the runner does: a line each, properties between commas, `%0A` and the like undone."""
    found: list[tuple[str, dict[str, str], str]] = []
    for line in re.split('[\r\n]+', text):
        if command := COMMAND.match(line):
            pairs = [one.split('=', 1) for one in (command['properties'] or '').split(',') if one]
            properties = {key: undone(value, {'%3A': ':', '%2C': ','}) for key, value in pairs}
            found.append((command['name'], properties, undone(command['data'], {})))
    return found


def undone(text: str, more: dict[str, str]) -> str:
    for escape, one in {'%0D': '\r', '%0A': '\n', **more, '%25': '%'}.items():
        text = text.replace(escape, one)
    return text


def test_a_finding_is_an_annotation_with_its_place() -> None:
    title = RULES['SW101'].title
    assert as_github(report(finding('  save()'))).split('\n') == [
        f'::error file=shop/orders.py,line=4,endLine=4,col=3,endColumn=9,title=SW101%3A {title}::The Result is thrown away.%0AUse it.',
        '1 finding in 2 files (0.2 s)',
    ]


@pytest.mark.parametrize(
    ('severity', 'name'), [('error', 'error'), ('warning', 'warning'), ('hint', 'notice')]
)
def test_a_hint_is_a_notice(severity: str, name: str) -> None:
    one = finding(
        severity='warning' if severity == 'warning' else 'hint' if severity == 'hint' else 'error'
    )
    assert annotations(as_github(report(one)))[0][0] == name


def test_over_several_lines_there_are_no_columns() -> None:
    ((_, properties, _),) = annotations(as_github(report(finding(last_line=9))))
    assert properties.keys() == {'file', 'line', 'endLine', 'title'}
    assert properties['endLine'] == '9'


def test_what_could_not_be_read_is_annotated_too() -> None:
    assert annotations(as_github(report(problems=(UNREAD, UNCONFIGURED, UNTYPED)))) == [
        ('error', {'file': 'broken.py', 'line': '3', 'title': 'seamwise check'}, UNREAD.message),
        ('error', {'title': 'seamwise check'}, UNCONFIGURED.message),
        (
            'warning',
            {'file': 'shop/orders.py', 'line': '1', 'title': 'seamwise check'},
            UNTYPED.message,
        ),
    ]


def test_an_odd_name_is_one_file() -> None:
    ((_, properties, _),) = annotations(as_github(report(finding(path=ODD))))
    assert properties['file'] == ODD


@given(
    path=NASTY.filter(
        lambda one: one.strip('./') == one and one and '//' not in one and '/./' not in one
    ),
    message=NASTY,
    since=NASTY,
)
def test_no_text_begins_a_command_or_a_property_of_its_own(
    path: str, message: str, since: str
) -> None:
    told = as_github(
        report(finding(path=path, message=message), problems=(SourceProblem(path, message),)),
        since=f'x{since}',
    )
    first, second = annotations(told)
    assert (first[1]['file'], first[2]) == (path, message)
    assert first[1].keys() == {'file', 'title'}
    assert (second[1]['file'], second[2]) == (path, f'{message}\nUse it.')
    assert second[1].keys() == {'file', 'line', 'endLine', 'col', 'endColumn', 'title'}
