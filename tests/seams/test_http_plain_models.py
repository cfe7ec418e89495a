"""Tests of the values that FastAPI writes by a response model, with and without a fast path."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Literal, TypeAlias
from uuid import UUID

import msgspec
import pytest
from fastapi import APIRouter, Depends, FastAPI, Response
from fastapi.testclient import TestClient
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    PlainSerializer,
    RootModel,
    SerializeAsAny,
    TypeAdapter,
    computed_field,
    field_serializer,
    model_serializer,
)
from pydantic_core import core_schema
from typing_extensions import TypeAliasType, override

from seamwise import Category, Failure, Internal, Result, Success, TaggedError
from seamwise.seams.http import (
    Created,
    ResultRoute,
    current_request_id,
    install,
    on,
    to_response,
)
from seamwise.seams.http.fastapi.plain_models import may_hold_errors
from seamwise.seams.model import defect as model_defect
from seamwise.seams.model import tool_message
from seamwise.seams.reporting.failure_log import FailureLog


class Down(
    TaggedError,
    namespace='test_http_plain_models',
    category=Category.UNAVAILABLE,
    message='{store} is down.',
):
    store: str
    reason: Internal[str]


ERROR = Down('orders', '10.0.0.5 refused')


class Color(StrEnum):
    RED = 'red'


class Part(BaseModel):
    name: Annotated[str, Field(max_length=9)]
    color: Color | None = None
    weight: float = Field(default=1.0, alias='mass')


class Tree(BaseModel):
    parts: dict[str, list[Part]]
    left: 'Tree | None' = None


class Open(BaseModel):
    model_config = ConfigDict(extra='allow')

    name: str


class Anything(BaseModel):
    value: object


class AsAny(BaseModel):
    part: SerializeAsAny[Part]


class Computed(BaseModel):
    name: str

    @computed_field  # type: ignore[prop-decorator]  # mypy refuses decorated properties
    @property
    def problem(self) -> Down:
        return ERROR


class Serialized(BaseModel):
    name: str

    @model_serializer
    def write(self) -> Down:
        return ERROR


class FieldSerialized(BaseModel):
    name: str

    @field_serializer('name')
    def write(self, _: str) -> Down:
        return ERROR


class Annotation(BaseModel):
    name: Annotated[str, PlainSerializer(lambda _: ERROR, return_type=Down)]


_WRITE_ERROR = core_schema.plain_serializer_function_ser_schema(
    lambda _: ERROR, return_schema=TypeAdapter(Down).core_schema
)


class OwnSchema(BaseModel):
    name: str

    @classmethod
    @override
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler, /) -> Any:
        return {**handler(source), 'serialization': _WRITE_ERROR}


ADDED = (Computed, Serialized, FieldSerialized, Annotation, OwnSchema)
"""Models that write more than their fields have."""


class Numbers(RootModel[list[int]]):
    pass


Alias = TypeAliasType('Alias', list[Part])
TABLE = on(Down).responds(503, 'DOWN')
Model: TypeAlias = Any
RESULT: Any = Result
"""Its arguments are known at run time only."""


@pytest.mark.parametrize(
    'model',
    [
        *(str, bytes, None, int | None, UUID, datetime, Color, Literal['a', 'b']),
        *(Part, Tree, Numbers, Alias, list[Part], dict[str, Tree], tuple[int, ...]),
        *(Sequence[int], Mapping[str, Part], Annotated[int, Field(ge=1)]),
    ],
    ids=str,
)
def test_values_of_plain_models_are_not_searched_for_errors(model: Model) -> None:
    assert not may_hold_errors(model)


@pytest.mark.parametrize(
    'model',
    [
        *(object, Any, Down, list, dict, tuple[()], list[Down], Part | Down, dict[str, object]),
        *(Open, Anything, AsAny, list[Open], SerializeAsAny[Part], *ADDED),
    ],
    ids=str,
)
def test_values_of_other_models_are_searched(model: Model) -> None:
    assert may_hold_errors(model)


def test_no_error_is_shown_with_its_internal_fields() -> None:
    app = FastAPI()
    install(app, TABLE)

    @app.get('/anything')
    def anything() -> Result[Anything, Down]:
        return Success(Anything(value=[ERROR]))

    client = TestClient(app)
    shown = {'_tag': 'Down', 'store': 'orders'}
    assert client.get('/anything').json()['data'] == {'value': [shown]}


@pytest.mark.parametrize('is_declared', [True, False])
@pytest.mark.parametrize('model', ADDED)
def test_what_a_model_adds_has_no_internal_fields(model: Model, *, is_declared: bool) -> None:
    app = FastAPI()
    install(app, TABLE)

    async def added() -> Result[Model, Down]:
        return Success(model(name='lid'))

    added.__annotations__['return'] = RESULT[model if is_declared else object, Down]
    app.get('/added')(added)
    body = TestClient(app).get('/added').text
    assert '"_tag":"Down"' in body
    assert '10.0.0.5' not in body
    answer = to_response(
        Success([model(name='lid')]), adapter=TABLE, headers={}, operation='GET /added'
    )
    assert b'"_tag":"Down"' in answer.body
    assert b'10.0.0.5' not in answer.body
    message = tool_message(Success(model(name='lid')), adapter=model_defect, call_id='1')
    assert b'10.0.0.5' not in msgspec.json.encode(message)


def test_a_program_that_writes_a_model_itself_gets_all_fields() -> None:
    app = FastAPI()
    install(app, TABLE)

    @app.get('/stored')
    async def stored() -> Result[dict[str, str], Down]:
        return Success({'row': Computed(name='lid').model_dump_json()})

    assert '10.0.0.5' in TestClient(app).get('/stored').json()['data']['row']


def part() -> Result[Part, Down]:
    return Success(Part(name='lid', mass=2.0))


async def part_async() -> Result[Part, Down]:
    return part()


@pytest.mark.parametrize('handler', [part, part_async])
def test_the_options_of_a_model_hold_in_a_task_and_in_a_thread(handler: Any) -> None:
    app = FastAPI()
    install(app, TABLE)
    every = {'name': 'lid', 'color': None, 'mass': 2.0}
    options: dict[str, Any]
    for path, options, shown in (
        ('/all', {}, every),
        ('/set', {'response_model_exclude_unset': True}, {'name': 'lid', 'mass': 2.0}),
        ('/none', {'response_model_exclude_none': True}, {'name': 'lid', 'mass': 2.0}),
        ('/default', {'response_model_exclude_defaults': True}, {'name': 'lid', 'mass': 2.0}),
        ('/include', {'response_model_include': {'name'}}, {'name': 'lid'}),
        ('/exclude', {'response_model_exclude': {'color'}}, {'name': 'lid', 'mass': 2.0}),
        ('/name', {'response_model_by_alias': False}, {'name': 'lid', 'color': None, 'weight': 2}),
    ):
        app.get(path, **options)(handler)
        answer = TestClient(app).get(path)
        assert (path, answer.json()['data']) == (path, shown)
        assert answer.json().keys() == {'success', 'data', 'timestamp', 'request_id'}
        assert answer.headers['content-length'] == str(len(answer.content))
        assert answer.headers['x-request-id'] == answer.json()['request_id']
    assert 'Part' in app.openapi()['components']['schemas']


def test_the_envelope_is_written_inside_of_an_operation_of_the_request() -> None:
    log = FailureLog()

    async def in_operation() -> Any:
        with log.operation():
            yield current_request_id()

    app = FastAPI(dependencies=[Depends(in_operation)])
    install(app, TABLE)

    @app.get('/id')
    async def served_id(own: Annotated[str, Depends(in_operation)]) -> Result[str, Down]:
        return Success(own)

    @app.get('/thread')
    def in_a_thread() -> Result[Created[Part], Down]:
        return Success(Created(Part(name='lid', mass=1), '/lid'))

    client = TestClient(app)
    answer = client.get('/id', headers={'x-request-id': 'r-1'})
    assert (answer.json()['data'], answer.json()['request_id']) == ('r-1', 'r-1')
    answer = client.get('/thread')
    assert (answer.status_code, answer.headers['location']) == (201, '/lid')
    assert answer.json()['data']['name'] == 'lid'


def test_an_own_header_and_a_mounted_application_keep_one_request_id() -> None:
    inner = FastAPI()
    install(inner, TABLE)
    app = FastAPI()
    install(app, TABLE)
    app.mount('/inner', inner)

    for each in (app, inner):

        @each.get('/part')
        async def show(response: Response) -> Result[Part, Down]:
            response.headers['X-Request-ID'] = 'own'
            return Success(Part(name='lid', mass=1))

        @each.get('/down')
        def down() -> Result[Part, Down]:
            return Failure(ERROR)

    client = TestClient(app)
    for prefix in ('', '/inner'):
        answer = client.get(f'{prefix}/part', headers={'x-request-id': 'r-2'})
        assert answer.headers.get_list('x-request-id') == ['own']
        assert answer.json()['request_id'] == 'r-2'
        answer = client.get(f'{prefix}/down', headers={'x-request-id': 'r-3'})
        assert answer.headers.get_list('x-request-id') == ['r-3']
        assert (answer.status_code, answer.json()['request_id']) == (503, 'r-3')


def test_routes_that_are_added_while_the_application_runs_have_the_envelope() -> None:
    app = FastAPI()
    install(app, TABLE)
    with TestClient(app) as client:
        late = APIRouter(route_class=ResultRoute)
        late.get('/part')(part_async)
        app.include_router(late, prefix='/late')
        assert client.get('/late/part').json()['data']['name'] == 'lid'
