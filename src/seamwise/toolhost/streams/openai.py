"""Stream of OpenAI Chat Completions, and of the many servers with the same API."""

from collections.abc import Iterator, Mapping
from itertools import count

from typing_extensions import override

from seamwise._results.containers import Failure
from seamwise._text.json_fields import is_object, object_of, objects_in, text_of
from seamwise.catalog.streaming import StreamAborted
from seamwise.policies.classify.openai_sdk import OPENAI
from seamwise.toolhost.formats.entries import BrokenCall, is_array, key_problem
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

_REGULAR = frozenset({'stop', 'tool_calls', 'function_call'})
"""The values of `finish_reason` of an answer that is complete."""


class OpenAIStream(ProviderStream):
    """Chunks with `choices`, up to `[DONE]`.

    The pieces of several calls can alternate. A call is complete when its arguments are a complete
    object and the next call begins, or its choice has a `finish_reason`. Any other call waits for
    the end of the stream, because some servers repeat the reason in every chunk.
    """

    provider = OPENAI

    def __init__(self) -> None:
        super().__init__()
        # The unfinished calls of each choice: their keys, in order.
        self._keys: dict[int, dict[Key, None]] = {}
        # Indexes for calls without one do not collide with those of the provider.
        self._indexes = count(-1, -1)
        self._reason: StreamAborted | None = None
        # The choices with a regular `finish_reason`.
        self._finished: set[int] = set()

    @override
    def read_chunk(self, chunk: Mapping[str, object], data: bytes) -> Iterator[StreamItem]:
        self.model = text_of(chunk.get('model')) or self.model
        for choice in objects_in(chunk.get('choices')):
            index = choice.get('index')
            yield from self._read_choice(index if isinstance(index, int) else 0, choice)

    @override
    def read_done(self) -> Iterator[StreamItem]:
        # Without a `finish_reason`, only a complete object shows that a call is complete.
        for index, keys in self._keys.items():
            for key in keys:
                call = self.calls.take(key)
                if call is not None:
                    yield call.read() if index in self._finished else call.read_cut()
        self.end(self._reason)

    def _read_choice(self, index: int, choice: Mapping[str, object]) -> Iterator[StreamItem]:
        delta = object_of(choice.get('delta'))
        # DeepSeek and vLLM have the first name, OpenRouter the second.
        yield from reasoning_items(delta.get('reasoning_content') or delta.get('reasoning'))
        yield from text_items(delta.get('content'))
        if refusal := text_of(delta.get('refusal')):
            yield from text_items(refusal)
            self._reason = self._reason or filtered(self.provider, 'refusal')
        items = delta.get('tool_calls')
        for item in items if is_array(items) else ():
            yield from self._read_call(index, item)
        if is_object(function := delta.get('function_call')):
            yield from self._read_piece('function_call', (index, 0), None, function)
        reason = choice.get('finish_reason')
        if isinstance(reason, str) and reason:
            yield from self._finish_choice(index, reason)

    def _read_call(self, choice: int, item: object) -> Iterator[StreamItem]:
        if not is_object(item):
            yield BrokenCall('openai', 'the call is not an object', '', (0, 0)).failure()
            return
        call_id, function = item.get('id'), object_of(item.get('function'))
        index = item.get('index')
        if not isinstance(index, int):
            keys = self._keys.get(choice)
            is_new = not keys or bool(call_id or function.get('name'))
            index = next(self._indexes) if is_new or not keys else next(reversed(keys))[1]
        yield from self._read_piece('openai', (choice, index), call_id, function)

    def _read_piece(
        self,
        format_name: str,
        key: Key,
        call_id: object,
        function: Mapping[str, object],
    ) -> Iterator[StreamItem]:
        name, arguments = function.get('name'), self.argument_text(function.get('arguments'))
        call = self.calls.get(key)
        if call is not None and call_id and name and call.id and call.id != call_id:
            # Some servers number every call 0; the next id and name end the previous call. Others
            # invent an id for every piece, which has no name.
            self.calls.take(key)
            yield call.read()
            call = None
        problem = key_problem(function, arguments.text, {'name', 'arguments'}, has_nulls=True)
        if call is None:
            if not call_id and not name and not problem and not arguments.text.strip():
                return
            yield from self._take_complete()
            call = PartialCall(format_name)
            self.calls.begin(key, call)
            self._keys.setdefault(key[0], {})[key] = None
        # Some servers repeat the id and the name in every piece. Half a name is not a name.
        if call.tool and name and call.tool != name:
            problem = f'the call has two names, {call.tool!r} and {name!r}'
        call.id = call.id or call_id
        call.tool = call.tool or name
        call.problem = call.problem or problem
        self.calls.add(key, arguments)

    def _take_complete(self) -> Iterator[StreamItem]:
        for key, call in self.calls.take_complete():
            self._keys[key[0]].pop(key, None)
            yield call

    def _finish_choice(self, index: int, reason: str) -> Iterator[StreamItem]:
        if reason in _REGULAR:
            self._finished.add(index)
        else:
            self._finished.discard(index)
            self._reason = (
                truncated(self.provider)
                if reason == 'length'
                else filtered(self.provider, reason)
                if reason == 'content_filter'
                else stopped(reason)
            )
        keys = self._keys.get(index, {})
        for key in [*keys]:
            call = self.calls.get(key)
            result = None if call is None else call.read_cut()
            if type(result) is Failure and reason in _REGULAR:
                # Its arguments may follow.
                break
            self.calls.take(key)
            del keys[key]
            if result is not None:
                yield result
