"""Content and hints of tools, served to the official client and passed on from another server."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from mcp import Client
from mcp.types import (
    AudioContent,
    BlobResourceContents,
    ContentBlock,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
    TextResourceContents,
)
from mcp.types import Tool as ToolDefinition
from pydantic import BaseModel

from seamwise.toolhost import Content, Processor, Tool, Tools, tool
from seamwise.toolhost.mcp import connect_server, http, serve
from seamwise.toolhost.mcp.contents import content_blocks

IMAGE = Content(data=b'GIF89a', mime_type='image/gif')


class Point(BaseModel):
    x: int


@tool(title='A picture', is_read_only=True, is_open_world=False)
def picture() -> Content:
    return IMAGE


@tool(is_open_world=True)
async def mixed() -> list[str | Content]:
    return [
        'a "text"',
        IMAGE,
        Content(data=b'RIFF', mime_type='audio/wav'),
        Content(uri='test://a.json', text='{}', mime_type='application/json'),
        Content(uri='test://a.zip', data=b'PK'),
        Content(uri='test://folder/b.txt'),
        Content(text='the end'),
    ]


@tool
def official() -> ImageContent:
    return ImageContent(data='R0lGODlh', mime_type='image/gif')


@tool
def text() -> str:
    return 'line 1\nline "2"'


@tool
def json_text() -> str:
    return '{"a": 1}'


@tool
def point() -> Point:
    return Point(x=1)


@tool
def data() -> list[str]:
    return ['a', 'b']


TOOLS = picture | mixed | official | text | json_text | point | data

MIXED: list[ContentBlock] = [
    TextContent(text='a "text"'),
    ImageContent(data='R0lGODlh', mime_type='image/gif'),
    AudioContent(data='UklGRg==', mime_type='audio/wav'),
    EmbeddedResource(
        resource=TextResourceContents(uri='test://a.json', text='{}', mime_type='application/json')
    ),
    EmbeddedResource(
        resource=BlobResourceContents(
            uri='test://a.zip', blob='UEs=', mime_type='application/octet-stream'
        )
    ),
    ResourceLink(uri='test://folder/b.txt', name='b.txt'),
    TextContent(text='the end'),
]


@asynccontextmanager
async def served(tools: Tools[Any] | Tool[Any]) -> AsyncGenerator[str]:
    """Serve tools over HTTP, and yield the URL."""
    ready: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    async def run() -> None:
        async with Processor(tools) as processor:
            await serve(processor, transport='http', port=0, on_ready=ready.set_result)

    task = asyncio.create_task(run())
    try:
        yield await ready
    finally:
        task.cancel()
        await asyncio.wait([task])


@asynccontextmanager
async def passed_on(tools: Tools[Any]) -> AsyncGenerator[str]:
    """Serve the tools of a server that serves `tools`."""
    async with (
        served(tools) as url,
        connect_server(http(url)) as opened,
        served(opened.unwrap().tools) as outer,
    ):
        yield outer


@pytest.mark.parametrize('mode', ['legacy', 'auto'])
@pytest.mark.parametrize('serving', [served, passed_on])
def test_a_client_gets_content_by_its_type_and_the_hints_of_tools(serving: Any, mode: Any) -> None:
    async def main() -> tuple[dict[str, Any], dict[str, ToolDefinition]]:
        async with serving(TOOLS) as url, Client(url, mode=mode) as client:
            definitions = {tool.name: tool for tool in (await client.list_tools()).tools}
            results = {name: await client.call_tool(name, {}) for name in TOOLS.names}
        return results, definitions

    results, definitions = asyncio.run(main())
    assert results['mixed'].content == MIXED
    assert results['picture'].content == results['official'].content == [MIXED[1]]
    for name in ('mixed', 'picture', 'official'):
        assert results[name].structured_content is None
        assert definitions[name].output_schema is None
    if serving is served:
        assert results['text'].content == [TextContent(text='line 1\nline "2"')]
        assert results['json_text'].content == [TextContent(text='{"a": 1}')]
        assert results['json_text'].structured_content == {'result': '{"a": 1}'}
        assert results['data'].content == [TextContent(text='["a","b"]')]
    assert results['point'].structured_content == {'x': 1}

    assert definitions['picture'].title == 'A picture'
    hints = definitions['picture'].annotations
    assert hints is not None
    assert (hints.read_only_hint, hints.open_world_hint) == (True, False)
    assert hints.idempotent_hint is True
    hints = definitions['mixed'].annotations
    assert hints is not None
    assert (hints.read_only_hint, hints.open_world_hint) == (None, True)
    assert definitions['mixed'].title is None


@pytest.mark.parametrize(
    ('revision', 'types'),
    [
        ('2024-11-05', ['text', 'image', 'text', 'resource', 'resource', 'text', 'text']),
        ('2025-03-26', ['text', 'image', 'audio', 'resource', 'resource', 'text', 'text']),
        ('2025-06-18', ['text', 'image', 'audio', 'resource', 'resource', 'resource_link', 'text']),
    ],
)
def test_a_type_that_a_revision_does_not_know_becomes_text(revision: str, types: list[str]) -> None:
    blocks = content_blocks(asyncio.run(mixed()), revision)
    assert blocks is not None
    assert [block.type for block in blocks] == types


@pytest.mark.parametrize('value', ['a', [], ['a'], {'a': IMAGE}, [IMAGE, 3], None])
def test_other_values_are_data(value: object) -> None:
    assert content_blocks(value, '2025-11-25') is None
