"""Tests of phrases: lists in sentences, plurals, excerpts, folders and exit codes."""

import pytest

from seamwise._text.phrases import (
    join_limited,
    join_quoted,
    pluralize,
    truncate,
)
from seamwise.seams.rendering.tool_phrases import describe_exit_code, describe_parent_folder


@pytest.mark.parametrize(
    ('items', 'expected'),
    [
        ((), ''),
        ((1,), '1'),
        ((1, 4), '1 and 4'),
        ((1, 4, 7), '1, 4 and 7'),
        (tuple(range(22)), ', '.join(map(str, range(20))) + ' and 2 more'),
    ],
)
def test_a_long_list_is_cut_with_the_number_of_further_items(
    items: tuple[int, ...], expected: str
) -> None:
    assert join_limited(items) == expected


def test_joined_names_are_quoted() -> None:
    assert join_quoted(['a', "b'"]) == """'a' or "b'\""""


def test_only_a_count_of_one_is_singular() -> None:
    assert [pluralize(number, 'hunk') for number in (0, 1, 2)] == ['0 hunks', '1 hunk', '2 hunks']


def test_an_excerpt_has_no_trailing_line_break() -> None:
    assert truncate('one\ntwo\n', 5) == 'one\nt… (2 more)'


@pytest.mark.parametrize(
    ('path', 'expected'),
    [
        ('a', 'the root of the workspace'),
        ('a/b', "the folder 'a'"),
        ('a/b/', "the folder 'a'"),
        ('/a', 'the root of the workspace'),
    ],
)
def test_the_parent_folder_of_a_path_is_described(path: str, expected: str) -> None:
    assert describe_parent_folder(path) == expected


@pytest.mark.parametrize(
    ('code', 'expected'),
    [
        (1, None),
        (126, 'the shell may not execute it'),
        (128, None),
        (129, 'signal 1 ended it'),
        (192, 'signal 64 ended it'),
        (193, None),
    ],
)
def test_a_known_exit_code_is_described(code: int, expected: str | None) -> None:
    assert describe_exit_code(code) == expected
