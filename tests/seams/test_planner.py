"""The planner's seam: codes, categories, retryability, details, the log form."""

import json
from collections.abc import Mapping
from functools import reduce
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings

from seamwise import Category, Cause, TaggedError
from seamwise.catalog.parsing import SchemaViolations, UnknownFormat, UnreadableCall
from seamwise.catalog.problem import Problem
from seamwise.catalog.protocols import (
    McpConnectionFailed,
    McpServerFailed,
    McpTimedOut,
    McpTransportFailed,
)
from seamwise.catalog.tools import (
    CommandFailed,
    FileNotFound,
    Finding,
    InvalidParameter,
    InvalidResult,
    MissingParameter,
    ToolFailed,
    ToolTimedOut,
    UnknownTool,
)
from seamwise.codec import ReportedCause
from seamwise.policies import BulkheadFull, CircuitOpen, DeadlineExceeded, RateLimited
from seamwise.seams.adapter import Adapter, Hidden
from seamwise.seams.planner import (
    ErrorCategory,
    ErrorCode,
    ErrorInfo,
    decode,
    defect,
    encode,
    from_error,
    on,
    tables,
)
from seamwise.seams.planner.on import PlannerArm
from seamwise.seams.planner.tables import GUARDS, MCP, PARSING, TOOLS
from tests.strategies import PLANTED, UNIONS, errors, members

FACTS: dict[str, Any] = json.loads(
    (Path(__file__).parent.parent / 'vectors' / 'planner_codes.json').read_text(encoding='utf-8')
)
EVERYTHING: Mapping[str, Adapter[Any, ErrorInfo]] = {name: getattr(tables, name) for name in UNIONS}
ALL: Adapter[Any, ErrorInfo] = reduce(lambda one, other: one | other, EVERYTHING.values())


class Flaky(
    TaggedError,
    namespace='test_planner',
    category=Category.EXECUTION,
    retryable=True,
    message='{server} stumbled.',
):
    server: str
    note: str | None = None
    retry_after: float | None = None
    cause: Cause | None = None


FLAKY = on(Flaky).classifies('MCP_SERVER_ERROR')


def read(error: TaggedError) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(encode(ALL(error)))
    return found


# Codes and categories


@pytest.mark.parametrize('case', FACTS['cases'], ids=lambda case: case['code'])
def test_category_and_retryability_follow_from_the_code(case: Mapping[str, Any]) -> None:
    code = ErrorCode(case['code'])
    assert code.category == case['category']
    assert code.category.retryable is case['retryable']


@pytest.mark.parametrize('case', FACTS['categories'], ids=lambda case: case['name'])
def test_a_category_has_its_documented_codes(case: Mapping[str, Any]) -> None:
    category = ErrorCategory[case['name']]
    assert category.value == case['value']
    assert category.retryable is case['retryable']
    assert [code for code in ErrorCode if code.category is category] == case['codes']


def test_there_are_no_other_codes() -> None:
    assert list(ErrorCode) == [case['code'] for case in FACTS['cases']]
    assert len(ErrorCategory) == len(FACTS['categories'])


@pytest.mark.parametrize('case', FACTS['must_be_refused'], ids=lambda case: case['why'])
def test_facts_that_contradict_each_other_are_refused(case: Mapping[str, Any]) -> None:
    given_facts = {name: value for name, value in case.items() if name != 'why'}
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({'message': 'no', **given_facts}, ErrorInfo)


@pytest.mark.parametrize('retryable', [True, False])
def test_in_category_execution_both_words_are_good(retryable: bool) -> None:
    info = ErrorInfo(ErrorCode.TOOL_EXECUTION_FAILED, ErrorCategory.EXECUTION, 'no', retryable)
    assert info.retryable is retryable
    assert info.retry_after_ms is None


# Tables


@pytest.mark.parametrize('name', UNIONS)
def test_a_table_decides_every_class_of_its_union(name: str) -> None:
    assert set(EVERYTHING[name].kinds) == set(members(UNIONS[name]))


def test_streams_and_connections_of_clients_never_reach_a_planner() -> None:
    hidden = {kind.__name__ for kind, arm in ALL.arms.items() if isinstance(arm, Hidden)}
    between = {
        'InvalidInput',
        'SessionNotFound',
        'SessionBusy',
        'ConnectionLost',
        'ReplayGap',
        'UnknownEpoch',
        'AckAhead',
    }
    assert hidden == {kind.__name__ for kind in members(UNIONS['STREAMING'])} | between


DOCUMENTED = {
    'MissingParameter': 'TOOL_ARGUMENT_ERROR',
    'InvalidParameter': 'TOOL_ARGUMENT_ERROR',
    'UnknownTool': 'TOOL_NOT_FOUND',
    'CommandTimedOut': 'TOOL_TIMEOUT',
    'ToolTimedOut': 'TOOL_TIMEOUT',
    'ToolCancelled': 'TOOL_CANCELLED',
    'InvalidResult': 'TOOL_RESULT_ERROR',
    'RegistrationRejected': 'TOOL_REGISTRATION_FAILED',
    'ToolRepeated': 'TOOL_VALIDATION_ERROR',
    'TooManyMistakes': 'TOOL_VALIDATION_ERROR',
    'ResourceExhausted': 'RESOURCE_EXHAUSTED',
    'UnreadableCall': 'PARSER_ERROR',
    'UnknownFormat': 'PARSER_INVALID_FORMAT',
    'SchemaViolations': 'TOOL_VALIDATION_ERROR',
    'McpConnectionFailed': 'MCP_CONNECTION_FAILED',
    'McpTransportFailed': 'MCP_TRANSPORT_ERROR',
    'McpServerFailed': 'MCP_SERVER_ERROR',
    'McpTimedOut': 'MCP_TIMEOUT',
    'RateLimited': 'TOOL_RATE_LIMITED',
    'CircuitOpen': 'TOOL_CIRCUIT_OPEN',
    'BulkheadFull': 'BULKHEAD_FULL',
    'DeadlineExceeded': 'TOOL_TIMEOUT',
    **{kind.__name__: 'CONFIGURATION_ERROR' for kind in members(UNIONS['WORKSPACE'])},
}


@pytest.mark.parametrize(
    'kind', [*TOOLS.kinds, *PARSING.kinds, *MCP.kinds, *GUARDS.kinds, *tables.WORKSPACE.kinds]
)
def test_a_class_has_its_documented_code(kind: type[TaggedError]) -> None:
    arm = ALL.arms[kind]
    assert isinstance(arm, PlannerArm)
    assert arm.code == DOCUMENTED.get(kind.__name__, 'TOOL_EXECUTION_FAILED')


def test_every_code_has_a_producer_among_the_tables() -> None:
    assert {arm.code for arm in ALL.arms.values() if isinstance(arm, PlannerArm)} == set(ErrorCode)


@pytest.mark.parametrize(
    'kind', [kind for kind, arm in ALL.arms.items() if isinstance(arm, PlannerArm)]
)
def test_a_code_never_says_otherwise_than_its_error_whether_to_try_again(
    kind: type[TaggedError],
) -> None:
    arm = ALL.arms[kind]
    assert isinstance(arm, PlannerArm)
    category = arm.code.category
    assert category is ErrorCategory.EXECUTION or category.retryable is kind.__traits__.retryable


# Details


def test_wrong_arguments_are_told_by_their_names() -> None:
    missing = MissingParameter(
        'search', 'pattern', r'def \w+', (Finding('limit', 'must be at least 1'),)
    )
    assert read(missing)['details'] == {
        'tool_name': 'search',
        'validation_type': 'arguments',
        'errors': {'pattern': 'is missing', 'limit': 'must be at least 1'},
        'example': r'def \w+',
    }
    invalid = InvalidParameter(
        'search', 'limit', 'must be an integer', also=(Finding('limit', 'must be at least 1'),)
    )
    assert read(invalid)['details']['errors'] == {'limit': 'must be an integer; must be at least 1'}


def test_an_unknown_tool_always_tells_what_is_available() -> None:
    assert read(UnknownTool('serach', 'default', ()))['details'] == {
        'tool_name': 'serach',
        'namespace': 'default',
        'available_tools': [],
        'suggestions': [],
    }


def test_an_invalid_result_tells_every_problem() -> None:
    assert read(InvalidResult('t', ('no /path', '/size is no number')))['details'] == {
        'tool_name': 't',
        'validation_type': 'result',
        'errors': {'1': 'no /path', '2': '/size is no number'},
    }


def test_unreadable_input_is_shown_in_part() -> None:
    unreadable = UnreadableCall('json', 'a comma is missing', '{' * 300, 7, None, 'read_file')
    assert read(unreadable)['details'] == {
        'parser_name': 'json',
        'input_sample': '{' * 200,
        'problem': 'a comma is missing',
        'position': 7,
        'tool_name': 'read_file',
    }
    assert read(UnknownFormat('?' * 300))['details'] == {'input_sample': '?' * 200}


def test_a_call_of_the_wrong_shape_is_told_place_by_place() -> None:
    violations = SchemaViolations(
        (
            Problem('/tool', 'is missing'),
            Problem('/id', 'must be a text'),
            Problem('/id', 'must be new'),
        )
    )
    assert read(violations)['details']['errors'] == {
        '/tool': 'is missing',
        '/id': 'must be a text; must be new',
    }


def test_other_details_are_the_fields_that_say_something() -> None:
    assert read(FileNotFound('read_file', 'a.txt'))['details'] == {
        'tool_name': 'read_file',
        'path': 'a.txt',
    }
    assert read(FileNotFound('read_file', 'a.txt', ('b.txt',)))['details']['suggestions'] == [
        'b.txt'
    ]
    assert read(ToolTimedOut('t', 30.0, 3))['details'] == {
        'tool_name': 't',
        'timeout': 30.0,
        'attempts': 3,
    }
    assert read(CommandFailed('t', 'ls', 0, ''))['details'] == {
        'tool_name': 't',
        'command': 'ls',
        'exit_code': 0,
        'output': '',
    }
    assert FLAKY(Flaky('notion')).details == {'server_name': 'notion'}


PROJECTS_CLASSES: dict[str, TaggedError] = {
    'ToolNotFoundError': UnknownTool('t', 'n', ()),
    'ToolExecutionError': ToolFailed('t', OSError('no')),
    'ToolTimeoutError': ToolTimedOut('t', 1.0, 1),
    'ToolValidationError': MissingParameter('t', 'p'),
    'ParserError': UnreadableCall('json', 'no', '{', 1),
    'ToolRateLimitedError': RateLimited('t', 100, 60.0, 45.2),
    'ToolCircuitOpenError': CircuitOpen('t', 5, 60.0, 'open'),
    'BulkheadFullError': BulkheadFull('t', 'tool', 'default', 3, 0.5),
    'MCPError': McpTransportFailed('notion', 'broke'),
    'MCPConnectionError': McpConnectionFailed('notion', 'Connection refused'),
    'MCPTimeoutError': McpTimedOut('sqlite', 'tool_call', 30.0),
}


@pytest.mark.parametrize('facts', FACTS['details'], ids=lambda one: one['class'])
def test_details_have_the_documented_keys(facts: Mapping[str, Any]) -> None:
    details = read(PROJECTS_CLASSES[facts['class']])['details']
    assert details.keys() >= {*facts['document'], *facts['package_always']}


def test_the_details_of_guards_have_the_words_of_the_wire() -> None:
    assert read(RateLimited('api_tool', 100, 60.0, 45.2))['details'] == {
        'tool_name': 'api_tool',
        'limit': 100,
        'period': 60.0,
        'retry_after': 45.2,
        'retry_after_ms': 45200,
    }
    assert read(CircuitOpen('failing_api', 5, 60.0, 'half_open'))['details'] == {
        'tool_name': 'failing_api',
        'failure_count': 5,
        'reset_timeout': 60.0,
        'state': 'half_open',
        'retry_after_ms': 60000,
    }
    assert read(BulkheadFull('db', 'namespace', 'sales', 3, 0.5))['details'] == {
        'tool_name': 'db',
        'limit_type': 'namespace',
        'namespace': 'sales',
        'limit': 3,
        'timeout': 0.5,
    }
    assert read(DeadlineExceeded('db', 2.0, 3))['details'] == {
        'tool_name': 'db',
        'timeout': 2.0,
        'attempts': 3,
    }


def test_a_server_that_blames_itself_is_worth_another_try() -> None:
    assert MCP(McpServerFailed('notion', -32603, 'oops')).retryable
    assert not MCP(McpServerFailed('notion', -32602, 'no such argument')).retryable


# Retrying


@pytest.mark.parametrize('case', FACTS['retry_after_ms'], ids=lambda case: str(case['seconds']))
def test_a_delay_is_whole_milliseconds_rounded_up(case: Mapping[str, Any]) -> None:
    seconds = None if case['seconds'] is None else float(case['seconds'])
    if case['ours_ms'] == 'refused':
        with pytest.raises(ValueError, match='retry_after must be'):
            Flaky('notion', retry_after=seconds)
        return
    assert FLAKY(Flaky('notion', retry_after=seconds)).retry_after_ms == case['ours_ms']


def test_in_category_execution_the_error_has_the_word() -> None:
    assert FLAKY(Flaky('notion')).retryable
    assert not ALL(FileNotFound('read_file', 'a.txt')).retryable
    assert not from_error(CommandFailed('t', 'ls', 1, ''), adapter=ALL).retryable


def test_elsewhere_the_code_has_the_word() -> None:
    table = on(Flaky).classifies(
        'TOOL_ARGUMENT_ERROR', details=lambda error: {'host': error.server}
    )
    assert not table(Flaky('notion')).retryable
    assert table(Flaky('notion')).details == {'host': 'notion'}


# Form


def test_the_keys_stand_in_their_documented_order() -> None:
    assert list(read(FileNotFound('t', 'p'))) == FACTS['error_info_keys']
    assert list(msgspec.to_builtins(ALL(FileNotFound('t', 'p')))) == FACTS['error_info_keys']
    assert read(FileNotFound('t', 'p'))['retry_after_ms'] is None


def test_the_log_form_tells_tag_and_cause() -> None:
    plain = json.loads(encode(ALL(FileNotFound('t', 'p')).to_log()))
    assert list(plain) == FACTS['to_dict_keys']
    assert plain['error'] == 'FileNotFound'
    caused = json.loads(encode(ALL(ToolFailed('t', OSError(28, 'no room'))).to_log()))
    assert list(caused) == [*FACTS['to_dict_keys'], *FACTS['to_dict_keys_last_only_with_a_cause']]
    assert caused['original_error'] == {'type': 'OSError', 'message': '[Errno 28] no room'}


@pytest.mark.parametrize(
    ('cause', 'told'),
    [
        (
            FileNotFound('t', 'a.txt'),
            {'type': 'FileNotFound', 'message': "'a.txt' does not exist."},
        ),
        (ReportedCause('IOException', 'far away'), {'type': 'IOException', 'message': 'far away'}),
        (ValueError(f'password={PLANTED}'), {'type': 'ValueError', 'message': 'password=***'}),
    ],
)
def test_a_cause_is_told_by_type_and_message(cause: Cause, told: Mapping[str, str]) -> None:
    assert json.loads(encode(ALL(ToolFailed('t', cause)).to_log()))['original_error'] == told


def test_what_was_read_from_a_wire_knows_its_code_only() -> None:
    info = decode(encode(ALL(FileNotFound('t', 'p')))).unwrap()
    assert info == ALL(FileNotFound('t', 'p'))
    assert info.to_log().error == 'TOOL_EXECUTION_FAILED'


def test_a_defect_shows_its_reference_only() -> None:
    info = defect('err_2f4ad7qz')
    assert not info.retryable
    assert 'INTERNAL' in info.message
    assert 'err_2f4ad7qz' in info.message
    assert info.details['ref'] == 'err_2f4ad7qz'


def test_what_is_hidden_is_a_defect_when_it_comes() -> None:
    with pytest.raises(RuntimeError, match='Flaky was declared never to reach the planner seam'):
        on(Flaky).hidden()(Flaky('notion'))


SHOWN = [UNIONS[name] for name in UNIONS if name not in {'STREAMING', 'SESSIONS'}]


@given(errors(*SHOWN))
@settings(
    max_examples=300, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much]
)
def test_every_error_has_its_form_and_leaks_nothing(error: Any) -> None:
    info = ALL(error)
    for given_form, keys in (
        (info, FACTS['error_info_keys']),
        (info.to_log(), FACTS['to_dict_keys']),
    ):
        written = encode(given_form).decode()
        assert PLANTED not in written
        found = json.loads(written)
        assert [key for key in found if key != 'original_error'] == keys
        assert found['code'] in list(ErrorCode)
    assert info.retryable is (
        error.retryable if info.category == 'execution' else info.category.retryable
    )
    # Seen before or not, the same error gives the same bytes, and a reader gets the same facts.
    assert encode(ALL(error)) == encode(info)
    assert encode(decode(encode(info)).unwrap()) == encode(info)


# Reading


@pytest.mark.parametrize('case', FACTS['must_be_refused'], ids=lambda case: case['why'])
def test_a_reader_refuses_what_contradicts_itself(case: Mapping[str, Any]) -> None:
    body = json.dumps(
        {'message': 'no', **{name: value for name, value in case.items() if name != 'why'}}
    )
    problem = decode(body).failure()
    assert problem.tag == 'UnreadableBody'
    assert problem.problem


@pytest.mark.parametrize(
    'body',
    [
        b'',
        b'{',
        b'[]',
        b'null',
        b'\xff\xfe',
        b'{"success": false, "error": {}}',
        '\ud800',
        b'[' * 100_000,
        b'{"details": ' + b'{"a": ' * 100_000,
    ],
)
def test_a_reader_guesses_nothing(body: bytes | str) -> None:
    assert str(decode(body).failure()).startswith('The body cannot be read')


def test_a_problem_of_reading_shows_no_secret() -> None:
    body = json.dumps(
        {'code': f'password={PLANTED}', 'category': 'timeout', 'message': '', 'retryable': True}
    )
    assert PLANTED not in str(decode(body).failure())


def test_the_log_form_can_be_read_too() -> None:
    info = ALL(ToolFailed('t', OSError(28, 'no room')))
    assert decode(encode(info.to_log())).unwrap() == info
