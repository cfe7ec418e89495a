"""Resources, prompts, completion, log messages and progress, with the official client."""

import asyncio
import logging
import threading
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from mcp import Client, MCPError
from mcp.shared.exceptions import MCPDeprecationWarning
from mcp.types import (
    BlobResourceContents,
    EmbeddedResource,
    ImageContent,
    LoggingMessageNotificationParams,
    PromptReference,
    ResourceTemplateReference,
    TextContent,
    TextResourceContents,
)

from seamwise.toolhost import Content, Processor, Tools, tool
from seamwise.toolhost.mcp import serve
from tests.toolhost.mcp.conformance_server import PROMPTS, RESOURCES, static_text

LOGGER = logging.getLogger('tests.mcp.offers')


@tool
def work() -> str:
    """Log and report progress in a thread, also in one of its own that has no call."""
    thread = threading.Thread(target=LOGGER.error, args=['not of the call'])
    thread.start()
    thread.join()
    LOGGER.debug('detail')
    for step in (1, 2):
        LOGGER.info('step %d', step, extra={'progress': step, 'total': 2})
    LOGGER.warning('password=hunter2')
    return 'done'


@tool
def year(number: int) -> list[Content | str]:
    """Return the notes of a year."""
    if number < 0:
        raise KeyError(number)
    return [f'notes of {number}', Content(uri=f'notes://{number}/a', data=b'a')]


@asynccontextmanager
async def client_of(mode: Any = 'legacy', **options: Any) -> AsyncGenerator[Client]:
    """Yield an official client of a new server with these options of `serve`."""
    client_options = {key: options.pop(key) for key in ['logging_callback'] if key in options}
    ready: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    async def run() -> None:
        async with Processor(work) as processor:
            await serve(processor, transport='http', port=0, on_ready=ready.set_result, **options)

    task = asyncio.create_task(run())
    try:
        async with Client(await ready, mode=mode, **client_options) as client:
            yield client
    finally:
        task.cancel()
        await asyncio.wait([task])


both_modes = pytest.mark.parametrize('mode', ['legacy', 'auto'])


@both_modes
def test_a_client_reads_resources(mode: Any) -> None:
    async def main() -> None:
        resources = {**RESOURCES, 'notes://{number}': year}
        async with client_of(mode, resources=resources) as client:
            listed = (await client.list_resources()).resources
            assert [item.uri for item in listed] == ['test://static-text', 'test://static-binary']
            assert listed[0].description == 'Return the text of a resource.'
            templates = (await client.list_resource_templates()).resource_templates
            assert [item.uri_template for item in templates] == [
                'test://template/{id}/data',
                'notes://{number}',
            ]
            text, binary, template, notes = [
                (await client.read_resource(uri)).contents
                for uri in (
                    'test://static-text',
                    'test://static-binary',
                    'test://template/a%20b/data',
                    'notes://2026',
                )
            ]
            assert isinstance(text[0], TextResourceContents)
            assert text[0].text == 'This is the content of the static text resource.'
            assert isinstance(binary[0], BlobResourceContents)
            assert binary[0].mime_type == 'image/png'
            assert isinstance(template[0], TextResourceContents)
            assert '"id":"a b"' in template[0].text
            assert template[0].mime_type == 'application/json'
            assert [item.uri for item in notes] == ['notes://2026', 'notes://2026/a']

    asyncio.run(main())


@pytest.mark.parametrize(
    ('mode', 'uri', 'code'),
    [
        ('legacy', 'test://other', -32002),
        ('auto', 'test://other', -32602),
        ('legacy', 'notes://2026/a', -32002),
        ('legacy', 'notes://x', -32602),
        ('legacy', 'notes://-1', -32603),
    ],
)
def test_a_resource_that_cannot_be_read_is_an_error(mode: Any, uri: str, code: int) -> None:
    async def main() -> None:
        async with client_of(mode, resources={'notes://{number}': year}) as client:
            with pytest.raises(MCPError) as raised:
                await client.read_resource(uri)
        assert raised.value.code == code

    asyncio.run(main())


@both_modes
def test_a_client_gets_prompts(mode: Any) -> None:
    async def main() -> None:
        async with client_of(mode, prompts=PROMPTS) as client:
            prompts = {item.name: item for item in (await client.list_prompts()).prompts}
            first, second = prompts['test_prompt_with_arguments'].arguments or []
            assert (first.name, first.required, first.description) == (
                'arg1',
                True,
                'First test argument',
            )
            assert second.name == 'arg2'
            formal = (prompts['translate'].arguments or [])[1]
            assert formal.required is False
            embedded = await client.get_prompt(
                'test_prompt_with_embedded_resource', {'resourceUri': 'test://a'}
            )
            block, text = [message.content for message in embedded.messages]
            assert isinstance(block, EmbeddedResource)
            assert block.resource.uri == 'test://a'
            assert text == TextContent(text='Please process the embedded resource above.')
            image = await client.get_prompt('test_prompt_with_image')
            assert isinstance(image.messages[0].content, ImageContent)
            # The protocol sends texts.
            plain = await client.get_prompt('translate', {'language': 'de', 'formal': 'false'})
            assert plain.messages[0].content == TextContent(text='Translate this into de, plainly.')
            for name, arguments in [
                ('other', {}),
                ('translate', {}),
                ('translate', {'language': 'it'}),
            ]:
                with pytest.raises(MCPError) as raised:
                    await client.get_prompt(name, arguments)
                assert raised.value.code == -32602

    asyncio.run(main())


def test_the_values_of_an_argument_are_completed_from_its_type() -> None:
    async def main() -> None:
        async with client_of(prompts=PROMPTS, resources=RESOURCES) as client:

            async def values(ref: Any, name: str, start: str) -> list[str]:
                completed = await client.complete(ref, {'name': name, 'value': start})
                assert completed.completion.total == len(completed.completion.values)
                return completed.completion.values

            translate = PromptReference(name='translate')
            assert await values(translate, 'language', 'e') == ['en', 'es']
            assert await values(translate, 'formal', '') == ['true', 'false']
            assert await values(translate, 'other', '') == []
            assert await values(PromptReference(name='other'), 'language', '') == []
            template = ResourceTemplateReference(uri='test://template/{id}/data')
            assert await values(template, 'id', '') == []

    asyncio.run(main())


def test_records_of_a_call_reach_its_client(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LOGGER, 'level', logging.DEBUG)
    messages: list[tuple[str, object]] = []
    notices: list[tuple[float, float | None, str | None]] = []

    async def on_message(params: LoggingMessageNotificationParams) -> None:
        messages.append((params.level, params.data))

    async def on_progress(
        progress: float, total: float | None = None, message: str | None = None
    ) -> None:
        notices.append((progress, total, message))

    async def main() -> None:
        async with client_of(logger=LOGGER, logging_callback=on_message) as client:
            result = await client.call_tool('work', {}, progress_callback=on_progress)
            assert result.content == [TextContent(text='done')]

    asyncio.run(main())
    assert [level for level, _ in messages] == ['debug', 'warning']
    assert messages[0] == ('debug', 'detail')
    assert 'hunter2' not in str(messages)
    assert notices == [(1, 2, 'step 1'), (2, 2, 'step 2')]


def test_a_client_sets_the_level_of_log_messages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LOGGER, 'level', logging.DEBUG)
    levels: list[str] = []

    async def on_message(params: LoggingMessageNotificationParams) -> None:
        levels.append(params.level)

    async def main() -> None:
        async with client_of(logger=LOGGER, logging_callback=on_message) as client:
            with pytest.warns(MCPDeprecationWarning):
                # Clients of today still send it.
                await client.set_logging_level('warning')  # pyright: ignore[reportDeprecated]
            await client.call_tool('work', {})

    asyncio.run(main())
    assert levels == ['warning']


def test_a_server_without_offers_has_only_tools() -> None:
    async def main() -> None:
        async with client_of() as client:
            capabilities = client.server_capabilities
            assert capabilities.tools is not None
            assert capabilities.resources is None
            assert capabilities.prompts is None
            assert capabilities.logging is None
            assert capabilities.completions is None

    asyncio.run(main())


@pytest.mark.parametrize(
    ('options', 'error'),
    [
        ({'resources': {'test://{other}': year}}, ValueError),
        ({'resources': {'test://a': year}}, ValueError),
        ({'resources': {'test://a': print}}, TypeError),
        ({'prompts': print}, TypeError),
    ],
)
def test_an_offer_that_could_not_be_used_is_refused(
    options: dict[str, Any], error: type[Exception]
) -> None:
    async def main() -> None:
        async with Processor(work) as processor:
            await serve(processor, **options)

    with pytest.raises(error):
        asyncio.run(main())


def test_one_function_can_be_several_resources() -> None:
    async def main() -> None:
        resources = {'test://a': static_text, 'test://b': static_text}
        async with client_of(resources=resources) as client:
            for uri in resources:
                [contents] = (await client.read_resource(uri)).contents
                assert contents.uri == uri

    assert len(Tools([static_text])) == 1
    asyncio.run(main())
