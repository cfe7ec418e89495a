"""`replace_in_file`: one certain place, or all, or why not."""

import errno
import os
import stat
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from seamwise.catalog.tools import (
    ContentMismatch,
    ContentNotFound,
    DuplicateMatch,
    FileNotFound,
    InvalidParameter,
    PathForbidden,
    ResourceExhausted,
)
from seamwise.toolhost.text.editing import MAX_EDIT_SIZE
from seamwise.toolhost.tools import replace_in_file as module
from seamwise.toolhost.tools.replace_in_file import Replaced, ReplaceInFile, replace_in_file
from seamwise.toolhost.workspace.workspace import Workspace
from tests.toolhost.helpers import error_of, tree, value_of


def args(
    search: str, replace: str, *, every: bool = False, line: int | None = None, path: str = 'a'
) -> ReplaceInFile:
    return ReplaceInFile(path=path, search=search, replace=replace, replace_all=every, line=line)


def replaced(folder: Path, content: str, asked: ReplaceInFile) -> str:
    (folder / 'a').write_bytes(content.encode())
    result = value_of(replace_in_file(Workspace(folder), asked))
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
        ('\ufeffone\n', 'one', '1', '\ufeff1\n'),
        ('数据 a\n', '数据', '报告', '报告 a\n'),
        ('x.*y\n', '.*', '\\1', 'x\\1y\n'),
        ('same\n', 'same', 'same', 'same\n'),
    ],
)
def test_the_text_is_replaced_with_the_files_own_line_ends(
    folder: Path, content: str, search: str, replace: str, expected: str
) -> None:
    assert replaced(folder, content, args(search, replace)) == expected


@pytest.mark.parametrize(
    ('content', 'replace', 'expected'),
    [
        ('a,\nb,\nc', ' ', 'a, b, c'),
        ('a\nb', ', ', 'a, b'),
        ('a\r\nb', '\n\n', 'a\r\n\r\nb'),
        ('a\nb\n', ', ', 'a, b, '),
    ],
)
def test_a_newline_is_found_where_the_file_has_one(
    folder: Path, content: str, replace: str, expected: str
) -> None:
    assert replaced(folder, content, args('\n', replace, every=True)) == expected


def test_a_last_newline_that_the_file_lacks_is_not_found(
    folder: Path, workspace: Workspace
) -> None:
    (folder / 'a').write_text('one line')
    error_of(replace_in_file(workspace, args('\n', '!')), ContentNotFound)
    assert replaced(folder, 'a\nb', args('\n', '\n\n')) == 'a\n\nb'
    assert replaced(folder, 'ab', args('b', 'b\n\n')) == 'ab'


def test_permissions_stay(folder: Path, workspace: Workspace) -> None:
    (folder / 'a').write_text('one')
    (folder / 'a').chmod(0o750)
    assert value_of(replace_in_file(workspace, args('one', '1'))) == Replaced('a', 1)
    assert stat.S_IMODE((folder / 'a').stat().st_mode) == 0o750


class TestATextThatIsNotThere:
    def test_is_told_with_the_best_match(self, folder: Path, workspace: Workspace) -> None:
        (folder / 'a').write_text('def one():\n    return 1\n')
        error = error_of(replace_in_file(workspace, args('def oen():', 'x')), ContentNotFound)
        assert (error.searched, error.best_match, error.line) == ('def oen():', 'def one():', 1)
        assert error.similarity is not None
        assert 0.5 < error.similarity < 1
        assert tree(folder) == {'a': b'def one():\n    return 1\n'}

    def test_has_no_best_match_where_nothing_is_half_alike(
        self, folder: Path, workspace: Workspace
    ) -> None:
        (folder / 'a').write_text('def one():\n')
        for search in ('zzzzzzzz', '\n\n\n'):
            error = error_of(replace_in_file(workspace, args(search, 'x')), ContentNotFound)
            assert (error.similarity, error.best_match, error.line) == (None, None, None)

    def test_is_not_found_whatever_line_is_named(self, folder: Path, workspace: Workspace) -> None:
        (folder / 'a').write_text('one\n')
        error_of(replace_in_file(workspace, args('zzz', 'x', line=1)), ContentNotFound)

    def test_is_shown_cut(self, folder: Path, workspace: Workspace) -> None:
        (folder / 'a').write_text('one\n')
        assert (
            len(
                error_of(
                    replace_in_file(workspace, args('z' * 5_000, 'x')), ContentNotFound
                ).searched
            )
            < 1_100
        )


class TestATextThatIsThereMoreThanOnce:
    def test_is_refused_with_every_line(self, folder: Path, workspace: Workspace) -> None:
        content = 'x = 1\ny = 0\n\nx = 1\ny = 0\n\nx = 1\n'
        (folder / 'a').write_text(content)
        assert error_of(
            replace_in_file(workspace, args('x = 1', 'z')), DuplicateMatch
        ) == DuplicateMatch('replace_in_file', 'a', 3, (1, 4, 7))
        assert (folder / 'a').read_text() == content

    def test_is_replaced_where_it_must_begin(self, folder: Path) -> None:
        assert replaced(folder, 'x\ny\nx\ny\n', args('x\ny', 'z', line=3)) == 'x\ny\nz\n'

    def test_is_replaced_everywhere_on_purpose(self, folder: Path, workspace: Workspace) -> None:
        (folder / 'a').write_bytes(b'x\r\nx x\r\n')
        assert value_of(replace_in_file(workspace, args('x', 'x\ny', every=True))) == Replaced(
            'a', 3
        )
        assert (folder / 'a').read_bytes() == b'x\r\ny\r\nx\r\ny x\r\ny\r\n'

    def test_is_replaced_everywhere_in_a_line_on_purpose(self, folder: Path) -> None:
        assert replaced(folder, 'x\nx x\nx\n', args('x', 'z', every=True, line=2)) == 'x\nz z\nx\n'

    def test_in_one_line_is_not_certain_either(self, folder: Path, workspace: Workspace) -> None:
        (folder / 'a').write_text('x\nx x\n')
        assert error_of(
            replace_in_file(workspace, args('x', 'z', line=2)), DuplicateMatch
        ) == DuplicateMatch('replace_in_file', 'a', 2, (2, 2))

    def test_across_itself_is_not_certain_either(self, folder: Path, workspace: Workspace) -> None:
        (folder / 'a').write_text('aaa\n')
        assert error_of(replace_in_file(workspace, args('aa', 'b')), DuplicateMatch).count == 2
        assert value_of(replace_in_file(workspace, args('aa', 'b', every=True))).replacements == 1
        assert (folder / 'a').read_text() == 'ba\n'

    def test_very_often_is_counted_and_named_in_part(
        self, folder: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(module, 'MAX_REPORTED_LINES', 2)
        monkeypatch.setattr(module, 'MAX_REPLACEMENTS', 4)
        (folder / 'a').write_text('x\n' * 10)
        assert error_of(
            replace_in_file(workspace, args('x', 'y')), DuplicateMatch
        ) == DuplicateMatch('replace_in_file', 'a', 10, (1, 2))


class TestALine:
    @pytest.mark.parametrize(
        ('line', 'actual'),
        [(1, 'one\ntwo'), (3, 'three\nfour'), (4, 'four'), (5, ''), (10**30, '')],
    )
    def test_at_which_it_does_not_begin_is_a_mismatch(
        self, folder: Path, workspace: Workspace, line: int, actual: str
    ) -> None:
        (folder / 'a').write_text('one\ntwo\nthree\nfour\n')
        error = error_of(
            replace_in_file(workspace, args('two\nthree', 'x', line=line)), ContentMismatch
        )
        assert error == ContentMismatch('replace_in_file', 'a', 'two\nthree', actual, line)

    def test_may_hold_it_anywhere(self, folder: Path) -> None:
        assert replaced(folder, 'a b\nb\n', args('b', 'c', line=1)) == 'a c\nb\n'
        assert replaced(folder, 'one\ntwo', args('two', '2', line=2)) == 'one\n2'


class TestTooMuch:
    def test_places_are_not_replaced(
        self, folder: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(module, 'MAX_REPLACEMENTS', 3)
        (folder / 'a').write_text('xxxx')
        assert (
            error_of(
                replace_in_file(workspace, args('x', 'y', every=True)), InvalidParameter
            ).parameter
            == 'search'
        )
        (folder / 'a').write_text('xxx')
        assert value_of(replace_in_file(workspace, args('x', 'y', every=True))).replacements == 3

    def test_text_is_not_put_in(self, folder: Path, workspace: Workspace) -> None:
        (folder / 'a').write_text('x' * 100_000)
        error = error_of(
            replace_in_file(workspace, args('x', 'y' * 1_000, every=True)), InvalidParameter
        )
        assert (error.parameter, error.reason) == (
            'replace',
            f'would be inserted 100,000 times, more than {MAX_EDIT_SIZE:,} characters in total',
        )
        assert (folder / 'a').read_text() == 'x' * 100_000


def test_what_cannot_be_edited_is_told(folder: Path, workspace: Workspace) -> None:
    (folder / 'src').mkdir()
    (folder / 'locked').write_text('x')
    (folder / 'locked').chmod(0o444)
    assert (
        error_of(replace_in_file(workspace, args('x', 'y', path='src')), InvalidParameter).reason
        == 'is a folder, not a file'
    )
    assert error_of(
        replace_in_file(workspace, args('x', 'y', path='lockd')), FileNotFound
    ).suggestions == ('locked',)
    assert (
        error_of(replace_in_file(workspace, args('x', 'y', path='locked')), PathForbidden).reason
        == 'write_protected'
    )


def test_a_full_disk_leaves_the_file_as_it_was(
    folder: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / 'a').write_text('one')

    def full(_descriptor: int) -> None:
        raise OSError(errno.ENOSPC, 'no space left')

    monkeypatch.setattr(os, 'fsync', full)
    assert (
        error_of(replace_in_file(workspace, args('one', 'two')), ResourceExhausted).resource
        == 'disk'
    )
    assert tree(folder) == {'a': b'one'}


PIECES = st.text('ab\n', max_size=8)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    PIECES.map(lambda text: text + '\n'),
    st.text('ab\n', min_size=1, max_size=3),
    st.text('abc\n', max_size=3),
)
def test_replacing_everywhere_is_what_python_does(
    folder: Path, workspace: Workspace, content: str, search: str, replace: str
) -> None:
    (folder / 'a').write_bytes(content.encode())
    result = replace_in_file(workspace, args(search, replace, every=True))
    if search not in content:
        error_of(result, ContentNotFound)
        return
    assert value_of(result).replacements == content.count(search)
    assert (folder / 'a').read_bytes().decode() == content.replace(search, replace)
