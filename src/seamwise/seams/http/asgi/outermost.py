"""ASGI middleware outside of all others: it answers their defects, and refuses a wrong start."""

from typing_extensions import override

from seamwise.seams.http.asgi.safe_errors import SafeErrors
from seamwise.seams.http.serving.exchange import Answers, App, Receive, Scope, Send


class Outermost(SafeErrors):
    """Middleware of `install` around the middleware of the application.

    It answers and records the exceptions of that middleware. `BaseHTTPMiddleware` of Starlette
    completes a response whose application has failed: its last message is dropped here.

    Args:
        app: The stack of middleware inside.
        answers: The answers of the application.
        is_answering: Whether to answer defects, or only to record and raise them.
        problem: The reason why the application must not start, None if there is none.
    """

    def __init__(
        self, app: App, *, answers: Answers, is_answering: bool, problem: TypeError | None = None
    ) -> None:
        super().__init__(
            app,
            log=answers.log,
            body=answers.body,
            adapter=answers.adapter,
            is_answering=is_answering,
        )
        self._problem = problem
        self._is_logged = False

    @override
    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Run the application for one connection, or refuse its start."""
        if self._problem is not None:
            if scope['type'] == 'lifespan':
                await _fail_startup(self._problem, receive, send)
            if not self._is_logged:
                # A server without lifespan has started.
                self._is_logged = True
                self._log.logger.error('%s', self._problem)
        await super().__call__(scope, receive, send)


async def _fail_startup(problem: TypeError, receive: Receive, send: Send) -> None:
    await receive()
    # A server takes an exception without this message for an application without lifespan.
    await send({'type': 'lifespan.startup.failed', 'message': str(problem)})
    raise problem
