"""Requests to FastAPI in process: `install` and `endpoint`, and FastAPI by itself."""

import asyncio
import logging
import os
from collections.abc import Awaitable, Callable, MutableMapping
from datetime import UTC, datetime
from time import perf_counter_ns
from typing import Any, TypeAlias
from uuid import uuid4

from fastapi import FastAPI, Request, Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel

from benchmarks.http_bodies import Envelope, ErrorBody
from benchmarks.measure import Comparison, Timer
from seamwise import Category, Failure, Result, Success, TaggedError
from seamwise.seams.http import endpoint, envelope, install, on

_Message: TypeAlias = MutableMapping[str, Any]
_App: TypeAlias = Callable[
    [_Message, Callable[[], Awaitable[_Message]], Callable[[_Message], Awaitable[None]]],
    Awaitable[None],
]


class _NoteMissing(
    TaggedError,
    namespace='benchmarks_api',
    category=Category.NOT_FOUND,
    message='There is no note {name!r} of {owner}.',
):
    name: str
    owner: str


class _NoteMissingError(Exception):
    def __init__(self, name: str, owner: str) -> None:
        super().__init__(name, owner)
        self.name = name
        self.owner = owner


def _ours() -> FastAPI:
    app = FastAPI()

    @app.get('/notes/{owner}/{name}')
    @endpoint(on(_NoteMissing).responds(404, 'NOTE_NOT_FOUND'))
    async def show(owner: str, name: str) -> Result[str, _NoteMissing]:
        return Failure(_NoteMissing(name, owner))

    return app


class _Note(BaseModel):
    owner: str
    name: str
    text: str = 'milk, eggs, bread'


def installed(log: logging.Logger | None = None) -> FastAPI:
    """Return an application whose route answers both a success and a failure."""
    app = FastAPI()
    install(app, on(_NoteMissing).responds(404, 'NOTE_NOT_FOUND'), body=envelope, log=log)

    @app.get('/notes/{owner}/{name}')
    async def show(owner: str, name: str) -> Result[_Note, _NoteMissing]:
        if name == 'shopping':
            return Failure(_NoteMissing(name, owner))
        return Success(_Note(owner=owner, name=name))

    return app


class _NoteEnvelope(BaseModel):
    success: bool = True
    data: _Note
    timestamp: datetime
    request_id: str


def plain() -> FastAPI:
    """Return an application that answers as `installed` does, with a model of the envelope."""
    app = FastAPI()

    @app.get('/notes/{owner}/{name}')
    async def show(owner: str, name: str, request: Request, response: Response) -> _NoteEnvelope:
        request_id = request.headers.get('x-request-id') or f'req-{uuid4().hex}'
        response.headers['x-request-id'] = request_id
        note = _Note(owner=owner, name=name)
        return _NoteEnvelope(data=note, timestamp=datetime.now(UTC), request_id=request_id)

    return app


def _bare() -> FastAPI:
    app = FastAPI()

    @app.get('/notes/{owner}/{name}')
    async def show(owner: str, name: str) -> _Note:
        return _Note(owner=owner, name=name)

    return app


def enabled_log(name: str) -> logging.Logger:
    """Return a logger whose records are formatted and written, to nowhere."""
    logger = logging.Logger(name, logging.INFO)  # noqa: LOG001 -- not in the hierarchy
    logger.addHandler(logging.FileHandler(os.devnull))
    return logger


def raising(
    content: Callable[[_NoteMissingError, str], Any], log: logging.Logger | None = None
) -> FastAPI:
    """Return an application that answers as `installed` does, with an exception handler."""
    app = FastAPI()

    @app.get('/notes/{owner}/{name}')
    async def show(owner: str, name: str) -> str:
        raise _NoteMissingError(name, owner)

    @app.exception_handler(_NoteMissingError)
    async def respond(request: Request, error: _NoteMissingError) -> JSONResponse:
        request_id = request.headers.get('x-request-id') or f'req-{uuid4().hex}'
        if log is not None:
            log.info(
                '%s %s failed: There is no note %r of %s. (_NoteMissing)',
                request.method,
                request.scope['route'].path,
                error.name,
                error.owner,
                extra={
                    'error_type': '_NoteMissing',
                    'fields': {'name': error.name, 'owner': error.owner},
                    'request_id': request_id,
                    'status': 404,
                },
            )
        return JSONResponse(
            content(error, request_id), 404, {'x-request-id': request_id, 'vary': 'Accept'}
        )

    return app


def _pydantic_content(error: _NoteMissingError, request_id: str) -> Any:
    body = ErrorBody(
        code='NOTE_NOT_FOUND',
        type='_NoteMissing',
        message=f'There is no note {error.name!r} of {error.owner}.',
        details={'name': error.name, 'owner': error.owner},
        retryable=False,
    )
    return Envelope(error=body, timestamp=datetime.now(UTC), request_id=request_id).model_dump(
        mode='json', exclude_none=True
    )


def dict_content(error: _NoteMissingError, request_id: str) -> Any:
    """Return the body of the answer to an error."""
    body = {
        'code': 'NOTE_NOT_FOUND',
        'type': '_NoteMissing',
        'message': f'There is no note {error.name!r} of {error.owner}.',
        'details': {'name': error.name, 'owner': error.owner},
        'retryable': False,
    }
    timestamp = datetime.now(UTC).isoformat().replace('+00:00', 'Z')
    return {'success': False, 'error': body, 'timestamp': timestamp, 'request_id': request_id}


_SCOPE: _Message = {
    'type': 'http',
    'asgi': {'version': '3.0', 'spec_version': '2.3'},
    'http_version': '1.1',
    'method': 'GET',
    'scheme': 'http',
    'path': '/notes/ann/shopping',
    'raw_path': b'/notes/ann/shopping',
    'query_string': b'',
    'root_path': '',
    'headers': [
        (b'host', b'test'),
        (b'accept', b'*/*'),
        (b'user-agent', b'test'),
        (b'x-request-id', b'req-5475ee48251c4356'),
    ],
    'client': ('127.0.0.1', 1),
    'server': ('127.0.0.1', 80),
}


async def _receive() -> _Message:
    return {'type': 'http.request', 'body': b'', 'more_body': False}


async def _send(message: _Message) -> None:
    assert message.get('status', 404) in {200, 404}


def _timer(app: _App, path: str = '/notes/ann/shopping') -> Timer:
    scope = {**_SCOPE, 'path': path, 'raw_path': path.encode()}

    async def run(times: int) -> int:
        start = perf_counter_ns()
        for _ in range(times):
            await app(dict(scope), _receive, _send)
        return perf_counter_ns() - start

    asyncio.run(run(10))  # The first request builds the middleware stack.
    return lambda times: asyncio.run(run(times))


_JOB = 'a failing request to FastAPI, through `endpoint`'
_BECAUSE = 'ours also logs each failure once, and searches for secrets'

COMPARISONS = (
    Comparison(
        job='a success of FastAPI, through `install`, in the envelope',
        peer='a FastAPI handler that returns the same envelope as a model',
        ours=_timer(installed(), '/notes/ann/party'),
        theirs=_timer(plain(), '/notes/ann/party'),
        target=1.1,
        because='of the middleware that answers defects, and the envelope around the JSON',
    ),
    Comparison(
        job='a success of FastAPI, through `install`, in the envelope',
        peer='a FastAPI handler that returns the value alone',
        ours=_timer(installed(), '/notes/ann/party'),
        theirs=_timer(_bare(), '/notes/ann/party'),
        target=1.15,
        because='of the middleware that answers defects, and the envelope around the JSON',
    ),
    Comparison(
        job='a failing request to FastAPI, through `install`',
        peer="FastAPI's exception handler, the same body as a dict",
        ours=_timer(installed()),
        theirs=_timer(raising(dict_content)),
        target=1.0,
        because=_BECAUSE,
    ),
    Comparison(
        job='a failing request to FastAPI, through `install`, with one record of an enabled log',
        peer="FastAPI's exception handler, the same body as a dict and the same record",
        ours=_timer(installed(enabled_log('ours'))),
        theirs=_timer(raising(dict_content, enabled_log('theirs'))),
        target=1.0,
        because='of the middleware that answers defects',
    ),
    Comparison(
        job=_JOB,
        peer="through FastAPI's exception handler, the same body of pydantic models",
        ours=_timer(_ours()),
        theirs=_timer(raising(_pydantic_content)),
        target=0.9,
        because=_BECAUSE,
    ),
    Comparison(
        job=_JOB,
        peer="through FastAPI's exception handler, the same body of bare dicts",
        ours=_timer(_ours()),
        theirs=_timer(raising(dict_content)),
        target=0.9,
        because=_BECAUSE,
    ),
)
