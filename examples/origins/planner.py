"""A tool processor and its planner, which decides by the code and the category of each failure."""

from collections.abc import Sequence
from typing import assert_never

from seamwise import Category, Failure, Result, Success, TaggedError
from seamwise.catalog.protocols import McpTimedOut
from seamwise.seams.planner import (
    PLANNER,
    Correct,
    Decision,
    ErrorInfo,
    FallBack,
    Queue,
    Retry,
    Stop,
    Wait,
    classify,
    decide,
    on,
)
from seamwise.toolhost import Processor, ToolOutcome, tool


class CityUnknown(TaggedError, category=Category.NOT_FOUND, message='There is no city {city!r}.'):
    city: str


@tool(is_repeatable=True)
async def weather(city: str) -> Result[int, CityUnknown | McpTimedOut]:
    """Return the temperature in a city."""
    if city == 'Oslo':
        return Success(12)
    return Failure(
        McpTimedOut('weather', 'tool_call', 30.0) if city == 'Ulm' else CityUnknown(city)
    )


TABLE = PLANNER | on(CityUnknown).classifies('TOOL_ARGUMENT_ERROR')


def plan(outcome: ToolOutcome[CityUnknown | McpTimedOut]) -> str:
    """Return the next step after a call."""
    info = classify(outcome, adapter=TABLE)
    return next_step(info, decide(info, attempt=1, attempts_left=2)) if info else 'use the result'


def next_step(info: ErrorInfo, decision: Decision) -> str:
    match decision:
        case Wait(ms):
            return f'wait {ms} ms'
        case Retry(factor):
            return f'retry with {factor:g} times the time'
        case FallBack():
            return 'use another tool'
        case Queue():
            return 'queue'
        case Correct():
            return f'correct the call: {info.message}'
        case Stop():
            return f'give up: {info.code}'
        case _:
            assert_never(decision)


async def run(output: str) -> Sequence[str]:
    """Run the calls in the output of a model, and plan the next step after each."""
    async with Processor(weather, timeout=5.0) as processor:
        return [plan(outcome) for outcome in await processor.run(output)]
