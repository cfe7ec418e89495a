"""Book the orders of a file against a stock: `python step3.py ORDERS STOCK`."""

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
    """A line that is not an order."""

    number: int
    line: str


class UnknownItem(TaggedError, category=Category.NOT_FOUND, message='There is no {item!r}.'):
    """An item that is not sold."""

    item: str


class SoldOut(TaggedError, category=Category.CAPACITY, message='Only {left} of {item!r} are left.'):
    """More was ordered than is in stock."""

    item: str
    left: int


class FileMissing(TaggedError, category=Category.NOT_FOUND, message='There is no file {path!r}.'):
    """A file that does not exist."""

    path: str


class StockUnreadable(TaggedError, category=Category.CONFIGURATION, message='{problem}'):
    """A stock that is not JSON."""

    problem: str


class StockNotSaved(TaggedError, category=Category.RESOURCE, message='{problem}'):
    """A stock that cannot be written."""

    problem: str


BookingError: TypeAlias = (
    BadLine | UnknownItem | SoldOut | FileMissing | StockUnreadable | StockNotSaved
)

TERMINAL = (
    on(BadLine).exits(65)
    | on(UnknownItem).exits(65)
    | on(SoldOut).exits(75)
    | on(FileMissing).exits(66)
    | on(StockUnreadable).exits(1)
    | on(StockNotSaved).exits(1)
)


@dataclass(frozen=True)
class Order:
    """An item and its count."""

    item: str
    count: int


class Stock:
    """Remaining count of each item, stored in a JSON file."""

    def __init__(self, path: Path, left: dict[str, int]) -> None:
        self.path = path
        self.left = left

    def take(self, order: Order) -> Result[int, UnknownItem | SoldOut]:
        """Subtract an order from the stock, and return the remaining count."""
        if order.item not in self.left:
            return Failure(UnknownItem(order.item))
        if order.count > self.left[order.item]:
            return Failure(SoldOut(order.item, self.left[order.item]))
        self.left[order.item] -= order.count
        return Success(self.left[order.item])

    @attempt(when(OSError).becomes(lambda error: StockNotSaved(str(error))))
    def save(self) -> None:
        """Write the stock back."""
        self.path.write_text(json.dumps(self.left))


@attempt(when(FileNotFoundError).becomes(lambda error: FileMissing(error.filename)))
def read(path: Path) -> str:
    """Return the text of a file."""
    return path.read_text()


@attempt(when(json.JSONDecodeError).becomes(lambda error: StockUnreadable(str(error))))
def decode(text: str) -> dict[str, int]:
    """Parse the remaining count of each item."""
    left: dict[str, int] = json.loads(text)
    return left


def parse(number: int, line: str) -> Result[Order, BadLine]:
    """Parse a line such as `tea, 2`."""
    item, _, count = line.partition(',')
    if not count.strip().isdecimal():
        return Failure(BadLine(number, line))
    return Success(Order(item.strip(), int(count)))


@fallible
def book(do: Do[BookingError], orders: Path, stock_file: Path) -> list[str]:
    """Book all orders or none, and return the remaining counts."""
    stock = Stock(stock_file, do(read(stock_file).bind(decode)))
    lines = do(read(orders)).splitlines()
    booked = [do(parse(number, line)) for number, line in enumerate(lines, 1)]
    summary = [f'{order.item}: {do(stock.take(order))} left' for order in booked]
    do(stock.save())
    return summary


def main(arguments: Sequence[str]) -> int:
    """Run the program, and return its exit code."""
    orders, stock_file = map(Path, arguments)
    try:
        result = book(orders, stock_file)
    except Exception as exception:
        ref = report_defect(exception).ref
        print(f'A defect: {ref}.', file=sys.stderr)
        return 70
    return report(result, TERMINAL, stdout=sys.stdout, stderr=sys.stderr)


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
