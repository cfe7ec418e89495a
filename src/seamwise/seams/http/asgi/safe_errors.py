"""ASGI middleware that answers and records defects, and then raises them again."""

import sys
from asyncio import CancelledError
from collections.abc import Callable, Iterator
from logging import Logger
from typing import Any

from seamwise._defects.sentry import register
from seamwise._errors.causes import iter_leaves
from seamwise.seams.http.asgi.sending import Sender
from seamwise.seams.http.asgi.websockets import WebSocketCloser
from seamwise.seams.http.bodies import Body, BodyFormat, check_body, envelope
from seamwise.seams.http.negotiation import negotiated
from seamwise.seams.http.serving.exchange import (
    NO_ARMS,
    Answers,
    App,
    Exchange,
    Receive,
    Scope,
    Send,
    answer_defect,
    as_table,
    closing_headers,
    exchange_of,
    name_operation,
    raised_error,
    written,
)
from seamwise.seams.http.serving.framework_errors import from_http_exception
from seamwise.seams.http.shape import HttpError
from seamwise.seams.reporting.failure_log import FailureLog, failure_log
from seamwise.seams.reporting.operations import ACTIVE, active, leave

_CLIENT_CLOSED_REQUEST = 499
"""The status of a request whose client disconnected. It is only logged, and has no `HTTPStatus`."""


class SafeErrors:
    """Middleware for defects: `app.add_middleware(SafeErrors)`; `install` adds it.

    Any other ASGI application is wrapped: `SafeErrors(app)`. An application of Starlette would
    answer its defects itself then, without a reference.

    An exception becomes a response 500 INTERNAL with a reference. It is recorded once, with that
    reference and the request id, and then raised again, as Starlette's own middleware does: the
    server and tools such as Sentry see it. If the response has started, it is left incomplete; a
    stream of server-sent events ends with `event: error`, and a WebSocket is closed with a code.

    A disconnect of the client is not a defect, and cancellation propagates; both are logged at
    DEBUG with status 499. All other responses stay, apart from the header `x-request-id`.

    >>> from starlette.applications import Starlette
    >>> app = Starlette()
    >>> app.add_middleware(SafeErrors)

    Args:
        app: The application.
        log: Logger or `FailureLog`; by default the logger `seamwise`.
        body: Body format; by default it follows the `Accept` header of the request.
        adapter: Adapter or annotated function from the errors that `Raised` carries to an
            `HttpError`. A covered error is a failure, not a defect; by default none is covered.
        is_answering: Whether to answer defects, or only to record and raise them.
    """

    def __init__(
        self,
        app: App,
        *,
        log: Logger | FailureLog | None = None,
        body: Body = negotiated,
        adapter: Callable[[Any], HttpError] | None = None,
        is_answering: bool = True,
    ) -> None:
        check_body(body)
        # Before the first exception: Sentry may see it earlier than this middleware.
        register()
        self._app = app
        self._log = failure_log(log)
        self._answers = Answers(NO_ARMS if adapter is None else as_table(adapter), body, self._log)
        self._has_adapter = adapter is not None
        self._is_answering = is_answering

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Run the application for one connection."""
        if scope['type'] != 'http':
            await self._run_other(scope, receive, send)
            return
        exchange = self._exchange(scope)
        sender = Sender(exchange, scope, send)
        # As `with active(exchange)`, in half of the time: this runs for every request.
        token = ACTIVE.set(exchange)
        try:
            await self._app(scope, receive, sender.send)
            if sender.is_end_held or exchange.cut_answer is not None:
                await self._finish(sender, scope)
        except CancelledError:
            self._log_disconnect(exchange)
            raise
        except Exception as error:
            exception = await self._fail(error, sender, scope)
            if exception is error:
                raise
            if exception is not None:
                raise exception from exception.__cause__
        finally:
            leave(exchange, token)

    def _exchange(self, scope: Scope) -> Exchange:
        exchange = exchange_of(scope)
        if self._has_adapter:
            # A mounted application may have answers of its own.
            exchange.answers = self._answers
        return exchange

    async def _fail(self, error: Exception, sender: Sender, scope: Scope) -> Exception | None:
        """Answer and log an exception; return the one to raise, None for a failure."""
        exchange = sender.exchange
        if _is_missing_response(error, exchange):
            await self._finish(sender, scope)
            return None
        if _is_disconnect(error, sender.disconnect_error):
            exchange.is_disconnected = not sender.has_started
            self._log_disconnect(exchange)
            return None
        exception = _handled_too_late(error) if sender.has_started else error
        if exception is exchange.handled:
            await self._finish(sender, scope)
            return exception
        answer, is_failure = self._answer(exception, exchange, scope, sent=sender.status)
        if is_failure or self._is_answering:
            await self._send(answer, sender, scope, is_defect=not is_failure)
        elif sender.is_end_held:
            await sender.finish()
        if sender.has_started and not sender.has_ended:
            exchange.cut_answer = answer
        if is_failure:
            return None
        exchange.handled = exception
        return exception

    async def _finish(self, sender: Sender, scope: Scope) -> None:
        """Send what a middleware inside could not: the end of events, or an answer.

        The start of a response that was cut has not left if a middleware in between, such as
        `GZipMiddleware`, has waited for the body.
        """
        exchange = sender.exchange
        answer, is_defect = exchange.cut_answer, exchange.handled is not None
        if sender.is_end_held:
            await sender.finish()
        elif (
            answer is not None and not sender.has_started and (self._is_answering or not is_defect)
        ):
            exchange.cut_answer = None
            await self._send(answer, sender, scope, is_defect=is_defect)

    async def _run_other(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope['type'] == 'websocket':
            await self._run_websocket(scope, WebSocketCloser(scope, receive, send))
        else:
            await self._app(scope, receive, send)

    async def _run_websocket(self, scope: Scope, closer: WebSocketCloser) -> None:
        exchange = self._exchange(scope)
        with active(exchange):
            try:
                await self._app(scope, closer.receive, closer.send)
            except CancelledError:
                self._log_disconnect(exchange)
                raise
            except Exception as error:
                if _is_disconnect(
                    error, closer.disconnect_error, is_disconnected=closer.is_disconnected
                ):
                    self._log_disconnect(exchange)
                    return
                if error is exchange.handled:
                    raise
                answer, is_failure = self._answer(error, exchange, scope, sent=None)
                exchange.handled = None if is_failure else error
                try:
                    await closer.close(answer, written(answer, self._answers.body, exchange))
                except OSError:
                    self._log_disconnect(exchange)
                if not is_failure:
                    raise

    def _answer(
        self, exception: Exception, exchange: Exchange, scope: Scope, *, sent: int | None
    ) -> tuple[HttpError, bool]:
        """Log an exception; return its answer, and whether it carries a covered error."""
        name_operation(exchange, scope)
        error = raised_error(exception)
        answers = exchange.answers or self._answers
        if answers.covers(error):
            return answers.logged(error, exchange, sent=sent), True
        answer = answer_defect(exception, self._log, exchange, has_started=sent is not None)
        if sent is not None:
            # The event of a started stream has the status that the application meant.
            answer = _http_exception(exception, scope) or answer
        return answer, False

    async def _send(
        self, answer: HttpError, sender: Sender, scope: Scope, *, is_defect: bool
    ) -> None:
        """Send an answer, as an event if a stream of events has started."""
        exchange = sender.exchange
        try:
            if not sender.has_started:
                response = written(answer, self._answers.body, exchange)
                if is_defect:
                    response.headers.extend(closing_headers(scope))
                await sender.send_response(response)
            elif sender.is_event_stream and not sender.has_ended:
                own = self._answers.body
                # Another format may not be one line of text.
                body = own if isinstance(own, BodyFormat) else envelope
                await sender.send_event('error', written(answer, body, exchange).body)
        except OSError:
            # The client disconnected while it was answered.
            self._log_disconnect(exchange)

    def _log_disconnect(self, exchange: Exchange) -> None:
        extra = {'request_id': exchange.request_id, 'status': _CLIENT_CLOSED_REQUEST}
        self._log.logger.debug(
            'The client of request %s disconnected.', exchange.request_id, extra=extra
        )


def _is_missing_response(error: Exception, exchange: Exchange) -> bool:
    """Return whether `BaseHTTPMiddleware` reports that it got no response, for a known reason."""
    has_reason = exchange.is_disconnected or exchange.cut_answer is not None
    return has_reason and all(
        isinstance(leaf, RuntimeError) and leaf.args == ('No response returned.',)
        for leaf in iter_leaves(error)
    )


def _http_exception(exception: Exception, scope: Scope) -> HttpError | None:
    """Return the answer of an `HTTPException` that the framework cannot give any more."""
    exceptions = sys.modules.get('starlette.exceptions')
    if exceptions is None or not isinstance(exception, exceptions.HTTPException):
        return None
    # Starlette is optional, so that its class is not imported here.
    raised: Any = exception
    return from_http_exception(raised.status_code, raised.detail, raised.headers, scope)


def _is_disconnect(
    error: Exception, send_error: OSError | None, *, is_disconnected: bool = False
) -> bool:
    """Return whether an exception, or each one in a group, reports that the client disconnected."""
    kinds = tuple(_disconnect_types(is_disconnected=is_disconnected))
    return all(leaf is send_error or isinstance(leaf, kinds) for leaf in iter_leaves(error))


def _disconnect_types(*, is_disconnected: bool) -> Iterator[type[BaseException]]:
    # Without the modules of Starlette loaded, their exceptions cannot have been raised.
    if requests := sys.modules.get('starlette.requests'):
        yield requests.ClientDisconnect
    if websockets := sys.modules.get('starlette.websockets'):
        yield websockets.WebSocketDisconnect
        # Since Starlette 1.10, the second use of a lost connection raises this class; so does the
        # use of a connection that the application itself has closed, which is a defect.
        if is_disconnected and hasattr(websockets, 'WebSocketDisconnected'):
            yield websockets.WebSocketDisconnected


_TOO_LATE = frozenset(
    {
        # Starlette, Litestar
        'Caught handled exception, but response already started.',
        'Exception caught after response started',
    }
)


def _handled_too_late(error: Exception) -> Exception:
    """Return the exception of the application that a framework could not answer any more.

    Starlette and Litestar replace it by one of their own, the same for all errors.
    """
    cause = error.__cause__
    # Litestar keeps its text in `detail` only.
    texts = {*map(str, error.args), str(getattr(error, 'detail', None))}
    if isinstance(cause, Exception) and texts & _TOO_LATE:
        error = cause
    # A task group wraps the exception of its only task in a group; FastAPI streams events in one.
    leaves = [*iter_leaves(error)]
    return leaves[0] if len(leaves) == 1 and isinstance(leaves[0], Exception) else error
