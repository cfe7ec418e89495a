"""What may be edited is taken up; the rest is refused with a reason."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from seamwise.catalog.tools import FileNotFound, InvalidParameter, PathForbidden
from seamwise.toolhost.text import editing as module
from seamwise.toolhost.text.editing import open_for_edit, save
from seamwise.toolhost.workspace.paths import PathRequest
from seamwise.toolhost.workspace.workspace import Workspace
from tests.toolhost.helpers import error_of, tree, unprivileged, value_of

ASKED = PathRequest('replace_in_file', 'a')


def refused(workspace: Workspace) -> str:
    error = error_of(open_for_edit(workspace, ASKED), InvalidParameter)
    assert error.parameter == 'path'
    return error.reason


def test_a_file_is_taken_up_and_put_back(folder: Path, workspace: Workspace) -> None:
    (folder / 'a').write_bytes('\ufeff数\r\n'.encode())
    draft = value_of(open_for_edit(workspace, ASKED))
    assert (draft.document.text, draft.names) == ('数\n', ('a',))
    value_of(save(workspace, ASKED, draft, draft.document.apply_edits([])))
    assert tree(folder) == {'a': '\ufeff数\r\n'.encode()}


def test_other_encodings_are_refused_with_the_place_and_another_one(
    folder: Path, workspace: Workspace
) -> None:
    (folder / 'a').write_bytes(b'ok\ncaf\xe9\n')
    said = 'must be UTF-8 text to be edited: byte 0xe9 at position 6 is not utf-8; try latin-1'
    assert refused(workspace) == said


def test_a_binary_file_is_refused(folder: Path, workspace: Workspace) -> None:
    (folder / 'a').write_bytes(b'PNG\0')
    assert refused(workspace) == 'is a binary file, not text (it has a NUL byte near its start)'


def test_a_file_that_is_too_large_is_refused(
    folder: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, 'MAX_EDIT_SIZE', 10)
    (folder / 'a').write_bytes(b'x' * 10)
    value_of(open_for_edit(workspace, ASKED))
    (folder / 'a').write_bytes(b'x' * 11)
    assert refused(workspace) == 'has more than 10 bytes, too many for an edit'


def test_what_may_not_be_read_or_is_gone_is_told(folder: Path, workspace: Workspace) -> None:
    error_of(open_for_edit(workspace, ASKED), FileNotFound)
    (folder / 'a').write_text('x')
    draft = value_of(open_for_edit(workspace, ASKED))
    (folder / 'a').chmod(0o222)
    with unprivileged():
        assert error_of(open_for_edit(workspace, ASKED), PathForbidden).reason == 'system'
        assert error_of(save(workspace, ASKED, draft, 'y'), PathForbidden).reason == 'system'
    (folder / 'a').unlink()
    error_of(save(workspace, ASKED, draft, 'y'), FileNotFound)
    assert tree(folder) == {}


def test_a_pipe_is_refused_and_nobody_waits(folder: Path, workspace: Workspace) -> None:
    os.mkfifo(folder / 'a')
    assert refused(workspace) == 'is a pipe, not a file'


MEASURED = """
import resource, sys
from pathlib import Path
from seamwise.toolhost.text.editing import MAX_EDIT_SIZE, open_for_edit
from seamwise.toolhost.workspace.paths import PathRequest
from seamwise.toolhost.workspace.workspace import Workspace
workspace = Workspace(Path(sys.argv[1]))
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
error = open_for_edit(workspace, PathRequest('apply_diff', 'a')).failure()
grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
assert 'too many' in error.reason, error
sys.exit(0 if grown < 3 * MAX_EDIT_SIZE // 1024 else f'{grown} KiB')
"""


def test_a_huge_file_takes_little_memory(folder: Path) -> None:
    with (folder / 'a').open('wb') as stream:
        stream.truncate(5_000_000_000)
    done = subprocess.run(
        [sys.executable, '-c', MEASURED, str(folder)], check=False, capture_output=True
    )
    assert done.returncode == 0, done.stderr
