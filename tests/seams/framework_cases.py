"""Results with the responses that every web framework must send for them."""

import json
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from seamwise import Category, Failure, Result, Success, TaggedError
from seamwise.seams.http import Accepted, Created, NoContent, on


class Missing(
    TaggedError,
    namespace='tests.frameworks',
    category=Category.NOT_FOUND,
    message='There is no user {name!r}.',
):
    name: str


class LoggedOut(
    TaggedError,
    namespace='tests.frameworks',
    category=Category.AUTHENTICATION,
    message='Log in first.',
):
    pass


class Busy(
    TaggedError, namespace='tests.frameworks', category=Category.CAPACITY, message='Too many users.'
):
    retry_after: float


CHALLENGES = 'Bearer realm="users", Basic realm="users"'
ADAPTER = (
    on(Missing).responds(404, 'USER_NOT_FOUND')
    | on(LoggedOut).responds(401, 'LOGGED_OUT', headers={'WWW-Authenticate': CHALLENGES})
    | on(Busy).responds(503, 'BUSY', headers={'Vary': 'Origin', 'Cache-Control': 'no-store'})
)


class Case(Struct, frozen=True):
    """A result, and the response for it."""

    result: Result[object, Missing | LoggedOut | Busy]
    status: int
    headers: Mapping[str, str] = {}
    data: object = None
    code: str | None = None


ENVELOPE_VARIES = 'Accept, Accept-Language'
CASES: Mapping[str, Case] = {
    'value': Case(Success({'name': 'ann'}), 200, data={'name': 'ann'}),
    'created': Case(
        Success(Created({'name': 'bob'}, location='/users/bob')),
        201,
        {'location': '/users/bob'},
        data={'name': 'bob'},
    ),
    'accepted': Case(Success(Accepted('job-1')), 202, data='job-1'),
    'no_content': Case(Success(NoContent()), 204),
    'missing': Case(Failure(Missing('eve')), 404, {'vary': ENVELOPE_VARIES}, code='USER_NOT_FOUND'),
    'logged_out': Case(
        Failure(LoggedOut()), 401, {'www-authenticate': CHALLENGES}, code='LOGGED_OUT'
    ),
    'busy': Case(
        Failure(Busy(1.5)),
        503,
        {
            'retry-after': '2',
            'vary': f'Origin, {ENVELOPE_VARIES}',
            'cache-control': 'no-store',
        },
        code='BUSY',
    ),
}


def check(name: str, status: int, headers: Mapping[str, str], body: bytes) -> None:
    """Compare a response to a request with the id `r-1`; header names are in lower case."""
    case = CASES[name]
    assert status == case.status
    assert headers['x-request-id'] == 'r-1'
    assert {key: headers.get(key) for key in case.headers} == case.headers
    if case.status == 204:
        assert body == b''
        return
    assert headers['content-type'] == 'application/json'
    assert headers['content-length'] == str(len(body))
    parsed: dict[str, Any] = json.loads(body)
    assert parsed['request_id'] == 'r-1'
    if case.code is None:
        assert parsed['data'] == case.data
    else:
        assert parsed['error']['code'] == case.code
