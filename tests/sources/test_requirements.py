"""Tests of the table of requirements: every row has a test, and the guide has every difference."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec import Struct

ROOT = Path(__file__).parents[2]
TABLE = Path(__file__).with_name('requirements.md')
PAGE = ROOT / 'docs' / 'where-this-comes-from.md'

SECTIONS = {
    '000': 'Errors of tools, for models and logs',
    '001': 'Errors of an agent framework, over HTTP',
    '002': 'The event protocol of a chat agent',
    '003': 'Errors of tool calls, for planners',
    '004': 'Errors at the boundaries of a program',
}
"""Heading on the page of each document."""

MARK = re.compile(r'mark\.requirement\(([^)]*)\)')
DIFFERENTLY = 'differently: '
OPEN = 'open: '


class Requirement(Struct, frozen=True):
    """A row of the table."""

    id: str
    section: str
    text: str
    met: str


def rows_of(markdown: str) -> Iterator[list[str]]:
    """Yield the cells of each row of the tables in a text, without heads."""
    lines = markdown.splitlines()
    for line, following in zip(lines, [*lines[1:], ''], strict=True):
        # An escaped pipe is part of a cell.
        cells = [cell.strip() for cell in re.split(r'(?<!\\)\|', line)[1:-1]]
        is_head = following.startswith('| --- ')
        if cells and not is_head and set(cells) != {'---'}:
            yield cells


REQUIREMENTS = [Requirement(*cells) for cells in rows_of(TABLE.read_text(encoding='utf-8'))]


def marked_ids() -> set[str]:
    """Return the ids in the marks of all tests."""
    return {
        id_
        for path in (ROOT / 'tests').rglob('test_*.py')
        if path != Path(__file__)
        for arguments in MARK.findall(path.read_text(encoding='utf-8'))
        for id_ in re.findall(r"'([^']+)'", arguments)
    }


def test_each_requirement_has_an_id_of_its_own_in_order() -> None:
    for document in (*SECTIONS, 'order'):
        numbers = [row.id for row in REQUIREMENTS if row.id.startswith(f'{document}-')]
        assert numbers == [f'{document}-{number:02}' for number in range(1, len(numbers) + 1)]
        assert numbers
    known = (*SECTIONS, 'order')
    assert {row.id.partition('-')[0] for row in REQUIREMENTS} == {*known}


def test_each_requirement_is_met_or_says_why_not() -> None:
    for row in REQUIREMENTS:
        assert row.met == 'yes' or row.met.startswith((DIFFERENTLY, OPEN)), row
        assert row.section, row
        assert row.text.endswith('.'), row


def test_each_requirement_that_is_met_has_a_test_and_each_mark_has_a_requirement() -> None:
    marked = marked_ids()
    met = {row.id for row in REQUIREMENTS if not row.met.startswith(OPEN)}
    assert met - marked == set(), 'without a test'
    assert marked - met == set(), 'marks without a requirement that is met'


@pytest.mark.parametrize('document', SECTIONS)
def test_the_page_says_what_is_met_differently_and_why(document: str) -> None:
    page = PAGE.read_text(encoding='utf-8')
    section = page.partition(f'\n## {SECTIONS[document]}\n')[2].partition('\n## ')[0]
    tables = section.strip().split('\n\n')
    differences = [table for table in tables if 'Reason |' in table.partition('\n')[0]]
    on_page = {cells[-1] for table in differences for cells in rows_of(table)}
    in_table = {
        row.met.removeprefix(DIFFERENTLY)
        for row in REQUIREMENTS
        if row.id.startswith(f'{document}-') and row.met.startswith(DIFFERENTLY)
    }
    assert in_table == on_page
