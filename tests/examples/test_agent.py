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
    # One record for each failed call, and nothing else.
    tags = [line.rpartition('(')[2] for line in process.stderr.splitlines()]
    assert sorted(tags) == ['CityUnknown)', 'InvalidParameter)', 'UnknownTool)', 'UnreadableCall)']


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
