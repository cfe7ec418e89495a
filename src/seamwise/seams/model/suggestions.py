"""Suggestions for language models: the next step after each error, domain by domain."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from math import ceil
from typing import assert_never

from msgspec.structs import replace

from seamwise._text.phrases import (
    MAX_LISTED,
    end_sentence,
    join_limited,
    join_quoted,
    pluralize,
    truncate,
)
from seamwise.catalog.problem import Problem
from seamwise.causes import causes
from seamwise.errors import TaggedError, retry_after
from seamwise.redaction import redact
from seamwise.seams import catalog
from seamwise.seams.model.shape import OUTPUT_LIMIT, Guidance, head
from seamwise.seams.rendering.errors import cause_link, public_message_of
from seamwise.seams.rendering.tool_phrases import (
    describe_exit_code,
    describe_parent_folder,
    describe_rejected_hunk,
)

EXCERPT_LIMIT = 600
"""In characters. Longer texts from files and calls are cut in a suggestion."""

# Access


def suggest_for_unauthenticated(error: catalog.access.Unauthenticated) -> str:
    """Suggest a sign-in by the user; a model must not handle passwords."""
    return f'Ask the user to sign in ({error.scheme}). Do not ask for the credentials themselves.'


def suggest_for_access_denied(_: catalog.access.AccessDenied) -> str:
    """Suggest staying within the granted access."""
    return (
        'Do not try to bypass this. Use only what you have access to, '
        'or ask the user to grant access.'
    )


# Agents


def suggest_for_agent_not_found(error: catalog.agents.AgentNotFound) -> str:
    """Suggest the closest agents, then list the available ones."""
    return _suggest_names(error.suggestions, error.available, noun='agent')


def suggest_for_command_not_found(error: catalog.agents.CommandNotFound) -> str:
    """Suggest the closest commands, then list the available ones."""
    return _suggest_names(error.suggestions, error.available, noun='command')


def suggest_for_agent_not_ready(error: catalog.agents.AgentNotReady) -> str:
    """Suggest a delay or another agent."""
    return f'{_wait_and_retry(error)}, or assign the work to an agent other than {error.agent!r}.'


def suggest_for_agent_busy(error: catalog.agents.AgentBusy) -> str:
    """Suggest a delay or another agent."""
    return (
        f'It handles one task at a time. {_wait_and_retry(error)}, '
        'or assign the work to another agent.'
    )


def suggest_for_invalid_transition(error: catalog.agents.InvalidTransition) -> str:
    """List the allowed next states."""
    return _choose_from(
        error.allowed, f'No state follows {error.current!r}; leave {error.agent!r} as it is.'
    )


def suggest_for_guardrails_violated(error: catalog.agents.GuardrailsViolated) -> str:
    """List every violated rule."""
    return (
        f'It violates {_list_problems(error.problems, "its rules")}. '
        'Do it in a way that follows the rules, or ask the user to decide.'
    )


def suggest_for_context_overflow(error: catalog.agents.ContextOverflow) -> str:
    """Suggest a summary that is shorter by the number of excess tokens."""
    excess = max(error.tokens - error.limit, 1)
    return (
        f'Summarize the conversation so far in at least {pluralize(excess, "fewer token")}, '
        'or start a new conversation with the essential parts.'
    )


def suggest_for_compression_failed(_: catalog.agents.CompressionFailed) -> str:
    """Suggest a summary written by the model itself."""
    return (
        'Write a summary of the essential parts yourself, '
        'or ask the user to start a new conversation.'
    )


def suggest_for_agent_failed(error: catalog.agents.AgentFailed) -> str:
    """Suggest another attempt if the cause may pass, else another agent."""
    if error.retryable:
        advice = _wait_and_retry(error)
        return f'{advice}, or assign the work to an agent other than {error.agent!r}.'
    return f'Assign the work to an agent other than {error.agent!r}, or tell the user.'


# Guards


def suggest_for_rate_limited(error: catalog.policies.RateLimited) -> str:
    """Suggest the delay, and other work until then."""
    return (
        f'{_wait_and_retry(error)}; earlier calls are refused too. '
        f'Until then, continue with work that does not need {error.name}.'
    )


def suggest_for_circuit_open(error: catalog.policies.CircuitOpen) -> str:
    """Suggest another way; the circuit refuses calls until the delay has passed."""
    seconds = _format_seconds(error.retry_after)
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


def suggest_for_bulkhead_full(error: catalog.policies.BulkheadFull) -> str:
    """Suggest fewer concurrent calls."""
    call = 'the call' if error.limit == 1 else f'one of the {error.limit} calls'
    return (
        f'Make fewer concurrent calls: {call} in flight must finish first. '
        f'{_wait_and_retry(error)}.'
    )


def suggest_for_deadline_exceeded(error: catalog.policies.DeadlineExceeded) -> str:
    """Suggest a smaller request or a longer timeout."""
    return (
        f'{_wait_and_retry(error)} with a smaller request '
        f'or a timeout of more than {error.timeout:g} s.'
    )


# Models


def suggest_for_model_not_found(error: catalog.models.ModelNotFound) -> str:
    """Suggest the closest models."""
    if error.suggestions:
        return f'Did you mean {join_quoted(error.suggestions)}?'
    return f'List the models that {error.provider} offers, or call without choosing a model.'


def suggest_for_provider_not_ready(error: catalog.models.ProviderNotReady) -> str:
    """Suggest another provider; only the user can fix the configuration."""
    return (
        f'Its configuration must be fixed{_cause_in_brackets(error)}, which no call can do. '
        'Choose another provider, or tell the user.'
    )


def suggest_for_provider_unavailable(error: catalog.models.ProviderUnavailable) -> str:
    """Suggest a delay or another provider."""
    return f'{_wait_and_retry(error)}, or use a model of another provider.'


def suggest_for_model_overloaded(error: catalog.models.ModelOverloaded) -> str:
    """Suggest a delay or another model."""
    return f'{_wait_and_retry(error)}, or use a model other than {error.model!r}.'


def suggest_for_no_model_available(error: catalog.models.NoModelAvailable) -> str:
    """Suggest a delay; no other model is left."""
    return (
        f'{_wait_and_retry(error)}. Every suitable model was tried: '
        'continue without one, or tell the user.'
    )


def suggest_for_invalid_model_request(error: catalog.models.InvalidModelRequest) -> str:
    """Suggest a corrected request."""
    return (
        f'Fix the request as the message describes before you call {error.provider} again; '
        'the same request is always refused.'
    )


def suggest_for_context_too_long(error: catalog.models.ContextTooLong) -> str:
    """Suggest a prompt that is shorter, by the number of excess tokens if it is known."""
    step = 'Shorten the prompt'
    if error.tokens is not None and error.limit is not None:
        step = f'Remove at least {pluralize(max(error.tokens - error.limit, 1), "token")}'
    return f'{step}: quote less, summarize long parts, or split the work in two.'


def suggest_for_content_filtered(error: catalog.models.ContentFiltered) -> str:
    """Suggest a different request; the filter refuses the same words again."""
    return (
        f'The policy of {error.provider} forbids this; do not try to bypass it. '
        'Request something else, or tell the user.'
    )


def suggest_for_output_truncated(error: catalog.models.OutputTruncated) -> str:
    """Suggest shorter answers or a higher limit."""
    parts = 'parts of it' if error.limit is None else f'parts of fewer than {error.limit} tokens'
    return (
        f'Request a shorter answer, or {parts}, '
        'or allow more tokens; the answer ends in the middle.'
    )


def suggest_for_structured_output_invalid(error: catalog.models.StructuredOutputInvalid) -> str:
    """List every violation of the schema."""
    problems = _list_problems(error.problems, 'the answer itself')
    return f'Answer again in the requested schema, and fix {problems}.'


def suggest_for_quota_exceeded(error: catalog.models.QuotaExceeded) -> str:
    """Suggest another provider, with the time when the quota is reset."""
    reset = None if error.reset is None else _format_time(error.reset)
    until = f' until {reset}' if reset else ''
    return (
        f'No more calls to {error.provider} are possible{until}. '
        'Choose another provider, or ask the user to raise the quota.'
    )


def suggest_for_budget_exceeded(error: catalog.models.BudgetExceeded) -> str:
    """Suggest a report to the user, who can raise the budget."""
    return (
        'Make no more calls that cost money. Report the finished and the remaining work '
        f'to the user, and ask whether the budget of {error.limit:g} may be raised.'
    )


# Network


HOST_UNREACHABLE = (
    'Check that the address is right and try once more; '
    'if that fails too, continue without it or tell the user.'
)


def suggest_for_network_timed_out(error: catalog.network.NetworkTimedOut) -> str:
    """Suggest a delay and a smaller request."""
    return (
        f'{_wait_and_retry(error)} with a smaller request; '
        'after a second timeout, continue without it.'
    )


def suggest_for_upstream_rate_limited(error: catalog.network.UpstreamRateLimited) -> str:
    """Suggest the delay, and fewer requests if the limit is known."""
    period = '' if error.period is None else f' in {error.period:g} s'
    limit = (
        ''
        if error.limit is None
        else f' Its limit is {pluralize(error.limit, "request")}{period}; combine several into one.'
    )
    return f'{_wait_and_retry(error)}; earlier calls are refused too.{limit}'


def suggest_for_credentials_rejected(error: catalog.network.CredentialsRejected) -> str:
    """Suggest telling the user; a model must not look for keys."""
    settings = join_quoted(error.required_config, last='and')
    return (
        "This program's own credentials are missing, wrong or expired, "
        f'so every call to {error.service} fails. '
        f'Tell the user to set {settings or "them"}, and continue without {error.service}.'
    )


def suggest_for_upstream_failed(error: catalog.network.UpstreamFailed) -> str:
    """Suggest a delay; the call itself is correct."""
    return (
        f'The fault is with {error.service}, not with your call. {_wait_and_retry(error)}; '
        'if it fails once more, choose another way or tell the user.'
    )


# Parsing

UNKNOWN_FORMAT = (
    'Send the call in a supported format, such as {"tool": "…", "arguments": {…}}; nothing was run.'
)


# Names of formats that only this library uses.
_FORMAT_SHAPES = {
    'array': 'a well-formed JSON array of calls',
    'bare': 'a well-formed JSON object with "name" and "arguments"',
    'text': 'text in UTF-8',
    'tool_list': 'a well-formed JSON object with "tool_calls"',
}


def suggest_for_unreadable_call(error: catalog.parsing.UnreadableCall) -> str:
    """Suggest sending the call again, with the text around the syntax error."""
    shape = _FORMAT_SHAPES.get(error.format, f'well-formed {error.format}')
    suggestion = f'Send the call again as {shape}; nothing was run.'
    # A call in the object of a provider has no text.
    if not error.excerpt:
        return suggestion
    return f'{suggestion} The received text is: {truncate(error.excerpt, EXCERPT_LIMIT)}'


def suggest_for_schema_violations(error: catalog.parsing.SchemaViolations) -> str:
    """List every violation of the schema."""
    problems = _list_problems(error.problems, 'the call itself')
    return f'Fix {problems} and send the call again; nothing was run.'


# MCP


def suggest_for_mcp_connection_failed(error: catalog.protocols.McpConnectionFailed) -> str:
    """Suggest one more attempt; no tool of the server is available."""
    return (
        f'Its tools are unavailable for now{_cause_in_brackets(error)}. '
        'Try once more; if it fails again, use tools of another server or tell the user.'
    )


def suggest_for_mcp_transport_failed(error: catalog.protocols.McpTransportFailed) -> str:
    """Suggest a check before a retry, since the server may have executed the call."""
    return (
        'Check whether your last call was executed before you repeat it: '
        f'{error.server!r} may have received it. Then try once more.'
    )


def suggest_for_mcp_server_failed(error: catalog.protocols.McpServerFailed) -> str:
    """Suggest a retry for faults of the server, else a corrected call."""
    if error.retryable:
        return (
            f'The fault is in {error.server!r}, not in your call. '
            'Try once more, then choose another way.'
        )
    return 'Fix your call as the server describes; the same call is always refused.'


def suggest_for_mcp_timed_out(error: catalog.protocols.McpTimedOut) -> str:
    """Suggest a smaller request, after a check whether the call was executed."""
    return (
        f'{_wait_and_retry(error)} with a smaller request to {error.server!r}; '
        f'check first whether {error.operation} was executed.'
    )


# LSP


def suggest_for_lsp_not_initialized(error: catalog.protocols.LspNotInitialized) -> str:
    """Suggest work without the language server."""
    return (
        f'Search and read the files directly instead{_cause_in_brackets(error)}, '
        f'and tell the user that {error.server!r} does not start.'
    )


def suggest_for_lsp_request_failed(error: catalog.protocols.LspRequestFailed) -> str:
    """Suggest a check of the request, or work without the language server."""
    return (
        f'Check the file and the position of your request{_cause_in_brackets(error)}, '
        'or search and read the files directly.'
    )


def suggest_for_lsp_content_modified(error: catalog.protocols.LspContentModified) -> str:
    """Suggest reading the document again; the old positions are wrong."""
    return (
        'The old positions are no longer valid: read the document again, '
        f'then call {error.method} with the new ones.'
    )


# A2A

EXTENDED_CARD_NOT_CONFIGURED = "Read the agent's public card instead; it contains less detail."


def suggest_for_task_not_found(_: catalog.protocols.A2aTaskNotFound) -> str:
    """Suggest a check of the id."""
    return (
        'Check the id that the agent returned; '
        'if the agent no longer has the task, send the work as a new one.'
    )


def suggest_for_task_not_cancelable(error: catalog.protocols.A2aTaskNotCancelable) -> str:
    """Suggest reading the result of the task."""
    return f'The task is already {error.state}. Read its result instead.'


def suggest_for_push_not_supported(_: catalog.protocols.A2aPushNotSupported) -> str:
    """Suggest the other ways to follow a task."""
    return 'Poll the state of the task, or read its stream.'


def suggest_for_unsupported_operation(_: catalog.protocols.A2aUnsupportedOperation) -> str:
    """Suggest an operation of the agent's card."""
    return "Read the agent's card and choose an operation that it lists, or use another agent."


def suggest_for_content_type_not_supported(
    error: catalog.protocols.A2aContentTypeNotSupported,
) -> str:
    """List the supported content types."""
    return _choose_from(
        error.supported,
        "Send it as plain text, or as a content type that the agent's card lists.",
    )


def suggest_for_invalid_agent_response(error: catalog.protocols.A2aInvalidAgentResponse) -> str:
    """Suggest another agent; the request itself is correct."""
    return (
        f'The fault is with {error.agent!r}, not with your request. '
        'Use another agent, or tell the user.'
    )


def suggest_for_extension_required(error: catalog.protocols.A2aExtensionRequired) -> str:
    """Suggest an agent that does not require the extension."""
    return (
        f'Use an agent that does not require {error.extension!r}, '
        'or tell the user that it is required here.'
    )


def suggest_for_version_not_supported(error: catalog.protocols.A2aVersionNotSupported) -> str:
    """List the supported versions."""
    return _choose_from(
        error.supported,
        'Use another agent, or tell the user that the two support no common version.',
    )


def suggest_for_agent_card_invalid(error: catalog.protocols.AgentCardInvalid) -> str:
    """Suggest another agent, and list the problems of the card."""
    return (
        'Use another agent: this one cannot be used until its owner fixes '
        f'{_list_problems(error.problems, "its card")}.'
    )


# Sessions


def suggest_for_recovery_failed(error: catalog.sessions.RecoveryFailed) -> str:
    """Suggest another way; all attempts were made."""
    return (
        f'Do not request {error.operation} again{_cause_in_brackets(error)}. '
        'Choose another way, or tell the user about the failure.'
    )


# Storage


def suggest_for_record_not_found(error: catalog.storage.RecordNotFound) -> str:
    """Suggest a check of the key."""
    return f'Check the spelling of {error.key!r}, list the existing keys, or store it first.'


def suggest_for_record_exists(error: catalog.storage.RecordExists) -> str:
    """Suggest an update or another key."""
    return f'Update the existing record, or choose a key other than {error.key!r}.'


def suggest_for_store_closed(error: catalog.storage.StoreClosed) -> str:
    """Suggest a delay."""
    return (
        f'{_wait_and_retry(error)}; nothing was read or written. If it stays closed, tell the user.'
    )


def suggest_for_store_unavailable(error: catalog.storage.StoreUnavailable) -> str:
    """Suggest a delay."""
    return (
        f'{_wait_and_retry(error)}; nothing was read or written. '
        'If it fails once more, tell the user.'
    )


# Streaming


def suggest_for_user_interrupted(error: catalog.streaming.UserInterrupted) -> str:
    """Suggest following the user's feedback."""
    if not error.feedback:
        return 'Stop your current work and ask the user how to continue.'
    return (
        "Stop your current work and follow the user's feedback: "
        f'{truncate(error.feedback, EXCERPT_LIMIT)}'
    )


# Tools

FAULT_OF_TOOL = 'The fault is with the tool, not with your call.'

TOOL_FAULT = f'{FAULT_OF_TOOL} Choose another way, or tell the user.'

CHECK_EFFECT = (
    'It may have taken effect: check that before you call it again. If you cannot, tell the user.'
)

TOO_MANY_MISTAKES = (
    'No further calls are run. Tell the user about your attempts and their failures, '
    'and ask how to continue.'
)

RESOURCE_EXHAUSTED = 'Try again later, or in a way that needs less of this resource.'


def suggest_for_missing_parameter(error: catalog.tools.MissingParameter) -> str:
    """Suggest a call with the parameter, an example value, and the other corrections."""
    example = f' (for example: {error.example})' if error.example else ''
    return (
        f'Call {error.tool} again with {error.parameter!r}{example}.{_other_findings(error.also)}'
    )


def suggest_for_invalid_parameter(error: catalog.tools.InvalidParameter) -> str:
    """Suggest all corrections; the message contains the reason of the first one."""
    return f'Fix {error.parameter!r} and call {error.tool} again.{_other_findings(error.also)}'


def _other_findings(findings: Iterable[catalog.tools.Finding]) -> str:
    texts = [f'{finding.parameter!r} ({finding.reason})' for finding in findings]
    return f' Also fix {join_limited(texts)}.' if texts else ''


def suggest_for_unknown_tool(error: catalog.tools.UnknownTool) -> str:
    """Suggest the closest tools, then list the available ones."""
    return _suggest_names(error.suggestions, error.available, noun='tool')


def suggest_for_file_not_found(error: catalog.tools.FileNotFound) -> str:
    """Suggest the closest paths, else the parent folder."""
    if error.suggestions:
        return f'Did you mean {join_quoted(error.suggestions)}?'
    folder = describe_parent_folder(error.path)
    return f'List {folder}, or create {error.path!r} if it should exist.'


def suggest_for_file_already_exists(error: catalog.tools.FileAlreadyExists) -> str:
    """Suggest overwriting or another path."""
    return f'Allow overwriting {error.path!r} if it should be replaced, or choose another path.'


def suggest_for_path_forbidden(error: catalog.tools.PathForbidden) -> str:
    """Suggest an allowed path, with the reason of the refusal."""
    match error.reason:
        case 'ignored':
            return (
                'The workspace hides this path from all tools. '
                'Use other files, or ask the user to remove it from the ignore list.'
            )
        case 'write_protected':
            return (
                'Tools can read this path, but not write it. '
                'Choose another path, or ask the user to remove its protection.'
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


def suggest_for_content_not_found(error: catalog.tools.ContentNotFound) -> str:
    """Suggest the most similar text, else reading the file."""
    if error.best_match is None:
        return f'Read {error.path!r} and search for a text that it contains, including white space.'
    line = '' if error.line is None else f' at line {error.line}'
    similarity = '' if error.similarity is None else f' ({error.similarity:.0%} similar)'
    return (
        f'If you mean the most similar text{line}{similarity}, search for exactly this:\n'
        f'{truncate(error.best_match, EXCERPT_LIMIT)}'
    )


def suggest_for_content_mismatch(error: catalog.tools.ContentMismatch) -> str:
    """Suggest the actual text of the line."""
    return (
        f'Read {error.path!r} again and start from the actual text of line {error.line}:\n'
        f'{truncate(error.actual, EXCERPT_LIMIT)}'
    )


def suggest_for_duplicate_match(error: catalog.tools.DuplicateMatch) -> str:
    """List every matching line, and suggest three ways to be unambiguous."""
    return (
        f'The text is at {"line" if len(error.lines) == 1 else "lines"} '
        f'{join_limited(error.lines)}. '
        'Name the line that you mean, search for a longer text, or replace all occurrences.'
    )


def suggest_for_command_timed_out(error: catalog.tools.CommandTimedOut) -> str:
    """Suggest a smaller command or a longer timeout."""
    return (
        f'Run less at a time, or allow more than {error.timeout:g} s; '
        'the command and its child processes were killed.'
    )


def suggest_for_command_failed(error: catalog.tools.CommandFailed) -> str:
    """Suggest a correction, with the meaning of the exit code."""
    meaning = describe_exit_code(error.exit_code)
    reason = f'{_capitalize(meaning)}. ' if meaning else ''
    if error.output:
        return f'{reason}Fix the problem that the output reports, then run it again.'
    return f'{reason}It wrote no output that explains the failure.'


def suggest_for_diff_rejected(error: catalog.tools.DiffRejected) -> str:
    """Suggest a new diff, with the number of rejected hunks."""
    return (
        f'{pluralize(len(error.hunks), "hunk")} of the diff could not be placed: '
        f'read {error.path!r} again and create a new diff from it.'
    )


def rejected_hunks_output(error: catalog.tools.DiffRejected) -> str:
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


def suggest_for_tool_failed(error: catalog.tools.ToolFailed) -> str:
    """Suggest another attempt if the cause may pass, else another way, with the cause."""
    if error.defect is not None:
        return TOOL_FAULT
    if isinstance(error.cause, TaggedError) and not error.retryable:
        # The tool itself has judged the call, such as one of an MCP server.
        report = f'The tool reports: {_public_cause(error)}'
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
    return f'{_fault_of_machine(error)} {advice}'


def advise_check(guidance: Guidance, error: object) -> Guidance:
    """Advise a check before another call of a tool that began and must not run twice.

    Args:
        guidance: The guidance for the error without a possible effect. Its suggestion is kept if
            the error is not one of the tool host or a guard, whose suggestions advise another call.
        error: The error of the call.
    """
    first: str | None = None
    match error:
        case catalog.tools.ToolFailed():
            first = FAULT_OF_TOOL if error.defect is not None else _fault_of_machine(error)
        case (
            catalog.tools.ToolTimedOut()
            | catalog.tools.ResourceExhausted()
            | catalog.policies.DeadlineExceeded()
        ):
            pass
        case _:
            first = guidance.suggestion
    return replace(guidance, suggestion=f'{first} {CHECK_EFFECT}' if first else CHECK_EFFECT)


def _fault_of_machine(error: catalog.tools.ToolFailed) -> str:
    # The text of an exception is the tool's own here, unlike that of a driver.
    is_tagged = isinstance(error.cause, TaggedError)
    text = _public_cause(error) if is_tagged else cause_link(error.cause).message
    reason = f' ({text})' if text else ''
    return f'The fault is with the machine, not with your call{reason}.'


def suggest_for_tool_timed_out(error: catalog.tools.ToolTimedOut) -> str:
    """Suggest a smaller request; a model cannot change the timeout."""
    return f'Request less at a time; a call is stopped after {error.timeout:g} s.'


def suggest_for_tool_cancelled(error: catalog.tools.ToolCancelled) -> str:
    """Suggest waiting for instructions."""
    return (
        f'Do not call it again unless you are told to: {error.by} stopped it. Ask how to continue.'
    )


def suggest_for_tool_repeated(error: catalog.tools.ToolRepeated) -> str:
    """Suggest the earlier results or other arguments."""
    return (
        f'{error.tool} would return the same result again. '
        'Use the earlier results, change the arguments, or choose another way.'
    )


# Workspace


def suggest_for_config_unreadable(error: catalog.workspace.ConfigUnreadable) -> str:
    """Suggest a correction at the position of the syntax error."""
    return (
        f'Read {error.path!r} around line {error.line}, column {error.column}, '
        'and fix it there if you may change the file.'
    )


def suggest_for_config_invalid(error: catalog.workspace.ConfigInvalid) -> str:
    """List every problem of the file."""
    problems = _list_problems(error.problems, 'the file itself')
    return f'Fix {problems} in {error.path!r} if you may change the file, else tell the user.'


def suggest_for_skill_invalid(error: catalog.workspace.SkillInvalid) -> str:
    """List every problem of the file."""
    problems = _list_problems(error.problems, 'the file itself')
    return f'Continue without the skill, or fix {problems} in {error.path!r}.'


def suggest_for_skill_name_mismatch(error: catalog.workspace.SkillNameMismatch) -> str:
    """Suggest the two possible renames."""
    return f'Set its name to {error.expected!r}, or rename its folder to {error.actual!r}.'


def suggest_for_not_a_repository(_: catalog.workspace.NotARepository) -> str:
    """Suggest another folder or a new repository."""
    return 'Use a folder inside a repository, or ask the user whether to create one here.'


def suggest_for_worktree_exists(error: catalog.workspace.WorktreeExists) -> str:
    """Suggest the existing worktree or another name."""
    return f'Work in {error.name!r} if it is the one you mean, or choose another name.'


def suggest_for_worktree_failed(error: catalog.workspace.WorktreeFailed) -> str:
    """Suggest a correction from the output of git."""
    if not error.output:
        return 'Git wrote no output that explains the failure; check the state of the repository.'
    return 'Fix the problem that git reports in the output, then try again.'


# Parts of suggestions


def _wait_and_retry(error: TaggedError) -> str:
    """Return the delay before a retry, if the error has one, else a short pause.

    >>> from seamwise.catalog.network import UpstreamFailed
    >>> _wait_and_retry(UpstreamFailed('search', 503, '', retry_after=1.23))
    'Wait 1.3 s, then try again'
    >>> _wait_and_retry(UpstreamFailed('search', 503, ''))
    'Wait a moment, then try again'
    """
    seconds = retry_after(error)
    if seconds is None:
        return 'Wait a moment, then try again'
    return f'Wait {_format_seconds(seconds)} s, then try again' if seconds else 'Try again now'


def _format_seconds(seconds: float) -> str:
    """Return seconds with at most one decimal, rounded up so that the delay is long enough."""
    # The inner rounding removes binary noise: 1.1 * 10 is 11.000000000000002.
    tenths = ceil(round(seconds * 10, 6))
    return str(tenths // 10) if tenths % 10 == 0 else f'{tenths // 10}.{tenths % 10}'


def _format_time(unix_time: float) -> str | None:
    """Return a Unix time in RFC 3339 with whole seconds, or None if it is out of range."""
    try:
        return datetime.fromtimestamp(ceil(unix_time), UTC).strftime('%Y-%m-%dT%H:%M:%SZ')
    except (ValueError, OverflowError, OSError):
        return None


def _cause_in_brackets(error: TaggedError) -> str:
    text = _public_cause(error)
    return f' ({text})' if text else ''


def _public_cause(error: TaggedError) -> str:
    """Return the message of a tagged cause, or the class of an exception: its text is internal."""
    cause = next(iter(causes(error)), None)
    if isinstance(cause, TaggedError):
        return public_message_of(cause)
    return '' if cause is None else cause_link(cause).type


def _list_problems(problems: Iterable[Problem], whole: str) -> str:
    """Return problems with their pointers; an empty pointer refers to the `whole`."""
    texts = [f'{problem.pointer or whole} ({problem.message})' for problem in problems]
    return join_limited(texts) or whole


def _choose_from(names: Iterable[str], otherwise: str) -> str:
    options = tuple(names)
    return f'Choose {join_quoted(options)}.' if options else otherwise


def _suggest_names(suggestions: Sequence[str], available: Sequence[str], *, noun: str) -> str:
    question = f'Did you mean {_quote_names(suggestions)}? ' if suggestions else ''
    if not available:
        return f'{question}No {noun} is available; continue without one.'
    return f'{question}The {noun}s are {_quote_names(available, last="and")}.'


def _quote_names(names: Sequence[str], *, last: str = 'or') -> str:
    """Return names in quotes; only the names that are shown are redacted."""
    quoted = [repr(redact(name)) for name in names[:MAX_LISTED]]
    # `join_limited` only counts the rest, so it need not be redacted (there can be thousands).
    return join_limited([*quoted, *names[MAX_LISTED:]], last=last)


def _capitalize(text: str) -> str:
    return text[:1].upper() + text[1:]
