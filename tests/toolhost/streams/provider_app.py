"""Local server with the APIs of the providers: it checks each request and sends recordings."""

import threading
from collections.abc import AsyncIterator, Callable, Generator, Iterable, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

Check = Callable[[Any], str | None]


class Exchange(NamedTuple):
    """A response, and the path of its request.

    Attributes:
        path: The path of the request.
        body: A value that is sent as JSON, or bytes of a stream of events.
        status: The status of the response.
        headers: Headers besides those of the body.
    """

    path: str
    body: object
    status: int = 200
    headers: Mapping[str, str] = {}


class ProviderApp:
    """A running server.

    Attributes:
        url: Its base URL.
        exchanges: The exchanges to come.
        bodies: The bodies of the requests.
    """

    def __init__(self) -> None:
        self.url = ''
        self.exchanges: list[Exchange] = []
        self.bodies: list[Any] = []

    def record(self, *exchanges: Exchange) -> None:
        self.exchanges[:] = exchanges
        self.bodies.clear()

    async def respond(self, request: Request) -> Response:
        body = await request.json()
        self.bodies.append(body)
        path = request.url.path
        if not self.exchanges or self.exchanges[0].path != path:
            return JSONResponse({'error': {'message': f'no recording for {path}'}}, 501)
        if problem := CHECKS[path](body):
            return JSONResponse({'error': {'message': problem}}, 400)
        exchange = self.exchanges.pop(0)
        if isinstance(exchange.body, bytes):
            return StreamingResponse(
                slowly(exchange.body), exchange.status, media_type='text/event-stream'
            )
        return JSONResponse(exchange.body, exchange.status, {**exchange.headers})


async def slowly(data: bytes) -> AsyncIterator[bytes]:
    """Yield data in pieces that cut lines and characters."""
    for start in range(0, len(data), 37):
        yield data[start : start + 37]


def check_openai(body: Any) -> str | None:
    """Require one `tool` message for each id in `tool_calls`, right after it.

    See https://platform.openai.com/docs/api-reference/chat/create.
    """
    if problem := check_tools(tool['function'] for tool in body['tools']):
        return problem
    waiting: list[str] = []
    for message in body['messages']:
        if message['role'] == 'tool':
            if message['tool_call_id'] not in waiting:
                return 'a tool message must follow the call that it answers'
            if not isinstance(message['content'], str) or set(message) != {
                'role',
                'tool_call_id',
                'content',
            }:
                return 'a tool message has another shape'
            waiting.remove(message['tool_call_id'])
        elif waiting:
            return f'no tool message for {waiting}'
        waiting += [call['id'] for call in message.get('tool_calls') or ()]
    return f'no tool message for {waiting}' if waiting else None


def check_responses(body: Any) -> str | None:
    """Require one `function_call_output` for each `function_call`.

    See https://platform.openai.com/docs/guides/function-calling.
    """
    if problem := check_tools(body['tools']):
        return problem
    calls = {item['call_id'] for item in body['input'] if item.get('type') == 'function_call'}
    outputs = [item for item in body['input'] if item.get('type') == 'function_call_output']
    if any(set(item) != {'type', 'call_id', 'output'} for item in outputs):
        return 'an output has another shape'
    if not all(isinstance(item['output'], str) for item in outputs):
        return 'an output is not a string'
    return None if sorted(item['call_id'] for item in outputs) == sorted(calls) else 'ids differ'


def check_anthropic(body: Any) -> str | None:
    """Require one `tool_result` for each `tool_use`, at the start of the next message.

    See https://docs.anthropic.com/en/docs/agents-and-tools/tool-use/implement-tool-use.
    """
    if problem := check_tools(body['tools'], schema='input_schema'):
        return problem
    waiting: list[str] = []
    for number, message in enumerate(body['messages']):
        if message['role'] != ('assistant' if number % 2 else 'user'):
            return 'roles must alternate'
        blocks: list[Any] = [] if isinstance(message['content'], str) else message['content']
        results = [block for block in blocks if block['type'] == 'tool_result']
        if any(set(block) - {'type', 'tool_use_id', 'content', 'is_error'} for block in results):
            return 'a tool_result has another shape'
        if blocks[: len(results)] != results:
            return 'tool_result blocks must come first'
        if sorted(block['tool_use_id'] for block in results) != sorted(waiting):
            return f'tool_use ids without tool_result: {waiting}'
        waiting = [block['id'] for block in blocks if block['type'] == 'tool_use']
    return f'tool_use ids without tool_result: {waiting}' if waiting else None


def check_gemini(body: Any) -> str | None:
    """Require a function response for each function call, with its name, in the next turn.

    See https://ai.google.dev/gemini-api/docs/function-calling.
    """
    declarations = [item for tool in body['tools'] for item in tool['functionDeclarations']]
    # The SDK writes this key in snake case, which the JSON form of protocol buffers permits.
    keys = {key for item in declarations for key in item if key.startswith('parameters')}
    if len(keys) != 1 or keys - {'parametersJsonSchema', 'parameters_json_schema'}:
        return 'the schemas are in an unknown field'
    if problem := check_tools(declarations, schema=keys.pop()):
        return problem
    waiting: list[str] = []
    for content in body['contents']:
        parts = content['parts']
        responses = [part['functionResponse'] for part in parts if 'functionResponse' in part]
        if [response['name'] for response in responses] != waiting:
            return 'the numbers of function responses and of function calls must be equal'
        if not all(isinstance(response['response'], dict) for response in responses):
            return 'a response must be an object'
        waiting = [part['functionCall']['name'] for part in parts if 'functionCall' in part]
    return 'a function call has no response' if waiting else None


def check_tools(tools: Iterable[Any], *, schema: str = 'parameters') -> str | None:
    """Require a name, a description and a schema of an object in each definition."""
    for tool in tools:
        if not tool['name'].isidentifier() or not tool['description']:
            return 'a tool has no name or description'
        if tool[schema]['type'] != 'object':
            return 'the schema of a tool is not that of an object'
    return None


CHECKS: Mapping[str, Check] = {
    '/v1/chat/completions': check_openai,
    '/v1/responses': check_responses,
    '/v1/messages': check_anthropic,
    '/v1beta/models/gemini-3-pro:generateContent': check_gemini,
    '/v1beta/models/gemini-3-pro:streamGenerateContent': check_gemini,
}


@contextmanager
def run_provider_app() -> Generator[ProviderApp]:
    provider = ProviderApp()
    app = Starlette(
        routes=[Route('/{path:path}', provider.respond, methods=['POST'])],
    )
    server = uvicorn.Server(
        uvicorn.Config(app, host='127.0.0.1', port=0, log_config=None, lifespan='off')
    )
    started = threading.Event()

    async def startup(sockets: Any = None) -> None:
        await original(sockets)
        started.set()

    original = server.startup
    server.startup = startup  # type: ignore[method-assign]  # the server has no callback
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        assert started.wait(30)
        port = server.servers[0].sockets[0].getsockname()[1]
        provider.url = f'http://127.0.0.1:{port}'
        yield provider
    finally:
        server.should_exit = True
        thread.join()
