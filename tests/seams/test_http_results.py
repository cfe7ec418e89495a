"""Tests of `to_response`, without a web framework."""

import json
import logging
from typing import Any

import pytest
from multidict import CIMultiDict
from returns import result as returns_result

from seamwise import Category, Failure, Result, Secret, Success
from seamwise.seams.http import HttpError, HttpResponse, bare, current_request_id, problem
from seamwise.seams.http.serving.results import to_response
from seamwise.seams.reporting.failure_log import FailureLog
from seamwise.seams.reporting.request_context import current_locale, serving
from tests.seams.framework_cases import ADAPTER, CASES, Missing, check

OPERATION = 'GET /cases/{name}'
MISSING = Missing('eve')
Outcome = Result[object, Missing]


def respond(result: Result[object, Any], **options: Any) -> HttpResponse:
    options = {'headers': {'X-Request-ID': 'r-1'}, 'operation': OPERATION, **options}
    return to_response(result, ADAPTER, **options)


@pytest.mark.parametrize('name', CASES)
def test_every_result_has_its_response(name: str) -> None:
    answer = respond(CASES[name].result)
    length = {'content-length': str(len(answer.body))}
    check(name, answer.status, answer.headers | length, answer.body)


def test_a_response_without_content_has_no_content_type() -> None:
    answer = respond(CASES['no_content'].result)
    assert (answer.headers, answer.body) == ({'x-request-id': 'r-1'}, b'')


def test_the_format_follows_the_accept_header() -> None:
    headers = {'ACCEPT': 'application/problem+json'}
    answer = respond(CASES['missing'].result, headers=headers)
    assert answer.headers['content-type'] == 'application/problem+json'
    assert json.loads(answer.body)['code'] == 'USER_NOT_FOUND'


def test_several_headers_of_a_name_are_one_list() -> None:
    headers = CIMultiDict([('Accept', 'application/problem+json'), ('accept', 'text/html')])
    answer = respond(CASES['missing'].result, headers=headers)
    assert answer.headers['content-type'] == 'application/problem+json'


def test_the_body_format_can_be_chosen() -> None:
    assert respond(CASES['value'].result, body=bare).body == b'{"name":"ann"}'
    answer = respond(CASES['missing'].result, body=problem)
    assert answer.headers['content-type'] == 'application/problem+json'
    assert 'Accept' not in answer.headers['vary'].split(', ')


def test_a_request_without_an_id_gets_a_new_one() -> None:
    answer = respond(CASES['missing'].result, headers={})
    assert answer.headers['x-request-id'].startswith('req-')
    assert json.loads(answer.body)['request_id'] == answer.headers['x-request-id']


def test_the_id_of_the_request_being_served_wins() -> None:
    with serving('r-2'):
        answer = respond(CASES['missing'].result)
    assert answer.headers['x-request-id'] == 'r-2'
    assert current_request_id() is None


def test_the_adapter_knows_the_language_of_the_client() -> None:
    def adapter(error: Missing) -> HttpError:
        return HttpError(
            status=404, code='X', type=error.tag, message=current_locale(), retryable=False
        )

    headers = {'Accept-Language': 'zh-Hans-CN, en;q=0.5'}
    answer = to_response(Failure(MISSING), adapter, headers=headers, operation=OPERATION)
    assert json.loads(answer.body)['error']['message'] == 'zh_CN'
    assert 'Accept-Language' in answer.headers['vary']


def test_a_failure_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, 'seamwise'):
        respond(CASES['missing'].result)
        respond(CASES['value'].result)
    [record] = caplog.records
    assert (record.levelno, vars(record)['tag'], vars(record)['status']) == (
        logging.INFO,
        'Missing',
        404,
    )
    assert (vars(record)['request_id'], vars(record)['operation']) == ('r-1', OPERATION)
    assert vars(record)['fields'] == {'name': 'eve'}
    # Without a middleware, the start of the request is unknown.
    assert not hasattr(record, 'duration_ms')


def test_the_log_can_be_chosen(caplog: pytest.LogCaptureFixture) -> None:
    log = FailureLog(logging.getLogger('shop'), levels={Category.CAPACITY: logging.CRITICAL})
    respond(CASES['busy'].result, log=log)
    respond(CASES['busy'].result, log=logging.getLogger('other'))
    assert [(record.name, record.levelno) for record in caplog.records] == [
        ('shop', logging.CRITICAL),
        ('other', logging.WARNING),
    ]


def test_a_secret_in_a_value_is_masked() -> None:
    assert b'hunter2' not in respond(Success({'key': Secret('hunter2')})).body


def test_a_result_of_returns_is_taken() -> None:
    literal: Any = returns_result.Failure(MISSING)
    assert respond(literal).status == 404


@pytest.mark.parametrize('value', [7, None, MISSING])
def test_a_value_that_is_no_result_is_a_type_error(value: Any) -> None:
    with pytest.raises(TypeError, match='to_response takes a Success or a Failure'):
        respond(value)


def test_a_coroutine_is_a_type_error_that_names_it() -> None:
    async def find() -> Outcome:
        return Success(1)

    coroutine: Any = find()
    with pytest.raises(TypeError, match=r'to_response\(await find\(…\)\)'):
        respond(coroutine)


def test_a_result_in_a_result_is_a_type_error() -> None:
    with pytest.raises(TypeError, match='pass the inner result'):
        respond(Success(Success(1)))


def test_an_adapter_of_another_seam_is_a_type_error() -> None:
    adapter: Any = str
    with pytest.raises(TypeError, match='returned str instead of HttpError; each seam has a table'):
        to_response(Failure(MISSING), adapter, headers={}, operation=OPERATION)


def test_a_body_that_is_no_format_is_a_type_error() -> None:
    with pytest.raises(TypeError, match='A body format has'):
        respond(Success(1), body='json')
