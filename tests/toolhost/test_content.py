"""Results of tools that are content or models of pydantic, and classes that are refused."""

import io
import json
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, KeysView, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol

import jsonschema_rs
import pytest
from mcp.types import ImageContent
from msgspec import Struct
from pydantic import BaseModel, Field
from pydantic.dataclasses import dataclass as pydantic_dataclass

from seamwise import Failure, Result, Secret, Success
from seamwise._text.jsonable import to_builtins
from seamwise.catalog.tools import FileNotFound, InvalidResult
from seamwise.toolhost import Content, Processor, Tool, ToolCall, ToolLimits, formats, tool


class Author(BaseModel):
    name: str = Field(serialization_alias='fullName')


class Note(BaseModel):
    """A note."""

    number: int
    author: Author | None = None
    replies: list['Note'] = []


class Broken(BaseModel):
    value: object


class Page(Struct, frozen=True):
    notes: tuple[Note, ...]


class Handle:
    pass


class Shape:
    pass


@dataclass
class Circle(Shape):
    radius: int


class Base(ABC):
    @abstractmethod
    def area(self) -> int: ...


class Sized(Protocol):
    def size(self) -> int: ...


@dataclass
class Holder:
    handle: Handle


@pydantic_dataclass
class Point:
    x: int


NOTE = Note(number=1, author=Author(name='Ann'), replies=[Note(number=2)])

DUMPED: dict[str, Any] = {
    'number': 1,
    'author': {'fullName': 'Ann'},
    'replies': [{'number': 2, 'author': None, 'replies': []}],
}


@tool
def note() -> Note:
    return NOTE


@tool
def notes() -> Result[dict[str, list[Note]], FileNotFound]:
    return Success({'all': [NOTE]})


@tool
def page() -> Page:
    return Page((NOTE,))


@tool
def anything() -> Any:
    return [NOTE]


@tool(isolated=ToolLimits())
def isolated_note() -> list[Note]:
    return [NOTE]


@tool
def image() -> Content:
    return Content(data=b'abc', mime_type='image/png')


@tool(isolated=ToolLimits())
def isolated_image() -> Content:
    return Content(data=b'abc', mime_type='image/png')


@tool
def sdk_image() -> ImageContent:
    return ImageContent(data='YWJj', mime_type='image/png')


async def data_of(item: Tool[Any]) -> object:
    async with Processor(item) as processor:
        [outcome] = await processor.run([ToolCall(item.name, {})])
    answer: Any = formats.answer(outcome, format='openai')
    return json.loads(answer['content'])


@pytest.mark.anyio
@pytest.mark.parametrize('anyio_backend', ['asyncio'])
@pytest.mark.parametrize(
    ('item', 'data'),
    [
        (note, DUMPED),
        (notes, {'all': [DUMPED]}),
        (page, {'notes': [DUMPED]}),
        (anything, [DUMPED]),
        (isolated_note, [DUMPED]),
        (image, {'data': 'YWJj', 'mime_type': 'image/png'}),
        (isolated_image, {'data': 'YWJj', 'mime_type': 'image/png'}),
        (sdk_image, {'type': 'image', 'data': 'YWJj', 'mimeType': 'image/png'}),
    ],
    ids=lambda value: value.name if isinstance(value, Tool) else '',
)
async def test_a_model_gets_content_and_models_of_pydantic_as_data(
    item: Tool[Any], data: object
) -> None:
    assert await data_of(item) == data


@pytest.mark.anyio
@pytest.mark.parametrize('anyio_backend', ['asyncio'])
async def test_the_outcome_has_the_model_itself() -> None:
    async with Processor(note) as processor:
        [outcome] = await processor.run([ToolCall('note', {})])
    assert outcome.result.unwrap() is NOTE


@pytest.mark.parametrize('item', [note, notes, page])
def test_the_data_of_a_model_conforms_to_the_schema_of_the_tool(item: Tool[Any]) -> None:
    schema = item.output_schema
    assert schema is not None
    data: dict[str, object] = {
        'note': DUMPED,
        'notes': {'all': [DUMPED]},
        'page': {'notes': [DUMPED]},
    }
    jsonschema_rs.Draft202012Validator(dict(schema)).validate(data[item.name])


@pytest.mark.parametrize('item', [image, sdk_image])
def test_content_has_no_schema(item: Tool[Any]) -> None:
    assert item.output_schema is None


def test_a_model_that_cannot_be_dumped_is_described() -> None:
    assert to_builtins({'note': NOTE}) == {'note': DUMPED}
    assert to_builtins(Broken(value=Handle())) == '<Broken>'


@pytest.mark.parametrize(
    'type_',
    [
        Handle,
        list[Handle],
        dict[str, Handle | None],
        Callable,
        Holder,
        complex,
        io.BytesIO,
        KeysView[str],
        Callable[[], int],
        deque[int],
        list[Result[int, FileNotFound]],
        type,
    ],
    ids=str,
)
def test_a_result_without_a_json_form_is_refused_when_decorated(type_: Any) -> None:
    def look() -> Any:
        raise AssertionError('it is not called')

    look.__annotations__['return'] = type_
    with pytest.raises(TypeError, match='has no JSON form; return'):
        tool(look)
    # Its result is for the program only.
    assert tool(validate=False)(look).name == 'look'


@pytest.mark.parametrize(
    'type_',
    [
        Note,
        Page,
        Content,
        Point,
        Shape,
        Base,
        Sized,
        object,
        Any,
        Path,
        Secret[str],
        datetime,
        Mapping[str, Iterable[int]],
        bytes,
        FileNotFound,
    ],
    ids=str,
)
def test_a_result_that_can_have_a_json_form_is_accepted(type_: Any) -> None:
    def look() -> Any:
        raise AssertionError('it is not called')

    look.__annotations__['return'] = type_
    assert tool(look).name == 'look'


def test_a_type_that_is_defined_later_is_refused_by_the_processor() -> None:
    def look() -> Any:
        raise AssertionError('it is not called')

    look.__annotations__['return'] = 'Later'
    later = tool(look)
    look.__globals__['Later'] = Handle
    try:
        with pytest.raises(TypeError, match='has no JSON form'):
            Processor(later)
    finally:
        del look.__globals__['Later']


@pytest.mark.parametrize(
    'fields',
    [
        {},
        {'text': 'a', 'data': b'a'},
        {'data': b'a'},
        {'data': b'a', 'mime_type': 'application/zip'},
        {'name': 'a'},
    ],
    ids=str,
)
def test_content_that_no_client_could_show_is_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r'Content|mime_type'):
        Content(**fields)


@pytest.mark.parametrize(
    ('content', 'type_'),
    [
        (Content(text='a'), 'text'),
        (Content(text='a', mime_type='text/plain'), 'text'),
        (Content(data=b'a', mime_type='audio/wav'), 'audio'),
        (Content(uri='test://a', data=b'a', mime_type='application/zip'), 'resource'),
        (Content(uri='test://a', text=''), 'resource'),
        (Content(uri='test://a', name='a'), 'resource_link'),
    ],
    ids=str,
)
def test_the_type_of_content_follows_from_its_fields(content: Content, type_: str) -> None:
    assert content.type == type_


def test_a_result_that_is_not_of_the_declared_model_is_invalid() -> None:
    @tool
    def wrong() -> Note:
        return {'number': 1}  # type: ignore[return-value]  # on purpose

    invocation = wrong.bind({}).unwrap()
    result = invocation.check(invocation.run())
    assert type(result) is Failure
    assert isinstance(result.failure(), InvalidResult)
