"""Suggestions for language models: the next step after each error."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from math import ceil
from typing import assert_never

from seamwise import policies
from seamwise._text.phrases import (
    MAX_LISTED,
    join_limited,
    join_quoted,
    pluralize,
    truncate,
)
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
from seamwise.errors import TaggedError, retry_after
from seamwise.redaction import redact
from seamwise.seams._redacted import direct_cause
from seamwise.seams._tool_phrases import (
    describe_exit_code,
    describe_parent_folder,
    describe_rejected_hunk,
)
from seamwise.seams.model.shape import OUTPUT_LIMIT, head

EXCERPT_LIMIT = 600
"""Of what stands in a file, a suggestion shows at most so many characters."""


def again(error: TaggedError, what: str = 'try again') -> str:
    """Say when a second try makes sense: after the delay that the error knows, else after a short pause.

    >>> from seamwise.catalog.network import UpstreamFailed
    >>> again(UpstreamFailed('search', 503, '', retry_after=1.23)), again(UpstreamFailed('search', 503, ''))
    ('Wait 1.3 s, then try again', 'Wait a moment, then try again')
    """
    seconds = retry_after(error)
    if seconds is None:
        return f'Wait a moment, then {what}'
    return (
        f'Wait {rounded_up(seconds)} s, then {what}'
        if seconds
        else f'{what[:1].upper()}{what[1:]} at once'
    )


def rounded_up(seconds: float) -> str:
    """Give seconds with one digit after the point, rounded up: who waits that long has waited long enough."""
    tenths = ceil(round(seconds * 10, 6))
    return str(tenths // 10) if tenths % 10 == 0 else f'{tenths // 10}.{tenths % 10}'


def why(error: TaggedError) -> str:
    """Give the message of what caused an error, in brackets, where that is known to say something."""
    cause = direct_cause(error)
    return f' ({cause.message})' if cause and cause.message else ''


def places(problems: Iterable[Problem], whole: str) -> str:
    """List findings with their places; one without a place is about the whole."""
    return join_limited([f'{one.pointer or whole} ({one.message})' for one in problems]) or whole


def one_of(names: Iterable[str], nothing: str) -> str:
    """List what there is to choose from, or say that there is nothing."""
    known = tuple(names)
    return f'Take {join_quoted(known)}.' if known else nothing


def first_of(names: Sequence[str], *, last: str = 'or') -> str:
    """List names in quotes, each redacted; of very many, only those that are shown are looked at."""
    return join_limited(
        [*(repr(redact(name)) for name in names[:MAX_LISTED]), *names[MAX_LISTED:]], last=last
    )


def meant(suggestions: Sequence[str], available: Sequence[str], *, noun: str) -> str:
    """Name the nearest names, then all there are."""
    near = f'Did you mean {first_of(suggestions)}? ' if suggestions else ''
    there = (
        f'The {noun}s are {first_of(available, last="and")}.'
        if available
        else f'No {noun} is available; do without one.'
    )
    return near + there


def moment(unix: float) -> str | None:
    """Say a Unix time in words, RFC 3339 to the second; None where it is no moment of this calendar."""
    try:
        return datetime.fromtimestamp(ceil(unix), UTC).strftime('%Y-%m-%dT%H:%M:%SZ')
    except (ValueError, OverflowError, OSError):
        return None


def unauthenticated(error: access.Unauthenticated) -> str:
    """Tell who signs in; never to ask for a password."""
    return f'Ask the user to sign in ({error.scheme}); do not ask for the credentials themselves.'


def access_denied(_: access.AccessDenied) -> str:
    """Tell who decides."""
    return 'Do not try to get around this. Work with what you may use, or ask the user to have it granted.'


def agent_not_found(error: agents.AgentNotFound) -> str:
    """Name the nearest agents, then all there are."""
    return meant(error.suggestions, error.available, noun='agent')


def command_not_found(error: agents.CommandNotFound) -> str:
    """Name the nearest commands, then all there are."""
    return meant(error.suggestions, error.available, noun='command')


def agent_not_ready(error: agents.AgentNotReady) -> str:
    """Tell when to come back."""
    return f'{again(error)}, or give the work to another agent than {error.agent!r}.'


def agent_busy(error: agents.AgentBusy) -> str:
    """Tell when to come back; one thing at a time."""
    return f'It does one thing at a time. {again(error)}, or give the work to another agent.'


def invalid_transition(error: agents.InvalidTransition) -> str:
    """Name the states that it leads to."""
    return one_of(
        error.allowed, f'Nothing leads on from {error.current!r}; leave {error.agent!r} as it is.'
    )


def guardrails_violated(error: agents.GuardrailsViolated) -> str:
    """Name every rule that is broken."""
    return f'It breaks {places(error.problems, "its rules")}. Do it in a way that keeps them, or ask the user to decide.'


def context_overflow(error: agents.ContextOverflow) -> str:
    """Tell by how much it is too long."""
    over = max(error.tokens - error.limit, 1)
    return f'Summarize what was said so far in at least {over} fewer tokens, or begin a new conversation with what matters.'


def compression_failed(_: agents.CompressionFailed) -> str:
    """Tell what can be done by hand."""
    return 'Say yourself what can be left out, in a summary of what matters, or ask the user to begin a new conversation.'


def rate_limited(error: policies.RateLimited) -> str:
    """Tell how long to wait; earlier calls are in vain."""
    return f'{again(error)}: every earlier call is refused too. Meanwhile do what needs no {error.name}.'


def circuit_open(error: policies.CircuitOpen) -> str:
    """Tell to take another way; this one is closed for so long."""
    wait = rounded_up(error.retry_after)
    match error.state:
        case 'open':
            return f'Take another way to the same end: {error.name} is not asked for the next {wait} s.'
        case 'half_open':
            return f'Take another way to the same end, or try again in {wait} s: {error.name} is just being tried out.'
        case _:
            assert_never(error.state)


def bulkhead_full(error: policies.BulkheadFull) -> str:
    """Tell that one call has to end first."""
    return f'Make fewer calls at once: one of the {error.limit} at work has to end first. {again(error)}.'


def deadline_exceeded(error: policies.DeadlineExceeded) -> str:
    """Tell the two ways to be in time."""
    return f'{again(error)}, asking for less at once or allowing more than {error.timeout:g} s.'


def model_not_found(error: models.ModelNotFound) -> str:
    """Name the nearest models."""
    if error.suggestions:
        return f'Did you mean {join_quoted(error.suggestions)}?'
    return (
        f'Ask {error.provider} for the models that it offers, or leave the choice of the model out.'
    )


def provider_not_ready(error: models.ProviderNotReady) -> str:
    """Tell who can help."""
    return f'Its configuration must be mended{why(error)}, which you cannot do by a call. Take another provider, or tell the user.'


def provider_unavailable(error: models.ProviderUnavailable) -> str:
    """Tell when to come back, or where else to go."""
    return f'{again(error)}, or take a model of another provider.'


def model_overloaded(error: models.ModelOverloaded) -> str:
    """Tell when to come back, or what else to take."""
    return f'{again(error)}, or take another model than {error.model!r}.'


def no_model_available(error: models.NoModelAvailable) -> str:
    """Tell when to come back; there is nothing else to take."""
    return f'{again(error)}; every model that could do this was tried, so do what you can without one or tell the user.'


def invalid_model_request(error: models.InvalidModelRequest) -> str:
    """Tell what to mend."""
    return f'Mend what the message says before you ask {error.provider} again; the same request is refused every time.'


def context_too_long(error: models.ContextTooLong) -> str:
    """Tell by how much it is too long."""
    return f'Leave out at least {max(error.tokens - error.limit, 1)} tokens: quote less, summarize what is long, or split the work in two.'


def content_filtered(error: models.ContentFiltered) -> str:
    """Tell that the same words meet the same filter."""
    return f'The policy of {error.provider} forbids this; do not try to get around it. Ask for something else, or tell the user.'


def output_truncated(error: models.OutputTruncated) -> str:
    """Tell how to get the rest."""
    return f'Ask for less, or in parts of fewer than {error.limit} tokens, or allow more; what is there ends in the middle.'


def structured_output_invalid(error: models.StructuredOutputInvalid) -> str:
    """Name every place to mend."""
    return f'Answer again in the shape that was asked for, and mend {places(error.problems, "the answer itself")}.'


def quota_exceeded(error: models.QuotaExceeded) -> str:
    """Tell when it goes on, and who can change that."""
    until = None if error.reset is None else moment(error.reset)
    when = f' until {until}' if until else ''
    return f'Nothing more is to be had from {error.provider}{when}. Take another provider, or ask the user to raise the quota.'


def budget_exceeded(error: models.BudgetExceeded) -> str:
    """Tell who can change it."""
    return f'Make no more calls that cost. Tell the user what is done and what is left, and ask whether {error.limit:g} may be raised.'


def host_unreachable(error: network.HostUnreachable) -> str:
    """Tell to check the name, and that a second try may do."""
    return f'Check that {error.host!r} is the right address and try once more; if that fails too, go on without it or tell the user.'


def network_timed_out(error: network.NetworkTimedOut) -> str:
    """Tell when to come back, and what would be quicker."""
    return f'{again(error)}, asking {error.host} for less at once; after a second timeout go on without it.'


def upstream_rate_limited(error: network.UpstreamRateLimited) -> str:
    """Tell how long to wait, and how many requests there are."""
    limit = (
        f' It takes {error.limit} requests; put several things into one.'
        if error.limit is not None
        else ''
    )
    return f'{again(error)}, and not before: every earlier call is refused too.{limit}'


def credentials_rejected(error: network.CredentialsRejected) -> str:
    """Tell who can help; never to look for a key."""
    return (
        f"This program's own credentials are missing, wrong or expired; no other call to {error.service} will do better. "
        f'Tell the user to set {error.required_config!r}, and go on without {error.service}.'
    )


def upstream_failed(error: network.UpstreamFailed) -> str:
    """Tell when to come back; the fault is on the other side."""
    return f"The fault is {error.service}'s, not your call's. {again(error)}; if it fails once more, take another way or tell the user."


UNKNOWN_FORMAT = 'Send the call in a format that is read here, such as {"tool": "…", "arguments": {…}}; nothing was run.'


def unreadable_call(error: parsing.UnreadableCall) -> str:
    """Show the text around the trouble."""
    return f'Send the call again as well-formed {error.format}; nothing was run. It read: {truncate(error.excerpt, EXCERPT_LIMIT)}'


def schema_violations(error: parsing.SchemaViolations) -> str:
    """Name every place to mend."""
    return f'Mend {places(error.problems, "the call itself")} and send the call again; nothing was run.'


EXTENDED_CARD_NOT_CONFIGURED = (
    "Read the agent's public card instead; it says less, but it is there."
)


def mcp_connection_failed(error: protocols.McpConnectionFailed) -> str:
    """Tell that all tools of the server are away, and why."""
    reason = f' ({error.reason})' if error.reason else why(error)
    return f'Its tools cannot be used for now{reason}. Try once more; if it fails again, take tools of another server or tell the user.'


def mcp_transport_failed(error: protocols.McpTransportFailed) -> str:
    """Tell that nobody knows whether the call was done."""
    return f'Find out whether your last call was done before you repeat it: {error.server!r} may have received it. Then try once more.'


def mcp_server_failed(error: protocols.McpServerFailed) -> str:
    """Tell whose fault it is."""
    if error.retryable:
        return f'The fault is inside of {error.server!r}, not in your call. Try once more, then take another way.'
    return 'Mend your call by what the server says; the same call is refused every time.'


def mcp_timed_out(error: protocols.McpTimedOut) -> str:
    """Tell when to come back, and what would be quicker."""
    return f'{again(error)}, asking {error.server!r} for less at once; find out first whether {error.operation} was done after all.'


def lsp_not_initialized(error: protocols.LspNotInitialized) -> str:
    """Tell what can be done without it."""
    return f'Search and read the files themselves instead{why(error)}, and tell the user that {error.server!r} does not start.'


def lsp_request_failed(error: protocols.LspRequestFailed) -> str:
    """Tell what can be done without it."""
    return f'Check the file and the position that you asked about{why(error)}, or search and read the files themselves.'


def lsp_content_modified(error: protocols.LspContentModified) -> str:
    """Tell that the positions are old."""
    return f'Positions from before no longer hold: read the document again, then ask for {error.method} with the new ones.'


def task_not_found(_: protocols.A2aTaskNotFound) -> str:
    """Tell to check the id."""
    return 'Check the id against the one that the agent gave you; if the agent no longer keeps the task, send the work as a new one.'


def task_not_cancelable(error: protocols.A2aTaskNotCancelable) -> str:
    """Tell to take what there is."""
    return f'The task is {error.state} and stays so. Read its outcome instead.'


def push_not_supported(_: protocols.A2aPushNotSupported) -> str:
    """Tell the other ways to hear of it."""
    return 'Ask for the state of the task from time to time, or read its stream.'


def unsupported_operation(_: protocols.A2aUnsupportedOperation) -> str:
    """Tell where the operations stand."""
    return "Read the agent's card and ask for something that it lists, or ask another agent."


def content_type_not_supported(error: protocols.A2aContentTypeNotSupported) -> str:
    """Name the kinds that it takes."""
    return one_of(
        error.supported, "Send it as plain text, or as a kind that the agent's card lists."
    )


def invalid_agent_response(error: protocols.A2aInvalidAgentResponse) -> str:
    """Tell whose fault it is."""
    return f'The fault lies with {error.agent!r}, not with your request. Ask another agent, or tell the user.'


def extension_required(error: protocols.A2aExtensionRequired) -> str:
    """Tell who could have it."""
    return f'Ask an agent that does without {error.extension!r}, or tell the user that it is needed here.'


def version_not_supported(error: protocols.A2aVersionNotSupported) -> str:
    """Name the versions that it speaks."""
    return one_of(
        error.supported,
        'Ask another agent, or tell the user that the two do not speak the same version.',
    )


def agent_card_invalid(error: protocols.AgentCardInvalid) -> str:
    """Name what is wrong with it, and who can help."""
    return f'Ask another agent: this one cannot be used until its owner mends {places(error.problems, "its card")}.'


def recovery_failed(error: sessions.RecoveryFailed) -> str:
    """Tell that it is over, and why."""
    return f'Do not ask for {error.operation} again{why(error)}. Take another way, or tell the user what failed.'


def record_not_found(error: storage.RecordNotFound) -> str:
    """Tell to check the key."""
    return f'Check the spelling of {error.key!r}, list what there is, or store it first.'


def record_exists(error: storage.RecordExists) -> str:
    """Tell the two ways out."""
    return f'Change the one that is there, or take another key than {error.key!r}.'


def store_closed(error: storage.StoreClosed) -> str:
    """Tell that it may come back."""
    return f'{again(error)}; nothing was read or written. If it stays closed, tell the user.'


def store_unavailable(error: storage.StoreUnavailable) -> str:
    """Tell that it may come back."""
    return f'{again(error)}; nothing was read or written. If it fails once more, tell the user.'


def user_interrupted(error: streaming.UserInterrupted) -> str:
    """Hand on what the user said."""
    if not error.feedback:
        return 'Stop what you were doing and ask the user how to go on.'
    return f'Stop what you were doing and work on what the user says: {truncate(error.feedback, EXCERPT_LIMIT)}'


TOO_MANY_MISTAKES = (
    'No further call runs. Tell the user what you tried and what went wrong, and ask how to go on.'
)

INVALID_RESULT = "The fault is the tool's, not your call's. Take another way, or tell the user."


def missing_parameter(error: tools.MissingParameter) -> str:
    """Name the parameter, an example, and what else to mend."""
    example = f' (for example: {error.example})' if error.example else ''
    return f'Call {error.tool} again with {error.parameter!r}{example}.{_also(error.also)}'


def invalid_parameter(error: tools.InvalidParameter) -> str:
    """Name the parameter and what else to mend; the reason stands in the message."""
    return f'Mend {error.parameter!r} and call {error.tool} again.{_also(error.also)}'


def _also(findings: Iterable[tools.Finding]) -> str:
    mended = [f'{one.parameter!r} ({one.reason})' for one in findings]
    return f' Mend {join_limited(mended)} too.' if mended else ''


def unknown_tool(error: tools.UnknownTool) -> str:
    """Name the nearest tools, then all there are."""
    return meant(error.suggestions, error.available, noun='tool')


def file_not_found(error: tools.FileNotFound) -> str:
    """Name the nearest paths, else the folder to look into."""
    if error.suggestions:
        return f'Did you mean {join_quoted(error.suggestions)}?'
    return f'List {describe_parent_folder(error.path)} to see what is there, or create it if it should exist.'


def file_already_exists(error: tools.FileAlreadyExists) -> str:
    """Tell the two ways out."""
    return f'Say that {error.path!r} may be overwritten if it should be replaced, or take another path.'


def path_forbidden(error: tools.PathForbidden) -> str:
    """Tell who has forbidden it, and what remains."""
    match error.reason:
        case 'ignored':
            return 'The workspace hides this path from all tools. Work with other files, or ask the user to take it off the ignore list.'
        case 'write_protected':
            return 'This path may be read, not written. Take another path, or ask the user to lift its protection.'
        case 'system':
            return 'This path belongs to the system, and tools leave it alone. Take another path, or ask the user to do it.'
        case 'outside_workspace':
            return 'Take a path inside the workspace, relative to its root and without "..".'
        case _:
            assert_never(error.reason)


def content_not_found(error: tools.ContentNotFound) -> str:
    """Show the nearest text and where it stands, else send to the file."""
    if error.best_match is None:
        return f'Read {error.path!r} and search for a text that stands there, white space included.'
    where = f' at line {error.line}' if error.line is not None else ''
    alike = f' and is {error.similarity:.0%} alike' if error.similarity is not None else ''
    return f'The nearest text stands{where}{alike}; search for exactly this if you mean it:\n{truncate(error.best_match, EXCERPT_LIMIT)}'


def content_mismatch(error: tools.ContentMismatch) -> str:
    """Show what stands at the line."""
    return f'Read {error.path!r} again and start from what line {error.line} really holds:\n{truncate(error.actual, EXCERPT_LIMIT)}'


def duplicate_match(error: tools.DuplicateMatch) -> str:
    """Name every line, and the three ways to be certain."""
    return (
        f'It stands at {"line" if len(error.lines) == 1 else "lines"} {join_limited(error.lines)}. '
        'Name the line that you mean, search for more of the text around it, or replace all.'
    )


def command_timed_out(error: tools.CommandTimedOut) -> str:
    """Tell the two ways to be in time."""
    return f'Run less at once, or allow more than {error.timeout:g} s; whatever it had started was killed.'


def command_failed(error: tools.CommandFailed) -> str:
    """Tell what the exit code says, and where to look."""
    known = describe_exit_code(error.exit_code)
    reason = f'{known[0].upper()}{known[1:]}. ' if known else ''
    return (
        f'{reason}Mend what the output says and run it again.'
        if error.output
        else f'{reason}It wrote nothing that says why.'
    )


def diff_rejected(error: tools.DiffRejected) -> str:
    """Tell how many hunks do not fit, and what to make the next diff from."""
    return f'{pluralize(len(error.hunks), "hunk")} of the diff found no certain place: read {error.path!r} again and make a new diff from it.'


def rejected_hunks(error: tools.DiffRejected) -> str:
    """Name every rejected hunk by its header; as long as there is room, with what was expected and what is there."""
    blocks = '\n'.join(
        f'{describe_rejected_hunk(hunk)}\nexpected:\n{hunk.expected.rstrip()}\nfound:\n{hunk.actual.rstrip()}'
        for hunk in error.hunks
    )
    return head(
        blocks
        if len(blocks) <= OUTPUT_LIMIT
        else '\n'.join(map(describe_rejected_hunk, error.hunks))
    )


def tool_failed(error: tools.ToolFailed) -> str:
    """Tell the trouble that the tool met."""
    return f"The trouble is the machine's, not your call's{why(error)}. Take another way, or tell the user."


def tool_timed_out(error: tools.ToolTimedOut) -> str:
    """Tell the two ways to be in time."""
    return f'Ask for less at once, or allow more than {error.timeout:g} s.'


def tool_cancelled(error: tools.ToolCancelled) -> str:
    """Tell whose word counts."""
    return f'Do not call it again unless asked to: {error.by} stopped it. Ask how to go on.'


def tool_repeated(error: tools.ToolRepeated) -> str:
    """Tell that more of the same gives the same."""
    return f'{error.tool} would only give the same again. Use what the calls before gave you, change the arguments, or take another way.'


def resource_exhausted(error: tools.ResourceExhausted) -> str:
    """Tell to wait or to need less."""
    return f'Try again later, or in a way that needs less {error.resource}.'


def config_unreadable(error: workspace.ConfigUnreadable) -> str:
    """Point to the place."""
    return f'Read {error.path!r} around line {error.line}, column {error.column}, and mend it there if it is yours to change.'


def config_invalid(error: workspace.ConfigInvalid) -> str:
    """Name every place to mend."""
    return f'Mend {places(error.problems, "the file itself")} in {error.path!r} if it is yours to change, else tell the user.'


def skill_invalid(error: workspace.SkillInvalid) -> str:
    """Name every place to mend."""
    return f'Go on without the skill, or mend {places(error.problems, "the file itself")} in {error.path!r}.'


def skill_name_mismatch(error: workspace.SkillNameMismatch) -> str:
    """Tell the two ways out."""
    return f'Set its name to {error.expected!r}, or rename its folder to {error.actual!r}.'


def not_a_repository(_: workspace.NotARepository) -> str:
    """Tell the two ways out."""
    return 'Go to a folder that is in a repository, or ask the user whether to make one here.'


def worktree_exists(error: workspace.WorktreeExists) -> str:
    """Tell the two ways out."""
    return f'Work in {error.name!r} if it is the one that you mean, or take another name.'


def worktree_failed(error: workspace.WorktreeFailed) -> str:
    """Tell where to look."""
    if not error.output:
        return 'Git wrote nothing that says why; look at the state of the repository.'
    return 'Mend what git says in the output and try again.'
