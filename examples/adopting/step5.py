"""Books the orders of a file against a stock: `python step5.py ORDERS STOCK`."""

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from seamwise import (
    Category,
    Do,
    Failure,
    Result,
    Success,
    TaggedError,
    attempt,
    fallible,
    report_defect,
    when,
)
from seamwise.seams.cli import on, report


class BadLine(
    TaggedError, category=Category.VALIDATION, message='Line {number} is no order: {line!r}.'
):
    """A line that is no order."""

    number: int
    line: str


class UnknownItem(TaggedError, category=Category.NOT_FOUND, message='There is no {item!r}.'):
    """An item that nobody sells."""

    item: str


class SoldOut(TaggedError, category=Category.CAPACITY, message='Only {left} of {item!r} are left.'):
    """More was ordered than is left."""

    item: str
    left: int


class FileMissing(TaggedError, category=Category.NOT_FOUND, message='There is no file {path!r}.'):
    """A file that is not where it should be."""

    path: str


class StockUnreadable(TaggedError, category=Category.CONFIGURATION, message='{problem}'):
    """A stock that is not JSON."""

    problem: str


class StockNotKept(TaggedError, category=Category.RESOURCE, message='{problem}'):
    """A stock that cannot be written."""

    problem: str


BookingError: TypeAlias = (
    BadLine | UnknownItem | SoldOut | FileMissing | StockUnreadable | StockNotKept
)

TERMINAL = (
    on(BadLine).exits(65)
    | on(UnknownItem).exits(65)
    | on(SoldOut).exits(75)
    | on(FileMissing).exits(66)
    | on(StockUnreadable).exits(1)
    | on(StockNotKept).exits(1)
)


@dataclass(frozen=True)
class Order:
    """So many of an item."""

    item: str
    count: int


class Stock:
    """What is left of each item, in a JSON file."""

    def __init__(self, path: Path, left: dict[str, int]) -> None:
        self.path = path
        self.left = left

    def take(self, order: Order) -> Result[int, UnknownItem | SoldOut]:
        """Take an order out of the stock, and tell what is left."""
        if order.item not in self.left:
            return Failure(UnknownItem(order.item))
        if order.count > self.left[order.item]:
            return Failure(SoldOut(order.item, self.left[order.item]))
        self.left[order.item] -= order.count
        return Success(self.left[order.item])

    @attempt(when(OSError).becomes(lambda raised: StockNotKept(str(raised))))
    def save(self) -> None:
        """Write the stock back."""
        self.path.write_text(json.dumps(self.left))


@attempt(when(FileNotFoundError).becomes(lambda raised: FileMissing(raised.filename)))
def read(path: Path) -> str:
    """Give the text of a file."""
    return path.read_text()


@attempt(when(json.JSONDecodeError).becomes(lambda raised: StockUnreadable(str(raised))))
def decoded(text: str) -> dict[str, int]:
    """Read what is left of each item."""
    left: dict[str, int] = json.loads(text)
    return left


def parse(number: int, line: str) -> Result[Order, BadLine]:
    """Read a line such as `tea, 2`."""
    item, _, count = line.partition(',')
    if not count.strip().isdecimal():
        return Failure(BadLine(number, line))
    return Success(Order(item.strip(), int(count)))


@fallible
def book(do: Do[BookingError], orders: Path, stock_file: Path) -> list[str]:
    """Book all orders or none, and tell what is left of each item."""
    stock = Stock(stock_file, do(read(stock_file).bind(decoded)))
    lines = do(read(orders)).splitlines()
    booked = [do(parse(number, line)) for number, line in enumerate(lines, 1)]
    told = [f'{one.item}: {do(stock.take(one))} left' for one in booked]
    do(stock.save())
    return told


def main(arguments: Sequence[str]) -> int:
    """Run the program, and give its exit code."""
    orders, stock_file = map(Path, arguments)
    try:
        result = book(orders, stock_file)
    except Exception as raised:
        ref = report_defect(raised).ref
        print(f'A defect: {ref}.', file=sys.stderr)
        return 70
    return report(result, TERMINAL, stdout=sys.stdout, stderr=sys.stderr)


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
