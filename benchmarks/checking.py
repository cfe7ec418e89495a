"""`seamwise check` beside mypy on code bases of three sizes: each run a process of its own, in seconds of the processor."""

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
"""Modules in one package; each imports the one before it, so that no cycle holds them all."""

_MODULE = Template('''\
"""Orders, part $number."""

from typing import assert_never

from seamwise import Category, Do, Failure, Result, Success, TaggedError, catch, fallible
$imports

class NoSuchOrder$number(TaggedError, category=Category.NOT_FOUND, message='There is no order {order}.'):
    """Nobody has placed it."""

    order: int


class Refused$number(TaggedError, category=Category.PERMISSION, message='{name} may not.'):
    """Somebody else must decide."""

    name: str


Wrong$number = NoSuchOrder$number | Refused$number


class Orders$number:
    """Keeps orders by number."""

    def __init__(self, kept: dict[int, str]) -> None:
        self.kept = kept

    def find(self, order: int) -> Result[str, NoSuchOrder$number]:
        """Look for one."""
        found = self.kept.get(order)
        if found is None:
            return Failure(NoSuchOrder$number(order))
        return Success(found)

    async def place(self, order: int, name: str) -> Result[int, Refused$number]:
        """Add one."""
        if name.startswith('x'):
            return Failure(Refused$number(name))
        self.kept[order] = name
        return Success(order)

    @fallible
    def both(self, do: Do[NoSuchOrder$number], first: int, second: int) -> str:
        """Look for two."""
        names = [do(self.find(one)) for one in (first, second)]
        return ', '.join(sorted(names, key=lambda name: (len(name), name)))


@fallible
async def replace$number(do: Do[Wrong$number], orders: Orders$number, old: int, new: int) -> int:
    """Put one in the place of another."""
    name = do(orders.find(old))
    if new in orders.kept:
        do.fail(Refused$number(name))
    return do(await orders.place(new, name))


def named$number(orders: Orders$number, order: int) -> Result[str, NoSuchOrder$number]:
    """Give the name in capitals."""
    return orders.find(order).map(str.upper).map(lambda name: f'{name}: {order:>{len(name)}}')


def checked$number(orders: Orders$number, order: int) -> Result[str, Wrong$number]:
    """Refuse the short ones."""
    found = named$number(orders, order)
    match found:
        case Success(name) if len(name) > 2:
            return Success(name)
        case Success(name):
            return Failure(Refused$number(name))
        case Failure(error):
            return Failure(error)


def or_nobody$number(orders: Orders$number, order: int) -> Result[str, Refused$number]:
    """Give a name for those who do not exist."""
    return catch(NoSuchOrder$number, lambda error: Success(f'nobody {error.order}'))(checked$number(orders, order))


def status$number(error: Wrong$number) -> int:
    """Show an error."""
    match error:
        case NoSuchOrder$number():
            return 404
        case Refused$number():
            return 403
        case _:
            assert_never(error)


def report$number(orders: Orders$number, numbers: list[int]) -> dict[str, list[int]]:
    """Sort out which can be found."""
    kinds: dict[str, list[int]] = {'found': [], 'missing': []}
    for one in numbers:
        result = checked$number(orders, one)
        kind = 'found' if isinstance(result, Success) else 'missing'
        kinds[kind].append(one)
    return kinds
$last''')

_ALONE = '''

def total$number(orders: Orders$number) -> int:
    """Count the letters."""
    return sum(len(name) for name in orders.kept.values())
'''

_CHAINED = '''

def total$number(orders: Orders$number, others: Orders$before) -> int:
    """Count the letters, and say aloud what nobody reads."""
    others.find($number)
    return sum(len(name) for name in orders.kept.values()) + len(report$before(others, [$number])['found'])
'''


def write_code_base(folder: Path, lines: int) -> None:
    """Write packages of modules with errors, services and a seam, of so many lines together; the same ones each time."""
    written = number = 0
    while written < lines:
        package = folder / f'shop{number // _PACKAGE}'
        package.mkdir(parents=True, exist_ok=True)
        (package / '__init__.py').touch()
        source = _module(number)
        (package / f'orders{number}.py').write_text(source, encoding='utf-8')
        written += source.count('\n')
        number += 1


def _module(number: int) -> str:
    before = number - 1
    if number % _PACKAGE == 0:
        last = Template(_ALONE).substitute(number=number)
        return _MODULE.substitute(number=number, imports='', last=last)
    imports = (
        f'from shop{before // _PACKAGE}.orders{before} import Orders{before}, report{before}\n'
    )
    last = Template(_CHAINED).substitute(number=number, before=before)
    return _MODULE.substitute(number=number, imports=imports, last=last)


# What is measured


@cache
def _code_base(lines: int) -> Path:
    folder = Path(mkdtemp(prefix='seamwise-code-base-'))
    atexit.register(rmtree, folder, ignore_errors=True)
    write_code_base(folder / 'code', lines)
    return folder


def _processor_ns(command: Sequence[str], folder: Path) -> int:
    """Run a command, and give the nanoseconds that it took of the processor: another process on the core does not count."""
    before = os.times()
    # It finds something, and so ends with 1.
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
    return _processor_ns(
        [sys.executable, '-m', 'mypy', '.', '--cache-dir', str(folder / 'mypy')], folder / 'code'
    )


_once = cache(_mypy_ns)
"""For the warm rows, whose other side is no matter of a tenth: it is the longest of them all."""


def _mypy(lines: int, *, cold: bool) -> Timer:
    return lambda times: sum(_mypy_ns(lines) if cold else _once(lines) for _ in range(times))


def _check(lines: int, *, cold: bool) -> Timer:
    def timer(times: int) -> int:
        folder = _code_base(lines)
        own = folder / 'code' / '.seamwise_cache'
        command = [sys.executable, '-m', 'seamwise', 'check', '.']
        if not cold and not own.exists():
            run(command, cwd=folder / 'code', stdout=DEVNULL, check=False)
        taken = 0
        for _ in range(times):
            if cold:
                rmtree(own, ignore_errors=True)
            taken += _processor_ns(command, folder / 'code')
        return taken

    return timer


def comparisons(sizes: Iterable[int]) -> tuple[Comparison, ...]:
    """Compare on code bases of so many lines, cold and warm."""
    return tuple(
        Comparison(
            job=f'`seamwise check` of {lines:,} lines, {kind}, on the processor',
            peer='`mypy` of the same, cold',
            ours=_check(lines, cold=cold),
            theirs=_mypy(lines, cold=cold),
            target=target,
            rounds=rounds,
            because='the rules and the flows of errors are read in Python, and mypy is compiled',
        )
        for lines in sizes
        for kind, cold, target, rounds in (('cold', True, 1.3, 3), ('warm', False, 0.3, 3))
    )


COMPARISONS = comparisons(SIZES)
