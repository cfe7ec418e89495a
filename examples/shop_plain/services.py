"""Services of the shop. What each of them raises is in its docstring, at best."""

from uuid import uuid4

from shop.database import Order, Product
from sqlalchemy import exc
from sqlalchemy.ext.asyncio import AsyncSession

from shop_plain.bank import Bank
from shop_plain.errors import (
    DatabaseUnavailable,
    OrderNotFound,
    OrderShipped,
    OutOfStock,
    ProductNotFound,
)


async def _product(session: AsyncSession, sku: str) -> Product | None:
    try:
        return await session.get(Product, sku)
    except (exc.OperationalError, exc.TimeoutError) as error:
        raise DatabaseUnavailable from error


async def _order(session: AsyncSession, number: int) -> Order | None:
    try:
        return await session.get(Order, number)
    except (exc.OperationalError, exc.TimeoutError) as error:
        raise DatabaseUnavailable from error


async def find_product(session: AsyncSession, sku: str) -> Product:
    """Return the product of a number."""
    product = await _product(session, sku)
    if product is None:
        raise ProductNotFound(sku)
    return product


async def place_order(
    session: AsyncSession, bank: Bank, user: str, sku: str, quantity: int, request_id: str
) -> Order:
    """Order a product and pay for it; the stock is unchanged if any step fails."""
    product = await find_product(session, sku)
    if product.stock < quantity:
        raise OutOfStock(sku, product.stock)
    receipt = await bank.charge(uuid4().hex, product.price * quantity, request_id)
    product.stock -= quantity
    order = Order(user=user, sku=sku, quantity=quantity, receipt=receipt)
    session.add(order)
    try:
        await session.flush()
    except (exc.OperationalError, exc.TimeoutError) as error:
        raise DatabaseUnavailable from error
    return order


async def find_order(session: AsyncSession, user: str, number: int) -> Order:
    """Return an order of a user; those of others are not found."""
    order = await _order(session, number)
    if order is None or order.user != user:
        raise OrderNotFound(number)
    return order


async def cancel_order(session: AsyncSession, user: str, number: int) -> None:
    """Cancel an order of a user, and put its items back into stock."""
    order = await find_order(session, user, number)
    if order.shipped:
        raise OrderShipped(number)
    product = await _product(session, order.sku)
    if product is not None:
        product.stock += order.quantity
    await session.delete(order)


async def ship_order(session: AsyncSession, number: int) -> Order:
    """Mark an order as shipped."""
    order = await _order(session, number)
    if order is None:
        raise OrderNotFound(number)
    order.shipped = True
    return order
