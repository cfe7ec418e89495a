"""Ignore rules, as git reads them."""

import re
import warnings

import pytest

from seamwise.toolhost.workspace.ignore_rules import (
    MAX_PATTERN_LENGTH,
    NO_RULES,
    parse_ignore_rules,
    pattern_regex,
)

RULES = parse_ignore_rules(
    b'# what no tool may see\n*.key\n!public.key\nsecrets/\n/build/\ndocs/**/private.md\n'
)


@pytest.mark.parametrize(
    ('path', 'as_file', 'as_folder'),
    [
        ('server.key', True, True),
        ('a/b/server.key', True, True),
        ('public.key', False, False),
        ('secrets', False, True),
        ('secrets/token.txt', True, True),
        ('a/secrets/x', True, True),
        ('build', False, True),
        ('src/build', False, False),
        ('src/build/ok.txt', False, False),
        ('docs/private.md', True, True),
        ('docs/a/b/private.md', True, True),
        ('private.md', False, False),
        ('README.md', False, False),
        ('a\n.key', True, True),
    ],
)
def test_rules_hold_for_what_they_say(path: str, as_file: bool, as_folder: bool) -> None:
    names = path.split('/')
    assert RULES.ignores(names, is_folder=False) is as_file
    assert RULES.ignores(names, is_folder=True) is as_folder
    assert RULES.may_ignore(names) is (as_file or as_folder)


def test_no_rules_ignore_nothing() -> None:
    assert not NO_RULES.may_ignore(('anything',))
    assert not parse_ignore_rules(b'\n# only words\n\n').may_ignore(('anything',))


@pytest.mark.parametrize('line', [b'!', b'\\', b'a\\', b'[z-a]'])
def test_a_line_that_is_no_pattern_is_left_out_as_git_does(line: bytes) -> None:
    assert parse_ignore_rules(line + b'\n*.key\n').ignores(('a.key',), is_folder=False)


def test_bytes_marks_and_line_ends_of_other_systems_are_read() -> None:
    rules = parse_ignore_rules(b'\xef\xbb\xbfone\r\nc\xe9\r\n')
    assert rules.ignores(('one',), is_folder=False)
    assert rules.ignores(('c\udce9',), is_folder=False)


def test_reading_rules_warns_of_nothing() -> None:
    with warnings.catch_warnings(action='error'):
        parse_ignore_rules(b'[[:alpha:]]\n')
        pattern_regex('[[:alpha:]]')


@pytest.mark.parametrize(
    ('pattern', 'meant', 'not_meant'),
    [
        ('*.py', ['b.py', 'src/a/b.py', 'a\nb.py'], ['b.pyc', 'b.py.txt']),
        ('/*.py', ['b.py'], ['src/b.py']),
        ('src/**/*.py', ['src/b.py', 'src/a/b.py'], ['b.py', 'x/src/b.py']),
        ('src/', ['src/b.py', 'x/src/b.py'], ['src']),
        ('#*', ['#draft'], ['draft']),
        ('?.py', ['数.py', '\udcff.py'], ['ab.py']),
        ('\\!a', ['!a'], ['a']),
    ],
)
def test_one_pattern_alone_finds_what_it_means(
    pattern: str, meant: list[str], not_meant: list[str]
) -> None:
    found = pattern_regex(pattern)
    assert found is not None
    assert [path for path in [*meant, *not_meant] if re.search(found, path)] == meant


@pytest.mark.parametrize(
    'pattern', ['', '  ', '!*.py', '\\', '[z-a]', 'x' * (MAX_PATTERN_LENGTH + 1)]
)
def test_what_is_no_pattern_is_none(pattern: str) -> None:
    assert pattern_regex(pattern) is None
