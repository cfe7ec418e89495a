"""Tests that no marked secret leaves the examples, whatever fails in them."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.examples.leaks.marks import NAMES, found, mark

pytestmark = pytest.mark.nightly

ROOT = Path(__file__).parents[2]
PROGRAM = 'tests.examples.leaks.program'
INTERNAL = {'internal_field', 'error_in_error'}
"""Marks in internal fields, which logs and terminals show."""

ALLOWED = {
    'log': INTERNAL,
    'cli': INTERNAL,
    'sentry': INTERNAL,
    # The example shows the arguments of a call by their names. Only the processor knows that the
    # parameter `phrase` is a Secret.
    'terminal': {'tool_phrase'},
    'live': {'tool_phrase'},
}
"""Marks that a way out may show: the first three are for the people of the program."""


def emitted(example: str, style: str, folder: Path, control: str = '') -> dict[str, set[str]]:
    """Run an example, and return the marks in what it emits."""
    file = folder / 'emitted.json'
    process = subprocess.run(
        [sys.executable, '-m', PROGRAM, example, style, str(file), control],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert process.returncode == 0, process.stderr[-2000:]
    texts = {**json.loads(file.read_text(encoding='utf-8')), 'log': [process.stderr]}
    return {channel: found('\n'.join(items)) for channel, items in texts.items()}


@pytest.mark.parametrize(
    ('example', 'style'), [('shop', 'json'), ('shop', 'console'), ('agent', 'json')]
)
def test_no_marked_secret_is_emitted(example: str, style: str, tmp_path: Path) -> None:
    for channel, names in emitted(example, style, tmp_path).items():
        assert names <= ALLOWED.get(channel, set()), channel


def test_the_search_finds_the_marks_if_redaction_is_off(tmp_path: Path) -> None:
    found_in = emitted('shop', 'json', tmp_path, 'redaction off')
    missing = {channel for channel, names in found_in.items() if not names - INTERNAL}
    # Metrics count errors, and have no values of them.
    assert missing == {'metrics'}


def test_the_search_finds_a_mark_in_every_encoding() -> None:
    for name in NAMES:
        assert found(f'x {mark(name)!r} y') == {name}
        assert found(json.dumps({'a': mark(name)[:9]})) == {name}
