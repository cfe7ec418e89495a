"""Conversion of parsed files to Structs: all problems at once, each with its pointer."""

import tomllib
from types import MappingProxyType
from typing import Literal

import pytest
from msgspec import UNSET, Struct, UnsetType

from seamwise.catalog.problem import Problem
from seamwise.policies.config.schema import child_pointer, convert_struct, unknown_name_message


class Round(Struct, frozen=True, kw_only=True):
    radius: float


class Square(Struct, frozen=True, kw_only=True):
    side: int
    colour: Literal['red', 'green'] | UnsetType = UNSET


class Box(Struct, frozen=True, kw_only=True):
    size: int
    name: str | UnsetType = UNSET
    shape: Round | Square | UnsetType = UNSET
    lid: Round | Literal[False] | UnsetType = UNSET
    weight: float | Literal['unknown'] | UnsetType = UNSET
    is_open: bool = False
    labels: list[Round | str] | UnsetType = UNSET


class Store(Struct, frozen=True, kw_only=True):
    boxes: dict[str, Box] = {}


def problems_in(text: str) -> dict[str, str]:
    problems: list[Problem] = []
    result = convert_struct(Store, tomllib.loads(text), problems)
    assert (result is None) == bool(problems)
    return {problem.pointer: problem.message for problem in problems}


def box_problem(text: str) -> str:
    """Return the only problem with a box that contains a line of TOML."""
    [(pointer, message)] = problems_in(f'boxes.a.size = 1\nboxes.a.{text}').items()
    assert pointer.startswith('/boxes/a')
    return f'{pointer.removeprefix("/boxes/a")}: {message}'


def test_valid_tables_become_structs() -> None:
    text = """
[boxes]
a = { size = 1 }
b = { size = 2, name = "b", shape.side = 3, lid = false, weight = 4, is_open = true }
c = { size = 2, shape = { radius = 1.5 }, lid = { radius = 1 }, weight = "unknown" }
d = { size = -9_223_372_036_854_775_808, shape = { side = 1, colour = "green" } }
"""
    problems: list[Problem] = []
    assert convert_struct(Store, tomllib.loads(text), problems) == Store(
        boxes={
            'a': Box(size=1),
            'b': Box(size=2, name='b', shape=Square(side=3), lid=False, weight=4.0, is_open=True),
            'c': Box(size=2, shape=Round(radius=1.5), lid=Round(radius=1.0), weight='unknown'),
            'd': Box(size=-(2**63), shape=Square(side=1, colour='green')),
        }
    )
    assert not problems


@pytest.mark.parametrize(
    ('text', 'expected'),
    [
        ('nmae = "x"', "/nmae: is not a known key (did you mean 'name'?)"),
        (
            'x = 1',
            (
                '/x: is not a known key; '
                "the keys are 'size', 'name', 'shape', 'lid', 'weight', 'is_open' and 'labels'"
            ),
        ),
        ('labels = 1', '/labels: must be a list, not 1'),
        ('labels = ["a", 2]', '/labels/1: must be a table or a string, not 2'),
        ('labels = [{}]', "/labels/0: needs the key 'radius'"),
        ('name = 1', '/name: must be a string, not 1'),
        ('name = ""\nboxes.a.is_open = 1', '/is_open: must be true or false, not 1'),
        ('weight = true', "/weight: must be a number or 'unknown', not true"),
        (
            'weight = "unkown"',
            "/weight: must be a number or 'unknown', not a string (did you mean 'unknown'?)",
        ),
        ('weight = {}', "/weight: must be a number or 'unknown', not a table"),
        ('lid = true', '/lid: must be a table or false, not true'),
        ('lid = 0', '/lid: must be a table or false, not 0'),
        ('lid = {}', "/lid: needs the key 'radius'"),
        ('shape = {}', "/shape: needs one of the keys 'radius' or 'side'"),
        ('shape = []', '/shape: must be a table, not a list'),
        ('shape = 1979-05-27', '/shape: must be a table, not a date or a time'),
        ('shape = 07:32:00', '/shape: must be a table, not a date or a time'),
        (
            'shape = { radius = 1, side = 1 }',
            "/shape/side: is not a known key; the keys are 'radius'",
        ),
        ('shape = { side = 1.0 }', '/shape/side: must be an integer, not 1.0'),
        (
            'shape = { side = 9223372036854775808 }',
            '/shape/side: must be an integer, not one of more than 64 bits',
        ),
        (
            'shape = { side = -9223372036854775809 }',
            '/shape/side: must be an integer, not one of more than 64 bits',
        ),
        (
            'shape = { side = 1, colour = "gren" }',
            "/shape/colour: must be 'red' or 'green', not a string (did you mean 'green'?)",
        ),
        (
            'shape = { side = 1, colour = "x" }',
            "/shape/colour: must be 'red' or 'green', not a string",
        ),
        (
            'shape = { radius = ' + '9' * 400 + ' }',
            '/shape/radius: must be a number, not one of more than 64 bits',
        ),
    ],
)
def test_a_problem_names_the_expected_values(text: str, expected: str) -> None:
    assert box_problem(text) == expected


def test_all_problems_are_reported_at_once() -> None:
    assert problems_in('box = 1\n[boxes.b]\nname = 1\n[boxes."c/d".shape]\nside = ""') == {
        '/box': "is not a known key (did you mean 'boxes'?)",
        '/boxes/b': "needs the key 'size'",
        '/boxes/b/name': 'must be a string, not 1',
        '/boxes/c~1d': "needs the key 'size'",
        '/boxes/c~1d/shape/side': 'must be an integer, not an empty string',
    }
    assert problems_in('boxes = 1') == {'/boxes': 'must be a table, not 1'}
    assert problems_in('boxes.a = 1') == {'/boxes/a': 'must be a table, not 1'}


def test_earlier_problems_are_kept_and_do_not_matter() -> None:
    problems = [Problem('/x', 'is wrong')]
    assert convert_struct(Store, {}, problems) == Store()
    assert problems == [Problem('/x', 'is wrong')]


def test_lists_and_mappings_of_any_type_are_converted() -> None:
    problems: list[Problem] = []
    box = {'size': 1, 'labels': ('a', MappingProxyType({'radius': 1}))}
    assert convert_struct(Store, MappingProxyType({'boxes': {'a': box}}), problems) == Store(
        boxes={'a': Box(size=1, labels=['a', Round(radius=1.0)])}
    )
    assert not problems


def test_a_key_that_is_not_a_string_is_a_problem() -> None:
    problems: list[Problem] = []
    assert convert_struct(Store, {'boxes': {None: {}, 'a': {'size': 1, 2: 3}}}, problems) is None
    assert problems == [
        Problem('/boxes', 'has a key that is not a string: null'),
        Problem('/boxes/a', 'has a key that is not a string: 2'),
    ]


def test_a_pointer_escapes_tilde_and_slash() -> None:
    assert child_pointer('', '~1/') == '/~01~1'


def test_an_unknown_name_is_reported_with_similar_names() -> None:
    assert (
        unknown_name_message('raed', ['read', 'write'], noun='tool')
        == "is not a known tool (did you mean 'read'?)"
    )
    assert (
        unknown_name_message('x', ['read', 'write'], noun='tool')
        == "is not a known tool; the tools are 'read' and 'write'"
    )
