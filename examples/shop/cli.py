"""The command line of the shop, over the same services as the API.

cd examples && python -m shop.cli show 1 --user ada
"""

import asyncio
import os
from collections.abc import Awaitable, Callable
from typing import TypeVar

import click
from sqlalchemy.ext.asyncio import AsyncSession

from seamwise import Failure, Result
from seamwise.seams import cli
from shop import services
from shop.database import Order, open_database
from shop.tables import CLI

T = TypeVar('T')
E = TypeVar('E')


async def _in_transaction(step: Callable[[AsyncSession], Awaitable[Result[T, E]]]) -> Result[T, E]:
    engine = await open_database(os.environ.get('DATABASE_URL', 'sqlite+aiosqlite:///shop.db'))
    try:
        async with AsyncSession(engine, expire_on_commit=False) as session:
            result = await step(session)
            if not isinstance(result, Failure):
                await session.commit()
            return result
    finally:
        await engine.dispose()


@click.group()
def shop() -> None:
    """Orders of the shop."""


@shop.command()
@click.argument('number', type=int)
@click.option('--user', required=True, help='The customer.')
def show(number: int, user: str) -> Result[str, services.FindOrderError]:
    """Show an order."""
    result = asyncio.run(
        _in_transaction(lambda session: services.find_order(session, user, number))
    )
    return result.map(_line)


@shop.command()
@click.argument('number', type=int)
@click.option('--user', required=True, help='The customer.')
def cancel(number: int, user: str) -> Result[str, services.CancelOrderError]:
    """Cancel an order that was not shipped."""
    result = asyncio.run(
        _in_transaction(lambda session: services.cancel_order(session, user, number))
    )
    return result.map(lambda _: f'Order {number} is cancelled.')


def _line(order: Order) -> str:
    state = 'shipped' if order.shipped else 'not shipped'
    return f'Order {order.number}: {order.quantity} x {order.sku}, {state}'


if __name__ == '__main__':
    cli.main(shop, CLI)
