"""Redaction of one megabyte of JSON text: linear time, within a second."""

from collections.abc import Iterable

import msgspec

from benchmarks.measure import Comparison, Timer, timed
from seamwise import redact

_SECOND_NS = 1_000_000_000


def _json(size: int) -> str:
    """Return at least `size` characters of JSON: a log of tool calls, each with secrets."""
    records: list[object] = []
    written = 0
    while written < size:
        number = len(records)
        record = {
            'id': f'call-{number}',
            'tool': 'search_files',
            'arguments': {
                'pattern': f'def test_{number}\\b',
                'path': 'src/app',
                'max_tokens': 4096,
                'dry_run': False,
            },
            'headers': {'Accept': 'application/json', 'Authorization': f'Bearer {number:032x}'},
            'output': (
                f'3 matches in "src/app/file_{number}.py", author = ann@example.org, '
                f'took {number} ms\nsee https://example.org/{number}'
            ),
            'nested': f'{{"user": "ann", "api_key": "k-{number}", "tries": [1, 2, 3]}}',
        }
        written += len(msgspec.json.encode(record)) + 1
        records.append(record)
    return msgspec.json.encode(records).decode()


def _redact(size: int) -> Timer:
    text = _json(size)

    def work(turns: Iterable[None]) -> None:
        for _ in turns:
            redact(text)

    return timed(work)


def _seconds(times: int) -> int:
    return times * _SECOND_NS


_MEGABYTE = _redact(1_000_000)
_LINEAR = 'the text is read more than once'

COMPARISONS = (
    Comparison(
        job='`redact` of 1 MB of JSON text',
        peer='`redact` of 125 KB',
        ours=_MEGABYTE,
        theirs=_redact(125_000),
        target=10,
        rounds=20,
        because=f'linear time is a ratio of 8: {_LINEAR}',
    ),
    Comparison(
        job='`redact` of 1 MB of JSON text',
        peer='one second',
        ours=_MEGABYTE,
        theirs=_seconds,
        target=1,
        rounds=20,
        because=_LINEAR,
    ),
)
