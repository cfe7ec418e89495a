"""Rules on file systems where several names open the same file."""

import os
import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest

from seamwise.catalog.tools import FileNotFound, PathForbidden, ToolTimedOut
from seamwise.toolhost.builtin.read_file import ReadFile, read_file
from seamwise.toolhost.builtin.time_limit import TimeLimit
from seamwise.toolhost.builtin.workspace.disk_names import disk_name
from seamwise.toolhost.builtin.workspace.paths import PathRequest
from seamwise.toolhost.builtin.workspace.workspace import Workspace
from seamwise.toolhost.builtin.write_file import WriteFile, write_file
from tests.toolhost.helpers import CANARY, FakeLimit, error_of, value_of

SHORT_NAMES = {'SECRET~1.TXT': 'secret-of-the-house.txt', 'GIT~1': '.git'}


def folded(name: str) -> str:
    visible = ''.join(char for char in name if unicodedata.category(char) != 'Cf')
    return unicodedata.normalize('NFC', visible).casefold()


@pytest.fixture
def fold_names(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let lookups relative to a folder ignore case and Unicode forms, and know short names."""

    def stored(name: str, dir_fd: int | None) -> str:
        if dir_fd is None:
            return name
        listed = os.open('.', os.O_RDONLY, dir_fd=dir_fd)
        try:
            with os.scandir(listed) as entries:
                names = [entry.name for entry in entries]
        finally:
            os.close(listed)
        long_name = {folded(short): name for short, name in SHORT_NAMES.items()}.get(folded(name))
        return next((entry for entry in names if entry == name), None) or next(
            (entry for entry in names if folded(entry) == folded(long_name or name)), name
        )

    real_stat: Callable[..., os.stat_result] = os.stat
    real_open: Callable[..., int] = os.open

    def stat(path: str | int, *, dir_fd: int | None = None, **options: bool) -> os.stat_result:
        name = path if isinstance(path, int) else stored(path, dir_fd)
        return real_stat(name, dir_fd=dir_fd, **options)

    def open_(path: str, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        name = path if path == '.' else stored(path, dir_fd)
        return real_open(name, flags, mode, dir_fd=dir_fd)

    monkeypatch.setattr(os, 'stat', stat)
    monkeypatch.setattr(os, 'open', open_)


@pytest.mark.usefixtures('fold_names')
class TestWhereNamesAreFolded:
    @pytest.mark.parametrize(
        'path',
        [
            'secret-of-the-house.txt',
            'SECRET-of-the-house.TXT',
            'secret-of\u200b-the-house.txt',
            'secret~1.txt',
            'cafe\u0301.txt',
            'CAFÉ.txt',
            'Private/x',
            'sub/../PRIVATE/x',
            'strasse/x',
        ],
    )
    def test_a_rule_applies_to_every_spelling_of_a_name(
        self, folder: Path, workspace: Workspace, path: str
    ) -> None:
        for name in ('private', 'sub', 'straße'):
            (folder / name).mkdir()
            (folder / name / 'x').write_text(CANARY)
        for name in ('secret-of-the-house.txt', 'café.txt'):
            (folder / name).write_text(CANARY)
        (folder / '.seamignore').write_text('secret*.txt\ncafé.txt\nprivate/\nstraße\n')
        result = read_file(workspace, ReadFile(path=path))
        assert error_of(result, PathForbidden).reason == 'ignored'

    def test_another_spelling_of_a_visible_file_is_read(
        self, folder: Path, workspace: Workspace
    ) -> None:
        (folder / '.seamignore').write_text('secret.txt\n')
        (folder / 'Notes').mkdir()
        (folder / 'Notes' / 'a.txt').write_text('mine')
        assert value_of(read_file(workspace, ReadFile(path='NOTES/A.TXT'))).content == 'mine'
        location = value_of(workspace.locate(PathRequest('read_file', 'notes/A.txt')))
        assert location.names == ('Notes', 'a.txt')

    @pytest.mark.parametrize(
        ('path', 'reason'),
        [
            ('.SeamIgnore', 'write_protected'),
            ('.GIT/config', 'system'),
            ('git~1/config', 'system'),
            ('.g\u200cit/config', 'system'),
        ],
    )
    def test_protected_files_are_protected_in_every_spelling(
        self, folder: Path, workspace: Workspace, path: str, reason: str
    ) -> None:
        (folder / '.git').mkdir()
        (folder / '.git' / 'config').write_text('mine')
        (folder / '.seamignore').write_text('*.key\n')
        result = write_file(workspace, WriteFile(path=path, content='x', overwrite=True))
        assert error_of(result, PathForbidden).reason == reason
        assert (folder / '.seamignore').read_text() == '*.key\n'


def test_names_that_differ_in_case_are_different_files_elsewhere(
    folder: Path, workspace: Workspace
) -> None:
    (folder / '.seamignore').write_text('secret.txt\n')
    (folder / 'SECRET.txt').write_text('mine')
    os.link(folder / 'SECRET.txt', folder / 'secret.TXT')
    for path in ('SECRET.txt', 'secret.TXT'):
        assert value_of(read_file(workspace, ReadFile(path=path))).content == 'mine'
    error_of(read_file(workspace, ReadFile(path='Secret.txt')), FileNotFound)


def test_an_entry_that_its_folder_does_not_list_is_forbidden(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / 'a').write_text('x')
    status = (folder / 'a').stat()

    def stat(*_args: object, **_options: object) -> os.stat_result:
        return status

    monkeypatch.setattr(os, 'stat', stat)
    (folder / 'a').unlink()
    with_folder = os.open(folder, os.O_RDONLY)
    try:
        with pytest.raises(PermissionError, match='does not list this entry'):
            disk_name(with_folder, 'a', status, TimeLimit())
    finally:
        os.close(with_folder)


def test_listing_a_folder_for_the_name_on_the_disk_is_limited_in_time(
    folder: Path, workspace: Workspace
) -> None:
    (folder / 'a').write_text('x')
    os.link(folder / 'a', folder / 'A')
    result = workspace.locate(PathRequest('read_file', 'a'), FakeLimit(3.0, checks=2))
    assert error_of(result, ToolTimedOut) == ToolTimedOut('read_file', 3.0, 1)
