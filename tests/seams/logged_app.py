"""ASGI application that logs with `log.setup`, for servers that tests start."""

import logging
import os
from typing import Any

import structlog
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from seamwise.catalog.network import CredentialsRejected
from seamwise.seams import log
from seamwise.seams.reporting.request_context import serving
from tests.strategies import PLANTED

REQUEST_ID = os.environ['TEST_REQUEST_ID']
STYLE: Any = os.environ['TEST_STYLE']
FAILURES = log.FailureLog()

log.setup(STYLE)


async def rejected(request: Request) -> JSONResponse:
    logging.getLogger('shop').info('calling %s', f'https://ann:{PLANTED}@bank.example')
    structlog.get_logger('shop.bank').warning('refused', name='bank', password=PLANTED)
    FAILURES.failed(
        CredentialsRejected('bank', ('BANK_KEY',)),
        seam='http',
        operation='GET /rejected',
        status=502,
        duration=0.012,
    )
    return JSONResponse({}, 502)


async def reported(request: Request) -> JSONResponse:
    raise RuntimeError(f'no connection to https://ann:{PLANTED}@bank.example')


async def unreported(request: Request) -> JSONResponse:
    raise ValueError(f'token={PLANTED}')


starlette = Starlette(
    routes=[
        Route('/rejected', rejected),
        Route('/reported', reported),
        Route('/unreported', unreported),
    ]
)


async def app(scope: Any, receive: Any, send: Any) -> None:
    """Report the defects of one path, and raise all of them again."""
    if scope['type'] != 'http':
        await starlette(scope, receive, send)
        return
    with serving(REQUEST_ID):
        try:
            await starlette(scope, receive, send)
        except RuntimeError as error:
            FAILURES.defect(error, seam='http', operation='GET /reported')
            raise
