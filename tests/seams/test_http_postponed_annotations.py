"""Tests of handlers in a module with postponed annotations, which are strings at run time."""

from __future__ import annotations

from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from pydantic import BaseModel

from seamwise import Category, Do, Failure, Result, Success, TaggedError, fallible
from seamwise.seams.http import Created, install, on


class Gone(
    TaggedError,
    namespace='test_http_postponed_annotations',
    category=Category.NOT_FOUND,
    message='Gone.',
):
    pass


class Order(BaseModel):
    number: int


def returned(number: int) -> Result[Order, Gone]:
    return Success(Order(number=number)) if number else Failure(Gone())


@fallible
def direct(do: Do[Gone], number: int) -> Order:
    return do(returned(number))


@fallible
async def direct_async(do: Do[Gone], number: int) -> Order:
    return do(returned(number))


@fallible
def created(do: Do[Gone], number: int) -> Created[Order]:
    return Created(do(returned(number)))


@fallible
def several(do: Do[Gone], number: int) -> list[Order]:
    return [do(returned(number))]


@pytest.mark.parametrize('handler', [returned, direct, direct_async, created, several])
def test_a_handler_with_postponed_annotations_is_answered_and_documented(handler: Any) -> None:
    app = FastAPI()
    install(app, on(Gone).responds(404, 'GONE'))
    app.get('/orders')(handler)
    with TestClient(app) as client:
        answer = client.get('/orders', params={'number': 7})
        assert answer.is_success
        data = answer.json()['data']
        assert data == ([{'number': 7}] if handler is several else {'number': 7})
        assert client.get('/orders', params={'number': 0}).json()['error']['code'] == 'GONE'
    responses = app.openapi()['paths']['/orders']['get']['responses']
    assert {'404', '201' if handler is created else '200'} <= responses.keys()
    assert 'Order' in app.openapi()['components']['schemas']
