"""Make a large answer fit a model's window: its texts and lists are cut, its shape stays."""

import msgspec

from seamwise.messages import shorten
from seamwise.seams._builtins import to_json
from seamwise.seams._json import Json

MARK = 20
"""So many characters are left free for the note that says how much was cut."""


def fitted(value: object, limit: int) -> object:
    """Give a value whose JSON has at most `limit` characters, keys and numbers aside; one that fits is given back as it is.

    What comes first is kept longest. A cut text or list says how many characters or items more there were.

    >>> fitted({'path': 'a.txt', 'content': 'abcdefghijklmnopqrstuvwxyz' * 2}, 60)
    {'path': 'a.txt', 'content': 'abcdefghijklmn… (38 more)'}
    """
    encoded = to_json(value)
    if len(encoded.decode()) <= limit:
        return value
    whole: Json = msgspec.json.decode(encoded)
    room = limit
    while True:
        cut = _Room(room).cut(whole)
        over = _size(cut) - limit
        if over <= 0 or room <= 0:
            return cut
        # What the cutting did not reckon with is taken off; an eighth at least, so that this ends soon.
        room = min(room - over, room * 7 // 8)


class _Room:
    """So many characters are left for the rest of the value."""

    def __init__(self, left: int) -> None:
        self._left = left

    def cut(self, value: Json) -> Json:
        """Give as much of a value as there is room for, and take that off the room."""
        if isinstance(value, dict):
            return {key: self._entry(key, one) for key, one in value.items()}
        if isinstance(value, list):
            return self._items(value)
        kept = self._text(value) if isinstance(value, str) else value
        self._left -= _size(kept) + 1
        return kept

    def _text(self, text: str) -> str:
        size = _size(text)
        return text if size <= self._left else shorten(text, max(self._left - MARK, 0) * len(text) // size)

    def _entry(self, key: str, value: Json) -> Json:
        self._left -= _size(key) + 1
        return self.cut(value)

    def _items(self, items: list[Json]) -> list[Json]:
        kept: list[Json] = []
        for item in items:
            if self._left <= MARK:
                return [*kept, f'… ({len(items) - len(kept)} more)']
            kept.append(self.cut(item))
        return kept


def _size(value: object) -> int:
    return len(to_json(value).decode())
