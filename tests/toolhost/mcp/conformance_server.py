"""MCP server with what the official conformance suite asks for; it prints its URL.

The suite is the package `@modelcontextprotocol/conformance` of npm. `check_conformance.py` runs it.
With the argument `stdio`, the server uses standard input and output; `check_typescript.py` does so.
"""

import asyncio
import logging
import sys
from collections.abc import Mapping
from typing import Literal, Never

from typing_extensions import override

from seamwise import Failure
from seamwise.catalog.tools import MissingParameter
from seamwise.toolhost import Content, Processor, Tool, Tools, tool
from seamwise.toolhost.mcp import serve

LOGGER = logging.getLogger('conformance')

PIXEL = (
    b'\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x02\0\0\0\x90wS\xde'
    b'\0\0\0\x0cIDATx\x9cc\xf8\xcf\xc0\0\0\x03\x01\x01\0\xc9\xfe\x92\xef\0\0\0\0IEND\xaeB`\x82'
)

SOUND = b'RIFF$\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0@\x1f\0\0@\x1f\0\0\x01\0\x08\0data\0\0\0\0'

IMAGE = Content(data=PIXEL, mime_type='image/png')

PAUSE = 0.05
"""In seconds: the time between two notices."""


@tool
def test_simple_text() -> str:
    """Return a text."""
    return 'This is a simple text response for testing.'


@tool
def test_image_content() -> Content:
    """Return an image."""
    return IMAGE


@tool
def test_audio_content() -> Content:
    """Return audio."""
    return Content(data=SOUND, mime_type='audio/wav')


@tool
def test_embedded_resource() -> Content:
    """Return a resource."""
    return Content(
        uri='test://embedded-resource',
        text='This is an embedded resource content.',
        mime_type='text/plain',
    )


@tool
def test_multiple_content_types() -> list[str | Content]:
    """Return content of several types."""
    return [
        'Multiple content types test:',
        IMAGE,
        Content(
            uri='test://mixed-content-resource',
            text='{"test":"data","value":123}',
            mime_type='application/json',
        ),
    ]


@tool
async def test_tool_with_logging() -> str:
    """Send log messages."""
    LOGGER.info('Tool execution started')
    await asyncio.sleep(PAUSE)
    LOGGER.info('Tool processing data')
    await asyncio.sleep(PAUSE)
    LOGGER.info('Tool execution completed')
    return 'It has sent three messages.'


@tool
async def test_tool_with_progress() -> str:
    """Send notices of progress."""
    for progress in (0, 50, 100):
        LOGGER.info('%d of 100', progress, extra={'progress': progress, 'total': 100})
        await asyncio.sleep(PAUSE)
    return 'It has sent three notices.'


@tool
def test_error_handling() -> str:
    """Fail."""
    raise ConnectionResetError('This tool intentionally returns an error for testing')


class RawSchema(Tool[Never]):
    """A tool whose schema is written by hand."""

    @property
    @override
    def input_schema(self) -> Mapping[str, object]:
        return {
            '$schema': 'https://json-schema.org/draft/2020-12/schema',
            'type': 'object',
            '$defs': {
                'address': {
                    'type': 'object',
                    'properties': {'street': {'type': 'string'}, 'city': {'type': 'string'}},
                }
            },
            'properties': {'name': {'type': 'string'}, 'address': {'$ref': '#/$defs/address'}},
            'additionalProperties': False,
        }

    @override
    def bind(self, arguments: Mapping[str, object]) -> Failure[MissingParameter]:
        return Failure(MissingParameter(self.name, 'nothing'))


TOOLS: Tools[Never] = Tools(
    [
        test_simple_text,
        test_image_content,
        test_audio_content,
        test_embedded_resource,
        test_multiple_content_types,
        test_tool_with_logging,
        test_tool_with_progress,
        test_error_handling,
        RawSchema('json_schema_2020_12_tool', description='Tool with a schema of its own.'),
    ]
)


@tool
def static_text() -> str:
    """Return the text of a resource."""
    return 'This is the content of the static text resource.'


@tool
def static_binary() -> Content:
    """Return the bytes of a resource."""
    return IMAGE


@tool
def template_data(id: str) -> dict[str, object]:  # noqa: A002 -- the name of the suite
    """Return a resource with a variable in its address."""
    return {'id': id, 'templateTest': True, 'data': f'Data for ID: {id}'}


RESOURCES: dict[str, Tool[Never]] = {
    'test://static-text': static_text,
    'test://static-binary': static_binary,
    'test://template/{id}/data': template_data,
}


@tool
def test_simple_prompt() -> str:
    """Return a message."""
    return 'This is a simple prompt for testing.'


@tool
def test_prompt_with_arguments(arg1: str, arg2: str) -> str:
    """Return a message with two arguments.

    arg1: First test argument
    arg2: Second test argument
    """
    return f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"


@tool
def test_prompt_with_embedded_resource(
    resourceUri: str,  # noqa: N803 -- the name of the suite
) -> list[str | Content]:
    """Return a resource and a message."""
    return [
        Content(
            uri=resourceUri, text='Embedded resource content for testing.', mime_type='text/plain'
        ),
        'Please process the embedded resource above.',
    ]


@tool
def test_prompt_with_image() -> list[str | Content]:
    """Return an image and a message."""
    return [IMAGE, 'Please analyze the image above.']


@tool
def translate(language: Literal['de', 'en', 'es'], formal: bool = True) -> str:
    """Return a message whose arguments can be completed."""
    return f'Translate this into {language}, {"formally" if formal else "plainly"}.'


PROMPTS = (
    test_simple_prompt
    | test_prompt_with_arguments
    | test_prompt_with_embedded_resource
    | test_prompt_with_image
    | translate
)


async def main() -> None:
    LOGGER.setLevel(logging.INFO)
    async with Processor(TOOLS) as processor:
        await serve(
            processor,
            transport='stdio' if 'stdio' in sys.argv[1:] else 'http',
            port=0,
            on_ready=lambda url: print(url, flush=True),
            resources=RESOURCES,
            prompts=PROMPTS,
            logger=LOGGER,
        )


if __name__ == '__main__':
    asyncio.run(main())
