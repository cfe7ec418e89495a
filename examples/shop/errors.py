"""Errors of the shop itself; those of the database, the bank and the guards are built in."""

from seamwise import Category, TaggedError


class ProductNotFound(
    TaggedError, category=Category.NOT_FOUND, message='There is no product {sku!r}.'
):
    """The product does not exist. The caller checks its number."""

    sku: str


class OutOfStock(
    TaggedError, category=Category.CONFLICT, message='There are only {left} of {sku!r} left.'
):
    """The order is larger than the stock. The caller orders fewer."""

    sku: str
    left: int


class OrderNotFound(
    TaggedError, category=Category.NOT_FOUND, message='There is no order {number}.'
):
    """The order does not exist, or belongs to somebody else."""

    number: int


class OrderShipped(
    TaggedError, category=Category.CONFLICT, message='The order {number} was shipped already.'
):
    """A shipped order cannot be cancelled. The caller returns the goods instead."""

    number: int


class CardDeclined(TaggedError, category=Category.CONFLICT, message='Declined: {reason}.'):
    """The bank declined the payment. The caller uses another card."""

    reason: str
