"""Tests of the older shape of an error that an arm or a function declares."""

import json
from typing import Any

import msgspec
import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from opentelemetry.metrics import NoOpMeter
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader

from seamwise import Category, Failure, Result, Success, TaggedError
from seamwise.catalog.problem import Problem
from seamwise.seams import cli, http
from seamwise.seams.http import HttpError, Legacy, decode, install, named, on, tagged
from seamwise.seams.http.openapi_documents.documented_errors import documented_errors
from seamwise.seams.http.openapi_documents.error_schemas import NAMED, TAGGED
from seamwise.seams.log import FailureLog
from seamwise.seams.telemetry import Telemetry
from seamwise.testing import assert_failure


class BookLost(
    TaggedError, category=Category.NOT_FOUND, message='The book {isbn!r} is lost.', namespace='t'
):
    isbn: str
    shelf: str
    days: int = 0


class ShelfBroken(TaggedError, category=Category.UNAVAILABLE, message='It broke.', namespace='t'):
    shelf: str
    boards: int
    cause: Exception | None = None


class FormInvalid(TaggedError, category=Category.VALIDATION, message='It is not valid.'):
    problems: tuple[Problem, ...]
    tags: tuple[str, ...] = ()


BOOK = Legacy('BookGoneError', {'bookID': 'isbn', 'shelfID': 'shelf'}, has_message=False)
LOST = BookLost('12', 'B')
ANSWERS = on(BookLost).responds(404, 'BOOK_LOST', legacy=BOOK)


def to_http(error: BookLost) -> HttpError:
    return HttpError.of(error, 404, 'BOOK_LOST', legacy=BOOK)


@pytest.mark.requirement('004-56')
@pytest.mark.parametrize('answers', [ANSWERS, to_http], ids=['arm', 'function'])
def test_an_arm_and_a_function_declare_the_older_shape(answers: Any) -> None:
    assert named(answers(LOST)) == b'{"name":"BookGoneError","data":{"bookID":"12","shelfID":"B"}}'
    assert tagged(answers(LOST)) == b'{"_tag":"BookGoneError","bookID":"12","shelfID":"B"}'


def test_the_other_formats_do_not_change() -> None:
    plain = on(BookLost).responds(404, 'BOOK_LOST')
    for body in (http.envelope, http.problem):
        older, newer = (json.loads(body(table(LOST), request_id='r')) for table in (ANSWERS, plain))
        assert older | {'timestamp': ''} == newer | {'timestamp': ''}


def test_a_shape_with_a_message_begins_with_it() -> None:
    answers = on(BookLost).responds(404, 'BOOK_LOST', legacy=Legacy('BookGone', {'id': 'isbn'}))
    assert json.loads(named(answers(LOST)))['data'] == {
        'message': "The book '12' is lost.",
        'id': '12',
    }


def test_a_hidden_required_text_is_the_mask_and_anything_else_is_left_out() -> None:
    shape = Legacy('ShelfError', {'shelfID': 'shelf', 'boards': 'boards'}, has_message=False)
    answers = on(ShelfBroken).responds(503, 'SHELF_BROKEN', legacy=shape)
    assert json.loads(named(answers(ShelfBroken('B', 3))))['data'] == {'shelfID': '***'}
    shown = on(ShelfBroken).responds(503, 'SHELF_BROKEN', details=('shelf',), legacy=shape)
    assert json.loads(named(shown(ShelfBroken('B', 3))))['data'] == {'shelfID': 'B'}
    own = msgspec.structs.replace(shape, optional=())
    both = on(ShelfBroken).responds(503, 'SHELF_BROKEN', legacy=own)
    assert json.loads(named(both(ShelfBroken('B', 3))))['data'] == {
        'shelfID': '***',
        'boards': '***',
    }


def test_details_of_a_function_have_keys_too() -> None:
    shape = Legacy('BookGone', {'where': 'place'}, has_message=False)
    answers = on(BookLost).responds(
        404, 'BOOK_LOST', details=lambda error: {'place': f'shelf {error.shelf}'}, legacy=shape
    )
    assert json.loads(named(answers(LOST)))['data'] == {'where': 'shelf B'}
    direct = HttpError.of(LOST, 404, 'BOOK_LOST', details={'place': 'C'}, legacy=shape)
    assert json.loads(named(direct))['data'] == {'where': 'C'}


def test_an_error_that_stands_for_its_cause_has_its_own_shape() -> None:
    shape = Legacy('StoreError', {'shelfID': 'shelf'}, has_message=False)
    answers = on(ShelfBroken).responds_as_cause(ANSWERS, status=503, code='BROKEN', legacy=shape)
    plain = on(ShelfBroken).responds_as_cause(ANSWERS, status=503, code='BROKEN')
    # The class of the catalogue cannot hold a tagged error of these tests in its cause.
    error = ShelfBroken('B', 3, cause=RuntimeError('wood'))
    assert json.loads(named(answers(error)))['data'] == {'shelfID': '***'}
    assert json.loads(named(plain(error)))['name'] == ShelfBroken.__traits__.tag


@pytest.mark.parametrize(
    ('shape', 'message'),
    [
        (Legacy('', {}), r'BookLost: the name in the older contract is empty\.'),
        (
            Legacy('BookGone', {'id': 'isnb'}),
            r"BookLost: the key 'id' of the older contract may show isbn, shelf, days, not 'isnb'",
        ),
    ],
)
def test_a_wrong_shape_is_refused_where_it_is_declared(shape: Legacy, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        on(BookLost).responds(404, 'BOOK_LOST', legacy=shape)
    with pytest.raises(ValueError, match=message):
        HttpError.of(LOST, 404, 'BOOK_LOST', legacy=shape)


@pytest.mark.parametrize('write', [named, tagged])
def test_a_client_decodes_the_class_from_both_formats(write: Any) -> None:
    body = write(ANSWERS(LOST))
    assert decode(body, BookLost, legacy={BookLost: BOOK}) == Success(LOST)
    without = assert_failure(decode(body, BookLost), http.UnreadableBody)
    assert without.problem.startswith("its error is 'BookGoneError'")
    # A shape of a class outside the union is not considered.
    other: dict[type[TaggedError], Legacy] = {
        ShelfBroken: Legacy('BookGoneError', {}),
        BookLost: BOOK,
    }
    assert decode(body, BookLost, legacy=other) == Success(LOST)


@pytest.mark.parametrize('write', [named, tagged])
def test_problems_can_have_a_path_of_keys(write: Any) -> None:
    shape = Legacy('FormError', {'issues': 'problems', 'tags': 'tags'}, has_paths=True)
    error = FormInvalid((Problem('/a~1b/0', 'is odd'),), ('x',))
    body = write(on(FormInvalid).responds(400, 'FORM', legacy=shape)(error))
    data = json.loads(body)
    assert data.get('data', data)['issues'] == [{'message': 'is odd', 'path': ['a/b', '0']}]
    assert decode(body, FormInvalid, legacy={FormInvalid: shape}) == Success(error)


def test_a_terminal_reads_the_older_names_of_another_program() -> None:
    from seamwise.catalog.models import ModelNotFound  # noqa: PLC0415

    shape = Legacy('NoModelError', {'providerID': 'provider', 'modelID': 'model'})
    body = '{"name": "NoModelError", "data": {"providerID": "acme", "modelID": "large-2"}}'
    assert cli.foreign(body).text.startswith('No model.')
    assert cli.foreign(body, legacy={ModelNotFound: shape}).text.startswith(
        "acme has no model 'large-2'."
    )


@pytest.mark.parametrize('answers', [ANSWERS, to_http], ids=['arm', 'function'])
def test_the_document_has_the_older_keys(answers: Any) -> None:
    errors, _ = documented_errors([http.on(BookLost).hidden().but(answers)])
    data: Any = NAMED.members(errors[BookLost])
    assert data['properties']['name'] == {'type': 'string', 'enum': ['BookGoneError']}
    assert data['properties']['data']['properties'].keys() == {'bookID', 'shelfID'}
    flat: Any = TAGGED.members(errors[BookLost])
    assert flat['required'] == ['_tag', 'bookID', 'shelfID']


# Who still gets an older shape


def find(number: str) -> Result[str, BookLost]:
    return Failure(BookLost(number, 'B'))


def points(reader: InMemoryMetricReader) -> dict[tuple[object, object], int]:
    data = json.loads(reader.get_metrics_data().to_json())  # type: ignore[union-attr]  # it is collected
    return {
        (
            point['attributes']['seamwise.legacy.name'],
            point['attributes']['seamwise.legacy.client'],
        ): point['value']
        for scope in data['resource_metrics'][0]['scope_metrics']
        for metric in scope['metrics']
        if metric['name'] == 'seamwise.http.legacy'
        for point in metric['data']['data_points']
    }


@pytest.mark.requirement('004-55')
@pytest.mark.parametrize('body', [named, tagged])
def test_a_metric_counts_the_clients_that_get_an_older_shape(body: Any) -> None:
    reader = InMemoryMetricReader()
    log = FailureLog(telemetry=Telemetry(MeterProvider([reader]).get_meter('t')))
    app = FastAPI()
    app.get('/books/{number}')(find)
    install(app, ANSWERS, body=body, log=log)
    client = TestClient(app)
    for agent in ('shop-app/1.4 (linux)', 'shop-app/1.4', 'a\tb', '', 'x' * 200):
        client.get('/books/7', headers={'User-Agent': agent})
    http.to_response(
        find('7'), ANSWERS, headers={'User-Agent': 'old/2'}, operation='GET /', body=body, log=log
    )
    assert points(reader) == {
        ('BookGoneError', 'shop-app/1.4'): 2,
        ('BookGoneError', 'unknown'): 3,
        ('BookGoneError', 'old/2'): 1,
    }


def test_an_error_without_a_shape_is_counted_under_its_tag_and_other_formats_are_not() -> None:
    reader = InMemoryMetricReader()
    log = FailureLog(telemetry=Telemetry(MeterProvider([reader]).get_meter('t')))
    plain = on(BookLost).responds(404, 'BOOK_LOST')
    for body in (named, http.envelope, http.problem, http.negotiated):
        http.to_response(find('7'), plain, headers={}, operation='GET /', body=body, log=log)
    assert points(reader) == {(BookLost.__traits__.tag, 'unknown'): 1}


def test_metrics_of_a_program_need_no_count_of_older_shapes() -> None:
    class Metrics:
        counted = 0

        def count(self, error: object, *, seam: str, operation: str) -> None:
            self.counted += 1

    metrics = Metrics()
    log = FailureLog(telemetry=metrics)
    http.to_response(find('7'), ANSWERS, headers={}, operation='GET /', body=named, log=log)
    assert metrics.counted == 1
    Telemetry(NoOpMeter('t')).count_legacy('BookGoneError', None)
