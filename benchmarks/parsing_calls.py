"""Tool calls in one megabyte of model output: linear time, within a tenth of a second."""

from collections.abc import Iterable

from benchmarks.measure import Comparison, Timer, timed
from seamwise.toolhost.formats import parse

_LIMIT_NS = 100_000_000
_PROSE = 'the quick brown fox '


def _text(size: int) -> str:
    """Return prose with a call in every 1,000 characters, in turn in three formats."""
    calls = (
        '{"name": "weather", "arguments": {"city": "Oslo", "days": 3}}',
        """<tool name="weather" args='{"city": "Oslo", "days": 3}'/>""",
        '<tool_call>\n{"name": "weather", "arguments": {"city": "Oslo"}}\n</tool_call>',
    )
    parts: list[str] = []
    for number in range(size // 1000):
        call = calls[number % len(calls)]
        parts.append(f'{call}\n{_PROSE * ((1000 - len(call)) // len(_PROSE))}\n')
    return ''.join(parts)


def _parse(text: str) -> Timer:
    def work(turns: Iterable[None]) -> None:
        for _ in turns:
            _ = parse(text)

    return timed(work)


def _limit(times: int) -> int:
    return times * _LIMIT_NS


_OPENING = "<tool name='a' args='{"
_LINEAR = 'the text is read more than once'

COMPARISONS = (
    Comparison(
        job='`formats.parse` of 1 MB with 1,000 calls',
        peer='0.1 seconds',
        ours=_parse(_text(1_000_000)),
        theirs=_limit,
        target=1,
        rounds=20,
        because='the search for marks and the scan of the JSON',
    ),
    Comparison(
        job='`formats.parse` of 1 MB with 1,000 calls',
        peer='`formats.parse` of 125 KB with 125 calls',
        ours=_parse(_text(1_000_000)),
        theirs=_parse(_text(125_000)),
        target=10,
        rounds=20,
        because=f'linear time is a ratio of 8: {_LINEAR}',
    ),
    Comparison(
        job='`formats.parse` of 160 KB of tags without an end',
        peer='the same of 20 KB',
        ours=_parse(_OPENING * (160_000 // len(_OPENING))),
        theirs=_parse(_OPENING * (20_000 // len(_OPENING))),
        target=10,
        rounds=20,
        because=f'linear time is a ratio of 8: {_LINEAR}',
    ),
)
