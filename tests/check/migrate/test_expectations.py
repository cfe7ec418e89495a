"""Assertions of tests that a call raises."""

import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

from tests.check.migrate.migrating import migrate, write_package

# The tests run mypy.
pytestmark = pytest.mark.slow

STOCK = """
from collections.abc import Iterator


class StockError(Exception):
    pass


class Missing(StockError):
    pass


class SoldOut(StockError):
    def __init__(self, item: str, left: int = 0) -> None:
        super().__init__(f'only {left} {item} left')
        self.item = item
        self.left = left


class Late(Exception):
    pass


class Stock:
    def take(self, item: str, count: int = 1) -> int:
        if not item:
            raise Missing('no item')
        if count > 1:
            raise SoldOut(item, left=1)
        return count


def first(stock: Stock, items: list[str]) -> str:
    return f'{stock.take(items[0])} of {items[0]}'


async def later(item: str) -> str:
    if item == 'x':
        raise Late('too late')
    return item


def each(stock: Stock) -> Iterator[int]:
    yield stock.take('tea', 2)
"""
TESTS = """
import asyncio
import unittest

import pytest

from shop.stock import Late, Missing, SoldOut, Stock, StockError, each, first, later


def test_context() -> None:
    stock = Stock()
    # before
    with pytest.raises(SoldOut):
        stock.take('tea', 2)  # the call
    with pytest.raises(Missing):
        stock = Stock()
        stock.take('')


def test_match_and_info() -> None:
    with pytest.raises(SoldOut, match=r'only \\d tea') as info:
        Stock().take('tea', 2)
    assert info.value.left == 1
    assert 'tea' in str(info.value)
    with pytest.raises(Missing) as other:
        first(Stock(), [''])
    assert str(other.value) == 'no item'


def test_a_base_class() -> None:
    with pytest.raises(StockError, match='no item'):
        Stock().take('')
    with pytest.raises((Missing, SoldOut)):
        first(Stock(), [''])
    pytest.raises(Missing, first, Stock(), [''])
    pytest.raises(SoldOut, Stock().take, 'tea', count=2)


def test_coroutines() -> None:
    async def run() -> None:
        with pytest.raises(Late):
            await later('x')

    asyncio.run(run())
    with pytest.raises(Late, match='late'):
        asyncio.run(later('x'))


def test_other_forms() -> None:
    with pytest.raises(SoldOut, match='tea'):
        list(each(Stock()))
    with pytest.raises(SoldOut) as info:
        print(Stock().take('', 0) if 1 > 2 else Stock().take('tea', 3))
    assert info.value.item == 'tea'
    with pytest.raises(ZeroDivisionError):
        Stock().take('tea', 1 // 0)


@pytest.mark.parametrize(('item', 'kind'), [('', Missing), ('tea', SoldOut)])
def test_table(item: str, kind: type) -> None:
    with pytest.raises(kind):
        Stock().take(item, 2)


class StockTest(unittest.TestCase):
    def test_methods(self) -> None:
        with self.assertRaises(SoldOut) as caught:
            Stock().take('tea', 2)
        self.assertEqual(caught.exception.left, 1)
        self.assertRaises(Missing, Stock().take, '')
        with self.assertRaisesRegex(SoldOut, 'only'):
            list(each(Stock()))
"""
EXPECTED = r"""
def test_context() -> None:
    stock = Stock()
    # before
    assert_failure(stock.take('tea', 2), SoldOut)  # the call
    stock = Stock()
    assert_failure(stock.take(''), Missing)


def test_match_and_info() -> None:
    error = assert_failure(Stock().take('tea', 2), SoldOut)
    assert search(r'only \d tea', str(error))
    assert error.left == 1
    assert 'tea' in str(error)
    error_2 = assert_failure(first(Stock(), ['']), Missing)
    assert str(error_2) == 'no item'


def test_a_base_class() -> None:
    error = Stock().take('').failure()
    assert isinstance(error, (Missing, SoldOut))
    assert search('no item', str(error))
"""


def run_tests(folder: Path) -> str:
    done = subprocess.run(
        [sys.executable, '-B', '-m', 'pytest', '-q', '-p', 'no:cacheprovider', 'shop'],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout


def test_expected_exceptions_become_assertions_about_results(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    sources = {'stock': dedent(STOCK).lstrip(), 'test_stock': TESTS.lstrip()}
    write_package(tmp_path / 'shop', sources)
    assert '8 passed' in run_tests(tmp_path)
    migration = migrate(tmp_path / 'shop')
    assert [item.name for item in migration.not_migrated] == ['each']
    new = (tmp_path / 'shop' / 'test_stock.py').read_text()
    assert '8 passed' in run_tests(tmp_path), new
    assert EXPECTED.strip() in new
    assert not migrate(tmp_path / 'shop').contents


@pytest.mark.parametrize(
    'lines',
    [
        'with pytest.raises(Late) as info:\n        run()\n    assert info.value.args == ("late",)',
        'with pytest.raises((Late, ValueError)):\n        run()',
        'with pytest.raises(Late) as info:\n        run()\n    print(info.traceback)',
    ],
)
def test_a_class_whose_test_needs_an_exception_is_named(
    lines: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    source = (
        'import pytest\n\n\nclass Late(Exception):\n    pass\n\n\n'
        f"def run() -> None:\n    raise Late('late')\n\n\ndef test_run() -> None:\n    {lines}\n"
    )
    write_package(tmp_path / 'shop', {'test_late': source})
    migration = migrate(tmp_path / 'shop')
    assert not migration.contents
    (item,) = migration.not_migrated
    assert (item.name, item.line) == ('Late', 13)
    assert item.reason.startswith('is expected by a test')
