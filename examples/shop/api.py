"""The API of the shop: five endpoints, whose failures one table answers.

cd examples && BANK_URL=https://bank.example.org uvicorn shop.api:app
"""

import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Annotated

import httpx2
import sentry_sdk
import structlog
from fastapi import Depends, FastAPI, Header, Path, Request
from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy.ext.asyncio import AsyncSession

from seamwise import Failure, Result, Success
from seamwise.catalog.access import AccessDenied, Unauthenticated
from seamwise.seams.http import Created, NoContent, install
from seamwise.seams.log import setup
from shop import services
from shop.bank import Bank
from shop.database import Order, Product, open_database
from shop.errors import ProductNotFound
from shop.tables import HTTP

setup(style='json')
sentry_sdk.init(dsn=os.environ.get('SENTRY_DSN'))  # defects; failures are in the log
log = structlog.get_logger()


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncGenerator[None]:
    """Open the database, and the connection to the bank."""
    engine = await open_database(os.environ.get('DATABASE_URL', 'sqlite+aiosqlite:///shop.db'))
    bank_url = os.environ.get('BANK_URL', 'http://127.0.0.1:9000')
    async with httpx2.AsyncClient(base_url=bank_url, timeout=1.0) as client:
        app.state.engine, app.state.bank = engine, Bank(client)
        yield
    await engine.dispose()


app = FastAPI(title='Shop', lifespan=lifespan)
install(app, HTTP)


async def transaction(request: Request) -> AsyncGenerator[AsyncSession]:
    """Open a transaction for a request; a failure of the handler rolls it back."""
    async with AsyncSession(request.app.state.engine) as session, session.begin():
        yield session


def current_user(
    authorization: Annotated[str | None, Header()] = None,
) -> Result[str, Unauthenticated]:
    """Return the user of a request; the token is the name here."""
    scheme, _, name = (authorization or '').partition(' ')
    return Success(name) if scheme == 'Bearer' and name else Failure(Unauthenticated('Bearer'))


def staff(user: Annotated[str, Depends(current_user)]) -> Result[str, AccessDenied]:
    """Return the user if they work for the shop."""
    return Success(user) if user == 'ada' else Failure(AccessDenied('ship', 'orders'))


# The scope lets the transaction end before the response is sent: a client sees what it has done.
Session = Annotated[AsyncSession, Depends(transaction, scope='function')]
User = Annotated[str, Depends(current_user)]
OrderNumber = Annotated[int, Path(gt=0, lt=2**63)]


class ProductView(BaseModel):
    """A product, with its price in cents."""

    model_config = ConfigDict(from_attributes=True)

    sku: str
    price: int


class OrderView(BaseModel):
    """An order; the receipt of the bank is left out."""

    model_config = ConfigDict(from_attributes=True)

    number: int
    sku: str
    quantity: int
    shipped: bool


class NewOrder(BaseModel):
    """An order to be placed."""

    sku: Annotated[str, Field(max_length=40)]
    quantity: Annotated[int, Field(gt=0, le=100)] = 1


@app.get('/products/{sku}', response_model=ProductView)
async def show_product(
    sku: str, session: Session
) -> Result[Product, ProductNotFound | services.DatabaseError]:
    """Show a product."""
    return await services.find_product(session, sku)


@app.post('/orders', response_model=OrderView)
async def place_order(
    new: NewOrder, user: User, session: Session, request: Request
) -> Result[Created[Order], services.PlaceOrderError]:
    """Place an order and pay for it."""
    bank: Bank = request.app.state.bank
    result = await services.place_order(session, bank, user, new.sku, new.quantity)
    return result.map(lambda order: Created(order, location=f'/orders/{order.number}'))


@app.get('/orders/{number}', response_model=OrderView)
async def show_order(
    number: OrderNumber, user: User, session: Session
) -> Result[Order, services.FindOrderError]:
    """Show an order of the user."""
    return await services.find_order(session, user, number)


@app.delete('/orders/{number}')
async def cancel_order(
    number: OrderNumber, user: User, session: Session
) -> Result[NoContent, services.CancelOrderError]:
    """Cancel an order of the user."""
    result = await services.cancel_order(session, user, number)
    return result.map(lambda _: NoContent())


@app.post('/orders/{number}/shipment', dependencies=[Depends(staff)], response_model=OrderView)
async def ship_order(
    number: OrderNumber, session: Session
) -> Result[Order, services.FindOrderError]:
    """Mark an order as shipped; only staff may."""
    result = await services.ship_order(session, number)
    log.info('shipped', number=number)
    return result
