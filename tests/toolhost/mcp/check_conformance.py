"""Runs the official conformance suite of MCP against a server of this library.

`.ci/nightly` installs the suite and sets `MCP_CONFORMANCE` to its script, and `MCP_NODE` to a
Node.js of version 22 or later. It runs the scenarios of what a server of this library offers: no
sampling, no elicitation, and no subscriptions to resources.
"""

import os
import subprocess
from pathlib import Path

import pytest

SCENARIOS = (
    'server-initialize',
    'ping',
    'logging-set-level',
    'completion-complete',
    'tools-list',
    'tools-call-simple-text',
    'tools-call-image',
    'tools-call-audio',
    'tools-call-embedded-resource',
    'tools-call-mixed-content',
    'tools-call-with-logging',
    'tools-call-with-progress',
    'tools-call-error',
    'json-schema-2020-12',
    'server-sse-multiple-streams',
    'resources-list',
    'resources-read-text',
    'resources-read-binary',
    'resources-templates-read',
    'prompts-list',
    'prompts-get-simple',
    'prompts-get-with-args',
    'prompts-get-embedded-resource',
    'prompts-get-with-image',
    'dns-rebinding-protection',
)

SUITE = os.environ.get('MCP_CONFORMANCE', '')

pytestmark = [
    pytest.mark.nightly,
    pytest.mark.skipif(not SUITE, reason='the conformance suite is not installed'),
]


@pytest.mark.parametrize('scenario', SCENARIOS)
def test_the_server_passes_the_scenario(
    conformance_url: str, scenario: str, tmp_path: Path
) -> None:
    node = os.environ.get('MCP_NODE', 'node')
    done = subprocess.run(
        [node, SUITE, 'server', '--url', conformance_url, '--scenario', scenario],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=tmp_path,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
