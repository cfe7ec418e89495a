"""Tests of `Accept-Language`: messages in the language of the client."""

import json
from http import HTTPStatus
from typing import Annotated, Any

import pytest
from fastapi import Body, FastAPI, HTTPException
from fastapi.testclient import TestClient
from hypothesis import given
from hypothesis import strategies as st

from seamwise import Failure, Result, message_of
from seamwise.catalog.storage import RecordNotFound
from seamwise.seams.http import bare, endpoint, install
from seamwise.seams.http.negotiation import locale_for
from seamwise.seams.http.serving.framework_errors import from_http_exception
from seamwise.seams.http.tables import STORAGE
from seamwise.seams.reporting.request_context import in_language

ERROR = RecordNotFound('user', 'u-17')
CHINESE = message_of(ERROR, 'zh_CN')


def application(body: Any = bare) -> FastAPI:
    app = FastAPI()
    install(app, STORAGE, body=body)

    @app.get('/')
    async def show() -> Result[str, RecordNotFound]:
        return Failure(ERROR)

    @app.get('/sync')
    def show_sync() -> Result[str, RecordNotFound]:
        return Failure(ERROR)

    return app


CLIENT = TestClient(application())


@pytest.mark.parametrize('path', ['/', '/sync'])
@pytest.mark.parametrize(
    ('header', 'message'),
    [
        ('zh-Hans-CN', CHINESE),
        ('zh-CN', CHINESE),
        ('zh', CHINESE),
        ('de, zh-CN;q=0.5, en;q=0.1', CHINESE),
        ('en, zh;q=0.5', message_of(ERROR)),
        ('zh;q=0, en', message_of(ERROR)),
        ('de', message_of(ERROR)),
        ('zh-TW', message_of(ERROR)),
        ('*', message_of(ERROR)),
        ('', message_of(ERROR)),
    ],
)
def test_the_message_is_in_the_language_of_the_client(path: str, header: str, message: str) -> None:
    answer = CLIENT.get(path, headers={'accept-language': header})
    assert answer.json()['detail'] == message
    assert 'Accept-Language' in answer.headers['vary']


def test_an_endpoint_alone_knows_the_language_too() -> None:
    app = FastAPI()

    @app.get('/')
    @endpoint(STORAGE)
    async def show() -> Result[str, RecordNotFound]:
        return Failure(ERROR)

    answer = TestClient(app).get('/', headers={'accept-language': 'zh-CN'})
    assert answer.json()['error']['message'] == CHINESE


def test_two_clients_get_two_languages() -> None:
    for header, message in [('zh-CN', CHINESE), ('en', message_of(ERROR)), ('zh-CN', CHINESE)]:
        answer = CLIENT.get('/', headers={'accept-language': header})
        assert answer.json()['detail'] == message


@given(
    st.text(st.characters(codec='latin-1'), max_size=60)
    | st.lists(st.sampled_from([*',;=-_*', 'q', '0.5', 'zh', 'en', 'nan', 'inf', '1e9'])).map(
        ''.join
    )
)
def test_any_header_has_a_locale(header: str) -> None:
    assert locale_for(header) in {'en', 'zh_CN'}


@pytest.mark.parametrize(
    'header', ['zh,' * 10_000, 'z' * 100_000, '-' * 900, 'zh;q=' + '9' * 900, 'zh-' * 300]
)
def test_a_hostile_header_is_ignored_quickly(header: str) -> None:
    answer = CLIENT.get('/', headers={'accept-language': header})
    assert answer.status_code == 404
    assert json.loads(answer.content)['detail']


def framework_application() -> FastAPI:
    app = FastAPI()
    install(app, STORAGE)

    @app.post('/own')
    async def own() -> None:
        raise HTTPException(409, 'My own text.')

    @app.post('/phrase')
    async def phrase() -> None:
        raise HTTPException(423)

    @app.post('/unknown')
    async def unknown() -> None:
        raise HTTPException(499, 'Status 499')

    @app.post('/defect')
    async def defect() -> None:
        raise ZeroDivisionError

    @app.post('/query')
    async def query(number: int) -> None: ...

    @app.post('/body')
    async def body(number: Annotated[int, Body()]) -> None: ...

    return app


@pytest.mark.parametrize(
    ('path', 'english', 'chinese'),
    [
        ('/nowhere', 'Not Found', '未找到'),
        ('/phrase', 'Locked', '已锁定'),
        ('/own', 'My own text.', 'My own text.'),
        ('/unknown', 'Status 499', 'Status 499'),
        ('/defect', 'The server met an unexpected condition.', '服务器遇到了意外情况。'),
        ('/query', 'The query of the request is not valid.', '请求的查询参数无效。'),
        ('/body', 'The body of the request is not valid.', '请求的正文无效。'),
    ],
)
def test_errors_of_the_framework_are_in_the_language_of_the_client(
    path: str, english: str, chinese: str
) -> None:
    client = TestClient(framework_application(), raise_server_exceptions=False)
    for header, message in [('zh', chinese), ('en', english), ('de', english)]:
        answer = client.post(path, headers={'accept-language': header})
        assert answer.json()['error']['message'] == message
        assert 'Accept-Language' in answer.headers['vary']


def test_a_method_that_is_not_allowed_is_refused_in_the_language_of_the_client() -> None:
    client = TestClient(framework_application())
    answer = client.get('/own', headers={'accept-language': 'zh'})
    assert answer.json()['error']['message'] == '不允许使用此方法'


def test_all_phrases_of_errors_are_translated() -> None:
    with in_language('zh_CN'):
        answers = {
            status.value: from_http_exception(status.value, None, None, {'type': 'http'}).message
            for status in HTTPStatus
            if status >= 400
        }
    # Not for the general public: WebDAV, HTCPCP and proxies.
    rare = {407, 418, 505, 506, 508, 510, 511}
    assert {status for status, text in answers.items() if text.isascii()} == rare
