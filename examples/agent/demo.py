"""The agent behind a gateway, and a user whose connection is lost in the middle."""

import asyncio
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from secrets import token_hex

import httpx2
import uvicorn
from starlette.types import ASGIApp

from agent.cable import Cable
from agent.live import OPERATION, Agent
from agent.provider import Provider
from agent.recording import recorded_provider
from agent.tools import TOOLS
from seamwise import Failure, Success
from seamwise.catalog.sessions import ConnectionLost
from seamwise.live import Event, MemoryLog, Stored, connect, gateway, signed_tokens
from seamwise.policies import Observer, retry


@asynccontextmanager
async def served(app: ASGIApp) -> AsyncGenerator[int]:
    """Run an application under uvicorn, and return its port."""
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level='warning', lifespan='off'))
    running = asyncio.create_task(server.serve())
    while not server.started:  # noqa: ASYNC110 -- uvicorn has no event
        await asyncio.sleep(0.01)
    try:
        yield server.servers[0].sockets[0].getsockname()[1]
    finally:
        server.should_exit = True
        await running


class User:
    """The user: shows each event, and answers some.

    Args:
        cable: The cable of the user, who trips over it.
    """

    def __init__(self, cable: Cable) -> None:
        self._cable = cable

    def reply(self, stored: Stored) -> str | None:
        """Show an event, and return the next message of the user, if it is time for one."""
        event = stored.event
        print(f'{stored.position.seq:>3}  {event.event:<22} {event.show_content or event.content}')
        match event.event:
            case 'error.validation':
                return 'How warm is it in Oslo?'
            case 'agent.answer':
                return 'And in Bern?'
            case 'agent.tool_call':
                self._cable.cut()
        return None


async def main() -> int:
    """Have a conversation, and print the events that the user receives."""
    # For a real provider, remove `transport` and add the header with your key.
    client = httpx2.AsyncClient(
        base_url='https://api.openai.com/v1/', transport=recorded_provider('live_recording.json')
    )

    def create_provider(observer: Observer) -> Provider:
        guard = retry(attempts=4, base=0.2, jitter='none', name=OPERATION, observer=observer)
        return Provider(client, TOOLS.schema('openai'), model='gpt-5-mini', guard=guard)

    tokens = signed_tokens(token_hex())
    async with client, MemoryLog() as log:
        app = gateway(log, open=Agent(create_provider), authorize=tokens, origins=[])
        async with served(app) as port, Cable(port).plugged_in() as cable:
            return await talk(cable, tokens.make())


async def talk(cable: Cable, token: str) -> int:
    """Begin a session, and follow it up to its end."""
    async with httpx2.AsyncClient(base_url=cable.url) as http:
        headers = {'Authorization': f'Bearer {token}'}
        begun = (await http.post('/v1/sessions', headers=headers)).raise_for_status().json()
    user = User(cable)
    async with connect(cable.url, begun['data']['session_id'], token=token) as connection:

        async def say(message: str) -> None:
            sent = await connection.send(Event('user.message', message))
            if isinstance(sent, Failure):
                # It is not kept for later. A user would see it, and send it again.
                print(f'     (not sent: {sent.failure()})', file=sys.stderr)

        await say('')
        async for result in connection:
            match result:
                case Success(stored):
                    if (message := user.reply(stored)) is not None:
                        await say(message)
                case Failure(ConnectionLost() as lost):
                    print(f'     (lost with code {lost.close_code} after {lost.last_event_seq})')
                case Failure(error):
                    print(f'     ({error})', file=sys.stderr)
                    return 1
    return 0


if __name__ == '__main__':
    sys.exit(asyncio.run(main()))
