"""Application for the tests of real servers, which start it in a process of its own."""

import asyncio
from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import Depends, FastAPI, WebSocket
from fastapi.sse import EventSourceResponse

from seamwise import Category, Failure, Result, Success, TaggedError, or_raise
from seamwise.seams.http import install, on
from tests.strategies import PLANTED


class Gone(
    TaggedError, namespace='http_service', category=Category.NOT_FOUND, message='No {name!r}.'
):
    name: str


app = FastAPI(max_body_size=1000)
install(app, on(Gone).responds(404, 'GONE'))


def find(name: str) -> Result[str, Gone]:
    return Failure(Gone(name)) if name == 'nobody' else Success(name)


@app.get('/users/{name}')
async def show(user: Annotated[str, Depends(find)]) -> Result[str, Gone]:
    return Success(user)


@app.post('/numbers')
def add(numbers: list[int]) -> Result[int, Gone]:
    return Success(sum(numbers))


@app.get('/defect')
async def defect() -> Result[str, Gone]:
    raise ValueError(f'password={PLANTED}')


@app.get('/events', response_class=EventSourceResponse)
async def events() -> AsyncIterator[str]:
    yield 'first'
    await asyncio.sleep(0.05)
    yield or_raise(find('nobody'))


@app.websocket('/talk')
async def talk(socket: WebSocket) -> None:
    await socket.accept()
    await socket.send_text(or_raise(find('ada')))
    or_raise(find('nobody'))


@app.websocket('/refused')
async def refused(socket: WebSocket) -> None:
    or_raise(find('nobody'))
