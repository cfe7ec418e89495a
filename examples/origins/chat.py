"""A chat agent: events in the language of the user, retries, and the end of an operation."""

from collections.abc import Awaitable, Callable
from typing import TypeAlias, assert_never

from seamwise import Result
from seamwise.catalog.network import CredentialsRejected, NetworkTimedOut, UpstreamRateLimited
from seamwise.catalog.sessions import InvalidInput
from seamwise.policies import REAL, World
from seamwise.seams import session
from seamwise.seams.session import ErrorEvent

SearchError: TypeAlias = InvalidInput | NetworkTimedOut | UpstreamRateLimited | CredentialsRejected


def to_session(error: SearchError) -> ErrorEvent:
    match error:
        case InvalidInput(rule, value):
            return ErrorEvent.of(
                error, 'error.validation', 'ERR_VAL_001', constraint=rule, provided_value=value
            )
        case NetworkTimedOut(timeout=timeout):
            return ErrorEvent.of(error, 'error.timeout', 'ERR_TIMEOUT_001', timeout_seconds=timeout)
        case UpstreamRateLimited(limit=limit):
            return ErrorEvent.of(error, 'error.rate_limited', 'ERR_RATE_001', limit=limit)
        case CredentialsRejected(required_config=names):
            return ErrorEvent.of(
                error,
                'error.recovery_failed',
                'ERR_AUTH_001',
                cause='invalid_credentials',
                context={'required_config': names},
            )
        case _:
            assert_never(error)


async def execute(
    operation: Callable[[], Awaitable[Result[str, SearchError]]],
    chat: session.Receiver,
    *,
    alert: Callable[[ErrorEvent], object] | None = None,
    world: World = REAL,
) -> Result[str, SearchError]:
    """Run an operation with the retries of chats, and report all of it to the session."""
    guard = session.chat_retry(
        chat, adapter=to_session, alert=alert, world=world, stage='solving', operation='tool_call'
    )
    result = await guard.run(operation)
    session.publish(result, chat, adapter=to_session, alert=alert, stage='solving')
    return result
