"""`examples/calls.jsonl`: reproducible output, and no changed files."""

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


def test_example_shows_successes_and_typical_failures_at_every_seam() -> None:
    code, output = example('all')
    assert code == 1
    result = objects(output)
    calls = (EXAMPLES / 'calls.jsonl').read_text(encoding='utf-8').count('\n')
    assert 8 <= calls <= 12
    assert len(result) == calls * SEAMS_OF_A_CALL
    kinds = [item['output'].get('error_class') for item in result if item['seam'] == 'model']
    assert kinds.count(None) >= 3
    assert len(set(kinds)) >= 8


@pytest.mark.slow
@pytest.mark.parametrize('seam', ['all', 'cli'])
def test_example_gives_equal_output_each_time_and_changes_no_file(seam: str) -> None:
    old_files = _examples()
    first, second = (_without_times(example(seam)[1]) for _ in range(2))
    assert first == second
    assert _examples() == old_files


def _examples() -> dict[str, bytes | str | None]:
    # mypy and programs of the examples can run in the folder at the same time.
    return {
        path: content
        for path, content in tree(EXAMPLES).items()
        if not path.startswith('.mypy_cache') and '__pycache__' not in path
    }


def _without_times(output: str) -> str:
    return re.sub(r'"timestamp":"[^"]*"|req-[0-9a-f]{32}', '', output)
