from collections.abc import Iterable, Mapping
from enum import Enum
from typing import Any, Protocol, TypeVar
from unittest.mock import ANY, Mock

from returns.maybe import Maybe

from seamwise import Category, Failure, Result, Success, TaggedError, is_success

T = TypeVar('T')


class Missing(TaggedError, category=Category.NOT_FOUND, message='missing'):
    pass


class Color(Enum):
    RED = 'red'


class Like:
    def __eq__(self, other: object) -> bool:
        return True


class Named(Protocol):
    name: str


class Point:
    x = 0


def count(name: str) -> Result[int, Missing]:
    return Success(len(name)) if name else Failure(Missing())


def cached(name: str) -> Result[int, Missing] | None:
    return count(name) if name else None


async def later() -> Result[int, Missing]:
    return Success(1)


def nothing() -> None:
    pass


# case: a value in a condition
def condition(name: str) -> str:
    if count(name) == 1:  # finds: SW124
        return 'one'
    return 'other'


# case: other comparisons with a value
def operators(name: str, counted: Result[int, Missing]) -> list[bool]:
    return [
        counted != 1,  # finds: SW124
        0 == counted,  # finds: SW124
        counted == -1,  # finds: SW124
        counted is None,  # finds: SW124
        counted == f'{name}',  # finds: SW124
        1 < len(name) == counted,  # finds: SW124
    ]


# case: values of several types
def values(counted: Result[int, Missing], number: int | None, pair: tuple[int, int]) -> list[bool]:
    return [
        counted == number,  # finds: SW124
        counted == pair,  # finds: SW124
        counted == [1],  # finds: SW124
        counted == Color.RED,  # finds: SW124
        counted == Point(),  # finds: SW124
    ]


# case: an error
def error(counted: Result[int, Missing]) -> bool:
    return counted == Missing()  # finds: SW124


# case: a missing await
async def awaited(counted: Result[int, Missing]) -> bool:
    if await later() == counted:
        return True
    return later() == counted  # finds: SW124


# case: containers
def containers(counted: Result[int, Missing], numbers: list[int], results: list[Result[int, Missing]]) -> list[bool]:
    return [
        counted in [0, 1],  # finds: SW124
        counted in numbers,  # finds: SW124
        counted not in {'a': 1},  # finds: SW124
        0 in results,  # finds: SW124
    ]


# case: patterns
def patterns(counted: Result[Any, Missing]) -> str:
    match counted:
        case None:  # finds: SW124
            return 'none'
        case 0 | -1:  # finds: SW124
            return 'zero'
        case Color.RED as color:  # finds: SW124
            return color.value
        case Missing():  # finds: SW124
            return 'missing'
        case int():  # finds: SW124
            return 'a number'
        case [_, _]:  # finds: SW124
            return 'a pair'
        case _:
            return 'other'


# case: Results
def results(counted: Result[int, Missing], others: Iterable[Result[int, Missing]]) -> list[bool]:
    return [
        counted == Success(1),
        counted != Failure(Missing()),
        count('a') == counted,
        counted in others,
        counted in [Success(1), Success(2)],
        counted is counted,
        is_success(counted) == True,  # noqa: E712
    ]


# case: a Result or None
def optional(name: str) -> str:
    if cached(name) is None or cached(name) == None:  # noqa: E711
        return 'missing'
    match cached(name):
        case None:
            return 'missing'
        case Success(_):
            return 'found'
        case _:
            return 'failed'


# case: values that may be a Result, or equal to one
def unknown(counted: Result[int, Missing], value: object, anything: Any, item: T, like: Like) -> list[object]:
    return [counted == value, counted == anything, counted == item, counted == like, counted == ANY, counted == Mock()]


# case: interfaces
def interfaces(counted: Result[int, Missing], named: Named, maybe: Maybe[int]) -> list[bool]:
    return [counted == named, counted == maybe, counted == nothing()]  # type: ignore[func-returns-value]


# case: containers that may contain a Result
def mixed(counted: Result[int, Missing], table: Mapping[object, int], items: list[Any]) -> list[bool]:
    return [counted in table, counted in items, counted in [], counted in (1, counted)]


# case: patterns of Results
def closed(counted: Result[int, Missing]) -> str:
    match counted:
        case Success(0 | 1):
            return 'few'
        case Success():
            return 'many'
        case Failure(Missing()):
            return 'missing'


# case: a pattern for any object
def any_object(counted: Result[int, Missing]) -> str:
    match counted:
        case Success():
            return 'counted'
        case object():
            return 'other'


# case: the value of a Result
def value(name: str) -> bool:
    return count(name).value_or(0) == 0 and cached(name) != count(name)
