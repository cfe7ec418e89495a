"""Book the orders of a file against a stock: `python step1.py ORDERS STOCK`."""

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from seamwise import Category, Failure, Raised, Result, Success, TaggedError, or_raise


class OrderError(Exception):
    """An order cannot be booked."""


class BadLine(
    TaggedError, category=Category.VALIDATION, message='Line {number} is no order: {line!r}.'
):
    """A line that is not an order."""

    number: int
    line: str


class UnknownItem(OrderError):
    """An item that is not sold."""


class SoldOut(OrderError):
    """More was ordered than is in stock."""


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

    def take(self, order: Order) -> int:
        """Subtract an order from the stock, and return the remaining count."""
        if order.item not in self.left:
            raise UnknownItem(f'There is no {order.item!r}.')
        if order.count > self.left[order.item]:
            raise SoldOut(f'Only {self.left[order.item]} of {order.item!r} are left.')
        self.left[order.item] -= order.count
        return self.left[order.item]

    def save(self) -> None:
        """Write the stock back."""
        self.path.write_text(json.dumps(self.left))


def parse(number: int, line: str) -> Result[Order, BadLine]:
    """Parse a line such as `tea, 2`."""
    item, _, count = line.partition(',')
    if not count.strip().isdecimal():
        return Failure(BadLine(number, line))
    return Success(Order(item.strip(), int(count)))


def book(orders: Path, stock_file: Path) -> list[str]:
    """Book all orders or none, and return the remaining counts."""
    stock = Stock(stock_file)
    lines = orders.read_text().splitlines()
    booked = [or_raise(parse(number, line)) for number, line in enumerate(lines, 1)]
    summary = [f'{order.item}: {stock.take(order)} left' for order in booked]
    stock.save()
    return summary


def main(arguments: Sequence[str]) -> int:
    """Run the program, and return its exit code."""
    orders, stock_file = map(Path, arguments)
    try:
        for line in book(orders, stock_file):
            print(line)
    except SoldOut as error:
        print(error, file=sys.stderr)
        return 75
    except Raised as exception:
        print(exception.error, file=sys.stderr)
        return 65
    except OrderError as error:
        print(error, file=sys.stderr)
        return 65
    except FileNotFoundError as error:
        print(f'There is no file {error.filename!r}.', file=sys.stderr)
        return 66
    except Exception as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
