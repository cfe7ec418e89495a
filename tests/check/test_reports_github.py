"""Tests of the GitHub report: workflow commands, parsed as the runner of GitHub parses them."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seamwise.check._mypy.sources import SourceProblem
from seamwise.check.facts import Severity
from seamwise.check.reports import render_github
from seamwise.check.rules.registry import RULES

from .reporting import NOTE, ODD, UNCONFIGURED, UNREAD, UNTYPED, finding, report

COMMAND = re.compile(r'^\s*::(?P<name>[^ :]+)(?: (?P<properties>.*?))?::(?P<data>.*)$')
NASTY = st.text(st.sampled_from('a:,%\r\n 0DA25=错') | st.characters(exclude_categories=['Cs']))


def parse_commands(text: str) -> list[tuple[str, dict[str, str], str]]:
    """Return name, properties and data of the commands in a log, decoded as by the runner."""
    commands: list[tuple[str, dict[str, str], str]] = []
    for line in re.split('[\r\n]+', text):
        if command := COMMAND.match(line):
            items = [item for item in (command['properties'] or '').split(',') if item]
            pairs = [item.split('=', 1) for item in items]
            properties = {key: decode(value, {'%3A': ':', '%2C': ','}) for key, value in pairs}
            commands.append((command['name'], properties, decode(command['data'], {})))
    return commands


def decode(text: str, extra_escapes: dict[str, str]) -> str:
    for escape, char in {'%0D': '\r', '%0A': '\n', **extra_escapes, '%25': '%'}.items():
        text = text.replace(escape, char)
    return text


def test_finding_becomes_command_with_its_location() -> None:
    title = RULES['SW101'].title
    properties = 'file=shop/orders.py,line=4,endLine=4,col=3,endColumn=9'
    assert render_github(report(finding('  save()'))).split('\n') == [
        f'::error {properties},title=SW101%3A {title}::The Result is discarded.%0AUse it.',
        '1 finding in 2 files (0.2 s)',
    ]


@pytest.mark.parametrize(
    ('severity', 'name'), [('error', 'error'), ('warning', 'warning'), ('hint', 'notice')]
)
def test_hint_becomes_notice(severity: Severity, name: str) -> None:
    commands = parse_commands(render_github(report(finding(severity=severity))))
    assert commands[0][0] == name


def test_finding_over_several_lines_has_no_columns() -> None:
    ((_, properties, _),) = parse_commands(render_github(report(finding(last_line=9))))
    assert properties.keys() == {'file', 'line', 'endLine', 'title'}
    assert properties['endLine'] == '9'


def test_problem_becomes_command() -> None:
    assert parse_commands(
        render_github(report(problems=(UNREAD, UNCONFIGURED, UNTYPED, NOTE)))
    ) == [
        ('error', {'file': 'broken.py', 'line': '3', 'title': 'seamwise check'}, UNREAD.message),
        ('error', {'title': 'seamwise check'}, UNCONFIGURED.message),
        (
            'warning',
            {'file': 'shop/orders.py', 'line': '1', 'title': 'seamwise check'},
            UNTYPED.message,
        ),
        ('notice', {'title': 'seamwise check'}, NOTE.message),
    ]


def test_unusual_file_name_is_one_property() -> None:
    ((_, properties, _),) = parse_commands(render_github(report(finding(path=ODD))))
    assert properties['file'] == ODD


@given(
    path=NASTY.filter(
        lambda path: path.strip('./') == path and path and '//' not in path and '/./' not in path
    ),
    message=NASTY,
    since=NASTY,
)
def test_no_text_starts_another_command_or_property(path: str, message: str, since: str) -> None:
    text = render_github(
        report(finding(path=path, message=message), problems=(SourceProblem(path, message),)),
        since=f'x{since}',
    )
    first, second = parse_commands(text)
    assert (first[1]['file'], first[2]) == (path, message)
    assert first[1].keys() == {'file', 'title'}
    assert (second[1]['file'], second[2]) == (path, f'{message}\nUse it.')
    assert second[1].keys() == {'file', 'line', 'endLine', 'col', 'endColumn', 'title'}
