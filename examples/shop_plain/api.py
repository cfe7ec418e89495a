"""The API of the shop with exception handlers; the other shop has the same answers."""

import logging
import os
import re
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from secrets import token_hex
from typing import Annotated
from uuid import uuid4

import httpx2
import structlog
from fastapi import Depends, FastAPI, Header, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel
from shop.api import NewOrder, OrderNumber, OrderView, ProductView
from shop.database import Order, Product, open_database
from sqlalchemy.ext.asyncio import AsyncSession
from starlette.exceptions import HTTPException

from shop_plain import services
from shop_plain.bank import Bank
from shop_plain.errors import AccessDenied, ShopError, Unauthenticated

log = structlog.get_logger()
logging.basicConfig(level=logging.INFO)

SERVER_ERROR = 500
CODES = {404: 'RESOURCE_NOT_FOUND', 405: 'METHOD_NOT_ALLOWED', 413: 'PAYLOAD_TOO_LARGE'}
SAFE_ID = re.compile(r'[A-Za-z0-9._-]{1,128}')


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncGenerator[None]:
    """Open the database, and the connection to the bank."""
    engine = await open_database(os.environ.get('DATABASE_URL', 'sqlite+aiosqlite:///shop.db'))
    bank_url = os.environ.get('BANK_URL', 'http://127.0.0.1:9000')
    async with httpx2.AsyncClient(base_url=bank_url, timeout=1.0) as client:
        app.state.engine, app.state.bank = engine, Bank(client)
        yield
    await engine.dispose()


class ErrorBody(BaseModel):
    """The error in the envelope."""

    code: str
    message: str
    details: dict[str, object]
    retryable: bool


class FailureEnvelope(BaseModel):
    """The envelope of an error."""

    success: bool = False
    error: ErrorBody
    timestamp: datetime
    request_id: str


class ProductEnvelope(BaseModel):
    """The envelope of a product."""

    success: bool = True
    data: ProductView
    timestamp: datetime
    request_id: str


class OrderEnvelope(BaseModel):
    """The envelope of an order."""

    success: bool = True
    data: OrderView
    timestamp: datetime
    request_id: str


ERRORS: dict[int | str, dict[str, object]] = {
    status: {'model': FailureEnvelope} for status in (400, 401, 403, 404, 409, 502, 503, 504)
}
app = FastAPI(title='Shop', lifespan=lifespan)


def request_id_of(request: Request) -> str:
    """Return the id of a request."""
    request_id: str = request.state.request_id
    return request_id


@app.middleware('http')
async def add_request_id(
    request: Request, call_next: Callable[[Request], Awaitable[Response]]
) -> Response:
    """Give each request an id, and answer defects."""
    incoming = request.headers.get('x-request-id', '')
    request.state.request_id = incoming if SAFE_ID.fullmatch(incoming) else f'req-{uuid4().hex}'
    request.state.started = time.perf_counter()
    with structlog.contextvars.bound_contextvars(request_id=request.state.request_id):
        try:
            response = await call_next(request)
        except Exception:
            ref = f'err_{token_hex(4)}'
            log.exception('defect', ref=ref)
            response = answer(request, 500, 'INTERNAL', 'Unexpected condition.', {'ref': ref})
    response.headers['x-request-id'] = request.state.request_id
    return response


def answer(  # noqa: PLR0913 -- the parts of the body
    request: Request,
    status: int,
    code: str,
    message: str,
    details: dict[str, object],
    headers: dict[str, str] | None = None,
    *,
    is_retryable: bool = False,
) -> JSONResponse:
    """Return the response for an error."""
    body = FailureEnvelope(
        error=ErrorBody(code=code, message=message, details=details, retryable=is_retryable),
        timestamp=datetime.now(UTC),
        request_id=request_id_of(request),
    )
    return JSONResponse(body.model_dump(mode='json'), status, headers)


@app.exception_handler(ShopError)
async def answer_shop_error(request: Request, error: ShopError) -> JSONResponse:
    """Answer and log an exception of the shop."""
    write = log.error if error.status >= SERVER_ERROR else log.info
    write(
        'failed',
        error_type=type(error).__name__,
        status=error.status,
        details=error.details,
        duration_ms=round((time.perf_counter() - request.state.started) * 1000),
    )
    return answer(
        request,
        error.status,
        error.code,
        error.message,
        error.details,
        error.headers,
        is_retryable=error.is_retryable,
    )


@app.exception_handler(HTTPException)
async def answer_http_exception(request: Request, error: HTTPException) -> JSONResponse:
    """Answer an error of the framework."""
    code = CODES.get(error.status_code, f'STATUS_{error.status_code}')
    headers = dict(error.headers or {})
    return answer(request, error.status_code, code, str(error.detail), {}, headers)


@app.exception_handler(RequestValidationError)
async def answer_invalid_request(request: Request, error: RequestValidationError) -> JSONResponse:
    """Answer an invalid request, without its input."""
    problems = [
        {'pointer': ''.join(f'/{part}' for part in item['loc'][1:]), 'detail': item['msg']}
        for item in error.errors()
    ]
    part = str(error.errors()[0]['loc'][0])
    message = f'The {part} of the request is not valid.'
    details: dict[str, object] = {'kind': part.capitalize(), 'errors': problems}
    return answer(request, 400, 'INVALID_REQUEST', message, details)


async def transaction(request: Request) -> AsyncGenerator[AsyncSession]:
    """Open a transaction for a request; an exception rolls it back."""
    async with AsyncSession(request.app.state.engine) as session, session.begin():
        yield session


def current_user(authorization: Annotated[str | None, Header()] = None) -> str:
    """Return the user of a request; the token is the name here."""
    scheme, _, name = (authorization or '').partition(' ')
    if scheme != 'Bearer' or not name:
        raise Unauthenticated('Bearer')
    return name


def staff(user: Annotated[str, Depends(current_user)]) -> str:
    """Return the user if they work for the shop."""
    if user != 'ada':
        raise AccessDenied('ship', 'orders')
    return user


# The scope lets the transaction end before the response is sent: a client sees what it has done.
Session = Annotated[AsyncSession, Depends(transaction, scope='function')]
User = Annotated[str, Depends(current_user)]
RequestId = Annotated[str, Depends(request_id_of)]


def product_envelope(product: Product, request_id: str) -> ProductEnvelope:
    """Return a product in its envelope."""
    data = ProductView.model_validate(product)
    return ProductEnvelope(data=data, timestamp=datetime.now(UTC), request_id=request_id)


def order_envelope(order: Order, request_id: str) -> OrderEnvelope:
    """Return an order in its envelope."""
    data = OrderView.model_validate(order)
    return OrderEnvelope(data=data, timestamp=datetime.now(UTC), request_id=request_id)


@app.get('/products/{sku}', responses=ERRORS)
async def show_product(sku: str, session: Session, request_id: RequestId) -> ProductEnvelope:
    """Show a product."""
    return product_envelope(await services.find_product(session, sku), request_id)


@app.post('/orders', status_code=201, responses=ERRORS)
async def place_order(
    new: NewOrder,
    user: User,
    session: Session,
    request: Request,
    response: Response,
    request_id: RequestId,
) -> OrderEnvelope:
    """Place an order and pay for it."""
    bank: Bank = request.app.state.bank
    order = await services.place_order(session, bank, user, new.sku, new.quantity, request_id)
    response.headers['location'] = f'/orders/{order.number}'
    return order_envelope(order, request_id)


@app.get('/orders/{number}', responses=ERRORS)
async def show_order(
    number: OrderNumber, user: User, session: Session, request_id: RequestId
) -> OrderEnvelope:
    """Show an order of the user."""
    return order_envelope(await services.find_order(session, user, number), request_id)


@app.delete('/orders/{number}', status_code=204, responses=ERRORS)
async def cancel_order(number: OrderNumber, user: User, session: Session) -> None:
    """Cancel an order of the user."""
    await services.cancel_order(session, user, number)


@app.post('/orders/{number}/shipment', dependencies=[Depends(staff)], responses=ERRORS)
async def ship_order(number: OrderNumber, session: Session, request_id: RequestId) -> OrderEnvelope:
    """Mark an order as shipped; only staff may."""
    order = await services.ship_order(session, number)
    log.info('shipped', number=number)
    return order_envelope(order, request_id)
