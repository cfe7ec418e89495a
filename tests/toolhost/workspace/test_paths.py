"""Paths as they are given: their form, and what an exception of the system says about them."""

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
from seamwise.toolhost.workspace.paths import (
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


def asked(path: str) -> PathRequest:
    return PathRequest('read_file', path)


@pytest.mark.parametrize(
    ('path', 'names', 'to_folder'),
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
def test_a_path_is_read_with_no_look_at_the_disk(
    path: str, names: tuple[str, ...], to_folder: bool
) -> None:
    found = value_of(parse_path(asked(path), ROOTS))
    assert (found.names, found.is_folder) == (names, to_folder)


@pytest.mark.parametrize(
    'path', ['/', '/srv', '/srv/ws2', '/srv/w', '/etc/passwd', '/srv/../srv/ws/a']
)
def test_an_absolute_path_of_another_folder_is_outside(path: str) -> None:
    assert error_of(parse_path(asked(path), ROOTS), PathForbidden).reason == 'outside_workspace'


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
def test_what_cannot_be_a_path_is_invalid(path: str, reason: str) -> None:
    error = error_of(
        parse_path(PathRequest('execute_command', path, 'cwd'), ROOTS), InvalidParameter
    )
    assert (error.tool, error.parameter, error.reason) == ('execute_command', 'cwd', reason)
    assert error.value is not None
    assert error.value.reveal() == path


def test_a_path_may_be_as_long_as_the_system_takes_it() -> None:
    assert value_of(parse_path(asked('x' * MAX_NAME_SIZE), ROOTS)).names == ('x' * MAX_NAME_SIZE,)
    assert (
        len(value_of(parse_path(asked('a/' * (MAX_PATH_SIZE // 2)), ROOTS)).names)
        == MAX_PATH_SIZE // 2
    )


@given(st.text(st.characters(exclude_categories=['Cs']), max_size=300))
def test_every_text_is_a_path_or_a_typed_failure(path: str) -> None:
    result = parse_path(asked(path), ROOTS)
    for name in result.map(lambda found: found.names).value_or(()):
        assert name
        assert name != '.'
        assert '/' not in name


@pytest.mark.parametrize(
    ('code', 'kind'),
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
def test_what_the_system_says_becomes_the_error_that_it_means(code: int, kind: object) -> None:
    assert asked('a').error_for(OSError(code, os.strerror(code))) == kind


def test_a_name_that_only_this_file_system_refuses_is_invalid() -> None:
    assert isinstance(asked('a').error_for(OSError(errno.ENAMETOOLONG, 'long')), InvalidParameter)


def test_any_other_trouble_of_the_machine_keeps_its_cause() -> None:
    raised = OSError(errno.EIO, 'broken')
    assert asked('a').error_for(raised) == ToolFailed('read_file', raised)


@pytest.mark.parametrize('raised', [OSError('no number'), OSError(errno.EBADF, 'closed')])
def test_a_bug_stays_an_exception(raised: OSError) -> None:
    with pytest.raises(OSError, match=r'no number|closed'):
        asked('a').error_for(raised)


def test_a_look_through_a_folder_passes_over_what_has_gone_or_may_not_be_read() -> None:
    assert is_skippable(OSError(errno.ENOENT, ''))
    assert is_skippable(OSError(errno.EACCES, ''))
    assert not is_skippable(OSError(errno.EIO, ''))


@pytest.mark.parametrize(
    ('given_path', 'below'),
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
def test_a_path_below_is_written_as_the_one_above_was_given(given_path: str, below: str) -> None:
    assert asked(given_path).child_path(('x', 'y')) == below
    assert asked(given_path).child_path(()) == given_path


def test_a_name_that_is_no_utf_8_can_be_shown_and_encoded() -> None:
    name = os.fsdecode(b'a\xff\xe4\xbd\n')
    assert display_path([name, '数']) == 'a\ufffd\ufffd\n/数'
    assert display_path([name]).encode()


def test_names_are_what_stands_between_slashes() -> None:
    assert split_path('/a//b/./..') == ('a', 'b', '..')
    assert split_path('./.') == ()
