"""A path that does not exist is the exit code 66, for every command."""

from pathlib import Path

import pytest

from .helpers import call, run

RUN = ['run', '--seam', 'cli', '--workspace']


@pytest.mark.slow
@pytest.mark.parametrize(
    'arguments',
    [
        [*RUN, '.', 'nothere'],
        [*RUN, '.', ''],
        [*RUN, '.', 'a.txt/x'],
        [*RUN, '.', '--format', 'auto', 'nothere'],
        [*RUN, 'nothere'],
        [*RUN, ''],
        [*RUN, 'a.txt'],
        [*RUN, '.', '--guards', 'nothere'],
        ['check', 'nothere'],
        ['check', 'nothere.py', '--json'],
        ['check', 'empty.py', 'nothere'],
        ['check', 'nothere', '--adoption'],
        ['map', 'nothere'],
        ['map', 'nothere.py', '--json'],
        ['map', '--module', 'nothere'],
        ['map', '--table', 'nothere:TABLE'],
        ['catalog', '--module', 'nothere'],
        ['catalog', '--table', 'nothere:TABLE'],
        ['explain', 'FileNotFound', '--module', 'nothere'],
        ['explain', 'FileNotFound', '--table', 'nothere:TABLE'],
        ['serve', '--workspace', 'nothere'],
        ['serve', '--workspace', '.', '--token-file', 'nothere'],
        ['serve', '--workspace', '.', '--guards', 'nothere'],
        ['mcp', '--workspace', 'nothere'],
        ['mcp', '--workspace', '.', '--guards', 'nothere'],
    ],
    ids=' '.join,
)
def test_a_path_that_does_not_exist_is_exit_code_66(workspace: Path, arguments: list[str]) -> None:
    (workspace / 'empty.py').write_text('')
    done = run(*arguments, calls=call('list_files'), cwd=workspace)
    assert done.returncode == 66, done.stderr
    assert done.stderr.startswith(b'seamwise: ')
    assert b'Traceback' not in done.stderr


def test_a_file_of_a_new_error_in_a_folder_that_does_not_exist_is_exit_code_73(
    workspace: Path,
) -> None:
    """The file is output, and 73 is the code of output that cannot be created."""
    arguments = ['scaffold', 'error', 'OrderGone', '--category', 'not_found']
    done = run(*arguments, '--write', 'nothere/errors.py', cwd=workspace)
    assert done.returncode == 73, done.stderr


def test_a_source_file_that_cannot_be_analysed_stays_exit_code_2(workspace: Path) -> None:
    (workspace / 'broken.py').write_text('def')
    assert run('check', 'broken.py', cwd=workspace).returncode == 2
