"""The output of a call at every seam, for the page."""

import json
import re
from importlib.resources import files
from typing import Any

import pytest

from seamwise import Failure, Success
from seamwise._defects.defects import report_defect
from seamwise.catalog.parsing import UnreadableCall
from seamwise.catalog.tools import FileNotFound, ToolFailed
from seamwise.policies.events import Retrying
from seamwise.program.outputs import OUTPUTS, Defect
from seamwise.program.page_outputs import MAX_EXCERPT, MAX_OUTPUT, page_outputs
from seamwise.toolhost import ToolCall, ToolOutcome
from seamwise.toolhost.guards.guarded_call import CallStats, record_event, recording

CALL = ToolCall('read_file', {'path': 'a.txt'}, id='c-1')
MISSING = FileNotFound('read_file', 'a.txt', ('b.txt',))

TIME = re.compile(r'(?<="timestamp": ")[^"]+')


def outcome(result: Any, *, call: ToolCall | None = CALL, attempts: int = 1) -> ToolOutcome[Any]:
    return ToolOutcome(1, call, result, attempts, 0.0, 0.01)


def outputs(result: Any, *, call: ToolCall | None = CALL, stats: CallStats | None = None) -> Any:
    return page_outputs(outcome(result, call=call), stats or CallStats())


def test_a_failure_has_an_output_at_every_seam() -> None:
    shown = outputs(Failure(MISSING))
    assert set(shown) == {
        *('cli', 'http', 'session', 'model', 'planner', 'jsonrpc', 'log', 'telemetry')
    }
    assert shown['http']['status'] == 404
    assert shown['jsonrpc']['id'] == 'c-1'
    assert shown['session']['en'][-1]['event'] == 'error.correctable'
    assert '不存在' in shown['session']['zh_CN'][-1]['show_content']
    assert shown['telemetry'] == {
        'seamwise.errors': {
            'error.type': 'FileNotFound',
            'seamwise.error.category': 'not_found',
            'seamwise.seam': 'session',
        },
        'seamwise.error.paths': {
            'seamwise.operation': 'read_file',
            'seamwise.error.fingerprint': shown['telemetry']['seamwise.error.paths'][
                'seamwise.error.fingerprint'
            ],
        },
    }


def example_outputs() -> Any:
    """Return the outputs for the first example of the page, with one time in all of them."""
    call = ToolCall('read_file', {'path': 'notes/plan.md'}, id='call-1')
    shown = json.dumps(outputs(Failure(FileNotFound('read_file', 'notes/plan.md')), call=call))
    return json.loads(TIME.sub('2026-02-20T10:30:00Z', shown))


def test_the_page_shows_real_outputs_before_the_first_call() -> None:
    script = (files('seamwise.toolhost.server') / 'page' / 'sample.js').read_text('utf-8')
    sample = json.loads(script.partition('SAMPLE = ')[2].rstrip(';\n'))
    assert sample['seams'] == example_outputs()
    assert sample['error_type'] == 'FileNotFound'


def test_no_seam_advises_to_repeat_a_call_that_may_have_taken_effect() -> None:
    failed = Failure(ToolFailed('pay', ConnectionResetError()))
    call = ToolCall('pay', {}, id='c-1')
    shown: Any = page_outputs(
        ToolOutcome(1, call, failed, 1, 0.0, 0.01, may_have_taken_effect=True), CallStats()
    )
    assert shown['session']['en'][-1]['metadata']['recovery_strategy'] == 'escalate_to_user'
    assert 'It may have taken effect' in shown['model']['suggestion']
    assert shown['planner']['details']['may_have_taken_effect'] is True


def test_a_success_changes_no_metric() -> None:
    shown = outputs(Success({'content': 'x'}))
    assert shown['telemetry'] is None
    assert shown['cli']['exit_code'] == 0


def test_a_call_without_an_id_has_the_number_of_its_place() -> None:
    assert outputs(Failure(MISSING), call=ToolCall('read_file', {}))['jsonrpc']['id'] == 'call-1'


def test_a_call_that_cannot_be_read_is_an_error_of_the_parser() -> None:
    error = UnreadableCall('hermes', 'the JSON is broken', '{', 0)
    shown = outputs(Failure(error), call=None)
    assert shown['jsonrpc']['error']['code'] == -32700
    assert shown['telemetry']['seamwise.error.paths']['seamwise.operation'] == 'parse'


def test_an_error_without_a_call_is_shown_as_an_unreadable_one() -> None:
    assert outputs(Failure(MISSING), call=None)['http']['status'] == 404
    assert outputs(Success(1), call=None)['http']['status'] == 200


def test_a_bug_keeps_its_reference_and_hides_its_text() -> None:
    bug = KeyError('hunter2')
    ref = report_defect(bug).ref
    shown = outputs(Failure(ToolFailed('read_file', bug)))
    assert ref in str(shown['cli'])
    assert shown['http']['status'] == 500
    assert 'hunter2' not in str({**shown, 'log': None})
    assert shown['telemetry']['seamwise.errors']['seamwise.error.category'] == 'defect'


@pytest.mark.parametrize(
    ('result', 'ending'), [(Failure(MISSING), 'gave_up'), (Success(1), 'recovered')]
)
def test_retries_are_counted(result: Any, ending: str) -> None:
    stats = CallStats()
    with recording(stats):
        for attempt in (1, 2):
            record_event(Retrying('read', MISSING, attempt, 3, 0.5, 0.1, 2.0))
    shown = outputs(result, stats=stats)['telemetry']
    assert shown['seamwise.retry.attempts']['value'] == 2
    assert shown['seamwise.retry.outcomes'] == {
        'seamwise.guard.name': 'read',
        'seamwise.guard.outcome': ending,
    }


def test_a_long_output_is_cut() -> None:
    size = 2 * MAX_OUTPUT
    shown = outputs(Success('界' * size))
    assert set(shown['model']) == {'excerpt', 'cut_bytes'}
    assert shown['model']['cut_bytes'] > 3 * size
    assert len(shown['model']['excerpt']) == MAX_EXCERPT


def test_an_output_that_cannot_be_rendered_is_that_of_the_defect(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    render = OUTPUTS['model']

    def broken(result: Any) -> object:
        if isinstance(result.outcome, Defect):
            return render(result)
        raise RuntimeError('a bug of an adapter')

    replaced = {**OUTPUTS, 'model': broken}
    monkeypatch.setattr('seamwise.program.page_outputs.OUTPUTS', replaced)
    shown = outputs(Failure(MISSING))
    assert shown['model']['error_class'] == 'INTERNAL'
    assert shown['http']['status'] == 404
