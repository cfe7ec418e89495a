"""Tests of the suggestions for a misspelt name."""

import sys

import pytest

from seamwise._text.close_matches import MAX_LENGTH, close_matches


def test_at_most_three_names_are_suggested_the_most_similar_first() -> None:
    names = ['read_file', 'read_files', 'read_fil', 'reed_file', 'write_file']
    matches = close_matches('read_file', names)
    assert matches[0] == 'read_file'
    assert len(matches) == 3


def test_upper_and_lower_case_do_not_matter() -> None:
    assert close_matches('readme.MD', ['README.md', 'LICENSE']) == ('README.md',)


def test_a_part_of_a_name_matches_the_name() -> None:
    names = ['read_file', 'write_file', 'list_files', 'search_files']
    assert close_matches('read', names) == ('read_file',)
    assert close_matches('search', names) == ('search_files',)
    assert close_matches('list_file', names)[0] == 'list_files'


def test_dissimilar_names_are_not_suggested() -> None:
    assert close_matches('zzz', ['read_file']) == ()
    assert close_matches('zzz', []) == ()


def test_a_very_long_name_is_not_compared() -> None:
    name = 'a' * MAX_LENGTH
    assert close_matches(name, [name]) == (name,)
    assert close_matches(name + 'a', [name]) == ()


def test_without_rapidfuzz_no_name_is_suggested(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, 'rapidfuzz', None)
    assert close_matches('raed', ['read']) == ()
