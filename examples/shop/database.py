"""Tables of the shop."""

from sqlalchemy import Connection, ForeignKey
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column


class Base(DeclarativeBase):
    """Base of the tables."""


class Product(Base):
    """A product, with its price in cents and the number of items in stock."""

    __tablename__ = 'products'

    sku: Mapped[str] = mapped_column(primary_key=True)
    price: Mapped[int]
    stock: Mapped[int]


class Order(Base):
    """An order of a user."""

    __tablename__ = 'orders'

    number: Mapped[int] = mapped_column(primary_key=True)
    user: Mapped[str]
    sku: Mapped[str] = mapped_column(ForeignKey('products.sku'))
    quantity: Mapped[int]
    receipt: Mapped[str]
    shipped: Mapped[bool] = mapped_column(default=False)


def _add_missing(connection: Connection, product: Product) -> None:
    with Session(connection) as session:
        if session.get(Product, product.sku) is None:
            session.add(product)
            session.commit()


async def open_database(url: str) -> AsyncEngine:
    """Return an engine; missing tables and two products are created."""
    engine = create_async_engine(url)
    async with engine.begin() as connection:
        await connection.run_sync(Base.metadata.create_all)
        products = [
            Product(sku='tea', price=450, stock=10),
            Product(sku='cup', price=1200, stock=1),
        ]
        for product in products:
            await connection.run_sync(_add_missing, product)
    return engine
