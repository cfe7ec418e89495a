"""Program that captures the Sentry events of a service, for each combination of integrations.

It prints the events as JSON. It runs in a process of its own, because the integrations of Sentry
change classes of Starlette, FastAPI and `logging` for ever.
"""

import json
import logging
import sys
from collections.abc import Callable, Mapping
from typing import Any

import sentry_sdk
from fastapi import FastAPI
from sentry_sdk.integrations import Integration
from sentry_sdk.integrations.asgi import SentryAsgiMiddleware
from sentry_sdk.integrations.dedupe import DedupeIntegration
from sentry_sdk.integrations.fastapi import FastApiIntegration
from sentry_sdk.integrations.logging import LoggingIntegration
from sentry_sdk.integrations.starlette import StarletteIntegration
from starlette.middleware.base import BaseHTTPMiddleware
from starlette.testclient import TestClient

from seamwise import Failure, Result, on_defect
from seamwise.catalog.network import HostUnreachable
from seamwise.seams import log
from seamwise.seams.http import SafeErrors, endpoint, install
from seamwise.seams.http.tables import NETWORK
from tests.sentry_events import sentry_events
from tests.strategies import PLANTED

URL = f'postgresql://app:{PLANTED}@db.example.org/orders'


class OrdersLost(Exception):
    """Defect of the service."""


def connect(dsn: str, retries: int) -> None:
    try:
        raise OSError(111, f'could not connect to {dsn}')
    except OSError as error:
        raise OrdersLost(f'no orders from {dsn}') from error


def application() -> FastAPI:
    app = FastAPI()

    @app.get('/defect')
    async def defect() -> None:
        connect(URL, 3)

    @app.get('/thread')
    def thread() -> None:
        connect(URL, 3)

    @app.get('/failure')
    @endpoint(NETWORK)
    async def failure() -> Result[str, HostUnreachable]:
        return Failure(HostUnreachable('db', f'could not connect to {URL}'))

    return app


def reporting() -> Any:
    app = application()
    install(app, NETWORK)
    return app


def reporting_under_base_middleware() -> Any:
    """Return an application whose defects pass another task on their way out."""
    app = reporting()

    async def forward(request: Any, call_next: Any) -> Any:
        return await call_next(request)

    app.add_middleware(BaseHTTPMiddleware, dispatch=forward)
    return app


def reporting_outside() -> Any:
    """Return an application whose defects are reported after Sentry has captured them."""
    return SafeErrors(application())


def within_sentry() -> Any:
    return SentryAsgiMiddleware(reporting())


def logging_under_uvicorn() -> Any:
    """Return an application whose defects a server logs too."""
    app = reporting()

    async def server(scope: Any, receive: Any, send: Any) -> None:
        try:
            await app(scope, receive, send)
        except Exception as error:
            message = 'Exception in ASGI application\n'
            logging.getLogger('uvicorn.error').error(message, exc_info=error)  # noqa: TRY400 -- as uvicorn does
            raise

    return server


ALL = (LoggingIntegration, DedupeIntegration, StarletteIntegration, FastApiIntegration)
FRAMEWORKS = (DedupeIntegration, StarletteIntegration, FastApiIntegration)

SCENARIOS: Mapping[str, tuple[Callable[[], Any], tuple[type[Integration], ...] | None]] = {
    'all integrations': (reporting, ALL),
    'default integrations': (reporting, None),
    'no logging integration': (reporting, FRAMEWORKS),
    'only the logging integration': (reporting, (LoggingIntegration,)),
    'no integration to compare exceptions': (reporting, (LoggingIntegration, *FRAMEWORKS[1:])),
    'no integration': (reporting, ()),
    'another task': (reporting_under_base_middleware, ALL),
    'a middleware of Sentry': (within_sentry, (LoggingIntegration,)),
    'a server that logs': (logging_under_uvicorn, ALL),
    'a server that logs, without frameworks': (logging_under_uvicorn, (LoggingIntegration,)),
    'reported outside of Sentry': (reporting_outside, ALL),
}


def events_of(
    build: Callable[[], Any], integrations: tuple[type[Integration], ...] | None, path: str
) -> list[Any]:
    is_default = integrations is None
    with sentry_events(
        default_integrations=is_default,
        auto_enabling_integrations=is_default,
        integrations=[class_() for class_ in integrations or ()],
        in_app_include=['tests'],
    ) as events:
        TestClient(build(), raise_server_exceptions=False).get(path)
    return events


def events_of_hook(path: str) -> list[Any]:
    """Return the events if the program captures defects in a hook, without integrations."""
    remove = on_defect(lambda report, exception: sentry_sdk.capture_exception(exception))
    try:
        return events_of(reporting, (), path)
    finally:
        remove()


def main() -> None:
    log.setup('json')
    # Sentry does not need the handler.
    logging.getLogger().handlers[:] = [logging.NullHandler()]
    events = {
        name: {path: events_of(*scenario, path) for path in ('/defect', '/thread', '/failure')}
        for name, scenario in SCENARIOS.items()
    }
    events['a hook'] = {path: events_of_hook(path) for path in ('/defect', '/thread', '/failure')}
    json.dump(events, sys.stdout, default=repr)


if __name__ == '__main__':
    main()
