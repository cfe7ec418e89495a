"""Definitions of tools, validated by the types of the providers' own SDKs."""

import datetime
import enum
import json
from typing import Annotated, Any, cast

import anthropic.types
import jsonschema_rs
import openai.types.chat
import openai.types.responses
import pytest
from google.genai.types import FunctionDeclaration
from google.genai.types import Tool as GeminiTool
from mcp.types import Tool as McpTool
from msgspec import Meta, Struct
from pydantic import TypeAdapter

from seamwise import Category, Result, Success, TaggedError
from seamwise.toolhost import Example, Tools, tool
from seamwise.toolhost.builtin import workspace_tools
from seamwise.toolhost.builtin.workspace.workspace import Workspace

FORMATS = ('openai', 'openai_responses', 'anthropic', 'gemini', 'mcp')


class CityUnknown(
    TaggedError, category=Category.NOT_FOUND, namespace='tests.toolhost.schema.test_definitions'
):
    city: str


class Unit(enum.Enum):
    CELSIUS = 'C'
    FAHRENHEIT = 'F'


class Region(Struct):
    """A region.

    Attributes:
        name: its name
        parts: the regions in it
    """

    name: str
    parts: 'list[Region]' = []


class Forecast(Struct):
    city: str
    temperatures: list[float]


@tool(is_repeatable=True)
async def weather(
    city: Annotated[str, Example('Oslo')],
    days: Annotated[int, Meta(ge=1, le=14)] = 3,
    unit: Unit = Unit.CELSIUS,
    since: datetime.date | None = None,
) -> Result[Forecast, CityUnknown]:
    """Return the forecast for a city.

    city: as people write it
    """
    return Success(Forecast(city, [20.0] * days))


@tool(namespace='map')
def search(
    region: Region,
    default: Annotated[Region, Meta(description='a parameter with the name of a keyword')],
    more: Annotated[Region, Meta(description='another one')] = Region('none'),  # noqa: B008
) -> list[Region]:
    """Return the parts of a region.

    region: where to search
    """
    return region.parts


@tool
def now() -> float:
    return 0.0


TOOLS = weather | search | now


def definitions_of(format: str, tools: Tools[Any] = TOOLS) -> list[dict[str, Any]]:  # noqa: A002
    definitions = tools.schema(format)
    # A provider is sent JSON.
    return cast('list[dict[str, Any]]', json.loads(json.dumps(definitions, allow_nan=False)))


def every_workspace_tool(workspace: Workspace) -> Tools[Any]:
    return TOOLS | workspace_tools(workspace)


def test_openai_accepts_the_definitions(workspace: Workspace) -> None:
    adapter = TypeAdapter(list[openai.types.chat.ChatCompletionToolParam])
    items = definitions_of('openai', every_workspace_tool(workspace))
    assert adapter.validate_python(items, extra='forbid') == items
    assert [item['function']['name'] for item in items[:3]] == ['weather', 'map__search', 'now']
    assert items[0]['function']['description'] == 'Return the forecast for a city.'
    assert items[0]['function']['parameters'] == weather.input_schema


def test_openai_responses_accepts_the_definitions(workspace: Workspace) -> None:
    adapter = TypeAdapter(list[openai.types.responses.FunctionToolParam])
    items = definitions_of('openai_responses', every_workspace_tool(workspace))
    assert adapter.validate_python(items, extra='forbid') == items
    assert [(item['type'], item['strict']) for item in items[:2]] == [('function', False)] * 2
    assert items[0]['parameters'] == weather.input_schema


def test_anthropic_accepts_the_definitions(workspace: Workspace) -> None:
    adapter = TypeAdapter(list[anthropic.types.ToolParam])
    items = definitions_of('anthropic', every_workspace_tool(workspace))
    assert adapter.validate_python(items) == items
    assert {key for item in items for key in item} == {'name', 'description', 'input_schema'}
    assert items[0]['input_schema'] == weather.input_schema


def test_gemini_accepts_the_definitions(workspace: Workspace) -> None:
    [item] = definitions_of('gemini', every_workspace_tool(workspace))
    declarations = GeminiTool.model_validate(item).function_declarations
    assert declarations is not None
    assert all(isinstance(declaration, FunctionDeclaration) for declaration in declarations)
    assert [declaration.name for declaration in declarations[:2]] == ['weather', 'map__search']
    assert declarations[2].parameters_json_schema == now.input_schema
    assert definitions_of('gemini', Tools([])) == []


def references_with_siblings(schema: object) -> list[object]:
    """Return the objects in a schema with a `$ref` and other keywords."""
    items: list[object] = []
    if isinstance(schema, dict):
        mapping = cast('dict[str, object]', schema)
        items = [mapping] if '$ref' in mapping and len(mapping) > 1 else []
        schema = [*mapping.values()]
    if isinstance(schema, list):
        for item in cast('list[object]', schema):
            items += references_with_siblings(item)
    return items


def test_gemini_gets_no_keyword_beside_a_reference() -> None:
    assert len(references_with_siblings(definitions_of('openai'))) == 4
    [item] = definitions_of('gemini')
    assert references_with_siblings(item) == []
    schema = item['functionDeclarations'][1]['parametersJsonSchema']
    reference = {'$ref': '#/$defs/Region'}
    assert schema['properties'] == {
        'region': {'anyOf': [reference], 'description': 'where to search'},
        'default': {
            'anyOf': [reference],
            'description': 'a parameter with the name of a keyword',
        },
        'more': {
            'anyOf': [reference],
            'description': 'another one',
            'default': {'name': 'none', 'parts': []},
        },
    }


def test_mcp_accepts_the_definitions(workspace: Workspace) -> None:
    items = definitions_of('mcp', every_workspace_tool(workspace))
    for item in items:
        assert McpTool.model_validate(item).model_dump(by_alias=True, exclude_none=True) == item
    hints = [item['annotations'] for item in items[:2]]
    assert hints == [{'idempotentHint': True}, {'idempotentHint': False}]
    assert items[0]['outputSchema'] == {
        'title': 'Forecast',
        'type': 'object',
        'properties': {
            'city': {'type': 'string'},
            'temperatures': {'type': 'array', 'items': {'type': 'number'}},
        },
        'required': ['city', 'temperatures'],
    }


@pytest.mark.parametrize('format_', FORMATS)
def test_each_schema_is_valid_and_is_not_changed_by_its_provider(
    format_: str, workspace: Workspace
) -> None:
    schemas: list[dict[str, Any]] = []
    for item in definitions_of(format_, every_workspace_tool(workspace)):
        for definition in item.get('functionDeclarations', [item.get('function', item)]):
            schemas += (value for value in definition.values() if isinstance(value, dict))
    schemas = [schema for schema in schemas if 'type' in schema]
    assert len(schemas) == len(TOOLS) + 7 if format_ != 'mcp' else len(schemas) > len(TOOLS) + 7
    for schema in schemas:
        jsonschema_rs.meta.validate(
            {'$schema': 'https://json-schema.org/draft/2020-12/schema', **schema}
        )


@pytest.mark.parametrize('format_', FORMATS)
def test_a_tool_without_a_docstring_has_no_description(format_: str) -> None:
    assert 'description' not in json.dumps(definitions_of(format_, Tools([now])))


@pytest.mark.parametrize('format_', FORMATS)
def test_a_change_of_a_definition_does_not_reach_the_tool(format_: str) -> None:
    before = json.dumps(TOOLS.schema(format_))
    for definition in cast('list[dict[str, Any]]', TOOLS.schema(format_)):
        definition.clear()
    search.input_schema['properties'].clear()  # type: ignore[attr-defined]  # a dict
    assert json.dumps(TOOLS.schema(format_)) == before


def test_an_unknown_provider_is_an_error() -> None:
    with pytest.raises(
        ValueError,
        match="must be one of openai, openai_responses, anthropic, gemini, mcp, not 'xml'",
    ):
        TOOLS.schema('xml')
