"""Outermost ASGI middleware: answers and records defects, converts error pages of frameworks."""

import sys
from asyncio import CancelledError
from logging import Logger, getLogger

from seamwise.causes import iter_leaves
from seamwise.defects import report_defect
from seamwise.seams.http.asgi_send import Sender
from seamwise.seams.http.exchange import App, Exchange, Receive, Scope, Send, exchange_of
from seamwise.seams.http.shape import defect

_CLIENT_CLOSED_REQUEST = 499
"""The status of a request whose client disconnected. It is only logged, and has no `HTTPStatus`."""


class SafeErrors:
    """Middleware for any ASGI application: `app.add_middleware(SafeErrors)`, or `SafeErrors(app)`.

    An exception becomes a response 500 INTERNAL with a reference. It is recorded once, with that
    reference and the request id, in `log` (default: the logger `seamwise`). If the response has
    started, it is left incomplete, so that the server closes the connection.

    A disconnect of the client is not a defect, and cancellation propagates; both are logged at
    DEBUG with status 499. Error pages of the framework (404, 405, 413, a validation error) are sent
    in the envelope, or as problem details if the client prefers them. Other responses stay.

    >>> from starlette.applications import Starlette
    >>> app = SafeErrors(Starlette())
    """

    def __init__(self, app: App, *, log: Logger | None = None) -> None:
        self._app = app
        self._log = log

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Run the application for one connection."""
        if scope['type'] != 'http':
            await self._app(scope, receive, send)
            return
        exchange = exchange_of(scope)
        sender = Sender(scope, send)
        try:
            await self._run(scope, receive, sender)
        except CancelledError:
            self._log_disconnect(exchange)
            raise
        except Exception as error:
            # The client may also disconnect while a defect is answered.
            if error is sender.disconnect_error:
                self._log_disconnect(exchange)
                return
            raise

    async def _run(self, scope: Scope, receive: Receive, sender: Sender) -> None:
        exchange = exchange_of(scope)
        try:
            await self._app(scope, receive, sender)
            await sender.flush()
        except Exception as error:  # noqa: BLE001 -- any exception here is a defect
            if _is_disconnect(error, sender):
                self._log_disconnect(exchange)
                return
            state = (
                {'response': 'already started, the connection is closed'}
                if sender.has_started
                else {}
            )
            report = report_defect(error, log=self._log, request_id=exchange.request_id, **state)
        else:
            message = sender.unexplained_message
            if message is None:
                return
            unexplained = RuntimeError(f'The application responded 500 by itself: {message}')
            report = report_defect(unexplained, log=self._log, request_id=exchange.request_id)
        if not sender.has_started:
            await sender.send_error(defect(report.ref))

    def _log_disconnect(self, exchange: Exchange) -> None:
        extra = {'request_id': exchange.request_id, 'status': _CLIENT_CLOSED_REQUEST}
        (self._log or getLogger('seamwise')).debug(
            'The client of request %s disconnected.', exchange.request_id, extra=extra
        )


def _is_disconnect(error: Exception, sender: Sender) -> bool:
    """Return whether an exception, or each one in a group, reports that the client disconnected."""
    # Without Starlette's module loaded, its exception cannot have been raised.
    requests = sys.modules.get('starlette.requests')
    kinds: tuple[type[BaseException], ...] = (requests.ClientDisconnect,) if requests else ()
    return all(
        leaf is sender.disconnect_error or isinstance(leaf, kinds) for leaf in iter_leaves(error)
    )
