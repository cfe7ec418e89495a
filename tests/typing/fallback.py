"""A fallback changes the value's type: what its handler gives is added, and nothing is taken out of the channel."""

from collections.abc import Awaitable
from typing import Never

from domain import BankDown, CardDeclined, Cart, Receipt, User, UserNotFound
from seamwise import Category, Failure, Result, Success, TaggedError
from seamwise.policies.fallback import Fallback, fallback
from seamwise.policies._engine.pipeline import Guard
from typing_extensions import assert_type


class Limited(TaggedError, category=Category.RATE_LIMIT, message='Too many calls.'):
    """Stands for a rate limiter's error."""

    retry_after: float | None = None


class Stale(TaggedError, category=Category.CONFLICT, message='Too old.'):
    """What a handler may fail with."""


def yesterdays(error: TaggedError) -> Result[int, Stale]:
    return Success(1) if error.retryable else Failure(Stale())


def always_one(_error: TaggedError) -> Success[int]:
    return Success(1)


async def asks_another(error: TaggedError) -> Result[int, Stale]:
    return yesterdays(error)


def one_or_the_other(error: TaggedError) -> Result[int, Stale] | Awaitable[Result[int, Stale]]:
    return yesterdays(error) if error.retryable else asks_another(error)


def find_user(uid: int) -> Result[User, UserNotFound]:
    return Success(User('ada')) if uid else Failure(UserNotFound(uid))


async def charge(cart: Cart) -> Result[Receipt, CardDeclined | BankDown]:
    return Success(Receipt(len(cart.items)))


def makes() -> None:
    assert_type(fallback(yesterdays), Fallback[int, Stale])
    assert_type(fallback(asks_another), Fallback[int, Stale])
    assert_type(fallback(one_or_the_other), Fallback[int, Stale])
    assert_type(fallback(always_one), Fallback[int, Never])
    assert_type(fallback(lambda _error: asks_another(_error)), Fallback[int, Stale])
    fallback(lambda: Success(1))  # want: error, a handler takes the error
    fallback(find_user)  # want: error, a handler takes any error


def nests(limit: Guard[Limited]) -> None:
    assert_type(fallback(yesterdays) >> limit, Fallback[int, Stale | Limited])
    limit >> fallback(yesterdays)  # want: error, a fallback stands outermost
    fallback(yesterdays) >> fallback(yesterdays)  # want: error, and once


def runs_sync(limit: Guard[Limited]) -> None:
    found = (fallback(yesterdays) >> limit).run_sync(lambda: find_user(1))
    assert_type(found.unwrap(), User | int)
    assert_type(found.failure(), UserNotFound | Stale | Limited)


async def runs(limit: Guard[Limited]) -> None:
    paid = await (fallback(asks_another) >> limit).run(lambda: charge(Cart(())))
    assert_type(paid.unwrap(), Receipt | int)
    assert_type(paid.failure(), CardDeclined | BankDown | Stale | Limited)


async def decorates(limit: Guard[Limited]) -> None:
    @(fallback(yesterdays) >> limit)
    def find(uid: int) -> Result[User, UserNotFound]:
        return find_user(uid)

    @fallback(yesterdays)
    async def pay(cart: Cart, *, tip: int = 0) -> Result[Receipt, CardDeclined | BankDown]:
        return await charge(Cart(cart.items * tip))

    assert_type(find(1).unwrap(), User | int)
    assert_type(find(1).failure(), UserNotFound | Stale | Limited)
    assert_type((await pay(Cart(()), tip=1)).unwrap(), Receipt | int)
    assert_type((await pay(Cart(()))).failure(), CardDeclined | BankDown | Stale)
    find('x')  # want: error, a uid is an int


def too_little(limit: Guard[Limited]) -> Result[User, UserNotFound | Stale | Limited]:
    return (fallback(yesterdays) >> limit).run_sync(lambda: find_user(1))  # want: error, the handler's value is lost
