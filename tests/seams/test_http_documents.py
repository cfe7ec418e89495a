"""Tests of the OpenAPI responses of tables, and of an application against its document."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import schemathesis
from examples.api.app import ANSWERS, MAX_NOTES, Note, app, notes
from hypothesis import HealthCheck, settings
from schemathesis.specs.openapi.definitions import OPENAPI_31_VALIDATOR
from starlette.testclient import TestClient

from seamwise import Category, TaggedError
from seamwise.documents.library import library_catalog
from seamwise.documents.openapi import build_openapi
from seamwise.seams.adapter import Adapter, Hidden
from seamwise.seams.http import HttpError, on, openapi
from seamwise.seams.http.on import CauseArm
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
from tests.seams.test_http_decoding import TABLES

HEADERS = {'authorization': 'Bearer t'}


@pytest.fixture(autouse=True)
def _empty() -> Iterator[None]:
    notes._notes.clear()
    notes.add(Note(name='first', text='one two'))
    yield
    notes._notes.clear()


def only(text: str) -> dict[str, object]:
    return {'type': 'string', 'enum': [text]}


def error_schemas(responses: dict[int | str, dict[str, Any]], status: str) -> list[dict[str, Any]]:
    error = responses[status]['content']['application/json']['schema']['properties']['error']
    schemas: list[dict[str, Any]] = error.get('anyOf', [error])
    return schemas


@pytest.mark.parametrize(
    'table', [*TABLES, *A2A.values()], ids=lambda table: table.kinds[0].__name__
)
def test_every_status_of_a_table_is_documented_with_its_codes_and_classes(table: Any) -> None:
    responses = openapi(table)
    for kind, arm in table.arms.items():
        if isinstance(arm, Hidden):
            continue
        schemas = error_schemas(responses, str(arm.status))
        [properties] = [
            schema['properties']
            for schema in schemas
            if schema['properties']['type'] == only(kind.__traits__.tag)
        ]
        is_open = isinstance(arm, CauseArm)
        assert properties['code'] == ({'type': 'string'} if is_open else only(arm.code))
        assert arm.code in str(responses[str(arm.status)]['description'])
    assert '$ref' not in json.dumps(responses)


def test_the_responses_of_every_application_are_included() -> None:
    assert [*openapi()] == ['400', '413', '4XX', '500']
    assert [*openapi(ACCESS)] == ['400', '401', '403', '413', '4XX', '500']


def test_only_the_table_of_a2a_has_a_500() -> None:
    codes = {
        schema['properties']['code']['enum'][0]
        for table in TABLES
        for schema in error_schemas(openapi(table), '500')
    }
    assert codes == {'INTERNAL', 'INVALID_AGENT_RESPONSE'}


def test_the_details_schema_contains_the_public_fields_of_the_class() -> None:
    [schema] = [
        schema
        for schema in error_schemas(openapi(SESSIONS), '400')
        if schema['properties']['type'] == only('InvalidInput')
    ]
    assert schema['properties']['details'] == {
        'type': 'object',
        'properties': {
            'constraint': {'type': 'string'},
            'provided': {'description': 'Any value.'},
            'missing': {'type': 'string'},
        },
        'required': ['constraint', 'provided'],
    }
    [schema] = [
        schema
        for schema in error_schemas(openapi(PARSING), '400')
        if schema['properties']['type'] == only('SchemaViolations')
    ]
    assert schema['properties']['details']['properties']['problems']['items']['required'] == [
        'pointer',
        'message',
    ]


def test_a_response_documents_the_headers_that_it_sends() -> None:
    responses: Any = openapi(
        GUARDS, ACCESS, NETWORK, on(Refused).responds(405, 'NO_METHOD', headers={'Allow': 'GET'})
    )
    assert [*responses['429']['headers']] == ['X-Request-ID', 'Retry-After']
    assert [*responses['401']['headers']] == ['X-Request-ID', 'WWW-Authenticate']
    assert [*responses['405']['headers']] == ['X-Request-ID', 'Allow']
    assert [*responses['403']['headers']] == ['X-Request-ID']


class Refused(
    TaggedError, namespace='test_http_documents', category=Category.PERMISSION, message='No.'
):
    """The action is forbidden."""


def test_the_options_of_an_arm_are_documented() -> None:
    table = on(Refused).responds(
        403, 'NO', details=lambda _: {'a': 1}, docs='https://docs.example.org/NO'
    )
    responses = openapi(table)
    [forbidden] = error_schemas(responses, '403')
    assert forbidden['description'] == 'The action is forbidden.'
    assert 'details' not in forbidden['properties'], 'the function of the arm decides'
    assert forbidden['properties']['docs'] == only('https://docs.example.org/NO')


def test_the_responses_and_the_document_of_the_catalogue_are_valid_openapi() -> None:
    info = {'title': 'responses', 'version': '1'}
    document = {'openapi': '3.1.0', 'info': info, 'components': {'responses': openapi(*TABLES)}}
    OPENAPI_31_VALIDATOR.validate(document)
    OPENAPI_31_VALIDATOR.validate(json.loads(json.dumps(build_openapi(library_catalog()))))


def test_the_responses_repeat_the_members_of_every_error_once_a_status() -> None:
    document = json.dumps(openapi(GUARDS, NETWORK)['503'])
    assert document.count('"enum": ["CircuitOpen"]') == 1
    assert document.count('"retryable": {') == 1


def test_a_plain_function_as_an_arm_cannot_be_documented() -> None:
    adapter: Adapter[Refused, HttpError] = Adapter(
        {Refused: lambda _: HttpError(status=1, code='A', type='A', message='', retryable=False)}
    )
    with pytest.raises(TypeError, match='Refused: only an arm of'):
        openapi(adapter)


# Example application


def test_the_document_of_the_example_contains_our_responses_instead_of_fastapis_422() -> None:
    document: Any = app.openapi()
    for path in document['paths'].values():
        for operation in path.values():
            assert set(openapi(ANSWERS)) <= set(operation['responses'])
            assert '422' not in operation['responses']
    assert 'HTTPValidationError' not in json.dumps(document)


def strict_document() -> dict[str, Any]:
    """Return the document without its `4XX`, so that every status must be listed."""
    document: dict[str, Any] = json.loads(json.dumps(app.openapi()))
    for path in document['paths'].values():
        for operation in path.values():
            del operation['responses']['4XX']
    return document


SCHEMA: Any = schemathesis.openapi.from_dict(strict_document())
SCHEMA.app = app
each_operation: Callable[[Callable[[Any], None]], Callable[[Any], None]] = SCHEMA.parametrize()


@pytest.mark.slow
@each_operation
@settings(
    max_examples=25,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
def test_every_response_of_the_example_matches_its_document(case: Any) -> None:
    case.headers.update(HEADERS)
    case.call_and_validate()


@pytest.mark.slow
def test_every_failure_of_the_example_matches_its_document() -> None:
    client = TestClient(app)
    validate = SCHEMA['/notes']['POST'].validate_response
    validate(client.post('/notes', json={'name': 'a', 'text': 'b'}))
    validate(client.post('/notes', json={'name': 'first', 'text': 'b'}, headers=HEADERS))
    for number in range(MAX_NOTES):
        validate(client.post('/notes', json={'name': f'n-{number}', 'text': 'b'}, headers=HEADERS))
    full = client.post('/notes', json={'name': 'one-more', 'text': 'b'}, headers=HEADERS)
    assert (full.status_code, full.headers['retry-after']) == (503, '2')
    validate(full)
    validate(
        client.post(
            '/notes', content=b'x' * 70_000, headers={**HEADERS, 'content-type': 'application/json'}
        )
    )
    validate(
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


def test_hidden_errors_are_not_documented() -> None:
    tables: list[Any] = [TOOLS, STREAMING, SESSIONS]
    for table in tables:
        hidden: set[str] = {
            kind.__traits__.tag for kind, arm in table.arms.items() if isinstance(arm, Hidden)
        }
        assert hidden
        assert not any(f'"{tag}"' in json.dumps(openapi(table)) for tag in hidden)
