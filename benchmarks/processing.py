"""Benchmark of the tool processor, compared with chuk-tool-processor."""

import asyncio
import json
from typing import Final

from benchmarks.guarding import in_a_loop
from benchmarks.measure import Comparison, Timer
from benchmarks.tool_processor_peer import HIGH_LIMIT, PAUSE, Peer, peer_batch
from seamwise.policies import bulkhead, circuit, rate_limit, retry
from seamwise.toolhost import Processor, ToolCall, tool

_BATCH_SIZE: Final = 10_000


@tool(name='benchmark_nothing', is_repeatable=True)
async def _nothing() -> int:
    """Return at once."""
    return 1


@tool(name='benchmark_pause', is_repeatable=True)
async def _pause() -> int:
    """Return after a short sleep."""
    await asyncio.sleep(PAUSE)
    return 1


_TOOLS = _nothing | _pause

_GUARDS = (
    rate_limit(HIGH_LIMIT, name='processor')
    >> bulkhead(_BATCH_SIZE, name='processor')
    >> circuit(name='processor')
    >> retry(attempts=3)
)

_GUARDED: Final = Processor(_TOOLS, guard=circuit(name='pauses') >> retry(attempts=3))

_OBJECT: Final[list[dict[str, object]]] = [{'tool': 'benchmark_nothing', 'arguments': {}}]
_XML: Final = """<tool name="benchmark_nothing" args='{}'/>"""
_OPENAI: Final = json.dumps(
    {
        'tool_calls': [
            {
                'id': 'call_1',
                'type': 'function',
                'function': {'name': 'benchmark_nothing', 'arguments': '{}'},
            }
        ]
    }
)
_PAUSES: Final[list[dict[str, object]]] = [{'tool': 'benchmark_pause', 'arguments': {}}] * 10
_BATCH: Final = [ToolCall('benchmark_nothing', {})] * _BATCH_SIZE


def _run(output: str | list[dict[str, object]]) -> Timer:
    processor = Processor(_TOOLS)
    return in_a_loop(lambda: processor.run(output))


def _run_batch() -> Timer:
    processor = Processor(_TOOLS, guard=_GUARDS, timeout=60.0, concurrency=_BATCH_SIZE)
    return in_a_loop(lambda: processor.run(_BATCH))


def _process(output: str | list[dict[str, object]], *, retries: bool = False) -> Timer:
    peer = Peer(retries=retries)
    return in_a_loop(lambda: peer.process(output))


_BECAUSE = (
    'reading the text is a quarter of it; a call has a task, a context and a deadline of its own'
)

COMPARISONS = (
    *(
        Comparison(
            job=f"a model's output with one call, {form}: read, checked, run",
            peer='`process` of chuk-tool-processor',
            ours=_run(output),
            theirs=_process(output),
            target=0.25,
            because=_BECAUSE,
            rounds=100,
        )
        for form, output in (('an object', _OBJECT), ('XML text', _XML), ('OpenAI text', _OPENAI))
    ),
    Comparison(
        job='10,000 calls in one run, with rate limit, bulkhead, circuit and retry',
        peer=(
            'chuk-tool-processor with retries, circuit and rate limit by the minute, '
            'as is its default, gathered'
        ),
        ours=_run_batch(),
        theirs=peer_batch(_BATCH_SIZE),
        target=0.05,
        because=_BECAUSE,
        rounds=2,
    ),
    Comparison(
        job='ten calls that sleep 50 ms, with retry and circuit in one run',
        peer='chuk-tool-processor with retries and circuit',
        ours=in_a_loop(lambda: _GUARDED.run(_PAUSES)),
        theirs=_process(_PAUSES, retries=True),
        target=0.14,
        because=_BECAUSE,
        rounds=4,
    ),
)
