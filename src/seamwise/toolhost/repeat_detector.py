"""Calls that come again and again: the same one, or a cycle of two or three."""

import json
from collections import deque
from hashlib import sha256

import msgspec

from seamwise.catalog.tools import ToolRepeated
from seamwise.toolhost.calls import ToolCall

LONGEST_CYCLE = 3
"""In calls: a longer cycle is not looked for."""


class Repetition:
    """Refuses the call that would go on with a cycle of one, two or three calls that has come `limit` times; 0: never.

    >>> repetition = Repetition(limit=2)
    >>> [repetition.asked(ToolCall('c', 'ping', {}, 1)) is None for _ in range(3)]
    [True, True, False]
    """

    def __init__(self, *, limit: int) -> None:
        self._limit = limit
        self._latest: deque[bytes] = deque(maxlen=LONGEST_CYCLE)
        self._same = dict.fromkeys(range(1, LONGEST_CYCLE + 1), 0)
        """By length of a cycle: so many calls, up to the latest, each equal the call that many places before it."""

    def asked(self, call: ToolCall) -> ToolRepeated | None:
        """Note that a call was asked for, and say why it is refused, where it is; a refused call counts as asked for."""
        identity = _identity(call)
        refused: ToolRepeated | None = None
        for length in self._same:
            if len(self._latest) < length or self._latest[-length] != identity:
                self._same[length] = 0
                continue
            times = self._same[length] // length + 1
            if refused is None and 0 < self._limit <= times:
                refused = ToolRepeated(call.tool, times + 1, self._limit)
            self._same[length] += 1
        self._latest.append(identity)
        return refused


def _identity(call: ToolCall) -> bytes:
    """Give a digest of the canonical JSON of tool and arguments."""
    # Not by msgspec: it has no form for half of a character, which a caller in Python may hand in.
    return sha256(
        json.dumps([call.tool, _canonical(call.arguments)], sort_keys=True).encode()
    ).digest()


def _canonical(value: object) -> object:
    """Write equal numbers alike: 1 and 1.0 are one number in JSON (RFC 8785, 3.2.2.3)."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {
            key: _canonical(one) for key, one in msgspec.convert(value, dict[str, object]).items()
        }
    if isinstance(value, list):
        return [_canonical(one) for one in msgspec.convert(value, list[object])]
    return value
