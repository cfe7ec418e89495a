"""Opening files for an edit and saving them; files that cannot be edited."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from seamwise.catalog.tools import FileNotFound, InvalidParameter, PathForbidden, ToolTimedOut
from seamwise.toolhost.builtin.text import editing
from seamwise.toolhost.builtin.text.editing import open_for_edit, save
from seamwise.toolhost.builtin.time_limit import OutOfTime, TimeLimit
from seamwise.toolhost.builtin.workspace.paths import PathRequest
from seamwise.toolhost.builtin.workspace.workspace import Workspace
from tests.toolhost.helpers import error_of, tree, unprivileged, value_of

REQUEST = PathRequest('replace_in_file', 'a')


def invalid_reason(workspace: Workspace) -> str:
    error = error_of(open_for_edit(workspace, REQUEST, TimeLimit()), InvalidParameter)
    assert error.parameter == 'path'
    return error.reason


def test_a_file_is_opened_and_saved(folder: Path, workspace: Workspace) -> None:
    (folder / 'a').write_bytes('\ufeff数\r\n'.encode())
    with value_of(open_for_edit(workspace, REQUEST, TimeLimit())) as draft:
        assert (draft.document.text, draft.names) == ('数\n', ('a',))
        value_of(save(workspace, REQUEST, draft, draft.document.apply_edits([])))
    assert tree(folder) == {'a': '\ufeff数\r\n'.encode()}


def test_a_file_in_another_encoding_is_refused_with_a_suggestion(
    folder: Path, workspace: Workspace
) -> None:
    (folder / 'a').write_bytes(b'ok\ncaf\xe9\n')
    expected = 'must be UTF-8 text to be edited: byte 0xe9 at position 6 is not utf-8; try latin-1'
    assert invalid_reason(workspace) == expected


def test_end_of_the_time_during_the_description_of_bytes_is_a_failure(
    folder: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / 'a').write_bytes(b'caf\xe9')
    limit = TimeLimit()

    def describe(stream: object, encoding: str, limit: TimeLimit) -> str:
        raise OutOfTime(limit.seconds)

    monkeypatch.setattr(editing, 'decoding_problem', describe)
    error_of(open_for_edit(workspace, REQUEST, limit), ToolTimedOut)


def test_a_binary_file_is_refused(folder: Path, workspace: Workspace) -> None:
    (folder / 'a').write_bytes(b'PNG\0')
    assert (
        invalid_reason(workspace) == 'is a binary file, not text (it has a NUL byte near its start)'
    )


def test_a_file_that_is_too_large_is_refused(
    folder: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(editing, 'MAX_EDIT_SIZE', 10)
    (folder / 'a').write_bytes(b'x' * 10)
    with value_of(open_for_edit(workspace, REQUEST, TimeLimit())):
        pass
    (folder / 'a').write_bytes(b'x' * 11)
    assert invalid_reason(workspace) == 'has more than 10 bytes, too many for an edit'


def test_a_missing_or_unreadable_file_is_reported(folder: Path, workspace: Workspace) -> None:
    error_of(open_for_edit(workspace, REQUEST, TimeLimit()), FileNotFound)
    (folder / 'a').write_text('x')
    with value_of(open_for_edit(workspace, REQUEST, TimeLimit())) as draft:
        (folder / 'a').chmod(0o222)
        with unprivileged():
            assert (
                error_of(open_for_edit(workspace, REQUEST, TimeLimit()), PathForbidden).reason
                == 'system'
            )
            assert error_of(save(workspace, REQUEST, draft, 'y'), PathForbidden).reason == 'system'
        (folder / 'a').unlink()
        error_of(save(workspace, REQUEST, draft, 'y'), FileNotFound)
    assert tree(folder) == {}


def test_a_pipe_is_refused_without_blocking(folder: Path, workspace: Workspace) -> None:
    os.mkfifo(folder / 'a')
    assert invalid_reason(workspace) == 'is a pipe, not a file'


MEASUREMENT = """
import resource, sys
from pathlib import Path
from seamwise.toolhost.builtin.text.editing import MAX_EDIT_SIZE, open_for_edit
from seamwise.toolhost.builtin.time_limit import OutOfTime, TimeLimit
from seamwise.toolhost.builtin.workspace.paths import PathRequest
from seamwise.toolhost.builtin.workspace.workspace import Workspace
workspace = Workspace(Path(sys.argv[1]))
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
error = open_for_edit(workspace, PathRequest('apply_diff', 'a'), TimeLimit()).failure()
growth = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
assert 'too many' in error.reason, error
sys.exit(0 if growth < 3 * MAX_EDIT_SIZE // 1024 else f'{growth} KiB')
"""


def test_a_huge_file_is_refused_with_little_memory(folder: Path) -> None:
    with (folder / 'a').open('wb') as stream:
        stream.truncate(5_000_000_000)
    process = subprocess.run(
        [sys.executable, '-c', MEASUREMENT, str(folder)], check=False, capture_output=True
    )
    assert process.returncode == 0, process.stderr
