"""Errors of peers that use JSON-RPC: MCP, LSP and A2A."""

from typing import TypeAlias

from typing_extensions import override

from seamwise._errors.categories import Category, Recovery
from seamwise._errors.causes import Cause
from seamwise._errors.errors import TaggedError
from seamwise._errors.internal import Internal
from seamwise.catalog.problem import Problem

_INTERNAL_ERROR = -32603
_PARSE_ERROR = -32700
_SERVER_ERRORS = range(-32099, -32000 + 1)
"""The codes that JSON-RPC leaves to servers."""


class McpConnectionFailed(
    TaggedError,
    category=Category.CONNECTION,
    recovery=Recovery.RETRY,
    message='The MCP server {server!r} cannot be reached.',
):
    """The connection to the server could not be opened. The caller retries."""

    server: str
    reason: Internal[str] | None = None
    cause: Cause | None = None


class McpTransportFailed(
    TaggedError,
    category=Category.CONNECTION,
    recovery=Recovery.RETRY,
    message='The connection to the MCP server {server!r} broke: {reason}.',
    public='The connection to the MCP server {server!r} broke.',
):
    """An open connection to the server broke. The caller retries, after `retry_after` seconds."""

    server: str
    reason: Internal[str]
    retry_after: float | None = None
    cause: Cause | None = None


class McpServerFailed(
    TaggedError,
    category=Category.EXECUTION,
    message='The MCP server {server!r} answered with error {code}: {text}',
):
    """The server responded with a JSON-RPC error.

    The caller retries only after an internal error of the server.
    """

    server: str
    code: int
    text: str
    cause: Cause | None = None

    @property
    @override
    def retryable(self) -> bool:
        """Whether the server reports an internal error (-32603)."""
        return self.code == _INTERNAL_ERROR

    @property
    def is_fault_of_server(self) -> bool:
        """Whether the code blames no call: -32603, -32700 or one of -32000 to -32099.

        -32700 stands for an answer that cannot be read, since this client sends valid JSON.
        """
        return self.code in {_INTERNAL_ERROR, _PARSE_ERROR} or self.code in _SERVER_ERRORS

    @property
    @override
    def recovery(self) -> Recovery:
        """Retry after an internal error of the server, else ask."""
        return Recovery.RETRY if self.retryable else Recovery.ASK


class McpTimedOut(
    TaggedError,
    category=Category.TIMEOUT,
    message='The MCP server {server!r} did not finish {operation} within {timeout:g} s.',
):
    """The server did not respond within `timeout` seconds. The caller retries."""

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
    """The server did not start, or received a request too early.

    The operator corrects its configuration.
    """

    server: str
    cause: Cause | None = None


class LspRequestFailed(
    TaggedError,
    category=Category.EXECUTION,
    message='The language server {server!r} failed at {method!r}.',
):
    """The request was valid, but the server could not execute it.

    A person reads the cause and decides.
    """

    server: str
    method: str
    cause: Cause | None = None


class LspContentModified(
    TaggedError,
    category=Category.CONFLICT,
    message='The document changed while {server!r} was processing {method!r}.',
):
    """The document changed, so the answer would be outdated.

    The caller repeats the request for the new text.
    """

    server: str
    method: str


LspError: TypeAlias = LspNotInitialized | LspRequestFailed | LspContentModified


class A2aTaskNotFound(
    TaggedError, category=Category.NOT_FOUND, message='There is no task {task!r}.'
):
    """The agent has no task with this id, or has deleted it. The caller checks the id."""

    task: str


class A2aTaskNotCancelable(
    TaggedError,
    category=Category.CONFLICT,
    message='The task {task!r} cannot be cancelled ({state}).',
):
    """The task has already finished. The caller uses its result."""

    task: str
    state: str


class A2aPushNotSupported(
    TaggedError,
    category=Category.VALIDATION,
    message='The agent {agent!r} does not support push notifications.',
):
    """The caller requested push notifications from an agent without them.

    It polls or reads the stream.
    """

    agent: str


class A2aUnsupportedOperation(
    TaggedError, category=Category.VALIDATION, message='The agent does not support {operation!r}.'
):
    """The agent does not offer this operation. The caller reads the agent's card."""

    operation: str


class A2aContentTypeNotSupported(
    TaggedError,
    category=Category.VALIDATION,
    message='The agent does not support the content type {content_type!r}.',
):
    """The message has a content type that the agent cannot read.

    The caller sends one of `supported`.
    """

    content_type: str
    supported: tuple[str, ...] = ()


class A2aInvalidAgentResponse(
    TaggedError,
    category=Category.EXECUTION,
    message='The response of the agent {agent!r} violates the protocol: {reason}.',
    public='The response of the agent {agent!r} violates the protocol.',
):
    """The response of another agent is invalid. A person reads it and decides."""

    agent: str
    reason: Internal[str]
    cause: Cause | None = None


class A2aExtendedCardNotConfigured(
    TaggedError,
    category=Category.CONFIGURATION,
    message='The agent {agent!r} has no extended card.',
):
    """The card announces an extended card, but none is configured.

    The operator of the agent adds it.
    """

    agent: str


class A2aExtensionRequired(
    TaggedError,
    category=Category.VALIDATION,
    message='The agent requires the extension {extension!r}.',
):
    """The caller did not declare an extension that the agent requires.

    It declares the extension or uses another agent.
    """

    extension: str


class A2aVersionNotSupported(
    TaggedError,
    category=Category.VALIDATION,
    message='The agent does not support version {version!r} of A2A.',
):
    """The caller uses another version of the protocol. It chooses one of `supported`."""

    version: str
    supported: tuple[str, ...] = ()


class AgentCardInvalid(
    TaggedError,
    category=Category.CONFIGURATION,
    message='The card of the agent at {url!r} is not valid.',
    public='The card of the agent is not valid.',
):
    """The card of an agent violates its schema. The operator of that agent corrects it."""

    url: Internal[str]
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
