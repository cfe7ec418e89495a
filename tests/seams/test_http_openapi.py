"""Tests of the OpenAPI document of an application: envelopes, and the errors of each route."""

import json
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import PurePath
from re import findall
from types import new_class
from typing import TYPE_CHECKING, Annotated, Any

import jsonschema_rs
import pytest
from fastapi import Depends, FastAPI, Header, Path
from fastapi.security import HTTPBearer
from pydantic import BaseModel
from schemathesis.specs.openapi.definitions import OPENAPI_31_VALIDATOR
from starlette.testclient import TestClient

from seamwise import Category, Failure, Result, Success, TaggedError
from seamwise.seams.adapter import Adapter
from seamwise.seams.http import (
    Body,
    HttpError,
    bare,
    envelope,
    install,
    named,
    negotiated,
    on,
    openapi,
    problem,
    tagged,
)
from seamwise.seams.http.openapi_documents.document import Operation, add_errors
from seamwise.seams.http.openapi_documents.error_schemas import ENVELOPE, PROBLEM
from tests.seams.openapi_shop import (
    ERRORS,
    TABLE,
    QuotaExceeded,
    StoreDown,
    TeamNotFound,
    User,
    UserExists,
    UserNotFound,
    build_shop,
    shop_answers,
    shop_document,
)

if TYPE_CHECKING:
    from decimal import Decimal


class Poor(TaggedError, category=Category.CONFLICT, message='Only {balance} left.'):
    balance: 'Decimal | None'


def local_error() -> type[TaggedError]:
    class Unit:
        """A type that no module has."""

    class Local(TaggedError, category=Category.CONFLICT, message='There are no units.'):
        unit: 'Unit'

    return Local


BODIES: list[Body] = [negotiated, envelope, problem, bare, named, tagged]
BODY_NAMES = ['negotiated', 'envelope', 'problem', 'bare', 'named', 'tagged']


def document_of(
    app: FastAPI,
    *operations: Operation,
    table: Adapter[Any, HttpError] = TABLE,
    body: Body = negotiated,
) -> dict[str, Any]:
    document = app.openapi()
    add_errors(document, operations, table, body=body)
    result: dict[str, Any] = json.loads(json.dumps(document))
    return result


def resolved(document: dict[str, Any], node: dict[str, Any]) -> dict[str, Any]:
    if '$ref' not in node:
        return node
    _, _, section, name = node['$ref'].split('/')
    component: dict[str, Any] = document['components'][section][name]
    return component


def validator(document: dict[str, Any], schema: dict[str, Any]) -> Any:
    return jsonschema_rs.Draft202012Validator(
        {**schema, 'components': document['components']}, validate_formats=True
    )


def schema_of(document: dict[str, Any], name: str) -> dict[str, Any]:
    schema: dict[str, Any] = document['components']['schemas'][name]
    return schema


def own_members(document: dict[str, Any], name: str) -> dict[str, Any]:
    """Return the schema of an error with the members only that not every error has."""
    schema = schema_of(document, name)
    every: Any = (PROBLEM if 'tag' in schema['properties'] else ENVELOPE).any_error()[0]
    own = {
        name: member
        for name, member in schema['properties'].items()
        if member != every['properties'].get(name)
    }
    return {'properties': own, 'required': [name for name in schema['required'] if name in own]}


def app_with(handler: Callable[..., Any], path: str = '/users/{uid}', **settings: Any) -> FastAPI:
    app = FastAPI()
    app.get(path, **settings)(handler)
    return app


def show(uid: str) -> User:
    raise NotImplementedError


SHOW = Operation('/users/{uid}', 'get', (UserNotFound,), is_formatted=True)


# Validity


@pytest.mark.parametrize('body', BODIES, ids=BODY_NAMES)
def test_the_document_is_valid_openapi_with_valid_schemas(body: Body) -> None:
    document = shop_document(build_shop(body))
    OPENAPI_31_VALIDATOR.validate(document)
    for name in document['components']['schemas']:
        schema = validator(document, {'$ref': f'#/components/schemas/{name}'})
        jsonschema_rs.meta.validate(schema_of(document, name))
        schema.is_valid(None)


@pytest.mark.parametrize('body', BODIES, ids=BODY_NAMES)
def test_every_reference_has_a_component_and_every_component_is_used(body: Body) -> None:
    document = shop_document(build_shop(body))
    refs = set(references(document))
    components = {
        f'#/components/{section}/{name}'
        for section, entries in document['components'].items()
        for name in entries
    }
    # Clients have a type of any failure, for the errors that no route declares.
    general = {'Failure', 'NamedError', 'Problem', 'TaggedError'}
    assert refs <= components
    assert components - refs <= {f'#/components/schemas/{name}' for name in general}


def references(document: object) -> Iterator[str]:
    return map(str, findall(r'"\$ref": "(.+?)"', json.dumps(document)))


# Answers


@pytest.mark.parametrize(
    ('body', 'accept'),
    [
        (negotiated, '*/*'),
        (negotiated, 'application/problem+json'),
        (envelope, '*/*'),
        (problem, '*/*'),
        (bare, '*/*'),
        (named, '*/*'),
        (tagged, '*/*'),
    ],
    ids=['negotiated', 'negotiated-problem', *BODY_NAMES[1:]],
)
def test_every_answer_matches_its_schema(body: Body, accept: str) -> None:
    app = build_shop(body)
    document = shop_document(app)
    statuses: set[int] = set()
    for path, method, response in shop_answers(app, accept):
        described = document['paths'][path][method]['responses'][str(response.status_code)]
        content = resolved(document, described)['content']
        schema = content[response.headers['content-type']]['schema']
        validator(document, schema).validate(response.json())
        statuses.add(response.status_code)
    assert statuses == {200, 201, 400, 401, 404, 409, 429, 503}


def test_an_answer_that_lacks_a_member_or_has_another_code_does_not_match() -> None:
    app = build_shop()
    document = shop_document(app)
    [answer] = [answer for *_, answer in shop_answers(app) if answer.status_code == 409][:1]
    described = document['components']['responses']['UserExists']['content']
    schema = validator(document, described['application/json']['schema'])
    body = answer.json()
    assert schema.is_valid(body)
    error = body['error']
    wrong: list[dict[str, Any]] = [
        {**error, 'code': 'USER_NOT_FOUND'},
        {**error, 'type': 'UserNotFound'},
        {**error, 'details': {'name': 'ann'}},
        {**error, 'details': {**error['details'], 'homes': [{'street': 1}]}},
        {key: value for key, value in error.items() if key != 'message'},
    ]
    for item in wrong:
        assert not schema.is_valid({**body, 'error': item}), item
    assert not schema.is_valid({**body, 'success': True})
    assert not schema.is_valid({'error': error})


def test_a_defect_matches_the_schema_of_any_failure() -> None:
    app = build_shop()
    schema = validator(shop_document(app), {'$ref': '#/components/schemas/Failure'})
    answer = TestClient(app, raise_server_exceptions=False).get('/users/200')
    assert answer.status_code == 500
    schema.validate(answer.json())
    for *_, answer in shop_answers(app):
        assert schema.is_valid(answer.json()) == answer.is_error


def test_a_problem_has_the_fields_of_its_error_as_members() -> None:
    document = shop_document(build_shop(bare))
    problem_details = {
        'type': 'urn:seamwise:error:USER_EXISTS',
        'title': 'User exists',
        'status': 409,
        'detail': 'ann exists.',
        'instance': 'req-1',
        'code': 'USER_EXISTS',
        'retryable': False,
        'tag': 'UserExists',
        'name': 'ann',
        'homes': [{'street': 'High St', 'number': 3}],
    }
    schema = validator(document, schema_of(document, 'UserExists'))
    schema.validate(problem_details)
    for name in ('title', 'tag', 'name', 'homes'):
        assert not schema.is_valid({k: v for k, v in problem_details.items() if k != name}), name
    assert not schema.is_valid({**problem_details, 'status': 404})
    invalid = {
        **{k: v for k, v in problem_details.items() if k not in {'name', 'homes'}},
        'status': 400,
        'code': 'INVALID_REQUEST',
        'tag': 'BadRequest',
        'kind': 'Path',
        'errors': [{'pointer': '/uid', 'detail': 'is no number', 'in': 'path'}],
    }
    schema = validator(document, schema_of(document, 'BadRequest'))
    schema.validate(invalid)
    assert not schema.is_valid({**invalid, 'errors': ['uid']})
    assert own_members(document, 'BadRequest')['properties'].keys() == {
        'status',
        'code',
        'tag',
        'kind',
    }


class Clash(TaggedError, namespace='test_http_openapi', category=Category.CONFLICT):
    status: int
    errors: int
    size: int


def test_a_field_with_the_name_of_a_problem_member_has_an_underscore() -> None:
    operation = Operation('/users/{uid}', 'get', (Clash,), is_formatted=True)
    table = on(Clash).responds(409, 'CLASH')
    document = document_of(app_with(show), operation, table=table, body=bare)
    members = own_members(document, 'Clash')
    assert members['properties']['status'] == {'type': 'integer', 'enum': [409]}
    assert members['properties'].keys() >= {'status_', 'errors_', 'size'}
    assert members['required'] == ['status', 'code', 'tag', 'status_', 'errors_', 'size']


# Responses of a route


def test_a_route_has_only_the_errors_of_its_own_channel_by_reference() -> None:
    document = shop_document(build_shop())
    responses = {
        f'{method} {path}': operation['responses']
        for path, item in document['paths'].items()
        for method, operation in item.items()
    }
    refs = {
        route: {
            status: response['$ref'].removeprefix('#/components/responses/')
            for status, response in described.items()
            if not status.startswith('2')
        }
        for route, described in responses.items()
    }
    assert refs == {
        'get /users/{uid}': {
            '400': 'BadRequest',
            '401': 'Unauthenticated',
            '404': 'TeamNotFoundOrUserNotFound',
            '409': 'UserExists',
            '429': 'QuotaExceeded',
            '503': 'StoreDown',
        },
        'post /users': {'400': 'BadRequestOrNameRefused'},
        'get /users': {'429': 'QuotaExceeded'},
        'get /any': {'503': 'StoreDown'},
        'delete /users/{uid}': {'400': 'BadRequest', '404': 'UserNotFound'},
    }


def test_a_response_documents_the_headers_that_it_sends() -> None:
    components = shop_document(build_shop())['components']
    headers = {name: [*item['headers']] for name, item in components['responses'].items()}
    assert headers['QuotaExceeded'] == ['X-Request-ID', 'Retry-After']
    assert headers['Unauthenticated'] == ['X-Request-ID', 'WWW-Authenticate']
    assert headers['UserNotFound'] == ['X-Request-ID']
    assert components['headers'].keys() == {'X-Request-ID', 'Retry-After', 'WWW-Authenticate'}


def test_more_than_three_classes_of_a_status_are_named_after_it() -> None:
    kinds = [named_class(name) for name in ('D', 'C', 'B', 'A')]
    table: Adapter[Any, HttpError] = Adapter({})
    for kind in kinds:
        table |= on(kind).responds(404, kind.__name__)
    operation = Operation('/users/{uid}', 'get', tuple(kinds), is_formatted=True)
    document = document_of(app_with(show), operation, table=table)
    assert [*document['components']['responses']] == ['NotFound']
    operation = operation._replace(errors=tuple(kinds[:3]))
    document = document_of(app_with(show), operation, table=table)
    assert [*document['components']['responses']] == ['BOrCOrD']


def named_class(name: str, namespace: str = 'test_http_openapi') -> type[TaggedError]:
    # A class that is local to a function is not registered.
    local = {'__module__': __name__, '__qualname__': f'named_class.<locals>.{name}'}
    options = {'namespace': namespace, 'category': Category.NOT_FOUND}
    return new_class(name, (TaggedError,), options, lambda members: members.update(local))


def test_responses_that_a_route_declares_are_kept() -> None:
    class Gone(BaseModel):
        reason: str

    responses: dict[int | str, dict[str, Any]] = {404: {'model': Gone}, 422: {'model': Gone}}
    app = app_with(show, responses=responses)
    before = json.loads(json.dumps(app.openapi()))['paths']['/users/{uid}']['get']['responses']
    after = document_of(app, SHOW)['paths']['/users/{uid}']['get']['responses']
    assert after['404'] == before['404']
    assert after['422'] == before['422']


def test_the_422_of_fastapi_and_its_schemas_disappear() -> None:
    document = shop_document(build_shop())
    assert '"422"' not in json.dumps(document)
    assert 'ValidationError' not in json.dumps(document)


def test_the_422_of_a_route_without_results_stays() -> None:
    app = app_with(show)
    app.get('/plain/{uid}')(show)
    document = document_of(app, SHOW)
    assert '422' in document['paths']['/plain/{uid}']['get']['responses']
    assert {'HTTPValidationError', 'ValidationError'} <= document['components']['schemas'].keys()


def test_a_request_can_only_be_invalid_if_a_text_may_not_fit() -> None:
    def texts(uid: str, q: str = '', part: str | None = None) -> User:
        raise NotImplementedError

    def number(uid: str, page: int = 1) -> User:
        raise NotImplementedError

    def pattern(uid: Annotated[str, Path(pattern='^u')]) -> User:
        raise NotImplementedError

    def header(uid: str, token: Annotated[str, Header()]) -> User:
        raise NotImplementedError

    def upload(uid: str, user: User) -> User:
        raise NotImplementedError

    def responses(handler: Callable[..., Any], method: str = 'get') -> set[str]:
        app = FastAPI()
        app.api_route('/users/{uid}', methods=[method])(handler)
        document = document_of(app, SHOW._replace(method=method))
        return set(document['paths']['/users/{uid}'][method]['responses'])

    assert responses(texts) == {'200', '404'}
    assert responses(number) == {'200', '400', '404'}
    assert responses(pattern) == {'200', '400', '404'}
    assert responses(header) == {'200', '400', '404'}
    assert responses(upload, 'put') == {'200', '400', '404'}


def test_an_own_error_shares_its_status_with_that_of_the_framework() -> None:
    refused = named_class('Refused')
    bearer = HTTPBearer()
    app = FastAPI()

    def upload(user: User) -> User:
        raise NotImplementedError

    app.post('/users', dependencies=[Depends(bearer)])(upload)
    for status, name in [
        (401, 'RefusedOrUnauthorized'),
        (403, 'ForbiddenOrRefused'),
        (413, 'PayloadTooLargeOrRefused'),
        (500, 'DefectOrRefused'),
        (409, 'Refused'),
    ]:
        app.openapi_schema = None
        operation = Operation('/users', 'post', (refused,), is_formatted=True)
        document = document_of(app, operation, table=on(refused).responds(status, 'REFUSED'))
        assert {*document['components']['responses']} == {name, 'BadRequest'}


def test_hidden_and_uncovered_errors_are_left_out() -> None:
    hidden = named_class('HiddenError')
    table: Adapter[Any, HttpError] = on(hidden).hidden() | on(UserNotFound).responds(404, 'U')
    operation = SHOW._replace(errors=(hidden, UserNotFound, TeamNotFound))
    document = document_of(app_with(show), operation, table=table)
    assert document['paths']['/users/{uid}']['get']['responses'].keys() == {'200', '404'}
    assert 'HiddenError' not in json.dumps(document)


def test_operations_that_the_document_lacks_are_skipped() -> None:
    app = app_with(show, include_in_schema=False)
    app.get('/shown')(lambda: 1)
    operations = [SHOW, SHOW._replace(path='/shown', method='post')]
    assert document_of(app, *operations)['paths'].keys() == {'/shown'}


def test_a_function_as_an_arm_cannot_be_documented() -> None:
    error = HttpError(status=404, code='A', type='A', message='', retryable=False)
    table: Adapter[Any, HttpError] = Adapter({UserNotFound: lambda _: error})
    with pytest.raises(TypeError, match='UserNotFound: only an arm of'):
        document_of(app_with(show), SHOW, table=table)


# Values


@pytest.mark.parametrize('body', BODIES, ids=BODY_NAMES)
def test_values_are_in_the_envelope_where_the_body_format_has_one(body: Body) -> None:
    document = shop_document(build_shop(body))
    media = document['paths']['/users/{uid}']['get']['responses']['200']['content']
    expected = 'UserEnvelope' if body in (negotiated, envelope, problem) else 'User'
    assert media == {'application/json': {'schema': {'$ref': f'#/components/schemas/{expected}'}}}


def test_an_envelope_of_a_single_use_is_in_its_place() -> None:
    document = shop_document(build_shop())
    success = {'$ref': '#/components/schemas/Success'}
    schemas = {
        path: document['paths'][path]['get']['responses']['200']['content']['application/json']
        for path in ('/users', '/any')
    }
    listed = schemas['/users']['schema']
    assert listed['allOf'][0] == success
    assert listed['allOf'][1]['properties']['data']['items'] == {
        '$ref': '#/components/schemas/User'
    }
    assert schemas['/any']['schema'] == success


def test_a_response_without_a_body_or_of_ones_own_stays_as_it_is() -> None:
    document = shop_document(build_shop())
    deleted = document['paths']['/users/{uid}']['delete']['responses']['204']
    assert 'content' not in deleted
    app = app_with(show)
    before = json.loads(json.dumps(app.openapi()))['paths']['/users/{uid}']['get']['responses']
    after = document_of(app, SHOW._replace(is_formatted=False))['paths']['/users/{uid}']['get']
    assert after['responses']['200'] == before['200']
    assert '404' in after['responses']


class OwnBody:
    media_type = 'application/cbor'

    def value(self, value: object, /, *, request_id: str, now: datetime) -> bytes:
        raise NotImplementedError

    def error(self, error: HttpError, /, *, request_id: str, now: datetime) -> bytes:
        raise NotImplementedError


def test_a_body_of_ones_own_has_its_media_type_and_any_schema() -> None:
    document = document_of(app_with(show), SHOW, body=OwnBody())
    OPENAPI_31_VALIDATOR.validate(document)
    responses = document['paths']['/users/{uid}']['get']['responses']
    content: dict[str, Any] = {'application/cbor': {'schema': {}}}
    assert responses['200']['content'] == content
    assert resolved(document, responses['404'])['content'] == content
    assert resolved(document, responses['404'])['description'] == 'Not Found: USER_NOT_FOUND'


# Details


def test_details_have_the_fields_and_refer_to_the_schemas_of_their_types() -> None:
    document = shop_document(build_shop())
    details = own_members(document, 'UserExists')['properties']['details']
    assert details['properties']['homes']['items'] == {'$ref': '#/components/schemas/Address'}
    assert details['required'] == ['name', 'homes'], 'the wire leaves None out'
    assert schema_of(document, 'Address')['required'] == ['street']


def test_an_error_of_the_server_has_no_details() -> None:
    members = own_members(shop_document(build_shop()), 'StoreDown')
    assert members['properties'].keys() == {'code', 'type'}
    assert members['required'] == ['code', 'type']


class Sensitive(TaggedError, namespace='test_http_openapi', category=Category.CONFLICT):
    pin: int
    count: int


def test_a_field_that_redaction_masks_has_any_type() -> None:
    table = on(Sensitive).responds(409, 'SENSITIVE')
    operation = SHOW._replace(errors=(Sensitive,))
    document = document_of(app_with(show), operation, table=table)
    answer = table(Sensitive(1234, 5))
    details = own_members(document, 'Sensitive')['properties']['details']
    assert details['properties'] == {'pin': {}, 'count': {'type': 'integer'}}
    validator(document, details).validate(answer.details)


class FileRefused(TaggedError, namespace='test_http_openapi', category=Category.CONFLICT):
    path: PurePath
    other: complex


def test_a_path_is_a_text_and_another_type_is_anything() -> None:
    table = on(FileRefused).responds(409, 'FILE_REFUSED')
    operation = SHOW._replace(errors=(FileRefused,))
    document = document_of(app_with(show), operation, table=table)
    details = own_members(document, 'FileRefused')['properties']['details']
    assert details['properties'] == {'path': {'type': 'string'}, 'other': {'title': 'complex'}}
    validator(document, details).validate(table(FileRefused(PurePath('a.txt'), 1j)).details)


# Names


def test_classes_of_the_same_name_are_named_with_their_namespaces() -> None:
    first, second = named_class('Twin', 'shop'), named_class('Twin', 'bank/eu')
    table: Adapter[Any, HttpError] = on(first).responds(404, 'A') | on(second).responds(409, 'B')
    operation = SHOW._replace(errors=(first, second))
    document = document_of(app_with(show), operation, table=table)
    assert {'shop.Twin', 'bank_eu.Twin'} <= document['components']['schemas'].keys()
    assert {'shop.Twin', 'bank_eu.Twin'} == document['components']['responses'].keys()


def test_a_model_of_the_application_keeps_its_name() -> None:
    class Failure(BaseModel):
        text: str

    class Address(BaseModel):
        text: str

    class QuotaExceeded(BaseModel):
        failure: Failure
        address: Address

    def handler(uid: str) -> QuotaExceeded:
        raise NotImplementedError

    app = app_with(handler)
    models = json.loads(json.dumps(app.openapi()))['components']['schemas']
    kinds = tuple(type(error) for error in ERRORS[:5])
    document = document_of(app, SHOW._replace(errors=kinds))
    for name in ('Failure', 'Address', 'QuotaExceeded'):
        assert schema_of(document, name) == models[name]
    members = own_members(document, 'UserExists')
    homes = members['properties']['details']['properties']['homes']
    assert homes['items'] == {'$ref': '#/components/schemas/Address2'}
    responses = document['components']['responses']
    schema = responses['QuotaExceeded']['content']['application/json']['schema']
    assert schema == {'$ref': '#/components/schemas/tests.QuotaExceededFailure'}
    error = schema_of(document, 'tests.QuotaExceededFailure')['properties']['error']
    assert error == {'$ref': '#/components/schemas/tests.QuotaExceeded'}


def test_names_do_not_depend_on_the_order_of_routes() -> None:
    app = build_shop()
    app.get('/teams')(lambda: 1)
    operations = [SHOW, Operation('/teams', 'get', (TeamNotFound, QuotaExceeded, StoreDown), True)]
    first = document_of(app, *operations)
    app.openapi_schema = None
    second = document_of(app, *reversed(operations))
    assert first == second


def test_routes_with_different_adapters_share_the_components_that_are_the_same() -> None:
    app = app_with(show)
    app.get('/teams/{uid}', response_model=User)(show)
    kinds = (UserNotFound, UserExists)
    document = document_of(app, SHOW._replace(errors=kinds))
    names = {section: [*entries] for section, entries in document['components'].items()}
    table = on(UserNotFound).responds(404, 'NO_USER') | on(UserExists).responds(409, 'USER_EXISTS')
    operations = [SHOW._replace(path='/teams/{uid}', errors=kinds)]
    add_errors(document, operations, table, body=negotiated)
    added = {
        section: [name for name in entries if name not in names[section]]
        for section, entries in document['components'].items()
    }
    assert added == {
        'schemas': ['tests.UserNotFound', 'tests.UserNotFoundFailure'],
        'headers': [],
        'responses': ['UserNotFound2'],
    }


# Size


def size(document: object) -> int:
    return len(json.dumps(document, separators=(',', ':')))


def model_class(number: int) -> type[User]:
    return type(f'User{number}', (User,), {'__module__': __name__})


@pytest.mark.parametrize('models', [1, 5, 20])
@pytest.mark.parametrize('body', BODIES, ids=BODY_NAMES)
def test_twenty_routes_with_two_errors_are_under_1_35_of_plain_fastapi(
    models: int, body: Body
) -> None:
    plain, installed = FastAPI(), FastAPI()
    install(installed, TABLE, body=body)
    result: Any = Result
    classes = [model_class(number) for number in range(models)]
    for number in range(20):
        model = classes[number % models]

        def handler(uid: str) -> object:
            raise NotImplementedError

        handler.__name__ = f'get_{number}'
        handler.__annotations__['return'] = model
        plain.get(f'/users{number}/{{uid}}')(handler)
        handler.__annotations__['return'] = result[model, UserNotFound | QuotaExceeded]
        installed.get(f'/users{number}/{{uid}}')(handler)
    document = installed.openapi()
    assert all(
        item['get']['responses'].keys() == {'200', '404', '429'}
        for item in document['paths'].values()
    )
    assert size(document) < 1.35 * size(plain.openapi())


# Types that are unknown at run time


@pytest.mark.parametrize(
    ('kind', 'message'),
    [
        (
            Poor,
            "Poor: the type of the field 'balance' is unknown at run time: there is no 'Decimal'",
        ),
        (
            local_error(),
            "Local: the type of the field 'unit' is unknown at run time: there is no 'U",
        ),
    ],
)
def test_document_refuses_an_error_with_an_unknown_type(
    kind: type[TaggedError], message: str
) -> None:
    def show() -> object:
        return Success(1)

    table: Any = on(kind).responds(409, 'POOR')
    result: Any = Result
    show.__annotations__['return'] = result[int, kind]
    app = FastAPI()
    install(app, table)
    app.get('/')(show)
    with pytest.raises(TypeError, match=message):
        app.openapi()
    with pytest.raises(TypeError, match=message):
        openapi(table)
    # The start of the application fails, so that it is seen before the document is requested.
    with pytest.raises(TypeError, match=message), TestClient(app):
        pytest.fail('It is refused.')


def test_application_without_a_document_answers_an_error_with_an_unknown_type() -> None:
    app = FastAPI(openapi_url=None)
    install(app, on(Poor).responds(409, 'POOR'))

    @app.get('/')
    def show() -> Result[int, Poor]:
        return Failure(Poor(None))

    answer = TestClient(app).get('/', headers={'Accept': 'application/problem+json'})
    assert (answer.status_code, answer.json()['code']) == (409, 'POOR')
