"""Tests that no marked secret leaves the examples, whatever fails in them."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.examples.leaks.marks import NAMES, found, mark

pytestmark = pytest.mark.nightly

ROOT = Path(__file__).parents[2]
INTERNAL = {'internal_field', 'error_in_error'}
"""Marks in internal fields, which logs and terminals show."""

OWN = {'log', 'cli', 'sentry'}
"""Ways out for the people of the program."""


def emitted(example: str, folder: Path) -> dict[str, set[str]]:
    """Run an example, and return the marks in what it emits."""
    file = folder / 'emitted.json'
    process = subprocess.run(
        [sys.executable, '-m', 'tests.examples.leaks.program', example, 'json', str(file)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert process.returncode == 0, process.stderr[-2000:]
    texts = {**json.loads(file.read_text(encoding='utf-8')), 'log': [process.stderr]}
    return {channel: found('\n'.join(items)) for channel, items in texts.items()}


@pytest.mark.parametrize('example', ['shop'])
def test_no_marked_secret_is_emitted(example: str, tmp_path: Path) -> None:
    for channel, names in emitted(example, tmp_path).items():
        allowed = INTERNAL if channel in OWN else set()
        assert names <= allowed, channel


def test_the_search_finds_a_mark_in_every_encoding() -> None:
    for name in NAMES:
        assert found(f'x {mark(name)!r} y') == {name}
        assert found(json.dumps({'a': mark(name)[:9]})) == {name}
