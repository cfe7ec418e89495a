"""Tests of plain functions in place of adapters: what is learnt of them, at every seam."""

import io
from collections.abc import Callable, Sequence
from functools import partial
from inspect import Parameter, Signature
from typing import TYPE_CHECKING, Any, TypeAlias, assert_never

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from starlette.applications import Starlette
from starlette.routing import Route

from seamwise import Category, Failure, Raised, Result, Secret, Success, TaggedError
from seamwise._runtime.samples import sample_error
from seamwise.catalog.storage import RecordNotFound
from seamwise.documents.tables import read_tables
from seamwise.seams import cli, http, jsonrpc, model, planner, session
from seamwise.seams.adapter import Adapter
from seamwise.seams.cli.on import CliArm
from seamwise.seams.http.on import HttpArm
from seamwise.seams.session.on import SessionArm
from seamwise.toolhost import ToolOutcome
from tests.seams.test_http_decoding import TABLES

if TYPE_CHECKING:
    from tests.seams.missing import Missing  # type: ignore[import-not-found]


class BookLost(
    TaggedError, namespace='functions', category=Category.NOT_FOUND, message='{isbn!r} is lost.'
):
    """The book is lost."""

    isbn: str
    shelf: int | None = None
    card: Secret[str] = Secret('none')


class DeskClosed(
    TaggedError, namespace='functions', category=Category.CAPACITY, message='It is closed.'
):
    """The desk is closed."""

    retry_after: float | None = None


class Picky(TaggedError, namespace='functions', category=Category.CONFLICT, message='{n}'):
    """A class that allows no example."""

    n: int

    def __post_init__(self) -> None:
        """Refuse the values of examples."""
        if self.n < 100:
            raise ValueError('too small')


LoanError: TypeAlias = BookLost | DeskClosed


def to_http(error: LoanError) -> http.HttpError:
    match error:
        case BookLost():
            return http.HttpError.of(error, 404, 'BOOK_LOST', docs='https://example.org/lost')
        case DeskClosed():
            return http.HttpError.of(error, 503, 'DESK_CLOSED')
        case _:
            assert_never(error)


def to_cli(error: LoanError) -> cli.Rendered:
    match error:
        case BookLost():
            return cli.Rendered.of(error, exit_code=66, hint='look behind the shelf.')
        case DeskClosed():
            return cli.Rendered.of(error, exit_code=75)
        case _:
            assert_never(error)


def to_session(error: LoanError) -> session.ErrorEvent:
    match error:
        case BookLost(isbn):
            return session.ErrorEvent.of(error, 'error.validation', 'ERR_BOOK_001', isbn=isbn)
        case DeskClosed():
            return session.ErrorEvent.of(error, 'error.transient', 'ERR_DESK_001')
        case _:
            assert_never(error)


HTTP = http.on(BookLost).responds(404, 'BOOK_LOST', docs='https://example.org/lost') | http.on(
    DeskClosed
).responds(503, 'DESK_CLOSED')
CLI = cli.on(BookLost).exits(66, hint='look behind the shelf.') | cli.on(DeskClosed).exits(75)
SESSION = session.on(BookLost).publishes(
    'error.validation', 'ERR_BOOK_001', isbn=lambda error: error.isbn
) | session.on(DeskClosed).publishes('error.transient', 'ERR_DESK_001')

ERRORS = [
    BookLost('123'),
    BookLost('postgres://ann:hunter2@db/x', 3, Secret('s')),
    DeskClosed(),
    DeskClosed(2.5),
]


def with_annotation(function: Callable[[Any], Any], annotation: object) -> Any:
    def annotated(error: Any) -> Any:
        return function(error)

    parameter = Parameter('error', Parameter.POSITIONAL_OR_KEYWORD, annotation=annotation)
    annotated.__signature__ = Signature([parameter])  # type: ignore[attr-defined]  # pyright: ignore[reportFunctionMemberAccess]
    return annotated


# Constructors


@pytest.mark.parametrize('error', ERRORS, ids=repr)
def test_a_constructor_fills_what_an_arm_fills(error: LoanError) -> None:
    assert to_http(error) == HTTP(error)
    assert to_cli(error) == CLI(error)
    assert to_session(error) == SESSION(error)


def test_options_of_a_constructor_are_those_of_an_arm() -> None:
    error = BookLost('123', 3)
    problems = [http.ProblemLocation('/isbn', 'unknown', 'query')]
    arm = http.on(BookLost).responds(
        401, 'LOST', details=('shelf',), headers={'x-shelf': '3'}, problems=lambda _: problems
    )
    assert arm(error) == http.HttpError.of(
        error, 401, 'LOST', details=['shelf'], headers={'x-shelf': '3'}, problems=problems
    )
    assert arm(error).problems == tuple(problems)
    own = http.HttpError.of(error, 404, 'LOST', details={'place': 'x', 'none': None})
    assert own.details == {'place': 'x'}
    text = cli.Rendered.of(
        error, exit_code=1, hint=['a', 'b'], lookup=('catlog', ['catalog', 'x'])
    ).text
    assert text.split('\n')[1:] == ['hint: a', 'hint: b', "did you mean 'catalog'?"]


def test_a_constructor_refuses_what_an_arm_refuses() -> None:
    error = BookLost('123')
    with pytest.raises(ValueError, match='from 400 to 599, not 302'):
        http.HttpError.of(error, 302, 'LOST')
    with pytest.raises(ValueError, match='header Allow'):
        http.HttpError.of(error, 405, 'LOST')
    with pytest.raises(ValueError, match="may contain isbn, shelf, not 'card'"):
        http.HttpError.of(error, 404, 'LOST', details=['card'])
    with pytest.raises(ValueError, match='must be 1 to 255, not 0'):
        cli.Rendered.of(error, exit_code=0)
    with pytest.raises(ValueError, match='code'):
        session.ErrorEvent.of(error, 'error.timeout', 'lost')


@pytest.mark.parametrize('table', TABLES, ids=lambda table: table.kinds[0].__name__)
def test_a_constructor_equals_a_plain_arm_for_the_whole_catalogue(table: Any) -> None:
    for kind in table.kinds:
        error = sample_error(kind)
        for status in (400, 503):
            arm: HttpArm[Any] = HttpArm(status, 'CODE')
            assert http.HttpError.of(error, status, 'CODE') == arm(error)
        text: CliArm[Any] = CliArm(1)
        event: SessionArm[Any] = SessionArm('error.timeout', 'ERR_X_001')
        assert cli.Rendered.of(error, exit_code=1) == text(error)
        assert session.ErrorEvent.of(error, 'error.timeout', 'ERR_X_001') == event(error)


# Documents


@pytest.mark.parametrize(
    'body', [http.negotiated, http.envelope, http.problem, http.bare, http.named, http.tagged]
)
def test_the_document_of_an_application_is_that_of_the_table(body: Any) -> None:
    documents: list[dict[str, Any]] = []
    for adapter in (HTTP, to_http):
        app = FastAPI()
        http.install(app, adapter, body=body)

        @app.get('/loans/{number}')
        async def loan(number: int) -> Result[str, BookLost | DeskClosed]:
            return Failure(BookLost(str(number)))

        documents.append(app.openapi())
    assert documents[0] == documents[1]
    responses = documents[1]['paths']['/loans/{number}']['get']['responses']
    assert [*responses] == ['200', '400', '404', '503']


@pytest.mark.parametrize('table', TABLES, ids=lambda table: table.kinds[0].__name__)
def test_a_function_of_the_catalogue_is_documented_as_its_table(table: Any) -> None:
    """An arm for the cause of an error has codes that no example shows."""
    declared: dict[Any, Any] = dict(table.arms)
    arms: dict[Any, Any] = {
        kind: arm
        for kind, arm in declared.items()
        if type(arm).__name__ == 'HttpArm' and not callable(arm.details)
    }
    functions = [with_annotation(arm, kind) for kind, arm in arms.items()]
    assert http.openapi(*functions) == http.openapi(Adapter(arms))


def test_a_detail_with_another_value_is_no_field_of_the_document() -> None:
    def upper(error: BookLost) -> http.HttpError:
        details = {'isbn': error.isbn.upper(), 'shelf': error.shelf}
        return http.HttpError.of(error, 404, 'BOOK_LOST', details=details)

    schema = str(http.openapi(upper)['404'])
    assert ("'shelf'" in schema, "'isbn'" in schema) == (True, False)


def test_a_table_of_documents_may_be_a_function() -> None:
    for function, seam in ((to_http, 'http'), (to_cli, 'cli'), (to_session, 'session')):
        [table] = read_tables('shop:function', function)
        assert (table.seam, table.adapter.kinds) == (seam, (BookLost, DeskClosed))


# Refused functions


def untyped(error):  # type: ignore[no-untyped-def]  # the case
    return to_http(error)  # pyright: ignore[reportUnknownArgumentType]


def of_every_error(error: TaggedError) -> http.HttpError:
    return http.HttpError.of(error, 500, 'ANY')


def of_exceptions(error: BookLost | ValueError) -> http.HttpError:
    return http.HttpError.bad_request(str(error))


def of_nothing() -> http.HttpError:
    return http.HttpError.unknown()


def of_two(error: BookLost, other: int) -> http.HttpError:
    return http.HttpError.of(error, other, 'LOST')


def for_checkers_only(error: 'Missing') -> http.HttpError:  # pyright: ignore[reportUnknownParameterType]
    return http.HttpError.of(error, 404, 'LOST')  # pyright: ignore[reportUnknownArgumentType]


def forgets_one(error: LoanError) -> http.HttpError:
    match error:
        case BookLost():
            return to_http(error)
        case _:
            assert_never(error)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


def of_another_seam(error: BookLost) -> cli.Rendered:
    return to_cli(error)


async def asynchronous(error: BookLost) -> http.HttpError:
    return to_http(error)


def of_picky(error: BookLost | Picky) -> http.HttpError:
    return http.HttpError.of(error, 409, 'PICKY')


REFUSED: list[tuple[Callable[..., object], str]] = [
    (untyped, 'untyped does not say which errors it takes'),
    (of_every_error, "of_every_error: Expected a class .* not <class '.*TaggedError'>"),
    (of_exceptions, "of_exceptions: Expected a class .* not <class 'ValueError'>"),
    (of_nothing, 'of_nothing takes no error'),
    (BookLost, r'BookLost is a class of errors, not a table: .* `on\(BookLost\)\.hidden\(\)`'),
    (KeyError, 'KeyError is a class of errors, not a table'),
    (of_two, 'of_two needs more arguments than the error'),
    (for_checkers_only, 'for_checkers_only contains a name that does not exist at run time'),
    (forgets_one, r'forgets_one raises for DeskClosed\(.*\), an example of DeskClosed: Asser'),
    (of_another_seam, 'returned Rendered instead of HttpError for an example of BookLost'),
    (asynchronous, 'returned coroutine instead of HttpError for an example'),
    (of_picky, r'an example of Picky: .*too small.* Replace this class by an arm: `Adapter\.of'),
]


@pytest.mark.parametrize(('function', 'message'), REFUSED)
def test_a_function_of_which_nothing_can_be_learnt_is_refused(function: Any, message: str) -> None:
    uses: list[Callable[[], object]] = [
        lambda: http.install(FastAPI(), function),
        lambda: http.endpoint(function),
        lambda: http.SafeErrors(FastAPI(), adapter=function),
    ]
    for use in uses:
        with pytest.raises(TypeError, match=message):
            use()


def test_a_class_without_an_example_gets_an_arm() -> None:
    adapter = Adapter.of(of_picky).but(http.on(Picky).responds(409, 'PICKY'))
    assert (
        http.openapi(adapter).keys()
        == http.openapi(
            http.on(Picky).responds(409, 'PICKY') | http.on(BookLost).responds(409, 'LOST')
        ).keys()
    )


def test_a_route_whose_error_is_not_in_the_annotation_is_refused() -> None:
    app = FastAPI()
    http.install(app, to_http)

    @app.get('/')
    async def show() -> Result[str, RecordNotFound]:
        return Failure(RecordNotFound('user', '7'))

    with pytest.raises(TypeError, match=r'GET /: the adapter has no arm for RecordNotFound'):
        app.openapi()


# Forms of functions


class Answers:
    """Functions of an object and of a class."""

    def method(self, error: LoanError) -> http.HttpError:
        return to_http(error)

    @classmethod
    def of_class(cls, error: LoanError) -> http.HttpError:
        return to_http(error)

    @staticmethod
    def static(error: LoanError) -> http.HttpError:
        return to_http(error)

    def __call__(self, error: 'BookLost | DeskClosed') -> http.HttpError:
        return to_http(error)


def with_option(status: int, error: LoanError) -> http.HttpError:
    return http.HttpError.of(error, status, 'LOST')


def with_default(error: LoanError, status: int = 404) -> http.HttpError:
    return http.HttpError.of(error, status, 'LOST')


@pytest.mark.parametrize(
    'function',
    [
        Answers().method,
        Answers.of_class,
        Answers.static,
        Answers(),
        partial(with_option, 404),
        with_default,
    ],
)
def test_every_form_of_function_is_an_adapter(function: Any) -> None:
    assert Adapter.of(function).kinds == (BookLost, DeskClosed)
    http.install(FastAPI(), function)


def test_an_adapter_is_itself() -> None:
    assert Adapter.of(HTTP) is HTTP


# Answers, logs and captured failures


def test_failures_that_functions_translate_are_captured(
    failures: Sequence[TaggedError], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level('INFO')
    error = BookLost('1')
    app = FastAPI()
    http.install(app, to_http)

    @app.get('/failed')
    async def failed() -> Result[str, BookLost]:
        return Failure(error)

    @app.get('/raised')
    async def raised() -> str:
        raise Raised(error)

    client = TestClient(app)
    assert [client.get(path).status_code for path in ('/failed', '/raised')] == [404, 404]
    assert [item.levelname for item in caplog.records if item.name == 'seamwise'] == [
        'INFO',
        'INFO',
    ]
    cli.report(Failure(error), to_cli, stdout=io.StringIO(), stderr=io.StringIO())
    model.tool_message(Failure(error), adapter=to_guidance, call_id='1')
    protocol = jsonrpc.Protocol.JSON_RPC
    jsonrpc.response(Failure(error), id=1, adapter=to_rpc, protocol=protocol, revision='2.0')
    session.event(error, adapter=to_session, locale='en')
    outcome: ToolOutcome[BookLost] = ToolOutcome(
        1, None, Failure(error), attempts=1, waited=0.0, duration=0.0
    )
    planner.classify(outcome, adapter=to_planner)
    assert failures == [error] * 7


def to_guidance(error: BookLost) -> model.Guidance:
    return model.Guidance(
        status='error', type='file_operation_error', error_class=error.tag, message=str(error)
    )


def to_planner(error: TaggedError) -> planner.ErrorInfo:
    code = planner.ErrorCode.TOOL_NOT_FOUND
    return planner.ErrorInfo(code, code.category, str(error), retryable=False)


def to_rpc(error: BookLost) -> jsonrpc.RpcError:
    return jsonrpc.RpcError(-32000, str(error))


def test_a_function_that_calls_a_table_is_captured_once(failures: Sequence[TaggedError]) -> None:
    def outer(error: LoanError) -> http.HttpError:
        return HTTP(error)

    Adapter.of(outer)(BookLost('1'))
    cli.report(
        Failure(BookLost('2')),
        with_annotation(CLI, BookLost),
        stdout=io.StringIO(),
        stderr=io.StringIO(),
    )
    assert failures == [BookLost('1'), BookLost('2')]


def test_a_handler_of_starlette_is_answered_by_a_function() -> None:
    @http.endpoint(to_http)
    async def handler(request: object) -> Result[str, BookLost]:
        return Failure(BookLost('1'))

    client = TestClient(Starlette(routes=[Route('/', handler)]))
    assert client.get('/').json()['error']['code'] == 'BOOK_LOST'


def test_a_raised_error_beyond_the_annotation_is_a_defect_of_a_command(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for error, code in ((BookLost('1'), 66), (RecordNotFound('user', '7'), 70)):

        def command(error: TaggedError = error) -> Success[None]:
            raise Raised(error)

        with pytest.raises(SystemExit) as end:
            cli.main(command, to_cli)
        assert end.value.code == code
    assert 'INTERNAL' in capsys.readouterr().err
