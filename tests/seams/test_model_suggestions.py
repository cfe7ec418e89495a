"""Suggestions, word for word: they are what a model acts on, so that every class has one that was read by somebody."""

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

ALL: Adapter[Any, Guidance] = reduce(
    lambda one, other: one | other, [getattr(tables, name) for name in UNIONS]
)
PROBLEMS = (Problem('/name', 'is missing'), Problem('', 'is too long'))
DISK = OSError(28, 'no room')

SUGGESTIONS: list[tuple[TaggedError, str]] = [
    (
        streaming.UserInterrupted('use the other file'),
        'Stop what you were doing and work on what the user says: use the other file',
    ),
    (streaming.UserInterrupted(), 'Stop what you were doing and ask the user how to go on.'),
    (
        network.HostUnreachable('db.example.org', 'no route'),
        "Check that 'db.example.org' is the right address and try once more; if that fails too, go on without it or tell the user.",
    ),
    (
        network.NetworkTimedOut('api', 'search', 5.0, retry_after=2.0),
        'Wait 2 s, then try again, asking api for less at once; after a second timeout go on without it.',
    ),
    (
        network.UpstreamRateLimited('api', 1.25, limit=60),
        'Wait 1.3 s, then try again, and not before: every earlier call is refused too. It takes 60 requests; put several things into one.',
    ),
    (
        network.UpstreamRateLimited('api'),
        'Wait a moment, then try again, and not before: every earlier call is refused too.',
    ),
    (
        network.CredentialsRejected('api', 'API_ADDRESS'),
        (
            "This program's own credentials are missing, wrong or expired; no other call to api will do better. "
            "Tell the user to set 'API_ADDRESS', and go on without api."
        ),
    ),
    (
        network.UpstreamFailed('api', 503, '', retry_after=0.0),
        "The fault is api's, not your call's. Try again at once; if it fails once more, take another way or tell the user.",
    ),
    (models.ModelNotFound('acme', 'gtp-5', ('gpt-5',)), "Did you mean 'gpt-5'?"),
    (
        models.ModelNotFound('acme', 'gtp-5'),
        'Ask acme for the models that it offers, or leave the choice of the model out.',
    ),
    (
        models.ProviderNotReady('acme', DISK),
        'Its configuration must be mended ([Errno 28] no room), which you cannot do by a call. Take another provider, or tell the user.',
    ),
    (
        models.ProviderUnavailable('acme'),
        'Wait a moment, then try again, or take a model of another provider.',
    ),
    (
        models.ModelOverloaded('acme', 'm1', 3.0),
        "Wait 3 s, then try again, or take another model than 'm1'.",
    ),
    (
        models.NoModelAvailable(('m1', 'm2')),
        'Wait a moment, then try again; every model that could do this was tried, so do what you can without one or tell the user.',
    ),
    (
        models.InvalidModelRequest('acme', 'no messages'),
        'Mend what the message says before you ask acme again; the same request is refused every time.',
    ),
    (
        models.ContextTooLong('acme', 1200, 1000),
        'Leave out at least 200 tokens: quote less, summarize what is long, or split the work in two.',
    ),
    (
        models.ContentFiltered('acme', 'violence'),
        'The policy of acme forbids this; do not try to get around it. Ask for something else, or tell the user.',
    ),
    (
        models.OutputTruncated('acme', 500),
        'Ask for less, or in parts of fewer than 500 tokens, or allow more; what is there ends in the middle.',
    ),
    (
        models.StructuredOutputInvalid('acme', PROBLEMS),
        'Answer again in the shape that was asked for, and mend /name (is missing) and the answer itself (is too long).',
    ),
    (
        models.QuotaExceeded('acme', 1_771_583_400.0),
        'Nothing more is to be had from acme until 2026-02-20T10:30:00Z. Take another provider, or ask the user to raise the quota.',
    ),
    (
        models.QuotaExceeded('acme', float('nan')),
        'Nothing more is to be had from acme. Take another provider, or ask the user to raise the quota.',
    ),
    (
        models.BudgetExceeded(5.0, 5.25),
        'Make no more calls that cost. Tell the user what is done and what is left, and ask whether 5 may be raised.',
    ),
    (
        agents.AgentNotFound('codr', ('coder', 'tester'), ('coder',)),
        "Did you mean 'coder'? The agents are 'coder' and 'tester'.",
    ),
    (agents.AgentNotFound('codr', ()), 'No agent is available; do without one.'),
    (agents.CommandNotFound('hlep', ('help',)), "The commands are 'help'."),
    (
        agents.AgentNotReady('coder', 'starting', 1.0),
        "Wait 1 s, then try again, or give the work to another agent than 'coder'.",
    ),
    (
        agents.AgentBusy('coder'),
        'It does one thing at a time. Wait a moment, then try again, or give the work to another agent.',
    ),
    (
        agents.InvalidTransition('coder', 'idle', 'paused', ('running', 'stopped')),
        "Take 'running' or 'stopped'.",
    ),
    (
        agents.InvalidTransition('coder', 'done', 'paused', ()),
        "Nothing leads on from 'done'; leave 'coder' as it is.",
    ),
    (
        agents.GuardrailsViolated('coder', PROBLEMS),
        'It breaks /name (is missing) and its rules (is too long). Do it in a way that keeps them, or ask the user to decide.',
    ),
    (
        agents.ContextOverflow(1200, 1000),
        'Summarize what was said so far in at least 200 fewer tokens, or begin a new conversation with what matters.',
    ),
    (
        agents.CompressionFailed('no model'),
        'Say yourself what can be left out, in a summary of what matters, or ask the user to begin a new conversation.',
    ),
    (
        protocols.McpConnectionFailed('notion', 'Connection refused'),
        (
            'Its tools cannot be used for now (Connection refused). '
            'Try once more; if it fails again, take tools of another server or tell the user.'
        ),
    ),
    (
        protocols.McpConnectionFailed('notion', cause=DISK),
        (
            'Its tools cannot be used for now ([Errno 28] no room). '
            'Try once more; if it fails again, take tools of another server or tell the user.'
        ),
    ),
    (
        protocols.McpTransportFailed('notion', 'broke'),
        "Find out whether your last call was done before you repeat it: 'notion' may have received it. Then try once more.",
    ),
    (
        protocols.McpServerFailed('notion', -32603, 'oops'),
        "The fault is inside of 'notion', not in your call. Try once more, then take another way.",
    ),
    (
        protocols.McpServerFailed('notion', -32602, 'no such page'),
        'Mend your call by what the server says; the same call is refused every time.',
    ),
    (
        protocols.McpTimedOut('notion', 'tool_call', 5.0),
        "Wait a moment, then try again, asking 'notion' for less at once; find out first whether tool_call was done after all.",
    ),
    (
        protocols.LspNotInitialized('pyright'),
        "Search and read the files themselves instead, and tell the user that 'pyright' does not start.",
    ),
    (
        protocols.LspRequestFailed('pyright', 'rename', DISK),
        'Check the file and the position that you asked about ([Errno 28] no room), or search and read the files themselves.',
    ),
    (
        protocols.LspContentModified('pyright', 'rename'),
        'Positions from before no longer hold: read the document again, then ask for rename with the new ones.',
    ),
    (
        protocols.A2aTaskNotFound('t1'),
        'Check the id against the one that the agent gave you; if the agent no longer keeps the task, send the work as a new one.',
    ),
    (
        protocols.A2aTaskNotCancelable('t1', 'completed'),
        'The task is completed and stays so. Read its outcome instead.',
    ),
    (
        protocols.A2aPushNotSupported('coder'),
        'Ask for the state of the task from time to time, or read its stream.',
    ),
    (
        protocols.A2aUnsupportedOperation('fly'),
        "Read the agent's card and ask for something that it lists, or ask another agent.",
    ),
    (protocols.A2aContentTypeNotSupported('image/png', ('text/plain',)), "Take 'text/plain'."),
    (
        protocols.A2aContentTypeNotSupported('image/png'),
        "Send it as plain text, or as a kind that the agent's card lists.",
    ),
    (
        protocols.A2aInvalidAgentResponse('coder', 'no parts'),
        "The fault lies with 'coder', not with your request. Ask another agent, or tell the user.",
    ),
    (
        protocols.A2aExtendedCardNotConfigured('coder'),
        "Read the agent's public card instead; it says less, but it is there.",
    ),
    (
        protocols.A2aExtensionRequired('urn:x'),
        "Ask an agent that does without 'urn:x', or tell the user that it is needed here.",
    ),
    (protocols.A2aVersionNotSupported('0.3', ('1.0',)), "Take '1.0'."),
    (
        protocols.A2aVersionNotSupported('0.3'),
        'Ask another agent, or tell the user that the two do not speak the same version.',
    ),
    (
        protocols.AgentCardInvalid('https://example.org', PROBLEMS),
        'Ask another agent: this one cannot be used until its owner mends /name (is missing) and its card (is too long).',
    ),
    (
        sessions.RecoveryFailed('sync', 3, DISK),
        'Do not ask for sync again ([Errno 28] no room). Take another way, or tell the user what failed.',
    ),
    (
        access.Unauthenticated('Bearer'),
        'Ask the user to sign in (Bearer); do not ask for the credentials themselves.',
    ),
    (
        access.AccessDenied('delete', 'a.txt'),
        'Do not try to get around this. Work with what you may use, or ask the user to have it granted.',
    ),
    (
        storage.RecordNotFound('user', 'u-17'),
        "Check the spelling of 'u-17', list what there is, or store it first.",
    ),
    (
        storage.RecordExists('user', 'u-17'),
        "Change the one that is there, or take another key than 'u-17'.",
    ),
    (
        storage.StoreClosed('main'),
        'Wait a moment, then try again; nothing was read or written. If it stays closed, tell the user.',
    ),
    (
        storage.StoreUnavailable('main', 'locked', 0.05),
        'Wait 0.1 s, then try again; nothing was read or written. If it fails once more, tell the user.',
    ),
    (
        workspace.ConfigUnreadable('a.toml', 3, 7, 'no value'),
        "Read 'a.toml' around line 3, column 7, and mend it there if it is yours to change.",
    ),
    (
        workspace.ConfigInvalid('a.toml', PROBLEMS),
        "Mend /name (is missing) and the file itself (is too long) in 'a.toml' if it is yours to change, else tell the user.",
    ),
    (
        workspace.SkillInvalid('skills/x', PROBLEMS),
        "Go on without the skill, or mend /name (is missing) and the file itself (is too long) in 'skills/x'.",
    ),
    (
        workspace.SkillNameMismatch('skills/x', 'x', 'y'),
        "Set its name to 'x', or rename its folder to 'y'.",
    ),
    (
        workspace.NotARepository('/tmp'),
        'Go to a folder that is in a repository, or ask the user whether to make one here.',
    ),
    (
        workspace.WorktreeExists('fix'),
        "Work in 'fix' if it is the one that you mean, or take another name.",
    ),
    (workspace.WorktreeFailed('fix', 'fatal'), 'Mend what git says in the output and try again.'),
    (
        workspace.WorktreeFailed('fix', ''),
        'Git wrote nothing that says why; look at the state of the repository.',
    ),
    (
        RateLimited('search', 10, 60.0, 45.2),
        'Wait 45.2 s, then try again: every earlier call is refused too. Meanwhile do what needs no search.',
    ),
    (
        CircuitOpen('search', 5, 1000.0, 'open'),
        'Take another way to the same end: search is not asked for the next 1000 s.',
    ),
    (
        CircuitOpen('search', 5, 2.0, 'half_open'),
        'Take another way to the same end, or try again in 2 s: search is just being tried out.',
    ),
    (
        BulkheadFull('search', 'tool', 'default', 3, 0.5),
        'Make fewer calls at once: one of the 3 at work has to end first. Wait a moment, then try again.',
    ),
    (
        DeadlineExceeded('search', 2.5, 1),
        'Wait a moment, then try again, asking for less at once or allowing more than 2.5 s.',
    ),
]


@pytest.mark.parametrize(
    ('error', 'expected'), SUGGESTIONS, ids=[type(error).__name__ for error, _ in SUGGESTIONS]
)
def test_a_suggestion_says_what_to_do_next(error: TaggedError, expected: str) -> None:
    assert ALL(error).suggestion == expected


def test_every_class_that_a_model_is_told_of_has_its_suggestion_here() -> None:
    told = {kind for kind, arm in ALL.arms.items() if isinstance(arm, ModelArm)}
    elsewhere = {*tables.TOOLS.kinds, *tables.PARSING.kinds}
    assert told - elsewhere == {type(error) for error, _ in SUGGESTIONS}


@pytest.mark.parametrize(
    ('error', '_'), SUGGESTIONS, ids=[type(error).__name__ for error, _ in SUGGESTIONS]
)
def test_a_suggestion_is_two_sentences_at_most_three(error: TaggedError, _: str) -> None:
    shown = str(ALL(error).suggestion)
    assert shown[-1] in '.?' or isinstance(error, streaming.UserInterrupted)
    assert 1 <= len([one for one in shown.replace('... ', '').split('. ') if one]) <= 3
    assert len(shown) <= 240


def test_a_worktree_shows_the_end_of_what_git_said() -> None:
    output = ''.join(f'line {number}\n' for number in range(1000))
    shown = ALL(workspace.WorktreeFailed('fix', output)).output
    assert shown is not None
    assert shown.endswith('line 999\n')
    assert len(shown) <= 4000


def test_a_config_error_has_its_path() -> None:
    assert ALL(workspace.ConfigInvalid('a.toml', PROBLEMS)).path == 'a.toml'


@pytest.mark.parametrize(
    'text',
    ['مرحبا', '你好', '\ud800', '\0\x1b[31m', 'x' * 10_000_000, f'password={PLANTED}'],
    ids=range(6),
)
def test_whatever_an_error_holds_comes_out_safe(text: str) -> None:
    shown = ALL(storage.StoreUnavailable(text, text))
    written = str(shown)
    assert PLANTED not in written
    assert '\ud800' not in written
    assert len(written) < 4000
    assert PLANTED not in str(ALL(streaming.UserInterrupted(text)).suggestion)
