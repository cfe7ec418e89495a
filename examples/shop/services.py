"""Services of the shop; they know neither HTTP nor the command line."""

from typing import TypeAlias
from uuid import uuid4

from sqlalchemy.ext.asyncio import AsyncSession

from seamwise import Do, fallible, refine
from seamwise.catalog.network import CredentialsRejected
from seamwise.catalog.storage import StoreUnavailable
from seamwise.policies.classify.sqlalchemy import sqlalchemy_failures
from shop.bank import Bank, BankError
from shop.database import Order, Product
from shop.errors import OrderNotFound, OrderShipped, OutOfStock, ProductNotFound

DatabaseError: TypeAlias = StoreUnavailable | CredentialsRejected
FindOrderError: TypeAlias = OrderNotFound | DatabaseError
CancelOrderError: TypeAlias = OrderNotFound | OrderShipped | DatabaseError
PlaceOrderError: TypeAlias = ProductNotFound | OutOfStock | BankError | DatabaseError

database = refine(sqlalchemy_failures('shop'))


@database
async def _product(session: AsyncSession, sku: str) -> Product | None:
    return await session.get(Product, sku)


@database
async def _order(session: AsyncSession, number: int) -> Order | None:
    return await session.get(Order, number)


@database
async def _add(session: AsyncSession, order: Order) -> None:
    session.add(order)
    await session.flush()


@fallible
async def find_product(
    do: Do[ProductNotFound | DatabaseError],
    session: AsyncSession,
    sku: str,
) -> Product:
    """Return the product of a number."""
    return do(await _product(session, sku)) or do.fail(ProductNotFound(sku))


@fallible
async def place_order(
    do: Do[PlaceOrderError],
    session: AsyncSession,
    bank: Bank,
    user: str,
    sku: str,
    quantity: int,
) -> Order:
    """Order a product and pay for it; the stock is unchanged if any step fails."""
    product = do(await find_product(session, sku))
    if product.stock < quantity:
        do.fail(OutOfStock(sku, product.stock))
    receipt = do(await bank.charge(uuid4().hex, product.price * quantity))
    product.stock -= quantity
    order = Order(user=user, sku=sku, quantity=quantity, receipt=receipt)
    do(await _add(session, order))
    return order


@fallible
async def find_order(
    do: Do[FindOrderError],
    session: AsyncSession,
    user: str,
    number: int,
) -> Order:
    """Return an order of a user; those of others are not found."""
    order = do(await _order(session, number))
    if order is None or order.user != user:
        do.fail(OrderNotFound(number))
    return order


@fallible
async def cancel_order(
    do: Do[CancelOrderError],
    session: AsyncSession,
    user: str,
    number: int,
) -> None:
    """Cancel an order of a user, and put its items back into stock."""
    order = do(await find_order(session, user, number))
    if order.shipped:
        do.fail(OrderShipped(number))
    product = do(await _product(session, order.sku))
    if product is not None:
        product.stock += order.quantity
    await session.delete(order)


@fallible
async def ship_order(
    do: Do[FindOrderError],
    session: AsyncSession,
    number: int,
) -> Order:
    """Mark an order as shipped."""
    order = do(await _order(session, number)) or do.fail(OrderNotFound(number))
    order.shipped = True
    return order
