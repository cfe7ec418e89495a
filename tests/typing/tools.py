"""A tool has the errors of its function; tools add up with `|`, and keep each of them."""

from typing import Annotated, Never

from domain import BankDown, CardDeclined, User, UserNotFound
from msgspec import Meta
from seamwise import Do, Failure, Result, Success, attempt, fallible, when
from seamwise.catalog.tools import RegistrationRejected
from seamwise.policies import RateLimited, rate_limit
from seamwise.toolhost import Tool, ToolLimits, ToolOutcome, Tools, tool, toolset
from typing_extensions import assert_type


@tool
def find_user(uid: int) -> Result[User, UserNotFound]:
    """Find a user."""
    return Success(User('ada')) if uid else Failure(UserNotFound(uid))


@tool(is_repeatable=True, timeout=2.0)
async def charge(
    user: str, amount: Annotated[int, Meta(ge=1)] = 1
) -> Result[str, CardDeclined | BankDown]:
    """Charge a user."""
    return Success(user * amount)


@tool
def add(a: int, b: int = 1) -> int:
    """Add two numbers."""
    return a + b


@tool(isolated=ToolLimits(seconds=10), validate=False)
async def double(a: int) -> int:
    """Double a number."""
    return 2 * a


# A tool has the errors of its function; a function without a Result has none.
a_find: Tool[UserNotFound] = find_user
a_charge: Tool[CardDeclined | BankDown] = charge
a_add: Tool[Never] = add
a_double: Tool[Never] = double
narrow: Tool[CardDeclined] = charge  # want: error, BankDown is an error too
another: Tool[UserNotFound] = charge  # want: error, the errors are others
wide: Tool[UserNotFound | BankDown] = find_user

# Tools add up.
assert_type(find_user | charge, Tools[UserNotFound | CardDeclined | BankDown])
assert_type(find_user | charge | add, Tools[UserNotFound | CardDeclined | BankDown])
assert_type(add | double, Tools[Never])
assert_type(add | (double | find_user), Tools[UserNotFound])
assert_type((add | charge) | (double | find_user), Tools[CardDeclined | BankDown | UserNotFound])
TOOLS: Tools[UserNotFound | CardDeclined | BankDown] = find_user | charge | add | double
too_narrow: Tools[UserNotFound] = find_user | charge  # want: error, CardDeclined is an error too
_ = find_user | 5  # want: error, a number is no tool

# At run time.
assert_type(toolset([find_user]), Result[Tools[UserNotFound], RegistrationRejected])
assert_type(toolset(TOOLS).unwrap(), Tools[UserNotFound | CardDeclined | BankDown])
several: list[Tool[UserNotFound | BankDown]] = [find_user, add]
assert_type(toolset(several).unwrap(), Tools[UserNotFound | BankDown])
found = TOOLS.find('find_user')
assert_type(found.unwrap(), Tool[UserNotFound | CardDeclined | BankDown])


# The function can still be called, with its own signature.
def calls() -> None:
    assert_type(find_user(1).unwrap(), User)
    assert_type(find_user(1).failure(), UserNotFound)
    assert_type(find_user(uid=1).unwrap(), User)
    assert_type(add(1, b=2), int)
    find_user('ada')  # want: error, the parameter is a number
    find_user()  # want: error, a parameter is missing
    add(1, c=2)  # want: error, there is no such parameter


async def awaits() -> None:
    assert_type((await charge('ada', amount=2)).failure(), CardDeclined | BankDown)
    assert_type((await charge('ada')).unwrap(), str)
    assert_type(await double(1), int)
    await charge(1)  # want: error, the parameter is a text
    charge('ada').unwrap()  # want: error, a coroutine has no value yet


# Decorators below `tool` count.
@tool
@fallible
def in_direct_style(do: Do[UserNotFound], uid: int) -> User:
    """Find a user."""
    return do(find_user(uid))


@tool
@attempt(when(ZeroDivisionError).becomes(lambda _: UserNotFound(0)))
def at_an_edge(uid: int) -> int:
    """Divide."""
    return 1 // uid


@tool
@rate_limit(5, name='look')
def guarded(uid: int) -> Result[User, UserNotFound]:
    """Find a user."""
    return find_user(uid)


b_direct: Tool[UserNotFound] = in_direct_style
b_edge: Tool[UserNotFound] = at_an_edge
b_guarded: Tool[UserNotFound | RateLimited] = guarded
b_narrow: Tool[UserNotFound] = guarded  # want: error, the guard adds an error
assert_type(in_direct_style | at_an_edge, Tools[UserNotFound])


# A bound method, and an exclusive tool.
class Shop:
    def total(self, count: int) -> Result[int, UserNotFound]:
        return Success(count)


total = tool(Shop().total)
c_total: Tool[UserNotFound] = total
assert_type(total(2).unwrap(), int)


@tool(exclusive=lambda arguments: arguments['path'])
def write(path: str) -> Result[int, BankDown]:
    """Write."""
    return Success(len(path))


c_write: Tool[BankDown] = write
tool(timeout='soon')  # want: error, a timeout is a number
tool(retries=2)  # want: error, there is no such option


# A certain success.
@tool
async def certain(uid: int) -> Success[int]:
    """Find a number."""
    return Success(uid)


d_certain: Tool[Never] = certain
assert_type(certain | find_user, Tools[UserNotFound])


# Without an argument, an outcome is that of tools without errors of their own.
def observe(outcome: ToolOutcome) -> None:
    e_outcome: ToolOutcome[Never] = outcome
    print(e_outcome.retryable)
