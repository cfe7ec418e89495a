"""Tools, an application and requests for the tests of the server."""

import json
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from starlette.testclient import TestClient

from seamwise import Failure, Result, Secret, Success
from seamwise.catalog.tools import FileNotFound, ToolError
from seamwise.toolhost import Processor, Tools, tool
from seamwise.toolhost.server import create_app
from seamwise.toolhost.server.access import Access, OwnHosts
from seamwise.toolhost.server.bodies import Limits

TOKEN = 'a-token-of-these-tests'  # noqa: S105
HOST = '127.0.0.1:8642'
HEADERS = {'authorization': f'Bearer {TOKEN}'}


@tool
async def echo(value: object) -> object:
    """Return a value."""
    return value


@tool
async def find(path: str) -> Result[str, FileNotFound]:
    """Find a file."""
    return Failure(FileNotFound('find', path, ('a.txt',))) if path != 'a.txt' else Success('one')


@tool
async def crash() -> int:
    """Raise an exception that is a bug."""
    raise KeyError('hunter2-in-a-bug')


@tool(validate=False)
async def unwritable() -> object:
    """Return a value without a JSON form."""
    return object()


TOOLS: Tools[ToolError] = echo | find | crash | unwritable


def access(*names: str, has_every_address: bool = False) -> Access:
    hosts = OwnHosts.of(names or ['127.0.0.1', 'localhost'], has_every_address=has_every_address)
    return Access(Secret(TOKEN), hosts)


@contextmanager
def serving(
    tools: Tools[ToolError] = TOOLS, *, limits: Limits | None = None, own: Access | None = None
) -> Generator[TestClient]:
    """Run the application, and yield a client with the token."""
    app = create_app(Processor(tools), access=own or access(), limits=limits)
    with TestClient(app, base_url=f'http://{HOST}', headers=HEADERS) as client:
        yield client


def outcomes(client: TestClient, output: object) -> list[dict[str, Any]]:
    """Post the output of a model, and return the outcomes."""
    response = client.post('/v1/calls', json=output)
    assert response.status_code == 200, response.text
    body = response.json()
    assert body['success'] is True
    data: list[dict[str, Any]] = body['data']
    return data


def call(name: str, **arguments: object) -> dict[str, object]:
    return {'tool': name, 'arguments': arguments}


def events(text: str) -> list[tuple[str, Any]]:
    """Parse server-sent events: their names and their data."""
    blocks = [block.split('\n') for block in text.split('\n\n') if block]
    return [
        (name.removeprefix('event: '), json.loads(data.removeprefix('data: ')))
        for name, data in blocks
    ]
