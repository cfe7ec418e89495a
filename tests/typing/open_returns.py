"""Functions whose return type fits every other type: a type variable, `NoReturn`, `Any`."""

import json
from collections.abc import Sequence
from typing import Any, NoReturn

from domain import BankDown, UserNotFound
from seamwise import Do, Failure, Result, attempt, caught, fallible, or_raise, refine, when
from typing_extensions import Never, Self, TypeVar, assert_type

T = TypeVar('T')
K = TypeVar('K')
V = TypeVar('V')
B = TypeVar('B', bound=int)

RULES = when(LookupError).becomes(lambda error: UserNotFound(len(error.args)))


@attempt(RULES)
def first(items: Sequence[T]) -> T:
    return items[0]


@attempt(RULES)
def value(table: dict[K, V], key: K) -> V:
    return table[key]


@attempt(RULES)
def largest(numbers: Sequence[B]) -> B:
    return max(numbers)


@attempt(RULES)
async def first_later(items: Sequence[T]) -> T:
    return items[0]


@fallible
def direct(do: Do[UserNotFound], items: Sequence[T]) -> T:
    return items[0] if items else do.fail(UserNotFound(0))


class Node:
    @attempt(RULES)
    def me(self) -> Self:
        return self

    @attempt(RULES)
    def load(self, kind: type[T]) -> T:
        return kind()

    @fallible
    def find(self, do: Do[UserNotFound], items: Sequence[T]) -> T:
        return items[0] if items else do.fail(UserNotFound(0))


class Leaf(Node):
    pass


# Without the plugin, mypy infers the private class `Anything` for a type variable without a bound;
# `attempt(call, RULES)` in the body of the function is exact there.
assert_type(first([1]), Result[int, UserNotFound])  # may[mypy]: error
assert_type(value({'a': 1}, 'a'), Result[int, UserNotFound])  # may[mypy]: error
assert_type(largest([True]), Result[bool, UserNotFound])  # may[ty]: error
assert_type(direct([1]), Result[int, UserNotFound])  # may[mypy]: error
assert_type(Leaf().me(), Result[Leaf, UserNotFound])  # may[ty]: error
assert_type(Node().load(int), Result[int, UserNotFound])  # may[mypy]: error
assert_type(Node().find([1]), Result[int, UserNotFound])  # may[mypy]: error


def any_first(items: Sequence[T]) -> Result[T, UserNotFound]:
    return attempt(lambda: items[0], RULES)


assert_type(any_first([1]), Result[int, UserNotFound])


async def asynchronous() -> None:
    assert_type(await first_later([1]), Result[int, UserNotFound])


@attempt(RULES)
def die() -> NoReturn:
    raise LookupError


@attempt(RULES)
def die_with(code: int) -> Never:
    raise LookupError(code)


@refine(RULES)
def die_refined() -> NoReturn:
    raise LookupError


@fallible
def stop(do: Do[BankDown]) -> NoReturn:
    do.fail(BankDown())


class Server:
    @fallible
    def serve(self, do: Do[BankDown]) -> Never:
        do.fail(BankDown())


def fail() -> NoReturn:
    raise LookupError


died: Result[int, UserNotFound] = die()
assert_type(die().failure(), UserNotFound)
assert_type(die_with(1).failure(), UserNotFound)
assert_type(die_refined().failure(), UserNotFound)
assert_type(stop().failure(), BankDown)
assert_type(Server().serve().failure(), BankDown)
assert_type(attempt(fail, RULES).failure(), UserNotFound)
assert_type(caught(fail, UserNotFound).failure(), UserNotFound)
assert_type(caught(lambda: or_raise(Failure(BankDown())), BankDown, UserNotFound).failure(), BankDown | UserNotFound)
die_with('x')  # want: error, a code is an int


@attempt(RULES)
def anything(table: dict[str, Any]) -> Any:
    return table


anything({'a': 1})  # may[mypy]: error, taken for untyped
anything(1)  # want[mypy,mypy+plugin,pyright]: error, the parameters are kept


@fallible
def direct_anything(do: Do[BankDown], table: dict[str, Any]) -> Any:
    return table


@attempt(RULES)
async def anything_later(table: dict[str, Any]) -> Any:
    return table


def classify(error: Exception) -> Failure[UserNotFound] | None:
    return Failure(UserNotFound(1)) if isinstance(error, LookupError) else None


# Of a call that returns Any, only pyright and the plugin know the errors.
assert_type(attempt(lambda: json.loads('1'), RULES), Result[Any, UserNotFound])  # may[mypy,pyrefly,ty]: error
assert_type(refine(lambda: json.loads('1'), classify), Result[Any, UserNotFound])  # may[mypy,pyrefly,ty]: error
assert_type(caught(lambda: json.loads('1'), BankDown, UserNotFound), Result[Any, BankDown | UserNotFound])  # may[mypy,pyrefly,ty]: error
assert_type(direct_anything({}), Result[Any, BankDown])  # may[mypy,pyrefly,ty]: error


async def any_later() -> None:
    assert_type(await anything_later({}), Result[Any, UserNotFound])  # may[mypy]: error
