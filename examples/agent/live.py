"""The agent as a live session: every step is an event, which its user sees at once."""

import json
from collections.abc import Callable
from typing import TypeAlias

from agent.errors import TooManyTurns
from agent.main import MAX_TURNS, MODEL, describe, processor
from agent.provider import Provider, ProviderError
from seamwise import Failure, Result, Success, redact
from seamwise.catalog.sessions import InvalidInput
from seamwise.live import Event, Session
from seamwise.policies import Observer
from seamwise.seams.session import observer, on, publish, tables
from seamwise.toolhost import formats

# The events for the errors of the agent.
EVENTS = (
    tables.MODELS
    | tables.NETWORK
    | tables.STREAMING
    | tables.GUARDS
    | on(TooManyTurns).publishes('error.correctable', 'ERR_TURNS_001')
)

OPERATION = 'ask the model'

ProviderFactory: TypeAlias = Callable[[Observer], Provider]
"""Returns the provider of one session, whose retries an observer reports."""


class Agent:
    """The function `open` of a gateway: answers the messages of a session until it ends.

    Args:
        create_provider: Returns the provider of a session.
    """

    def __init__(self, create_provider: ProviderFactory) -> None:
        self._create_provider = create_provider

    async def __call__(self, session: Session) -> None:
        """Answer the messages of a session."""
        reports = observer(session, adapter=EVENTS, stage='solving', operation=OPERATION)
        provider = self._create_provider(reports)
        async for message in session.received():
            if message.event == 'user.cancel':
                return
            question = message.content.strip()
            if not question:
                refusal = InvalidInput('a message contains a question', message.content)
                publish(Failure(refusal), session, adapter=tables.SESSIONS)
                continue
            result = await converse(question, provider, session)
            # A failure that the observer has reported is not reported again.
            publish(result, session, adapter=EVENTS, stage='solving', operation=OPERATION)
            if isinstance(result, Success):
                answer = result.unwrap()
                stored = await session.say(Event('agent.answer', answer, show_content=answer))
                if isinstance(stored, Failure):
                    # The store is away, or the session has ended.
                    return


async def converse(
    question: str, provider: Provider, session: Session
) -> Result[str, ProviderError | TooManyTurns]:
    """Return the answer of the agent to a question, and send each step to the session."""
    messages: list[object] = [{'role': 'user', 'content': question}]
    async with processor() as running:
        for turn in range(1, MAX_TURNS + 1):
            session.send(Event('agent.thinking', f'Turn {turn}'))
            completed = await provider.complete(messages)
            if not isinstance(completed, Success):
                return completed
            message = completed.unwrap()
            messages.append(message)
            calls = formats.parse(message)
            if not calls:
                return Success(str(message['content']))
            for call in calls:
                words = call.map(lambda call: f'{call.tool} {json.dumps(redact(call.arguments))}')
                session.send(Event('agent.tool_call', words.value_or('an unreadable call')))
            for outcome in await running.run(message, conversation=session.session_id):
                session.send(Event('agent.tool_result', describe(outcome)))
                messages.append(formats.answer(outcome, format='openai', model=MODEL))
    return Failure(TooManyTurns(MAX_TURNS))
