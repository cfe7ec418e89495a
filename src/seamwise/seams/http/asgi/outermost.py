"""ASGI middleware outside of all others, for responses that other middleware would complete."""

from seamwise._errors.causes import iter_leaves
from seamwise.seams.http.serving.exchange import (
    ENDS,
    App,
    Exchange,
    Message,
    Receive,
    Scope,
    Send,
    exchange_of,
)
from seamwise.seams.reporting.failure_log import FailureLog


class Outermost:
    """Middleware of `install` that knows how the response inside of all middleware has ended.

    `BaseHTTPMiddleware` of Starlette completes a response whose application has failed, and raises
    an exception for an application that sends none because the client disconnected.

    Args:
        app: The stack of middleware inside.
        log: Log of the problem.
        problem: The reason why the application must not start, None if there is none.
    """

    def __init__(self, app: App, *, log: FailureLog, problem: TypeError | None = None) -> None:
        self._app = app
        self._log = log
        self._problem = problem
        self._is_logged = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Run the application for one connection, or refuse its start."""
        kind = scope['type']
        if kind == 'lifespan':
            if self._problem is not None:
                await _fail_startup(self._problem, receive, send)
            await self._app(scope, receive, send)
            return
        if self._problem is not None and not self._is_logged:
            # A server without lifespan has started.
            self._is_logged = True
            self._log.logger.error('%s', self._problem)
        if kind == 'http':
            await self._run_http(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    async def _run_http(self, scope: Scope, receive: Receive, send: Send) -> None:
        exchange = exchange_of(scope)

        async def send_unless_cut(message: Message) -> None:
            is_last = message['type'] in ENDS and not message.get('more_body')
            if not (exchange.is_cut and is_last):
                await send(message)

        try:
            await self._app(scope, receive, send_unless_cut)
        except Exception as error:
            if not is_missing_response(error, exchange):
                raise


async def _fail_startup(problem: TypeError, receive: Receive, send: Send) -> None:
    await receive()
    # A server takes an exception without this message for an application without lifespan.
    await send({'type': 'lifespan.startup.failed', 'message': str(problem)})
    raise problem


def is_missing_response(error: Exception, exchange: Exchange) -> bool:
    """Return whether `BaseHTTPMiddleware` reports that the client disconnected before an answer."""
    return exchange.is_disconnected and all(
        isinstance(leaf, RuntimeError) and leaf.args == ('No response returned.',)
        for leaf in iter_leaves(error)
    )
