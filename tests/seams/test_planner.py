"""Planner seam: codes, categories, retryability, details, the log form, and decoding."""

import json
from collections.abc import Mapping
from functools import reduce
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings

from seamwise import Category, Cause, TaggedError
from seamwise._errors.reported import ReportedCause
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
from seamwise.policies import BulkheadFull, CircuitOpen, DeadlineExceeded, RateLimited
from seamwise.seams.adapter import Adapter, Hidden
from seamwise.seams.planner import (
    ErrorCategory,
    ErrorCode,
    ErrorInfo,
    decode,
    defect,
    encode,
    on,
    tables,
)
from seamwise.seams.planner.on import PlannerArm
from seamwise.seams.planner.tables import GUARDS, MCP, PARSING, TOOLS
from tests.strategies import PLANTED, UNIONS, errors, members

FACTS: dict[str, Any] = json.loads(
    (Path(__file__).parent.parent / 'vectors' / 'planner_codes.json').read_text(encoding='utf-8')
)
TABLES: Mapping[str, Adapter[Any, ErrorInfo]] = {name: getattr(tables, name) for name in UNIONS}


def join(table: Adapter[Any, ErrorInfo], other: Adapter[Any, ErrorInfo]) -> Adapter[Any, ErrorInfo]:
    return table | other


ALL: Adapter[Any, ErrorInfo] = reduce(join, TABLES.values())


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


def fields_of(error: TaggedError) -> dict[str, Any]:
    fields: dict[str, Any] = json.loads(encode(ALL(error)))
    return fields


# Codes and categories


@pytest.mark.parametrize('case', FACTS['cases'], ids=lambda case: case['code'])
def test_code_determines_category_and_retryability(case: Mapping[str, Any]) -> None:
    code = ErrorCode(case['code'])
    assert code.category == case['category']
    assert code.category.retryable is case['retryable']


@pytest.mark.parametrize('case', FACTS['categories'], ids=lambda case: case['name'])
def test_category_has_its_documented_codes(case: Mapping[str, Any]) -> None:
    category = ErrorCategory[case['name']]
    assert category.value == case['value']
    assert category.retryable is case['retryable']
    assert [code for code in ErrorCode if code.category is category] == case['codes']


def test_codes_are_the_documented_ones() -> None:
    assert list(ErrorCode) == [case['code'] for case in FACTS['cases']]
    assert len(ErrorCategory) == len(FACTS['categories'])


@pytest.mark.parametrize('case', FACTS['must_be_refused'], ids=lambda case: case['why'])
def test_error_info_rejects_contradictory_fields(case: Mapping[str, Any]) -> None:
    fields = {name: value for name, value in case.items() if name != 'why'}
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({'message': 'no', **fields}, ErrorInfo)


@pytest.mark.parametrize('retryable', [True, False])
def test_category_execution_allows_both_values_of_retryable(retryable: bool) -> None:
    info = ErrorInfo(ErrorCode.TOOL_EXECUTION_FAILED, ErrorCategory.EXECUTION, 'no', retryable)
    assert info.retryable is retryable
    assert info.retry_after_ms is None


# Tables


@pytest.mark.parametrize('name', UNIONS)
def test_table_has_an_arm_for_every_class_of_its_union(name: str) -> None:
    assert set(TABLES[name].kinds) == set(members(UNIONS[name]))


def test_errors_of_streams_and_client_connections_are_hidden() -> None:
    hidden = {kind.__name__ for kind, arm in ALL.arms.items() if isinstance(arm, Hidden)}
    client_errors = {
        'InvalidInput',
        'SessionNotFound',
        'SessionBusy',
        'ConnectionLost',
        'ReplayGap',
        'UnknownEpoch',
        'AckAhead',
    }
    assert hidden == {kind.__name__ for kind in members(UNIONS['STREAMING'])} | client_errors


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
    'TooManyMistakes': 'TOOL_CANCELLED',
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
def test_class_has_its_documented_code(kind: type[TaggedError]) -> None:
    arm = ALL.arms[kind]
    assert isinstance(arm, PlannerArm)
    assert arm.code == DOCUMENTED.get(kind.__name__, 'TOOL_EXECUTION_FAILED')


def test_every_code_is_used_in_a_table() -> None:
    assert {arm.code for arm in ALL.arms.values() if isinstance(arm, PlannerArm)} == set(ErrorCode)


@pytest.mark.parametrize(
    'kind', [kind for kind, arm in ALL.arms.items() if isinstance(arm, PlannerArm)]
)
def test_code_agrees_with_its_error_about_retryability(
    kind: type[TaggedError],
) -> None:
    arm = ALL.arms[kind]
    assert isinstance(arm, PlannerArm)
    category = arm.code.category
    assert category is ErrorCategory.EXECUTION or category.retryable is kind.__traits__.retryable


# Details


def test_details_contain_invalid_arguments_by_name() -> None:
    missing = MissingParameter(
        'search', 'pattern', r'def \w+', (Finding('limit', 'must be at least 1'),)
    )
    assert fields_of(missing)['details'] == {
        'tool_name': 'search',
        'validation_type': 'arguments',
        'errors': {'pattern': 'is missing', 'limit': 'must be at least 1'},
        'example': r'def \w+',
    }
    invalid = InvalidParameter(
        'search', 'limit', 'must be an integer', also=(Finding('limit', 'must be at least 1'),)
    )
    assert fields_of(invalid)['details']['errors'] == {
        'limit': 'must be an integer; must be at least 1'
    }


def test_details_of_an_unknown_tool_contain_the_available_tools() -> None:
    assert fields_of(UnknownTool('serach', 'default', ()))['details'] == {
        'tool_name': 'serach',
        'namespace': 'default',
        'available_tools': [],
        'suggestions': [],
    }


def test_details_of_an_invalid_result_contain_every_problem() -> None:
    problems = (
        Problem('/path', 'is missing'),
        Problem('/sizes/0', 'is no number'),
        Problem('/a~1b~0', 'is odd'),
        Problem('', 'is too long'),
    )
    assert fields_of(InvalidResult('t', problems))['details'] == {
        'tool_name': 't',
        'validation_type': 'result',
        'errors': {
            'path': 'is missing',
            'sizes/0': 'is no number',
            'a/b~': 'is odd',
            'result': 'is too long',
        },
    }


def test_details_of_unreadable_input_contain_a_sample() -> None:
    unreadable = UnreadableCall('json', 'a comma is missing', '{' * 300, 7, None, 'read_file')
    assert fields_of(unreadable)['details'] == {
        'parser_name': 'json',
        'input_sample': '{' * 200,
        'problem': 'a comma is missing',
        'position': 7,
        'tool_name': 'read_file',
    }
    assert fields_of(UnknownFormat('?' * 300))['details'] == {'input_sample': '?' * 200}


def test_details_of_schema_violations_are_grouped_by_pointer() -> None:
    violations = SchemaViolations(
        (
            Problem('/tool', 'is missing'),
            Problem('/id', 'must be a text'),
            Problem('/id', 'must be new'),
        )
    )
    assert fields_of(violations)['details']['errors'] == {
        '/tool': 'is missing',
        '/id': 'must be a text; must be new',
    }


def test_details_are_the_fields_that_are_not_empty_by_default() -> None:
    assert fields_of(FileNotFound('read_file', 'a.txt'))['details'] == {
        'tool_name': 'read_file',
        'path': 'a.txt',
    }
    assert fields_of(FileNotFound('read_file', 'a.txt', ('b.txt',)))['details']['suggestions'] == [
        'b.txt'
    ]
    assert fields_of(ToolTimedOut('t', 30.0, 3))['details'] == {
        'tool_name': 't',
        'timeout': 30.0,
        'attempts': 3,
    }
    assert fields_of(CommandFailed('t', 'ls', 0, ''))['details'] == {
        'tool_name': 't',
        'command': 'ls',
        'exit_code': 0,
        'output': '',
        'truncated': False,
    }
    assert FLAKY(Flaky('notion')).details == {'server_name': 'notion'}


EXAMPLES_BY_PEER_CLASS: dict[str, TaggedError] = {
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


@pytest.mark.parametrize('case', FACTS['details'], ids=lambda case: case['class'])
def test_details_have_the_documented_keys(case: Mapping[str, Any]) -> None:
    details = fields_of(EXAMPLES_BY_PEER_CLASS[case['class']])['details']
    assert details.keys() >= {*case['document'], *case['package_always']}


def test_the_remaining_time_of_a_guard_is_rounded_up_to_milliseconds() -> None:
    circuit = fields_of(CircuitOpen('api', 5, 30.000123456789, 'open'))
    assert (circuit['details']['reset_timeout'], circuit['retry_after_ms']) == (30.001, 30001)
    limited = fields_of(RateLimited('api', 100, 60.0, 0.1 + 0.2))
    assert limited['details']['retry_after'] == 0.3


def test_details_of_guard_errors_have_the_keys_of_the_wire() -> None:
    assert fields_of(RateLimited('api_tool', 100, 60.0, 45.2))['details'] == {
        'tool_name': 'api_tool',
        'limit': 100,
        'period': 60.0,
        'retry_after': 45.2,
        'retry_after_ms': 45200,
    }
    assert fields_of(CircuitOpen('failing_api', 5, 60.0, 'half_open'))['details'] == {
        'tool_name': 'failing_api',
        'failure_count': 5,
        'reset_timeout': 60.0,
        'state': 'half_open',
        'retry_after_ms': 60000,
    }
    assert fields_of(BulkheadFull('db', 'namespace', 'sales', 3, 0.5))['details'] == {
        'tool_name': 'db',
        'limit_type': 'namespace',
        'namespace': 'sales',
        'limit': 3,
        'timeout': 0.5,
    }
    assert fields_of(DeadlineExceeded('db', 2.0, 3))['details'] == {
        'tool_name': 'db',
        'timeout': 2.0,
        'attempts': 3,
    }


def test_server_fault_is_retryable_if_the_server_says_so() -> None:
    assert MCP(McpServerFailed('notion', -32603, 'oops')).retryable
    assert not MCP(McpServerFailed('notion', -32602, 'no such argument')).retryable


# Retries


@pytest.mark.parametrize('case', FACTS['retry_after_ms'], ids=lambda case: str(case['seconds']))
def test_delay_is_rounded_up_to_whole_milliseconds(case: Mapping[str, Any]) -> None:
    seconds = None if case['seconds'] is None else float(case['seconds'])
    if case['ours_ms'] == 'refused':
        with pytest.raises(ValueError, match='retry_after must be'):
            Flaky('notion', retry_after=seconds)
        return
    assert FLAKY(Flaky('notion', retry_after=seconds)).retry_after_ms == case['ours_ms']


def test_error_determines_retryability_in_category_execution() -> None:
    assert FLAKY(Flaky('notion')).retryable
    assert not ALL(FileNotFound('read_file', 'a.txt')).retryable
    assert not ALL(CommandFailed('t', 'ls', 1, '')).retryable


def test_code_determines_retryability_in_other_categories() -> None:
    table = on(Flaky).classifies(
        'TOOL_ARGUMENT_ERROR', details=lambda error: {'host': error.server}
    )
    assert not table(Flaky('notion')).retryable
    assert table(Flaky('notion')).details == {'host': 'notion'}


# Encoding


def test_keys_have_their_documented_order() -> None:
    assert list(fields_of(FileNotFound('t', 'p'))) == FACTS['error_info_keys']
    assert list(msgspec.to_builtins(ALL(FileNotFound('t', 'p')))) == FACTS['error_info_keys']
    assert fields_of(FileNotFound('t', 'p'))['retry_after_ms'] is None


def test_log_form_contains_tag_and_cause() -> None:
    plain = json.loads(encode(ALL(FileNotFound('t', 'p')).to_log()))
    assert list(plain) == FACTS['to_dict_keys']
    assert plain['error'] == 'FileNotFound'
    caused = json.loads(encode(ALL(ToolFailed('t', OSError(28, 'no room'))).to_log()))
    assert list(caused) == [*FACTS['to_dict_keys'], *FACTS['to_dict_keys_last_only_with_a_cause']]
    assert caused['original_error'] == {'type': 'OSError', 'message': '[Errno 28] no room'}


@pytest.mark.parametrize(
    ('cause', 'original_error'),
    [
        (
            FileNotFound('t', 'a.txt'),
            {'type': 'FileNotFound', 'message': "'a.txt' does not exist."},
        ),
        (ReportedCause('IOException', 'far away'), {'type': 'IOException', 'message': 'far away'}),
        (ValueError(f'password={PLANTED}'), {'type': 'ValueError', 'message': 'password=***'}),
    ],
)
def test_log_form_contains_type_and_message_of_the_cause(
    cause: Cause, original_error: Mapping[str, str]
) -> None:
    log_form = json.loads(encode(ALL(ToolFailed('t', cause)).to_log()))
    assert log_form['original_error'] == original_error


def test_log_form_of_a_decoded_info_contains_the_code_as_tag() -> None:
    info = decode(encode(ALL(FileNotFound('t', 'p')))).unwrap()
    assert info == ALL(FileNotFound('t', 'p'))
    assert info.to_log().error == 'TOOL_EXECUTION_FAILED'


def test_info_of_a_defect_contains_its_reference() -> None:
    info = defect('err_2f4ad7qz')
    assert not info.retryable
    assert 'INTERNAL' in info.message
    assert 'err_2f4ad7qz' in info.message
    assert info.details['ref'] == 'err_2f4ad7qz'


def test_hidden_error_is_a_defect_if_it_reaches_the_seam() -> None:
    with pytest.raises(RuntimeError, match='Flaky was declared never to reach the planner seam'):
        on(Flaky).hidden()(Flaky('notion'))


VISIBLE_UNIONS = [UNIONS[name] for name in UNIONS if name not in {'STREAMING', 'SESSIONS'}]


@given(errors(*VISIBLE_UNIONS))
@settings(
    max_examples=300, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much]
)
def test_every_error_is_encoded_without_secrets(error: Any) -> None:
    info = ALL(error)
    for form, keys in (
        (info, FACTS['error_info_keys']),
        (info.to_log(), FACTS['to_dict_keys']),
    ):
        encoded = encode(form).decode()
        assert PLANTED not in encoded
        fields = json.loads(encoded)
        assert [key for key in fields if key != 'original_error'] == keys
        assert fields['code'] in list(ErrorCode)
    assert info.retryable is (
        error.retryable if info.category == 'execution' else info.category.retryable
    )
    # The second encoding comes from the cache.
    assert encode(ALL(error)) == encode(info)
    assert encode(decode(encode(info)).unwrap()) == encode(info)


# Decoding


@pytest.mark.parametrize('case', FACTS['must_be_refused'], ids=lambda case: case['why'])
def test_decode_rejects_contradictory_fields(case: Mapping[str, Any]) -> None:
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
def test_decode_rejects_malformed_bodies(body: bytes | str) -> None:
    assert str(decode(body).failure()).startswith('The body cannot be read')


def test_decoding_failure_contains_no_secrets() -> None:
    body = json.dumps(
        {'code': f'password={PLANTED}', 'category': 'timeout', 'message': '', 'retryable': True}
    )
    assert PLANTED not in str(decode(body).failure())


def test_decode_accepts_the_log_form() -> None:
    info = ALL(ToolFailed('t', OSError(28, 'no room')))
    assert decode(encode(info.to_log())).unwrap() == info
