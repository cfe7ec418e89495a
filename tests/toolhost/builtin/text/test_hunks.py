"""Location of hunks in a document, by exact match."""

import difflib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seamwise import Failure
from seamwise.catalog.tools import RejectedHunk
from seamwise.toolhost.builtin import time_limit
from seamwise.toolhost.builtin.text.document import Document
from seamwise.toolhost.builtin.text.hunks import iter_edits, locate
from seamwise.toolhost.builtin.text.unified_diff import parse_diff
from seamwise.toolhost.builtin.time_limit import OutOfTime, TimeLimit
from tests.toolhost.helpers import value_of


def apply(content: str, diff: str) -> str:
    document = Document(content)
    located = value_of(locate(value_of(parse_diff(diff)), document, TimeLimit()))
    return document.apply_edits(iter_edits(located, document))


def rejected_hunks(content: str, diff: str) -> tuple[RejectedHunk, ...]:
    result = locate(value_of(parse_diff(diff)), Document(content), TimeLimit())
    assert type(result) is Failure, result
    return result.failure()


def rejections(content: str, diff: str) -> list[tuple[int, str]]:
    return [(hunk.number, hunk.reason) for hunk in rejected_hunks(content, diff)]


TEN_LINES = ''.join(f'line {number}\n' for number in range(1, 11))
TWO_MATCHES = 'head\nalpha\nbeta\ngamma\nmid\nalpha\nbeta\ngamma\ntail\n'


@pytest.mark.parametrize('header_line', [0, 1, 2, 3, 4, 9, 10, 11, 1000, 10**17])
def test_a_hunk_is_located_at_the_only_match_for_any_header_line(header_line: int) -> None:
    assert apply(
        TEN_LINES, f'@@ -{header_line},2 +{header_line},2 @@\n line 3\n-line 4\n+LINE 4\n'
    ) == TEN_LINES.replace('line 4', 'LINE 4')


@pytest.mark.parametrize(
    ('header_line', 'expected'),
    [(3, TWO_MATCHES.replace('beta', 'B', 1)), (7, 'B'.join(TWO_MATCHES.rsplit('beta', 1)))],
)
def test_of_two_matches_the_header_line_decides(header_line: int, expected: str) -> None:
    assert apply(TWO_MATCHES, f'@@ -{header_line} +{header_line} @@\n-beta\n+B\n') == expected


def test_two_matches_elsewhere_are_ambiguous() -> None:
    assert rejections(TWO_MATCHES, '@@ -1 +1 @@\n-beta\n+B\n') == [(1, 'ambiguous')]


def test_a_hunk_is_not_located_by_approximate_match() -> None:
    assert rejections(TEN_LINES, '@@ -3,2 +3,2 @@\n line 3 \n-line 4\n+LINE 4\n') == [
        (1, 'not_found')
    ]
    assert rejections(TEN_LINES, '@@ -10,2 +10,2 @@\n line 10\n-line 11\n+LINE 11\n') == [
        (1, 'not_found')
    ]


def test_a_part_of_a_line_does_not_match() -> None:
    assert rejections('xab\nabx\n', '@@ -1 +1 @@\n-ab\n+c\n') == [(1, 'not_found')]


def test_every_rejected_hunk_is_reported_with_the_actual_text() -> None:
    diff = (
        '@@ -1 +1 @@ top\n-nothing\n+x\n@@ -3 +3 @@\n-line 3\n+y\n@@ -9,2 +9,1 @@\n line 9\n-no\n'
    )
    assert rejected_hunks(TEN_LINES, diff) == (
        RejectedHunk(1, '@@ -1 +1 @@', 1, 'not_found', 'nothing', 'line 1'),
        RejectedHunk(3, '@@ -9,2 +9,1 @@', 9, 'not_found', 'line 9\nno', 'line 9\nline 10'),
    )


def test_hunks_are_located_in_the_unchanged_document() -> None:
    diff = '@@ -9 +9,2 @@\n-line 9\n+nine\n+and a half\n@@ -1 +1,2 @@\n-line 1\n+one\n+line 9\n'
    assert apply(TEN_LINES, diff) == TEN_LINES.replace('line 9', 'nine\nand a half').replace(
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
def test_the_later_of_two_overlapping_hunks_is_rejected(diff: str) -> None:
    assert [reason for _number, reason in rejections(TEN_LINES, diff)] == ['not_found']


FUNCTIONS = ''.join(f'def {name}():\n    x\n    return 1\n' for name in 'abcd')
"""Functions of three lines; only their names differ."""

RETURN_2 = '@@ -{line} +{line} @@\n-    return 1\n+    return 2\n'
RENAME_A = '@@ -{line} +{line} @@\n-def a():\n+def A():\n'
RENAME_D = '@@ -{line} +{line} @@\n-def d():\n+def D():\n'


def changed_lines(content: str, diff: str) -> list[int]:
    """Return the numbers of the lines that a diff changes, but does not insert or remove."""
    lines = zip(content.split('\n'), apply(content, diff).split('\n'), strict=True)
    return [number for number, (old, new) in enumerate(lines, 1) if old != new]


@pytest.mark.parametrize(
    ('diff', 'expected'),
    [
        # Three lines were inserted at the start since the diff was made.
        (RENAME_A.format(line=1) + RETURN_2.format(line=3), [4, 6]),
        (RETURN_2.format(line=3) + RENAME_A.format(line=1), [4, 6]),
        (RETURN_2.format(line=6) + RENAME_D.format(line=10), [9, 13]),
        # No line is where the header says, and only the shift tells the functions apart.
        (RENAME_A.format(line=2) + RETURN_2.format(line=4), [4, 6]),
        # The lines were inserted between the hunks.
        (RENAME_A.format(line=4) + RETURN_2.format(line=7) + RENAME_D.format(line=11), [4, 9, 13]),
        # Hunks around one with several matches have not moved.
        (
            RENAME_A.format(line=4)
            + RETURN_2.format(line=9)
            + '@@ -10 +10 @@\n-def c():\n+def C():\n'
            + RENAME_D.format(line=1),
            [4, 9, 10, 13],
        ),
    ],
)
def test_a_hunk_with_several_matches_moves_with_the_hunks_around_it(
    diff: str, expected: list[int]
) -> None:
    assert changed_lines('#1\n#2\n#3\n' + FUNCTIONS, diff) == expected


@pytest.mark.parametrize(
    'diff',
    [
        # The line of the header matches, but the hunk next to it has moved by another distance.
        RENAME_A.format(line=2) + RETURN_2.format(line=6),
        RETURN_2.format(line=6) + RENAME_D.format(line=11),
        # The hunks around it have moved by 0 and by 3: it matches at both lines, or at the stale.
        RENAME_A.format(line=4) + RETURN_2.format(line=6) + RENAME_D.format(line=10),
        RENAME_A.format(line=4) + RETURN_2.format(line=6) + RENAME_D.format(line=12),
        # Nothing tells by how much the lines were shifted.
        RETURN_2.format(line=5),
        '@@ -40,0 +41 @@\n+new\n',
    ],
)
def test_a_hunk_that_no_shift_locates_is_ambiguous(diff: str) -> None:
    assert [reason for _, reason in rejections('#1\n#2\n#3\n' + FUNCTIONS, diff)] == ['ambiguous']


def test_an_insertion_without_context_moves_with_the_hunk_before_it() -> None:
    diff = RENAME_A.format(line=1) + '@@ -3,0 +4 @@\n+# end of a\n'
    assert apply('#1\n' + FUNCTIONS, diff).split('\n')[1:5] == [
        'def A():',
        '    x',
        '    return 1',
        '# end of a',
    ]


@pytest.mark.parametrize('content', ['x\n', '\n', 'x'])
def test_a_creation_is_rejected_for_a_file_with_content(content: str) -> None:
    assert rejections(content, '@@ -0,0 +1 @@\n+a\n') == [(1, 'not_found')]


def test_adjacent_hunks_are_applied() -> None:
    diff = (
        '@@ -1,2 +1,1 @@\n-line 1\n-line 2\n+a\n@@ -2,0 +2 @@\n+b\n'
        '@@ -2,0 +3 @@\n+c\n@@ -3 +4 @@\n-line 3\n+d\n'
    )
    assert apply(TEN_LINES, diff).startswith('a\nb\nc\nd\nline 4\n')


@pytest.mark.parametrize(
    ('content', 'diff', 'expected'),
    [
        ('', '@@ -0,0 +1,3 @@\n+a\n+b\n+c\n', 'a\nb\nc\n'),
        ('', '@@ -0,0 +1 @@\n+a\n\\ No newline at end of file\n', 'a\n'),
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
def test_line_ends_and_the_end_of_the_file_are_preserved(
    content: str, diff: str, expected: str
) -> None:
    assert apply(content, diff) == expected


def test_an_insertion_without_context_after_the_end_is_ambiguous() -> None:
    assert rejections('a\n', '@@ -2,0 +3 @@\n+x\n') == [(1, 'ambiguous')]


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
def test_a_hunk_with_an_end_marker_matches_only_at_the_end(content: str, diff: str) -> None:
    assert [number for number, _reason in rejections(content, diff)] == [1]


def test_a_hunk_with_an_end_marker_is_located_at_the_end() -> None:
    diff = '@@ -1 +1 @@\n-a\n+c\n\\ No newline at end of file\n'
    document = Document('a\nb\na\n')
    (hunk,) = value_of(locate(value_of(parse_diff(diff)), document, TimeLimit()))
    assert (hunk.start, hunk.end) == (2, 3)


def test_the_location_of_many_hunks_ends_at_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    hunks = value_of(parse_diff('@@ -1 +1 @@\n-line 1\n+1\n' * 3))
    times = iter([0.0, 0.5, 1.0, 1.5])
    monkeypatch.setattr(time_limit, 'monotonic', lambda: next(times))
    with pytest.raises(OutOfTime):
        locate(hunks, Document(TEN_LINES), TimeLimit(1.0))


LINES = st.lists(st.sampled_from(['', 'a', 'b', 'c', '-', '+', '@@']), max_size=12)


@given(LINES, LINES, st.integers(0, 3))
def test_diffs_of_difflib_produce_the_new_content(
    old_lines: list[str], new_lines: list[str], context: int
) -> None:
    diff = '\n'.join(difflib.unified_diff(old_lines, new_lines, n=context, lineterm=''))
    # Without context, an insertion before the first line looks like the creation of the file.
    is_creation = bool(old_lines) and '@@ -0,0 ' in diff
    if old_lines != new_lines and not is_creation:
        old_content, new_content = (
            ''.join(f'{line}\n' for line in lines) for lines in (old_lines, new_lines)
        )
        assert apply(old_content, diff) == new_content
