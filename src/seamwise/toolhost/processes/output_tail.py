"""The end of an output of any length, in bounded memory."""

OUTPUT_LIMIT = 4_000
"""In characters: so much of an output is kept, from its end."""

# A character has at most four bytes in UTF-8, and one more character tells whether the first one begins a line.
_KEPT = 4 * (OUTPUT_LIMIT + 4)


class TailBuffer:
    r"""Takes bytes as they come; gives the last characters, from a line's start where there is one.

    >>> tail = TailBuffer()
    >>> tail.add(b'one\n' * 2_000)
    >>> text, truncated = tail.text()
    >>> len(text), text[:8], truncated
    (4000, 'one\none\n', True)
    """

    def __init__(self) -> None:
        self._kept = bytearray()
        self._lost = False

    def add(self, data: bytes) -> None:
        """Take more bytes."""
        self._kept += data
        if len(self._kept) > 16 * _KEPT:
            del self._kept[:-_KEPT]
            self._lost = True

    def text(self) -> tuple[str, bool]:
        """Give the text, bytes that are not UTF-8 as U+FFFD, and whether anything before it was left out."""
        text = self._kept.decode('utf-8', 'replace')
        if len(text) <= OUTPUT_LIMIT and not self._lost:
            return text, False
        end = text[-OUTPUT_LIMIT:]
        begins_line = text[-OUTPUT_LIMIT - 1 : -OUTPUT_LIMIT] == '\n'
        start = 0 if begins_line else end.find('\n') + 1
        # A newline that is the last character begins no line.
        return end[start:] or end, True
