"""The loop of the agent: ask the model, run its calls, send the outcomes back."""

import asyncio
import json
import logging
import sys

import httpx2

from agent.errors import CityUnknown, StationOffline, TooManyTurns
from agent.provider import Provider, ProviderError
from agent.recording import recorded_provider
from agent.tools import TOOLS
from seamwise import Failure, Result, Success, message_of, redact
from seamwise.policies import bulkhead, circuit, retry
from seamwise.seams import log
from seamwise.seams.model import on
from seamwise.toolhost import Processor, ToolOutcome, formats

MAX_TURNS = 10

# The guidance that the model gets for the errors of the agent's own tools.
MODEL = (
    formats.TOOL_GUIDANCE
    | on(CityUnknown).guides(
        'validation_error',
        suggestion=lambda error: f'Use one of the stations: {", ".join(error.stations)}.',
    )
    | on(StationOffline).guides(
        'availability_error', suggestion='Use another station, or tell the user.'
    )
)


def processor() -> Processor[CityUnknown | StationOffline]:
    """Return the processor of the tools, with their guards."""
    return Processor(
        TOOLS,
        guard=bulkhead(10, name='tools'),
        guards={'weather': retry(base=0.01) >> circuit(name='stations')},
        timeout=5.0,
        repeat_limit=3,
        mistake_limit=5,
        on_outcome=log.outcomes(logging.getLogger('agent')),
    )


async def converse(question: str, provider: Provider) -> Result[str, ProviderError | TooManyTurns]:
    """Return the answer of the agent to a question, and print each call."""
    messages: list[object] = [{'role': 'user', 'content': question}]
    async with processor() as running:
        for turn in range(1, MAX_TURNS + 1):
            completed = await provider.complete(messages)
            if not isinstance(completed, Success):
                return completed
            message = completed.unwrap()
            messages.append(message)
            outcomes = await running.run(message, conversation='user-1')
            if not outcomes:
                return Success(str(message['content']))
            print(f'Turn {turn}')
            for outcome in outcomes:
                print(f'  {describe(outcome)}')
                messages.append(formats.answer(outcome, format='openai', model=MODEL))
    return Failure(TooManyTurns(MAX_TURNS))


def describe(outcome: ToolOutcome[CityUnknown | StationOffline]) -> str:
    """Return a call and its outcome in one line; that of a failure has the guidance."""
    call = outcome.call
    words = f'{call.tool} {json.dumps(redact(call.arguments))}' if call else 'an unreadable call'
    match outcome.result:
        case Success():
            attempts = f' after {outcome.attempts} attempts' if outcome.attempts > 1 else ''
            return f'{words}: ok{attempts}'
        case Failure(error):
            suggestion, *_ = (MODEL(error).suggestion or '').splitlines() or ['']
            return f'{words}: {type(error).__name__}. {suggestion}'


async def main() -> int:
    """Ask a question, and print the conversation."""
    question = 'How warm is it in Oslo and in Bern, in degrees Fahrenheit?'
    print(question)
    # For a real provider, remove `transport` and add the header with your key.
    async with httpx2.AsyncClient(
        base_url='https://api.openai.com/v1/', transport=recorded_provider()
    ) as client:
        provider = Provider(client, TOOLS.schema('openai'), model='gpt-5-mini')
        match await converse(question, provider):
            case Success(answer):
                print(answer)
                return 0
            case Failure(error):
                print(message_of(error), file=sys.stderr)
                return 1


if __name__ == '__main__':
    sys.exit(asyncio.run(main()))
