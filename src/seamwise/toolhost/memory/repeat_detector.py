"""Detection of calls that repeat: the same call, or a cycle of two or three calls."""

import json
from collections import deque
from hashlib import sha256

import msgspec

from seamwise._text.jsonable import safe_str
from seamwise.catalog.tools import ToolRepeated
from seamwise.toolhost.calls import ToolCall
from seamwise.toolhost.schema.definitions import qualified_name

MAX_CYCLE = 3
"""In calls: the length of the longest cycle that is detected."""


class RepeatDetector:
    """Detector for cycles of one to three calls.

    A call is refused if it would continue a cycle that has run `limit` times; 0 disables this.

    >>> detector = RepeatDetector(limit=2)
    >>> [detector.record(ToolCall('ping', {}, id='c', line=1)) is None for _ in range(3)]
    [True, True, False]
    """

    def __init__(self, *, limit: int) -> None:
        self._limit = limit
        self._latest: deque[bytes] = deque(maxlen=MAX_CYCLE)
        self._repeats = dict.fromkeys(range(1, MAX_CYCLE + 1), 0)
        """By cycle length N: the number of latest calls that equal the call N places before."""

    def record(self, call: ToolCall) -> ToolRepeated | None:
        """Record a call; return the refusal if it repeats too often.

        A refused call is recorded too.
        """
        digest = _digest(call)
        refusal: ToolRepeated | None = None
        for length in self._repeats:
            if len(self._latest) < length or self._latest[-length] != digest:
                self._repeats[length] = 0
                continue
            runs = self._repeats[length] // length + 1
            if refusal is None and 0 < self._limit <= runs:
                refusal = ToolRepeated(
                    qualified_name(call.tool, call.namespace), runs + 1, self._limit
                )
            self._repeats[length] += 1
        self._latest.append(digest)
        return refusal


def _digest(call: ToolCall) -> bytes:
    """Return a digest of the canonical JSON of tool and arguments."""
    name = qualified_name(call.tool, call.namespace)
    try:
        # msgspec cannot encode lone surrogates, which a caller in Python can pass.
        text = json.dumps([name, _canonical(call.arguments)], sort_keys=True)
    # A caller in Python can also pass what JSON does not have, such as bytes.
    except (TypeError, ValueError, RecursionError, msgspec.ValidationError):
        text = safe_str([name, call.arguments])
    return sha256(text.encode(errors='surrogatepass')).digest()


def _canonical(value: object) -> object:
    """Normalise numbers: 1 and 1.0 are the same number in JSON (RFC 8785, 3.2.2.3)."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {
            key: _canonical(item) for key, item in msgspec.convert(value, dict[str, object]).items()
        }
    if isinstance(value, list):
        return [_canonical(item) for item in msgspec.convert(value, list[object])]
    return value
