"""The last characters of an output of any length, in bounded memory."""

from seamwise.redaction import redact, redact_part

OUTPUT_LIMIT = 4_000
"""In characters: the length of the tail that is kept."""

# UTF-8 has at most four bytes per character. One more character shows whether the tail begins
# a line; the others complete a character that is cut at the start.
# The context can have the name of a secret whose value is in the tail.
_CONTEXT = 4_000
_TAIL_SIZE = 4 * (OUTPUT_LIMIT + _CONTEXT + 4)


class TailBuffer:
    r"""A buffer for output that keeps the last characters, from the start of a line if possible.

    >>> tail = TailBuffer()
    >>> tail.add(b'one\n' * 2_000)
    >>> text, truncated = tail.text()
    >>> len(text), text[:8], truncated
    (4000, 'one\none\n', True)
    """

    def __init__(self) -> None:
        self._data = bytearray()
        self._discarded = False

    def add(self, data: bytes) -> None:
        """Append output; discard bytes that cannot be part of the tail."""
        self._data += data
        # Discarding rarely keeps the cost of `del` constant per byte.
        if len(self._data) > 8 * _TAIL_SIZE:
            del self._data[:-_TAIL_SIZE]
            self._discarded = True

    def text(self, *, redacted: bool = False) -> tuple[str, bool]:
        """Return the tail, and whether output before it was cut off.

        U+FFFD replaces bytes that are not UTF-8. With `redacted`, secrets are masked, also those
        whose name is before the tail.
        """
        text = self._data.decode('utf-8', 'replace')
        if len(text) <= OUTPUT_LIMIT and not self._discarded:
            return (redact(text) if redacted else text), False
        tail = text[-OUTPUT_LIMIT:]
        begins_line = text[-OUTPUT_LIMIT - 1 : -OUTPUT_LIMIT] == '\n'
        start = 0 if begins_line else tail.find('\n') + 1
        # A newline at the very end begins no line: then the tail is part of one long line.
        at = len(text) - len(tail[start:] or tail)
        return (redact_part(text, at, len(text)) if redacted else text[at:]), True
