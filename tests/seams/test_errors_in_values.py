"""Tests of tagged errors in values of successes: every encoder shows their public fields only."""

import asyncio
import dataclasses
import json
from collections.abc import AsyncIterator, Callable, Iterator
from datetime import UTC, datetime
from types import MappingProxyType, SimpleNamespace

import msgspec
import pydantic
import pytest
from fastapi import FastAPI, HTTPException
from fastapi.sse import EventSourceResponse, ServerSentEvent
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from seamwise import Category, Failure, Internal, Result, Success, TaggedError
from seamwise.live.events import Event, encode_record, encode_state
from seamwise.seams import cli, jsonrpc, log, model, session
from seamwise.seams.cli.json_line import success_line
from seamwise.seams.http import bare, endpoint, envelope, install, on, to_response
from seamwise.seams.http.bodies import named, problem, tagged
from seamwise.seams.jsonrpc.shape import ResultResponse
from seamwise.seams.model.shape import Done
from seamwise.seams.rendering.encoding import to_json
from seamwise.seams.rendering.errors import public_form, safe_public_message
from seamwise.toolhost import Processor, formats, tool

MARK = '10.0.0.5 refused'


class Down(
    TaggedError,
    namespace='tests.errors_in_values',
    category=Category.UNAVAILABLE,
    message='{store} is down: {reason}.',
    public='{store} is down.',
):
    store: str
    reason: Internal[str]


class Page(msgspec.Struct, frozen=True):
    errors: tuple[Down, ...]
    size: int = 0


@dataclasses.dataclass(frozen=True)
class Report:
    error: object


class Model(pydantic.BaseModel):
    errors: list[Down]
    size: int = 0


class Undeclared(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(extra='allow')

    value: object = None


class Frozen(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(frozen=True)

    inner: Model


ERROR = Down('orders', MARK)
SHOWN = {'_tag': 'Down', 'store': 'orders'}
TABLE = on(Down).responds(503, 'DOWN')
VALUES: dict[str, tuple[object, object]] = {
    'alone': (ERROR, SHOWN),
    'list': ([1, ERROR], [1, SHOWN]),
    'dict': ({'errors': [ERROR], 'n': 1}, {'errors': [SHOWN], 'n': 1}),
    'set': ({'errors': {ERROR}}, {'errors': [SHOWN]}),
    'struct': ([Page((ERROR,), 2)], [{'errors': [SHOWN], 'size': 2}]),
    'dataclass': ({'x': Report((ERROR, 'é'))}, {'x': {'error': [SHOWN, 'é']}}),
    'undeclared': (Undeclared(value={'e': ERROR}), {'value': {'e': SHOWN}}),
    'extra': ([Undeclared.model_validate({'e': [ERROR]})], [{'value': None, 'e': [SHOWN]}]),
    'surrogate': ({'path': '\udce9', 'e': ERROR}, {'path': '\ufffd', 'e': SHOWN}),
}
NOW = datetime(2026, 1, 1, tzinfo=UTC)
every_value = pytest.mark.parametrize('name', VALUES)

ENCODERS: dict[str, Callable[[object], str | bytes]] = {
    'envelope': lambda value: envelope(value, request_id='r-1', now=NOW),
    'problem': lambda value: problem(value, request_id='r-1', now=NOW),
    'bare': bare,
    'named': named,
    'tagged': tagged,
    'to_response': lambda value: (
        to_response(Success(value), TABLE, headers={}, operation='GET /').body
    ),
    'model': lambda value: model.encode(Done(value)),
    'jsonrpc': lambda value: jsonrpc.encode(ResultResponse(id=1, result=value)),
    'event': lambda value: encode_record(Event('a', metadata=MappingProxyType({'v': value}))).body,
    'state': encode_state,
    'json line': success_line,
}


@every_value
@pytest.mark.parametrize('encoder', ENCODERS)
def test_every_encoder_shows_the_public_fields_of_an_error(encoder: str, name: str) -> None:
    value, shown = VALUES[name]
    if name in {'undeclared', 'extra'} and encoder in {'event', 'state'}:
        with pytest.raises(TypeError, match='cannot represent Undeclared'):
            ENCODERS[encoder](value)
        return
    body = ENCODERS[encoder](value)
    text = body.decode() if isinstance(body, bytes) else body
    assert MARK not in text
    assert json.dumps(shown, ensure_ascii=False, separators=(',', ':')) in text


@every_value
def test_the_terminal_shows_the_public_fields_of_an_error(name: str) -> None:
    text = cli.done(VALUES[name][0]).text
    assert MARK not in text
    assert 'orders' in text


@every_value
def test_handlers_send_the_public_fields_of_an_error(name: str) -> None:
    value, shown = VALUES[name]

    @endpoint(TABLE)
    async def handler(request: object) -> Result[object, Down]:
        return Success(value)

    def route() -> Result[object, Down]:
        return Success(value)

    app = FastAPI()
    app.get('/')(route)
    install(app, TABLE)
    for application in (Starlette(routes=[Route('/', handler)]), app):
        if application is app and name in {'surrogate', 'struct'}:
            # FastAPI encodes neither.
            continue
        answer = TestClient(application).get('/')
        assert (answer.status_code, answer.json()['data']) == (200, shown)


@pytest.mark.parametrize('format_', ['openai', 'anthropic', 'gemini', 'mcp', 'react'])
def test_answers_to_a_model_show_the_public_fields_of_an_error(format_: str) -> None:
    @tool
    async def look_up() -> object:
        """Look up."""
        return {'errors': [ERROR]}

    async def run() -> object:
        async with Processor(look_up) as processor:
            [outcome] = await processor.run([{'name': 'look_up', 'arguments': {}}])
        return formats.answer(outcome, format=format_)

    text = str(asyncio.run(run()))
    assert MARK not in text
    assert 'orders' in text


@pytest.mark.parametrize('encoder', ENCODERS)
def test_every_encoder_refuses_a_result(encoder: str) -> None:
    for value in ([Success(1)], {'x': Failure(ERROR)}, Report(Success(1))):
        with pytest.raises((TypeError, NotImplementedError)):
            ENCODERS[encoder](value)


def test_a_value_without_errors_is_encoded_as_it_is() -> None:
    for value in ([1, {'a': (2, 'x')}], Page(()), Report(None), {'_tag': 'Down', 'reason': 'x'}):
        assert public_form(value) is value
        assert to_json(value) == msgspec.json.encode(value)


def test_the_value_itself_is_not_changed() -> None:
    page = Page((ERROR,))
    assert public_form([page]) != [page]
    assert page.errors == (ERROR,)


MODEL = Frozen(inner=Model(errors=[ERROR]))
SHOWN_MODEL = {'inner': {'errors': [SHOWN], 'size': 0}}


def test_a_pydantic_model_shows_the_public_fields_of_an_error() -> None:
    def model() -> Result[Frozen, Down]:
        return Success(MODEL)

    def listed() -> Result[list[Down], Down]:
        return Success([ERROR])

    def anything() -> Result[dict[str, object], Down]:
        values: dict[str, object] = {'value': MODEL}
        return Success(values)

    def no_result() -> Frozen:
        return MODEL

    app = FastAPI()
    install(app, TABLE)
    for handler in (model, listed, anything, no_result):
        app.get(f'/{handler.__name__}')(handler)
    app.get('/endpoint')(endpoint(TABLE)(model))
    client = TestClient(app)
    for path, shown in {
        '/model': SHOWN_MODEL,
        '/endpoint': SHOWN_MODEL,
        '/listed': [SHOWN],
        '/anything': {'value': SHOWN_MODEL},
    }.items():
        answer = client.get(path)
        assert (path, answer.status_code, answer.json()['data']) == (path, 200, shown)
    assert client.get('/no_result').json() == SHOWN_MODEL
    # The value itself is not changed.
    assert MODEL.inner.errors == [ERROR]
    schema = client.get('/openapi.json').json()['components']['schemas']['Model']
    assert schema['properties']['errors']['items']['properties'].keys() == {'_tag', 'store'}


class Batch(
    TaggedError,
    namespace='tests.errors_in_values',
    category=Category.CONFLICT,
    message='{name} failed: {first}.',
):
    name: str
    first: object = None


BATCH_SEAMS: dict[str, Callable[[Batch], object]] = {
    'http': on(Batch).responds(409, 'BATCH'),
    'http, details by name': on(Batch).responds(409, 'BATCH', details=('first',)),
    'http, own details': on(Batch).responds(
        409, 'BATCH', details=lambda error: {'problem': error.first}
    ),
    'jsonrpc': jsonrpc.on(Batch).answers(-32000),
    'jsonrpc, own data': jsonrpc.on(Batch).answers(
        -32000, data=lambda error: {'problem': error.first}
    ),
    'session': session.on(Batch).publishes('error.correctable', 'ERR_BATCH_001'),
    'session, context': lambda error: session.event(
        error,
        adapter=session.on(Batch).publishes('error.correctable', 'ERR_BATCH_001'),
        locale='en',
        context={'first': error.first},
    ),
    'model': model.on(Batch).guides('execution_error'),
}

CYCLE: list[object] = [ERROR]
CYCLE.append(CYCLE)
FIELDS: dict[str, object] = {
    **{name: value for name, (value, _) in VALUES.items()},
    'result': [Failure(ERROR)],
    'error in an error': Batch('a', Batch('b', [ERROR])),
    'cycle': CYCLE,
}


@pytest.mark.parametrize('seam', BATCH_SEAMS)
@pytest.mark.parametrize('name', FIELDS)
def test_an_error_in_a_field_of_another_shows_its_public_fields(seam: str, name: str) -> None:
    text = repr(BATCH_SEAMS[seam](Batch('import', FIELDS[name])))
    assert MARK not in text
    assert 'orders' in text


def test_the_message_of_an_error_in_a_message_is_the_public_one() -> None:
    answer = on(Batch).responds(409, 'BATCH')(Batch('import', ERROR))
    assert answer.message == 'import failed: orders is down..'
    assert answer.details == {'name': 'import', 'first': SHOWN}


def test_an_error_in_a_field_is_whole_in_the_log() -> None:
    assert MARK in log.encode(log.record(Batch('import', ERROR))).decode()


def test_the_detail_of_a_framework_error_shows_public_fields() -> None:
    async def route() -> None:
        raise HTTPException(409, {'first': ERROR})

    app = FastAPI()
    app.get('/')(route)
    install(app, TABLE)
    assert TestClient(app).get('/').json()['error']['details'] == {'detail': {'first': SHOWN}}


def test_a_deep_field_is_cut() -> None:
    value: object = ERROR
    for _ in range(100):
        value = [value]
    details = on(Batch).responds(409, 'BATCH', details=('first',))(Batch('import', value)).details
    assert MARK not in repr(details)
    assert '…' in repr(details)


def test_a_route_without_a_model_shows_the_public_fields_of_an_error() -> None:
    def model() -> object:
        return MODEL

    def record() -> object:
        return [Report(MODEL), ERROR, Undeclared.model_validate({'e': ERROR})]

    def response() -> object:
        return PlainTextResponse('own')

    async def stream() -> AsyncIterator[object]:
        yield MODEL
        yield {'e': ERROR}

    def declared() -> Iterator[Frozen]:
        yield MODEL

    def events() -> Iterator[ServerSentEvent]:
        yield ServerSentEvent(data=MODEL)

    app = FastAPI()
    install(app, TABLE)
    for handler in (model, record, response):
        app.get(f'/{handler.__name__}', response_model=None)(handler)
    app.get('/stream')(stream)
    app.get('/declared')(declared)
    app.get('/events', response_class=EventSourceResponse)(events)
    client = TestClient(app)
    assert client.get('/model').json() == SHOWN_MODEL
    shown = [{'error': SHOWN_MODEL}, SHOWN, {'value': None, 'e': SHOWN}]
    assert client.get('/record').json() == shown
    assert client.get('/response').text == 'own'
    lines = [json.loads(line) for line in client.get('/stream').text.splitlines()]
    assert lines == [SHOWN_MODEL, {'e': SHOWN}]
    assert client.get('/declared').json() == SHOWN_MODEL
    event = client.get('/events').text.removeprefix('data: ')
    assert json.loads(event) == SHOWN_MODEL


@pytest.mark.parametrize(
    'value',
    [
        Undeclared.model_validate({'password': 'hunter2Qx', 'e': ERROR}),
        SimpleNamespace(e=ERROR),
        ValueError(ERROR),
    ],
    ids=['pydantic', 'object', 'exception'],
)
def test_the_text_of_a_value_has_no_internal_field_of_its_errors(value: object) -> None:
    batch = Batch('b', value)
    shown = on(Batch).responds(409, 'BATCH')(batch)
    text = f'{shown.message} {shown.details} {safe_public_message(batch)}'
    assert MARK not in text
    assert "Down(store='orders')" in text or 'Undeclared' in text
    assert MARK in log.encode(log.record(batch)).decode()
    assert MARK in repr(ERROR)
