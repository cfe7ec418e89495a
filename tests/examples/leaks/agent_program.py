# The programs find the examples at run time.
# mypy: disable-error-code="import-not-found"
"""The example agent with marked secrets in the arguments and failures of its tools."""

import asyncio
import contextlib
import io
import json
import os
import sys
import tempfile
from base64 import b64encode
from collections.abc import Iterator
from typing import Any, Final

import httpx2
from mcp import ClientSession, MCPError, StdioServerParameters, stdio_client

from seamwise import Category, Cause, Failure, Result, Secret, TaggedError
from seamwise.live import Event, MemoryLog, connect, gateway, signed_tokens
from seamwise.seams import jsonrpc, log, model, planner
from seamwise.seams.jsonrpc import tables as jsonrpc_tables
from seamwise.seams.planner import tables as planner_tables
from seamwise.toolhost import ToolOutcome, formats, mcp, tool
from tests.examples.leaks.emitted import Emitted
from tests.examples.leaks.marks import mark
from tests.examples.leaks.servers import served


class SignInRefused(
    TaggedError,
    category=Category.EXECUTION,
    message='The bank refused: {reason}.',
    namespace='tests.leaks',
):
    """The bank refused the credentials."""

    reason: str
    cause: Cause | None = None


@tool
def sign_in(kind: str, password: str) -> Result[str, SignInRefused]:
    """Sign in at the bank."""
    match kind:
        case 'message':
            raise RuntimeError(f'refused {password}')
        case 'bytes':
            raise ConnectionError(f'refused {password.encode()!r}')
        case 'base64':
            raise RuntimeError(b64encode(f'ann:{password}'.encode()).decode())
        case 'note':
            error = RuntimeError('refused')
            error.add_note(password)
            raise error
        case 'cause':
            return Failure(SignInRefused('no', ValueError(password)))
        case _:
            return Failure(SignInRefused(f'code {password}'))


@tool
def open_vault(phrase: Secret[str]) -> Result[str, SignInRefused]:
    """Open the vault."""
    return Failure(SignInRefused(f'no vault for {phrase.reveal()}'))


CALLS: Final = (
    ('sign_in', {'kind': 'message', 'password': mark('tool_argument')}),
    ('sign_in', {'kind': 'note', 'password': mark('tool_argument')}),
    ('sign_in', {'kind': 'bytes', 'password': mark('tool_bytes')}),
    ('sign_in', {'kind': 'base64', 'password': mark('tool_base64')}),
    ('sign_in', {'kind': 'failure', 'password': mark('tool_failure')}),
    ('sign_in', {'kind': 'cause', 'password': mark('tool_failure')}),
    ('open_vault', {'phrase': mark('tool_phrase')}),
    ('sign_on', {'password': mark('unknown_tool')}),
    ('fahrenheit', {'celsius': {'password': mark('invalid_argument')}}),
    ('remember', {'topic': 'keys', 'api_key': mark('invalid_argument')}),
)
UNREADABLE: Final = f'{{"password": "{mark("unreadable_call")}'
ANSWER: Final = {'error': {'message': f'Incorrect api_key: "{mark("provider_answer")}"'}}


MCP_CALLS: Final[tuple[tuple[str, dict[str, Any]], ...]] = (
    *(
        ('sign_in', {'kind': kind, 'password': mark('mcp_argument')})
        for kind in ('message', 'note', 'bytes', 'base64', 'failure', 'cause')
    ),
    ('open_vault', {'phrase': mark('mcp_phrase')}),
    ('sign_on', {'password': mark('mcp_unknown')}),
    ('fahrenheit', {'celsius': {'password': mark('mcp_invalid')}}),
    ('remember', {'topic': 'keys', 'api_key': mark('mcp_invalid')}),
)


def run_agent(emitted: Emitted) -> None:
    """Run the agent, its live session, and commands of a workspace."""
    emitted.watch_sentry(attach_stacktrace=True, send_default_pii=True)
    from agent import main  # noqa: PLC0415 -- patched

    _add_tools(main)
    asyncio.run(_converse(emitted, main))
    asyncio.run(_outcomes(emitted, main))
    asyncio.run(_live(emitted))
    asyncio.run(_mcp(emitted))
    _command(emitted)


def serve_agent() -> None:
    """Serve the tools of the agent to an MCP client on standard input and output."""
    from agent import main  # noqa: PLC0415 -- patched

    _add_tools(main)

    async def serve() -> None:
        async with main.processor() as processor:
            await mcp.serve(processor, model=main.MODEL | mcp.MCP_GUIDANCE)

    asyncio.run(serve())


def _add_tools(main: Any) -> None:
    main.TOOLS |= sign_in | open_vault
    main.MODEL |= model.on(SignInRefused).guides('execution_error', suggestion='Ask the user.')


def _messages() -> Iterator[httpx2.Response]:
    calls = [
        {
            'id': f'call_{number}',
            'type': 'function',
            'function': {'name': name, 'arguments': json.dumps(arguments)},
        }
        for number, (name, arguments) in enumerate(CALLS)
    ]
    function = {'name': 'sign_in', 'arguments': UNREADABLE}
    calls.append({'id': 'call_x', 'type': 'function', 'function': function})
    message = {'role': 'assistant', 'content': None, 'tool_calls': calls}
    yield httpx2.Response(200, json={'choices': [{'message': message}]})
    while True:
        yield httpx2.Response(401, json=ANSWER, headers={'X-Api-Key': mark('provider_answer')})


def _client(emitted: Emitted) -> httpx2.AsyncClient:
    """Return a client of a provider that calls all tools, and then rejects the credentials."""
    responses = _messages()

    def respond(request: httpx2.Request) -> httpx2.Response:
        messages = json.loads(request.content)['messages']
        # The calls in other messages are those of the model.
        emitted.add('model', json.dumps([item for item in messages if item['role'] == 'tool']))
        response = next(responses)
        response.request = request
        return response

    return httpx2.AsyncClient(
        base_url=f'https://ann:{mark("provider_answer")}@provider.invalid/v1/',
        headers={'Authorization': f'Bearer {mark("provider_answer")}'},
        transport=httpx2.MockTransport(respond),
    )


async def _converse(emitted: Emitted, main: Any) -> None:
    from agent.provider import Provider  # noqa: PLC0415 -- as in `run_agent`

    output = io.StringIO()
    async with _client(emitted) as client:
        provider = Provider(client, main.TOOLS.schema('openai'), model='m')
        with contextlib.redirect_stdout(output):
            result = await main.converse('Sign in.', provider)
    emitted.add('terminal', output.getvalue())
    emitted.add('terminal', log.encode(log.record(result.failure())).decode())


async def _outcomes(emitted: Emitted, main: Any) -> None:
    calls = [{'name': name, 'arguments': arguments} for name, arguments in CALLS]
    async with main.processor() as processor:
        outcomes: list[ToolOutcome[Any]] = await processor.run(calls)
    for outcome in outcomes:
        for format_ in ('openai', 'anthropic', 'gemini', 'mcp', 'react', 'hermes'):
            answer = formats.answer(outcome, format=format_, model=main.MODEL)
            emitted.add('model', str(answer))
        error: Any = outcome.result.failure()
        if not isinstance(error, SignInRefused):
            emitted.add('planner', planner.encode(planner_tables.TOOLS(error)).decode())
            answered = jsonrpc.response(
                Failure(error),
                id=1,
                adapter=jsonrpc_tables.TOOLS[jsonrpc.Protocol.MCP, '2025-11-25'],
                protocol=jsonrpc.Protocol.MCP,
                revision='2025-11-25',
            )
            emitted.add('jsonrpc', jsonrpc.encode(answered).decode())


async def _live(emitted: Emitted) -> None:
    from agent.live import Agent  # noqa: PLC0415 -- as in `run_agent`
    from agent.provider import Provider  # noqa: PLC0415 -- as above

    tokens = signed_tokens('the key of the tokens of this test')
    async with _client(emitted) as client, MemoryLog() as store:
        agent = Agent(lambda observer: Provider(client, [], model='m'))
        app = gateway(store, open=agent, authorize=tokens, origins=[])
        async with (
            served(emitted.traced(app)) as address,
            httpx2.AsyncClient(base_url=f'http://{address}') as user,
        ):
            for headers in ({}, {'Authorization': f'Bearer {mark("live_token")}'}):
                parameters = {'token': mark('live_token')}
                answer = await user.post('/v1/sessions', params=parameters, headers=headers)
                emitted.add('live', f'{answer.headers!r} {answer.text}')
            token = tokens.make()
            begun = await user.post('/v1/sessions', headers={'Authorization': f'Bearer {token}'})
            session_id = begun.json()['data']['session_id']
            async with connect(f'http://{address}', session_id, token=token) as connection:
                await connection.send(Event('user.message', 'Sign in.'))
                async for result in connection:
                    emitted.add('live', repr(result))
                    if 'recovery_failed' in repr(result) or 'session_end' in repr(result):
                        break


async def _mcp(emitted: Emitted) -> None:
    """Call the tools of the agent in a process of its own, with the client of the MCP package."""
    server = StdioServerParameters(
        command=sys.executable,
        args=['-m', 'tests.examples.leaks.program', 'mcp', 'json', os.devnull],
        env={**os.environ, 'VAULT_PASSWORD': mark('mcp_environment')},
    )

    async def record(message: object) -> None:
        emitted.add('mcp', repr(message))

    with tempfile.TemporaryFile('w+', encoding='utf-8') as errors:
        async with (
            stdio_client(server, errlog=errors) as (reader, writer),
            ClientSession(reader, writer, message_handler=record) as session,
        ):
            await session.initialize()
            emitted.add('mcp', repr(await session.list_tools()))
            for name, arguments in MCP_CALLS:
                try:
                    answer = await session.call_tool(name, arguments)
                except MCPError as error:
                    emitted.add('mcp', repr((str(error), error.error)))
                else:
                    emitted.add('mcp', answer.model_dump_json())
        errors.seek(0)
        emitted.add('mcp', errors.read())


def _command(emitted: Emitted) -> None:
    """Run a command of a workspace that prints secrets and fails."""
    import subprocess  # noqa: PLC0415 -- the only use

    os.environ['VAULT_PASSWORD'] = mark('command_environment')
    program = f'echo DB_PASSWORD={mark("command_output")}; env | grep VAULT; exit 3'
    call = {'tool': 'execute_command', 'arguments': {'command': program}}
    for seam in ('model', 'planner', 'cli', 'log', 'session'):
        with tempfile.TemporaryDirectory() as workspace:
            command = [sys.executable, '-m', 'seamwise', 'run', '--workspace', workspace]
            ran = subprocess.run(
                [*command, '--seam', seam],
                input=json.dumps(call),
                capture_output=True,
                text=True,
                check=False,
            )
        emitted.add('command', ran.stdout + ran.stderr)
