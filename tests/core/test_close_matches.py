"""Suggestions: few, near, quick."""

import sys

import pytest

from seamwise._close_matches import MAX_LENGTH, close_matches


def test_the_nearest_name_comes_first_and_three_are_enough() -> None:
    names = ['read_file', 'read_files', 'read_fil', 'reed_file', 'write_file']
    found = close_matches('read_file', names)
    assert found[0] == 'read_file'
    assert len(found) == 3


def test_upper_and_lower_case_are_one() -> None:
    assert close_matches('readme.MD', ['README.md', 'LICENSE']) == ('README.md',)


def test_a_part_of_a_name_is_enough() -> None:
    names = ['read_file', 'write_file', 'list_files', 'search_files']
    assert close_matches('read', names) == ('read_file',)
    assert close_matches('search', names) == ('search_files',)
    assert close_matches('list_file', names)[0] == 'list_files'


def test_nothing_like_it_gives_nothing() -> None:
    assert close_matches('zzz', ['read_file']) == ()
    assert close_matches('zzz', []) == ()


def test_a_name_that_nobody_types_is_not_compared() -> None:
    name = 'a' * MAX_LENGTH
    assert close_matches(name, [name]) == (name,)
    assert close_matches(name + 'a', [name]) == ()


def test_without_rapidfuzz_nobody_is_meant(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, 'rapidfuzz', None)
    assert close_matches('raed', ['read']) == ()
