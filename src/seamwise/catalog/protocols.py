"""What can go wrong with a peer that speaks a protocol on JSON-RPC: MCP, LSP or A2A."""

from typing import TypeAlias

from typing_extensions import override

from seamwise.catalog.problem import Problem
from seamwise.categories import Category, Recovery
from seamwise.causes import Cause
from seamwise.errors import TaggedError

_INTERNAL_ERROR = -32603


class McpConnectionFailed(
    TaggedError,
    category=Category.CONNECTION,
    message='The MCP server {server!r} cannot be reached.',
):
    """No connection to the server came about. The caller connects again."""

    server: str
    reason: str | None = None
    cause: Cause | None = None


class McpTransportFailed(
    TaggedError,
    category=Category.CONNECTION,
    message='The connection to the MCP server {server!r} broke: {reason}.',
):
    """The connection stood, and then failed. The caller connects again."""

    server: str
    reason: str
    cause: Cause | None = None


class McpServerFailed(
    TaggedError,
    category=Category.EXECUTION,
    message='The MCP server {server!r} answered with error {code}: {text}',
):
    """The server answered with an error of JSON-RPC. Only an internal error of the server is worth another try."""

    server: str
    code: int
    text: str
    cause: Cause | None = None

    @property
    @override
    def retryable(self) -> bool:
        """Whether the server says that the fault is its own (-32603)."""
        return self.code == _INTERNAL_ERROR

    @property
    @override
    def recovery(self) -> Recovery:
        """Retry where the fault is the server's own, else ask."""
        return Recovery.RETRY if self.retryable else Recovery.ASK


class McpTimedOut(
    TaggedError,
    category=Category.TIMEOUT,
    message='The MCP server {server!r} did not finish {operation} within {timeout:g} s.',
):
    """The server did not answer in time; `timeout` is in seconds. The caller tries again."""

    server: str
    operation: str
    timeout: float
    retry_after: float | None = None
    cause: Cause | None = None


McpError: TypeAlias = McpConnectionFailed | McpTransportFailed | McpServerFailed | McpTimedOut


class LspNotInitialized(
    TaggedError,
    tag='LSPInitializeError',
    category=Category.CONFIGURATION,
    message='The language server {server!r} is not initialized.',
):
    """The server could not be started, or was asked before it was ready. Whoever runs the program mends its configuration."""

    server: str
    cause: Cause | None = None


class LspRequestFailed(
    TaggedError,
    category=Category.EXECUTION,
    message='The language server {server!r} failed at {method!r}.',
):
    """The request was right, but the server could not do it. Somebody reads the cause and decides."""

    server: str
    method: str
    cause: Cause | None = None


class LspContentModified(
    TaggedError,
    category=Category.CONFLICT,
    message='The document changed while {server!r} worked on {method!r}.',
):
    """The answer would be about a text that is no more. The caller asks again about the new one."""

    server: str
    method: str


LspError: TypeAlias = LspNotInitialized | LspRequestFailed | LspContentModified


class A2aTaskNotFound(
    TaggedError, category=Category.NOT_FOUND, message='There is no task {task!r}.'
):
    """The agent knows no task of this id, or keeps it no longer. The caller checks the id."""

    task: str


class A2aTaskNotCancelable(
    TaggedError,
    category=Category.CONFLICT,
    message='The task {task!r} cannot be cancelled ({state}).',
):
    """The task has ended already. The caller takes its outcome."""

    task: str
    state: str


class A2aPushNotSupported(
    TaggedError,
    category=Category.VALIDATION,
    message='The agent {agent!r} sends no push notifications.',
):
    """The caller asked to be notified by an agent that cannot. It polls, or reads the stream."""

    agent: str


class A2aUnsupportedOperation(
    TaggedError, category=Category.VALIDATION, message='The agent does not support {operation!r}.'
):
    """The operation is none of this agent's. The caller reads the agent's card."""

    operation: str


class A2aContentTypeNotSupported(
    TaggedError, category=Category.VALIDATION, message='The agent does not take {content_type!r}.'
):
    """The message holds a kind of content that the agent cannot read. The caller sends one of `supported`."""

    content_type: str
    supported: tuple[str, ...] = ()


class A2aInvalidAgentResponse(
    TaggedError,
    category=Category.EXECUTION,
    message='The agent {agent!r} gave an answer that breaks the protocol: {reason}.',
):
    """Another agent's answer cannot be read. Somebody reads it and decides."""

    agent: str
    reason: str
    cause: Cause | None = None


class A2aExtendedCardNotConfigured(
    TaggedError,
    category=Category.CONFIGURATION,
    message='The agent {agent!r} has no extended card.',
):
    """The card announces an extended one that nobody has set up. Whoever runs the agent does so."""

    agent: str


class A2aExtensionRequired(
    TaggedError,
    category=Category.VALIDATION,
    message='The agent needs the extension {extension!r}.',
):
    """The caller does not say that it supports what the agent requires. It declares the extension, or asks another agent."""

    extension: str


class A2aVersionNotSupported(
    TaggedError,
    category=Category.VALIDATION,
    message='The agent does not speak version {version!r} of A2A.',
):
    """The caller speaks another version. It takes one of `supported`."""

    version: str
    supported: tuple[str, ...] = ()


class AgentCardInvalid(
    TaggedError,
    category=Category.CONFIGURATION,
    message='The card of the agent at {url!r} is not valid.',
):
    """What an agent says of itself does not have the right shape. Whoever runs that agent mends it."""

    url: str
    problems: tuple[Problem, ...]


A2aError: TypeAlias = (
    A2aTaskNotFound
    | A2aTaskNotCancelable
    | A2aPushNotSupported
    | A2aUnsupportedOperation
    | A2aContentTypeNotSupported
    | A2aInvalidAgentResponse
    | A2aExtendedCardNotConfigured
    | A2aExtensionRequired
    | A2aVersionNotSupported
    | AgentCardInvalid
)
