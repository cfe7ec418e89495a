"""The agent as a live session: every step is an event, which its user sees at once."""

import json
from collections.abc import Callable
from typing import TypeAlias

from agent.errors import TooManyTurns
from agent.main import MAX_TURNS, MODEL, describe, processor
from agent.provider import Provider, ProviderError
from seamwise import Failure, Result, Success
from seamwise.catalog.sessions import InvalidInput
from seamwise.live import Event, Session
from seamwise.policies import Observer
from seamwise.policies.events import GaveUp, GuardEvent
from seamwise.seams.session import observer, on, publish, tables
from seamwise.toolhost import formats

# The events for the errors of the agent.
EVENTS = (
    tables.MODELS
    | tables.NETWORK
    | tables.STREAMING
    | tables.GUARDS
    | on(TooManyTurns).publishes('error.permanent', 'ERR_TURNS_001')
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
        reports = Reports(session)
        provider = self._create_provider(reports)
        async for message in session.received():
            if message.event == 'user.cancel':
                return
            question = message.content.strip()
            if not question:
                refusal = InvalidInput('a message contains a question', message.content)
                publish(Failure(refusal), session, adapter=tables.SESSIONS)
                continue
            match await converse(question, provider, session):
                case Success(answer):
                    stored = await session.say(Event('agent.answer', answer, show_content=answer))
                    if isinstance(stored, Failure):
                        # The store is away, or the session has ended.
                        return
                case Failure(error):
                    reports.finish(error)


class Reports:
    """Observer that reports the retries of a session, and its last failure exactly once."""

    def __init__(self, session: Session) -> None:
        self._observe = observer(session, adapter=EVENTS, stage='solving', operation=OPERATION)
        self._is_finished = False

    def __call__(self, event: GuardEvent) -> None:
        """Report an event of the guard."""
        self._is_finished = isinstance(event, GaveUp)
        self._observe(event)

    def finish(self, error: ProviderError | TooManyTurns) -> None:
        """Report a failure that the guard has not retried, and thus not reported."""
        if not self._is_finished:
            self._observe(GaveUp(OPERATION, error, 1, 0.0, 'not_retryable'))
        self._is_finished = False


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
                words = call.map(lambda call: f'{call.tool} {json.dumps(call.arguments)}')
                session.send(Event('agent.tool_call', words.value_or('an unreadable call')))
            for outcome in await running.run(message, conversation=session.session_id):
                session.send(Event('agent.tool_result', describe(outcome)))
                messages.append(formats.answer(outcome, format='openai', model=MODEL))
    return Failure(TooManyTurns(MAX_TURNS))
