"""MCP server on standard input and output that misbehaves as its argument says.

It uses the standard library only, so that it starts in a few milliseconds.
"""

import json
import os
import signal
import subprocess
import sys
import time
from typing import TypeAlias

MODE = sys.argv[1] if len(sys.argv) > 1 else ''
MARKER = os.environ.get('EVENTS', '') + '-died'
REVISION = sys.argv[2] if len(sys.argv) > 2 else '2025-11-25'

Json: TypeAlias = dict[str, object]

ANY_OBJECT: Json = {'type': 'object'}
ECHO: Json = {
    'name': 'echo',
    'description': 'Repeat a text.',
    'inputSchema': {
        'type': 'object',
        'properties': {'text': {'type': 'string'}, 'times': {'type': 'integer', 'minimum': 1}},
        'required': ['text'],
        'additionalProperties': False,
    },
    'annotations': {'readOnlyHint': True},
}
COUNT: Json = {
    'name': 'count',
    'inputSchema': ANY_OBJECT,
    'outputSchema': {
        'type': 'object',
        'properties': {'count': {'type': 'integer'}},
        'required': ['count'],
    },
}
TOOLS_BY_MODE: dict[str, list[Json]] = {
    'no_tools': [],
    'odd_names': [
        {'name': name, 'inputSchema': ANY_OBJECT}
        for name in ('files.read', 'files/read', 'files.read', '7days', 'x' * 100, 'é')
    ],
    'invalid_schema': [
        {
            'name': 'echo',
            'inputSchema': {'type': 'object', 'properties': {'text': {'type': 'strng'}}},
        }
    ],
    'invalid_tools': [
        {'name': 'echo', 'inputSchema': {'type': 'object', 'required': 'text'}},
        COUNT,
        {'name': 'untyped', 'inputSchema': {}},
        {'name': 7, 'inputSchema': ANY_OBJECT},
        {'name': 'large', 'inputSchema': ANY_OBJECT, 'description': 'x' * 2**18},
        {'description': 'It has no name.', 'inputSchema': ANY_OBJECT},
    ],
    'many_tools': [{'name': f'tool_{n}', 'inputSchema': ANY_OBJECT} for n in range(1_100)],
    'foreign_reference': [
        {
            'name': 'echo',
            'inputSchema': {
                'type': 'object',
                'properties': {'text': {'$ref': 'http://127.0.0.1:9/schema.json'}},
            },
        }
    ],
}
TOOLS = TOOLS_BY_MODE.get(MODE, [ECHO, COUNT])
CALL_RESULTS: dict[str, Json] = {
    'text': {'content': [{'type': 'text', 'text': 'hello'}]},
    'structured': {
        'content': [{'type': 'text', 'text': '{"count": 3}'}],
        'structuredContent': {'count': 3},
    },
    'null_structured': {
        'content': [{'type': 'text', 'text': 'hello'}],
        'structuredContent': None,
    },
    'blocks': {
        'content': [
            {'type': 'text', 'text': 'hello'},
            {'type': 'image', 'data': 'AAAA', 'mimeType': 'image/png'},
        ]
    },
    'empty': {'content': []},
    'tool_error': {
        'content': [
            {'type': 'text', 'text': 'There is no such text.'},
            {'type': 'image', 'data': 'AAAA', 'mimeType': 'image/png'},
        ],
        'isError': True,
    },
    'silent_error': {'content': [], 'isError': True},
    'structured_error': {
        'content': [],
        'structuredContent': {'reason': 'no text'},
        'isError': True,
    },
    'wrong_count': {'content': [], 'structuredContent': {'count': 'three'}},
    'missing_count': {'content': []},
    'malformed': {'content': 'hello'},
}
RAW_ANSWERS = {
    'null_result': '{"jsonrpc":"2.0","id":%d,"result":null}',
    'list_result': '{"jsonrpc":"2.0","result":[],"id":%d}',
    'code_text': '{"jsonrpc":"2.0","id":%d,"error":{"code":"E","message":"broken"}}',
    'no_outcome': '{"jsonrpc":"2.0","id":%d}',
    'text_error': '{"jsonrpc":"2.0","id":%d,"error":"broken"}',
    'cut': '{"jsonrpc":"2.0","id":%d,"result":{"content":[{"type":"te',
    'nan_version': '{"jsonrpc":2.0,"id": %d ,"result":{"v":NaN}}',
    'nan': '{"jsonrpc":"2.0","id":%d,"result":{"content":[],"structuredContent":{"v":[1,NaN]}}}',
}
CALL_ERRORS = {
    'server_error': (-32099, 'rate limited'),
    'parse_error': (-32700, 'Parse error'),
    'invalid_params': (-32602, 'Invalid params'),
    'tool_removed': (-32602, 'Unknown tool: echo'),
    'internal_error': (-32603, 'Internal error'),
    'own_code': (-32000, 'Connection closed'),
}


def send(**message: object) -> None:
    sys.stdout.write(json.dumps({'jsonrpc': '2.0', **message}) + '\n')
    sys.stdout.flush()


def note(text: str) -> None:
    """Record an event for the test."""
    with open(os.environ['EVENTS'], 'a') as file:  # noqa: PTH123 -- pathlib takes long to import
        file.write(text + '\n')


def has_died() -> bool:
    """Return whether a process before this one has died."""
    return os.path.exists(MARKER)  # noqa: PTH110


def call(request_id: int) -> None:  # noqa: C901, PLR0912 -- one branch a mode
    if MODE in CALL_RESULTS:
        send(id=request_id, result=CALL_RESULTS[MODE])
    elif MODE in RAW_ANSWERS:
        # A line in a log of its own does not answer a request.
        sys.stdout.write(f'{{"level": "info", "id": {request_id}}}\n')
        sys.stdout.write(RAW_ANSWERS[MODE] % request_id + '\n')
        sys.stdout.flush()
    elif MODE in CALL_ERRORS:
        code, message = CALL_ERRORS[MODE]
        send(id=request_id, error={'code': code, 'message': message})
    elif MODE == 'dies_in_call':
        sys.stderr.write('out of luck\n')
        sys.stderr.flush()
        os._exit(3)
    elif MODE in {'dies_once', 'silent_later'}:
        if not has_died():
            os.mkdir(MARKER)  # noqa: PTH102
            os._exit(3)
        send(id=request_id, result=CALL_RESULTS['text'])
    elif MODE == 'killed_in_call':
        os.kill(os.getpid(), signal.SIGKILL)
    elif MODE == 'huge':
        send(id=request_id, result={'content': [{'type': 'text', 'text': 'x' * (17 * 2**20)}]})
    elif MODE == 'wrong_ids':
        send(id=request_id + 1_000, result=CALL_RESULTS['text'])
        send(id=str(request_id) + 'x', result=CALL_RESULTS['text'])
    elif MODE == 'rubbish':
        sys.stdout.write('Loading model ... done\n{"jsonrpc": \n\n[]\n')
        send(id=request_id, result=CALL_RESULTS['text'])
    elif MODE == 'changes':
        TOOLS.append({'name': f'new_{request_id}', 'inputSchema': ANY_OBJECT})
        send(method='notifications/tools/list_changed')
        send(id=request_id, result=CALL_RESULTS['text'])
    elif MODE == 'asks':
        send(id='ask', method='sampling/createMessage', params={'messages': [], 'maxTokens': 1})
    elif MODE == 'closes_stdin':
        os.close(0)
        note('closed')
        time.sleep(20)


def handle(message: dict[str, object], calls: int) -> None:
    method, request_id = message.get('method'), message.get('id')
    if method is None:
        # The answer to `asks`: the client must refuse, and the call goes on.
        note(f'answer {"error" if "error" in message else "result"}')
        send(id=calls, result=CALL_RESULTS['text'])
    elif request_id is None:
        note(str(method))
    elif MODE == 'silent' or (MODE == 'silent_later' and has_died()):
        return
    elif method == 'initialize' and MODE.startswith('refuses'):
        reason = MODE.partition(':')[2]
        send(id=request_id, error={'code': -32000, 'message': reason})
    elif method == 'initialize':
        version = '1999-01-01' if MODE == 'unsupported' else REVISION
        capabilities: Json = {} if MODE == 'no_tools' else {'tools': {'listChanged': True}}
        info = {'name': 'scripted', 'version': '1'}
        result: Json = {
            'protocolVersion': version,
            'capabilities': capabilities,
            'serverInfo': info,
        }
        send(id=request_id, result=result)
    elif method == 'tools/list':
        if MODE == 'tool_removed' and calls:
            TOOLS[:] = [COUNT]
        cursor = {'nextCursor': 'more'} if MODE == 'endless_list' else {}
        send(id=request_id, result={'tools': TOOLS, **cursor})
    elif method == 'tools/call':
        call(calls)
    elif MODE != 'ignores_unknown':
        send(id=request_id, error={'code': -32601, 'message': 'Method not found'})


def main() -> None:
    if MODE == 'dies_at_start':
        sys.stderr.write('no configuration\n')
        sys.exit(3)
    if MODE in {'ignores_sigterm', 'child'}:
        child = subprocess.Popen(['sleep', '60'])
        note(f'child {child.pid}')
    if MODE == 'ignores_sigterm':
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    note(f'pid {os.getpid()}')
    note(f'environment {sorted(os.environ)}')
    calls = 0
    for line in sys.stdin:
        message = json.loads(line)
        if message.get('method') == 'tools/call':
            calls = message['id']
        handle(message, calls)
    if MODE == 'ignores_sigterm':
        time.sleep(20)


if __name__ == '__main__':
    main()
