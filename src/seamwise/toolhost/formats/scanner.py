"""Scanner of a text: it searches the marks of all formats from left to right and reads each."""

import re
from collections.abc import Callable, Collection, Mapping

from seamwise._results.containers import Success
from seamwise._text.json_scanner import CUT_TOKEN_LIMIT, Ending, scan_json
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
from seamwise.toolhost.formats.entries import DEPTH_LIMIT, ParsedCall, decode_text
from seamwise.toolhost.formats.json_text import has_call_key, read_calls, read_object
from seamwise.toolhost.formats.marks import (
    PARTIAL_LIST,
    PARTIAL_MARK,
    PYTHON_LIST,
    TextReading,
    marks_for,
    skip_space,
)
from seamwise.toolhost.formats.regions import (
    CLOSING_LIMIT,
    END_OF_REASONING,
    closing,
    is_reasoning,
)
from seamwise.toolhost.formats.tagged import CLINE_TOOLS

# Python does not count a byte order mark as white space.
_DOCUMENT_START = re.compile(r'[\s\ufeff]*+(?=[\[{"])')
_BLANK = re.compile(r'[\s\ufeff]*+\Z')


class Scanner:
    """The state of reading a text, which may come in pieces.

    Args:
        only: The names of the wanted formats. Default: all.
        tools: The names of the tools that have tags of their own.
        in_reasoning: Whether the text begins in the reasoning of the model.

    Attributes:
        position: The position up to which the text is read.
    """

    def __init__(
        self,
        only: Collection[str] | None = None,
        *,
        tools: frozenset[str] = CLINE_TOOLS,
        in_reasoning: bool = False,
    ) -> None:
        self.position = 0
        self._only = only
        self._marks = marks_for(tools)
        # Whether there were only blanks and reasoning yet.
        self._is_start = True
        self._is_in_fence = False
        self._is_react = False
        self._has_ended = False
        self._is_minimax = False
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
            and not has_call_key(text)
            and not self._marks.call.search(text, self.position)
        ):
            self.position = len(text)
            return []
        self._stop = -1
        calls: list[ParsedCall] = []
        while self._scan_part(text, calls, is_final=is_final):
            pass
        return calls

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
        if start is None:
            # The document may follow after reasoning.
            first = skip_space(text, self.position)
            mark = self._marks.mark.match(text, first)
            is_reasoning_next = (
                mark is not None and _kind(mark) == 'region' and is_reasoning(mark[0])
            )
            is_cut = not is_final and PARTIAL_MARK.match(text, first) is not None
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
        self._find_stop(text, is_final=is_final)
        while not self._has_ended and (mark := self._marks.mark.search(text, self.position)):
            # The key of an object may contain the beginning of another mark.
            if mark.start() >= self._stop:
                break
            kind = _kind(mark)
            reading, is_in_fence = self._read(text, kind, mark)
            if not (is_final or reading.is_settled):
                self.position = mark.start()
                self._region = self._section = None
                return False
            if kind == 'close':
                # The reasoning began before the text.
                calls.clear()
            self._is_start = kind == 'region' and is_reasoning(mark[0]) and self._is_start
            self.position = reading.end
            self._is_in_fence = is_in_fence
            calls += self._keep(reading.calls)
            if self._region is not None or self._section is not None:
                return True
            self._find_stop(text, is_final=is_final)
        self.position = self._stop
        return False

    def _find_stop(self, text: str, *, is_final: bool) -> None:
        """Find the mark that is cut off at the end of the text, unless it is known already."""
        if self.position > self._stop:
            partial = None if is_final else PARTIAL_MARK.search(text, self.position)
            self._stop = partial.start() if partial else len(text)

    def _read(self, text: str, kind: str, mark: re.Match[str]) -> tuple[TextReading, bool]:
        """Return the calls at a mark, and whether the text after them is in a fenced block."""
        start, end = mark.span()
        if kind == 'fence':
            return fence.read(text, start, is_open=self._is_in_fence)
        reader = _READERS.get(kind)
        if reader is not None:
            return reader(text, start, end), self._is_in_fence
        return self._read_state(text, kind, mark), self._is_in_fence

    def _read_state(  # noqa: C901 -- one arm for each mark
        self, text: str, kind: str, mark: re.Match[str]
    ) -> TextReading:
        """Return the calls at a mark that changes the state, or depends on it."""
        start, end = mark.span()
        reading = TextReading(end, [], is_settled=True)
        match kind:
            case 'react':
                self._is_react = True
                reading = react.read(text, start)
            case 'thought':
                self._is_react = True
            case 'observation':
                # What follows the observation of an action is no longer the model's request.
                self._has_ended = self._is_react
            case 'answer':
                self._has_ended = True
            case 'region':
                self._region = closing(mark[0])
            case 'harmony':
                reading, is_opaque = harmony.read(text, start)
                self._region = harmony.MESSAGE_END if is_opaque else None
            case 'section':
                reading, self._section = sections.read(text, start, end)
            case 'minimax':
                self._is_minimax = text[start + 1] != '/'
            case 'invoke':
                reading = tagged.read_invoke(text, start, is_minimax=self._is_minimax)
            case 'code' | 'quote':
                # A line or a span may go on.
                reading = reading._replace(is_settled=end < len(text))
            case _:
                # The end of reasoning.
                pass
        return reading

    def _keep(self, calls: list[ParsedCall]) -> list[ParsedCall]:
        """Return the calls in the wanted formats, or in a fenced block if those are wanted."""
        if self._only is None or (self._is_in_fence and 'fence' in self._only):
            return calls
        return [call for call in calls if _format_of(call) in self._only]


def _read_tool_call(text: str, start: int, end: int) -> TextReading:
    grammar = tagged.grammar_of(text, start)
    return hermes.read(text, start, end) if grammar is None else tagged.read(text, start, grammar)


_READERS: Mapping[str, Callable[[str, int, int], TextReading]] = {
    'json': lambda text, start, _: read_object(text, start),
    'xml': xml.read,
    'hermes': _read_tool_call,
    'mistral': mistral.read,
    'llama': llama.read,
    'function': lambda text, start, _: tagged.read(text, start, tagged.QWEN),
    'python': pythonic.read_marked,
    'list': lambda text, start, _: pythonic.skip_list(text, start),
    'cline': tagged.read_cline,
}
"""The readers that need no state: the text, the start and the end of their mark."""


def _kind(mark: re.Match[str]) -> str:
    """Return the name of the reader of a mark."""
    return str(mark.lastgroup).partition('_')[0]


def _format_of(call: ParsedCall) -> str:
    return call.unwrap().format if type(call) is Success else call.failure().format


def _document_calls(text: str, start: int) -> list[ParsedCall] | None:
    """Return the calls of a text that is one JSON document or list from `start`, or else None."""
    if PYTHON_LIST.match(text, start):
        reading, is_whole = pythonic.read_list(text, start, start)
        is_all = _BLANK.match(text, reading.end) if is_whole else not reading.is_settled
        return reading.calls if is_all else None
    document = decode_text(text[start:].rstrip())
    return read_calls(text, start, document.unwrap()) if type(document) is Success else None


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
