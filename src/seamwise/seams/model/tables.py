"""Guidance for language models about all catalogue errors: one table per union."""

from __future__ import annotations

from collections.abc import Iterable
from typing import assert_never

from seamwise._errors.errors import TaggedError
from seamwise._text.phrases import end_sentence, join_limited, join_quoted, pluralize, truncate
from seamwise.seams import catalog
from seamwise.seams.adapter import Adapter
from seamwise.seams.model.on import on
from seamwise.seams.model.shape import OUTPUT_LIMIT, Guidance, head
from seamwise.seams.model.suggestions import (
    EXCERPT_LIMIT,
    TOOL_FAULT,
    capitalize,
    cause_in_brackets,
    choose_from,
    fault_of_machine,
    format_seconds,
    format_time,
    list_problems,
    public_cause,
    suggest_names,
    wait_and_retry,
)
from seamwise.seams.rendering.tool_phrases import (
    describe_exit_code,
    describe_parent_folder,
    describe_rejected_hunk,
)

ACCESS: Adapter[catalog.access.AccessError, Guidance] = Adapter(
    lambda: (
        # A model must not handle passwords.
        on(catalog.access.Unauthenticated).guides(
            'execution_error',
            suggestion=lambda error: (
                f'Ask the user to sign in ({error.scheme}). '
                'Do not ask for the credentials themselves.'
            ),
            denied=True,
        )
        | on(catalog.access.AccessDenied).guides(
            'execution_error',
            suggestion=lambda _: (
                'Do not try to bypass this. Use only what you have access to, '
                'or ask the user to grant access.'
            ),
            denied=True,
        )
    )
)


def _suggest_for_context_overflow(error: catalog.agents.ContextOverflow) -> str:
    """Suggest a summary that is shorter by the number of excess tokens."""
    excess = max(error.tokens - error.limit, 1)
    return (
        f'Summarize the conversation so far in at least {pluralize(excess, "fewer token")}, '
        'or start a new conversation with the essential parts.'
    )


def _suggest_for_agent_failed(error: catalog.agents.AgentFailed) -> str:
    """Suggest another attempt if the cause may pass, else another agent."""
    if error.retryable:
        advice = wait_and_retry(error)
        return f'{advice}, or assign the work to an agent other than {error.agent!r}.'
    return f'Assign the work to an agent other than {error.agent!r}, or tell the user.'


AGENTS: Adapter[catalog.agents.AgentError, Guidance] = Adapter(
    lambda: (
        on(catalog.agents.AgentNotFound).guides(
            'validation_error',
            suggestion=lambda error: suggest_names(
                error.suggestions, error.available, noun='agent'
            ),
            large_fields=('available', 'suggestions'),
        )
        | on(catalog.agents.CommandNotFound).guides(
            'validation_error',
            suggestion=lambda error: suggest_names(
                error.suggestions, error.available, noun='command'
            ),
            large_fields=('available', 'suggestions'),
        )
        | on(catalog.agents.AgentNotReady).guides(
            'availability_error',
            suggestion=lambda error: (
                f'{wait_and_retry(error)}, '
                f'or assign the work to an agent other than {error.agent!r}.'
            ),
        )
        | on(catalog.agents.AgentBusy).guides(
            'availability_error',
            suggestion=lambda error: (
                f'It handles one task at a time. {wait_and_retry(error)}, '
                'or assign the work to another agent.'
            ),
        )
        | on(catalog.agents.InvalidTransition).guides(
            'state_error',
            suggestion=lambda error: choose_from(
                error.allowed,
                f'No state follows {error.current!r}; leave {error.agent!r} as it is.',
            ),
        )
        | on(catalog.agents.GuardrailsViolated).guides(
            'content_error',
            suggestion=lambda error: (
                f'It violates {list_problems(error.problems, "its rules")}. '
                'Do it in a way that follows the rules, or ask the user to decide.'
            ),
            denied=True,
        )
        | on(catalog.agents.ContextOverflow).guides(
            'state_error', suggestion=_suggest_for_context_overflow
        )
        | on(catalog.agents.CompressionFailed).guides(
            'execution_error',
            suggestion=lambda _: (
                'Write a summary of the essential parts yourself, '
                'or ask the user to start a new conversation.'
            ),
        )
        | on(catalog.agents.AgentFailed).guides(
            'execution_error', suggestion=_suggest_for_agent_failed
        )
    )
)


def _suggest_for_circuit_open(error: catalog.policies.CircuitOpen) -> str:
    """Suggest another way; the circuit refuses calls until the delay has passed."""
    seconds = format_seconds(error.retry_after)
    match error.state:
        case 'open':
            return (
                f'Choose another way to the same goal: '
                f'{error.name} is not called for the next {seconds} s.'
            )
        case 'half_open':
            return (
                f'Choose another way to the same goal, or try again in {seconds} s: '
                f'{error.name} is being tested.'
            )
        case _:
            assert_never(error.state)


def _suggest_for_bulkhead_full(error: catalog.policies.BulkheadFull) -> str:
    """Suggest fewer concurrent calls."""
    call = 'the call' if error.limit == 1 else f'one of the {error.limit} calls'
    return (
        f'Make fewer concurrent calls: {call} in flight must finish first. {wait_and_retry(error)}.'
    )


GUARDS: Adapter[catalog.policies.GuardError, Guidance] = Adapter(
    lambda: (
        on(catalog.policies.RateLimited).guides(
            'availability_error',
            suggestion=lambda error: (
                f'{wait_and_retry(error)}; earlier calls are refused too. '
                f'Until then, continue with work that does not need {error.name}.'
            ),
        )
        | on(catalog.policies.CircuitOpen).guides(
            'availability_error', suggestion=_suggest_for_circuit_open
        )
        | on(catalog.policies.BulkheadFull).guides(
            'availability_error', suggestion=_suggest_for_bulkhead_full
        )
        | on(catalog.policies.DeadlineExceeded).guides(
            'availability_error',
            suggestion=lambda error: (
                f'{wait_and_retry(error)} with a smaller request '
                f'or a timeout of more than {error.timeout:g} s.'
            ),
        )
    )
)


def _suggest_for_model_not_found(error: catalog.models.ModelNotFound) -> str:
    """Suggest the closest models."""
    if error.suggestions:
        return f'Did you mean {join_quoted(error.suggestions)}?'
    return f'List the models that {error.provider} offers, or call without choosing a model.'


def _suggest_for_context_too_long(error: catalog.models.ContextTooLong) -> str:
    """Suggest a prompt that is shorter, by the number of excess tokens if it is known."""
    step = 'Shorten the prompt'
    if error.tokens is not None and error.limit is not None:
        step = f'Remove at least {pluralize(max(error.tokens - error.limit, 1), "token")}'
    return f'{step}: quote less, summarize long parts, or split the work in two.'


def _suggest_for_output_truncated(error: catalog.models.OutputTruncated) -> str:
    """Suggest shorter answers or a higher limit."""
    parts = 'parts of it' if error.limit is None else f'parts of fewer than {error.limit} tokens'
    return (
        f'Request a shorter answer, or {parts}, '
        'or allow more tokens; the answer ends in the middle.'
    )


def _suggest_for_quota_exceeded(error: catalog.models.QuotaExceeded) -> str:
    """Suggest another provider, with the time when the quota is reset."""
    reset = None if error.reset is None else format_time(error.reset)
    until = f' until {reset}' if reset else ''
    return (
        f'No more calls to {error.provider} are possible{until}. '
        'Choose another provider, or ask the user to raise the quota.'
    )


MODELS: Adapter[catalog.models.ModelError, Guidance] = Adapter(
    lambda: (
        on(catalog.models.ModelNotFound).guides(
            'validation_error', suggestion=_suggest_for_model_not_found
        )
        # Only the user can fix the configuration.
        | on(catalog.models.ProviderNotReady).guides(
            'availability_error',
            suggestion=lambda error: (
                f'Its configuration must be fixed{cause_in_brackets(error)}, which no call can do. '
                'Choose another provider, or tell the user.'
            ),
        )
        | on(catalog.models.ProviderUnavailable).guides(
            'availability_error',
            suggestion=lambda error: (
                f'{wait_and_retry(error)}, or use a model of another provider.'
            ),
        )
        | on(catalog.models.ModelOverloaded).guides(
            'availability_error',
            suggestion=lambda error: (
                f'{wait_and_retry(error)}, or use a model other than {error.model!r}.'
            ),
        )
        # No other model is left.
        | on(catalog.models.NoModelAvailable).guides(
            'availability_error',
            suggestion=lambda error: (
                f'{wait_and_retry(error)}. Every suitable model was tried: '
                'continue without one, or tell the user.'
            ),
        )
        | on(catalog.models.InvalidModelRequest).guides(
            'validation_error',
            suggestion=lambda error: (
                f'Fix the request as the message describes before you call {error.provider} again; '
                'the same request is always refused.'
            ),
        )
        | on(catalog.models.ContextTooLong).guides(
            'validation_error', suggestion=_suggest_for_context_too_long
        )
        # The filter refuses the same words again.
        | on(catalog.models.ContentFiltered).guides(
            'content_error',
            suggestion=lambda error: (
                f'The policy of {error.provider} forbids this; do not try to bypass it. '
                'Request something else, or tell the user.'
            ),
            denied=True,
        )
        | on(catalog.models.OutputTruncated).guides(
            'content_error', suggestion=_suggest_for_output_truncated
        )
        | on(catalog.models.StructuredOutputInvalid).guides(
            'validation_error',
            suggestion=lambda error: (
                'Answer again in the requested schema, '
                f'and fix {list_problems(error.problems, "the answer itself")}.'
            ),
        )
        | on(catalog.models.QuotaExceeded).guides(
            'availability_error', suggestion=_suggest_for_quota_exceeded
        )
        | on(catalog.models.BudgetExceeded).guides(
            'availability_error',
            suggestion=lambda error: (
                'Make no more calls that cost money. Report the finished and the remaining work '
                f'to the user, and ask whether the budget of {error.limit:g} may be raised.'
            ),
        )
        | on(catalog.models.BatchClosed).hidden()
        | on(catalog.models.BatchFull).hidden()
        | on(catalog.models.BatchTimedOut).hidden()
        | on(catalog.models.CacheMiss).hidden()
    )
)


def _suggest_for_upstream_rate_limited(error: catalog.network.UpstreamRateLimited) -> str:
    """Suggest the delay, and fewer requests if the limit is known."""
    period = '' if error.period is None else f' in {error.period:g} s'
    limit = (
        ''
        if error.limit is None
        else f' Its limit is {pluralize(error.limit, "request")}{period}; combine several into one.'
    )
    return f'{wait_and_retry(error)}; earlier calls are refused too.{limit}'


def _suggest_for_credentials_rejected(error: catalog.network.CredentialsRejected) -> str:
    """Suggest telling the user; a model must not look for keys."""
    settings = join_quoted(error.required_config, last='and')
    return (
        "This program's own credentials are missing, wrong or expired, "
        f'so every call to {error.service} fails. '
        f'Tell the user to set {settings or "them"}, and continue without {error.service}.'
    )


NETWORK: Adapter[catalog.network.NetworkError, Guidance] = Adapter(
    lambda: (
        on(catalog.network.HostUnreachable).guides(
            'availability_error',
            suggestion=(
                'Check that the address is right and try once more; '
                'if that fails too, continue without it or tell the user.'
            ),
        )
        | on(catalog.network.NetworkTimedOut).guides(
            'availability_error',
            suggestion=lambda error: (
                f'{wait_and_retry(error)} with a smaller request; '
                'after a second timeout, continue without it.'
            ),
        )
        | on(catalog.network.UpstreamRateLimited).guides(
            'availability_error', suggestion=_suggest_for_upstream_rate_limited
        )
        | on(catalog.network.CredentialsRejected).guides(
            'availability_error', suggestion=_suggest_for_credentials_rejected
        )
        # The call itself is correct.
        | on(catalog.network.UpstreamFailed).guides(
            'availability_error',
            suggestion=lambda error: (
                f'The fault is with {error.service}, not with your call. {wait_and_retry(error)}; '
                'if it fails once more, choose another way or tell the user.'
            ),
        )
    )
)


# Names of formats that only this library uses.
_FORMAT_SHAPES = {
    'array': 'a well-formed JSON array of calls',
    'bare': 'a well-formed JSON object with "name" and "arguments"',
    'text': 'text in UTF-8',
    'tool_list': 'a well-formed JSON object with "tool_calls"',
}


def _suggest_for_unreadable_call(error: catalog.parsing.UnreadableCall) -> str:
    """Suggest sending the call again, with the text around the syntax error."""
    shape = _FORMAT_SHAPES.get(error.format, f'well-formed {error.format}')
    suggestion = f'Send the call again as {shape}; nothing was run.'
    # A call in the object of a provider has no text.
    if not error.excerpt:
        return suggestion
    return f'{suggestion} The received text is: {truncate(error.excerpt, EXCERPT_LIMIT)}'


PARSING: Adapter[catalog.parsing.ParsingError, Guidance] = Adapter(
    lambda: (
        on(catalog.parsing.UnreadableCall).guides(
            'protocol_error', suggestion=_suggest_for_unreadable_call
        )
        | on(catalog.parsing.UnknownFormat).guides(
            'protocol_error',
            suggestion=(
                'Send the call in a supported format, such as {"tool": "…", "arguments": {…}}; '
                'nothing was run.'
            ),
        )
        | on(catalog.parsing.SchemaViolations).guides(
            'protocol_error',
            suggestion=lambda error: (
                f'Fix {list_problems(error.problems, "the call itself")} and send the call again; '
                'nothing was run.'
            ),
        )
    )
)


def _suggest_for_mcp_server_failed(error: catalog.protocols.McpServerFailed) -> str:
    """Suggest a retry for faults of the server, else a corrected call."""
    if error.retryable:
        return (
            f'The fault is in {error.server!r}, not in your call. '
            'Try once more, then choose another way.'
        )
    if error.is_fault_of_server:
        return (
            f'{error.server!r} failed in a way of its own; the call itself may be correct. Check '
            'whether it was executed, then choose another way or tell the user.'
        )
    return 'Fix your call as the server describes; the same call is always refused.'


def _then_retry(error: catalog.protocols.McpTransportFailed) -> str:
    return 'Then try once more' if error.retry_after is None else wait_and_retry(error)


MCP: Adapter[catalog.protocols.McpError, Guidance] = Adapter(
    lambda: (
        # No tool of the server is available.
        on(catalog.protocols.McpConnectionFailed).guides(
            'protocol_error',
            suggestion=lambda error: (
                f'Its tools are unavailable for now{cause_in_brackets(error)}. '
                'Try once more; if it fails again, use tools of another server or tell the user.'
            ),
        )
        | on(catalog.protocols.McpTransportFailed).guides(
            'protocol_error',
            suggestion=lambda error: (
                'Check whether your last call was executed before you repeat it: '
                f'{error.server!r} may have received it. {_then_retry(error)}.'
            ),
        )
        | on(catalog.protocols.McpServerFailed).guides(
            'protocol_error', suggestion=_suggest_for_mcp_server_failed
        )
        | on(catalog.protocols.McpTimedOut).guides(
            'protocol_error',
            suggestion=lambda error: (
                f'{wait_and_retry(error)} with a smaller request to {error.server!r}; '
                f'check first whether {error.operation} was executed.'
            ),
        )
    )
)

LSP: Adapter[catalog.protocols.LspError, Guidance] = Adapter(
    lambda: (
        on(catalog.protocols.LspNotInitialized).guides(
            'protocol_error',
            suggestion=lambda error: (
                f'Search and read the files directly instead{cause_in_brackets(error)}, '
                f'and tell the user that {error.server!r} does not start.'
            ),
        )
        | on(catalog.protocols.LspRequestFailed).guides(
            'protocol_error',
            suggestion=lambda error: (
                f'Check the file and the position of your request{cause_in_brackets(error)}, '
                'or search and read the files directly.'
            ),
        )
        # The old positions are wrong.
        | on(catalog.protocols.LspContentModified).guides(
            'protocol_error',
            suggestion=lambda error: (
                'The old positions are no longer valid: read the document again, '
                f'then call {error.method} with the new ones.'
            ),
        )
    )
)

A2A: Adapter[catalog.protocols.A2aError, Guidance] = Adapter(
    lambda: (
        on(catalog.protocols.A2aTaskNotFound).guides(
            'protocol_error',
            suggestion=lambda _: (
                'Check the id that the agent returned; '
                'if the agent no longer has the task, send the work as a new one.'
            ),
        )
        | on(catalog.protocols.A2aTaskNotCancelable).guides(
            'protocol_error',
            suggestion=lambda error: f'The task is already {error.state}. Read its result instead.',
        )
        | on(catalog.protocols.A2aPushNotSupported).guides(
            'protocol_error', suggestion=lambda _: 'Poll the state of the task, or read its stream.'
        )
        | on(catalog.protocols.A2aUnsupportedOperation).guides(
            'protocol_error',
            suggestion=lambda _: (
                "Read the agent's card and choose an operation that it lists, or use another agent."
            ),
        )
        | on(catalog.protocols.A2aContentTypeNotSupported).guides(
            'protocol_error',
            suggestion=lambda error: choose_from(
                error.supported,
                "Send it as plain text, or as a content type that the agent's card lists.",
            ),
        )
        # The request itself is correct.
        | on(catalog.protocols.A2aInvalidAgentResponse).guides(
            'protocol_error',
            suggestion=lambda error: (
                f'The fault is with {error.agent!r}, not with your request. '
                'Use another agent, or tell the user.'
            ),
        )
        | on(catalog.protocols.A2aExtendedCardNotConfigured).guides(
            'protocol_error',
            suggestion="Read the agent's public card instead; it contains less detail.",
        )
        | on(catalog.protocols.A2aExtensionRequired).guides(
            'protocol_error',
            suggestion=lambda error: (
                f'Use an agent that does not require {error.extension!r}, '
                'or tell the user that it is required here.'
            ),
        )
        | on(catalog.protocols.A2aVersionNotSupported).guides(
            'protocol_error',
            suggestion=lambda error: choose_from(
                error.supported,
                'Use another agent, or tell the user that the two support no common version.',
            ),
        )
        | on(catalog.protocols.AgentCardInvalid).guides(
            'protocol_error',
            suggestion=lambda error: (
                'Use another agent: this one cannot be used until its owner fixes '
                f'{list_problems(error.problems, "its card")}.'
            ),
        )
    )
)


SESSIONS: Adapter[catalog.sessions.SessionError, Guidance] = Adapter(
    lambda: (
        on(
            catalog.sessions.InvalidInput
            | catalog.sessions.SessionNotFound
            | catalog.sessions.SessionBusy
            | catalog.sessions.ConnectionLost
            | catalog.sessions.ReplayGap
            | catalog.sessions.UnknownEpoch
            | catalog.sessions.AckAhead
        ).hidden()
        # All attempts were made.
        | on(catalog.sessions.RecoveryFailed).guides(
            'execution_error',
            suggestion=lambda error: (
                f'Do not request {error.operation} again{cause_in_brackets(error)}. '
                'Choose another way, or tell the user about the failure.'
            ),
        )
    )
)


STORAGE: Adapter[catalog.storage.StorageError, Guidance] = Adapter(
    lambda: (
        on(catalog.storage.RecordNotFound).guides(
            'content_error',
            suggestion=lambda error: (
                f'Check the spelling of {error.key!r}, list the existing keys, or store it first.'
            ),
        )
        | on(catalog.storage.RecordExists).guides(
            'content_error',
            suggestion=lambda error: (
                f'Update the existing record, or choose a key other than {error.key!r}.'
            ),
        )
        | on(catalog.storage.StoreClosed).guides(
            'availability_error',
            suggestion=lambda error: (
                f'{wait_and_retry(error)}; nothing was read or written. '
                'If it stays closed, tell the user.'
            ),
        )
        | on(catalog.storage.StoreUnavailable).guides(
            'availability_error',
            suggestion=lambda error: (
                f'{wait_and_retry(error)}; nothing was read or written. '
                'If it fails once more, tell the user.'
            ),
        )
    )
)


def _suggest_for_user_interrupted(error: catalog.streaming.UserInterrupted) -> str:
    """Suggest following the user's feedback."""
    if not error.feedback:
        return 'Stop your current work and ask the user how to continue.'
    return (
        "Stop your current work and follow the user's feedback: "
        f'{truncate(error.feedback, EXCERPT_LIMIT)}'
    )


STREAMING: Adapter[catalog.streaming.StreamingError, Guidance] = Adapter(
    lambda: (
        on(
            catalog.streaming.InvalidStream
            | catalog.streaming.ChunkUnparsable
            | catalog.streaming.ChunkHandlerFailed
            | catalog.streaming.StreamAborted
            | catalog.streaming.StreamProviderFailed
            | catalog.streaming.TokenCountFailed
            | catalog.streaming.BufferFull
            | catalog.streaming.StreamClosed
            | catalog.streaming.SlowConsumer
        ).hidden()
        | on(catalog.streaming.UserInterrupted).guides(
            'state_error', suggestion=_suggest_for_user_interrupted
        )
    )
)


def _other_findings(findings: Iterable[catalog.tools.Finding]) -> str:
    texts = [f'{finding.parameter!r} ({finding.reason})' for finding in findings]
    return f' Also fix {join_limited(texts)}.' if texts else ''


def _suggest_for_missing_parameter(error: catalog.tools.MissingParameter) -> str:
    """Suggest a call with the parameter, an example value, and the other corrections."""
    example = f' (for example: {error.example})' if error.example else ''
    return (
        f'Call {error.tool} again with {error.parameter!r}{example}.{_other_findings(error.also)}'
    )


def _suggest_for_file_not_found(error: catalog.tools.FileNotFound) -> str:
    """Suggest the closest paths, else the parent folder."""
    if error.suggestions:
        return f'Did you mean {join_quoted(error.suggestions)}?'
    folder = describe_parent_folder(error.path)
    return f'List {folder}, or create {error.path!r} if it should exist.'


def _suggest_for_path_forbidden(error: catalog.tools.PathForbidden) -> str:
    """Suggest an allowed path, with the reason of the refusal."""
    match error.reason:
        case 'ignored':
            return (
                'The workspace hides this path from all tools. '
                'Use other files, ask the user to remove it from the ignore list, '
                'or request approval for this one operation.'
            )
        case 'write_protected':
            return (
                'Tools can read this path, but not write it. '
                'Choose another path, or request approval for this one operation.'
            )
        case 'system':
            return (
                'This path belongs to the system, and tools do not access it. '
                'Choose another path, or ask the user to do it.'
            )
        case 'outside_workspace':
            return 'Choose a path inside the workspace, relative to its root and without "..".'
        case _:
            assert_never(error.reason)


def _suggest_for_content_not_found(error: catalog.tools.ContentNotFound) -> str:
    """Suggest the most similar text, else reading the file."""
    if error.best_match is None:
        return f'Read {error.path!r} and search for a text that it contains, including white space.'
    line = '' if error.line is None else f' at line {error.line}'
    similarity = '' if error.similarity is None else f' ({error.similarity:.0%} similar)'
    return (
        f'If you mean the most similar text{line}{similarity}, search for exactly this:\n'
        f'{truncate(error.best_match, EXCERPT_LIMIT)}'
    )


def _suggest_for_command_failed(error: catalog.tools.CommandFailed) -> str:
    """Suggest a correction, with the meaning of the exit code."""
    meaning = describe_exit_code(error.exit_code)
    reason = f'{capitalize(meaning)}. ' if meaning else ''
    if error.output:
        end = 'Only the end of its output is shown. ' if error.truncated else ''
        return f'{reason}{end}Fix the problem that the output reports, then run it again.'
    return f'{reason}It wrote no output that explains the failure.'


def _rejected_hunks_output(error: catalog.tools.DiffRejected) -> str:
    """Return every rejected hunk, with its expected and actual text if all of them fit."""
    blocks = '\n'.join(
        f'{describe_rejected_hunk(hunk)}\n'
        f'expected:\n{hunk.expected.rstrip()}\n'
        f'found:\n{hunk.actual.rstrip()}'
        for hunk in error.hunks
    )
    if len(blocks) <= OUTPUT_LIMIT:
        return head(blocks)
    return head('\n'.join(map(describe_rejected_hunk, error.hunks)))


def _suggest_for_tool_failed(error: catalog.tools.ToolFailed) -> str:
    """Suggest another attempt if the cause may pass, else another way, with the cause."""
    if error.defect is not None:
        return TOOL_FAULT
    if isinstance(error.cause, TaggedError) and not error.retryable:
        # The tool itself has judged the call, such as one of an MCP server.
        report = f'The tool reports: {public_cause(error)}'
        if getattr(error.cause, 'has_suggestion', False):
            # The report of an MCP server that uses this library already says what to do next.
            return report
        return (
            f'{end_sentence(report)} Correct the call if it is the reason, else choose '
            'another way, or tell the user.'
        )
    advice = (
        'Try again once. If that fails too, choose another way, or tell the user.'
        if error.retryable
        else 'Choose another way, or tell the user.'
    )
    return f'{fault_of_machine(error)} {advice}'


TOOLS: Adapter[catalog.tools.ToolError, Guidance] = Adapter(
    lambda: (
        on(catalog.tools.MissingParameter).guides(
            'validation_error', suggestion=_suggest_for_missing_parameter
        )
        # The message contains the reason of the first one.
        | on(catalog.tools.InvalidParameter).guides(
            'validation_error',
            suggestion=lambda error: (
                f'Fix {error.parameter!r} and call {error.tool} again.{_other_findings(error.also)}'
            ),
        )
        | on(catalog.tools.UnknownTool).guides(
            'validation_error',
            suggestion=lambda error: suggest_names(error.suggestions, error.available, noun='tool'),
            large_fields=('available', 'suggestions'),
        )
        | on(catalog.tools.FileNotFound).guides(
            'file_operation_error', suggestion=_suggest_for_file_not_found
        )
        | on(catalog.tools.FileAlreadyExists).guides(
            'file_operation_error',
            suggestion=lambda error: (
                f'Allow overwriting {error.path!r} if it should be replaced, '
                'or choose another path.'
            ),
        )
        | on(catalog.tools.PathForbidden).guides(
            'file_operation_error', suggestion=_suggest_for_path_forbidden, denied=True
        )
        | on(catalog.tools.ContentNotFound).guides(
            'content_error', suggestion=_suggest_for_content_not_found
        )
        | on(catalog.tools.ContentMismatch).guides(
            'content_error',
            suggestion=lambda error: (
                f'Read {error.path!r} again and start from the actual text of line {error.line}:\n'
                f'{truncate(error.actual, EXCERPT_LIMIT)}'
            ),
        )
        | on(catalog.tools.DuplicateMatch).guides(
            'content_error',
            suggestion=lambda error: (
                f'The text is at {"line" if len(error.lines) == 1 else "lines"} '
                f'{join_limited(error.lines)}. '
                'Name the line that you mean, search for a longer text, or replace all occurrences.'
            ),
        )
        | on(catalog.tools.CommandTimedOut).guides(
            'execution_error',
            suggestion=lambda error: (
                f'Run less at a time, or allow more than {error.timeout:g} s; '
                'the command and its child processes were killed.'
            ),
        )
        | on(catalog.tools.CommandFailed).guides(
            'execution_error', suggestion=_suggest_for_command_failed
        )
        | on(catalog.tools.DiffRejected).guides(
            'execution_error',
            suggestion=lambda error: (
                f'{pluralize(len(error.hunks), "hunk")} of the diff could not be placed: '
                f'read {error.path!r} again and create a new diff from it.'
            ),
            output=_rejected_hunks_output,
        )
        | on(catalog.tools.ToolFailed).guides(
            'execution_error', suggestion=_suggest_for_tool_failed
        )
        # A model cannot change the timeout.
        | on(catalog.tools.ToolTimedOut).guides(
            'execution_error',
            suggestion=lambda error: (
                f'Request less at a time; a call is stopped after {error.timeout:g} s.'
            ),
        )
        | on(catalog.tools.ToolCancelled).guides(
            'execution_error',
            suggestion=lambda error: (
                f'Do not call it again unless you are told to: {error.by} stopped it. '
                'Ask how to continue.'
            ),
        )
        | on(catalog.tools.InvalidResult).guides('execution_error', suggestion=TOOL_FAULT)
        | on(catalog.tools.RegistrationRejected).hidden()
        | on(catalog.tools.ToolRepeated).guides(
            'state_error',
            suggestion=lambda error: (
                f'{error.tool} would return the same result again. '
                'Use the earlier results, change the arguments, or choose another way.'
            ),
        )
        | on(catalog.tools.TooManyMistakes).guides(
            'state_error',
            suggestion=(
                'No further calls are run. Tell the user about your attempts and their failures, '
                'and ask how to continue.'
            ),
        )
        | on(catalog.tools.ResourceExhausted).guides(
            'availability_error',
            suggestion='Try again later, or in a way that needs less of this resource.',
        )
    )
)


def _suggest_for_worktree_failed(error: catalog.workspace.WorktreeFailed) -> str:
    """Suggest a correction from the output of git."""
    if not error.output:
        return 'Git wrote no output that explains the failure; check the state of the repository.'
    return 'Fix the problem that git reports in the output, then try again.'


WORKSPACE: Adapter[catalog.workspace.WorkspaceError, Guidance] = Adapter(
    lambda: (
        on(catalog.workspace.ConfigUnreadable).guides(
            'file_operation_error',
            suggestion=lambda error: (
                f'Read {error.path!r} around line {error.line}, column {error.column}, '
                'and fix it there if you may change the file.'
            ),
        )
        | on(catalog.workspace.ConfigInvalid).guides(
            'file_operation_error',
            suggestion=lambda error: (
                f'Fix {list_problems(error.problems, "the file itself")} in {error.path!r} '
                'if you may change the file, else tell the user.'
            ),
        )
        | on(catalog.workspace.SkillInvalid).guides(
            'file_operation_error',
            suggestion=lambda error: (
                'Continue without the skill, '
                f'or fix {list_problems(error.problems, "the file itself")} in {error.path!r}.'
            ),
        )
        | on(catalog.workspace.SkillNameMismatch).guides(
            'file_operation_error',
            suggestion=lambda error: (
                f'Set its name to {error.expected!r}, or rename its folder to {error.actual!r}.'
            ),
        )
        | on(catalog.workspace.PluginFailed).hidden()
        | on(catalog.workspace.EditorInstallFailed).hidden()
        | on(catalog.workspace.NotARepository).guides(
            'file_operation_error',
            suggestion=lambda _: (
                'Use a folder inside a repository, or ask the user whether to create one here.'
            ),
        )
        | on(catalog.workspace.WorktreeExists).guides(
            'state_error',
            suggestion=lambda error: (
                f'Work in {error.name!r} if it is the one you mean, or choose another name.'
            ),
        )
        | on(catalog.workspace.WorktreeFailed).guides(
            'execution_error', suggestion=_suggest_for_worktree_failed
        )
    )
)
