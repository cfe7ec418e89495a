"""Exact suggestions for models, except for errors of tools and parsing (see `test_model`)."""

from functools import reduce
from typing import Any

import pytest

from seamwise import TaggedError
from seamwise.catalog import (
    access,
    agents,
    models,
    network,
    protocols,
    sessions,
    storage,
    streaming,
    workspace,
)
from seamwise.catalog.problem import Problem
from seamwise.policies import BulkheadFull, CircuitOpen, DeadlineExceeded, RateLimited
from seamwise.seams.adapter import Adapter
from seamwise.seams.model import Guidance, tables
from seamwise.seams.model.on import ModelArm
from tests.strategies import PLANTED, UNIONS


def join(table: Adapter[Any, Guidance], other: Adapter[Any, Guidance]) -> Adapter[Any, Guidance]:
    return table | other


ALL: Adapter[Any, Guidance] = reduce(join, [getattr(tables, name) for name in UNIONS])
PROBLEMS = (Problem('/name', 'is missing'), Problem('', 'is too long'))
DISK = OSError(28, 'no room')

SUGGESTIONS: list[tuple[TaggedError, str]] = [
    (
        streaming.UserInterrupted('use the other file'),
        "Stop your current work and follow the user's feedback: use the other file",
    ),
    (streaming.UserInterrupted(), 'Stop your current work and ask the user how to continue.'),
    (
        network.HostUnreachable('db.example.org', 'no route'),
        (
            'Check that the address is right and try once more; if that fails '
            'too, continue without it or tell the user.'
        ),
    ),
    (
        network.NetworkTimedOut('api', 'search', 5.0, retry_after=2.0),
        (
            'Wait 2 s, then try again with a smaller request; after a second timeout, '
            'continue without it.'
        ),
    ),
    (
        network.UpstreamRateLimited('api', 1.25, limit=60),
        (
            'Wait 1.3 s, then try again; earlier calls are refused too. Its limit is 60 '
            'requests; combine several into one.'
        ),
    ),
    (
        network.UpstreamRateLimited('api'),
        'Wait a moment, then try again; earlier calls are refused too.',
    ),
    (
        network.CredentialsRejected('api', ('API_ADDRESS',)),
        (
            "This program's own credentials are missing, wrong or expired, so every call "
            "to api fails. Tell the user to set 'API_ADDRESS', and continue without api."
        ),
    ),
    (
        network.UpstreamFailed('api', 503, '', retry_after=0.0),
        (
            'The fault is with api, not with your call. Try again now; if it fails once more, '
            'choose another way or tell the user.'
        ),
    ),
    (models.ModelNotFound('acme', 'gtp-5', ('gpt-5',)), "Did you mean 'gpt-5'?"),
    (
        models.ModelNotFound('acme', 'gtp-5'),
        'List the models that acme offers, or call without choosing a model.',
    ),
    (
        models.ProviderNotReady('acme', DISK),
        (
            'Its configuration must be fixed (OSError), which no call can do. '
            'Choose another provider, or tell the user.'
        ),
    ),
    (
        models.ProviderUnavailable('acme'),
        'Wait a moment, then try again, or use a model of another provider.',
    ),
    (
        models.ModelOverloaded('acme', 'm1', 3.0),
        "Wait 3 s, then try again, or use a model other than 'm1'.",
    ),
    (
        models.NoModelAvailable(('m1', 'm2')),
        (
            'Wait a moment, then try again. Every suitable model was tried: continue without '
            'one, or tell the user.'
        ),
    ),
    (
        models.InvalidModelRequest('acme', 'no messages'),
        (
            'Fix the request as the message describes before you call acme again; the same '
            'request is always refused.'
        ),
    ),
    (
        models.ContextTooLong('acme', 1200, 1000),
        ('Remove at least 200 tokens: quote less, summarize long parts, or split the work in two.'),
    ),
    (
        models.ContextTooLong('acme'),
        ('Shorten the prompt: quote less, summarize long parts, or split the work in two.'),
    ),
    (
        models.ContentFiltered('acme', 'violence'),
        (
            'The policy of acme forbids this; do not try to bypass it. Request something else, '
            'or tell the user.'
        ),
    ),
    (
        models.OutputTruncated('acme', 500),
        (
            'Request a shorter answer, or parts of fewer than 500 tokens, or allow more '
            'tokens; the answer ends in the middle.'
        ),
    ),
    (
        models.OutputTruncated('acme'),
        (
            'Request a shorter answer, or parts of it, or allow more tokens; the answer ends in '
            'the middle.'
        ),
    ),
    (
        models.StructuredOutputInvalid('acme', PROBLEMS),
        (
            'Answer again in the requested schema, and fix /name (is missing) and the answer '
            'itself (is too long).'
        ),
    ),
    (
        models.QuotaExceeded('acme', 1_771_583_400.0),
        (
            'No more calls to acme are possible until 2026-02-20T10:30:00Z. Choose another '
            'provider, or ask the user to raise the quota.'
        ),
    ),
    (
        models.QuotaExceeded('acme', float('nan')),
        (
            'No more calls to acme are possible. Choose another provider, or ask the user to '
            'raise the quota.'
        ),
    ),
    (
        models.BudgetExceeded(5.0, 5.25),
        (
            'Make no more calls that cost money. Report the finished and the remaining work to '
            'the user, and ask whether the budget of 5 may be raised.'
        ),
    ),
    (
        agents.AgentNotFound('codr', ('coder', 'tester'), ('coder',)),
        "Did you mean 'coder'? The agents are 'coder' and 'tester'.",
    ),
    (agents.AgentNotFound('codr', ()), 'No agent is available; continue without one.'),
    (agents.CommandNotFound('hlep', ('help',)), "The commands are 'help'."),
    (
        agents.AgentNotReady('coder', 'starting', 1.0),
        "Wait 1 s, then try again, or assign the work to an agent other than 'coder'.",
    ),
    (
        agents.AgentBusy('coder'),
        (
            'It handles one task at a time. Wait a moment, then try again, or assign the work '
            'to another agent.'
        ),
    ),
    (
        agents.InvalidTransition('coder', 'idle', 'paused', ('running', 'stopped')),
        "Choose 'running' or 'stopped'.",
    ),
    (
        agents.InvalidTransition('coder', 'done', 'paused', ()),
        "No state follows 'done'; leave 'coder' as it is.",
    ),
    (
        agents.GuardrailsViolated('coder', PROBLEMS),
        (
            'It violates /name (is missing) and its rules (is too long). Do it in a way that '
            'follows the rules, or ask the user to decide.'
        ),
    ),
    (
        agents.ContextOverflow(1200, 1000),
        (
            'Summarize the conversation so far in at least 200 fewer tokens, or start a new '
            'conversation with the essential parts.'
        ),
    ),
    (
        agents.CompressionFailed('no model'),
        (
            'Write a summary of the essential parts yourself, or ask the user to start a new '
            'conversation.'
        ),
    ),
    (
        agents.AgentFailed('reviewer-1', 'reviewer', KeyError('a')),
        "Assign the work to an agent other than 'reviewer-1', or tell the user.",
    ),
    (
        agents.AgentFailed('reviewer-1', 'reviewer', TimeoutError()),
        ("Wait a moment, then try again, or assign the work to an agent other than 'reviewer-1'."),
    ),
    (
        protocols.McpConnectionFailed('notion', 'Connection refused'),
        (
            'Its tools are unavailable for now. Try once more; if it '
            'fails again, use tools of another server or tell the user.'
        ),
    ),
    (
        protocols.McpConnectionFailed('notion', cause=DISK),
        (
            'Its tools are unavailable for now (OSError). Try once more; if it '
            'fails again, use tools of another server or tell the user.'
        ),
    ),
    (
        protocols.McpTransportFailed('notion', 'broke'),
        (
            "Check whether your last call was executed before you repeat it: 'notion' may have "
            'received it. Then try once more.'
        ),
    ),
    (
        protocols.McpServerFailed('notion', -32603, 'oops'),
        "The fault is in 'notion', not in your call. Try once more, then choose another way.",
    ),
    (
        protocols.McpServerFailed('notion', -32602, 'no such page'),
        'Fix your call as the server describes; the same call is always refused.',
    ),
    (
        protocols.McpTimedOut('notion', 'tool_call', 5.0),
        (
            "Wait a moment, then try again with a smaller request to 'notion'; check first "
            'whether tool_call was executed.'
        ),
    ),
    (
        protocols.LspNotInitialized('pyright'),
        (
            "Search and read the files directly instead, and tell the user that 'pyright' does "
            'not start.'
        ),
    ),
    (
        protocols.LspRequestFailed('pyright', 'rename', DISK),
        (
            'Check the file and the position of your request (OSError), or search '
            'and read the files directly.'
        ),
    ),
    (
        protocols.LspContentModified('pyright', 'rename'),
        (
            'The old positions are no longer valid: read the document again, then call rename '
            'with the new ones.'
        ),
    ),
    (
        protocols.A2aTaskNotFound('t1'),
        (
            'Check the id that the agent returned; if the agent no longer has the task, send '
            'the work as a new one.'
        ),
    ),
    (
        protocols.A2aTaskNotCancelable('t1', 'completed'),
        'The task is already completed. Read its result instead.',
    ),
    (
        protocols.A2aPushNotSupported('coder'),
        'Poll the state of the task, or read its stream.',
    ),
    (
        protocols.A2aUnsupportedOperation('fly'),
        "Read the agent's card and choose an operation that it lists, or use another agent.",
    ),
    (protocols.A2aContentTypeNotSupported('image/png', ('text/plain',)), "Choose 'text/plain'."),
    (
        protocols.A2aContentTypeNotSupported('image/png'),
        "Send it as plain text, or as a content type that the agent's card lists.",
    ),
    (
        protocols.A2aInvalidAgentResponse('coder', 'no parts'),
        "The fault is with 'coder', not with your request. Use another agent, or tell the user.",
    ),
    (
        protocols.A2aExtendedCardNotConfigured('coder'),
        "Read the agent's public card instead; it contains less detail.",
    ),
    (
        protocols.A2aExtensionRequired('urn:x'),
        "Use an agent that does not require 'urn:x', or tell the user that it is required here.",
    ),
    (protocols.A2aVersionNotSupported('0.3', ('1.0',)), "Choose '1.0'."),
    (
        protocols.A2aVersionNotSupported('0.3'),
        'Use another agent, or tell the user that the two support no common version.',
    ),
    (
        protocols.AgentCardInvalid('https://example.org', PROBLEMS),
        (
            'Use another agent: this one cannot be used until its owner fixes /name (is '
            'missing) and its card (is too long).'
        ),
    ),
    (
        sessions.RecoveryFailed('sync', 3, DISK),
        (
            'Do not request sync again (OSError). Choose another way, or tell the '
            'user about the failure.'
        ),
    ),
    (
        access.Unauthenticated('Bearer'),
        'Ask the user to sign in (Bearer). Do not ask for the credentials themselves.',
    ),
    (
        access.AccessDenied('delete', 'a.txt'),
        (
            'Do not try to bypass this. Use only what you have access to, or ask the user to '
            'grant access.'
        ),
    ),
    (
        storage.RecordNotFound('user', 'u-17'),
        "Check the spelling of 'u-17', list the existing keys, or store it first.",
    ),
    (
        storage.RecordExists('user', 'u-17'),
        "Update the existing record, or choose a key other than 'u-17'.",
    ),
    (
        storage.StoreClosed('main'),
        (
            'Wait a moment, then try again; nothing was read or written. If it stays closed, '
            'tell the user.'
        ),
    ),
    (
        storage.StoreUnavailable('main', 'locked', 0.05),
        (
            'Wait 0.1 s, then try again; nothing was read or written. If it fails once more, '
            'tell the user.'
        ),
    ),
    (
        workspace.ConfigUnreadable('a.toml', 3, 7, 'no value'),
        "Read 'a.toml' around line 3, column 7, and fix it there if you may change the file.",
    ),
    (
        workspace.ConfigInvalid('a.toml', PROBLEMS),
        (
            "Fix /name (is missing) and the file itself (is too long) in 'a.toml' if you may "
            'change the file, else tell the user.'
        ),
    ),
    (
        workspace.SkillInvalid('skills/x', PROBLEMS),
        (
            'Continue without the skill, or fix /name (is missing) and the file itself (is too '
            "long) in 'skills/x'."
        ),
    ),
    (
        workspace.SkillNameMismatch('skills/x', 'x', 'y'),
        "Set its name to 'x', or rename its folder to 'y'.",
    ),
    (
        workspace.NotARepository('/srv'),
        'Use a folder inside a repository, or ask the user whether to create one here.',
    ),
    (
        workspace.WorktreeExists('fix'),
        "Work in 'fix' if it is the one you mean, or choose another name.",
    ),
    (
        workspace.WorktreeFailed('fix', 'fatal'),
        'Fix the problem that git reports in the output, then try again.',
    ),
    (
        workspace.WorktreeFailed('fix', ''),
        'Git wrote no output that explains the failure; check the state of the repository.',
    ),
    (
        RateLimited('search', 10, 60.0, 45.2),
        (
            'Wait 45.2 s, then try again; earlier calls are refused too. Until then, continue '
            'with work that does not need search.'
        ),
    ),
    (
        CircuitOpen('search', 5, 1000.0, 'open'),
        'Choose another way to the same goal: search is not called for the next 1000 s.',
    ),
    (
        CircuitOpen('search', 5, 2.0, 'half_open'),
        'Choose another way to the same goal, or try again in 2 s: search is being tested.',
    ),
    (
        BulkheadFull('search', 'tool', 'default', 3, 0.5),
        (
            'Make fewer concurrent calls: one of the 3 calls in flight must finish first. Wait '
            'a moment, then try again.'
        ),
    ),
    (
        DeadlineExceeded('search', 2.5, 1),
        'Wait a moment, then try again with a smaller request or a timeout of more than 2.5 s.',
    ),
]


@pytest.mark.parametrize(
    ('error', 'expected'), SUGGESTIONS, ids=[type(error).__name__ for error, _ in SUGGESTIONS]
)
def test_suggestion_describes_the_next_step(error: TaggedError, expected: str) -> None:
    assert ALL(error).suggestion == expected


def test_every_class_that_reaches_a_model_is_tested() -> None:
    visible = {kind for kind, arm in ALL.arms.items() if isinstance(arm, ModelArm)}
    tested_elsewhere = {*tables.TOOLS.kinds, *tables.PARSING.kinds}
    assert visible - tested_elsewhere == {type(error) for error, _ in SUGGESTIONS}


@pytest.mark.parametrize(
    ('error', '_'), SUGGESTIONS, ids=[type(error).__name__ for error, _ in SUGGESTIONS]
)
def test_suggestion_has_at_most_three_sentences(error: TaggedError, _: str) -> None:
    suggestion = str(ALL(error).suggestion)
    assert suggestion[-1] in '.?' or isinstance(error, streaming.UserInterrupted)
    sentences = [sentence for sentence in suggestion.replace('... ', '').split('. ') if sentence]
    assert 1 <= len(sentences) <= 3
    assert len(suggestion) <= 240


def test_output_of_a_worktree_error_is_the_end_of_the_output_of_git() -> None:
    git_output = ''.join(f'line {number}\n' for number in range(1000))
    output = ALL(workspace.WorktreeFailed('fix', git_output)).output
    assert output is not None
    assert output.endswith('line 999\n')
    assert len(output) <= 4000


def test_guidance_for_a_config_error_contains_its_path() -> None:
    assert ALL(workspace.ConfigInvalid('a.toml', PROBLEMS)).path == 'a.toml'


@pytest.mark.parametrize(
    'text',
    [
        'مرحبا',
        '你好',
        '\ud800',
        '\0\x1b[31m',
        pytest.param('x' * 10_000_000, marks=pytest.mark.slow),
        f'password={PLANTED}',
    ],
    ids=range(6),
)
def test_guidance_is_safe_for_any_text_in_an_error(text: str) -> None:
    guidance = str(ALL(storage.StoreUnavailable(text, text)))
    assert PLANTED not in guidance
    assert '\ud800' not in guidance
    assert len(guidance) < 4000
    assert PLANTED not in str(ALL(streaming.UserInterrupted(text)).suggestion)
