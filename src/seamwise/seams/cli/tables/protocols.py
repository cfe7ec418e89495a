"""How the failure of a peer that speaks MCP, LSP or A2A looks at a terminal."""

from collections.abc import Iterator

from seamwise.catalog.protocols import (
    A2aContentTypeNotSupported,
    A2aError,
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
    LspError,
    LspNotInitialized,
    LspRequestFailed,
    McpConnectionFailed,
    McpError,
    McpServerFailed,
    McpTimedOut,
    McpTransportFailed,
)
from seamwise.seams._phrases import quoted
from seamwise.seams.adapter import Adapter
from seamwise.seams.cli import hints
from seamwise.seams.cli.on import on
from seamwise.seams.cli.shape import Rendered


def _why(error: McpConnectionFailed) -> Iterator[str]:
    if error.reason is not None:
        yield f'{error.reason}.'
    yield 'see whether the server runs, and is set up as it must be.'


def _own_fault(error: McpServerFailed) -> str | None:
    return 'the server says that the fault is its own; try again.' if error.retryable else None


def _supported(error: A2aContentTypeNotSupported | A2aVersionNotSupported) -> str | None:
    return f'it takes {quoted(error.supported)}.' if error.supported else None


def _card(error: AgentCardInvalid) -> Iterator[str]:
    return hints.places(error.problems, whole='the card')


MCP: Adapter[McpError, Rendered] = (
    on(McpConnectionFailed).exits(69, hint=_why)
    | on(McpTransportFailed).exits(69, hint='connect again.')
    | on(McpServerFailed).exits(1, hint=_own_fault)
    | on(McpTimedOut).exits(124, hint=hints.later)
)

LSP: Adapter[LspError, Rendered] = (
    on(LspNotInitialized).exits(78, hint='see whether the server is installed, and how it is started.')
    | on(LspRequestFailed).exits(1)
    | on(LspContentModified).exits(1, hint='ask again, about the text as it is now.')
)

A2A: Adapter[A2aError, Rendered] = (
    on(A2aTaskNotFound).exits(66, hint='check the id; an old task may be forgotten.')
    | on(A2aTaskNotCancelable).exits(1, hint='take its outcome.')
    | on(A2aPushNotSupported).exits(65, hint='poll, or read the stream.')
    | on(A2aUnsupportedOperation).exits(65, hint="read the agent's card.")
    | on(A2aContentTypeNotSupported).exits(65, hint=_supported)
    | on(A2aInvalidAgentResponse).exits(65)
    | on(A2aExtendedCardNotConfigured).exits(78, hint='whoever runs the agent has to set it up.')
    | on(A2aExtensionRequired).exits(65, hint='declare the extension, or ask another agent.')
    | on(A2aVersionNotSupported).exits(65, hint=_supported)
    | on(AgentCardInvalid).exits(78, hint=_card)
)
