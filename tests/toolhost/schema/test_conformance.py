"""Check of a value against its declared type, at any depth."""

import dataclasses
import sys
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from enum import Enum
from types import ModuleType
from typing import (
    Annotated,
    Any,
    Generic,
    Literal,
    NamedTuple,
    Never,
    NewType,
    NotRequired,
    Protocol,
    TypedDict,
    TypeVar,
    runtime_checkable,
)
from uuid import UUID

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Meta, Struct
from typing_extensions import TypeAliasType

from seamwise.toolhost.schema import type_shapes
from seamwise.toolhost.schema.conformance import find_problems
from seamwise.toolhost.schema.type_shapes import MAX_SHAPES

T = TypeVar('T')


class Day(Struct, frozen=True):
    name: str
    degrees: float


class Forecast(Struct):
    days: list[Day]
    note: str | None = None


@dataclasses.dataclass
class Point:
    x: int
    y: Annotated[int, Meta(ge=0)]


class Pair(NamedTuple):
    left: int
    right: str


class City(TypedDict):
    name: str
    people: NotRequired[int]


class Box(Struct, Generic[T]):
    content: list[T]


@dataclasses.dataclass
class Crate(Generic[T]):
    content: T


class Node(Struct):
    children: 'list[Node]'


class Tree(Struct, Generic[T]):
    value: T
    children: 'list[Tree[T]]'


class Colour(Enum):
    RED = 'red'


class Opaque:
    pass


class Reader(Protocol):
    def read(self) -> str: ...


@runtime_checkable
class Closer(Protocol):
    def close(self) -> None: ...


UserId = NewType('UserId', int)
Several = TypeAliasType('Several', list[T] | None, type_params=(T,))
Numbers = TypeAliasType('Numbers', list[int] | dict[str, int])


def problems(value: object, type_: object) -> dict[str, str]:
    return {item.pointer: item.message for item in find_problems(value, type_, limit=20)}


VALID: list[tuple[object, object]] = [
    (None, None),
    (True, bool),
    (1, int),
    (1, float),
    (1.5, float),
    ('a', str),
    (b'a', bytes),
    ([1, 2], list[int]),
    ([1, 'a'], list),
    ((1, 2, 3), tuple[int, ...]),
    ((1, 'a'), tuple[int, str]),
    ((), tuple[()]),
    ((1, 'a'), tuple),
    ({1}, set[int]),
    ({'a': 1}, dict[str, int]),
    ({1: 'a'}, Mapping[int, str]),
    ((1, 2), Sequence[int]),
    (deque([1]), deque[int]),
    ('text', Sequence[str]),
    (1, int | None),
    (None, int | None),
    ([1], list[int] | list[str]),
    (['a'], list[int] | list[str]),
    ('a', Literal['a', 1]),
    (Colour.RED, Colour),
    (datetime(2026, 1, 1, tzinfo=UTC), datetime),
    (UUID(int=0), UUID),
    (Decimal(1), Decimal),
    (5, Annotated[int, Meta(ge=5)]),
    (None, Annotated[int | None, Meta(ge=5)]),
    (7, UserId),
    ({'a': 1}, Numbers),
    (Day('mon', 20), Day),
    (Forecast([Day('mon', 20.5)]), Forecast),
    (Point(1, 2), Point),
    (Pair(1, 'a'), Pair),
    ({'name': 'Oslo'}, City),
    ({'name': 'Oslo', 'more': 1}, City),
    (Box([1]), Box[int]),
    (Box(['a', 1]), Box),
    (Crate('a'), Crate[str]),
    (Node([Node([])]), Node),
    (Tree(1, [Tree(2, [])]), Tree[int]),
    (Opaque(), Opaque),
    (Opaque(), object),
    (Opaque(), Any),
    (Opaque(), Reader),
    (Opaque(), T),
    (iter('ab'), Iterator[int]),
    (len, Callable[[str], int]),
    (int, type[int]),
    (Opaque(), 'a name that only type checkers know'),
]


@pytest.mark.parametrize(('value', 'type_'), VALID)
def test_a_value_of_its_type_has_no_problem(value: object, type_: object) -> None:
    assert problems(value, type_) == {}


INVALID: list[tuple[object, object, dict[str, str]]] = [
    (1, None, {'': 'must be null, not 1'}),
    (True, int, {'': 'must be an integer, not true'}),
    (True, float, {'': 'must be a number, not true'}),
    (1, bool, {'': 'must be true or false, not 1'}),
    (1.5, int, {'': 'must be an integer, not 1.5'}),
    ('hunter2', int, {'': 'must be an integer, not a string'}),
    (b'a', str, {'': 'must be a string, not bytes'}),
    ('a', int | None, {'': 'must be an integer or null, not a string'}),
    ([1, 'a', None], list[int], {
        '/1': 'must be an integer, not a string', '/2': 'must be an integer, not null',
    }),
    ((1, 2), list[int], {'': 'must be a list, not tuple'}),
    ((1, 2), tuple[int, str], {'/1': 'must be a string, not 2'}),
    ((1,), tuple[int, str], {'': 'must have 2 items, not 1'}),
    ((1,), tuple[()], {'': 'must have 0 items, not 1'}),
    ({'a/b~': 'x'}, dict[str, int], {'/a~1b~0': 'must be an integer, not a string'}),
    ({1: 1}, dict[str, int], {'/1': 'must be a string, not 1'}),
    ([1, 'a'], list[int] | list[str], {'': 'must be an integer, not a string'}),
    ('b', Literal['a', 1], {'': "must be 'a' or 1, not a string"}),
    (True, Literal[1], {'': 'must be 1, not true'}),
    ('red', Colour, {'': 'must be Colour, not a string'}),
    ('2026-01-01T00:00:00Z', datetime, {'': 'must be datetime, not a string'}),
    (4, Annotated[int, Meta(ge=5)], {'': 'Expected `int` >= 5'}),
    (4, Annotated[int | None, Meta(ge=5)], {'': 'Expected `int` >= 5'}),
    ('a', UserId, {'': 'must be an integer, not a string'}),
    (['a'], Numbers | None, {'/0': 'must be an integer, not a string'}),
    ('a', Numbers | None, {'': 'must be a list or an object or null, not a string'}),
    (Forecast([Day('mon', True)]), Forecast, {'/days/0/degrees': 'must be a number, not true'}),
    (Forecast([], note=b'x'), Forecast, {'/note': 'must be a string or null, not bytes'}),  # type: ignore[arg-type]
    (Point('a', -1), Point, {  # type: ignore[arg-type]
        '/x': 'must be an integer, not a string', '/y': 'Expected `int` >= 0',
    }),
    ({'x': 1, 'y': 2}, Point, {'': 'must be Point, not an object'}),
    (Pair(1, 2), Pair, {'/right': 'must be a string, not 2'}),  # type: ignore[arg-type]
    ({'people': 'many'}, City, {'': "has no value for 'name'"}),
    ({'name': 'Oslo', 'people': 'many'}, City, {'/people': 'must be an integer, not a string'}),
    (Box(['a']), Box[int], {'/content/0': 'must be an integer, not a string'}),
    (Crate(1), Crate[str], {'/content': 'must be a string, not 1'}),
    (Tree(1, [Tree(None, [])]), Tree[int], {  # type: ignore[misc]
        '/children/0/value': 'must be an integer, not null',
    }),
    ([1, 'a'], list[Annotated[int, {'unit': 'm'}]], {'/1': 'must be an integer, not a string'}),
    ([1, 'a'], Several[int], {'/1': 'must be an integer, not a string'}),
    (Opaque(), Day, {'': 'must be Day, not Opaque'}),
    (Opaque(), Closer, {'': 'must be Closer, not Opaque'}),
    (1, Never, {'': 'must be a failure, not 1'}),
]  # fmt: skip


@pytest.mark.parametrize(('value', 'type_', 'expected'), INVALID)
def test_each_problem_has_its_position(
    value: object, type_: object, expected: dict[str, str]
) -> None:
    assert problems(value, type_) == expected


def test_a_field_that_was_never_set_is_a_problem() -> None:
    point = Point.__new__(Point)
    assert problems(point, Point) == {'': "has no value for 'x'"}


def test_a_class_with_a_name_for_type_checkers_only_accepts_any_field() -> None:
    @dataclasses.dataclass
    class Partial:
        x: 'Missing'  # type: ignore[name-defined]  # noqa: F821

    assert problems(Partial(1), Partial) == {}


GENERIC_CLASS = """
from msgspec import Struct
class Tree[T](Struct):
    value: T
    next: 'Tree[T] | None' = None
type Trees[T] = dict[str, Tree[T]]
"""


@pytest.mark.skipif(sys.version_info < (3, 12), reason='the syntax is of Python 3.12')
def test_type_parameters_are_known_in_the_strings_of_a_class() -> None:
    module = ModuleType('generic_class')
    sys.modules[module.__name__] = module
    try:
        exec(GENERIC_CLASS, vars(module))  # noqa: S102 -- constant
        tree: Any = module.Tree('a', module.Tree(1))
        assert problems({'x': tree}, module.Trees[str]) == {
            '/x/next/value': 'must be a string, not 1'
        }
    finally:
        del sys.modules[module.__name__]


def test_the_shapes_of_types_are_kept_in_limited_number() -> None:
    for number in range(2 * MAX_SHAPES):
        assert problems('b', Literal['a'] | list[Literal[number]])  # type: ignore[valid-type]
        assert len(type_shapes._shapes) <= MAX_SHAPES


def test_equal_unions_are_described_in_their_own_order() -> None:
    assert problems([], int | str) == {'': 'must be an integer or a string, not a list'}
    assert problems([], str | int) == {'': 'must be a string or an integer, not a list'}


def test_the_number_of_problems_is_limited() -> None:
    assert len(find_problems(['a'] * 1_000_000, list[int], limit=20)) == 20


def test_a_cycle_of_values_ends() -> None:
    node = Node([])
    node.children.append(node)
    assert problems(node, Node) == {}
    tree: Tree[Any] = Tree('a', [])
    tree.children.append(tree)
    assert problems(tree, Tree[int])['/value'] == 'must be an integer, not a string'


def test_a_value_that_is_shared_is_checked_once() -> None:
    node = Node([])
    for _ in range(60):
        node = Node([node, node])
    # 2**60 paths lead to the first node.
    assert problems(node, Node) == {}
    assert problems([b'x'] * 3, list[str]).keys() == {'/0', '/1', '/2'}


@pytest.mark.slow
def test_the_depth_of_a_value_is_not_limited() -> None:
    node = Node([])
    for _ in range(20_000):
        node = Node([node])
    assert problems(node, Node) == {}
    while node.children:
        # Otherwise the interpreter would recurse to free it.
        node = node.children.pop()


JSON_VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.floats(allow_nan=False)
    | st.text(st.characters(exclude_categories=['Cs']), max_size=3),
    lambda items: st.lists(items, max_size=3) | st.dictionaries(st.just('a'), items, max_size=1),
    max_leaves=8,
)  # fmt: skip

TYPES: list[Any] = [
    int, float, str, bool, None, list[int], dict[str, float], list[str | None], int | list[bool],
    dict[str, list[int] | None], Annotated[int, Meta(ge=0, le=9)], Literal['', 0],
]  # fmt: skip


@given(JSON_VALUES, st.sampled_from(TYPES))
def test_the_check_agrees_with_msgspec_on_json_values(value: object, type_: Any) -> None:
    try:
        msgspec.convert(value, type_, strict=True)
    except msgspec.ValidationError:
        assert problems(value, type_)
    else:
        assert not problems(value, type_)
