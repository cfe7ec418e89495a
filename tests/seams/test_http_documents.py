"""What OpenAPI says of a table, and whether an application keeps to it."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import schemathesis
from examples.api.app import ANSWERS, ROOM, Note, app, notes
from hypothesis import HealthCheck, settings
from starlette.testclient import TestClient
from typing_extensions import override

from seamwise import Category, TaggedError
from seamwise.seams.adapter import Adapter, Hidden
from seamwise.seams.http import HttpError, on, openapi
from seamwise.seams.http.tables import (
    A2A,
    ACCESS,
    GUARDS,
    NETWORK,
    PARSING,
    SESSIONS,
    STREAMING,
    TOOLS,
)
from tests.seams.test_http_reading import TABLES

HEADERS = {'authorization': 'Bearer t'}


@pytest.fixture(autouse=True)
def _empty() -> Iterator[None]:
    notes._kept.clear()
    notes.add(Note(name='first', text='one two'))
    yield
    notes._kept.clear()


def error_schemas(answers: dict[int | str, dict[str, Any]], status: str) -> list[dict[str, Any]]:
    error = answers[status]['content']['application/json']['schema']['properties']['error']
    found: list[dict[str, Any]] = error.get('anyOf', [error])
    return found


@pytest.mark.parametrize(
    'table', [*TABLES, *A2A.values()], ids=lambda table: table.kinds[0].__name__
)
def test_every_status_of_a_table_stands_with_its_codes_and_classes(table: Any) -> None:
    answers = openapi(table)
    json.dumps(answers)
    for kind, arm in table.arms.items():
        if isinstance(arm, Hidden):
            continue
        mine = [one['properties'] for one in error_schemas(answers, str(arm.status))]
        [found] = [one for one in mine if one['type'] == {'const': kind.__traits__.tag}]
        assert found['code'] == {'const': arm.code}
        assert arm.code in str(answers[str(arm.status)]['description'])
    assert '$ref' not in json.dumps(answers)


def test_what_every_application_answers_stands_beside() -> None:
    assert [*openapi()] == ['400', '413', '4XX', '500']
    assert [*openapi(ACCESS)] == ['400', '401', '403', '413', '4XX', '500']


def test_no_table_answers_500_but_that_of_a2a() -> None:
    fives = {
        one['properties']['code']['const']
        for table in TABLES
        for one in error_schemas(openapi(table), '500')
    }
    assert fives == {'INTERNAL', 'INVALID_AGENT_RESPONSE'}


def test_the_details_of_a_class_are_its_public_fields() -> None:
    [found] = [
        one
        for one in error_schemas(openapi(SESSIONS), '400')
        if one['properties']['type'] == {'const': 'InvalidInput'}
    ]
    assert found['properties']['details'] == {
        'type': 'object',
        'properties': {'constraint': {'type': 'string'}},
        'required': ['constraint'],
    }
    [found] = [
        one
        for one in error_schemas(openapi(PARSING), '400')
        if one['properties']['type'] == {'const': 'SchemaViolations'}
    ]
    assert found['properties']['details']['properties']['problems']['items']['required'] == [
        'pointer',
        'message',
    ]


def test_headers_stand_where_they_are_sent() -> None:
    answers: Any = openapi(
        GUARDS, ACCESS, NETWORK, on(Refused).responds(405, 'NO_METHOD', headers={'Allow': 'GET'})
    )
    assert [*answers['429']['headers']] == ['X-Request-ID', 'Retry-After']
    assert [*answers['401']['headers']] == ['X-Request-ID', 'WWW-Authenticate']
    assert [*answers['405']['headers']] == ['X-Request-ID', 'Allow']
    assert [*answers['403']['headers']] == ['X-Request-ID']


class Refused(
    TaggedError, namespace='test_http_documents', category=Category.PERMISSION, message='No.'
):
    """Nobody may."""


class McpLike(TaggedError, namespace='test_http_documents', category=Category.EXECUTION):
    code: int

    @property
    @override
    def retryable(self) -> bool:
        return self.code == 1


def test_an_arm_is_documented_as_it_is_declared() -> None:
    declared = on(Refused).responds(
        403, 'NO', details=lambda _: {'a': 1}, docs='https://docs.example.org/NO'
    ) | on(McpLike).responds(502, 'X')
    answers = openapi(declared)
    [no] = error_schemas(answers, '403')
    assert no['description'] == 'Nobody may.'
    assert no['properties']['details'] == {'type': 'object'}
    assert no['properties']['docs'] == {'const': 'https://docs.example.org/NO'}
    assert no['properties']['retryable'] == {'const': False}
    [differs] = error_schemas(answers, '502')
    assert differs['properties']['retryable'] == {'type': 'boolean'}


def test_an_arm_by_hand_cannot_be_documented() -> None:
    by_hand: Adapter[Refused, HttpError] = Adapter(
        {Refused: lambda _: HttpError(status=1, code='A', type='A', message='', retryable=False)}
    )
    with pytest.raises(TypeError, match='Refused: only an arm of'):
        openapi(by_hand)


# The example


def test_the_document_of_the_example_names_every_answer_and_no_other_validation_error() -> None:
    document: Any = app.openapi()
    for path in document['paths'].values():
        for operation in path.values():
            assert set(openapi(ANSWERS)) <= set(operation['responses'])
            assert '422' not in operation['responses']
    assert 'HTTPValidationError' not in json.dumps(document)


def strict() -> dict[str, Any]:
    """Give the document without its `4XX`: every status has to stand there by itself."""
    document: dict[str, Any] = json.loads(json.dumps(app.openapi()))
    for path in document['paths'].values():
        for operation in path.values():
            del operation['responses']['4XX']
    return document


SCHEMA: Any = schemathesis.openapi.from_dict(strict())
SCHEMA.app = app
each_operation: Callable[[Callable[[Any], None]], Callable[[Any], None]] = SCHEMA.parametrize()


@each_operation
@settings(
    max_examples=25,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
def test_the_example_answers_nothing_that_its_document_does_not_say(case: Any) -> None:
    case.headers.update(HEADERS)
    case.call_and_validate()


def test_every_failure_of_the_example_conforms() -> None:
    client = TestClient(app)
    conforms = SCHEMA['/notes']['POST'].validate_response
    conforms(client.post('/notes', json={'name': 'a', 'text': 'b'}))
    conforms(client.post('/notes', json={'name': 'first', 'text': 'b'}, headers=HEADERS))
    for number in range(ROOM):
        conforms(client.post('/notes', json={'name': f'n-{number}', 'text': 'b'}, headers=HEADERS))
    full = client.post('/notes', json={'name': 'one-more', 'text': 'b'}, headers=HEADERS)
    assert (full.status_code, full.headers['retry-after']) == (503, '2')
    conforms(full)
    conforms(
        client.post(
            '/notes', content=b'x' * 70_000, headers={**HEADERS, 'content-type': 'application/json'}
        )
    )
    conforms(
        client.post(
            '/notes',
            json={'name': 'a', 'text': 'b'},
            headers={'accept': 'application/problem+json'},
        )
    )
    SCHEMA['/notes/{name}']['DELETE'].validate_response(
        client.delete('/notes/nobody', headers=HEADERS)
    )
    SCHEMA['/notes/{name}']['DELETE'].validate_response(
        client.delete('/notes/first', headers=HEADERS)
    )


def test_the_tables_that_hold_hidden_kinds_are_documented_without_them() -> None:
    tables: list[Any] = [TOOLS, STREAMING, SESSIONS]
    for table in tables:
        hidden: set[str] = {
            kind.__traits__.tag for kind, arm in table.arms.items() if isinstance(arm, Hidden)
        }
        assert hidden
        assert not any(f'"{tag}"' in json.dumps(openapi(table)) for tag in hidden)
