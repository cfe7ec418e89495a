"""Recipes for an example of each error: tool calls that fail, or the constructor of the error."""

import json
from collections.abc import Mapping
from typing import Generic, TypeAlias, TypeVar, final

from msgspec import Struct

from seamwise import policies
from seamwise._errors.errors import TaggedError
from seamwise.catalog import (
    access,
    agents,
    models,
    network,
    parsing,
    protocols,
    sessions,
    storage,
    streaming,
    tools,
    workspace,
)
from seamwise.catalog.problem import Problem
from seamwise.documents.unions import CatalogError

K = TypeVar('K', bound=TaggedError)
E = TypeVar('E', bound=TaggedError)
E_contra = TypeVar('E_contra', bound=TaggedError, contravariant=True)


class Calls(Struct, frozen=True):
    """Input lines of `seamwise run`, of which the last one fails.

    Args:
        lines: The lines, in order.
        files: Contents of the files in the workspace. A name with a final `/` is a folder.
        mistake_limit: The option `--mistake-limit`.
        handles: Number of files that the process can still open. None: no limit.
    """

    lines: tuple[str, ...]
    files: Mapping[str, str] = {}
    mistake_limit: int = 0
    handles: int | None = None


Recipe: TypeAlias = Calls | TaggedError
"""Calls that fail with the error, or the error itself if no tool call produces it."""


@final
class RecipeTable(Generic[E_contra]):
    """Recipes for the errors of a union. As for an adapter, a missing one is a type error."""

    def __init__(self, recipes: Mapping[type[TaggedError], Recipe]) -> None:
        self._recipes = dict(recipes)

    def __or__(self, other: 'RecipeTable[E]', /) -> 'RecipeTable[E_contra | E]':
        """Add the recipes of another table."""
        return RecipeTable({**self._recipes, **other._recipes})

    def __getitem__(self, kind: type[E_contra], /) -> Recipe:
        """Return the recipe for an error class."""
        return self._recipes[kind]

    @property
    def kinds(self) -> frozenset[type[TaggedError]]:
        """The error classes with a recipe."""
        return frozenset(self._recipes)


def call_line(tool: str, /, **arguments: object) -> str:
    """Return a tool call as an input line."""
    return json.dumps({'tool': tool, 'arguments': arguments}, ensure_ascii=False)


class RecipeArm(Struct, Generic[K], frozen=True):
    """A recipe for one error class."""

    kind: type[K]
    recipe: Recipe

    @property
    def table(self) -> RecipeTable[K]:
        """A table with this recipe only.

        A separate step, because mypy would otherwise widen `K` to the annotated union of a table,
        and miss a class without a recipe.
        """
        return RecipeTable({self.kind: self.recipe})


def by_calls(
    kind: type[K],
    lines: tuple[str, ...],
    files: Mapping[str, str] | None = None,
    *,
    mistake_limit: int = 0,
    handles: int | None = None,
) -> RecipeArm[K]:
    """Return a recipe that runs tool calls; see `Calls`."""
    return RecipeArm(kind, Calls(lines, files or {}, mistake_limit, handles))


def by_constructor(error: K) -> RecipeArm[K]:
    """Return a recipe for an error that no tool call produces."""
    return RecipeArm(type(error), error)


_REFUSED = ConnectionRefusedError(111, 'Connection refused')
_AGENT_NAMES = ('planner', 'reviewer', 'tester')
_NOT_A_NUMBER = (Problem('/items/0/price', 'must be a number'),)
_APP = {'src/app.py': 'def main():\n    return 1\n\n\ndef stop():\n    return 1\n'}
_MISPLACED_DIFF = '@@ -1,2 +1,2 @@\n def start():\n-    return 0\n+    return 2\n'

_TOOLS: RecipeTable[tools.ToolError] = (
    by_calls(tools.MissingParameter, (call_line('search_files', path='src'),)).table
    | by_calls(
        tools.InvalidParameter,
        (call_line('read_file', path='src/app.py', start_line='1', mode='r'),),
        _APP,
    ).table
    | by_calls(tools.UnknownTool, (call_line('raed_file', path='src/app.py'),)).table
    | by_calls(tools.FileNotFound, (call_line('read_file', path='src/ap.py'),), _APP).table
    | by_calls(
        tools.FileAlreadyExists, (call_line('write_file', path='src/app.py', content=''),), _APP
    ).table
    | by_calls(tools.PathForbidden, (call_line('read_file', path='../secrets.txt'),)).table
    | by_calls(
        tools.ContentNotFound,
        (
            call_line(
                'replace_in_file', path='src/app.py', search='def man():', replace='def start():'
            ),
        ),
        _APP,
    ).table
    | by_calls(
        tools.ContentMismatch,
        (
            call_line(
                'replace_in_file', path='src/app.py', search='return 1', replace='return 2', line=1
            ),
        ),
        _APP,
    ).table
    | by_calls(
        tools.DuplicateMatch,
        (call_line('replace_in_file', path='src/app.py', search='return 1', replace='return 2'),),
        _APP,
    ).table
    | by_calls(
        tools.CommandTimedOut,
        (call_line('execute_command', command='echo compiling; sleep 60', timeout=0.2),),
    ).table
    | by_calls(
        tools.CommandFailed,
        (call_line('execute_command', command='echo "2 tests failed"; exit 1'),),
    ).table
    | by_calls(
        tools.DiffRejected,
        (call_line('apply_diff', path='src/app.py', diff=_MISPLACED_DIFF),),
        _APP,
    ).table
    | by_calls(
        tools.ToolFailed, (call_line('read_file', path='src/app.py'),), {**_APP, '.seamignore/': ''}
    ).table
    | by_calls(
        tools.ToolTimedOut,
        (call_line('search_files', pattern='(a+)+$', timeout=0.2),),
        {'notes.txt': 'a' * 64 + '!\n'},
    ).table
    | by_constructor(tools.ToolCancelled('execute_command', by='ann')).table
    | by_constructor(
        tools.InvalidResult('weather', (Problem('/temperature', 'must be a number'),))
    ).table
    | by_constructor(
        tools.RegistrationRejected(
            'Read File', 'a name has lower-case letters, digits and "_", and begins with a letter'
        )
    ).table
    | by_calls(tools.ResourceExhausted, (call_line('list_files', path='.'),), handles=0).table
    | by_calls(tools.ToolRepeated, (call_line('list_files', path='src'),) * 4, _APP).table
    | by_calls(
        tools.TooManyMistakes,
        (call_line('read_file'), call_line('raed_file'), call_line('list_files')),
        mistake_limit=2,
    ).table
)

_PARSING: RecipeTable[parsing.ParsingError] = (
    by_calls(
        parsing.UnreadableCall, ('{"tool": "read_file", "arguments": {"path": "src/app.py",}}',)
    ).table
    | by_constructor(parsing.UnknownFormat('I would call read_file with a.txt now.')).table
    | by_calls(
        parsing.SchemaViolations,
        ('{"tool": "read_file", "arguments": ["src/app.py"], "priority": 1}',),
    ).table
)

_STREAMING: RecipeTable[streaming.StreamingError] = (
    by_constructor(streaming.InvalidStream('the content type is text/html')).table
    | by_constructor(
        streaming.ChunkUnparsable('a quote is missing', excerpt='data: {"delta": "Hel', position=20)
    ).table
    | by_constructor(
        streaming.ChunkHandlerFailed('content_block_delta', cause=ValueError('no block 3'))
    ).table
    | by_constructor(streaming.StreamAborted('the window was closed')).table
    | by_constructor(streaming.UserInterrupted('Use the other file.')).table
    | by_constructor(streaming.StreamProviderFailed('openai', status=529, retry_after=2.0)).table
    | by_constructor(streaming.TokenCountFailed('no tokenizer for this model')).table
    | by_constructor(streaming.BufferFull(1024, retry_after=0.5)).table
    | by_constructor(streaming.StreamClosed('run-17')).table
    | by_constructor(streaming.SlowConsumer('run-17', behind=4096)).table
)

_NETWORK: RecipeTable[network.NetworkError] = (
    by_constructor(
        network.HostUnreachable('api.example.org', 'connection refused', cause=_REFUSED)
    ).table
    | by_constructor(
        network.NetworkTimedOut('api.example.org', 'POST /v1/chat', timeout=30.0)
    ).table
    | by_constructor(
        network.UpstreamRateLimited(
            'openai', retry_after=1.5, limit=60, requests_made=61, period=60.0
        )
    ).table
    | by_constructor(
        network.CredentialsRejected('openai', required_config=('OPENAI_API_KEY',))
    ).table
    | by_constructor(
        network.UpstreamFailed('openai', status=503, excerpt='upstream connect error')
    ).table
)

_MODELS: RecipeTable[models.ModelError] = (
    by_constructor(models.ModelNotFound('openai', 'gtp-5', ('gpt-5', 'gpt-5-mini'))).table
    | by_constructor(models.ProviderNotReady('vertex', cause=KeyError('project'))).table
    | by_constructor(models.ProviderUnavailable('openai', retry_after=30.0)).table
    | by_constructor(models.ModelOverloaded('anthropic', 'claude', retry_after=5.0)).table
    | by_constructor(models.NoModelAvailable(('gpt-5', 'claude'), retry_after=60.0)).table
    | by_constructor(models.InvalidModelRequest('openai', 'temperature must be 0 to 2')).table
    | by_constructor(models.ContextTooLong('openai', tokens=131_500, limit=128_000)).table
    | by_constructor(models.ContentFiltered('azure', 'violence')).table
    | by_constructor(models.OutputTruncated('openai', limit=4096)).table
    | by_constructor(models.StructuredOutputInvalid('openai', _NOT_A_NUMBER)).table
    | by_constructor(models.QuotaExceeded('openai', reset=1_772_323_200.0)).table
    | by_constructor(models.BudgetExceeded(limit=25.0, spent=25.4)).table
    | by_constructor(models.BatchClosed('batch-9')).table
    | by_constructor(models.BatchFull('batch-9', capacity=500, retry_after=10.0)).table
    | by_constructor(models.BatchTimedOut('batch-9', timeout=3600.0)).table
    | by_constructor(models.CacheMiss('sha256:9f86d081')).table
)

_AGENTS: RecipeTable[agents.AgentError] = (
    by_constructor(agents.AgentNotFound('reveiwer', _AGENT_NAMES, ('reviewer',))).table
    | by_constructor(agents.CommandNotFound('depoly', ('build', 'deploy'), ('deploy',))).table
    | by_constructor(agents.AgentNotReady('planner', 'starting', retry_after=1.0)).table
    | by_constructor(agents.AgentBusy('planner', retry_after=5.0)).table
    | by_constructor(
        agents.InvalidTransition(
            'planner', current='stopped', requested='paused', allowed=('starting',)
        )
    ).table
    | by_constructor(
        agents.GuardrailsViolated('support', (Problem('/reply', 'promises a refund'),))
    ).table
    | by_constructor(agents.ContextOverflow(tokens=131_500, limit=128_000)).table
    | by_constructor(agents.CompressionFailed('the last message alone is too long')).table
    | by_constructor(
        agents.AgentFailed(
            'reviewer-1',
            'reviewer',
            models.ModelOverloaded('acme', 'large-2', retry_after=2.0),
            (('task', 'review'),),
        )
    ).table
)

_MCP: RecipeTable[protocols.McpError] = (
    by_constructor(
        protocols.McpConnectionFailed('github', 'connection refused', cause=_REFUSED)
    ).table
    | by_constructor(protocols.McpTransportFailed('github', 'the pipe is closed')).table
    | by_constructor(protocols.McpServerFailed('github', code=-32603, text='Internal error')).table
    | by_constructor(protocols.McpTimedOut('github', 'tools/call', timeout=30.0)).table
)

_LSP: RecipeTable[protocols.LspError] = (
    by_constructor(
        protocols.LspNotInitialized(
            'pyright', cause=FileNotFoundError(2, 'No such file or directory', 'pyright-langserver')
        )
    ).table
    | by_constructor(protocols.LspRequestFailed('pyright', 'textDocument/rename')).table
    | by_constructor(protocols.LspContentModified('pyright', 'textDocument/completion')).table
)

_A2A: RecipeTable[protocols.A2aError] = (
    by_constructor(protocols.A2aTaskNotFound('task-17')).table
    | by_constructor(protocols.A2aTaskNotCancelable('task-17', 'completed')).table
    | by_constructor(protocols.A2aPushNotSupported('planner')).table
    | by_constructor(protocols.A2aUnsupportedOperation('tasks/resubscribe')).table
    | by_constructor(
        protocols.A2aContentTypeNotSupported('image/heic', ('text/plain', 'image/png'))
    ).table
    | by_constructor(protocols.A2aInvalidAgentResponse('planner', 'the result has no id')).table
    | by_constructor(protocols.A2aExtendedCardNotConfigured('planner')).table
    | by_constructor(protocols.A2aExtensionRequired('https://example.org/extensions/trace')).table
    | by_constructor(protocols.A2aVersionNotSupported('0.3', ('1.0',))).table
    | by_constructor(
        protocols.AgentCardInvalid(
            'https://example.org/.well-known/agent-card.json', (Problem('/url', 'is missing'),)
        )
    ).table
)

_SESSIONS: RecipeTable[sessions.SessionError] = (
    by_constructor(
        sessions.InvalidInput('a name has at most 8 characters', provided='bartholomew')
    ).table
    | by_constructor(sessions.SessionNotFound('s-17')).table
    | by_constructor(sessions.SessionBusy('s-17')).table
    | by_constructor(
        sessions.ConnectionLost(1006, 'abnormal closure', last_event_seq=42, uptime=310.5)
    ).table
    | by_constructor(sessions.ReplayGap(requested=12, first_available=300)).table
    | by_constructor(sessions.UnknownEpoch('e-1', current='e-2')).table
    | by_constructor(sessions.AckAhead(acknowledged=50, last=42)).table
    | by_constructor(
        sessions.RecoveryFailed(
            'charge',
            attempts=3,
            cause=network.NetworkTimedOut('bank.example.org', 'POST /charge', timeout=10.0),
        )
    ).table
)

_ACCESS: RecipeTable[access.AccessError] = (
    by_constructor(access.Unauthenticated('Bearer', 'the token has expired')).table
    | by_constructor(access.AccessDenied('delete', 'projects/7')).table
)

_STORAGE: RecipeTable[storage.StorageError] = (
    by_constructor(storage.RecordNotFound('run', 'r-17')).table
    | by_constructor(storage.RecordExists('run', 'r-17')).table
    | by_constructor(storage.StoreClosed('events.db')).table
    | by_constructor(
        storage.StoreUnavailable('events.db', 'database is locked', retry_after=0.2)
    ).table
)

_WORKSPACE: RecipeTable[workspace.WorkspaceError] = (
    by_constructor(
        workspace.ConfigUnreadable('seamwise.toml', line=3, column=8, problem='a value is missing')
    ).table
    | by_constructor(
        workspace.ConfigInvalid('seamwise.toml', (Problem('/server/port', 'must be 1 to 65535'),))
    ).table
    | by_constructor(
        workspace.SkillInvalid('skills/review/SKILL.md', (Problem('/description', 'is missing'),))
    ).table
    | by_constructor(
        workspace.SkillNameMismatch('skills/review/SKILL.md', expected='review', actual='reviewer')
    ).table
    | by_constructor(
        workspace.PluginFailed('spell', cause=ModuleNotFoundError("No module named 'enchant'"))
    ).table
    | by_constructor(
        workspace.EditorInstallFailed(
            'VS Code', cause=PermissionError(13, 'Permission denied', '/usr/bin/code')
        )
    ).table
    | by_constructor(workspace.NotARepository('notes')).table
    | by_constructor(workspace.WorktreeExists('fix-17')).table
    | by_constructor(
        workspace.WorktreeFailed('fix-17', output="fatal: invalid reference: 'mian'\n")
    ).table
)

_GUARDS: RecipeTable[policies.GuardError] = (
    by_constructor(policies.RateLimited('search', limit=10, period=60.0, retry_after=12.5)).table
    | by_constructor(
        policies.CircuitOpen('payments', failures=5, retry_after=30.0, state='open')
    ).table
    | by_constructor(
        policies.BulkheadFull('render', scope='tool', namespace='default', limit=4, waited=2.0)
    ).table
    | by_constructor(policies.DeadlineExceeded('checkout', timeout=5.0)).table
)

_ALL = (
    _TOOLS
    | _PARSING
    | _STREAMING
    | _NETWORK
    | _MODELS
    | _AGENTS
    | _MCP
    | _LSP
    | _A2A
    | _SESSIONS
    | _ACCESS
    | _STORAGE
    | _WORKSPACE
    | _GUARDS
)
# A separate step, because mypy would otherwise take the annotation for the type of the last table.
RECIPES: RecipeTable[CatalogError] = _ALL
"""The recipe for each error of the catalogue. A class or a union without one is a type error."""
