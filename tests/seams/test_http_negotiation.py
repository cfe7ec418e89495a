"""Tests of content negotiation between the envelope and problem details."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seamwise.catalog.storage import RecordNotFound
from seamwise.seams.http import envelope, negotiated, problem, response
from seamwise.seams.http.tables import STORAGE

FOUND = STORAGE(RecordNotFound('user', 'u-17'))
LONG = ', '.join(['application/problem+json'] * 1000)


@pytest.mark.parametrize(
    ('accept', 'is_problem'),
    [
        (None, False),
        ('', False),
        ('*/*', False),
        ('application/*', False),
        ('application/json', False),
        ('application/problem+json', True),
        ('Application/Problem+JSON', True),
        ('application/problem+json; charset=utf-8', True),
        ('application/json, application/problem+json', True),
        ('application/json, application/problem+json;q=0.9', False),
        ('application/json;q=0.8, application/problem+json;q=0.9', True),
        ('application/json;q=0.9 , application/problem+json ; q=0.8', False),
        ('application/problem+json, */*;q=0.1', True),
        ('application/problem+json;q=0.1, */*', False),
        ('application/problem+json;q=0, */*', False),
        ('application/problem+json;q=0', False),
        ('application/json;q=0, */*', True),
        ('application/json;q=0, application/*;q=0.5', True),
        ('application/json;q=0.000, application/problem+json;q=0.001', True),
        ('text/html', False),
        ('text/html, application/xhtml+xml;q=0.9', False),
        ('image/png;q=1.000, application/problem+json;Q=0.5', True),
        ('application/json;q=nonsense, application/problem+json;q=0.5', True),
        ('application/problem+json;q=2', False),
        ('application/problem+json;q=0.1234, */*', False),
        ('text/x;note="a, application/problem+json"', False),
        (';;,,q=', False),
        (LONG, False),
    ],
)
def test_the_body_format_follows_accept(accept: str | None, *, is_problem: bool) -> None:
    assert negotiated.for_accept(accept) is (problem if is_problem else envelope)


@given(
    st.text(max_size=80)
    | st.lists(
        st.sampled_from([*'",;=\\ ', 'q', '0.5', 'application/json', '*/*']), max_size=30
    ).map(''.join)
)
def test_any_accept_gets_a_readable_body(accept: str) -> None:
    answer = response(FOUND, request_id='r-1', body=negotiated, accept=accept)
    assert answer.status == 404
    assert json.loads(answer.body)


@pytest.mark.parametrize(
    'accept', ['"' * 4000, '"\\' * 2000, ';q=' * 1300, ' ' * 4000 + 'x', '",' * 2000]
)
def test_a_hostile_accept_is_parsed_in_linear_time(accept: str) -> None:
    assert negotiated.for_accept(accept) is envelope


def test_only_a_negotiated_failure_has_a_vary_header() -> None:
    assert (
        response(FOUND, body=negotiated, accept='application/problem+json').headers['vary']
        == 'Accept'
    )
    assert 'vary' not in response(FOUND, body=envelope).headers
    assert 'vary' not in response(1, body=negotiated).headers


def test_a_success_is_always_in_the_envelope() -> None:
    answer = response('pong', request_id='r-1', body=negotiated, accept='application/problem+json')
    assert answer.headers['content-type'] == 'application/json'
    assert json.loads(answer.body)['data'] == 'pong'


def test_negotiated_without_a_request_writes_the_envelope() -> None:
    assert json.loads(negotiated(FOUND, request_id='r-1'))['success'] is False
    assert json.loads(negotiated('pong', request_id='r-1'))['data'] == 'pong'


def test_the_base_of_problem_types_can_be_set() -> None:
    own = negotiated.with_base('https://errors.example.org/')
    body = own.for_accept('application/problem+json')(FOUND, request_id='r-1')
    assert json.loads(body)['type'] == 'https://errors.example.org/RECORD_NOT_FOUND'
    assert own.for_accept(None) is envelope
