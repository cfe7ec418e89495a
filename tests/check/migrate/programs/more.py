"""Methods, coroutines, context managers, callbacks, places that keep exceptions."""

import asyncio
import contextlib
import warnings
from collections.abc import Awaitable, Callable, Iterator
from typing import overload


class Full(Exception):
    def __init__(self, size: int, limit: int = 3) -> None:
        """Say how full."""
        self.size = size
        super().__init__(f'{size!r} > {limit:>2}')
        self.limit = limit


class Gone(Exception):
    """It is not there."""

    # A comment in the class.


class Odd(Exception): ...


class Kept(Exception):
    def __str__(self) -> str:
        return 'kept'


class Rolled(Exception):
    pass


class Box:
    def __init__(self, limit: int) -> None:
        if limit < 0:
            raise Gone('limit')
        self.limit = limit
        self.items: list[int] = []

    def put(self, item: int, *more: int, quiet: bool = False) -> int:
        """Put an item."""
        if len(self.items) >= self.limit:
            raise Full(len(self.items), limit=self.limit)
        self.items.append(item)
        if more:
            return self.put(*more, quiet=quiet)
        return len(self.items)

    @staticmethod
    def check(item: int) -> int:
        if item == 13:
            raise Gone(f'{item}')
        return item

    @classmethod
    def of(cls, *items: int) -> 'Box':
        box = cls(3)
        for item in items:
            box.put(cls.check(item))
        return box

    @property
    def last(self) -> int:
        if not self.items:
            raise Gone('last')
        return self.items[-1]

    def each(self) -> Iterator[int]:
        for item in self.items:
            yield self.check(item)


class Small(Box):
    def grow(self) -> int:
        return self.put(0) + self.put(1)


class Shape:
    def area(self) -> int:
        raise Odd('no area')


class Square(Shape):
    def area(self) -> int:
        return 4


@contextlib.contextmanager
def transaction(log: list[str]) -> Iterator[None]:
    log.append('begin')
    try:
        yield
    except Exception as error:
        log.append(f'rollback {type(error).__name__}')
        raise
    log.append('commit')


@contextlib.contextmanager
def section(log: list[str]) -> Iterator[None]:
    log.append('open')
    try:
        yield
    finally:
        log.append('close')


def roll(number: int) -> int:
    if number > 2:
        raise Rolled('rolled')
    return number


def saved(number: int, log: list[str]) -> int:
    with transaction(log):
        log.append('work')
        return roll(number)


def in_section(number: int, log: list[str]) -> int:
    with section(log):
        log.append('work')
        return roll(number)


async def fetch(number: int) -> int:
    await asyncio.sleep(0)
    if number == 2:
        raise Gone('fetch')
    return number


async def pages(number: int) -> list[int]:
    found = []
    for page in range(number):
        try:
            found.append(await fetch(page))
        except Gone as error:
            await asyncio.sleep(0)
            found.append(len(str(error)))
    return found + [await fetch(number)]


async def gathered(number: int) -> int:
    first, second = await asyncio.gather(slow(number), slow(1))
    return first + second


async def slow(number: int) -> int:
    await asyncio.sleep(0)
    if number == 3:
        raise Odd('slow')
    return number


def kept(number: int) -> int:
    if number == 1:
        raise Kept
    return number


def called(function: Callable[[int], int], number: int) -> int:
    return function(number)


def passed(number: int) -> int:
    if number == 1:
        raise Rolled('passed')
    return number


def longest(names: list[int]) -> int:
    return max(names, key=roll)


def chained(number: int) -> int:
    try:
        return 6 // number
    except ZeroDivisionError as error:
        raise Odd(f'{error}') from error


def warns(number: int) -> None:
    if number < 0:
        raise Odd('negative')
    warnings.warn('old', DeprecationWarning, stacklevel=2)


@overload
def shown(number: int) -> int: ...
@overload
def shown(number: str) -> str: ...
def shown(number: int | str) -> int | str:
    if not number:
        raise Odd('nothing')
    return number


def outer(number: int) -> int:
    def inner(depth: int) -> int:
        if depth > number:
            raise Odd('inner')
        return depth

    return inner(3)


def reads(number: int) -> str:
    try:
        raise Kept(number)
    except Kept as error:
        return f'{error.args}'


def starred(number: int) -> int:
    return sum([*map(roll, range(number))])


def swallowed(number: int) -> int:
    try:
        return roll(number)
    finally:
        if number == 4:
            return 7


def later(number: int) -> Awaitable[int]:
    if number == 3:
        raise Rolled('later')
    return asyncio.sleep(0, number)


def test_roll(number: int) -> None:
    assert roll(number) == 2


def tried(text: str) -> object:
    actions: dict[str, Callable[[], object]] = {
        'of': lambda: Box.of(1, 2).items,
        'of 13': lambda: Box.of(1, 13).items,
        'of four': lambda: Box.of(1, 2, 3, 4).items,
        'last': lambda: Box(3).last,
        'limit': lambda: Box(-1).limit,
        'each': lambda: list(Small(3).each()),
        'grow': lambda: Small(1).grow(),
        'put': lambda: Box(2).put(1, 2, 3),
        'area': lambda: Shape().area(),
        'square': lambda: Square().area(),
        'kept': lambda: kept(1),
        'called': lambda: called(passed, 1),
        'longest': lambda: longest([1, 2, 3]),
        'chained': lambda: chained(0),
        'outer': lambda: outer(2),
        'reads': lambda: reads(2),
        'swallowed': lambda: swallowed(4),
        'not swallowed': lambda: swallowed(5),
        'later': lambda: later(3),
        'test': lambda: test_roll(3),
        'starred': lambda: starred(5),
        'pages': lambda: asyncio.run(pages(2)),
        'more pages': lambda: asyncio.run(pages(4)),
        'gathered': lambda: asyncio.run(gathered(3)),
    }
    return actions[text]()


def main() -> None:
    log: list[str] = []
    for number in (1, 3):
        try:
            print(saved(number, log))
        except Rolled as error:
            print('rolled', error)
        try:
            print(in_section(number, log))
        except Rolled as error:
            print('rolled', error)
    print(log)
    for name in (
        'of',
        'of 13',
        'of four',
        'last',
        'limit',
        'each',
        'grow',
        'put',
        'area',
        'square',
        'kept',
        'called',
        'longest',
        'chained',
        'outer',
        'reads',
        'swallowed',
        'not swallowed',
        'later',
        'test',
        'starred',
        'pages',
        'more pages',
        'gathered',
    ):
        try:
            print(name, tried(name))
        except Full as error:
            print(name, 'full', error, error.size, error.limit)
        except (Gone, Rolled) as error:
            print(name, type(error).__name__, error)
        except Exception as error:
            print(name, 'other', type(error).__name__, error)
    print(kept(1))


if __name__ == '__main__':
    main()
