"""Tests of the plugin for adapters: the message names the class that has no arm, or two."""

import re
from pathlib import Path

import pytest

from tests.check.test_plugin import run_mypy

# Each test runs mypy.
pytestmark = pytest.mark.slow

HEADER = """
from typing import Any, TypeVar
from seamwise import Category, TaggedError
from seamwise.catalog.access import AccessError
from seamwise.seams.adapter import Adapter
from seamwise.seams.http import HttpError, on
from seamwise.seams.http.tables import ACCESS
class A(TaggedError, category=Category.CONFLICT):
    size: int
class B(TaggedError, category=Category.CONFLICT): ...
class C(TaggedError, category=Category.CONFLICT): ...
class D(TaggedError, category=Category.CONFLICT): ...
T = TypeVar('T')
a = on(A).responds(409, 'A')
b = on(B).responds(409, 'B')
ab = a | b
"""


def reports(
    folder: Path, *sources: str, plugins: str = 'seamwise.check.plugin'
) -> dict[str, list[str]]:
    """Return the messages of one run of mypy about some sources, with their codes."""
    for number, source in enumerate(sources):
        (folder / f'case{number}.py').write_text(HEADER + source)
    output = run_mypy(folder, *(f'case{n}.py' for n in range(len(sources))), plugins=plugins).stdout
    return {
        source: re.findall(rf'^case{number}\.py:\d+: error: (.*)', output, re.MULTILINE)
        for number, source in enumerate(sources)
    }


def report(folder: Path, source: str, *, plugins: str = 'seamwise.check.plugin') -> list[str]:
    """Return the messages of mypy about a source, with their codes."""
    return reports(folder, source, plugins=plugins)[source]


NO_ARM_FOR_C = 'This adapter has no arm for C. Add `on(C)…`, or `on(C).hidden()`.  [seamwise]'


def test_a_missing_arm_is_named(tmp_path: Path) -> None:
    sources = [
        "X: Adapter[A | B | C, HttpError] = on(A).responds(409, 'A') | on(B).responds(409, 'B')",
        'X: Adapter[A | B | C, HttpError] = ab | on(D).hidden()',
        'X: Adapter[A | B | C | AccessError, HttpError] = a | (b | ACCESS)',
        'X: Adapter[A | B | C, HttpError] = ab.but(on(A).hidden())',
        'X: Adapter[A | B | C, HttpError] = Adapter(lambda: a | b)',
        'X: Adapter[A | B | C, HttpError]\nX = a | b',
        'def serve(x: Adapter[A | B | C, HttpError]) -> None: ...\nserve(a | b)',
        'class Shop:\n    table: Adapter[A | B | C, HttpError] = a | b',
    ]
    # mypy calls the rejected operand of a `return` Any, since it has tried `__ror__`, too.
    returned = 'def make() -> Adapter[A | B | C, HttpError]:\n    return a | b'
    found = reports(tmp_path, *sources, returned)
    assert found.pop(returned)[-1] == NO_ARM_FOR_C
    assert found == {source: [NO_ARM_FOR_C] for source in sources}


def test_missing_arms_of_functions_are_named(tmp_path: Path) -> None:
    function = 'def answer_a(error: A) -> HttpError: raise NotImplementedError\n'
    sources = [
        f'{function}X: Adapter[A | B | C, HttpError] = answer_a | b',
        f'{function}X: Adapter[A | B | C, HttpError] = b | answer_a',
    ]
    assert reports(tmp_path, *sources) == {source: [NO_ARM_FOR_C] for source in sources}


def test_two_arms_or_a_foreign_class_of_a_function_are_reported(tmp_path: Path) -> None:
    function = 'def answer_a(error: A) -> HttpError: raise NotImplementedError\n'
    sources = [
        f'{function}answer_a | on(A).hidden()',
        f'{function}on(A).hidden() | answer_a',
        f'{function}b.but(answer_a)',
    ]
    found = reports(tmp_path, *sources)
    assert ['two arms' in found[source][0] for source in sources] == [True, True, False]
    assert 'no arm for A to replace' in found[sources[2]][0]


def test_all_missing_arms_are_named_where_the_table_begins(tmp_path: Path) -> None:
    source = """
TABLE: Adapter[A | B | C | D, HttpError] = (
    on(A).responds(409, 'A', details=lambda error: {'size': error.size})
    | on(B).responds(409, 'B')
)
"""
    advice = 'Add `on(C)…` and `on(D)…`, or `on(C | D).hidden()`.'
    assert report(tmp_path, source) == [
        f'This adapter has no arms for C and D. {advice}  [seamwise]'
    ]
    first_arm = (HEADER + source).partition("on(A).responds(409, 'A', details")[0].count('\n') + 1
    assert f'case0.py:{first_arm}: error' in run_mypy(tmp_path, 'case0.py').stdout


def test_without_the_plugin_mypy_names_operands_instead_of_the_class(tmp_path: Path) -> None:
    source = 'X: Adapter[A | B | C, HttpError] = on(A).hidden() | on(B).hidden()'
    [message] = report(tmp_path, source, plugins='')
    assert message.startswith('Unsupported operand types for |')


def test_an_error_in_an_arm_is_reported_once_beside_the_missing_arm(tmp_path: Path) -> None:
    source = (
        'X: Adapter[A | B | C, HttpError] = '
        "b | on(A).responds(409, 'A', details=lambda error: {'no': error.no})"
    )
    assert sorted(report(tmp_path, source)) == [
        '"A" has no attribute "no"  [attr-defined]',
        NO_ARM_FOR_C,
    ]


def test_tables_with_every_arm_have_no_report(tmp_path: Path) -> None:
    source = """
from typing_extensions import assert_type
J: Adapter[A | B | AccessError, HttpError] = (a | ACCESS) | (b | ACCESS)
K: Adapter[A | C | D, HttpError] = a | on(C | D).hidden()
L: Adapter[A, HttpError] = a | (b | ACCESS)
assert_type(a | (b | ACCESS), Adapter[A | B | AccessError, HttpError])
assert_type(ab.but(on(A | B).hidden()), Adapter[A | B, HttpError])
M: Adapter[A, HttpError] | None = a | b
N: Any = a | b
def joined(table: Adapter[T, HttpError]) -> Adapter[T | A, HttpError]:
    return table | a
def serve(table: Adapter[T, HttpError]) -> Adapter[T, HttpError]:
    return table
O: Adapter[A | B, HttpError] = serve(a | b)
P: Adapter[Any, HttpError] = a | b
Q: Adapter[A | B | C, HttpError] = N | a
"""
    assert report(tmp_path, source) == []


def test_an_arm_for_another_seam_is_an_error_of_mypy(tmp_path: Path) -> None:
    source = (
        'from seamwise.seams import cli\nX: Adapter[A | B, HttpError] = a | cli.on(B).exits(66)'
    )
    [message] = report(tmp_path, source)
    assert message.startswith('Incompatible types in assignment')


def test_only_arms_that_differ_for_sure_are_duplicates(tmp_path: Path) -> None:
    duplicates = {
        "ab | on(A).responds(404, 'A')": 'A',
        "on(A).responds(404, 'A') | ab": 'A',
        '(on(A).hidden() | on(C).hidden()) | ab': 'A',
        'ab | (on(C).hidden() | on(B).hidden())': 'B',
        'ab | on(A | B).hidden()': 'AB',
        'Both = A | B\nab | on(Both).hidden()': 'AB',
        'ab | (a | b)': '',
        '(a | ACCESS) | (b | ACCESS)': '',
        'ab.but(on(A).hidden()) | on(C).hidden()': '',
    }
    advice = 'remove one of them, or replace the first with `.but(…)`.  [seamwise]'
    assert reports(tmp_path, *duplicates) == {
        source: [f'{name} has two arms; {advice}' for name in names]
        for source, names in duplicates.items()
    }


def test_replacing_an_arm_that_is_not_there_is_reported(tmp_path: Path) -> None:
    missing = {
        'ab.but(on(C).hidden())': ['arm for C'],
        'ab.but(on(A).hidden() | on(C).hidden() | on(D).hidden())': ['arms for C and D'],
        'ab.but(ACCESS)': ['arms for Unauthenticated and AccessDenied'],
        'ab.but(on(A).hidden())': [],
    }
    advice = 'Add arms with `|`; `but` replaces arms that the adapter has.  [seamwise]'
    assert reports(tmp_path, *missing) == {
        source: [f'This adapter has no {arms} to replace. {advice}' for arms in names]
        for source, names in missing.items()
    }


def test_replacing_in_a_table_of_unknown_classes_is_not_reported(tmp_path: Path) -> None:
    source = """
def changed(table: Adapter[T, HttpError]) -> Adapter[T, HttpError]:
    return table.but(on(A).hidden())
def changed_any(table: Adapter[Any, HttpError]) -> Adapter[A, HttpError]:
    return table.but(on(A).hidden())
"""
    assert report(tmp_path, source) == []
