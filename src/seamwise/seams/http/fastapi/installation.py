"""`install`: Results, failures and defects of a whole FastAPI or Starlette application."""

import sys
from collections.abc import Callable
from logging import Logger
from typing import TYPE_CHECKING, Any, TypeVar

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response

from seamwise.seams.http.asgi.outermost import Outermost
from seamwise.seams.http.asgi.safe_errors import SafeErrors
from seamwise.seams.http.bodies import Body, check_body
from seamwise.seams.http.fastapi.endpoints import written_response
from seamwise.seams.http.fastapi.user_functions import (
    convert_events,
    convert_sockets,
    mounted_applications,
    with_answering_functions,
    with_answers,
)
from seamwise.seams.http.negotiation import negotiated
from seamwise.seams.http.serving.exchange import Answers, App, as_table
from seamwise.seams.http.serving.framework_errors import from_http_exception
from seamwise.seams.http.shape import HttpError
from seamwise.seams.reporting.failure_log import FailureLog, failure_log

if TYPE_CHECKING:
    from fastapi import FastAPI
    from typing_extensions import TypeIs

E = TypeVar('E')

_FIRST_ERROR = 400
_BODY_LIMIT = 'starlette._body_limit_responder'
"""Key of Starlette's limit of the body in the scope."""


def install(
    app: Starlette,
    adapter: Callable[[E], HttpError],
    *,
    body: Body = negotiated,
    log: Logger | FailureLog | None = None,
) -> None:
    """Let an application answer Results, failures and defects in one form.

    In FastAPI, handlers and dependencies may return Results then: the value of a Success is
    what FastAPI gets, and a Failure ends the request. So may exception handlers, functions under
    `@app.middleware('http')`, and handlers of WebSockets; Failures of background tasks are logged.
    A `Raised` error that the adapter covers is a failure too. In Starlette, handlers of requests
    need `endpoint`.

    `HTTPException` and invalid requests are answered in the same form, unless the application has
    handlers of its own for them. Other exceptions are defects: they are recorded, answered with a
    reference, and raised again. An own handler for `Exception`, and `debug=True`, are kept.

    Call it once, before or after routes and other middleware are added. All other middleware is
    outside of it, so that errors get the headers of CORS and are compressed. The exceptions of that
    middleware are answered too, without its headers.

    >>> from fastapi import FastAPI
    >>> from seamwise import Failure, Result
    >>> from seamwise.catalog.storage import RecordNotFound
    >>> from seamwise.seams.http.tables import STORAGE
    >>> app = FastAPI()
    >>> install(app, STORAGE)
    >>> @app.get('/users/{name}')
    ... async def show(name: str) -> Result[str, RecordNotFound]:
    ...     return Failure(RecordNotFound('user', name))

    Args:
        app: The application.
        adapter: Adapter or function from the errors of all handlers to an `HttpError`. The
            annotation of a function says which errors it covers. It is called once with an example
            of each class, for the document of the application.
        body: Body format; by default it follows the `Accept` header of the request.
        log: Logger or `FailureLog` of failures and defects; by default the logger `seamwise`.

    Raises:
        TypeError: An argument has the wrong type, a function is not annotated or raises for an
            example, or a handler is declared to return an error that the adapter does not cover.
            For routes that are added later, that fails the start of the application. So does an
            error with a field whose type only type checkers know, if the application has a
            document.
        RuntimeError: It was called for this application before, or the application has started.
    """
    if not isinstance(app, Starlette):
        raise TypeError(
            f'install takes an application of FastAPI or Starlette, not {type(app).__name__}. '
            'Wrap other ASGI applications in SafeErrors.'
        )
    if not callable(adapter):
        raise TypeError(
            f'install takes an adapter, such as `on(NotFound).responds(404, …)`, not {adapter!r}.'
        )
    check_body(body)
    if any(isinstance(item.cls, _Installation) for item in app.user_middleware):
        raise RuntimeError('`install` was called for this application before.')
    if app.middleware_stack is not None:
        raise RuntimeError('The application has started already; call `install` before.')
    installation = _Installation(app, Answers(as_table(adapter), body, failure_log(log)))
    # `add_middleware` inserts at the front, so the last one stays inside of all others.
    app.user_middleware.append(Middleware(installation))
    installation.add_handlers()
    installation.add_documents()
    installation.prepare_routes()
    installation.extend_stack()


class _Installation:
    """Factory of the middleware that `install` adds to one application; Starlette calls it."""

    def __init__(self, app: Starlette, answers: Answers) -> None:
        self._app = app
        self._answers = answers

    def __call__(self, app: App) -> SafeErrors:
        """Return the middleware, when the application starts."""
        return SafeErrors(
            app,
            log=self._answers.log,
            body=self._answers.body,
            adapter=self._answers.adapter,
            is_answering=self._is_answering(),
        )

    def _is_answering(self) -> bool:
        handlers = self._app.exception_handlers
        return not (self._app.debug or Exception in handlers or 500 in handlers)  # noqa: PLR2004 -- as Starlette

    def add_handlers(self) -> None:
        """Add handlers for the exceptions of the framework that the application does not handle."""
        handlers: dict[Any, Any] = self._app.exception_handlers
        self._default: Any = handlers.get(HTTPException)
        if self._default is None or self._default.__module__ == 'fastapi.exception_handlers':
            handlers[HTTPException] = self._http_exception
        if _is_fastapi(self._app):
            from seamwise.seams.http.fastapi.additions import (  # noqa: PLC0415 -- FastAPI is optional
                add_validation_handlers,
            )

            add_validation_handlers(self._app, self._answers)

    def add_documents(self) -> None:
        """Add the errors of routes to the OpenAPI document of FastAPI."""
        if _is_fastapi(self._app):
            from seamwise.seams.http.fastapi.additions import (  # noqa: PLC0415 -- FastAPI is optional
                document_errors,
            )

            document_errors(self._app, self._answers)

    def prepare_routes(self) -> None:
        """Let the routes of FastAPI answer Results, and check that the adapter covers them."""
        if _is_fastapi(self._app):
            from seamwise.seams.http.fastapi.additions import (  # noqa: PLC0415 -- FastAPI is optional
                prepare_routes,
            )

            prepare_routes(self._app, self._answers)
        convert_sockets(self._app.routes)

    def extend_stack(self) -> None:
        """Convert the functions of users, and add the outermost middleware, at the start."""
        app = self._app
        build = app.build_middleware_stack

        def build_middleware_stack() -> App:
            # Tools that rebuild the stack must not find the additions in the lists of users.
            handlers, middleware = app.exception_handlers, app.user_middleware
            problem: TypeError | None = None
            try:
                self.check()
                convert_events(app)
                app.exception_handlers = with_answers(handlers, self._answers)
                app.user_middleware = [*with_answering_functions(middleware, self._answers)]
            except TypeError as error:
                problem = error
            if problem or len(middleware) > 1:
                # Starlette's `ServerErrorMiddleware` stays outside: OpenTelemetry looks for it.
                app.user_middleware = [
                    Middleware(
                        Outermost,
                        answers=self._answers,
                        is_answering=self._is_answering(),
                        problem=problem,
                    ),
                    *app.user_middleware,
                ]
            try:
                return build()
            finally:
                app.exception_handlers, app.user_middleware = handlers, middleware

        app.build_middleware_stack = build_middleware_stack  # type: ignore[method-assign]  # called once, at the start

    def check(self) -> None:
        """Check the routes of the application, when all modules have been imported.

        Mounted applications are checked too: Starlette never runs their own start.
        """
        self.prepare_routes()
        self._check_types()
        for app in mounted_applications(self._app.routes):
            factories: list[Any] = [item.cls for item in app.user_middleware]
            for factory in factories:
                if isinstance(factory, _Installation):
                    factory.check()

    def _check_types(self) -> None:
        if _is_fastapi(self._app):
            from seamwise.seams.http.fastapi.additions import (  # noqa: PLC0415 -- FastAPI is optional
                check_types,
            )

            check_types(self._app)

    async def _http_exception(self, request: Request, exception: HTTPException) -> Response:
        status = exception.status_code
        if status < _FIRST_ERROR:
            return await self._no_error(request, exception)
        if isinstance(exception.__cause__, ClientDisconnect):
            # FastAPI answers it like an invalid body, and nobody reads the answer.
            raise exception.__cause__
        if limit := request.scope.get(_BODY_LIMIT):
            # Starlette replaces any response to a body that is too large by a plain text.
            limit.content_length = None
        answer = from_http_exception(status, exception.detail, exception.headers, request.scope)
        return written_response(answer, self._answers.body, request.scope)

    async def _no_error(self, request: Request, exception: HTTPException) -> Response:
        if self._default is not None:
            response: Response = await self._default(request, exception)
            return response
        return PlainTextResponse(exception.detail, exception.status_code, exception.headers)


def _is_fastapi(app: Starlette) -> 'TypeIs[FastAPI]':
    # Without its module loaded, it cannot be one.
    fastapi = sys.modules.get('fastapi')
    return fastapi is not None and isinstance(app, fastapi.FastAPI)
