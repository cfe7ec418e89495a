"""The example that the README runs: the same each time, and nothing is left changed."""

import re
from pathlib import Path

import pytest

from tests.toolhost.helpers import tree

from .helpers import objects, run

EXAMPLES = Path(__file__).parent.parent.parent / 'examples'
SEAMS_OF_A_CALL = 7


def example(seam: str) -> tuple[int, str]:
    done = run(
        'run',
        'examples/calls.jsonl',
        '--workspace',
        'examples/workspace',
        '--seam',
        seam,
        cwd=EXAMPLES.parent,
    )
    assert done.stderr == b''
    return done.returncode, done.stdout.decode()


def test_it_shows_successes_and_typical_failures_at_every_seam() -> None:
    code, output = example('all')
    assert code == 1
    found = objects(output)
    calls = (EXAMPLES / 'calls.jsonl').read_text(encoding='utf-8').count('\n')
    assert 8 <= calls <= 12
    assert len(found) == calls * SEAMS_OF_A_CALL
    kinds = [one['output'].get('error_class') for one in found if one['seam'] == 'model']
    assert kinds.count(None) >= 3
    assert len(set(kinds)) >= 8


@pytest.mark.parametrize('seam', ['all', 'cli'])
def test_it_gives_the_same_each_time_and_changes_nothing(seam: str) -> None:
    before = tree(EXAMPLES)
    first, second = (_without_times(example(seam)[1]) for _ in range(2))
    assert first == second
    assert tree(EXAMPLES) == before


def _without_times(output: str) -> str:
    return re.sub(r'"timestamp":"[^"]*"|req-[0-9a-f]{32}', '', output)
