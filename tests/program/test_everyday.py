"""A whole session, call by call, through every seam: `tests/runs` says what must come out."""

import json
import runpy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from seamwise._text.jsonable import Json

from .helpers import SEAMS, matches, objects, run

RUNS = Path(__file__).parent.parent / 'runs'
NAMES = sorted(one.name.removesuffix('.jsonl') for one in RUNS.glob('*.jsonl'))
CLI_CODES = {
    **dict.fromkeys(['MissingParameter', 'InvalidParameter', 'UnknownTool'], 2),
    **dict.fromkeys(['ContentNotFound', 'ContentMismatch', 'DuplicateMatch', 'DiffRejected'], 65),
    'FileNotFound': 66,
    'FileAlreadyExists': 73,
    'PathForbidden': 77,
    **dict.fromkeys(['CommandTimedOut', 'ToolTimedOut'], 124),
    **dict.fromkeys(['CommandFailed', 'ToolRepeated', 'TooManyMistakes'], 1),
}


@pytest.fixture(scope='module', params=NAMES)
def session(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[dict[str, Any], list[dict[str, Any]], int, Path]:
    expected = json.loads((RUNS / f'{request.param}.expect.json').read_text(encoding='utf-8'))
    workspace: Path = runpy.run_path(str(RUNS / 'workspace.py'))['build'](
        tmp_path_factory.mktemp('run') / 'root'
    )
    done = run(
        'run',
        RUNS / f'{request.param}.jsonl',
        '--workspace',
        workspace,
        '--seam',
        'all',
        *expected['args'],
    )
    assert done.stderr == b''
    return expected, objects(done.stdout), done.returncode, workspace


def by_call(
    expected: dict[str, Any], lines: list[dict[str, Any]]
) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Give each expected call with what each seam made of it."""
    for number, call in enumerate(expected['calls']):
        yield call, {one['seam']: one['output'] for one in lines[number * 7 : number * 7 + 7]}


def test_every_call_has_a_line_a_seam(session: Any) -> None:
    expected, lines, code, _ = session
    assert code == expected['exit']
    assert [(one['id'], one['line'], one['seam']) for one in lines] == [
        (call['id'], call['line'], seam) for call in expected['calls'] for seam in SEAMS
    ]
    assert [one['ok'] for one in lines] == [
        'result' in call for call in expected['calls'] for _ in SEAMS
    ]


def test_every_success_is_the_expected_one_at_every_seam(session: Any) -> None:
    expected, lines, _, _ = session
    for call, shown in by_call(expected, lines):
        if 'result' not in call:
            continue
        result = shown['model']['result']
        assert matches(result, call['result']), call
        assert (
            shown['http']['body']['data']
            == shown['jsonrpc']['result']['structuredContent']
            == result
        )
        assert json.loads(shown['jsonrpc']['result']['content'][0]['text']) == result
        assert (shown['cli']['exit_code'], shown['session'], shown['planner'], shown['log']) == (
            0,
            [],
            None,
            None,
        )


def test_every_failure_is_the_expected_one_at_every_seam(session: Any) -> None:
    expected, lines, _, _ = session
    for call, shown in by_call(expected, lines):
        if 'error' not in call:
            continue
        error = shown['http']['body']['error']
        assert error['type'] == call['error'], call
        assert matches(error['details'], call.get('details', {})), call
        assert shown['cli']['exit_code'] == CLI_CODES[call['error']]
        assert shown['session'][0]['metadata']['error_type'] == call['error']
        assert shown['model']['error_class'] == shown['log']['error_type'] == call['error']
        assert shown['model'].get('path') == call.get('path')
        assert shown['planner']['details']['tool_name'] == call['tool']
        assert json.loads(shown['jsonrpc']['result']['content'][0]['text']) == shown['model']


def test_every_expectation_is_known(session: Any) -> None:
    expected, _, _, _ = session
    assert expected.keys() <= {'about', 'args', 'exit', 'after', 'calls'}
    assert expected['after'].keys() <= {'files'}
    for call in expected['calls']:
        kind = {'result'} if 'result' in call else {'error', 'details', 'path'}
        assert call.keys() <= {'line', 'id', 'tool', *kind}, 'what is not compared is not tested'


def test_the_workspace_is_left_as_expected(session: Any) -> None:
    expected, _, _, workspace = session
    for name, content in expected['after']['files'].items():
        assert (workspace / name).read_text(encoding='utf-8') == content


@pytest.mark.parametrize(
    ('found', 'expected', 'holds'),
    [
        ({'a': 1, 'b': 2}, {'a': 1}, True),
        ({'a': 1}, {'b': 1}, False),
        ([1], [1, 2], False),
        (1, True, False),
        ([{'a': 1}], {'$any': [{'a': 1}], '$none': [{'a': 2}], '$len': 1}, True),
        ([{'a': 1}], {'$pluck': 'a', '$eq': [1]}, True),
        ('abc', {'$has': 'b', '$re': '^a', '$maxbytes': 3, '$minlen': 3}, True),
        ('abc', {'$minlen': 4}, False),
        ('abc', {'$maxbytes': 2}, False),
        ('abc', {'$re': '^b'}, False),
        ('abc', {'$has': 'd'}, False),
    ],
)
def test_what_is_expected_is_compared_rightly(found: Json, expected: Json, holds: bool) -> None:
    assert matches(found, expected) is holds
