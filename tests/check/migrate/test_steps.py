"""Steps of the adoption plan: each leaves a program whose tests pass."""

import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

from seamwise.check.adoption.report import adoption_report
from seamwise.check.migrate.migration import Selection, plan_migration
from seamwise.check.migrate.writing import write_all
from tests.check.migrate.migrating import run, write_package

SHOP = """
class Missing(Exception):
    pass


class SoldOut(Exception):
    def __init__(self, item: str) -> None:
        super().__init__(f'no {item} is left')
        self.item = item


class Refused(Exception):
    pass


def take(left: dict[str, int], item: str) -> int:
    if item not in left:
        raise Missing(f'no {item}')
    if not left[item]:
        raise SoldOut(item)
    left[item] -= 1
    return left[item]


def pay(amount: int) -> int:
    if amount > 9:
        raise Refused('too much')
    return amount


def order(left: dict[str, int], item: str, amount: int) -> str:
    try:
        rest = take(left, item)
    except SoldOut as error:
        return f'later: {error.item}'
    return f'{rest} left, {pay(amount)} paid'


def main() -> None:
    left = {'tea': 1}
    for item, amount in [('tea', 3), ('tea', 3), ('milk', 3)]:
        try:
            print(order(left, item, amount))
        except (Missing, Refused) as error:
            print(type(error).__name__, error)
    try:
        pay(10)
    except Refused as error:
        print(error)


if __name__ == '__main__':
    main()
"""
TESTS = """
import pytest

from shop.shop import Missing, Refused, SoldOut, order, pay, take


def test_take() -> None:
    with pytest.raises(Missing, match='no milk'):
        take({}, 'milk')
    with pytest.raises(SoldOut) as info:
        take({'tea': 0}, 'tea')
    assert info.value.item == 'tea'


def test_order() -> None:
    assert order({'tea': 0}, 'tea', 1) == 'later: tea'
    with pytest.raises(Refused):
        order({'tea': 1}, 'tea', 10)


def test_pay() -> None:
    with pytest.raises(Refused):
        pay(10)
"""


def next_place() -> tuple[str, int] | None:
    """Return the place of the next exception that the plan of the program names."""
    steps = adoption_report(['shop']).steps
    places = [(step.path, step.line) for step in steps if step.kind == 'error']
    return next(iter(places), None)


@pytest.mark.slow
def test_a_clause_for_two_families_joins_them_in_one_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / 'shop'
    write_package(folder, {'shop': dedent(SHOP).lstrip()})
    before = run(folder, 'shop')
    place = str(Path('shop', 'shop.py')), 1
    migration = plan_migration(['shop'], selection=Selection(place=place)).unwrap()
    assert migration.classes == ('shop.shop.Missing', 'shop.shop.Refused')
    write_all(migration.contents).unwrap()
    assert run(folder, 'shop') == before
    assert 'class SoldOut(Exception):' in (folder / 'shop.py').read_text()


@pytest.mark.nightly
def test_the_program_and_its_tests_run_after_each_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / 'shop'
    write_package(folder, {'shop': dedent(SHOP).lstrip(), 'test_shop': dedent(TESTS).lstrip()})
    before = run(folder, 'shop')
    assert before[0] == 0
    count = 0
    while (place := next_place()) is not None:
        migration = plan_migration(['shop'], selection=Selection(place=place)).unwrap()
        assert migration.classes, place
        write_all(migration.contents).unwrap()
        count += 1
        assert run(folder, 'shop') == before, place
        done = subprocess.run(
            [sys.executable, '-B', '-m', 'pytest', '-q', '-p', 'no:cacheprovider', 'shop'],
            capture_output=True,
            text=True,
            check=False,
        )
        assert '3 passed' in done.stdout, done.stdout
    assert count >= 2
    assert not plan_migration(['shop']).unwrap().contents
