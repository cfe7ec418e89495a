"""Tests of the shortest complete program: three services, and a function for each seam."""

import io
import subprocess
import sys
from pathlib import Path

import pytest
from examples.order.loans import LimitReached, NoReader, loan, to_cli, to_http, to_session
from fastapi import FastAPI
from fastapi.testclient import TestClient

from seamwise import Failure, Result, Success, TaggedError
from seamwise.seams import cli, http, session
from seamwise.testing import assert_covers

ROOT = Path(__file__).parents[2]
PROGRAM = ROOT / 'examples' / 'order' / 'loans.py'
MAX_LINES = 60


class Chat:
    """A chat in English."""

    locale = 'en'
    session_id = 's-1'

    def __init__(self) -> None:
        self.events: list[session.ErrorEvent] = []

    def send(self, event: session.ErrorEvent, /) -> None:
        """Keep an event."""
        self.events.append(event)


@pytest.mark.requirement('order-10')
def test_the_program_is_short() -> None:
    assert len(PROGRAM.read_text(encoding='utf-8').splitlines()) <= MAX_LINES


@pytest.mark.requirement('order-08')
def test_each_function_covers_the_errors_of_the_service() -> None:
    for function in (to_cli, to_http, to_session):
        assert_covers(function, NoReader | LimitReached)


@pytest.mark.requirement('order-04')
def test_the_terminal_shows_a_failure() -> None:
    stderr = io.StringIO()
    assert cli.report(loan(2, 'Emma'), to_cli, stdout=io.StringIO(), stderr=stderr) == 66
    assert stderr.getvalue() == 'There is no reader 2.\nhint: list the readers.\n'


@pytest.mark.requirement('order-05')
def test_a_route_answers_and_documents_the_failures() -> None:
    app = FastAPI()
    http.install(app, to_http)

    @app.post('/loans/{number}')
    async def post(number: int, title: str = '') -> Result[str, NoReader | LimitReached]:
        return loan(number, title)

    client = TestClient(app)
    assert client.post('/loans/1?title=Emma').json()['data'] == 'Emma for Ada'
    error = client.post('/loans/1').json()['error']
    assert (error['code'], error['details']) == ('LIMIT_REACHED', {'name': 'Ada', 'books': 5})
    responses = app.openapi()['paths']['/loans/{number}']['post']['responses']
    assert [*responses] == ['200', '400', '404', '409']


@pytest.mark.parametrize(('number', 'event'), [(1, 'error.resource'), (2, 'error.validation')])
@pytest.mark.requirement('order-06')
def test_a_chat_gets_an_event_with_all_metadata(number: int, event: str) -> None:
    chat = Chat()
    session.publish(loan(number, ''), chat, adapter=to_session)
    [sent] = chat.events
    assert sent.event == event
    assert {'error_code', 'error_type', 'timestamp', 'recovery_strategy'} <= sent.metadata.keys()


@pytest.mark.requirement('order-01', 'order-02', 'order-03', 'order-07')
def test_a_success_passes_each_seam() -> None:
    assert loan(1, 'Emma') == Success('Emma for Ada')
    error: TaggedError = NoReader(2)
    assert loan(2, 'Emma') == Failure(error)


@pytest.mark.nightly
@pytest.mark.requirement('order-09')
def test_four_type_checkers_find_a_missing_arm(tmp_path: Path) -> None:
    program = PROGRAM.read_text(encoding='utf-8')
    (tmp_path / 'complete.py').write_text(program, encoding='utf-8')
    for name, function in (('cli', to_cli), ('http', to_http), ('session', to_session)):
        head, separator, body = program.partition(f'def {function.__name__}')
        start, end = body.index('        case LimitReached'), body.index('    assert_never')
        # pyright also reports a `match` that is not exhaustive.
        before = body[:start].replace('match error:', 'match error:  # may[pyright]: error')
        after = body[end:].replace('(error)', '(error)  # want: error, an arm is missing', 1)
        (tmp_path / f'without_{name}.py').write_text(
            head + separator + before + after, encoding='utf-8'
        )
    command = [sys.executable, str(ROOT / 'tests' / 'typing_check.py'), '--site', sys.executable]
    run = subprocess.run(
        [*command, '--cases', str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stdout + run.stderr
