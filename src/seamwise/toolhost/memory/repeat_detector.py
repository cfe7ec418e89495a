"""Detection of calls that repeat: the same call, or a cycle of two or three calls."""

import json
from collections import deque
from hashlib import sha256

import msgspec

from seamwise._errors.errors import TaggedError
from seamwise._results.containers import Result, Success
from seamwise._text.jsonable import safe_str, to_builtins
from seamwise.catalog.tools import ToolRepeated
from seamwise.toolhost.calls import ToolCall
from seamwise.toolhost.schema.definitions import qualified_name

MAX_CYCLE = 3
"""In calls: the length of the longest cycle that is detected."""

_MEMORY = 64
"""In calls: the number of latest calls whose answers are compared."""


class _Recorded(msgspec.Struct):
    turn: int | None
    call: bytes
    answer: bytes | None = None


class RepeatDetector:
    """Detector for cycles of one to three calls.

    A call is refused if it would continue a cycle that has run `limit` times; 0 disables this. Two
    equal calls with different values as their answers are no repetition: the time, or the state of
    a job, changes.

    >>> detector = RepeatDetector(limit=2)
    >>> [detector.record(ToolCall('ping', {}, id='c', line=1)) is None for _ in range(3)]
    [True, True, False]
    """

    def __init__(self, *, limit: int) -> None:
        self._limit = limit
        self._latest: deque[_Recorded] = deque(maxlen=_MEMORY)
        self._repeats = dict.fromkeys(range(1, MAX_CYCLE + 1), 0)
        """By cycle length N: the number of latest calls that equal the call N places before."""

    def record(self, call: ToolCall, turn: int | None = None) -> ToolRepeated | None:
        """Record a call; return the refusal if it repeats too often.

        A refused call is recorded too.

        Args:
            call: The call.
            turn: The number of the call for `answer`.
        """
        digest = _digest([qualified_name(call.tool, call.namespace), call.arguments])
        refusal: ToolRepeated | None = None
        for length in self._repeats:
            if len(self._latest) < length or self._latest[-length].call != digest:
                self._repeats[length] = 0
                continue
            runs = self._repeats[length] // length + 1
            if refusal is None and 0 < self._limit <= runs:
                refusal = ToolRepeated(
                    qualified_name(call.tool, call.namespace), runs + 1, self._limit
                )
            self._repeats[length] += 1
        # The answer of a refused call is not that of its tool.
        self._latest.append(_Recorded(None if refusal else turn, digest))
        return refusal

    def answer(self, turn: int, result: Result[object, TaggedError]) -> None:
        """Record the result of a call; a failure is no other value.

        A cycle begins again after an answer that differs from the one a cycle before.
        """
        places = {item.turn: place for place, item in enumerate(self._latest)}
        if turn not in places or type(result) is not Success:
            return
        place = places[turn]
        recorded = self._latest[place]
        recorded.answer = _answer_digest(result.unwrap())
        for length in self._repeats:
            for later in (place, place + length):
                if length <= later < len(self._latest):
                    before, after = self._latest[later - length], self._latest[later]
                    if None not in {before.answer, after.answer} and before.answer != after.answer:
                        calls_since = len(self._latest) - 1 - later
                        self._repeats[length] = min(self._repeats[length], calls_since)


def _answer_digest(value: object) -> bytes:
    """Return a digest of a value of a tool, which can be of any type."""
    try:
        data = msgspec.json.encode(value, order='deterministic')
    except (TypeError, ValueError, RecursionError):
        data = safe_str(to_builtins(value)).encode(errors='surrogatepass')
    return sha256(data).digest()


def _digest(value: object) -> bytes:
    """Return a digest of the canonical JSON of a call."""
    try:
        # msgspec cannot encode lone surrogates, which a caller in Python can pass.
        text = json.dumps(_canonical(value), sort_keys=True)
    # A caller in Python can also pass what JSON does not have, such as bytes.
    except (TypeError, ValueError, RecursionError, msgspec.ValidationError):
        text = safe_str(value)
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
