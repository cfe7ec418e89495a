"""Routes of the server: outcomes, definitions, documents, and what it refuses."""

import json
from collections.abc import Sequence
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from schemathesis.specs.openapi.definitions import OPENAPI_31_VALIDATOR
from starlette.testclient import TestClient

from seamwise import DefectReport
from seamwise.toolhost.formats import FORMATS
from seamwise.toolhost.server.bodies import Limits

from .helpers import TOKEN, call, events, outcomes, serving

ARRAY = [call('echo', value=7), call('find', path='b.txt'), call('ehco', value=1)]


def test_each_call_has_an_outcome_in_the_order_of_the_output() -> None:
    with serving() as client:
        data = outcomes(client, ARRAY)
    assert [item['place'] for item in data] == [1, 2, 3]
    assert [item['call']['tool'] for item in data] == ['echo', 'find', 'ehco']
    assert data[0]['result'] == {'success': True, 'data': 7}
    assert data[1]['result']['error']['code'] == 'FILE_NOT_FOUND'
    assert data[2]['result']['error']['details']['suggestions'] == ['echo']
    assert [item['attempts'] for item in data] == [1, 1, 0]


def test_the_members_of_an_outcome_are_those_of_the_struct() -> None:
    with serving() as client:
        outcome, *_ = outcomes(client, {**call('echo', value=[1]), 'id': 'c-1'})
    assert outcome.pop('waited') >= 0
    assert outcome.pop('duration') >= 0
    assert outcome == {
        'place': 1,
        'call': {
            'tool': 'echo',
            'arguments': {'value': [1]},
            'id': 'c-1',
            'namespace': None,
            'format': 'bare',
            'span': outcome['call']['span'],
            'line': None,
        },
        'result': {'success': True, 'data': [1]},
        'attempts': 1,
        'answer': '[1]',
    }


def test_a_text_comes_as_a_json_string() -> None:
    text = 'First <tool name="echo" args="{&quot;value&quot;: 1}"/>\nthen <tool_call>{"name":'
    with serving() as client:
        read, unreadable = outcomes(client, text)
    assert read['result'] == {'success': True, 'data': 1}
    assert read['call']['span'] == [6, 55]
    assert unreadable['call'] is None
    assert unreadable['result']['error']['type'] == 'UnreadableCall'


def test_the_answer_has_the_format_of_the_call() -> None:
    function = {'name': 'find', 'arguments': '{"path": "b.txt"}'}
    message = {
        'role': 'assistant',
        'tool_calls': [{'id': 'call_7', 'type': 'function', 'function': function}],
    }
    with serving() as client:
        outcome, *_ = outcomes(client, message)
    answer = outcome['answer']
    assert (answer['role'], answer['tool_call_id']) == ('tool', 'call_7')
    assert json.loads(answer['content'])['error_class'] == 'FileNotFound'


@pytest.mark.parametrize('output', ['I do not know.', [], {}, [1, 2], {'text': 'none'}])
def test_an_output_without_calls_has_no_outcomes(output: object) -> None:
    with serving() as client:
        assert outcomes(client, output) == []


def test_a_member_that_occurs_twice_is_an_unreadable_call() -> None:
    body = b'{"tool": "echo", "arguments": {"value": 1, "value": 2}}'
    with serving() as client:
        response = client.post(
            '/v1/calls', content=body, headers={'content-type': 'application/json'}
        )
    (outcome,) = response.json()['data']
    assert outcome['result']['error']['type'] == 'UnreadableCall'
    assert outcome['attempts'] == 0


def test_a_bug_of_a_tool_has_a_reference_and_no_text(defects: Sequence[DefectReport]) -> None:
    with serving() as client:
        crashed, echoed = outcomes(client, [call('crash'), call('echo', value=1)])
    error = crashed['result']['error']
    assert error['code'] == 'INTERNAL'
    assert [error['details']['ref']] == [defect.ref for defect in defects]
    assert 'hunter2' not in json.dumps(crashed)
    assert echoed['result']['success'] is True


def test_a_value_without_a_json_form_is_a_defect_of_its_call_only(
    defects: Sequence[DefectReport],
) -> None:
    with serving() as client:
        broken, echoed = outcomes(client, [call('unwritable'), call('echo', value=1)])
    assert broken['result']['error']['code'] == 'INTERNAL'
    assert len(defects) == 1
    assert echoed['result'] == {'success': True, 'data': 1}


def test_a_stream_has_an_event_for_each_outcome_and_an_end() -> None:
    with serving() as client:
        response = client.post('/v1/calls/stream', json=ARRAY)
    assert response.headers['content-type'].startswith('text/event-stream')
    *sent, end = events(response.text)
    assert sorted((name, data['place']) for name, data in sent) == [
        ('outcome', 1),
        ('outcome', 2),
        ('outcome', 3),
    ]
    assert end == ('end', {'outcomes': 3})


def test_a_line_break_in_a_value_does_not_break_an_event() -> None:
    with serving() as client:
        response = client.post(
            '/v1/calls/stream', json=call('echo', value='a\n\nevent: end\r\ndata: \u2028')
        )
    (_, data), _ = events(response.text)
    assert data['result']['data'] == 'a\n\nevent: end\r\ndata: \u2028'


def test_a_stream_without_calls_has_its_end() -> None:
    with serving() as client:
        assert events(client.post('/v1/calls/stream', json='none').text) == [
            ('end', {'outcomes': 0})
        ]


@pytest.mark.parametrize('path', ['/v1/calls', '/v1/calls/stream'])
@pytest.mark.parametrize(
    ('body', 'kind'),
    [
        (b'{"tool": "echo", "argu', 'UnreadableCall'),
        (b'', 'UnreadableCall'),
        (b'{"tool": "echo", "arguments": {"value": NaN}}', 'UnreadableCall'),
        (b'\xff\xfe', 'UnreadableCall'),
        (b'"\\ud800"', 'UnreadableCall'),
        (b'[' * 100_000, 'UnreadableCall'),
        (b'[' * 100_000 + b']' * 100_000, 'UnreadableCall'),
        (b'7', 'SchemaViolations'),
        (b'null', 'SchemaViolations'),
        (b'true', 'SchemaViolations'),
    ],
)
def test_a_body_that_is_no_output_is_a_bad_request(path: str, body: bytes, kind: str) -> None:
    with serving() as client:
        response = client.post(path, content=body, headers={'content-type': 'application/json'})
    assert response.status_code == 400
    assert response.json()['error']['code'] == 'INVALID_REQUEST'
    assert response.json()['error']['type'] == kind


def test_the_position_of_a_problem_is_in_characters() -> None:
    body = '["你好", x]'.encode()
    with serving() as client:
        response = client.post(
            '/v1/calls', content=body, headers={'content-type': 'application/json'}
        )
    assert response.json()['error']['details']['position'] == 7


@pytest.mark.parametrize(
    'content_type',
    ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data', 'text/json', ''],
)
def test_a_body_of_another_media_type_is_refused(content_type: str) -> None:
    with serving() as client:
        response = client.post('/v1/calls', content=b'[]', headers={'content-type': content_type})
    assert response.status_code == 415
    assert response.json()['error']['code'] == 'UNSUPPORTED_MEDIA_TYPE'


def test_a_compressed_body_is_refused() -> None:
    with serving() as client:
        response = client.post('/v1/calls', json=[], headers={'content-encoding': 'gzip'})
    assert response.status_code == 415


def test_a_media_type_can_have_parameters_and_upper_case() -> None:
    headers = {'content-type': 'Application/JSON; charset=utf-8'}
    with serving() as client:
        assert client.post('/v1/calls', content=b'[]', headers=headers).status_code == 200


def test_a_body_over_the_limit_is_refused_with_and_without_a_length() -> None:
    body = json.dumps('x' * 100).encode()
    headers = {'content-type': 'application/json'}
    with serving(limits=Limits(body=len(body))) as client:
        assert client.post('/v1/calls', content=body, headers=headers).status_code == 200
        assert (
            client.post('/v1/calls', content=iter([body[:9], body[9:]]), headers=headers)
        ).status_code == 200
        for content in (body + b' ', iter([body, b' '])):
            response = client.post('/v1/calls', content=content, headers=headers)
            assert response.status_code == 413
            assert response.json()['error']['code'] == 'PAYLOAD_TOO_LARGE'


def test_too_many_calls_are_refused_and_none_runs() -> None:
    with serving(limits=Limits(calls=2)) as client:
        assert len(outcomes(client, ARRAY[:2])) == 2
        response = client.post('/v1/calls', json=ARRAY)
    assert response.status_code == 413
    assert response.json()['error']['message'] == (
        'The output contains 3 calls; at most 2 run in one request.'
    )


def test_the_definitions_of_the_tools_come_in_the_form_of_a_provider() -> None:
    with serving() as client:
        for query, member in [('', 'inputSchema'), ('?format=anthropic', 'input_schema')]:
            data = client.get(f'/v1/tools{query}').json()['data']
            assert [item['name'] for item in data] == ['echo', 'find', 'crash', 'unwritable']
            assert all(item[member]['type'] == 'object' for item in data)


def test_an_unknown_provider_is_a_bad_request_that_names_the_others() -> None:
    with serving() as client:
        response = client.get('/v1/tools?format=opnai')
    assert response.status_code == 400
    assert 'openai' in response.json()['error']['message']


def test_the_index_names_every_route_of_the_server() -> None:
    with serving() as client:
        for route in client.get('/').json()['data']:
            method, path = route.split()
            assert client.request(method, path).status_code not in {404, 405}
        assert client.get('/healthz').json()['data'] == {'status': 'ok'}


@pytest.mark.parametrize(
    ('method', 'path', 'status'),
    [('GET', '/v1/calls', 405), ('POST', '/', 405), ('GET', '/v2', 404), ('GET', '/v1/', 404)],
)
def test_errors_of_routing_come_in_the_envelope(method: str, path: str, status: int) -> None:
    with serving() as client:
        response = client.request(method, path)
    assert response.status_code == status
    assert response.json()['success'] is False
    assert ('allow' in response.headers) == (status == 405)


@pytest.mark.parametrize('path', ['/', '/v1/tools', '/nowhere', '/v1/calls'])
def test_no_response_may_be_cached_or_sniffed(path: str) -> None:
    with serving() as client:
        headers = client.get(path).headers
    assert headers['cache-control'] == 'no-store'
    assert headers['x-content-type-options'] == 'nosniff'


# The OpenAPI document


def document() -> dict[str, Any]:
    with serving() as client:
        result: dict[str, Any] = client.get('/openapi.json').json()
    return result


def test_the_openapi_document_is_valid() -> None:
    OPENAPI_31_VALIDATOR.validate(document())


@pytest.mark.parametrize(
    ('method', 'path', 'body', 'status'),
    [
        ('post', '/v1/calls', [*ARRAY, call('crash')], '200'),
        ('post', '/v1/calls', '<tool_call>{"name": ', '200'),
        ('post', '/v1/calls', 7, '400'),
        ('get', '/v1/tools', None, '200'),
        ('get', '/v1/tools?format=x', None, '400'),
        ('get', '/healthz', None, '200'),
    ],
)
def test_responses_have_the_schema_of_the_document(
    method: str, path: str, body: object, status: str
) -> None:
    description = document()
    responses = description['paths'][path.partition('?')[0]][method]['responses']
    schema = responses[status]['content']['application/json']['schema']
    with serving() as client:
        response = client.request(method, path, json=body)
    assert str(response.status_code) == status
    jsonschema_rs.Draft202012Validator(
        {**schema, 'components': description['components']}, validate_formats=True
    ).validate(response.json())


def test_the_schema_of_an_outcome_refuses_other_members() -> None:
    description = document()
    validator = jsonschema_rs.Draft202012Validator(
        {'$ref': '#/components/schemas/Outcome', 'components': description['components']}
    )
    with serving() as client:
        outcome, *_ = outcomes(client, ARRAY)
    assert validator.is_valid(outcome)
    assert not validator.is_valid({**outcome, 'other': 1})
    assert not validator.is_valid({**outcome, 'result': {'success': False, 'data': 7}})


def test_every_format_is_in_the_document() -> None:
    schemas = document()['components']['schemas']
    assert schemas['Call']['properties']['format'] == {'enum': list(FORMATS)}


def test_the_token_is_in_no_response() -> None:
    with serving() as client:
        texts = [client.get(path).text for path in ('/', '/openapi.json', '/v1/tools', '/nope')]
        refused = client.get('/v1/tools', headers={'authorization': 'Bearer x'}).text
    assert not [text for text in [*texts, refused] if TOKEN in text]


# Any input


KEYS = ['tool', 'name', 'arguments', 'args', 'id', 'tool_calls', 'function', 'type', 'value']
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda values: (
        st.lists(values, max_size=4) | st.dictionaries(st.sampled_from(KEYS), values, max_size=4)
    ),
    max_leaves=12,
)
CALLS = st.fixed_dictionaries(
    {'tool': st.sampled_from(['echo', 'find', 'crash', 'other']), 'arguments': JSON_VALUES}
)


def is_answered(client: TestClient, body: bytes, validator: jsonschema_rs.Validator) -> bool:
    response = client.post('/v1/calls', content=body, headers={'content-type': 'application/json'})
    answer = response.json()
    if response.status_code == 400:
        return bool(answer['error']['code'] == 'INVALID_REQUEST')
    return response.status_code == 200 and all(map(validator.is_valid, answer['data']))


def outcome_validator() -> jsonschema_rs.Validator:
    return jsonschema_rs.Draft202012Validator(
        {'$ref': '#/components/schemas/Outcome', 'components': document()['components']}
    )


def test_any_json_is_answered_with_outcomes_or_a_bad_request() -> None:
    validator = outcome_validator()
    with serving() as client:

        @settings(max_examples=50)
        @given(JSON_VALUES | st.lists(CALLS | JSON_VALUES, max_size=4) | CALLS)
        def check(value: object) -> None:
            assert is_answered(client, json.dumps(value).encode(), validator)

        check()


def test_any_bytes_are_answered_with_outcomes_or_a_bad_request() -> None:
    validator = outcome_validator()
    call_text = json.dumps([call('echo', value='é')]).encode()
    with serving() as client:

        @given(st.binary(max_size=20), st.integers(0, len(call_text)))
        def check(rubbish: bytes, position: int) -> None:
            body = call_text[:position] + rubbish + call_text[position:]
            assert is_answered(client, body, validator)

        check()
