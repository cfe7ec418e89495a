"""Tests of the first program: the README runs it, and its output is short and right."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LONGEST = 59
"""Lines of output that a newcomer reads."""

RESULTS = """
1. Functions return results: examples/first/shop.py
---------------------------------------------------
find_user('ada').bind(charge)  ->  Success(42)
find_user('eve').bind(charge)  ->  Failure(UserNotFound(name='eve'))
checkout('ada', limit=50)  ->  Success('ada paid 42')
checkout('ada', limit=10)  ->  Failure(CardDeclined(reason='over the limit'))

2. A match takes a failure apart
--------------------------------
explain(Failure(CardDeclined(reason='over the limit')))
  ->  'Please try another card (over the limit).'

3. A forgotten arm is a type error: mypy without `case CardDeclined`
--------------------------------------------------------------------
"""
TERMINAL = """
4. The same failure at three seams: examples/first/seams.py
-----------------------------------------------------------
terminal, exit code 1:
Declined: over the limit.

HTTP 409:
"""


def command_of_the_readme() -> str:
    """Return the command of the section `Run it`, as `.ci/run` reads it."""
    script = [sys.executable, str(ROOT / '.ci' / 'readme.py'), 'Run it']
    return subprocess.run(script, capture_output=True, text=True, check=True).stdout


def test_the_readme_runs_the_program() -> None:
    assert command_of_the_readme().endswith('(cd examples && ../.venv/bin/python -m first)\n')


@pytest.mark.slow
def test_the_output_is_short_and_shows_one_failure_at_each_seam() -> None:
    process = subprocess.run(
        [sys.executable, '-m', 'first'],
        cwd=ROOT / 'examples',
        capture_output=True,
        text=True,
        check=False,
    )
    assert (process.returncode, process.stderr) == (0, '')
    output = process.stdout
    assert output.count('\n') <= LONGEST
    assert output.startswith(RESULTS)
    of_mypy, _, seams = output.removeprefix(RESULTS).partition(TERMINAL)
    assert re.fullmatch(
        r'shop\.py:\d+: error: Argument 1 to "assert_never" has incompatible type "CardDeclined"; '
        r'expected "Never"  \[arg-type\]\n',
        of_mypy,
    )
    response, _, event = seams.partition('\n\nsession event:\n')
    assert json.loads(response)['error'] == {
        'code': 'CARD_DECLINED',
        'type': 'CardDeclined',
        'message': 'Declined: over the limit.',
        'details': {'reason': 'over the limit'},
        'retryable': False,
    }
    assert json.loads(event)['show_content'] == 'Declined: over the limit.'
    assert json.loads(event)['metadata']['error_code'] == 'ERR_CARD_001'
