"""CPU time of `seamwise check` compared with mypy, on code bases of three sizes.

Each run is a separate process.
"""

import atexit
import os
import sys
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from shutil import rmtree
from string import Template
from subprocess import DEVNULL, run
from tempfile import mkdtemp

from benchmarks.measure import Comparison, Timer

SIZES = (25_000, 50_000, 100_000)
"""Lines of code."""

_PACKAGE = 20
"""Modules per package. Each imports the previous one, so that there are no import cycles."""

_MODULE = Template('''\
"""Orders, part $number."""

from typing import assert_never

from seamwise import Category, Do, Failure, Result, Success, TaggedError, catch, fallible
$imports

class NoSuchOrder$number(TaggedError, category=Category.NOT_FOUND, message='No order {order}.'):
    """The order does not exist."""

    order: int


class Refused$number(TaggedError, category=Category.PERMISSION, message='{name} may not.'):
    """The user lacks the permission."""

    name: str


Wrong$number = NoSuchOrder$number | Refused$number


class Orders$number:
    """Orders by number."""

    def __init__(self, names: dict[int, str]) -> None:
        self.names = names

    def find(self, order: int) -> Result[str, NoSuchOrder$number]:
        """Return the name of an order."""
        name = self.names.get(order)
        if name is None:
            return Failure(NoSuchOrder$number(order))
        return Success(name)

    async def place(self, order: int, name: str) -> Result[int, Refused$number]:
        """Add an order."""
        if name.startswith('x'):
            return Failure(Refused$number(name))
        self.names[order] = name
        return Success(order)

    @fallible
    def both(self, do: Do[NoSuchOrder$number], first: int, second: int) -> str:
        """Return the names of two orders."""
        names = [do(self.find(order)) for order in (first, second)]
        return ', '.join(sorted(names, key=lambda name: (len(name), name)))


@fallible
async def replace$number(do: Do[Wrong$number], orders: Orders$number, old: int, new: int) -> int:
    """Replace an order."""
    name = do(orders.find(old))
    if new in orders.names:
        do.fail(Refused$number(name))
    return do(await orders.place(new, name))


def formatted$number(orders: Orders$number, order: int) -> Result[str, NoSuchOrder$number]:
    """Format an order."""
    return orders.find(order).map(str.upper).map(lambda name: f'{name}: {order:>{len(name)}}')


def checked$number(orders: Orders$number, order: int) -> Result[str, Wrong$number]:
    """Refuse orders with short names."""
    result = formatted$number(orders, order)
    match result:
        case Success(name) if len(name) > 2:
            return Success(name)
        case Success(name):
            return Failure(Refused$number(name))
        case Failure(error):
            return Failure(error)


def name_or_default$number(orders: Orders$number, order: int) -> Result[str, Refused$number]:
    """Return a default for missing orders."""
    default = catch(NoSuchOrder$number, lambda error: Success(f'order {error.order}'))
    return default(checked$number(orders, order))


def status$number(error: Wrong$number) -> int:
    """Return the HTTP status of an error."""
    match error:
        case NoSuchOrder$number():
            return 404
        case Refused$number():
            return 403
        case _:
            assert_never(error)


def report$number(orders: Orders$number, numbers: list[int]) -> dict[str, list[int]]:
    """Group orders by whether they exist."""
    groups: dict[str, list[int]] = {'found': [], 'missing': []}
    for order in numbers:
        result = checked$number(orders, order)
        group = 'found' if isinstance(result, Success) else 'missing'
        groups[group].append(order)
    return groups
$last''')

_FIRST_MODULE = '''

def total$number(orders: Orders$number) -> int:
    """Count the letters of all names."""
    return sum(len(name) for name in orders.names.values())
'''

_NEXT_MODULE = '''

def total$number(orders: Orders$number, others: Orders$before) -> int:
    """Count the letters of all names, and discard a Result."""
    others.find($number)
    found = report$before(others, [$number])['found']
    return sum(len(name) for name in orders.names.values()) + len(found)
'''


def write_code_base(folder: Path, lines: int) -> None:
    """Write packages of modules with errors, services and a seam.

    Args:
        folder: The folder to write to.
        lines: Minimum total of lines. The same number always yields the same files.
    """
    total = number = 0
    while total < lines:
        package = folder / f'shop{number // _PACKAGE}'
        package.mkdir(parents=True, exist_ok=True)
        (package / '__init__.py').touch()
        source = _module(number)
        (package / f'orders{number}.py').write_text(source, encoding='utf-8')
        total += source.count('\n')
        number += 1


def _module(number: int) -> str:
    previous = number - 1
    if number % _PACKAGE == 0:
        last = Template(_FIRST_MODULE).substitute(number=number)
        return _MODULE.substitute(number=number, imports='', last=last)
    module = f'shop{previous // _PACKAGE}.orders{previous}'
    imports = f'from {module} import Orders{previous}, report{previous}\n'
    last = Template(_NEXT_MODULE).substitute(number=number, before=previous)
    return _MODULE.substitute(number=number, imports=imports, last=last)


# Measurements


@cache
def _code_base(lines: int) -> Path:
    folder = Path(mkdtemp(prefix='seamwise-code-base-'))
    atexit.register(rmtree, folder, ignore_errors=True)
    write_code_base(folder / 'code', lines)
    return folder


def _cpu_ns(command: Sequence[str], folder: Path) -> int:
    """Return the CPU time of a command in nanoseconds; other processes do not affect it."""
    before = os.times()
    # The exit code is 1, because the code base has findings.
    run(command, cwd=folder, stdout=DEVNULL, check=False)
    after = os.times()
    return round(
        (
            after.children_user
            - before.children_user
            + after.children_system
            - before.children_system
        )
        * 1e9
    )


def _mypy_ns(lines: int) -> int:
    folder = _code_base(lines)
    rmtree(folder / 'mypy', ignore_errors=True)
    return _cpu_ns(
        [sys.executable, '-m', 'mypy', '.', '--cache-dir', str(folder / 'mypy')], folder / 'code'
    )


_mypy_ns_once = cache(_mypy_ns)
"""For the warm rows, whose target leaves room for noise; this run is the slowest."""


def _mypy(lines: int, *, cold: bool) -> Timer:
    return lambda times: sum(
        _mypy_ns(lines) if cold else _mypy_ns_once(lines) for _ in range(times)
    )


def _check(lines: int, *, cold: bool) -> Timer:
    def timer(times: int) -> int:
        folder = _code_base(lines)
        cache_folder = folder / 'code' / '.seamwise_cache'
        command = [sys.executable, '-m', 'seamwise', 'check', '.']
        if not cold and not cache_folder.exists():
            run(command, cwd=folder / 'code', stdout=DEVNULL, check=False)
        total = 0
        for _ in range(times):
            if cold:
                rmtree(cache_folder, ignore_errors=True)
            total += _cpu_ns(command, folder / 'code')
        return total

    return timer


def comparisons(sizes: Iterable[int]) -> tuple[Comparison, ...]:
    """Return the comparisons for code bases of these numbers of lines, cold and warm."""
    return tuple(
        Comparison(
            job=f'`seamwise check` of {lines:,} lines, {kind}, CPU time',
            peer='`mypy`, cold',
            ours=_check(lines, cold=cold),
            theirs=_mypy(lines, cold=cold),
            target=target,
            rounds=rounds,
            because='the rules and the error inference run in Python, mypy is compiled',
        )
        for lines in sizes
        for kind, cold, target, rounds in (('cold', True, 1.3, 3), ('warm', False, 0.3, 3))
    )


COMPARISONS = comparisons(SIZES)
