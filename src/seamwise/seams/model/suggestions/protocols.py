"""What a model can do next where a peer that speaks MCP, LSP or A2A fails."""

from seamwise.catalog.protocols import (
    A2aContentTypeNotSupported,
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
from seamwise.seams.model.suggestions._words import again, one_of, places, why

EXTENDED_CARD_NOT_CONFIGURED = "Read the agent's public card instead; it says less, but it is there."


def mcp_connection_failed(error: McpConnectionFailed) -> str:
    """Tell that all tools of the server are away, and why."""
    reason = f' ({error.reason})' if error.reason else why(error)
    return f'Its tools cannot be used for now{reason}. Try once more; if it fails again, take tools of another server or tell the user.'


def mcp_transport_failed(error: McpTransportFailed) -> str:
    """Tell that nobody knows whether the call was done."""
    return f'Find out whether your last call was done before you repeat it: {error.server!r} may have received it. Then try once more.'


def mcp_server_failed(error: McpServerFailed) -> str:
    """Tell whose fault it is."""
    if error.retryable:
        return f'The fault is inside of {error.server!r}, not in your call. Try once more, then take another way.'
    return 'Mend your call by what the server says; the same call is refused every time.'


def mcp_timed_out(error: McpTimedOut) -> str:
    """Tell when to come back, and what would be quicker."""
    return f'{again(error)}, asking {error.server!r} for less at once; find out first whether {error.operation} was done after all.'


def lsp_not_initialized(error: LspNotInitialized) -> str:
    """Tell what can be done without it."""
    return f'Search and read the files themselves instead{why(error)}, and tell the user that {error.server!r} does not start.'


def lsp_request_failed(error: LspRequestFailed) -> str:
    """Tell what can be done without it."""
    return f'Check the file and the position that you asked about{why(error)}, or search and read the files themselves.'


def lsp_content_modified(error: LspContentModified) -> str:
    """Tell that the positions are old."""
    return f'Positions from before no longer hold: read the document again, then ask for {error.method} with the new ones.'


def task_not_found(_: A2aTaskNotFound) -> str:
    """Tell to check the id."""
    return 'Check the id against the one that the agent gave you; if the agent no longer keeps the task, send the work as a new one.'


def task_not_cancelable(error: A2aTaskNotCancelable) -> str:
    """Tell to take what there is."""
    return f'The task is {error.state} and stays so. Read its outcome instead.'


def push_not_supported(_: A2aPushNotSupported) -> str:
    """Tell the other ways to hear of it."""
    return 'Ask for the state of the task from time to time, or read its stream.'


def unsupported_operation(_: A2aUnsupportedOperation) -> str:
    """Tell where the operations stand."""
    return "Read the agent's card and ask for something that it lists, or ask another agent."


def content_type_not_supported(error: A2aContentTypeNotSupported) -> str:
    """Name the kinds that it takes."""
    return one_of(error.supported, "Send it as plain text, or as a kind that the agent's card lists.")


def invalid_agent_response(error: A2aInvalidAgentResponse) -> str:
    """Tell whose fault it is."""
    return f'The fault lies with {error.agent!r}, not with your request. Ask another agent, or tell the user.'


def extension_required(error: A2aExtensionRequired) -> str:
    """Tell who could have it."""
    return f'Ask an agent that does without {error.extension!r}, or tell the user that it is needed here.'


def version_not_supported(error: A2aVersionNotSupported) -> str:
    """Name the versions that it speaks."""
    return one_of(error.supported, 'Ask another agent, or tell the user that the two do not speak the same version.')


def agent_card_invalid(error: AgentCardInvalid) -> str:
    """Name what is wrong with it, and who can help."""
    return f'Ask another agent: this one cannot be used until its owner mends {places(error.problems, "its card")}.'
