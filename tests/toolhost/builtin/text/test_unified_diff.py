"""Strict parsing of unified diffs."""

import difflib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seamwise.toolhost.builtin.text.unified_diff import Hunk, parse_diff
from tests.toolhost.helpers import error_of, value_of

TWO_HUNKS = '@@ -1,3 +1,3 @@ def main():\n a\n-b\n+B\n c\n@@ -10 +10,2 @@\n x\n+y\n'


def signed_lines(hunk: Hunk) -> list[str]:
    return [change.sign + change.text for change in hunk.changes]


def test_hunks_are_parsed_with_their_headers() -> None:
    first, second = value_of(parse_diff(TWO_HUNKS))
    assert (first.number, first.header, first.line) == (1, '@@ -1,3 +1,3 @@', 1)
    assert signed_lines(first) == [' a', '-b', '+B', ' c']
    assert first.old == ['a', 'b', 'c']
    assert (second.number, second.header, second.line, signed_lines(second)) == (
        2,
        '@@ -10 +10,2 @@',
        10,
        [' x', '+y'],
    )
    assert (first.count('+'), first.count('-'), first.count(' ')) == (1, 1, 2)


@pytest.mark.parametrize(
    'diff',
    [
        '--- a/x\n+++ b/x\n' + TWO_HUNKS,
        'diff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ b/x\n' + TWO_HUNKS,
        'Here it is:\n```diff\n' + TWO_HUNKS + '```\nDone.\n',
        TWO_HUNKS.replace('\n', '\r\n'),
        TWO_HUNKS.removesuffix('\n'),
        TWO_HUNKS + '\n\n',
        TWO_HUNKS + '-- \n2.43.0\n',
        '--- /dev/null\n+++ b/x\n' + TWO_HUNKS,
        '--- a/x\nsomething\n' + TWO_HUNKS,
        TWO_HUNKS.replace('@@ -10', '\n@@ -10'),
    ],
)
def test_text_around_the_hunks_is_skipped(diff: str) -> None:
    assert [(hunk.header, signed_lines(hunk)) for hunk in value_of(parse_diff(diff))] == [
        (hunk.header, signed_lines(hunk)) for hunk in value_of(parse_diff(TWO_HUNKS))
    ]


def test_an_empty_line_is_an_empty_context_line() -> None:
    (hunk,) = value_of(parse_diff('@@ -1,3 +1,3 @@\n-a\n+b\n\n c\n'))
    assert signed_lines(hunk) == ['-a', '+b', ' ', ' c']


def test_changed_lines_that_look_like_headers_are_changes() -> None:
    (hunk,) = value_of(parse_diff('@@ -1,2 +1,2 @@\n--- a\n+++ b\n @@ -1 +1 @@\n'))
    assert signed_lines(hunk) == ['--- a', '+++ b', ' @@ -1 +1 @@']


@pytest.mark.parametrize(
    ('diff', 'ends_old', 'ends_new'),
    [
        ('@@ -1 +1 @@\n-a\n+b\n', False, False),
        ('@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n', True, False),
        ('@@ -1 +1 @@\n-a\n+b\n\\ No newline at end of file\n', False, True),
        (
            '@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file\n',
            True,
            True,
        ),
        ('@@ -1 +1,2 @@\n+b\n a\n\\ No newline at end of file\n', True, True),
        ('@@ -1 +1 @@\n-a\n+b\n\\ Kein Zeilenumbruch am Dateiende.', False, True),
    ],
)
def test_a_missing_last_newline_is_recorded(diff: str, ends_old: bool, ends_new: bool) -> None:
    (hunk,) = value_of(parse_diff(diff))
    assert (hunk.ends_old, hunk.ends_new) == (ends_old, ends_new)


@pytest.mark.parametrize(
    ('diff', 'expected'),
    [
        (
            '',
            'contains no hunk; a hunk begins with a line like "@@ -1,3 +1,4 @@"',
        ),
        (
            '-a\n+b\n',
            'contains no hunk; a hunk begins with a line like "@@ -1,3 +1,4 @@"',
        ),
        (
            '--- a/x\n+++ b/x\n',
            'contains no hunk; a hunk begins with a line like "@@ -1,3 +1,4 @@"',
        ),
        (
            '@@ ... @@\n a\n',
            'line 1 is not a hunk header like "@@ -1,3 +1,4 @@": \'@@ ... @@\'',
        ),
        (
            'x\n@@@ -1 -1 +1 @@@\n',
            'line 2 is not a hunk header like "@@ -1,3 +1,4 @@": \'@@@ -1 -1 +1 @@@\'',
        ),
        (
            '@@ -1 +1 @@x\n',
            'line 1 is not a hunk header like "@@ -1,3 +1,4 @@": \'@@ -1 +1 @@x\'',
        ),
        (f'@@ -{"1" * 5_000} +1 @@\n', None),
        (
            '@@ -1,3 +1,3 @@\n a\n-b\n+c\n',
            (
                'hunk 1 (@@ -1,3 +1,3 @@) has the wrong number of lines: '
                'expected 3 old and 3 new, found 2 old and 2 new'
            ),
        ),
        (
            '@@ -1,2 +1,2 @@\n a\n*b\n',
            (
                'hunk 1 (@@ -1,2 +1,2 @@) has the wrong number of lines: '
                'expected 2 old and 2 new, found 1 old and 1 new'
            ),
        ),
        (
            '@@ -1,1 +1,3 @@\n a\n b\n+c\n',
            (
                'hunk 1 (@@ -1,1 +1,3 @@) has the wrong number of lines: '
                'expected 1 old and 3 new, found 2 old and 3 new'
            ),
        ),
        (
            '@@ -1 +1 @@\n\\ No newline\n-a\n+b\n',
            (
                'hunk 1 (@@ -1 +1 @@) has the wrong number of lines: '
                'expected 1 old and 1 new, found 0 old and 0 new'
            ),
        ),
        ('@@ -1 +1 @@\n-a\n+b\n+c\n', 'hunk 1 (@@ -1 +1 @@) has more lines than its header states'),
        (
            '@@ -1 +1 @@\n-a\n+b\n@@ -3 +3 @@\n-c\n+d\n e\n',
            'hunk 2 (@@ -3 +3 @@) has more lines than its header states',
        ),
        (
            '--- a/x\n+++ b/x\n' + TWO_HUNKS + '--- a/y\n+++ b/y\n' + TWO_HUNKS,
            'covers more than one file; send one diff per file',
        ),
        (
            TWO_HUNKS + 'diff --git a/y b/y\nnew file mode 100644\n',
            'covers more than one file; send one diff per file',
        ),
        (
            'diff --git a/x b/x\nsimilarity index 100%\ndiff --git a/y b/y\n' + TWO_HUNKS,
            'covers more than one file; send one diff per file',
        ),
        (
            '--- a\n+++ a\n--- b\n+++ b\n' + TWO_HUNKS,
            'covers more than one file; send one diff per file',
        ),
        (
            '@@ -1,2 +1,2 @@\n-a\n\\ No newline at end of file\n-b\n+c\n+d\n',
            'hunk 1 (@@ -1,2 +1,2 @@) continues after a line that is marked as the end of the file',
        ),
        (
            '@@ -1 +1,2 @@\n-a\n+b\n\\ No newline at end of file\n+c\n',
            'hunk 1 (@@ -1 +1,2 @@) continues after a line that is marked as the end of the file',
        ),
    ],
)
def test_an_invalid_diff_is_rejected_with_a_reason(diff: str, expected: str | None) -> None:
    error = error_of(parse_diff(diff), str)
    assert error == expected or (
        expected is None and error.startswith('line 1 is not a hunk header') and len(error) < 200
    )


LINES = st.lists(
    st.sampled_from(['', 'a', 'b', '-', '+', ' x', '@@', '\\', '--- a', '+++ b']), max_size=10
)


@given(LINES, LINES)
def test_diffs_of_difflib_are_parsed(old_lines: list[str], new_lines: list[str]) -> None:
    diff = '\n'.join(difflib.unified_diff(old_lines, new_lines, 'a', 'b', lineterm=''))
    hunks = parse_diff(diff)
    if old_lines == new_lines:
        error_of(hunks, str)
        return
    assert sum(hunk.count('-') - hunk.count('+') for hunk in value_of(hunks)) == len(
        old_lines
    ) - len(new_lines)
