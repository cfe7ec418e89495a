"""Ignore rules, compatible with git."""

import re
import warnings

import pytest

from seamwise.toolhost.builtin.workspace.ignore_rules import (
    MAX_PATTERN_LENGTH,
    NO_RULES,
    parse_ignore_rules,
    pattern_regex,
)

RULES = parse_ignore_rules(
    b'# hidden from tools\n*.key\n!public.key\nsecrets/\n/build/\ndocs/**/private.md\n'
)


@pytest.mark.parametrize(
    ('path', 'as_file', 'as_folder'),
    [
        ('server.key', True, True),
        ('a/b/server.key', True, True),
        ('public.key', False, False),
        ('secrets', False, True),
        ('a/secrets', False, True),
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
def test_rules_ignore_matching_paths(path: str, as_file: bool, as_folder: bool) -> None:
    names = path.split('/')
    assert RULES.ignores(names, is_folder=False) is as_file
    assert RULES.ignores(names, is_folder=True) is as_folder
    assert RULES.may_ignore(names) is (as_file or as_folder)


def test_empty_rules_ignore_nothing() -> None:
    assert not NO_RULES.may_ignore(('anything',))
    assert not parse_ignore_rules(b'\n# a comment\n\n').may_ignore(('anything',))


@pytest.mark.parametrize('line', [b'!', b'/', b'\\', b'a\\', b'[a', b'[[:x:]]', b'[/]'])
def test_an_invalid_pattern_is_skipped(line: bytes) -> None:
    assert parse_ignore_rules(line + b'\n*.key\n').ignores(('a.key',), is_folder=False)


def test_byte_order_mark_line_ends_and_invalid_utf_8_are_accepted() -> None:
    rules = parse_ignore_rules(b'\xef\xbb\xbfone\r\nc\xe9\r\n')
    assert rules.ignores(('one',), is_folder=False)
    assert rules.ignores(('c\udce9',), is_folder=False)


def test_parsing_rules_emits_no_warning() -> None:
    with warnings.catch_warnings(action='error'):
        for pattern in ('[[:alpha:]]', '[a[b]', '[a--b]', '[a||b]', '[a&&b]', '[a~~b]'):
            parse_ignore_rules(pattern.encode() + b'\n').ignores(('a',), is_folder=False)
            re.compile(pattern_regex(pattern) or '')


@pytest.mark.parametrize(
    ('pattern', 'matching', 'not_matching'),
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
def test_a_pattern_regex_matches_the_paths_of_its_pattern(
    pattern: str, matching: list[str], not_matching: list[str]
) -> None:
    regex = pattern_regex(pattern)
    assert regex is not None
    assert [path for path in [*matching, *not_matching] if re.search(regex, path)] == matching


@pytest.mark.parametrize(
    'pattern', ['', '  ', '!*.py', '\\', '[a', '[[:x:]]', 'x' * (MAX_PATTERN_LENGTH + 1)]
)
def test_an_invalid_pattern_has_no_regex(pattern: str) -> None:
    assert pattern_regex(pattern) is None
