"""Scanner of a text: it searches the marks of all formats from left to right and reads each."""

import re
from collections.abc import Callable, Collection, Mapping
from functools import cache

from msgspec.structs import replace

from seamwise._results.containers import Failure, Success
from seamwise._text.json_scanner import CUT_TOKEN_LIMIT, Ending, scan_json
from seamwise.catalog.parsing import UnreadableCall
from seamwise.toolhost.calls import ToolCall
from seamwise.toolhost.formats import (
    fence,
    harmony,
    hermes,
    llama,
    mistral,
    pythonic,
    react,
    sections,
    tagged,
    xml,
)
from seamwise.toolhost.formats.entries import (
    DEPTH_LIMIT,
    BrokenCall,
    ParsedCall,
    TextCall,
    decode_text,
)
from seamwise.toolhost.formats.json_text import has_call_key, read_calls, read_object
from seamwise.toolhost.formats.marks import (
    PARTIAL_LIST,
    PARTIAL_MARK,
    PYTHON_LIST,
    TAG_MARK,
    TextReading,
    marks_for,
    quote_end,
    skip_space,
)
from seamwise.toolhost.formats.regions import (
    CLOSING_LIMIT,
    END_OF_CODE,
    END_OF_REASONING,
    Elements,
    closing,
    is_reasoning,
    plain_name,
    tag_name,
    tag_of,
)
from seamwise.toolhost.formats.tagged import CLINE_TOOLS

# Python does not count a byte order mark as white space.
_DOCUMENT_START = re.compile(r'[\s\ufeff]*+(?=[\[{"])')
_BLANK = re.compile(r'[\s\ufeff]*+\Z')
# The memory of a call, and of an element, so that their number is limited too.
_ITEM_SIZE = 200
BROKEN_LIMIT = 1000
"""The maximum number of broken calls that are reported one by one."""


class Scanner:
    """The state of reading a text, which may come in pieces.

    Args:
        only: The names of the wanted formats. Default: all.
        tools: The names of the tools that have tags of their own.
        in_reasoning: Whether the text begins in the reasoning of the model.

    Attributes:
        position: The position up to which the text is read.
        offset: The length of the text that is no longer held.
    """

    def __init__(
        self,
        only: Collection[str] | None = None,
        *,
        tools: frozenset[str] = CLINE_TOOLS,
        in_reasoning: bool = False,
    ) -> None:
        self.position = self.offset = 0
        self._only = only
        self._marks = marks_for(tools)
        # Whether there were only blanks and reasoning yet.
        self._is_start = True
        self._is_in_fence = False
        self._has_ended = False
        self._is_minimax = False
        self._elements = Elements()
        # The calls in elements that may still end.
        self._held: list[ParsedCall] = []
        # A position before the first of them.
        self._held_start = 0
        self._broken_count = 0
        # The first broken call over the limit.
        self._over_limit: UnreadableCall | None = None
        # The end of a region without calls, and the family of a section of calls.
        self._region = END_OF_REASONING if in_reasoning else None
        self._section: sections.Family | None = None
        # The position of a mark that is cut off at the end of the present text.
        self._stop = -1

    def scan(self, text: str, *, is_final: bool) -> list[ParsedCall]:
        """Return the next calls.

        Args:
            text: The text from its start.
            is_final: Whether the text is complete. If not, the scan stops at the first mark whose
                calls more text may change.
        """
        # However many brackets and fences the text has, none of them begins a call.
        if (
            is_final
            and self._section is None
            and not self._elements
            and not has_call_key(text)
            and not self._marks.call.search(text, self.position)
        ):
            self.position = len(text)
            return self.rest()
        self._stop = -1
        held = self._held
        if not held:
            self._held_start = self.offset + self.position
        while self._scan_part(text, held, is_final=is_final):
            pass
        if is_final:
            return self.rest()
        count = self._elements.settled_count(held)
        calls = held[:count]
        del held[:count]
        self._elements.forget(count)
        return calls

    def rest(self) -> list[ParsedCall]:
        """Return the calls at the end of the text; the last one stands for all over the limit."""
        calls = self._held
        if self._over_limit is not None:
            error, number = self._over_limit, self._broken_count - BROKEN_LIMIT
            if number > 1:
                problem = f'it is the first of {number:,} more calls that cannot be read'
                error = replace(error, problem=problem)
            calls.append(Failure(error))
        return calls

    def held_size(self) -> int:
        """Return the size of the held calls and of the open elements, roughly in characters."""
        size = self.offset + self.position - self._held_start if self._held else 0
        return size + _ITEM_SIZE * (len(self._held) + len(self._elements))

    def forget(self, length: int) -> None:
        """Forget the start of the text, which is read."""
        self.position -= length
        self.offset += length

    def _scan_part(self, text: str, calls: list[ParsedCall], *, is_final: bool) -> bool:
        """Read up to the next change of the state, and return whether there may be more."""
        if self._region is not None:
            return self._skip_region(text, self._region, is_final=is_final)
        if self._is_start and not self._has_ended:
            found = self._read_document(text, is_final=is_final)
            if found is not None:
                calls += found
                return False
        if self._section is not None:
            return self._read_section(text, self._section, calls, is_final=is_final)
        return self._read_marks(text, calls, is_final=is_final)

    def _skip_region(self, text: str, closing: re.Pattern[str], *, is_final: bool) -> bool:
        end = closing.search(text, self.position)
        if end is None:
            held = 0 if is_final else CLOSING_LIMIT
            self.position = max(self.position, len(text) - held)
            return False
        self.position = end.end()
        self._region = None
        return True

    def _read_document(self, text: str, *, is_final: bool) -> list[ParsedCall] | None:
        """Return the calls of a text that is one document, or None for any other text."""
        if not is_final and _may_be_document(text, self.position):
            return []
        start = _DOCUMENT_START.match(text, self.position)
        # The first line of a text is no code, however it is indented.
        self.position = skip_space(text, self.position) if start is None else start.end()
        if start is None:
            # The document may follow after reasoning.
            mark = self._marks.mark.match(text, self.position)
            is_reasoning_next = (
                mark is not None
                and _kind(mark.lastgroup) in {'region', 'tag'}
                and is_reasoning(_region_mark(mark))
            )
            is_cut = not is_final and PARTIAL_MARK.match(text, self.position) is not None
            self._is_start = is_reasoning_next or is_cut
            return None
        self._is_start = False
        if not is_final:
            return None
        calls = _document_calls(text, start.end())
        if calls is not None:
            self.position = len(text)
        return None if calls is None else self._keep(calls)

    def _read_section(
        self, text: str, family: sections.Family, calls: list[ParsedCall], *, is_final: bool
    ) -> bool:
        reading, next_family = sections.read_next(text, self.position, family)
        if not (is_final or reading.is_settled):
            return False
        self.position = reading.end
        self._section = next_family
        calls += self._keep(reading.calls)
        return self.position < len(text)

    def _read_marks(self, text: str, calls: list[ParsedCall], *, is_final: bool) -> bool:
        elements = self._elements
        while mark := self._next_mark(text, is_final=is_final):
            kind = _kind(mark.lastgroup)
            if kind == 'page':
                self.position = mark.end()
                continue
            if kind == 'tag':
                name, kind, is_end = tag_of(mark['name'] or _shown_name(mark))
                if kind == 'element' and text[mark.end() - 2] != '/':
                    (elements.end if is_end else elements.begin)(name, calls)
                if self._has_ended or kind in {'element', 'other'}:
                    self.position = mark.end()
                    continue
            reading, is_in_fence = self._read(text, kind, mark)
            if not (is_final or reading.is_settled):
                self.position = mark.start()
                self._region = self._section = None
                return False
            if kind == 'close':
                # The reasoning began before the text.
                calls.clear()
                elements.clear()
                self._broken_count, self._over_limit = 0, None
            self._is_start = (
                self._is_start and kind == 'region' and is_reasoning(_region_mark(mark))
            )
            if kind == 'cline' and not reading.calls:
                # It is prose, or an element with data.
                elements.begin(tag_name(mark[0]), calls)
            self.position = reading.end
            self._is_in_fence = is_in_fence
            calls += self._keep(reading.calls)
            if self._region is not None or self._section is not None:
                return True
        self.position = self._stop
        return False

    def _next_mark(self, text: str, *, is_final: bool) -> re.Match[str] | None:
        """Return the next mark, or None; behind the answer, only the end of an element counts."""
        if self.position > self._stop:
            # A mark that is cut off at the end of the text stops the scan.
            partial = None if is_final else PARTIAL_MARK.search(text, self.position)
            self._stop = partial.start() if partial else len(text)
        if self._has_ended and not self._elements:
            return None
        marks = TAG_MARK if self._has_ended else self._marks.mark
        mark = marks.search(text, self.position)
        # The key of an object may contain the beginning of another mark.
        return mark if mark is not None and mark.start() < self._stop else None

    def _read(self, text: str, kind: str, mark: re.Match[str]) -> tuple[TextReading, bool]:
        """Return the calls at a mark, and whether the text after them is in a fenced block."""
        reader = _READERS.get(kind)
        if reader is not None:
            return reader(text, mark.start(), mark.end()), self._is_in_fence
        if kind == 'fence':
            return fence.read(text, mark.start(), is_open=self._is_in_fence)
        return self._read_state(text, kind, mark), self._is_in_fence

    def _read_state(self, text: str, kind: str, mark: re.Match[str]) -> TextReading:
        """Return the calls at a mark that changes the state, or depends on it."""
        start, end = mark.span()
        reading = TextReading(end, [], is_settled=True)
        match kind:
            case 'end':
                # The model has answered, or imagines the turn of a user or a tool.
                self._has_ended = True
            case 'region':
                self._region = closing(_region_mark(mark))
            case 'harmony':
                reading, is_opaque = harmony.read(text, start)
                self._region = harmony.MESSAGE_END if is_opaque else None
            case 'section':
                reading, self._section = sections.read(text, start, end)
            case 'minimax':
                self._is_minimax = text[start + 1] != '/'
            case 'invoke':
                reading = tagged.read_invoke(text, start, is_minimax=self._is_minimax)
            case 'quote':
                stop = quote_end(text, start)
                reading = TextReading(stop, [], is_settled=stop < len(text))
            case 'code':
                # A span may go on, and a diff in the next line.
                reading = TextReading(end, [], is_settled=end + 1 < len(text))
            case 'block':
                self._region = END_OF_CODE
            case _:
                # The end of reasoning.
                pass
        return reading

    def _keep(self, calls: list[TextCall]) -> list[ParsedCall]:
        """Return the calls in the wanted formats, or in a fenced block if those are wanted."""
        if not calls:
            return []
        if self._only is not None and not (self._is_in_fence and 'fence' in self._only):
            calls = [call for call in calls if _format_of(call) in self._only]
        kept: list[ParsedCall] = []
        for call in calls:
            if not isinstance(call, BrokenCall):
                kept.append(_shift(call, self.offset) if self.offset else call)
            else:
                self._broken_count += 1
                if self._broken_count <= BROKEN_LIMIT:
                    kept.append(call.failure(self.offset))
                elif self._over_limit is None:
                    self._over_limit = call.failure(self.offset).failure()
        return kept


def _read_tool_call(text: str, start: int, end: int) -> TextReading:
    grammar = tagged.grammar_of(text, start)
    return hermes.read(text, start, end) if grammar is None else tagged.read(text, start, grammar)


_READERS: Mapping[str, Callable[[str, int, int], TextReading]] = {
    'json': lambda text, start, _: read_object(text, start),
    'xml': xml.read,
    'hermes': _read_tool_call,
    'mistral': mistral.read,
    'llama': llama.read,
    'react': lambda text, start, _: react.read(text, start),
    'function': lambda text, start, _: tagged.read(text, start, tagged.QWEN),
    'python': pythonic.read_marked,
    'list': lambda text, start, _: pythonic.skip_list(text, start),
    'cline': tagged.read_cline,
}
"""The readers that need no state: the text, the start and the end of their mark."""


@cache
def _kind(group: str | None) -> str:
    """Return the name of the reader of a mark, by the group of the mark."""
    return str(group).partition('_')[0]


def _shown_name(mark: re.Match[str]) -> str:
    """Return the name of a tag in other brackets or escaped, with its first character."""
    return f'{mark[0][0]}{mark["label"] or mark["escaped"]}'


def _region_mark(mark: re.Match[str]) -> str:
    """Return a mark that begins a region, without the attributes of a tag."""
    return f'<{plain_name(mark["name"])}>' if mark['name'] else mark[0]


def _format_of(call: TextCall) -> str:
    return call.format if isinstance(call, BrokenCall) else call.unwrap().format


def _shift(call: Success[ToolCall], offset: int) -> Success[ToolCall]:
    """Return a call with its positions in the whole text."""
    value = call.unwrap()
    start, end = value.span or (0, 0)
    return Success(replace(value, span=(start + offset, end + offset)))


def _document_calls(text: str, start: int) -> list[TextCall] | None:
    """Return the calls of a text that is one JSON document or list from `start`, or else None."""
    if PYTHON_LIST.match(text, start):
        reading, is_whole = pythonic.read_list(text, start, start)
        is_all = _BLANK.match(text, reading.end) if is_whole else not reading.is_settled
        return reading.calls if is_all else None
    json = text[start:].rstrip()
    document = decode_text(json)
    if type(document) is not Success:
        return None
    return read_calls(text, (start, start + len(json)), document.unwrap())


def _may_be_document(text: str, position: int) -> bool:
    """Return whether the text from a position may be one JSON array or text, or a list of calls."""
    match = _DOCUMENT_START.match(text, position)
    if match is None:
        return _BLANK.match(text, position) is not None
    start = match.end()
    if text[start] == '{':
        return False
    if PYTHON_LIST.match(text, start):
        reading, is_whole = pythonic.read_list(text, start, start)
        is_blank = is_whole and _BLANK.match(text, reading.end) is not None
        return is_blank or not reading.is_settled
    end, ending = scan_json(text, start, depth_limit=DEPTH_LIMIT)
    if ending is Ending.COMPLETE:
        return _BLANK.match(text, end) is not None
    if ending is Ending.MALFORMED and end + CUT_TOKEN_LIMIT >= len(text):
        return True
    return ending is Ending.CUT_OFF or PARTIAL_LIST.match(text, start) is not None
