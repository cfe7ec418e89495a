"""Functions that keep their exceptions for callers outside the migrated paths."""

import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

from seamwise.check.migrate.migration import Selection, plan_migration
from seamwise.check.migrate.writing import write_all
from tests.check.migrate.migrating import write_package

# The tests run mypy.
pytestmark = pytest.mark.slow

ERRORS = """\
class ShopError(Exception):
    '''Base.'''


class SoldOut(ShopError):
    '''Nothing left.'''

    def __init__(self, item: str, left: int = 0) -> None:
        super().__init__(f'{item} {left}')
        self.item = item
        self.left = left


class Missing(ShopError):
    pass


class Broken(Exception):
    pass
"""
ORDERS = """\
'''Orders.'''

from shop import errors
from shop.errors import Broken, Missing, SoldOut


class Stock:
    def __init__(self) -> None:
        self.left = {'tea': 1}

    def take(self, item: str, *, count: int = 1) -> int:
        '''Take some.'''
        if item not in self.left:
            raise Missing(f'no {item}')
        if self.left[item] < count:
            raise SoldOut(item)
        self.left[item] -= count
        return self.left[item]

    @staticmethod
    def check(item: str, *rest: str) -> str:
        if not item:
            raise Missing
        return item


def place(stock: Stock, item: str) -> str:
    '''Place.

    More text.
    '''
    try:
        number = int(item[-1])
    except ValueError as error:
        raise Broken('bad') from error
    return f'{stock.take(item[:-1], count=number)} left'


def safe(stock: Stock, item: str) -> str:
    try:
        return place(stock, item)
    except errors.SoldOut as error:
        return f'sold out {error.item}'
    except errors.ShopError as error:
        return str(error)


def broad(stock: Stock, item: str) -> str:
    try:
        return place(stock, item) + place(stock, item)
    except Exception as error:
        if isinstance(error, errors.SoldOut):
            return 'sold'
        if isinstance(error, errors.ShopError):
            return 'other'
        return str(error)


async def later(item: str) -> str:
    if item == 'x':
        raise Broken('x')
    return Stock.check(item)


def _hidden(item: str) -> str:
    if item == 'y':
        raise Missing('y')
    return item
def shown(item: str) -> str:
    return _hidden(item)
"""
CALLER = """\
import asyncio

from shop.errors import Broken, ShopError, SoldOut
from shop.orders import Stock, broad, later, place, safe, shown

stock = Stock()
for call in [
    lambda: place(stock, 'tea1'),
    lambda: place(stock, 'tea1'),
    lambda: place(stock, 'mate1'),
    lambda: place(stock, 'mate'),
    lambda: safe(stock, 'tea1'),
    lambda: safe(stock, 'x1'),
    lambda: broad(stock, 'tea1'),
    lambda: broad(stock, 'x1'),
    lambda: Stock.check(''),
    lambda: shown('y'),
    lambda: asyncio.run(later('x')),
]:
    try:
        print(call())
    except SoldOut as error:
        print(type(error), error, error.item, error.left, error.args)
    except (ShopError, Broken) as error:
        print(type(error), error, error.args, repr(error.__cause__))
"""


def run_caller(folder: Path) -> str:
    return subprocess.run(
        [sys.executable, '-B', 'caller.py'], cwd=folder, capture_output=True, text=True, check=True
    ).stdout


def keep(*names: str, suffix: str = '_result') -> None:
    selection = Selection(keep=frozenset(names), suffix=suffix)
    migration = plan_migration(['shop'], selection=selection).unwrap()
    assert not migration.outside
    assert write_all(migration.contents).unwrap() == len(migration.contents)


def test_callers_outside_see_the_same_exceptions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_package(tmp_path / 'shop', {'errors': ERRORS, 'orders': ORDERS})
    (tmp_path / 'caller.py').write_text(CALLER)
    before = run_caller(tmp_path)
    keep('public')
    assert run_caller(tmp_path) == before
    orders = (tmp_path / 'shop' / 'orders.py').read_text()
    assert 'def take_result(self, item: str, *, count: int = 1) -> Result[' in orders
    assert 'match self.take_result(item, count=count):' in orders
    assert 'match Stock.check_result(item, *rest):' in orders
    assert 'do(stock.take_result(item[:-1], count=number))' in orders
    assert '_hidden_result' not in orders
    new = (tmp_path / 'shop' / 'errors.py').read_text()
    for line in ERRORS.splitlines():
        assert line in new
    migration = plan_migration(['shop'], selection=Selection(keep=frozenset({'public'})))
    assert not migration.unwrap().contents


def test_only_the_named_functions_are_kept_and_get_the_suffix(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_package(tmp_path / 'shop', {'errors': ERRORS, 'orders': ORDERS})
    keep('shop.orders.place', suffix='_or_failure')
    orders = (tmp_path / 'shop' / 'orders.py').read_text()
    assert 'def place_or_failure(' in orders
    assert 'def take(self, item: str, *, count: int = 1) -> Result[' in orders
    assert 'def safe(stock: Stock, item: str) -> str:' not in orders


def test_a_public_generator_keeps_its_exceptions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    source = """
    from collections.abc import Iterator


    class Wet(Exception):
        pass


    def days(count: int) -> Iterator[int]:
        for day in range(count):
            if day == 3:
                raise Wet('rain')
            yield day
    """
    write_package(tmp_path / 'shop', {'days': dedent(source).lstrip()})
    selection = Selection(keep=frozenset({'public'}))
    migration = plan_migration(['shop'], selection=selection).unwrap()
    assert not migration.contents
    (item,) = migration.not_migrated
    assert (item.name, item.reason) == ('days', 'is a generator')
    assert item.advice.startswith('It keeps its exceptions')


def test_an_unknown_name_is_a_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_package(tmp_path / 'shop', {'errors': ERRORS})
    selection = Selection(keep=frozenset({'shop.orders.nothing'}))
    (problem,) = plan_migration(['shop'], selection=selection).failure()
    assert "'shop.orders.nothing'" in problem.message


FORMS = """
from collections.abc import Callable


class Bad(ValueError):
    pass


class Nested(Exception):
    def __init__(self, *parts: str, places: list[int] | None = None) -> None:
        self.parts = [part.upper() for part in parts]
        self.places = places or []
        super().__init__(*parts)

    @property
    def code(self) -> str:
        return '/'.join(self.parts)


class Pair(Exception):
    pass


def number(text: str) -> int:
    def check(part: str) -> str:
        if part == 'x':
            raise Bad(f'{part} is bad')
        return part

    try:
        return int(check(text))
    except ValueError as error:
        if isinstance(error, Bad):
            return -1
        raise Nested(text, 'no number', places=[1]) from error


def called(text: str, function: Callable[[str], int]) -> int:
    try:
        return function(text)
    except Nested as error:
        raise Pair(error.code, error.places) from error


def both(text: str, function: Callable[[str], int]) -> int:
    try:
        return number(text) + function(text)
    except Nested as error:
        error.add_note('seen')
        return len(error.parts)


def lazy(text: str) -> int:
    def run(function: Callable[[], int]) -> int:
        try:
            return function()
        except Nested:
            return 7

    if text == 'pair':
        raise Pair(text, 1)
    return run(lambda: number(text))


def strict(text: str) -> int:
    try:
        return number(text)
    except (KeyError, Nested) as error:
        return len(error.args)


def inner(text: str) -> int:
    def checked(part: str) -> str:
        if not part:
            raise Bad('empty')
        return part

    return len(checked(text))
"""
FORMS_CALLER = """
from shop.forms import Bad, Nested, Pair, both, called, inner, lazy, number, strict


def failing(text: str) -> int:
    raise Nested(text, places=[3])


for text in ['1', 'x', 'y', 'pair', '']:
    for call in [
        number,
        lazy,
        strict,
        inner,
        lambda text: called(text, failing),
        lambda text: both(text, number),
        lambda text: both(text, failing),
    ]:
        try:
            print(call(text))
        except (Bad, Nested, Pair) as error:
            print(type(error), error, error.args, vars(error), repr(error.__cause__))
"""


def test_exceptions_of_any_form_and_clauses_for_them_stay_right(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_package(tmp_path / 'shop', {'forms': FORMS.lstrip()})
    (tmp_path / 'caller.py').write_text(FORMS_CALLER)
    before = run_caller(tmp_path)
    keep('public')
    assert run_caller(tmp_path) == before
    forms = (tmp_path / 'shop' / 'forms.py').read_text()
    # A tagged error contains an exception that fields cannot make again.
    assert "TaggedNested(Nested(text, 'no number', places=[1]), cause=error)" in forms
    assert 'TaggedPair(Pair(error.code, error.places), cause=error)' in forms
    # Clauses that also see exceptions of other code keep them, and so do the calls before them.
    assert 'return number(text) + function(text)' in forms
    assert 'Success(run(lambda: number(text)))' in forms
    # Inner functions that are only called return Results.
    assert 'return len(do(checked(text)))' in forms
    for name in ('number', 'called', 'lazy', 'inner'):
        assert f'def {name}_result(' in forms


UNTYPED = """
class Bad(Exception):
    pass


class Parser(object):
    def __init__(self, limit=3):
        self.limit = limit
        self.seen = []

    def number(self, text, base=10, *rest, strict=True, **options):
        if strict and not text.isdigit():
            raise Bad('no number')
        return int(text, base)

    def read(self, text, **options):
        self.seen.append(self.number(text, **options))

    def total(self, texts: list, start: dict) -> int:
        if not texts:
            raise Bad('nothing')
        for text in texts:
            self.read(text)
        return sum(self.seen) + len(start)


def parse(texts, limit = 3):
    parser = Parser(limit)
    return parser.total(texts, {})
"""
UNTYPED_CALLER = """
from shop.untyped import Bad, Parser, parse

for call in [
    lambda: parse(['1', '2']),
    lambda: parse([]),
    lambda: parse(['x']),
    lambda: Parser().read('3'),
    lambda: Parser().read(text='y', do=1),
    lambda: Parser().number('11', 2, strict=False, other=1),
]:
    try:
        print(call())
    except Bad as error:
        print(error)
"""


def strict_errors() -> list[str]:
    command = [sys.executable, '-m', 'mypy', '--strict', '--no-error-summary', 'shop']
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return [line for line in done.stdout.splitlines() if ' error: ' in line]


def test_code_without_annotations_has_no_more_findings_of_mypy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_package(tmp_path / 'shop', {'untyped': UNTYPED.lstrip()})
    (tmp_path / 'pyproject.toml').write_text('')
    (tmp_path / 'caller.py').write_text(UNTYPED_CALLER)
    printed, before = run_caller(tmp_path), strict_errors()
    keep('public')
    assert run_caller(tmp_path) == printed
    untyped = (tmp_path / 'shop' / 'untyped.py').read_text()
    assert (
        'def read_result(self, do: Do[TaggedBad], /, text: Any, **options: Any) -> None:' in untyped
    )
    # A kept function gets the same annotations, for it would call a function without any.
    assert 'def parse(texts: Any, limit: Any = 3) -> Any:' in untyped
    assert 'texts: list[Any], start: dict[Any, Any]) -> int:' in untyped
    after = strict_errors()
    assert after
    assert len(after) < len(before)
    # Strict mypy does not take `do` by its name beside **kwargs.
    assert not [line for line in after if 'fallible' in line]


IMPORTING = """
from typing import TYPE_CHECKING

import os  # noqa: F401
import sys

from shop.errors import (
    Broken,
    Missing,  # nothing there
    SoldOut,
)
from shop.errors import ShopError as ShopError
from shop.lines import checked, first  # two functions

if TYPE_CHECKING:
    from shop.errors import Broken as Unready
# Constants.
LIMIT = 3


def take(item: str) -> str:
    if not item:
        raise Missing('no item')
    if item == 'x':
        raise Broken('x')
    return first(checked(item))


def later(item: str) -> str:
    from shop.lines import second

    return second(item)


def waiting(item: str) -> 'Unready | None':
    return None if item else sys.exit(LIMIT)


class Face:
    def take(self, item: str) -> str:
        '''Take.

        >>> Face().take('')
        Traceback (most recent call last):
        shop.errors.SoldOut: none 0
        '''
        if not item:
            raise SoldOut('none')
        return item
"""
LINES = """
from shop.errors import Broken, Missing


def checked(line: str) -> str:
    if line == 'y':
        raise Missing('y')
    return line


def first(line: str) -> str:
    if line == 'z':
        raise Broken('z')
    return line[:1]


def second(line: str) -> str:
    if len(line) < 2:
        raise Broken('short')
    return line[1:2]
"""


def test_imports_that_only_the_old_form_used_are_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    sources = {'errors': ERRORS, 'taking': IMPORTING.lstrip(), 'lines': LINES.lstrip()}
    # Another module reads a class through `lines`.
    sources['other'] = 'from shop.lines import Broken\n\n\nclass Worse(Broken):\n    pass\n'
    write_package(tmp_path / 'shop', sources)
    (tmp_path / 'shop' / '__init__.py').write_text(
        'from shop.errors import Missing\n\n\ndef fail() -> int:\n    raise Missing("first")\n'
    )
    keep('public')
    taking = (tmp_path / 'shop' / 'taking.py').read_text()
    for kept in (
        'import os  # noqa: F401\nimport sys\n',
        'from shop.errors import ShopError as ShopError\n',
        'if TYPE_CHECKING:\n    from shop.errors import Broken as Unready\n# Constants.\n',
        # A doctest names it.
        'from shop.errors import (\n    SoldOut,\n)\n',
        'from shop.lines import checked_result, first_result  # two functions\n',
        # At the top, the import might be part of a circle.
        '    from shop.lines import second_result\n\n    return do(second_result(item))\n',
    ):
        assert kept in taking
    lines = (tmp_path / 'shop' / 'lines.py').read_text()
    assert 'from shop.errors import Broken, TaggedBroken, TaggedMissing\n' in lines
    package = (tmp_path / 'shop' / '__init__.py').read_text()
    assert 'from shop.errors import Missing, TaggedMissing\n' in package


VIRTUAL = """
from contextlib import ExitStack
from typing import Union

from shop.errors import Broken, Missing

# A recursive type.
Tree = Union[int, list['Tree'], dict[str, 'Tree']]


def depth(tree: Tree) -> int:
    if tree == -1:
        raise Missing('no tree')
    return 1 + max((depth(item) for item in tree), default=0) if isinstance(tree, list) else 0


class Shape:
    def __init__(self, size: int) -> None:
        self.size = size

    @property
    def half(self) -> float:
        if self.size % 2:
            raise Broken('odd')
        return self.size / 2

    @half.setter
    def half(self, value: float) -> None:
        self.size = int(value * 2)

    def area(self, factor: int = 1, **options: int) -> float:
        if self.size < 0:
            raise Missing('negative')
        return self.half * factor


class Square(Shape):
    def area(self, factor: int = 1, **options: int) -> float:
        if self.size == 4:
            raise Missing('four')
        return 2 * super().area(factor, **options)


class Plain(Shape):
    def area(self, factor: int = 1, **options: int) -> float:
        return 0.5


def total(shapes: list[Shape]) -> float:
    stack = ExitStack()
    stack.callback(print, 'closed')
    with stack:
        if not shapes:
            raise Missing('none')
        return sum(shape.area(factor=2) for shape in shapes)


def safe(shape: Shape) -> str:
    try:
        return f'{shape.area()} {shape.half}'
    except Missing as error:
        return f'missing {error}'
"""
VIRTUAL_CALLER = """
from shop.shapes import Plain, Shape, Square, safe, total


class Circle(Square):
    def area(self, factor: int = 1, **options: int) -> float:
        return 3 * super().area(factor, **options)


for kind in (Shape, Square, Plain, Circle):
    for size in (-2, 2, 3, 4):
        shape = kind(size)
        for call in [shape.area, lambda: shape.half, lambda: total([shape]), lambda: safe(shape)]:
            try:
                print(call())
            except Exception as error:
                print(type(error), error)
shape.half = 3
print(shape.size)
try:
    total([])
except Exception as error:
    print(type(error), error)
"""


def test_overridden_methods_and_properties_keep_their_callers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_package(tmp_path / 'shop', {'errors': ERRORS, 'shapes': VIRTUAL.lstrip()})
    (tmp_path / 'caller.py').write_text(VIRTUAL_CALLER)
    printed = run_caller(tmp_path)
    keep('public')
    assert run_caller(tmp_path) == printed
    shapes = (tmp_path / 'shop' / 'shapes.py').read_text()
    assert 'def half_result(self) -> Result[float, TaggedBroken]:' in shapes
    assert '    @property\n    def half(self) -> float:\n' in shapes
    # A subclass may override the method: its callers call the old name, and that this one.
    assert 'match Shape.area_result(self, factor, **options):' in shapes
    assert 'match Square.area_result(self, factor, **options):' in shapes
    assert 'super().area(factor, **options)' in shapes
    assert 'shape.area(factor=2)' in shapes
    assert '@fallible\ndef total_result(' in shapes
    assert '@fallible\ndef depth_result(' in shapes
    assert not strict_errors()
