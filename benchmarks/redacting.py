"""Redaction of one megabyte of text: linear time, JSON within a second."""

from collections.abc import Callable, Iterable

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


_WORDS = (
    *('token', 'secret', 'password', 'key', 'auth', 'login', 'user', 'session', 'api', 'cookie'),
    *('is', 'for', 'the', 'of', 'connect', 'set', 'put', 'from', 'to', 'value', 'with'),
)


def _suspicious(size: int) -> str:
    """Return at most `size` characters of words that many rules search for, without a secret."""
    words = (_WORDS[number * number % 101 % len(_WORDS)] for number in range(size // 5))
    return ' '.join(words)[:size]


def _logs(size: int) -> str:
    """Return lines of a log in which each names a token and a key."""
    lines = (
        f'2024-05-03 09:11:07,112 INFO app.auth: session {number} refreshed token, key={number}'
        for number in range(size // 70)
    )
    return '\n'.join(lines)[:size]


def _redact(size: int, build: Callable[[int], str] = _json) -> Timer:
    text = build(size)

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
    Comparison(
        job='`redact` of 1 MB of suspicious words',
        peer='`redact` of 125 KB',
        ours=_redact(1_000_000, _suspicious),
        theirs=_redact(125_000, _suspicious),
        target=10,
        rounds=10,
        because=f'linear time is a ratio of 8: {_LINEAR}',
    ),
    Comparison(
        job='`redact` of 1 MB of log lines with a token and a key',
        peer='`redact` of 125 KB',
        ours=_redact(1_000_000, _logs),
        theirs=_redact(125_000, _logs),
        target=10,
        rounds=10,
        because=f'linear time is a ratio of 8: {_LINEAR}',
    ),
)
