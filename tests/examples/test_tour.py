"""Test of the tour of the tool host, which the page of `seamwise run` shows."""

import json
import shutil
from pathlib import Path

from click.testing import CliRunner

from seamwise.program.cli import seamwise

ROOT = Path(__file__).parents[2]


def test_the_calls_of_the_tour_fail_as_planned(tmp_path: Path) -> None:
    workspace = shutil.copytree(ROOT / 'examples/workspace', tmp_path / 'workspace')
    tour = ROOT / 'examples' / 'tour.jsonl'
    command = ['run', str(tour), '--workspace', str(workspace), '--seam', 'model']
    result = CliRunner().invoke(seamwise, command)
    lines = [json.loads(line) for line in result.stdout.splitlines()]
    assert {line['id']: line['output'].get('error_class') for line in lines} == {
        'list': None,
        'search': None,
        'typo': 'FileNotFound',
        'hidden': 'PathForbidden',
        'twice': 'DuplicateMatch',
        'exit-3': 'CommandFailed',
        'tool': 'UnknownTool',
    }
    assert result.exit_code == 1
    assert 'seamwise run examples/tour.jsonl' in (ROOT / 'docs/run.md').read_text('utf-8')
