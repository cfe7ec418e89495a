"""`replace_in_file`: replacement of one certain match or of all, and failures."""

import errno
import os
import stat
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from seamwise import Failure
from seamwise.catalog.tools import (
    ContentMismatch,
    ContentNotFound,
    DuplicateMatch,
    FileNotFound,
    InvalidParameter,
    PathForbidden,
    ResourceExhausted,
)
from seamwise.toolhost.builtin import replace_in_file as replace_in_file_module
from seamwise.toolhost.builtin.replace_in_file import Replaced, ReplaceInFile, replace_in_file
from seamwise.toolhost.builtin.text.editing import MAX_EDIT_SIZE
from seamwise.toolhost.builtin.workspace.workspace import Workspace
from tests.toolhost.helpers import error_of, tree, value_of


def build_args(
    search: str,
    replace: str,
    *,
    replace_all: bool = False,
    line: int | None = None,
    path: str = 'a',
) -> ReplaceInFile:
    return ReplaceInFile(
        path=path, search=search, replace=replace, replace_all=replace_all, line=line
    )


def run_replace(folder: Path, content: str, arguments: ReplaceInFile) -> str:
    (folder / 'a').write_bytes(content.encode())
    result = value_of(replace_in_file(Workspace(folder), arguments))
    assert result.path == 'a'
    return (folder / 'a').read_bytes().decode()


@pytest.mark.parametrize(
    ('content', 'search', 'replace', 'expected'),
    [
        ('one\ntwo\n', 'two', '2', 'one\n2\n'),
        ('one\ntwo\n', 'one\ntwo', '1\n2\n3', '1\n2\n3\n'),
        ('one\ntwo\n', 'two\n', '', 'one\n'),
        ('one\ntwo\n', 'e\nt', '', 'onwo\n'),
        ('one\r\ntwo\r\n', 'one\ntwo', '1\n2', '1\r\n2\r\n'),
        ('one\r\ntwo\r\n', 'one\r\ntwo', '1\r\n2', '1\r\n2\r\n'),
        ('one\ntwo\n', 'one\r\ntwo', '1\r\n2', '1\n2\n'),
        ('one\ntwo\nthree', 'three', '3', 'one\ntwo\n3'),
        ('one\ntwo\nthree', 'three\n', '3\n', 'one\ntwo\n3'),
        ('one\ntwo\nthree', 'three', 'three\nfour\n', 'one\ntwo\nthree\nfour'),
        ('one\r\ntwo\nthree\r\n', 'two', '2\n2', 'one\r\n2\r\n2\nthree\r\n'),
        ('one\rtwo\r', 'one\rtwo', '1\n2', '1\r2\r'),
        ('one\rtwo\rthree', 'two\nthree', '2\r3\n', 'one\r2\r3'),
        ('one\rtwo\n', 'one\rtwo', '1', '1\n'),
        ('\ufeffone\n', 'one', '1', '\ufeff1\n'),
        ('数据 a\n', '数据', '报告', '报告 a\n'),
        ('x.*y\n', '.*', '\\1', 'x\\1y\n'),
        ('same\n', 'same', 'same', 'same\n'),
    ],
)
def test_a_text_is_replaced_with_the_line_ends_of_the_file(
    folder: Path, content: str, search: str, replace: str, expected: str
) -> None:
    assert run_replace(folder, content, build_args(search, replace)) == expected


@pytest.mark.parametrize(
    ('content', 'replace', 'expected'),
    [
        ('a,\nb,\nc', ' ', 'a, b, c'),
        ('a\nb', ', ', 'a, b'),
        ('a\r\nb', '\n\n', 'a\r\n\r\nb'),
        ('a\nb\n', ', ', 'a, b, '),
    ],
)
def test_a_newline_can_be_replaced(folder: Path, content: str, replace: str, expected: str) -> None:
    assert run_replace(folder, content, build_args('\n', replace, replace_all=True)) == expected


def test_a_missing_last_newline_does_not_match(folder: Path, workspace: Workspace) -> None:
    (folder / 'a').write_text('one line')
    error_of(replace_in_file(workspace, build_args('\n', '!')), ContentNotFound)
    assert run_replace(folder, 'a\nb', build_args('\n', '\n\n')) == 'a\n\nb'
    assert run_replace(folder, 'ab', build_args('b', 'b\n\n')) == 'ab'


def test_permissions_are_kept(folder: Path, workspace: Workspace) -> None:
    (folder / 'a').write_text('one')
    (folder / 'a').chmod(0o750)
    assert value_of(replace_in_file(workspace, build_args('one', '1'))) == Replaced('a', 1)
    assert stat.S_IMODE((folder / 'a').stat().st_mode) == 0o750


class TestNoMatch:
    def test_a_missing_text_is_reported_with_the_best_match(
        self, folder: Path, workspace: Workspace
    ) -> None:
        (folder / 'a').write_text('def one():\n    return 1\n')
        error = error_of(replace_in_file(workspace, build_args('def oen():', 'x')), ContentNotFound)
        assert (error.searched, error.best_match, error.line) == ('def oen():', 'def one():', 1)
        assert error.similarity is not None
        assert 0.5 < error.similarity < 1
        assert tree(folder) == {'a': b'def one():\n    return 1\n'}

    def test_a_missing_text_without_similar_lines_has_no_best_match(
        self, folder: Path, workspace: Workspace
    ) -> None:
        (folder / 'a').write_text('def one():\n')
        for search in ('zzzzzzzz', '\n\n\n'):
            error = error_of(replace_in_file(workspace, build_args(search, 'x')), ContentNotFound)
            assert (error.similarity, error.best_match, error.line) == (None, None, None)

    def test_a_missing_text_is_not_found_in_a_given_line(
        self, folder: Path, workspace: Workspace
    ) -> None:
        (folder / 'a').write_text('one\n')
        error_of(replace_in_file(workspace, build_args('zzz', 'x', line=1)), ContentNotFound)

    def test_a_long_missing_text_is_shortened(self, folder: Path, workspace: Workspace) -> None:
        (folder / 'a').write_text('one\n')
        assert (
            len(
                error_of(
                    replace_in_file(workspace, build_args('z' * 5_000, 'x')), ContentNotFound
                ).searched
            )
            < 1_100
        )


class TestSeveralMatches:
    def test_several_matches_are_rejected_with_every_line(
        self, folder: Path, workspace: Workspace
    ) -> None:
        content = 'x = 1\ny = 0\n\nx = 1\ny = 0\n\nx = 1\n'
        (folder / 'a').write_text(content)
        assert error_of(
            replace_in_file(workspace, build_args('x = 1', 'z')), DuplicateMatch
        ) == DuplicateMatch('replace_in_file', 'a', 3, (1, 4, 7))
        assert (folder / 'a').read_text() == content

    def test_the_given_line_selects_a_match(self, folder: Path) -> None:
        assert run_replace(folder, 'x\ny\nx\ny\n', build_args('x\ny', 'z', line=3)) == 'x\ny\nz\n'

    def test_replace_all_replaces_every_match(self, folder: Path, workspace: Workspace) -> None:
        (folder / 'a').write_bytes(b'x\r\nx x\r\n')
        assert value_of(
            replace_in_file(workspace, build_args('x', 'x\ny', replace_all=True))
        ) == Replaced('a', 3)
        assert (folder / 'a').read_bytes() == b'x\r\ny\r\nx\r\ny x\r\ny\r\n'

    def test_replace_all_with_a_line_replaces_every_match_in_it(self, folder: Path) -> None:
        assert (
            run_replace(folder, 'x\nx x\nx\n', build_args('x', 'z', replace_all=True, line=2))
            == 'x\nz z\nx\n'
        )

    def test_several_matches_in_the_given_line_are_rejected(
        self, folder: Path, workspace: Workspace
    ) -> None:
        (folder / 'a').write_text('x\nx x\n')
        assert error_of(
            replace_in_file(workspace, build_args('x', 'z', line=2)), DuplicateMatch
        ) == DuplicateMatch('replace_in_file', 'a', 2, (2, 2))

    def test_overlapping_matches_are_rejected(self, folder: Path, workspace: Workspace) -> None:
        (folder / 'a').write_text('aaa\n')
        assert (
            error_of(replace_in_file(workspace, build_args('aa', 'b')), DuplicateMatch).count == 2
        )
        assert (
            value_of(
                replace_in_file(workspace, build_args('aa', 'b', replace_all=True))
            ).replacements
            == 1
        )
        assert (folder / 'a').read_text() == 'ba\n'

    def test_many_matches_are_counted_but_not_all_lines_are_listed(
        self, folder: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(replace_in_file_module, 'MAX_REPORTED_LINES', 2)
        monkeypatch.setattr(replace_in_file_module, 'MAX_REPLACEMENTS', 4)
        (folder / 'a').write_text('x\n' * 10)
        assert error_of(
            replace_in_file(workspace, build_args('x', 'y')), DuplicateMatch
        ) == DuplicateMatch('replace_in_file', 'a', 10, (1, 2))


class TestGivenLine:
    @pytest.mark.parametrize(
        ('line', 'actual'),
        [(1, 'one\ntwo'), (3, 'three\nfour'), (4, 'four'), (5, ''), (10**30, '')],
    )
    def test_a_line_where_no_match_begins_is_a_mismatch(
        self, folder: Path, workspace: Workspace, line: int, actual: str
    ) -> None:
        (folder / 'a').write_text('one\ntwo\nthree\nfour\n')
        error = error_of(
            replace_in_file(workspace, build_args('two\nthree', 'x', line=line)), ContentMismatch
        )
        assert error == ContentMismatch('replace_in_file', 'a', 'two\nthree', actual, line)

    def test_a_match_can_begin_anywhere_in_the_line(self, folder: Path) -> None:
        assert run_replace(folder, 'a b\nb\n', build_args('b', 'c', line=1)) == 'a c\nb\n'
        assert run_replace(folder, 'one\ntwo', build_args('two', '2', line=2)) == 'one\n2'


class TestLimits:
    def test_too_many_matches_are_not_replaced(
        self, folder: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(replace_in_file_module, 'MAX_REPLACEMENTS', 3)
        (folder / 'a').write_text('xxxx')
        assert (
            error_of(
                replace_in_file(workspace, build_args('x', 'y', replace_all=True)), InvalidParameter
            ).parameter
            == 'search'
        )
        (folder / 'a').write_text('xxx')
        assert (
            value_of(
                replace_in_file(workspace, build_args('x', 'y', replace_all=True))
            ).replacements
            == 3
        )

    def test_too_much_text_is_not_inserted(self, folder: Path, workspace: Workspace) -> None:
        (folder / 'a').write_text('x' * 100_000)
        error = error_of(
            replace_in_file(workspace, build_args('x', 'y' * 1_000, replace_all=True)),
            InvalidParameter,
        )
        assert (error.parameter, error.reason) == (
            'replace',
            f'would be inserted 100,000 times, more than {MAX_EDIT_SIZE:,} characters in total',
        )
        assert (folder / 'a').read_text() == 'x' * 100_000


def test_a_file_that_cannot_be_edited_is_reported(folder: Path, workspace: Workspace) -> None:
    (folder / 'src').mkdir()
    (folder / 'locked').write_text('x')
    (folder / 'locked').chmod(0o444)
    assert (
        error_of(
            replace_in_file(workspace, build_args('x', 'y', path='src')), InvalidParameter
        ).reason
        == 'is a folder, not a file'
    )
    assert error_of(
        replace_in_file(workspace, build_args('x', 'y', path='lockd')), FileNotFound
    ).suggestions == ('locked',)
    assert (
        error_of(
            replace_in_file(workspace, build_args('x', 'y', path='locked')), PathForbidden
        ).reason
        == 'write_protected'
    )


def test_a_full_disk_leaves_the_file_unchanged(
    folder: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / 'a').write_text('one')

    def raise_no_space(_descriptor: int) -> None:
        raise OSError(errno.ENOSPC, 'no space left')

    monkeypatch.setattr(os, 'fsync', raise_no_space)
    assert (
        error_of(replace_in_file(workspace, build_args('one', 'two')), ResourceExhausted).resource
        == 'disk'
    )
    assert tree(folder) == {'a': b'one'}


def replaced(content: str, search: str, replacement: str) -> str:
    """Return the expected content of a file with line feeds as line ends.

    The last newline can be matched where the file has none, and is then missing afterwards too.
    """
    if content.endswith('\n'):
        return content.replace(search, replacement)
    *parts, rest = (content if search == '\n' else content + '\n').split(search)
    before = replacement.join(parts)
    if rest in {'', '\n'}:
        return before + replacement.rstrip('\n')
    return before + replacement + rest.removesuffix('\n')


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=300)
@given(
    st.text('ab\n', min_size=1, max_size=8),
    st.text('ab\n', min_size=1, max_size=3),
    st.text('abc\n', max_size=4),
    st.sampled_from(['\n', '\r\n']),
)
def test_nothing_changes_outside_the_matches(
    folder: Path, workspace: Workspace, content: str, search: str, replace: str, line_end: str
) -> None:
    (folder / 'a').write_bytes(content.replace('\n', line_end).encode())
    result = replace_in_file(workspace, build_args(search, replace, replace_all=True))
    if type(result) is Failure:
        error_of(result, ContentNotFound)
        assert search not in content
        return
    # A file without line ends gets those of the system.
    expected = replaced(content, search, replace).replace(
        '\n', line_end if '\n' in content else '\n'
    )
    assert (folder / 'a').read_bytes().decode() == expected


@pytest.mark.parametrize(
    ('content', 'search', 'replace', 'expected'),
    [
        ('a\n\n\nend', 'end', '\n', 'a\n\n\n'),
        ('a\n\n\nend', 'end', '', 'a\n\n\n'),
        ('a\n\nend', 'end\n', '', 'a\n\n'),
        ('a\n\nend', 'a\n', '\n', '\n\nend'),
        ('a\n\n\n', 'a', 'b\n', 'b\n\n\n\n'),
        ('a\r\n\r\nend', 'end', '1\n', 'a\r\n\r\n1'),
        ('a\n\nend', 'end', '1\r', 'a\n\n1\r'),
    ],
)
def test_blank_lines_around_a_match_are_kept(
    folder: Path, content: str, search: str, replace: str, expected: str
) -> None:
    assert run_replace(folder, content, build_args(search, replace)) == expected
