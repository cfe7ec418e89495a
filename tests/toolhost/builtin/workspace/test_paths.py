"""Parsing of paths, and the failures for errors of the system."""

import errno
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seamwise.catalog.tools import (
    FileNotFound,
    InvalidParameter,
    PathForbidden,
    ResourceExhausted,
    ToolFailed,
)
from seamwise.toolhost.builtin.workspace.paths import (
    MAX_NAME_SIZE,
    MAX_PATH_SIZE,
    PathRequest,
    Roots,
    display_path,
    is_skippable,
    parse_path,
    split_path,
)
from tests.toolhost.helpers import error_of, value_of

ROOTS = Roots((('home', 'link'), ('srv', 'ws')))


def request(path: str) -> PathRequest:
    return PathRequest('read_file', path)


@pytest.mark.parametrize(
    ('path', 'names', 'is_folder'),
    [
        ('a', ('a',), False),
        ('.', (), True),
        ('./a//b/./c', ('a', 'b', 'c'), False),
        ('a/', ('a',), True),
        ('a/.', ('a',), True),
        ('a/..', ('a', '..'), True),
        ('..', ('..',), True),
        ('~', ('~',), False),
        ('a..', ('a..',), False),
        (' ', (' ',), False),
        ('/srv/ws', (), False),
        ('/srv/ws/a', ('a',), False),
        ('//srv//ws/./a', ('a',), False),
        ('/home/link/a', ('a',), False),
        ('/srv/ws/../x', ('..', 'x'), False),
        ('数据/报告.txt', ('数据', '报告.txt'), False),
        ('a\nb', ('a\nb',), False),
    ],
)
def test_a_path_is_parsed_without_the_disk(
    path: str, names: tuple[str, ...], is_folder: bool
) -> None:
    parsed = value_of(parse_path(request(path), ROOTS))
    assert (parsed.names, parsed.is_folder) == (names, is_folder)


@pytest.mark.parametrize(
    'path', ['/', '/srv', '/srv/ws2', '/srv/w', '/etc/passwd', '/srv/../srv/ws/a']
)
def test_an_absolute_path_outside_the_workspace_is_forbidden(path: str) -> None:
    assert error_of(parse_path(request(path), ROOTS), PathForbidden).reason == 'outside_workspace'


@pytest.mark.parametrize(
    ('path', 'reason'),
    [
        ('', 'must not be empty; the workspace itself is "."'),
        ('a\0b', 'must not contain a NUL character'),
        ('\0', 'must not contain a NUL character'),
        ('a/\ud800', "contains the character '\\ud800', which no file name can contain"),
        ('x' * 256, 'contains a name of 256 bytes; the maximum is 255'),
        ('a/' + 'é' * 128 + '/b', 'contains a name of 256 bytes; the maximum is 255'),
        ('a/' * 2049, 'has 4,098 bytes; the maximum is 4,096'),
    ],
)
def test_a_path_that_cannot_exist_is_invalid(path: str, reason: str) -> None:
    error = error_of(
        parse_path(PathRequest('execute_command', path, 'cwd'), ROOTS), InvalidParameter
    )
    assert (error.tool, error.parameter, error.reason) == ('execute_command', 'cwd', reason)
    assert error.value is not None
    assert error.value.reveal() == path


def test_a_path_of_the_maximum_length_is_valid() -> None:
    assert value_of(parse_path(request('x' * MAX_NAME_SIZE), ROOTS)).names == ('x' * MAX_NAME_SIZE,)
    assert (
        len(value_of(parse_path(request('a/' * (MAX_PATH_SIZE // 2)), ROOTS)).names)
        == MAX_PATH_SIZE // 2
    )


@given(st.text(st.characters(exclude_categories=['Cs']), max_size=300))
def test_any_text_is_a_path_or_a_typed_failure(path: str) -> None:
    result = parse_path(request(path), ROOTS)
    for name in result.map(lambda parsed: parsed.names).value_or(()):
        assert name
        assert name != '.'
        assert '/' not in name


@pytest.mark.parametrize(
    ('number', 'expected'),
    [
        (errno.ENOSPC, ResourceExhausted('disk')),
        (errno.EDQUOT, ResourceExhausted('disk')),
        (errno.EMFILE, ResourceExhausted('handles')),
        (errno.ENFILE, ResourceExhausted('handles')),
        (errno.ENOMEM, ResourceExhausted('memory')),
        (errno.EAGAIN, ResourceExhausted('threads')),
        (errno.EACCES, PathForbidden('read_file', 'a', 'system')),
        (errno.EPERM, PathForbidden('read_file', 'a', 'system')),
        (errno.EROFS, PathForbidden('read_file', 'a', 'system')),
        (errno.ENOENT, FileNotFound('read_file', 'a')),
        (errno.ENOTDIR, FileNotFound('read_file', 'a')),
        (errno.ELOOP, FileNotFound('read_file', 'a')),
    ],
)
def test_an_error_of_the_system_becomes_a_failure(number: int, expected: object) -> None:
    assert request('a').error_for(OSError(number, os.strerror(number))) == expected


def test_a_name_too_long_for_the_file_system_is_invalid() -> None:
    assert isinstance(request('a').error_for(OSError(errno.ENAMETOOLONG, 'long')), InvalidParameter)


def test_an_unknown_error_of_the_system_is_the_cause_of_a_failure() -> None:
    error = OSError(errno.EIO, 'broken')
    assert request('a').error_for(error) == ToolFailed('read_file', error)


@pytest.mark.parametrize('error', [OSError('no number'), OSError(errno.EBADF, 'closed')])
def test_an_error_that_only_a_bug_causes_propagates(error: OSError) -> None:
    with pytest.raises(OSError, match=r'no number|closed'):
        request('a').error_for(error)


def test_vanished_and_unreadable_entries_are_skippable() -> None:
    assert is_skippable(OSError(errno.ENOENT, ''))
    assert is_skippable(OSError(errno.EACCES, ''))
    assert not is_skippable(OSError(errno.EIO, ''))


@pytest.mark.parametrize(
    ('path', 'expected'),
    [
        ('.', 'x/y'),
        ('./', 'x/y'),
        ('src', 'src/x/y'),
        ('src/', 'src/x/y'),
        ('./src', './src/x/y'),
        ('src/..', 'src/../x/y'),
        ('/srv/ws/', '/srv/ws/x/y'),
        ('/', '/x/y'),
    ],
)
def test_a_child_path_has_the_spelling_of_its_parent(path: str, expected: str) -> None:
    assert request(path).child_path(('x', 'y')) == expected
    assert request(path).child_path(()) == path


def test_a_displayed_path_can_be_encoded() -> None:
    name = os.fsdecode(b'a\xff\xe4\xbd\n')
    assert display_path([name, '数']) == 'a\ufffd\ufffd\n/数'
    assert display_path([name]).encode()


def test_a_path_is_split_at_slashes() -> None:
    assert split_path('/a//b/./..') == ('a', 'b', '..')
    assert split_path('./.') == ()
