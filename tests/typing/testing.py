"""Assertions of tests: the value and the error have their exact types."""

from domain import BankDown, CardDeclined, Receipt, UserNotFound
from seamwise import Failure, Result, Success
from seamwise.seams import http
from seamwise.testing import assert_covers, assert_failure, assert_success
from typing_extensions import assert_type


def pay(uid: int) -> Result[Receipt, UserNotFound | CardDeclined]:
    return Failure(UserNotFound(uid)) if uid else Success(Receipt(uid))


async def pay_async(uid: int) -> Result[Receipt, UserNotFound | CardDeclined]:
    return pay(uid)


# The value of a success, the error of a failure.
assert_type(assert_success(pay(1)), Receipt)
assert_type(assert_success(Success(Receipt(1))), Receipt)
assert_type(assert_failure(pay(1), UserNotFound), UserNotFound)
assert_type(assert_failure(pay(1), CardDeclined, reason='no card').reason, str)
assert_type(assert_failure(Failure(BankDown(1.0)), BankDown), BankDown)


# A result that was not awaited, a value that is no result.
async def test_async() -> None:
    assert_type(assert_success(await pay_async(1)), Receipt)
    assert_success(pay_async(1))  # want: error, a coroutine is no result


assert_success(3)  # want: error, a value is no result
assert_failure(UserNotFound(1), UserNotFound)  # want: error, an error is no result
assert_failure(pay(1), UserNotFound(1))  # want: error, a class is expected, not an error


# An adapter of any seam, and any spelling of a union.
TABLE = http.on(UserNotFound).responds(404, 'USER_NOT_FOUND') | http.on(CardDeclined).responds(409, 'DECLINED')
assert_covers(TABLE, UserNotFound | CardDeclined)
assert_covers(TABLE, UserNotFound)
assert_covers(3, UserNotFound)  # want: error, an adapter is expected
