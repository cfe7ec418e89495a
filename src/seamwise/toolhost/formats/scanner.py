"""Scanner of a text: it searches the marks of all formats from left to right and reads each."""

import re
from collections.abc import Collection

from seamwise._results.containers import Success
from seamwise._text.json_scanner import CUT_TOKEN_LIMIT, Ending, scan_json
from seamwise.toolhost.formats import fence, hermes, llama, mistral, react, xml
from seamwise.toolhost.formats.entries import DEPTH_LIMIT, ParsedCall, decode_text
from seamwise.toolhost.formats.json_text import has_call_key, read_calls, read_object
from seamwise.toolhost.formats.marks import CALL_MARK, MARK, PARTIAL_MARK, TextReading

# Python does not count a byte order mark as white space.
_DOCUMENT_START = re.compile(r'[\s\ufeff]*+(?=[\[{"])')
_BLANK = re.compile(r'[\s\ufeff]*+\Z')


class Scanner:
    """The state of reading a text, which may come in pieces.

    Attributes:
        position: The position up to which the text is read.
    """

    def __init__(self, only: Collection[str] | None = None) -> None:
        self.position = 0
        self._only = only
        self._is_start = True
        self._is_in_fence = False
        self._is_react = False
        self._has_observation = False

    def scan(self, text: str, *, is_final: bool) -> list[ParsedCall]:
        """Return the next calls.

        Args:
            text: The text from its start.
            is_final: Whether the text is complete. If not, the scan stops at the first mark whose
                calls more text may change.
        """
        # However many brackets and fences the text has, none of them begins a call.
        if is_final and not has_call_key(text) and not CALL_MARK.search(text, self.position):
            self.position = len(text)
            return []
        if self._is_start:
            if not is_final and _may_be_document(text):
                return []
            self._is_start = False
            start = _DOCUMENT_START.match(text)
            if is_final and start:
                document = decode_text(text[start.end() :].rstrip())
                if type(document) is Success:
                    self.position = len(text)
                    return self._keep(read_calls(text, start.end(), document.unwrap()))
        calls: list[ParsedCall] = []
        stop = self._partial_mark(text, is_final=is_final)
        while not self._has_observation and (mark := MARK.search(text, self.position)):
            # The key of an object may contain the beginning of another mark.
            if mark.start() >= stop:
                break
            reading, is_in_fence = self._read(text, mark)
            if not (is_final or reading.is_settled):
                self.position = mark.start()
                return calls
            self.position = reading.end
            self._is_in_fence = is_in_fence
            calls += self._keep(reading.calls)
            if self.position > stop:
                stop = self._partial_mark(text, is_final=is_final)
        self.position = stop
        return calls

    def _partial_mark(self, text: str, *, is_final: bool) -> int:
        """Return the position of a mark that is cut off at the end of the text, else its length."""
        partial = None if is_final else PARTIAL_MARK.search(text, self.position)
        return partial.start() if partial else len(text)

    def _read(self, text: str, mark: re.Match[str]) -> tuple[TextReading, bool]:
        """Return the calls at a mark, and whether the text after them is in a fenced block."""
        start, end = mark.span()
        match mark.lastgroup:
            case 'json':
                reading = read_object(text, start)
            case 'xml':
                reading = xml.read(text, start, end)
            case 'hermes':
                reading = hermes.read(text, start, end)
            case 'mistral':
                reading = mistral.read(text, start, end)
            case 'llama':
                reading = llama.read(text, start, end)
            case 'react':
                self._is_react = True
                reading = react.read(text, start)
            case 'fence':
                return fence.read(text, start, is_open=self._is_in_fence)
            case 'thought':
                self._is_react = True
                reading = TextReading(end, [], is_settled=True)
            case _:
                # What follows the observation of an action is no longer the model's request.
                self._has_observation = self._is_react
                reading = TextReading(end, [], is_settled=True)
        return reading, self._is_in_fence

    def _keep(self, calls: list[ParsedCall]) -> list[ParsedCall]:
        """Return the calls in the wanted formats, or in a fenced block if those are wanted."""
        if self._only is None or (self._is_in_fence and 'fence' in self._only):
            return calls
        return [call for call in calls if _format_of(call) in self._only]


def _format_of(call: ParsedCall) -> str:
    return call.unwrap().format if type(call) is Success else call.failure().format


def _may_be_document(text: str) -> bool:
    """Return whether the start of a text may be that of one JSON array or text."""
    match = _DOCUMENT_START.match(text)
    if match is None:
        return _BLANK.match(text) is not None
    start = match.end()
    if text[start] == '{':
        return False
    end, ending = scan_json(text, start, depth_limit=DEPTH_LIMIT)
    match ending:
        case Ending.COMPLETE:
            return _BLANK.match(text, end) is not None
        case Ending.CUT_OFF:
            return True
        case Ending.MALFORMED:
            return end + CUT_TOKEN_LIMIT >= len(text)
        case Ending.TOO_DEEP:
            return False
