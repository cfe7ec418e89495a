"""The outermost layer of an application: defects get a safe answer and a record, the framework's failures our form."""

import sys
from asyncio import CancelledError
from logging import Logger, getLogger

from seamwise.causes import iter_leaves
from seamwise.defects import report_defect
from seamwise.seams.http.asgi_send import Sender
from seamwise.seams.http.exchange import App, Exchange, Receive, Scope, Send, exchange_of
from seamwise.seams.http.shape import defect

_CLIENT_CLOSED = 499
"""The status of an answer that nobody waits for any more: in the log only."""


class SafeErrors:
    """Middleware for any ASGI application: `app.add_middleware(SafeErrors)`, or around the whole of it.

    An exception is answered with 500 INTERNAL and a reference, and recorded once, with that reference and the id of
    the request, in `log` (default: the logger `seamwise`). If the answer has begun, it is left incomplete, so that the
    server closes the connection. A client that is gone is no defect, and cancellation passes; both are told to the log
    at DEBUG with status 499. The failures that a framework answers itself (404, 405, 413, a request that fails
    validation) come in the envelope, or as a problem where the client asks for one; answers of other forms pass as they are.
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
            await self._answered(scope, receive, sender)
        except CancelledError:
            self._note_that_nobody_waits(exchange)
            raise
        except Exception as met:
            if met is sender.gone:
                self._note_that_nobody_waits(exchange)
                return
            raise

    async def _answered(self, scope: Scope, receive: Receive, sender: Sender) -> None:
        exchange = exchange_of(scope)
        try:
            await self._app(scope, receive, sender)
            await sender.release()
        except Exception as met:  # noqa: BLE001 -- whatever it is, nobody expected it
            if _is_disconnect(met, sender):
                self._note_that_nobody_waits(exchange)
                return
            state = (
                {'response': 'it had begun, the connection is closed'} if sender.has_begun else {}
            )
            report = report_defect(met, log=self._log, request_id=exchange.request_id, **state)
        else:
            if sender.unexplained is None:
                return
            unexplained = RuntimeError(
                f'The application answered 500 by itself: {sender.unexplained}'
            )
            report = report_defect(unexplained, log=self._log, request_id=exchange.request_id)
        if not sender.has_begun:
            await sender.answer(defect(report.ref))

    def _note_that_nobody_waits(self, exchange: Exchange) -> None:
        extra = {'request_id': exchange.request_id, 'status': _CLIENT_CLOSED}
        (self._log or getLogger('seamwise')).debug(
            'The client of request %s is gone.', exchange.request_id, extra=extra
        )


def _is_disconnect(met: Exception, sender: Sender) -> bool:
    requests = sys.modules.get('starlette.requests')
    kinds: tuple[type[BaseException], ...] = (requests.ClientDisconnect,) if requests else ()
    return all(one is sender.gone or isinstance(one, kinds) for one in iter_leaves(met))
