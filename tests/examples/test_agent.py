"""Tests of the example of an agent: it runs offline, and the model corrects its mistakes."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

EXAMPLES = Path(__file__).parents[2] / 'examples'

LINES = [
    'How warm is it in Oslo and in Bern, in degrees Fahrenheit?',
    'Turn 1',
    '  weather {"city": "Olso", "days": 2}: CityUnknown. Use one of the stations: Oslo, Bern.',
    '  weather {"city": "Bern"}: ok after 2 attempts',
    '  farenheit {"celsius": 21}: UnknownTool. Did you mean \'fahrenheit\'?',
    'Turn 2',
    '  weather {"city": "Oslo", "days": 2}: ok after 2 attempts',
    '  fahrenheit {"celsius": "21"}: InvalidParameter.',
    '  an unreadable call: UnreadableCall.',
    'Turn 3',
    '  fahrenheit {"celsius": 21.0}: ok',
    '  fahrenheit {"celsius": 12.0}: ok',
    '  remember {"topic": "cities", "text": "Oslo, Bern"}: ok',
    'It is 53.6 °F in Oslo and 69.8 °F in Bern.',
]
"""The beginning of each line of the conversation."""

LIVE_LINES = [
    '  1  user.message',
    '  2  error.validation       The input violates the rule: a message contains a question.',
    '  3  user.message           How warm is it in Oslo?',
    '  4  agent.thinking         Turn 1',
    '  5  error.timeout          The service did not finish POST (read) within 5 s.',
    '  6  error.retry_attempt    Attempt 1 of 4 failed; the next one begins in 1 s.',
    (
        '  7  error.rate_limited     openai accepts no more requests for now. '
        'The next attempt can begin in 1 s.'
    ),
    '  8  agent.tool_call        weather {"city": "Oslo"}',
    '  9  agent.tool_result      weather {"city": "Oslo"}: ok after 2 attempts',
    ' 10  agent.thinking         Turn 2',
    ' 11  agent.answer           It is 12 °C in Oslo.',
    ' 12  user.message           And in Bern?',
    ' 13  agent.thinking         Turn 1',
    ' 14  error.recovery_failed  openai rejects the credentials of this program.',
    ' 15  agent.error            openai rejects the credentials of this program.',
    ' 16  agent.session_end      The session has ended because of an error.',
]
"""The events that the user of the live agent receives."""

LOST = '     (lost with code 1006 after '


def run_python(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=EXAMPLES,
        env={**os.environ, 'PYTHONUTF8': '1'},
        capture_output=True,
        text=True,
        encoding='utf-8',
        check=False,
        timeout=60,
    )


def test_the_agent_answers_although_the_model_makes_mistakes() -> None:
    process = run_python('-m', 'agent.main')
    assert process.returncode == 0, process.stderr
    lines = process.stdout.splitlines()
    assert len(lines) == len(LINES)
    for line, expected in zip(lines, LINES, strict=True):
        assert line.startswith(expected)
    # One record for each failed call, and nothing else. What does not exist has the level INFO.
    tags = [line.rpartition('(')[2] for line in process.stderr.splitlines()]
    assert sorted(tags) == ['InvalidParameter)', 'UnknownTool)', 'UnreadableCall)']


WITHOUT_ANSWERS = """
import asyncio
from agent import main
from agent.provider import Provider

complete = Provider.complete

async def forgetful(self, messages):
    return await complete(self, [item for item in messages if item['role'] != 'tool'])

Provider.complete = forgetful
raise SystemExit(asyncio.run(main.main()))
"""


def test_the_recorded_provider_refuses_a_request_without_the_answers() -> None:
    process = run_python('-c', WITHOUT_ANSWERS)
    assert process.returncode == 1
    assert 'openai rejects the request' in process.stderr
    assert 'Turn 2' not in process.stdout


def test_the_page_of_the_example_shows_its_output() -> None:
    page = (EXAMPLES / 'agent' / 'README.md').read_text(encoding='utf-8')
    block = page.split('```\n')[2].splitlines()
    for line, expected in zip(block, LINES, strict=True):
        assert line.startswith(expected)


def without_loss(lines: list[str]) -> list[str]:
    """Return the lines of the events. The connection is lost once, after event 8 or soon after."""
    assert sum(line.startswith(LOST) for line in lines) == 1
    assert lines[8].startswith(LOST) or lines[9].startswith(LOST)
    return [line.rstrip() for line in lines if not line.startswith(LOST)]


def test_the_user_of_the_live_agent_receives_each_event_once() -> None:
    process = run_python('-m', 'agent.demo')
    assert process.returncode == 0, process.stderr
    assert without_loss(process.stdout.splitlines()) == LIVE_LINES
    assert 'Traceback' not in process.stderr


def test_the_page_of_the_example_shows_the_live_output() -> None:
    page = (EXAMPLES / 'agent' / 'README.md').read_text(encoding='utf-8')
    assert without_loss(page.split('```\n')[5].splitlines()) == LIVE_LINES


def test_each_recorded_answer_of_the_provider_is_complete() -> None:
    recording = json.loads((EXAMPLES / 'agent' / 'recording.json').read_text(encoding='utf-8'))
    assert [exchange['status'] for exchange in recording] == [429, 200, 200, 200, 200]
    calls = [
        call['id']
        for exchange in recording[1:]
        for choice in exchange['response']['choices']
        for call in choice['message'].get('tool_calls', [])
    ]
    assert calls == [f'call_{number}' for number in range(1, 10)]
