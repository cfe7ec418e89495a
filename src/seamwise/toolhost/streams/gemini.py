"""Stream of Gemini: `streamGenerateContent` with `alt=sse`."""

from collections.abc import Iterator, Mapping

from typing_extensions import override

from seamwise._runtime.strict_json import has_duplicate_keys
from seamwise._text.json_fields import object_of, objects_in, text_of
from seamwise.catalog.streaming import StreamAborted
from seamwise.policies.classify.gemini_sdk import GEMINI
from seamwise.toolhost.formats import gemini
from seamwise.toolhost.formats.entries import BrokenCall, is_blank, read_entry
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

# The key of a call without arguments.
_BLANK: Key = (0, 0)

_REGULAR = frozenset({'STOP', 'FINISH_REASON_UNSPECIFIED'})
_TRUNCATED = frozenset({'MAX_TOKENS', 'CONTINUATION'})
_UNREADABLE = frozenset({'MALFORMED_FUNCTION_CALL', 'UNEXPECTED_TOOL_CALL'})
_FILTERED = frozenset(
    {
        'SAFETY',
        'RECITATION',
        'LANGUAGE',
        'BLOCKLIST',
        'PROHIBITED_CONTENT',
        'SPII',
        'IMAGE_SAFETY',
        'IMAGE_PROHIBITED_CONTENT',
        'IMAGE_RECITATION',
        'ESCALATION',
        'MODEL_ARMOR',
    }
)


class GeminiStream(ProviderStream):
    """Responses with `candidates`; the last one has a `finishReason`, and the bytes end after it.

    Calls arrive whole. The parts of a call that Vertex AI streams on request are not supported:
    such a call is an `UnreadableCall`.
    """

    provider = GEMINI

    def __init__(self) -> None:
        super().__init__()
        self._is_finished = False
        self._is_inside_call = False
        self._reason: StreamAborted | None = None

    @override
    def read_chunk(self, chunk: Mapping[str, object], data: bytes) -> Iterator[StreamItem]:
        self.model = text_of(_field(chunk, 'modelVersion')) or self.model
        feedback = object_of(_field(chunk, 'promptFeedback'))
        if block_reason := text_of(_field(feedback, 'blockReason')):
            self.end(filtered(self.provider, block_reason))
            return
        for candidate in objects_in(chunk.get('candidates')):
            content = object_of(candidate.get('content'))
            for part in objects_in(content.get('parts')):
                yield from self._end_blank_call(is_complete=True)
                yield from self._read_part(part, chunk, data)
            if reason := text_of(_field(candidate, 'finishReason')):
                yield from self._read_reason(reason, candidate)

    @override
    def end_of_source(self) -> None:
        if self._is_finished:
            self.end(self._reason)
        else:
            super().end_of_source()

    def _read_part(
        self, part: Mapping[str, object], chunk: Mapping[str, object], data: bytes
    ) -> Iterator[StreamItem]:
        call = _field(part, 'functionCall')
        if part.get('thought'):
            yield from reasoning_items(part.get('text'))
        elif call is not None:
            yield from self._read_call(call, chunk, data)
        else:
            yield from text_items(part.get('text'))

    def _read_call(
        self, call: object, chunk: Mapping[str, object], data: bytes
    ) -> Iterator[StreamItem]:
        fields = object_of(call)
        entry = gemini.read(call, ())
        is_continued = self._is_inside_call and entry.tool is None
        self._is_inside_call = bool(_field(fields, 'willContinue'))
        if is_continued:
            # The first part of the call was reported.
            return
        problem = entry.problem
        if self._is_inside_call or _field(fields, 'partialArgs'):
            problem = 'its arguments arrive in parts, which is not supported'
        elif has_duplicate_keys(data, chunk):
            problem = 'an object has the same key twice'
        if problem or not is_blank(entry.arguments):
            yield read_entry(entry._replace(problem=problem))
        else:
            # It may be cut off, which the next part or the reason shows.
            self.calls.begin(_BLANK, PartialCall('gemini', entry.tool, entry.id))

    def _end_blank_call(self, *, is_complete: bool) -> Iterator[StreamItem]:
        call = self.calls.take(_BLANK)
        if call is not None:
            yield call.read() if is_complete else call.cut_off()

    def _read_reason(self, reason: str, candidate: Mapping[str, object]) -> Iterator[StreamItem]:
        self._is_finished = True
        yield from self._end_blank_call(is_complete=reason in _REGULAR)
        if reason in _UNREADABLE:
            message = text_of(_field(candidate, 'finishMessage'))
            problem = f'the provider reports {reason}'
            yield BrokenCall('gemini', problem, message, (0, len(message))).failure()
        elif reason in _TRUNCATED:
            self._reason = truncated(self.provider)
        elif reason in _FILTERED:
            self._reason = filtered(self.provider, reason)
        elif reason not in _REGULAR:
            self._reason = stopped(reason)


def _field(value: Mapping[str, object], name: str) -> object:
    """Return a field by its name in JSON, or in snake case as the SDK dumps it."""
    if (field := value.get(name)) is not None:
        return field
    return value.get(''.join(f'_{char.lower()}' if char.isupper() else char for char in name))
