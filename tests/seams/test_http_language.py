"""Tests of `Accept-Language`: messages in the language of the client."""

import json
from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from hypothesis import given
from hypothesis import strategies as st

from seamwise import Failure, Result, message_of
from seamwise.catalog.storage import RecordNotFound
from seamwise.seams.http import bare, endpoint, install
from seamwise.seams.http.negotiation import locale_for
from seamwise.seams.http.tables import STORAGE

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
