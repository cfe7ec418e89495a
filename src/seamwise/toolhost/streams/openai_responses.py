"""Stream of OpenAI Responses."""

from collections.abc import Iterator, Mapping

from typing_extensions import override

from seamwise._text.json_fields import object_of, text_of
from seamwise.policies.classify.openai_sdk import OPENAI
from seamwise.toolhost.formats import openai_responses
from seamwise.toolhost.formats.entries import is_array
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

_EVENT = 'response.'


class OpenAIResponsesStream(ProviderStream):
    """Typed events, up to `response.completed` or another end of the response.

    A call is complete with its `response.output_item.done`, which repeats all of it. The items
    `function_call` are read; calls of the provider's own tools and custom tools are not.
    """

    provider = OPENAI

    def __init__(self) -> None:
        super().__init__()
        self._has_refusal = False

    @override
    def read_chunk(self, chunk: Mapping[str, object], data: bytes) -> Iterator[StreamItem]:
        index, delta = chunk.get('output_index'), chunk.get('delta')
        key = (0, index if isinstance(index, int) else 0)
        match text_of(chunk.get('type')).removeprefix(_EVENT):
            case 'output_text.delta':
                yield from text_items(delta)
            case 'reasoning_text.delta' | 'reasoning_summary_text.delta':
                yield from reasoning_items(delta)
            case 'refusal.delta':
                self._has_refusal = True
                yield from text_items(delta)
            case 'output_item.added':
                yield from self._begin(key, object_of(chunk.get('item')))
            case 'function_call_arguments.delta':
                self.calls.add(key, self.argument_text(delta))
            case 'output_item.done':
                yield from self._finish(key, object_of(chunk.get('item')))
            case 'created' | 'in_progress':
                response = object_of(chunk.get('response'))
                self.model = text_of(response.get('model')) or self.model
            case 'completed' | 'incomplete' | 'failed' as last:
                yield from self._read_last(last, chunk)
            case _:
                # Events for the progress of an item, and those of later revisions.
                pass

    def _read_last(self, type_: str, chunk: Mapping[str, object]) -> Iterator[StreamItem]:
        response = object_of(chunk.get('response'))
        if type_ == 'failed':
            self.fail(response.get('error'))
            return
        if type_ == 'incomplete':
            reason = text_of(object_of(response.get('incomplete_details')).get('reason'))
            self.end(
                truncated(self.provider)
                if reason == 'max_output_tokens'
                else filtered(self.provider, reason)
                if reason == 'content_filter'
                else stopped(reason or 'incomplete')
            )
            return
        # Some servers leave out the events of a single item.
        output = response.get('output')
        for index, item in enumerate(output if is_array(output) else ()):
            if self.calls.get((0, index)) is not None:
                yield from self._finish((0, index), object_of(item))
        self.end(filtered(self.provider, 'refusal') if self._has_refusal else None)

    def _begin(self, key: Key, item: Mapping[str, object]) -> Iterator[StreamItem]:
        if item.get('type') == 'function_call':
            call = self._call(item)
            # The keys of the item say nothing yet: its arguments follow.
            call.problem = ''
            yield from self.begin_call(key, call)

    def _finish(self, key: Key, item: Mapping[str, object]) -> Iterator[StreamItem]:
        if item.get('type') != 'function_call':
            return
        begun = self.calls.take(key)
        call = self._call(item)
        if item.get('arguments') is None and begun is not None and not begun.is_blank:
            # The item should repeat the arguments.
            call.pieces = begun.pieces
        yield call.read_cut() if item.get('status') == 'incomplete' else call.read()

    def _call(self, item: Mapping[str, object]) -> PartialCall:
        entry = openai_responses.read({**item}, ())
        initial = self.argument_text(entry.arguments)
        return PartialCall(
            entry.format,
            entry.tool,
            entry.id,
            entry.namespace,
            initial=initial.text,
            problem=entry.problem or initial.problem,
        )
