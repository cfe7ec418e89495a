"""An everyday session, call by call, at every seam; `tests/runs` contains the expectations."""

import json
import runpy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from seamwise._text.jsonable import Json

from .helpers import SEAMS, is_match, objects, run

RUNS = Path(__file__).parent.parent / 'runs'
NAMES = sorted(path.name.removesuffix('.jsonl') for path in RUNS.glob('*.jsonl'))
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
    """Yield each expected call with the output of each seam."""
    for number, call in enumerate(expected['calls']):
        yield call, {line['seam']: line['output'] for line in lines[number * 7 : number * 7 + 7]}


@pytest.mark.slow
def test_every_call_has_one_line_per_seam(session: Any) -> None:
    expected, lines, code, _ = session
    assert code == expected['exit']
    assert [(line['id'], line['line'], line['seam']) for line in lines] == [
        (call['id'], call['line'], seam) for call in expected['calls'] for seam in SEAMS
    ]
    assert [line['ok'] for line in lines] == [
        'result' in call for call in expected['calls'] for _ in SEAMS
    ]


def test_every_success_is_as_expected_at_every_seam(session: Any) -> None:
    expected, lines, _, _ = session
    for call, outputs in by_call(expected, lines):
        if 'result' not in call:
            continue
        result = outputs['model']['result']
        assert is_match(result, call['result']), call
        assert (
            outputs['http']['body']['data']
            == outputs['jsonrpc']['result']['structuredContent']
            == result
        )
        assert json.loads(outputs['jsonrpc']['result']['content'][0]['text']) == result
        assert (
            outputs['cli']['exit_code'],
            outputs['session'],
            outputs['planner'],
            outputs['log'],
        ) == (
            0,
            [],
            None,
            None,
        )


def test_every_failure_is_as_expected_at_every_seam(session: Any) -> None:
    expected, lines, _, _ = session
    for call, outputs in by_call(expected, lines):
        if 'error' not in call:
            continue
        error = outputs['http']['body']['error']
        assert error['type'] == call['error'], call
        # HTTP shows no details of a fault of the server; the planner shows every field.
        details = error['details'] if 'details' in error else outputs['planner']['details']
        assert is_match(details, call.get('details', {})), call
        assert outputs['cli']['exit_code'] == CLI_CODES[call['error']]
        assert outputs['session'][0]['metadata']['error_type'] == call['error']
        assert outputs['model']['error_class'] == outputs['log']['error_type'] == call['error']
        assert outputs['model'].get('path') == call.get('path')
        assert outputs['planner']['details']['tool_name'] == call['tool']
        assert json.loads(outputs['jsonrpc']['result']['content'][0]['text']) == outputs['model']


def test_every_expectation_uses_known_operators(session: Any) -> None:
    expected, _, _, _ = session
    assert expected.keys() <= {'about', 'args', 'exit', 'after', 'calls'}
    assert expected['after'].keys() <= {'files'}
    for call in expected['calls']:
        kind = {'result'} if 'result' in call else {'error', 'details', 'path'}
        assert call.keys() <= {'line', 'id', 'tool', *kind}, 'every key is compared'


def test_workspace_is_as_expected_after_the_run(session: Any) -> None:
    expected, _, _, workspace = session
    for name, content in expected['after']['files'].items():
        assert (workspace / name).read_text(encoding='utf-8') == content


@pytest.mark.parametrize(
    ('actual', 'expected', 'is_matching'),
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
def test_comparison_of_expectations_is_correct(
    actual: Json, expected: Json, is_matching: bool
) -> None:
    assert is_match(actual, expected) is is_matching
