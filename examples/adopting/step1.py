"""Book the orders of a file against a stock: `python step1.py ORDERS STOCK`."""

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from seamwise import Category, Do, Failure, Raised, Result, Success, TaggedError, fallible, or_raise


class BadLine(TaggedError, category=Category.VALIDATION, message='{message}'):
    """A line that is not an order."""

    message: str


class UnknownItem(TaggedError, category=Category.NOT_FOUND, message='{message}'):
    """An item that is not sold."""

    message: str


class SoldOut(TaggedError, category=Category.CAPACITY, message='{message}'):
    """More was ordered than is in stock."""

    message: str


OrderError: TypeAlias = BadLine | UnknownItem | SoldOut
"""An order cannot be booked."""


@dataclass(frozen=True)
class Order:
    """An item and its count."""

    item: str
    count: int


class Stock:
    """Remaining count of each item, stored in a JSON file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.left: dict[str, int] = json.loads(path.read_text())

    def take(self, order: Order) -> Result[int, UnknownItem | SoldOut]:
        """Subtract an order from the stock, and return the remaining count."""
        if order.item not in self.left:
            return Failure(UnknownItem(f'There is no {order.item!r}.'))
        if order.count > self.left[order.item]:
            return Failure(SoldOut(f'Only {self.left[order.item]} of {order.item!r} are left.'))
        self.left[order.item] -= order.count
        return Success(self.left[order.item])

    def save(self) -> None:
        """Write the stock back."""
        self.path.write_text(json.dumps(self.left))


def parse(number: int, line: str) -> Result[Order, BadLine]:
    """Parse a line such as `tea, 2`."""
    item, _, count = line.partition(',')
    if not count.strip().isdecimal():
        return Failure(BadLine(f'Line {number} is no order: {line!r}.'))
    return Success(Order(item.strip(), int(count)))


@fallible
def book(do: Do[BadLine | UnknownItem | SoldOut], orders: Path, stock_file: Path) -> list[str]:
    """Book all orders or none, and return the remaining counts."""
    stock = Stock(stock_file)
    lines = orders.read_text().splitlines()
    booked = [do(parse(number, line)) for number, line in enumerate(lines, 1)]
    summary = [f'{order.item}: {do(stock.take(order))} left' for order in booked]
    stock.save()
    return summary


def main(arguments: Sequence[str]) -> int:
    """Run the program, and return its exit code."""
    orders, stock_file = map(Path, arguments)
    try:
        for line in or_raise(book(orders, stock_file)):
            print(line)
    except Raised as raised:
        match raised.error:
            case SoldOut() as error_2:
                print(error_2, file=sys.stderr)
                return 75
            case BadLine() | UnknownItem() as error_2:
                print(error_2, file=sys.stderr)
                return 65
            case _:
                raise
    except FileNotFoundError as error:
        print(f'There is no file {error.filename!r}.', file=sys.stderr)
        return 66
    except Exception as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
