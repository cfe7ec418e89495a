"""Tests of the hook for commit messages."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tools.commit_message import problems

from tests.programs import program

ROOT = Path(__file__).parent.parent
BODY = '\n\nThe old one could deadlock.\n'


@pytest.mark.parametrize(
    ('message', 'changed_files'),
    [
        ('Fix a typo\n', 1),
        ('Fix deadline inheritance in background tasks' + BODY, 3),
        ('Pass the clock to each guard' + BODY, 2),
        ('Embed the page' + BODY, 2),
        ('Feed the parser in pieces' + BODY, 2),
        ('Focus the first field' + BODY, 2),
        ('X' * 72, 1),
        ("Merge branch 'check'\n", 9),
        (f'Revert "{"x" * 72}."\n', 2),
        ('fixup! Fix a typo\n', 2),
        ('# a comment\n\nFix a typo\n# another\n', 1),
        ('Fix a typo\n# ------------------------ >8 ------------------------\ndiff --git\n', 1),
    ],
)
def test_a_message_that_follows_the_rule_has_no_problem(message: str, changed_files: int) -> None:
    assert list(problems(message, changed_files)) == []


@pytest.mark.parametrize(
    ('message', 'problem'),
    [
        ('', 'no subject'),
        ('# only comments\n', 'no subject'),
        ('fix a typo', 'upper case'),
        ('Fixed a typo', "'Fixed' is not an imperative"),
        ('Fixing a typo', "'Fixing' is not an imperative"),
        ('Fixes a typo', "'Fixes' is not an imperative"),
        ('F' * 73, '73 characters'),
        ('Fix a typo.', 'full stop'),
        ('Fix a typo\nin a test', 'not blank'),
    ],
)
def test_a_message_that_breaks_the_rule_has_a_problem(message: str, problem: str) -> None:
    (found,) = problems(message, 1)
    assert problem in found


@pytest.mark.parametrize('rest', ['', '\n\n', '\n\nSigned-off-by: Ann <ann@example.org>\n'])
def test_a_commit_of_several_files_needs_a_body(rest: str) -> None:
    assert list(problems(f'Fix typos{rest}', 2)) == [
        'The commit changes 2 files, but no body says why.'
    ]


def test_the_hook_counts_the_staged_files(tmp_path: Path) -> None:
    git = [program('git'), '-C', str(tmp_path)]
    subprocess.run([*git, 'init', '--quiet'], check=True)
    for name in ('a', 'b'):
        (tmp_path / name).touch()
    subprocess.run([*git, 'add', 'a', 'b'], check=True)
    (tmp_path / 'message').write_text('Add two files\n')
    hook = subprocess.run(
        [sys.executable, '-m', 'tools.commit_message', 'message'],
        cwd=tmp_path,
        env=os.environ | {'PYTHONPATH': str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (hook.returncode, hook.stderr) == (
        1,
        'The commit changes 2 files, but no body says why.\n',
    )
