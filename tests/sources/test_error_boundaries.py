"""Document 004: one form for each boundary, while public wire contracts stay stable."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from examples.contract import older
from examples.contract.older import BAD_REQUEST, OLDER

import seamwise.policies.classify as classify_package
from seamwise import Category, Failure, TaggedError, find_cause, refine
from seamwise.catalog.models import ModelError, ModelNotFound, ProviderNotReady
from seamwise.catalog.network import NetworkError
from seamwise.catalog.problem import Problem
from seamwise.catalog.protocols import McpConnectionFailed, McpError
from seamwise.catalog.sessions import SessionBusy, SessionNotFound
from seamwise.catalog.workspace import ConfigInvalid, ConfigUnreadable
from seamwise.seams import cli, session
from seamwise.seams.cli.tables import MODELS as FOR_TERMINALS
from seamwise.seams.http import HttpError, ProblemLocation, defect, named, on, tagged
from seamwise.seams.http.openapi_documents.documented_errors import documented_errors
from seamwise.seams.http.openapi_documents.error_schemas import NAMED as NAMED_FORM
from seamwise.seams.http.openapi_documents.error_schemas import TAGGED as TAGGED_FORM
from seamwise.seams.wire.legacy_shapes import Named, named_error
from tests.strategies import EVERY_CLASS, PLANTED, members

FACTS: dict[str, Any] = json.loads(
    (Path(__file__).parent.parent / 'vectors' / 'named_bodies.json').read_text(encoding='utf-8')
)


# Wire contracts

ISSUES = (Problem('/provider/id', 'must be a text'),)
NAMED: dict[str, HttpError] = {
    'NotFoundError': HttpError.not_found('There is no such page.'),
    'BadRequest': HttpError.bad_request(
        'The body is not valid.',
        kind='Body',
        problems=[ProblemLocation('/a', 'is missing')],
        legacy=BAD_REQUEST,
    ),
    'UnknownError': defect('err_2f4ad7qz'),
    'ConfigJsonError': older.CONFIG(ConfigUnreadable('./app.jsonc', 3, 7, 'a comma is missing')),
    'ConfigInvalidError': older.CONFIG(ConfigInvalid('./app.jsonc', ISSUES)),
    'ProviderModelNotFoundError': older.MODELS(ModelNotFound('acme', 'large-2', ('large-3',))),
    'ProviderInitError': older.MODELS(ProviderNotReady('acme')),
    'MCPFailed': older.MCP(McpConnectionFailed('files')),
}
"""An answer for each name of the contract that the package or the example writes."""

TAGGED: dict[str, HttpError] = {
    'SessionNotFoundError': older.SESSIONS(SessionNotFound('s-1')),
    'SessionBusyError': older.SESSIONS(SessionBusy('s-1')),
    'UnauthorizedError': HttpError.unauthorized(),
    'ServiceUnavailableError': HttpError.unavailable(),
    'TimeoutError': HttpError.timed_out(),
    'UnknownError': defect('err_2f4ad7qz'),
}


def keys_of(facts: dict[str, dict[str, Any]], *, optional: bool) -> set[str]:
    return {name for name, fact in facts.items() if optional or not fact['optional']}


@pytest.mark.parametrize('name', NAMED)
@pytest.mark.requirement('004-25')
def test_a_named_body_has_exactly_the_keys_of_its_contract(name: str) -> None:
    [facts] = [
        case['data']
        for case in FACTS['cases']
        if case['name'] == name and case['where'] in {'http', 'cli'}
    ]
    body = json.loads(named(NAMED[name]))
    assert list(body) == FACTS['body_keys']
    assert body['name'] == name
    assert keys_of(facts, optional=False) <= body['data'].keys() <= keys_of(facts, optional=True)


@pytest.mark.parametrize('tag', TAGGED)
def test_a_tagged_body_has_exactly_the_keys_of_its_contract(tag: str) -> None:
    [facts] = [case['fields'] for case in FACTS['tagged_http'] if case['tag'] == tag]
    body = json.loads(tagged(TAGGED[tag]))
    assert body.pop('_tag') == tag
    assert keys_of(facts, optional=False) <= body.keys() <= keys_of(facts, optional=True)


@pytest.mark.requirement('004-07', '004-51')
def test_the_bodies_are_those_of_the_document() -> None:
    assert json.loads(named(NAMED['ProviderModelNotFoundError'])) == {
        'name': 'ProviderModelNotFoundError',
        'data': {'providerID': 'acme', 'modelID': 'large-2', 'suggestions': ['large-3']},
    }
    issues = [{'message': 'must be a text', 'path': ['provider', 'id']}]
    assert json.loads(named(NAMED['ConfigInvalidError']))['data'] == {
        'message': "The configuration in './app.jsonc' is not valid.",
        'path': './app.jsonc',
        'issues': issues,
    }
    assert json.loads(tagged(TAGGED['SessionBusyError'])) == {
        '_tag': 'SessionBusyError',
        'message': "The session 's-1' is busy.",
        'sessionID': 's-1',
    }


@pytest.mark.parametrize('answer', [*NAMED.values(), *TAGGED.values()])
def test_both_legacy_formats_of_an_error_read_alike(answer: HttpError) -> None:
    assert named_error(named(answer)) == named_error(tagged(answer))


@pytest.mark.parametrize(
    ('answer', 'expected'),
    [
        (
            on(ProviderNotReady).responds(503, 'X', legacy=OLDER[ProviderNotReady])(
                ProviderNotReady('acme')
            ),
            Named('ProviderInitError', {'providerID': '***'}),
        ),
        (
            HttpError.of(McpConnectionFailed('files'), 502, 'X', legacy=OLDER[McpConnectionFailed]),
            Named('MCPFailed', {'name': '***'}),
        ),
    ],
)
@pytest.mark.requirement('004-26')
def test_a_required_key_that_the_answer_hides_is_the_mask(
    answer: HttpError, expected: Named
) -> None:
    assert named_error(named(answer)).unwrap() == expected


def test_an_error_of_an_application_with_a_tag_of_the_contract_keeps_its_own_fields() -> None:
    class Busy(TaggedError, tag='SessionBusy', category=Category.CONFLICT, message='Busy.'):
        since: int

    answer = on(Busy).responds(409, 'BUSY')(Busy(7))
    assert json.loads(named(answer)) == {
        'name': 'SessionBusy',
        'data': {'message': 'Busy.', 'since': 7},
    }


@pytest.mark.parametrize(
    ('error', 'name', 'required'),
    [
        (ModelNotFound('a', 'b'), 'ProviderModelNotFoundError', ['providerID', 'modelID']),
        (ProviderNotReady('a'), 'ProviderInitError', ['providerID']),
        (SessionNotFound('s'), 'SessionNotFoundError', ['message', 'sessionID']),
    ],
)
@pytest.mark.requirement('004-06')
def test_the_document_of_the_api_has_the_keys_of_the_contract(
    error: TaggedError, name: str, required: list[str]
) -> None:
    errors, _ = documented_errors([older.MODELS, older.SESSIONS])
    named_schema: Any = NAMED_FORM.members(errors[type(error)])
    assert named_schema['properties']['name'] == {'type': 'string', 'enum': [name]}
    assert named_schema['properties']['data']['required'] == required
    tagged_schema: Any = TAGGED_FORM.members(errors[type(error)])
    assert tagged_schema['properties']['_tag'] == {'type': 'string', 'enum': [name]}
    assert tagged_schema['required'] == ['_tag', *required]


# Known rejections of a promise


class NoSuchModelError(Exception):
    """The exception of a provider's package."""


@pytest.mark.requirement('004-18')
def test_a_known_exception_is_the_typed_error_with_the_exception_as_its_cause() -> None:
    """The example of the document: the loader raises, and one class of exceptions is expected."""
    rejection = NoSuchModelError('large-2')

    def load() -> str:
        raise rejection

    def classify(cause: Exception) -> Failure[ModelNotFound] | None:
        if isinstance(cause, NoSuchModelError):
            return Failure(ModelNotFound('acme', 'large-2', cause=cause))
        return None

    error = refine(load, classify).failure()
    assert (error.provider, error.model, error.cause) == ('acme', 'large-2', rejection)
    assert find_cause(error, NoSuchModelError) is rejection


@pytest.mark.requirement('004-19')
def test_any_other_exception_remains_a_defect() -> None:
    def load() -> str:
        raise KeyError('models')

    with pytest.raises(KeyError, match='models'):
        refine(load, lambda _: None)


@pytest.mark.parametrize(
    'kind', members(ModelError, NetworkError, McpError), ids=lambda kind: kind.__name__
)
def test_every_error_that_stands_for_an_exception_of_a_service_can_keep_it(
    kind: type[TaggedError],
) -> None:
    assert 'cause' in kind.__struct_fields__
    assert kind.__struct_fields__[-1] == 'cause'


def test_every_error_that_a_classifier_of_this_package_makes_has_a_cause() -> None:
    folder = Path(classify_package.__file__).parent
    sources = '\n'.join(file.read_text(encoding='utf-8') for file in folder.glob('*.py'))
    made = [kind for kind in EVERY_CLASS if re.search(rf'\b{kind.__name__}\(\w', sources)]
    assert {'StoreUnavailable', 'UpstreamRateLimited'} <= {kind.__name__ for kind in made}
    assert [kind for kind in made if 'cause' not in kind.__struct_fields__] == []


# Rendering for a terminal

VALUES: dict[str, object] = {
    'string': 'a-text',
    'int>=0': 1,
    'bool': True,
    'map string->string': {'a': 'b'},
    'list of string': ['a-name'],
    'list of {message, path}': [{'message': 'must be a text', 'path': ['provider', 'id']}],
}


@pytest.mark.parametrize(
    'case', FACTS['both_shapes_read_alike'], ids=lambda case: case['named']['name']
)
@pytest.mark.requirement('004-34')
def test_a_terminal_shows_the_named_and_the_flat_shape_alike(case: dict[str, Any]) -> None:
    first = cli.foreign(named_error(json.dumps(case['named'])).unwrap(), legacy=OLDER)
    second = cli.foreign(named_error(json.dumps(case['flat'])).unwrap(), legacy=OLDER)
    assert first == second


@pytest.mark.requirement('004-14', '004-53')
def test_a_model_of_a_provider_is_rendered_as_our_own_error() -> None:
    """The example of the document: the formatter of the command line sees the tag."""
    own = ModelNotFound('acme', 'large-2', ('large-3',))
    rendered = cli.foreign(named(older.MODELS(own)), legacy=OLDER)
    assert rendered == FOR_TERMINALS(own)
    assert rendered.text == "acme has no model 'large-2'.\ndid you mean 'large-3'?"


@pytest.mark.parametrize('case', FACTS['cases'], ids=lambda case: f'{case["where"]}-{case["name"]}')
@pytest.mark.requirement('004-54')
def test_every_name_of_the_contract_is_rendered_with_its_fields(case: dict[str, Any]) -> None:
    data = {key: VALUES[fact['type']] for key, fact in case['data'].items()}
    rendered = cli.foreign(Named(case['name'], data), legacy=OLDER)
    assert 0 < rendered.exit_code < 256
    assert rendered.text.partition('\n')[0]
    for value in data.values():
        if isinstance(value, str):
            assert value in rendered.text


@pytest.mark.parametrize(
    ('body', 'text', 'exit_code'),
    [
        (
            Named(
                'ConfigInvalidError',
                {'path': './app.jsonc', 'issues': VALUES['list of {message, path}']},
            ),
            "The configuration in './app.jsonc' is not valid.\nhint: /provider/id: must be a text.",
            78,
        ),
        (
            Named(
                'ConfigDirectoryTypoError', {'path': '.app', 'dir': 'agnt', 'suggestion': 'agent'}
            ),
            "Config directory typo.\npath: .app\ndir: agnt\ndid you mean 'agent'?",
            78,
        ),
        (
            Named('ConfigJsonError', {'path': './app.jsonc', 'message': 'A comma is missing.'}),
            'A comma is missing.\npath: ./app.jsonc',
            78,
        ),
        (
            Named('UnknownError', {'message': 'It failed.', 'ref': 'err_2f4ad7qz'}),
            (
                'It failed.\nref: err_2f4ad7qz\n'
                'hint: the log of the other program says more about err_2f4ad7qz.'
            ),
            70,
        ),
        (
            Named('APIError', {'message': 'Busy.', 'isRetryable': True, 'statusCode': 503}),
            'Busy.\nstatusCode: 503\nhint: try again later.',
            75,
        ),
        (
            Named('SessionBusyError', {'sessionID': 's-1', 'message': 'Busy.'}),
            "The session 's-1' is busy.\nhint: wait until it finishes, or stop it.",
            1,
        ),
        # Fields that do not fit the class of the catalogue are shown as they are.
        (Named('SessionBusy', {'session': 7}), 'Session busy.\nsession: 7', 1),
        (
            Named('StreamIsOdd', {'a': None, 'b': {'c': 1}}),
            'Stream is odd.\nb: {"c":1}',
            1,
        ),
    ],
)
def test_a_foreign_error_has_a_text_and_an_exit_code(
    body: Named, text: str, exit_code: int
) -> None:
    assert cli.foreign(body, legacy=OLDER) == cli.Rendered(text, exit_code)


def test_a_foreign_error_shows_no_secret_and_cannot_move_the_cursor() -> None:
    data = {'message': 'a\x1b[2J', 'apiKey': PLANTED, 'url': f'https://ann:{PLANTED}@example.org'}
    text = cli.foreign(Named('Odd', data)).text
    assert PLANTED not in text
    assert '\x1b' not in text


def test_a_foreign_error_with_many_fields_is_cut() -> None:
    text = cli.foreign(Named('Odd', {f'key{number}': 1 for number in range(25)})).text
    assert text.endswith('… (5 more)')


def test_a_message_of_a_session_is_rendered_too() -> None:
    assert cli.foreign(session.StoredError.unknown('The share could not be made.')).text == (
        'The share could not be made.'
    )
