"""A hunk goes where its context stands, or nowhere."""

import difflib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seamwise import Failure
from seamwise.catalog.tools import RejectedHunk
from seamwise.toolhost.text.document import Document
from seamwise.toolhost.text.hunks import iter_edits, locate
from seamwise.toolhost.text.unified_diff import parse_diff
from tests.toolhost.helpers import value_of


def applied(content: str, diff: str) -> str:
    document = Document(content)
    placed = value_of(locate(value_of(parse_diff(diff)), document))
    return document.apply_edits(iter_edits(placed, document))


def hunks(content: str, diff: str) -> tuple[RejectedHunk, ...]:
    result = locate(value_of(parse_diff(diff)), Document(content))
    assert type(result) is Failure, result
    return result.failure()


def rejected(content: str, diff: str) -> list[tuple[int, str]]:
    return [(one.number, one.reason) for one in hunks(content, diff)]


TEN = ''.join(f'line {number}\n' for number in range(1, 11))
TWICE = 'head\nalpha\nbeta\ngamma\nmid\nalpha\nbeta\ngamma\ntail\n'


@pytest.mark.parametrize('stated', [0, 1, 2, 3, 4, 9, 10, 11, 1000, 10**17])
def test_a_hunk_goes_to_the_only_place_whatever_line_it_states(stated: int) -> None:
    assert applied(
        TEN, f'@@ -{stated},2 +{stated},2 @@\n line 3\n-line 4\n+LINE 4\n'
    ) == TEN.replace('line 4', 'LINE 4')


@pytest.mark.parametrize(
    ('stated', 'expected'),
    [(3, TWICE.replace('beta', 'B', 1)), (7, 'B'.join(TWICE.rsplit('beta', 1)))],
)
def test_of_two_places_the_stated_one_counts(stated: int, expected: str) -> None:
    assert applied(TWICE, f'@@ -{stated} +{stated} @@\n-beta\n+B\n') == expected


def test_of_two_places_none_is_certain_where_neither_is_stated() -> None:
    assert rejected(TWICE, '@@ -1 +1 @@\n-beta\n+B\n') == [(1, 'ambiguous')]


def test_there_is_no_fuzz() -> None:
    assert rejected(TEN, '@@ -3,2 +3,2 @@\n line 3 \n-line 4\n+LINE 4\n') == [(1, 'not_found')]
    assert rejected(TEN, '@@ -10,2 +10,2 @@\n line 10\n-line 11\n+LINE 11\n') == [(1, 'not_found')]


def test_a_line_is_compared_as_a_whole() -> None:
    assert rejected('xab\nabx\n', '@@ -1 +1 @@\n-ab\n+c\n') == [(1, 'not_found')]


def test_every_rejected_hunk_is_named_with_what_stands_there() -> None:
    diff = (
        '@@ -1 +1 @@ top\n-nothing\n+x\n@@ -3 +3 @@\n-line 3\n+y\n@@ -9,2 +9,1 @@\n line 9\n-no\n'
    )
    assert hunks(TEN, diff) == (
        RejectedHunk(1, '@@ -1 +1 @@', 1, 'not_found', 'nothing', 'line 1'),
        RejectedHunk(3, '@@ -9,2 +9,1 @@', 9, 'not_found', 'line 9\nno', 'line 9\nline 10'),
    )


def test_hunks_are_placed_in_the_file_as_it_was() -> None:
    diff = '@@ -9 +9,2 @@\n-line 9\n+nine\n+and a half\n@@ -1 +1,2 @@\n-line 1\n+one\n+line 9\n'
    assert applied(TEN, diff) == TEN.replace('line 9', 'nine\nand a half').replace(
        'line 1\n', 'one\nline 9\n'
    )


@pytest.mark.parametrize(
    'diff',
    [
        '@@ -1,3 +1,3 @@\n line 1\n-line 2\n+2\n line 3\n@@ -3,2 +3,2 @@\n line 3\n-line 4\n+4\n',
        '@@ -3,2 +3,2 @@\n line 3\n-line 4\n+4\n@@ -1,3 +1,3 @@\n line 1\n-line 2\n+2\n line 3\n',
        '@@ -2 +2 @@\n-line 2\n+2\n@@ -2 +2 @@\n-line 2\n+2\n',
        '@@ -1,3 +1,3 @@\n line 1\n-line 2\n+2\n line 3\n@@ -2,0 +3 @@\n+between\n',
    ],
)
def test_hunks_that_take_the_same_lines_are_rejected(diff: str) -> None:
    assert [reason for _number, reason in rejected(TEN, diff)] == ['not_found']


def test_hunks_side_by_side_are_not() -> None:
    diff = '@@ -1,2 +1,1 @@\n-line 1\n-line 2\n+a\n@@ -2,0 +2 @@\n+b\n@@ -2,0 +3 @@\n+c\n@@ -3 +4 @@\n-line 3\n+d\n'
    assert applied(TEN, diff).startswith('a\nb\nc\nd\nline 4\n')


@pytest.mark.parametrize(
    ('content', 'diff', 'expected'),
    [
        ('', '@@ -0,0 +1,3 @@\n+a\n+b\n+c\n', 'a\nb\nc\n'),
        ('', '@@ -0,0 +1 @@\n+a\n\\ No newline at end of file\n', 'a\n'),
        ('x\n', '@@ -0,0 +1 @@\n+a\n', 'a\nx\n'),
        ('x\n', '@@ -1,0 +2 @@\n+a\n', 'x\na\n'),
        ('x', '@@ -1,0 +2 @@\n+a\n', 'x\na'),
        ('x\r\ny\r\n', '@@ -1,2 +1,3 @@\n x\n+a\n y\n', 'x\r\na\r\ny\r\n'),
        ('x\r\ny', '@@ -1,2 +1,3 @@\n x\n y\n+a\n', 'x\r\ny\r\na'),
        ('x\ny', '@@ -1,2 +1,1 @@\n x\n-y\n', 'x'),
        ('x\n', '@@ -1 +0,0 @@\n-x\n', ''),
        ('x', '@@ -1 +0,0 @@\n-x\n', ''),
        ('\ufeffx\ny\n', '@@ -1 +1 @@\n-x\n+z\n', '\ufeffz\ny\n'),
        ('a\nx\n', '@@ -1,2 +1,3 @@\n+first\n a\n x\n', 'first\na\nx\n'),
        ('one\ntwo\nthree', '@@ -2,2 +2,2 @@\n two\n-three\n+3\n', 'one\ntwo\n3'),
    ],
)
def test_the_ends_of_a_file_and_of_its_lines_stay(content: str, diff: str, expected: str) -> None:
    assert applied(content, diff) == expected


def test_lines_beside_none_go_nowhere_where_their_line_is_not_there() -> None:
    assert rejected('a\n', '@@ -2,0 +3 @@\n+x\n') == [(1, 'ambiguous')]


@pytest.mark.parametrize(
    ('content', 'diff'),
    [
        ('a\nb\n', '@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+c\n'),
        ('a', '@@ -1 +1 @@\n-b\n\\ No newline at end of file\n+c\n'),
        ('a\n', '@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+c\n'),
        ('a\nb\n', '@@ -1 +1 @@\n-a\n+c\n\\ No newline at end of file\n'),
        ('a\nb\n', '@@ -1,0 +2 @@\n+c\n\\ No newline at end of file\n'),
    ],
)
def test_a_hunk_that_speaks_of_the_end_of_a_file_goes_nowhere_else(content: str, diff: str) -> None:
    assert [number for number, _reason in rejected(content, diff)] == [1]


def test_a_hunk_that_speaks_of_the_end_finds_it() -> None:
    diff = '@@ -1 +1 @@\n-a\n+c\n\\ No newline at end of file\n'
    document = Document('a\nb\na\n')
    (placed,) = value_of(locate(value_of(parse_diff(diff)), document))
    assert (placed.start, placed.end) == (2, 3)


LINES = st.lists(st.sampled_from(['', 'a', 'b', 'c', '-', '+', '@@']), max_size=12)


@given(LINES, LINES, st.integers(0, 3))
def test_what_difflib_says_is_what_comes_out(
    before: list[str], after: list[str], context: int
) -> None:
    diff = '\n'.join(difflib.unified_diff(before, after, n=context, lineterm=''))
    if before != after:
        old, new = (''.join(f'{line}\n' for line in lines) for lines in (before, after))
        assert applied(old, diff) == new
