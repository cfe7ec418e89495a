"""Applications with the middleware that everybody has, for tests with real servers."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

from fastapi import FastAPI, Request, Response, UploadFile
from starlette.middleware import Middleware
from starlette.middleware.base import BaseHTTPMiddleware
from starlette.middleware.cors import CORSMiddleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.responses import StreamingResponse
from starlette.routing import Mount

from seamwise import Category, Failure, Result, Success, TaggedError, or_raise
from seamwise.seams.http import install, on

ORIGIN = 'https://shop.example.org'
ROW = 'a,b\n' * 50


class Torn(TaggedError, namespace='middleware_apps', category=Category.NOT_FOUND, message='Torn.'):
    pass


TABLE = on(Torn).responds(404, 'TORN')


def tear() -> Result[str, Torn]:
    return Failure(Torn())


async def whole() -> AsyncIterator[str]:
    yield ROW
    yield ROW


async def torn() -> AsyncIterator[str]:
    yield ROW
    or_raise(tear())


def torn_in_a_thread() -> Iterator[str]:
    yield ROW
    or_raise(tear())


async def broken() -> AsyncIterator[str]:
    yield ROW
    raise ZeroDivisionError


async def torn_events() -> AsyncIterator[str]:
    yield 'data: 1\n\n'
    or_raise(tear())


async def broken_events() -> AsyncIterator[str]:
    yield 'data: 1\n\n'
    raise ZeroDivisionError


async def torn_at_once() -> AsyncIterator[str]:
    or_raise(tear())
    yield ROW


async def broken_at_once() -> AsyncIterator[str]:
    yield ROW[:0]
    raise ZeroDivisionError


async def endless() -> AsyncIterator[str]:
    while True:
        yield ROW
        await asyncio.sleep(0.01)


STREAMS: dict[str, tuple[Callable[[], Any], str]] = {
    '/whole': (whole, 'text/csv'),
    '/torn': (torn, 'text/csv'),
    '/torn-in-a-thread': (torn_in_a_thread, 'text/csv'),
    '/broken': (broken, 'text/csv'),
    '/events': (torn_events, 'text/event-stream'),
    '/broken-events': (broken_events, 'text/event-stream'),
    '/torn-at-once': (torn_at_once, 'text/csv'),
    '/broken-at-once': (broken_at_once, 'text/csv'),
    '/endless': (endless, 'text/csv'),
}


def add_routes(app: FastAPI) -> None:
    """Add a route for each end that a request can have."""

    def route(generator: Callable[[], Any], media_type: str) -> Callable[[], Response]:
        return lambda: StreamingResponse(generator(), media_type=media_type)

    for path, (generator, media_type) in STREAMS.items():
        app.add_api_route(path, route(generator, media_type))

    @app.get('/success')
    async def success() -> Result[str, Torn]:
        return Success(ROW)

    @app.get('/failure')
    def failure() -> Result[str, Torn]:
        return tear()

    @app.get('/defect')
    async def defect() -> Result[str, Torn]:
        raise ZeroDivisionError

    @app.get('/defect-in-a-thread')
    def defect_in_a_thread() -> Result[str, Torn]:
        raise ZeroDivisionError

    @app.post('/upload')
    async def upload(request: Request) -> int:
        return len(await request.body())

    @app.post('/upload-model')
    async def upload_model(rows: list[int]) -> int:
        return len(rows)

    @app.post('/upload-file')
    async def upload_file(file: UploadFile) -> int:
        return len(await file.read())


async def through(request: Request, call_next: Any) -> Response:
    """Pass a request on, as a function under `@app.middleware('http')` does."""
    response: Response = await call_next(request)
    response.headers['x-through'] = '1'
    return response


class Plain:
    """Middleware of plain ASGI that passes everything on."""

    def __init__(self, app: Any) -> None:
        self._app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        await self._app(scope, receive, send)


def create_app(*middleware: str) -> FastAPI:
    """Return an application; the last middleware is the outermost."""
    app = FastAPI()
    install(app, TABLE)
    for name in middleware:
        if name == 'function':
            app.middleware('http')(through)
        elif name == 'gzip':
            app.add_middleware(GZipMiddleware, minimum_size=1)
        elif name == 'plain':
            app.add_middleware(Plain)
        else:
            app.add_middleware(CORSMiddleware, allow_origins=[ORIGIN])
    add_routes(app)
    return app


def mounting(inner: FastAPI) -> FastAPI:
    """Return an application with a middleware function that mounts another one."""
    outer = FastAPI()
    install(outer, TABLE)
    outer.middleware('http')(through)
    outer.mount('', inner)
    return outer


def behind(inner: FastAPI) -> FastAPI:
    """Return an application that mounts another one, with a middleware function of the mount."""
    outer = FastAPI()
    install(outer, TABLE)
    middleware = [Middleware(BaseHTTPMiddleware, dispatch=through)]
    outer.router.routes.append(Mount('', inner, middleware=middleware))
    return outer


none = create_app()
plain = create_app('plain')
function = create_app('function')
two_functions = create_app('function', 'function')
gzip = create_app('gzip')
cors = create_app('cors')
function_in_gzip = create_app('function', 'gzip')
gzip_in_function = create_app('gzip', 'function')
everything = create_app('cors', 'function', 'gzip', 'function')
mounted = mounting(create_app())
mounted_with_all = mounting(create_app('function', 'gzip', 'cors'))
mounted_behind_function = behind(create_app())

NAMES = [
    'none',
    'plain',
    'function',
    'two_functions',
    'gzip',
    'cors',
    'function_in_gzip',
    'gzip_in_function',
    'everything',
    'mounted',
    'mounted_with_all',
    'mounted_behind_function',
]
