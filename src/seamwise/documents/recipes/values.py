"""An error of each class that no call of the tool host gives, by its constructor."""

from seamwise.catalog.access import AccessDenied, Unauthenticated
from seamwise.catalog.agents import (
    AgentBusy,
    AgentNotFound,
    AgentNotReady,
    CommandNotFound,
    CompressionFailed,
    ContextOverflow,
    GuardrailsViolated,
    InvalidTransition,
)
from seamwise.catalog.models import (
    BatchClosed,
    BatchFull,
    BatchTimedOut,
    BudgetExceeded,
    CacheMiss,
    ContentFiltered,
    ContextTooLong,
    InvalidModelRequest,
    ModelNotFound,
    ModelOverloaded,
    NoModelAvailable,
    OutputTruncated,
    ProviderNotReady,
    ProviderUnavailable,
    QuotaExceeded,
    StructuredOutputInvalid,
)
from seamwise.catalog.network import (
    CredentialsRejected,
    HostUnreachable,
    NetworkTimedOut,
    UpstreamFailed,
    UpstreamRateLimited,
)
from seamwise.catalog.parsing import UnknownFormat
from seamwise.catalog.problem import Problem
from seamwise.catalog.protocols import (
    A2aContentTypeNotSupported,
    A2aExtendedCardNotConfigured,
    A2aExtensionRequired,
    A2aInvalidAgentResponse,
    A2aPushNotSupported,
    A2aTaskNotCancelable,
    A2aTaskNotFound,
    A2aUnsupportedOperation,
    A2aVersionNotSupported,
    AgentCardInvalid,
    LspContentModified,
    LspNotInitialized,
    LspRequestFailed,
    McpConnectionFailed,
    McpServerFailed,
    McpTimedOut,
    McpTransportFailed,
)
from seamwise.catalog.sessions import (
    AckAhead,
    ConnectionLost,
    InvalidInput,
    RecoveryFailed,
    ReplayGap,
    SessionBusy,
    SessionNotFound,
    UnknownEpoch,
)
from seamwise.catalog.storage import RecordExists, RecordNotFound, StoreClosed, StoreUnavailable
from seamwise.catalog.streaming import (
    BufferFull,
    ChunkHandlerFailed,
    ChunkUnparsable,
    InvalidStream,
    SlowConsumer,
    StreamAborted,
    StreamClosed,
    StreamProviderFailed,
    TokenCountFailed,
    UserInterrupted,
)
from seamwise.catalog.tools import InvalidResult, RegistrationRejected, ToolCancelled
from seamwise.catalog.workspace import (
    ConfigInvalid,
    ConfigUnreadable,
    EditorInstallFailed,
    NotARepository,
    PluginFailed,
    SkillInvalid,
    SkillNameMismatch,
    WorktreeExists,
    WorktreeFailed,
)
from seamwise.errors import TaggedError
from seamwise.policies import BulkheadFull, CircuitOpen, DeadlineExceeded, RateLimited
from seamwise.secrets import Secret

_REFUSED = ConnectionRefusedError(111, 'Connection refused')
_AGENTS = ('planner', 'reviewer', 'tester')
_NOT_A_NUMBER = (Problem('/items/0/price', 'must be a number'),)

VALUES: tuple[TaggedError, ...] = (
    # tools, parsing
    ToolCancelled('execute_command', by='ann'),
    InvalidResult('weather', ('/temperature: must be a number',)),
    RegistrationRejected(
        'Read File', 'a name has lower-case letters, digits and "_", and begins with a letter'
    ),
    UnknownFormat('I would call read_file with a.txt now.'),
    # streaming
    InvalidStream('the content type is text/html'),
    ChunkUnparsable('a quote is missing', excerpt='data: {"delta": "Hel', position=20),
    ChunkHandlerFailed('content_block_delta', cause=ValueError('no block 3')),
    StreamAborted('the window was closed'),
    UserInterrupted('Use the other file.'),
    StreamProviderFailed('openai', status=529, retry_after=2.0),
    TokenCountFailed('no tokenizer for this model'),
    BufferFull(1024, retry_after=0.5),
    StreamClosed('run-17'),
    SlowConsumer('run-17', behind=4096),
    # network
    HostUnreachable('api.example.org', 'connection refused', cause=_REFUSED),
    NetworkTimedOut('api.example.org', 'POST /v1/chat', timeout=30.0),
    UpstreamRateLimited('openai', retry_after=1.5, limit=60, requests_made=61),
    CredentialsRejected('openai', required_config='OPENAI_API_KEY'),
    UpstreamFailed('openai', status=503, excerpt='upstream connect error'),
    # models
    ModelNotFound('openai', 'gtp-5', ('gpt-5', 'gpt-5-mini')),
    ProviderNotReady('vertex', cause=KeyError('project')),
    ProviderUnavailable('openai', retry_after=30.0),
    ModelOverloaded('anthropic', 'claude', retry_after=5.0),
    NoModelAvailable(('gpt-5', 'claude'), retry_after=60.0),
    InvalidModelRequest('openai', 'temperature must be 0 to 2'),
    ContextTooLong('openai', tokens=131_500, limit=128_000),
    ContentFiltered('azure', 'violence'),
    OutputTruncated('openai', limit=4096),
    StructuredOutputInvalid('openai', _NOT_A_NUMBER),
    QuotaExceeded('openai', reset=1_772_323_200.0),
    BudgetExceeded(limit=25.0, spent=25.4),
    BatchClosed('batch-9'),
    BatchFull('batch-9', capacity=500, retry_after=10.0),
    BatchTimedOut('batch-9', timeout=3600.0),
    CacheMiss('sha256:9f86d081'),
    # agents
    AgentNotFound('reveiwer', _AGENTS, ('reviewer',)),
    CommandNotFound('depoly', ('build', 'deploy'), ('deploy',)),
    AgentNotReady('planner', 'starting', retry_after=1.0),
    AgentBusy('planner', retry_after=5.0),
    InvalidTransition('planner', current='stopped', requested='paused', allowed=('starting',)),
    GuardrailsViolated('support', (Problem('/reply', 'promises a refund'),)),
    ContextOverflow(tokens=131_500, limit=128_000),
    CompressionFailed('the last message alone is too long'),
    # protocols
    McpConnectionFailed('github', 'connection refused', cause=_REFUSED),
    McpTransportFailed('github', 'the pipe is closed'),
    McpServerFailed('github', code=-32603, text='Internal error'),
    McpTimedOut('github', 'tools/call', timeout=30.0),
    LspNotInitialized(
        'pyright', cause=FileNotFoundError(2, 'No such file or directory', 'pyright-langserver')
    ),
    LspRequestFailed('pyright', 'textDocument/rename'),
    LspContentModified('pyright', 'textDocument/completion'),
    A2aTaskNotFound('task-17'),
    A2aTaskNotCancelable('task-17', 'completed'),
    A2aPushNotSupported('planner'),
    A2aUnsupportedOperation('tasks/resubscribe'),
    A2aContentTypeNotSupported('image/heic', ('text/plain', 'image/png')),
    A2aInvalidAgentResponse('planner', 'the result has no id'),
    A2aExtendedCardNotConfigured('planner'),
    A2aExtensionRequired('https://example.org/extensions/trace'),
    A2aVersionNotSupported('0.3', ('1.0',)),
    AgentCardInvalid(
        'https://example.org/.well-known/agent-card.json', (Problem('/url', 'is missing'),)
    ),
    # sessions
    InvalidInput('a message has at most 10,000 characters', provided=Secret('all of the message')),
    SessionNotFound('s-17'),
    SessionBusy('s-17'),
    ConnectionLost(1006, 'abnormal closure', last_event_seq=42, uptime=310.5),
    ReplayGap(requested=12, first_available=300),
    UnknownEpoch('e-1', current='e-2'),
    AckAhead(acknowledged=50, last=42),
    RecoveryFailed(
        'charge',
        attempts=3,
        cause=NetworkTimedOut('bank.example.org', 'POST /charge', timeout=10.0),
    ),
    # access, storage
    Unauthenticated('Bearer', 'the token has expired'),
    AccessDenied('delete', 'projects/7'),
    RecordNotFound('run', 'r-17'),
    RecordExists('run', 'r-17'),
    StoreClosed('events.db'),
    StoreUnavailable('events.db', 'database is locked', retry_after=0.2),
    # workspace
    ConfigUnreadable('seamwise.toml', line=3, column=8, problem='a value is missing'),
    ConfigInvalid('seamwise.toml', (Problem('/server/port', 'must be 1 to 65535'),)),
    SkillInvalid('skills/review/SKILL.md', (Problem('/description', 'is missing'),)),
    SkillNameMismatch('skills/review/SKILL.md', expected='review', actual='reviewer'),
    PluginFailed('spell', cause=ModuleNotFoundError("No module named 'enchant'")),
    EditorInstallFailed('VS Code', cause=PermissionError(13, 'Permission denied', '/usr/bin/code')),
    NotARepository('notes'),
    WorktreeExists('fix-17'),
    WorktreeFailed('fix-17', output="fatal: invalid reference: 'mian'\n"),
    # guards
    RateLimited('search', limit=10, period=60.0, retry_after=12.5),
    CircuitOpen('payments', failures=5, retry_after=30.0, state='open'),
    BulkheadFull('render', scope='tool', namespace='default', limit=4, waited=2.0),
    DeadlineExceeded('checkout', timeout=5.0),
)
