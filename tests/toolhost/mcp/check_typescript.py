"""Runs a client of the official TypeScript SDK of MCP against a server of this library.

`.ci/nightly` installs the package `@modelcontextprotocol/sdk` of npm, and sets `MCP_SDK` to its
folder `node_modules`, and `MCP_NODE` to a Node.js of version 22.18 or later, which runs TypeScript.
"""

import base64
import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.toolhost.mcp.conformance_server import PIXEL, RESOURCES, SOUND, TOOLS
from tests.toolhost.mcp.conftest import CONFORMANCE_SERVER, PYTHONPATH

SDK = os.environ.get('MCP_SDK', '')

pytestmark = [
    pytest.mark.nightly,
    pytest.mark.skipif(not SDK, reason='the SDK of TypeScript is not installed'),
]

INVALID_PARAMETERS = -32602
RESOURCE_NOT_FOUND = -32002
CANCELLED_BY_THE_CLIENT = -32001
"""The code that the SDK itself gives a request that it has cancelled."""


def text(value: str) -> dict[str, str]:
    return {'type': 'text', 'text': value}


def resource(uri: str, value: str, mime_type: str = 'text/plain') -> dict[str, object]:
    return {'type': 'resource', 'resource': {'uri': uri, 'mimeType': mime_type, 'text': value}}


IMAGE = {'type': 'image', 'data': base64.b64encode(PIXEL).decode(), 'mimeType': 'image/png'}

EXPECTED: dict[str, object] = {
    'server': 'seamwise',
    'capabilities': ['completions', 'logging', 'prompts', 'resources', 'tools'],
    'tools': [tool.name for tool in TOOLS],
    'schema': {
        'type': 'object',
        'properties': {'result': {'type': 'string'}},
        'required': ['result'],
    },
    'content': {
        'simple_text': [text('This is a simple text response for testing.')],
        'image_content': [IMAGE],
        'audio_content': [
            {'type': 'audio', 'data': base64.b64encode(SOUND).decode(), 'mimeType': 'audio/wav'}
        ],
        'embedded_resource': [
            resource('test://embedded-resource', 'This is an embedded resource content.')
        ],
        'multiple_content_types': [
            text('Multiple content types test:'),
            IMAGE,
            resource(
                'test://mixed-content-resource',
                '{"test":"data","value":123}',
                'application/json',
            ),
        ],
    },
    'structured': {'result': 'This is a simple text response for testing.'},
    'failed': [True, 'ToolFailed'],
    'informed': [
        ['info', f'Tool {step}']
        for step in ('execution started', 'processing data', 'execution completed')
    ],
    'quiet': [],
    'progress': [[0, 100], [50, 100], [100, 100]],
    'aborted': CANCELLED_BY_THE_CLIENT,
    'unknownTool': INVALID_PARAMETERS,
    'unknownResource': RESOURCE_NOT_FOUND,
    'unknownPrompt': INVALID_PARAMETERS,
    'resources': [uri for uri in RESOURCES if '{' not in uri],
    'templates': [uri for uri in RESOURCES if '{' in uri],
    'read': {
        'test://static-text': [
            {
                'uri': 'test://static-text',
                'mimeType': 'text/plain',
                'text': 'This is the content of the static text resource.',
            }
        ],
        'test://static-binary': [
            {'uri': 'test://static-binary', 'mimeType': 'image/png', 'blob': IMAGE['data']}
        ],
        'test://template/7/data': [
            {
                'uri': 'test://template/7/data',
                'mimeType': 'application/json',
                'text': '{"id":"7","templateTest":true,"data":"Data for ID: 7"}',
            }
        ],
    },
    'prompts': [
        ['test_simple_prompt', []],
        ['test_prompt_with_arguments', ['arg1', 'arg2']],
        ['test_prompt_with_embedded_resource', ['resourceUri']],
        ['test_prompt_with_image', []],
        ['translate', ['language', 'formal']],
    ],
    'messages': {
        'test_prompt_with_arguments': [
            {'role': 'user', 'content': text("Prompt with arguments: arg1='a', arg2='b'")}
        ],
        'test_prompt_with_embedded_resource': [
            {
                'role': 'user',
                'content': resource('test://x', 'Embedded resource content for testing.'),
            },
            {
                'role': 'user',
                'content': text('Please process the embedded resource above.'),
            },
        ],
        'test_prompt_with_image': [
            {'role': 'user', 'content': IMAGE},
            {'role': 'user', 'content': text('Please analyze the image above.')},
        ],
    },
    'completed': ['en', 'es'],
    'ping': {},
}


def receive(folder: Path, *arguments: str) -> dict[str, object]:
    """Run the client, and return what it received."""
    shutil.copy(Path(__file__).with_name('client.mts'), folder)
    (folder / 'node_modules').symlink_to(SDK)
    done = subprocess.run(
        [os.environ.get('MCP_NODE', 'node'), 'client.mts', *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=folder,
        env={**os.environ, 'PYTHONPATH': PYTHONPATH},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    received: dict[str, object] = json.loads(done.stdout)
    return received


@pytest.fixture(params=['stdio', 'http'])
def received(request: pytest.FixtureRequest, tmp_path: Path) -> dict[str, object]:
    """Return what the client receives over a transport."""
    if request.param == 'stdio':
        return receive(tmp_path, 'stdio', *CONFORMANCE_SERVER, 'stdio')
    return receive(tmp_path, 'http', request.getfixturevalue('conformance_url'))


def test_a_client_in_typescript_receives_what_the_server_offers(
    received: dict[str, object],
) -> None:
    assert received == EXPECTED
