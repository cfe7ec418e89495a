"""Reader of calls in a text that comes in pieces."""

import codecs
from collections.abc import Collection

from seamwise._results.containers import Failure
from seamwise.toolhost.formats.entries import REDACTED_SIZE, BrokenCall, ParsedCall
from seamwise.toolhost.formats.parsing import check_formats, not_utf8
from seamwise.toolhost.formats.scanner import Scanner
from seamwise.toolhost.formats.tagged import CLINE_TOOLS

SIZE_LIMIT = 16 * 2**20
"""In characters: the maximum length of the text that is held, and the size of the held calls."""

# The scanner looks back at the margin of a line.
_CONTEXT = 16

# A piece without any of these completes no call.
_CLOSERS = frozenset('}])>;`\n')

# The average number of times that a character may be scanned. It bounds the work for a call that
# comes in many small pieces.
_SCANS = 16


class Reader:
    r"""Reader of a text that comes in pieces, cut anywhere.

    The calls of all pieces are together those that `parse` returns for the whole text. But a reader
    has already returned the calls before the end of reasoning that has no beginning: pass
    `in_reasoning` if the prompt begins the reasoning. Pass `only` if the model is known.

    >>> reader = Reader()
    >>> pieces = '<tool_call>{"name": "ping", "argu', 'ments": {}}</tool', '_call> and'
    >>> [[call.unwrap().tool for call in reader.feed(piece)] for piece in pieces]
    [[], [], ['ping']]
    >>> reader.end()
    []

    Args:
        only: The names of the formats to read; see `parse`.
        tools: The names of tools that have tags of their own; see `parse`.
        in_reasoning: Whether the text begins in the reasoning of the model, up to its end mark.

    Raises:
        ValueError: A name in `only` is not in `FORMATS`.
    """

    def __init__(
        self,
        *,
        only: Collection[str] | None = None,
        tools: Collection[str] = (),
        in_reasoning: bool = False,
    ) -> None:
        self._scanner = Scanner(
            check_formats(only), tools=CLINE_TOOLS.union(tools), in_reasoning=in_reasoning
        )
        self._decoder = codecs.getincrementaldecoder('utf-8')()
        self._pieces: list[str] = []
        self._size = 0
        self._head = ''
        self._budget = 0
        self._is_over = False

    def feed(self, piece: str | bytes) -> list[ParsedCall]:
        """Return the calls that are complete now.

        Bytes that are not UTF-8 end the text with one `UnreadableCall`.

        Args:
            piece: The next piece of the text, or of its bytes in UTF-8.
        """
        return [] if self._is_over else self._add(piece, is_final=False)

    def end(self) -> list[ParsedCall]:
        """Return the rest of the calls."""
        calls = [] if self._is_over else self._add(b'', is_final=True)
        self._is_over = True
        return calls

    def _add(self, piece: str | bytes, *, is_final: bool) -> list[ParsedCall]:
        try:
            text = piece if isinstance(piece, str) else self._decoder.decode(piece, final=is_final)
        except UnicodeDecodeError as error:
            # The bytes of the error begin with those of a character that the last piece has cut.
            self._receive(error.object[: error.start].decode())
            self._is_over = True
            return [
                not_utf8(self._head, self._scanner.offset + self._size, error.object[error.start])
            ]
        self._receive(text)
        completes_call = not _CLOSERS.isdisjoint(text) and self._size <= self._budget
        calls = self._scan(is_final=is_final) if is_final or completes_call else []
        # Only a scan adds held calls.
        held_size = self._scanner.held_size() if completes_call else 0
        if is_final or max(self._size, held_size) <= SIZE_LIMIT:
            return calls
        self._is_over = True
        problem = f'it has more than {SIZE_LIMIT:,} characters without an end'
        span = (self._scanner.position, self._size)
        broken = BrokenCall('text', problem, ''.join(self._pieces), span)
        self._pieces.clear()
        # The element around a held call could still have had its end.
        rest = [call for call in self._scanner.rest() if type(call) is Failure]
        return [*calls, *rest, broken.failure(self._scanner.offset)]

    def _receive(self, text: str) -> None:
        self._pieces.append(text)
        self._size += len(text)
        self._budget += _SCANS * len(text)
        if len(self._head) < REDACTED_SIZE:
            self._head += text[: REDACTED_SIZE - len(self._head)]

    def _scan(self, *, is_final: bool) -> list[ParsedCall]:
        text = ''.join(self._pieces)
        self._budget -= len(text) - self._scanner.position
        calls = self._scanner.scan(text, is_final=is_final)
        start = max(0, self._scanner.position - _CONTEXT)
        self._scanner.forget(start)
        self._size -= start
        self._pieces = [text[start:]]
        return calls
