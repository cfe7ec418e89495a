"""JSON Schemas of tools: what models read, and what arguments and values conform to."""

import datetime
import decimal
import enum
import json
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import (
    Annotated,
    Any,
    Generic,
    Literal,
    NamedTuple,
    Never,
    NotRequired,
    TypedDict,
    TypeVar,
    cast,
)

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET, Meta, Struct, UnsetType

from seamwise import Success
from seamwise.toolhost import Example, Tool, ToolCall, ToolOutcome, formats, tool
from tests.toolhost import later_types

DIALECT = 'https://json-schema.org/draft/2020-12/schema'

T = TypeVar('T')


class Unit(enum.Enum):
    CELSIUS = 'C'
    FAHRENHEIT = 'F'


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Node(Struct):
    """A node of a tree.

    It has any number of children.

    Attributes:
        name: the name of the node,
            in lower case
        children: the nodes below it
    """

    name: Annotated[str, Meta(min_length=1)]
    children: 'list[Node]' = []


class Circle(Struct, tag=True, forbid_unknown_fields=True):
    radius: Annotated[float, Meta(gt=0)]


class Square(Struct, tag=True):
    width: float


class Page(Struct, Generic[T]):
    items: list[T]
    next: str | UnsetType = UNSET


class Renamed(Struct, rename='camel', omit_defaults=True):
    first_name: str
    last_name: str | None = None


class Point(NamedTuple):
    x: int
    y: int = 0


class Options(TypedDict):
    unit: NotRequired[Literal['C', 'F']]
    days: int


@dataclass
class Folder:
    name: str
    folders: 'list[Folder]' = field(default_factory=list['Folder'])


NODE: dict[str, object] = {'name': 'a', 'children': [{'name': 'b', 'children': []}]}
TYPES: dict[str, tuple[Any, object]] = {
    'bool': (bool, True),
    'int': (int, 1),
    'float': (float, 1.5),
    'str': (str, 'a'),
    'None': (None, None),
    'object': (object, {'x': [1]}),
    'optional': (int | None, 1),
    'constrained': (Annotated[int, Meta(ge=1, le=14, multiple_of=2)], 2),
    'pattern': (Annotated[str, Meta(pattern='^[a-z]+$', max_length=5)], 'abc'),
    'union': (int | str | list[int] | None, [1]),
    'literal': (Literal['a', 'b', 3] | None, 'a'),
    'enum': (Unit, 'C'),
    'integer enum': (Level, 1),
    'list': (list[list[int]], [[1], []]),
    'sequence': (Sequence[str], ['a']),
    'tuple': (tuple[int, str], [1, 'a']),
    'open tuple': (tuple[int, ...], [1, 2]),
    'dict': (dict[str, list[bool]], {'a': [True]}),
    'recursive': (Node, NODE),
    'tagged': (Circle | Square, {'type': 'Circle', 'radius': 1.5}),
    'generic': (Page[int], {'items': [1], 'next': 'a'}),
    'renamed': (Renamed, {'firstName': 'a', 'lastName': None}),
    'named tuple': (Point, [1, 2]),
    'typed dict': (Options, {'unit': 'C', 'days': 1}),
    'dataclass': (Folder, {'name': 'a', 'folders': [{'name': 'b'}]}),
    'nested': (dict[str, tuple[Node | None, Options]], {'a': [NODE, {'days': 1}]}),
}
"""Types with a valid argument, apart from those that are written as a string of a certain form.

A set is not here: its schema demands different items, but the tool accepts equal ones.
"""

TEXT_TYPES: dict[str, tuple[Any, object]] = {
    'datetime': (datetime.datetime, datetime.datetime(2026, 1, 2, tzinfo=datetime.UTC)),
    'date': (datetime.date, datetime.date(2026, 1, 2)),
    'time': (datetime.time, datetime.time(12, 30)),
    'duration': (datetime.timedelta, datetime.timedelta(hours=1)),
    'decimal': (decimal.Decimal, decimal.Decimal('1.10')),
    'uuid': (uuid.UUID, uuid.UUID(int=7)),
    'bytes': (bytes, b'\x00\xff'),
}


def tool_for(type_: Any) -> Tool[Any]:
    """Return a tool that takes and returns a value of a type."""

    def echo(value: object) -> object:
        return value

    echo.__annotations__ = {'value': type_, 'return': type_}
    return tool(echo)


def parameter_schema(item: Tool[Any], name: str = 'value') -> dict[str, Any]:
    properties: Any = item.input_schema['properties']
    schema: dict[str, Any] = properties[name]
    return schema


every_type = pytest.mark.parametrize(
    'type_', [type_ for type_, _ in (TYPES | TEXT_TYPES).values()], ids=str
)


@every_type
def test_every_schema_is_valid_json_schema(type_: Any) -> None:
    item = tool_for(type_)
    for schema in filter(None, (item.input_schema, item.output_schema)):
        jsonschema_rs.meta.validate({'$schema': DIALECT, **schema})
        json.dumps(schema, allow_nan=False)


SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-3, 20)
    | st.floats(-200, 200)
    | st.sampled_from(['', 'a', 'b', 'C', 'abcdef', 'Square', 'A1'])
)
JSON = SCALARS | st.lists(SCALARS, max_size=3) | st.dictionaries(st.sampled_from('xab'), SCALARS)


@st.composite
def variants(draw: st.DrawFn, value: object) -> object:
    """Return a value with a change somewhere, or without."""
    action = draw(st.sampled_from(['keep', 'replace', 'remove', 'add', 'inner', 'inner']))
    if action == 'replace':
        return draw(JSON)
    if action == 'keep' or not isinstance(value, dict | list):
        return value
    items: dict[object, object] = (
        {**cast('dict[object, object]', value)}
        if isinstance(value, dict)
        else dict(enumerate(cast('list[object]', value)))
    )
    if items and action in {'remove', 'inner'}:
        key = draw(st.sampled_from([*items]))
        item = items.pop(key)
        if action == 'inner':
            items[key] = draw(variants(item))
    elif action == 'add':
        items[draw(st.sampled_from(['x', 'days', 'type']))] = draw(JSON)
    return items if isinstance(value, dict) else [*items.values()]


def has_whole_float(value: object) -> bool:
    """Return whether a value contains 1.0 or the like, an integer for JSON Schema only."""
    if isinstance(value, dict):
        return has_whole_float([*cast('dict[str, object]', value).values()])
    if isinstance(value, list):
        return any(map(has_whole_float, cast('list[object]', value)))
    return isinstance(value, float) and value.is_integer()


@pytest.mark.parametrize(('type_', 'example'), TYPES.values(), ids=TYPES)
def test_a_tool_accepts_exactly_the_arguments_that_its_schema_describes(
    type_: Any, example: object
) -> None:
    item = tool_for(type_)
    validator = jsonschema_rs.validator_for({'$schema': DIALECT, **item.input_schema})
    assert type(item.bind({'value': example})) is Success

    @given(variants(example))
    def compare(value: object) -> None:
        is_accepted = type(item.bind({'value': value})) is Success
        if is_accepted or not has_whole_float(value):
            assert is_accepted == validator.is_valid({'value': value})

    compare()


class TestParameters:
    def test_the_schema_of_a_tool_has_its_signature_and_its_docstring(self) -> None:
        @tool
        def weather(
            city: Annotated[str, Example('Oslo')],
            days: Annotated[int, Meta(ge=1, le=14)] = 3,
            *,
            unit: Literal['C', 'F'] = 'C',
        ) -> str:
            """Return the forecast.

            It is not always right.

            Args:
                city: as people
                    write it
                days: the number of days
            """
            return f'{city} {days} {unit}'

        assert weather.input_schema == {
            'type': 'object',
            'properties': {
                'city': {
                    'type': 'string',
                    'description': 'as people write it',
                    'examples': ['Oslo'],
                },
                'days': {
                    'type': 'integer',
                    'minimum': 1,
                    'maximum': 14,
                    'description': 'the number of days',
                    'default': 3,
                },
                'unit': {'enum': ['C', 'F'], 'default': 'C'},
            },
            'required': ['city'],
            'additionalProperties': False,
        }

    def test_a_tool_without_parameters_takes_an_empty_object(self) -> None:
        @tool
        def now() -> float:
            return 0.0

        assert now.input_schema == {
            'type': 'object',
            'properties': {},
            'required': [],
            'additionalProperties': False,
        }

    def test_the_docstring_of_a_class_describes_its_fields(self) -> None:
        schema: Any = tool_for(Node).input_schema
        assert schema['properties']['value'] == {'$ref': '#/$defs/Node'}
        node = schema['$defs']['Node']
        assert node['description'] == 'A node of a tree.'
        assert node['properties']['name'] == {
            'type': 'string',
            'minLength': 1,
            'description': 'the name of the node, in lower case',
        }
        assert node['properties']['children']['description'] == 'the nodes below it'

    def test_the_description_of_an_annotation_wins_over_the_docstring(self) -> None:
        class Place(Struct):
            """A place.

            Attributes:
                x: not this
            """

            x: Annotated[int, Meta(description='east of the origin')]

        schema: Any = tool_for(Place).input_schema
        assert schema['$defs']['Place']['properties']['x']['description'] == 'east of the origin'

    def test_a_default_is_shown_as_json_if_it_can_be(self) -> None:
        marker = object()

        @tool
        def look(
            at: Point = Point(1, 2),  # noqa: B008 -- immutable
            unit: Unit = Unit.CELSIUS,
            day: datetime.date = datetime.date(2026, 1, 2),
            other: int = marker,  # type: ignore[assignment]  # on purpose
        ) -> None: ...

        defaults = [parameter_schema(look, name).get('default') for name in ('at', 'unit', 'day')]
        assert defaults == [[1, 2], 'C', '2026-01-02']
        assert 'default' not in parameter_schema(look, 'other')

    def test_a_change_of_a_schema_does_not_reach_the_tool(self) -> None:
        item = tool_for(int)
        parameter_schema(item)['type'] = 'string'
        assert parameter_schema(item)['type'] == 'integer'

    def test_annotations_that_are_strings_are_resolved(self) -> None:
        schema: Any = later_types.move.input_schema
        assert schema['$defs']['Point']['required'] == ['x', 'y']
        with pytest.raises(TypeError, match="type of the parameter 'to' is not known"):
            _ = later_types.lost.input_schema


class TestValues:
    def test_an_object_is_described_at_the_top_without_a_copy(self) -> None:
        assert tool_for(Options).output_schema == {
            'title': 'Options',
            'type': 'object',
            'properties': {'unit': {'enum': ['C', 'F']}, 'days': {'type': 'integer'}},
            'required': ['days'],
        }

    def test_a_recursive_object_keeps_its_definition(self) -> None:
        schema: Any = tool_for(Node).output_schema
        assert schema['properties']['children']['items'] == {'$ref': '#/$defs/Node'}
        assert [*schema['$defs']] == ['Node']

    @pytest.mark.parametrize(
        ('type_', 'expected'),
        [
            (int, {'type': 'integer'}),
            (list[int], {'type': 'array', 'items': {'type': 'integer'}}),
            (int | None, {'anyOf': [{'type': 'integer'}, {'type': 'null'}]}),
            (Unit, {'$ref': '#/$defs/Unit'}),
            (Literal['a', 1], {'enum': [1, 'a']}),
        ],
    )
    def test_a_value_that_is_never_an_object_is_in_the_key_result(
        self, type_: Any, expected: object
    ) -> None:
        schema: Any = tool_for(type_).output_schema
        assert schema['properties'] == {'result': expected}
        assert (schema['type'], schema['required']) == ('object', ['result'])

    @pytest.mark.parametrize('type_', [object, Node | None, Circle | Square, dict[str, int] | str])
    def test_a_value_that_is_an_object_only_sometimes_has_no_schema(self, type_: Any) -> None:
        assert tool_for(type_).output_schema is None

    def test_a_value_that_json_has_no_type_for_has_no_schema(self) -> None:
        def look() -> complex:
            return 1j

        assert tool(validate=False)(look).output_schema is None


VALUES: dict[str, tuple[Any, object]] = {
    **TEXT_TYPES,
    'int': (int, 2**80),
    'float': (float, 1.5),
    'text': (str, 'é' * 5_000),
    'none': (None, None),
    'list': (list[list[int]], [[1], []]),
    'set': (frozenset[int], frozenset({1, 2})),
    'tuple': (tuple[int, str], (1, 'a')),
    'dict': (dict[str, int], {'a': 1}),
    'dict of integers': (dict[int, str], {1: 'a'}),
    'enum': (Unit, Unit.CELSIUS),
    'integer enum': (Level, Level.HIGH),
    'recursive': (Node, Node('a', [Node('b')])),
    'tagged': (Circle, Circle(1.0)),
    'generic': (Page[int], Page([1, 2])),
    'renamed': (Renamed, Renamed('Ada')),
    'named tuple': (Point, Point(1, 2)),
    'typed dict': (Options, {'days': 1}),
    'dataclass': (Folder, Folder('a', [Folder('b')])),
}


@pytest.mark.parametrize(('type_', 'value'), VALUES.values(), ids=VALUES)
def test_the_answer_for_mcp_conforms_to_the_schema_of_the_value(type_: Any, value: object) -> None:
    item = tool_for(type_)
    assert item.output_schema is not None
    outcome: ToolOutcome[Never] = ToolOutcome(
        1, ToolCall('echo', {}, format='mcp'), Success(value), 1, 0.0, 0.0
    )
    answer: Any = formats.answer(outcome)
    content = json.loads(json.dumps(answer['structuredContent']))
    jsonschema_rs.validate({'$schema': DIALECT, **item.output_schema}, content)
