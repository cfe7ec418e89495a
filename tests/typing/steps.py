"""A step returns a result; the value of the call that a lambda gets is known in every checker."""

from domain import Cart, CartEmpty, User, UserNotFound, find_user, load_cart
from seamwise import Failure, Result, Success, bind_async, catch, catch_all, collect, tap, tap_error
from typing_extensions import assert_type


def users(*uids: int) -> Result[tuple[User, ...], UserNotFound]:
    return collect(find_user(uid) for uid in uids)


def name(user: User) -> str:
    return user.name


async def load_later(user: User) -> Result[Cart, CartEmpty]:
    return load_cart(user)


async def name_later(user: User) -> str:
    return user.name


def nobody(error: UserNotFound) -> str:
    return str(error)


# A lambda that loops over the value. (ty and pyrefly give no context to a lambda for a union.)
assert_type(users(1).map(lambda found: [user.name for user in found]), Result[list[str], UserNotFound])  # may[ty,pyrefly]: error
assert_type(users(1).map(lambda found: sum(len(user.name) for user in found)), Result[int, UserNotFound])  # may[ty,pyrefly]: error
assert_type(users(1).map(lambda found: {user.name: user for user in found}), Result[dict[str, User], UserNotFound])  # may[ty,pyrefly]: error
first: Result[list[str], UserNotFound] = users(1).bind(lambda found: Success([user.name for user in found]))
carts: Result[tuple[Cart, ...], UserNotFound | CartEmpty] = users(1).bind(lambda found: collect(load_cart(user) for user in found))
named: Result[tuple[User, ...], str] = users(1).alt(lambda error: ''.join(letter for letter in str(error)))
guests: Result[tuple[User, ...], UserNotFound] = users(1).lash(lambda error: Success(tuple(User(letter) for letter in str(error))))
tap(users(1), lambda found: [user.name for user in found])
tap_error(users(1), lambda error: [letter for letter in str(error)])

# A step returns a result: neither a plain value nor a coroutine.
find_user(1).bind(name)  # want: error, a str is no result
find_user(1).bind(lambda user: user.name)  # want[mypy,mypy+plugin,pyright,pyrefly]: error, a str is no result
find_user(1).bind(load_later)  # want: error, a coroutine is no result
find_user(1).lash(nobody)  # want: error, a str is no result
find_user(1).lash(lambda error: 0)  # want: error, an int is no result
Success(User('ada')).bind(name)  # want: error, a str is no result
Failure(UserNotFound(1)).lash(nobody)  # want[mypy,mypy+plugin,pyright,pyrefly]: error, a str is no result
catch(UserNotFound, nobody)  # want[mypy,mypy+plugin,pyright,pyrefly]: error, a str is no result
catch_all(nobody)  # want[mypy,mypy+plugin,pyright,pyrefly]: error, a str is no result


async def asynchronous() -> None:
    assert_type(await bind_async(find_user(1), load_later), Success[Cart] | Failure[CartEmpty] | Failure[UserNotFound])
    await bind_async(find_user(1), name_later)  # want[mypy,mypy+plugin,pyright,pyrefly]: error, a str is no result
