"""Stream of Anthropic Messages."""

from collections.abc import Iterator, Mapping

from typing_extensions import override

from seamwise._text.json_fields import object_of, text_of
from seamwise.catalog.models import ContextTooLong
from seamwise.catalog.streaming import StreamAborted
from seamwise.policies.classify.anthropic_sdk import ANTHROPIC
from seamwise.toolhost.formats import anthropic
from seamwise.toolhost.streams.items import StreamItem
from seamwise.toolhost.streams.partial_calls import Key, PartialCall
from seamwise.toolhost.streams.provider_stream import (
    ProviderStream,
    filtered,
    reasoning_items,
    stopped,
    text_items,
    truncated,
)


class AnthropicStream(ProviderStream):
    """Events for blocks of content, up to `message_stop`.

    A call is complete with its `content_block_stop`. That of a call without arguments also comes
    when the token limit has cut it off, so this one waits for the next block or the stop reason.
    Blocks of type `tool_use` are read; calls of the provider's own tools are not.
    """

    provider = ANTHROPIC

    def __init__(self) -> None:
        super().__init__()
        self._waiting: list[Key] = []
        self._reason: StreamAborted | None = None

    @override
    def read_chunk(self, chunk: Mapping[str, object], data: bytes) -> Iterator[StreamItem]:
        index = chunk.get('index')
        key = (0, index if isinstance(index, int) else 0)
        delta = object_of(chunk.get('delta'))
        match chunk.get('type'):
            case 'message_start':
                message = object_of(chunk.get('message'))
                self.model = text_of(message.get('model')) or self.model
            case 'content_block_start':
                yield from self._release()
                yield from self._begin(key, object_of(chunk.get('content_block')))
            case 'content_block_delta':
                yield from self._continue(key, delta)
            case 'content_block_stop':
                yield from self._stop(key)
            case 'message_delta':
                yield from self._read_reason(delta)
            case 'message_stop':
                yield from self._release()
                self.end(self._reason)
            case _:
                # `ping`, and events of later revisions.
                pass

    def _continue(self, key: Key, delta: Mapping[str, object]) -> Iterator[StreamItem]:
        match delta.get('type'):
            case 'text_delta':
                yield from text_items(delta.get('text'))
            case 'thinking_delta':
                yield from reasoning_items(delta.get('thinking'))
            case 'input_json_delta':
                self.calls.add(key, self.argument_text(delta.get('partial_json')))
            case _:
                # Signatures and citations.
                pass

    def _begin(self, key: Key, block: Mapping[str, object]) -> Iterator[StreamItem]:
        if block.get('type') == 'text':
            yield from text_items(block.get('text'))
        elif block.get('type') == 'thinking':
            yield from reasoning_items(block.get('thinking'))
        elif block.get('type') == 'tool_use':
            # Some proxies send all of the input here; an empty one is the start of any input.
            entry = anthropic.read({**block}, ())
            initial = self.argument_text(None if entry.arguments == {} else entry.arguments)
            call = PartialCall(
                'anthropic',
                entry.tool,
                entry.id,
                initial=initial.text,
                problem=entry.problem or initial.problem,
            )
            yield from self.begin_call(key, call)

    def _stop(self, key: Key) -> Iterator[StreamItem]:
        call = self.calls.get(key)
        if call is None:
            return
        if call.is_blank:
            self._waiting.append(key)
            return
        self.calls.take(key)
        yield call.read()

    def _release(self, *, is_cut: bool = False) -> Iterator[StreamItem]:
        """Yield the calls without arguments."""
        for key in self._waiting:
            call = self.calls.take(key)
            if call is not None:
                yield call.read_cut() if is_cut else call.read()
        self._waiting.clear()

    def _read_reason(self, delta: Mapping[str, object]) -> Iterator[StreamItem]:
        reason = text_of(delta.get('stop_reason'))
        if reason == 'max_tokens':
            self._reason = truncated(self.provider)
        elif reason == 'model_context_window_exceeded':
            self._reason = stopped(reason, ContextTooLong(self.provider.name))
        elif reason == 'refusal':
            category = text_of(object_of(delta.get('stop_details')).get('category'))
            self._reason = filtered(self.provider, category or reason)
        yield from self._release(is_cut=self._reason is not None)
