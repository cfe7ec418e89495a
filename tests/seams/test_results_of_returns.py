"""Tests of the seams that take a result: with one of `returns`, and with other values."""

import io
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from returns.result import Failure as ReturnsFailure
from returns.result import Success as ReturnsSuccess
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.routing import Route
from starlette.testclient import TestClient

from seamwise import Failure, Success
from seamwise.catalog.tools import FileNotFound
from seamwise.seams.cli import report
from seamwise.seams.cli.tables import TOOLS as CLI_TOOLS
from seamwise.seams.http import endpoint
from seamwise.seams.http.tables import TOOLS as HTTP_TOOLS
from seamwise.seams.jsonrpc import Protocol, response
from seamwise.seams.jsonrpc.tables import TOOLS as JSONRPC_TOOLS
from seamwise.seams.model import tool_message
from seamwise.seams.model.tables import TOOLS as MODEL_TOOLS
from seamwise.seams.session import publish
from seamwise.seams.session.tables import TOOLS as SESSION_TOOLS
from tests.seams.test_session import RecordingSession

ERROR = FileNotFound('read_file', 'src/app.py')


# `Any`: type checkers refuse the results of `returns` and the other values.


def by_endpoint(result: Any) -> object:
    def handler(_: Request) -> Any:
        return result

    app = Starlette(routes=[Route('/', endpoint(HTTP_TOOLS)(handler))])
    answer = TestClient(app).get('/', headers={'x-request-id': 'r-1'})
    body: dict[str, object] = answer.json()
    return answer.status_code, {key: body[key] for key in body.keys() - {'timestamp'}}


def by_publish(result: Any) -> object:
    session = RecordingSession()
    publish(result, session, adapter=SESSION_TOOLS, now=datetime(2026, 1, 1, tzinfo=UTC))
    return [event.metadata for event in session.sent]


def by_report(result: Any) -> object:
    stdout, stderr = io.StringIO(), io.StringIO()
    code = report(result, CLI_TOOLS, stdout=stdout, stderr=stderr)
    return code, stdout.getvalue(), stderr.getvalue()


def by_response(result: Any) -> object:
    adapter = JSONRPC_TOOLS[Protocol.JSON_RPC, '2.0']
    return response(result, id=1, adapter=adapter, protocol=Protocol.JSON_RPC, revision='2.0')


def by_tool_message(result: Any) -> object:
    return tool_message(result, adapter=MODEL_TOOLS, call_id='c-1')


SEAMS = [by_publish, by_report, by_response, by_tool_message]


@pytest.mark.parametrize('seam', [by_endpoint, *SEAMS])
def test_a_result_of_returns_is_shown_like_one_of_this_library(
    seam: Callable[[Any], object],
) -> None:
    assert seam(ReturnsSuccess({'bytes': 7})) == seam(Success({'bytes': 7}))
    assert seam(ReturnsFailure(ERROR)) == seam(Failure(ERROR))
    assert seam(Failure(ERROR)) != seam(Success({'bytes': 7}))


@pytest.mark.parametrize('seam', SEAMS)
@pytest.mark.parametrize('value', [None, 7, ERROR])
def test_any_other_value_raises_type_error(seam: Callable[[Any], object], value: object) -> None:
    with pytest.raises(TypeError, match='takes a Success or a Failure, not '):
        seam(value)
