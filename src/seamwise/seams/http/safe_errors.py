"""The outermost layer of an application: defects get a safe answer and a record, the framework's failures our form."""

import sys
from asyncio import CancelledError
from logging import Filter, Logger, LogRecord, getLogger
from threading import get_ident

from typing_extensions import override

from seamwise.causes import leaves
from seamwise.defects import report_defect
from seamwise.seams.http.exchange import App, Exchange, Receive, Scope, Send, exchange_of
from seamwise.seams.http.sending import Sender
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
            if met is not sender.gone:
                raise
            self._note_that_nobody_waits(exchange)

    async def _answered(self, scope: Scope, receive: Receive, sender: Sender) -> None:
        exchange = exchange_of(scope)
        try:
            await self._app(scope, receive, sender)
            await sender.release()
        except Exception as met:  # noqa: BLE001 -- whatever it is, nobody expected it
            if _is_disconnect(met, sender):
                self._note_that_nobody_waits(exchange)
                return
            await self._after_defect(met, exchange, sender)
        else:
            if sender.unexplained is not None:
                await self._after_defect(RuntimeError(f'The application answered 500 by itself: {sender.unexplained}'), exchange, sender)

    async def _after_defect(self, met: Exception, exchange: Exchange, sender: Sender) -> None:
        if sender.has_begun:
            met.add_note('The response had begun: the connection is closed.')
        ref = _recorded(met, exchange.request_id, self._log)
        if not sender.has_begun:
            await sender.answer(defect(ref))

    def _note_that_nobody_waits(self, exchange: Exchange) -> None:
        extra = {'request_id': exchange.request_id, 'status': _CLIENT_CLOSED}
        (self._log or getLogger('seamwise')).debug('The client of request %s is gone.', exchange.request_id, extra=extra)


def _is_disconnect(met: Exception, sender: Sender) -> bool:
    requests = sys.modules.get('starlette.requests')
    kinds: tuple[type[BaseException], ...] = (requests.ClientDisconnect,) if requests else ()
    return all(one is sender.gone or isinstance(one, kinds) for one in leaves(met))


def _recorded(met: Exception, request_id: str, log: Logger | None) -> str:
    """Record a defect with the request's id; gives its reference."""
    met.add_note(f'request {request_id}')
    ours = _OfRequest(request_id, log)
    logger = getLogger('seamwise')
    logger.addFilter(ours)
    try:
        return report_defect(met).ref
    finally:
        logger.removeFilter(ours)


class _OfRequest(Filter):
    """Gives the records of this thread the id of a request, and those of a log of their own to that."""

    def __init__(self, request_id: str, log: Logger | None) -> None:
        super().__init__()
        self._request_id = request_id
        self._log = log
        self._thread = get_ident()

    @override
    def filter(self, record: LogRecord) -> bool:
        if record.thread != self._thread:
            return True
        record.request_id = self._request_id
        if self._log is None or self._log.name == record.name:
            return True
        if self._log.isEnabledFor(record.levelno):
            record.name = self._log.name
            self._log.handle(record)
        return False
