"""Error codes of session events: one per error class, each with an explanation."""

from collections.abc import Mapping
from re import fullmatch
from types import MappingProxyType

CODES: Mapping[str, str] = MappingProxyType(
    {
        'ERR_VAL_001': 'The input of the user violates a constraint.',
        'ERR_VAL_002': 'A tool was called without a required parameter.',
        'ERR_VAL_003': 'A tool was called with an unknown parameter or an invalid value.',
        'ERR_VAL_004': (
            'A tool returned a result that violates its own schema; its owner must fix the tool.'
        ),
        'ERR_VAL_005': 'The client acknowledged an event that was never sent.',
        'ERR_TIMEOUT_001': 'A tool was stopped because it exceeded its time limit.',
        'ERR_TIMEOUT_002': (
            'A command and its child processes were killed because it exceeded its time limit.'
        ),
        'ERR_TIMEOUT_003': 'A network service did not answer in time.',
        'ERR_TIMEOUT_004': 'An MCP server did not answer in time.',
        'ERR_TIMEOUT_005': 'A batch of model requests did not finish in time.',
        'ERR_TIMEOUT_006': 'An operation was stopped at its deadline.',
        'ERR_RATE_001': 'An upstream service refuses further requests for now.',
        'ERR_RATE_002': 'Calls arrived faster than the rate limit of this program allows.',
        'ERR_AUTH_001': (
            'A service rejects the credentials of this program; its operator must set them.'
        ),
        'ERR_AUTH_002': 'The caller is not authenticated.',
        'ERR_ACCESS_001': 'The caller is authenticated but not authorized.',
        'ERR_CONN_001': 'The connection of the session was lost.',
        'ERR_CONN_002': 'A host is unreachable.',
        'ERR_CONN_003': 'An MCP server is unreachable.',
        'ERR_CONN_004': 'The connection to an MCP server broke.',
        'ERR_UPSTREAM_001': 'An upstream service failed.',
        'ERR_TOOL_001': 'No tool with this name is registered.',
        'ERR_TOOL_002': 'A tool failed; the cause says why.',
        'ERR_TOOL_003': 'A person cancelled this call.',
        'ERR_TOOL_004': 'A tool cannot be registered because its description is invalid.',
        'ERR_FILE_001': 'No file or folder has this path.',
        'ERR_FILE_002': 'A new file cannot be created because the path exists already.',
        'ERR_FILE_003': 'The workspace does not allow this path.',
        'ERR_CONTENT_001': 'The text to replace is not in the file.',
        'ERR_CONTENT_002': 'The actual text of this line differs from the expected one.',
        'ERR_CONTENT_003': 'The text to replace occurs more than once in the file.',
        'ERR_CONTENT_004': 'A diff does not fit its file, so nothing was written.',
        'ERR_COMMAND_001': 'A command ended with an exit code other than 0.',
        'ERR_STATE_001': 'The same call was repeated too often and was refused.',
        'ERR_STATE_002': 'Too many mistakes were made in a row.',
        'ERR_RESOURCE_001': 'The machine is out of memory, disk space, threads or handles.',
        'ERR_PARSE_001': 'The text of a call cannot be parsed.',
        'ERR_PARSE_002': 'The text contains no call in a known format.',
        'ERR_PARSE_003': 'The text was parsed, but does not have the structure of a call.',
        'ERR_STREAM_001': 'The received data is not a stream of the expected kind.',
        'ERR_STREAM_002': 'A chunk of a stream cannot be parsed.',
        'ERR_STREAM_003': 'The handler for the chunks of a stream failed.',
        'ERR_STREAM_004': 'A stream was stopped intentionally.',
        'ERR_STREAM_005': 'The user interrupted the answer.',
        'ERR_STREAM_006': 'The provider of a stream aborted it.',
        'ERR_STREAM_007': 'Tokens cannot be counted.',
        'ERR_STREAM_008': 'A buffer of events is full.',
        'ERR_STREAM_009': 'Data was written to a closed stream.',
        'ERR_STREAM_010': 'A reader was disconnected because it reads events too slowly.',
        'ERR_MODEL_001': 'The provider has no model with this name.',
        'ERR_MODEL_002': (
            'A provider could not be initialized; the operator must fix its configuration.'
        ),
        'ERR_MODEL_003': 'A model provider does not answer.',
        'ERR_MODEL_004': 'A model is overloaded.',
        'ERR_MODEL_005': 'No suitable model is available.',
        'ERR_MODEL_006': 'The provider rejected a request to its model as invalid.',
        'ERR_MODEL_007': 'The prompt exceeds the context window of the model.',
        'ERR_MODEL_008': 'The policy of the provider forbids the prompt or the answer.',
        'ERR_MODEL_009': 'The answer of a model was truncated at its limit.',
        'ERR_MODEL_010': 'The answer of a model does not match the requested schema.',
        'ERR_QUOTA_001': 'The quota of the account at a provider is used up.',
        'ERR_QUOTA_002': 'The budget of this program is used up.',
        'ERR_BATCH_001': 'A batch accepts no further requests because it is closed.',
        'ERR_BATCH_002': 'A batch is full; it accepts no further requests until it has been sent.',
        'ERR_AGENT_001': 'No agent with this name is registered.',
        'ERR_AGENT_002': 'No command with this name is registered.',
        'ERR_AGENT_003': 'An agent is starting or stopping.',
        'ERR_AGENT_004': 'An agent is busy with another task.',
        'ERR_AGENT_005': 'The state of an agent does not allow the requested transition.',
        'ERR_AGENT_006': 'The guardrails of an agent forbid this action or answer.',
        'ERR_AGENT_007': 'The conversation exceeds the context window.',
        'ERR_AGENT_008': 'The conversation could not be compressed.',
        'ERR_AGENT_009': 'An error reached the boundary of an agent; the cause says which one.',
        'ERR_MCP_001': 'An MCP server returned an error.',
        'ERR_LSP_001': 'A language server is not initialized.',
        'ERR_LSP_002': 'A language server could not perform a request.',
        'ERR_LSP_003': 'A document changed while a language server processed it.',
        'ERR_PEER_001': 'An A2A agent has no such task.',
        'ERR_PEER_002': 'An A2A task is already finished and cannot be cancelled.',
        'ERR_PEER_003': 'An A2A agent does not support push notifications.',
        'ERR_PEER_004': 'An A2A agent does not support the operation.',
        'ERR_PEER_005': 'An A2A agent does not support this content type.',
        'ERR_PEER_006': 'An agent returned a response that violates A2A.',
        'ERR_PEER_007': 'An A2A agent announces an extended card that is not configured.',
        'ERR_PEER_008': 'An A2A agent requires an extension.',
        'ERR_PEER_009': 'An agent does not support this version of A2A.',
        'ERR_PEER_010': 'The card of an agent is invalid.',
        'ERR_SESSION_001': 'There is no such session.',
        'ERR_SESSION_002': 'The session is busy with another request.',
        'ERR_SESSION_003': (
            'Missed events are no longer stored; the client must read the whole state again.'
        ),
        'ERR_SESSION_004': 'The sequence numbers of the client belong to a deleted event log.',
        'ERR_RECOVERY_001': (
            'The last attempt of an operation failed; no further attempts are made.'
        ),
        'ERR_STORE_001': 'No record is stored under this key.',
        'ERR_STORE_002': 'A record is already stored under the key of a new one.',
        'ERR_STORE_003': 'A store is closed.',
        'ERR_STORE_004': 'A store does not answer.',
        'ERR_CONFIG_001': 'A configuration file cannot be parsed.',
        'ERR_CONFIG_002': 'A configuration file has missing or invalid values.',
        'ERR_SKILL_001': 'The file of a skill has missing or invalid values.',
        'ERR_SKILL_002': 'The name of a skill differs from the name of its folder.',
        'ERR_PLUGIN_001': 'A plugin could not be loaded.',
        'ERR_REPO_001': (
            'An operation requires version control, but the folder is not in a repository.'
        ),
        'ERR_REPO_002': 'A worktree with this name exists already.',
        'ERR_REPO_003': 'A worktree could not be created.',
        'ERR_CIRCUIT_001': 'An operation failed too often and is not called for some time.',
        'ERR_BULKHEAD_001': 'The maximum number of concurrent calls is in flight.',
        'ERR_INTERNAL_001': (
            'The server met a defect of its own; its log contains the details under the reference.'
        ),
    }
)
"""All codes that this library publishes, with their explanations."""


def check_code(code: str) -> str:
    """Return a code unchanged if it is `ERR_`, a word in capitals, `_` and three digits.

    Raises:
        ValueError: The code has another form.
    """
    if not fullmatch(r'ERR_[A-Z]+_[0-9]{3}', code):
        raise ValueError(f'{code!r} is not a session code; codes have the form ERR_VAL_001.')
    return code
