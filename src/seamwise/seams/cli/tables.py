"""Exit codes and hints of all catalogue errors: one table per union.

Exit codes follow sysexits.h: 2 usage, 65 bad data, 66 no input, 69 unavailable, 73 cannot create,
75 temporary failure, 77 no permission, 78 configuration. 124 is the code of timeout(1), 130 that
of a shell after Ctrl-C, 1 any other failure.
"""

from collections.abc import Iterator

from seamwise import policies
from seamwise._text.phrases import (
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
from seamwise.seams._tool_phrases import (
    describe_exit_code,
    describe_parent_folder,
    describe_rejected_hunk,
)
from seamwise.seams.adapter import Adapter
from seamwise.seams.cli import hints
from seamwise.seams.cli.hints import EXCERPT_LIMIT, last_words
from seamwise.seams.cli.on import on
from seamwise.seams.cli.shape import Place, Rendered


def _access_why(error: access.Unauthenticated) -> str | None:
    return None if error.reason is None else f'{error.reason}.'


ACCESS: Adapter[access.AccessError, Rendered] = on(access.Unauthenticated).exits(
    77, hint=_access_why
) | on(access.AccessDenied).exits(77, hint='somebody who may has to grant it.')


def _agents(error: agents.AgentNotFound) -> str | None:
    return (
        f'the agents are {join_quoted(error.available, last="and")}.' if error.available else None
    )


def _commands(error: agents.CommandNotFound) -> str | None:
    return (
        f'the commands are {join_quoted(error.available, last="and")}.' if error.available else None
    )


def _states(error: agents.InvalidTransition) -> str:
    return (
        f'it can be {join_quoted(error.allowed)} next.'
        if error.allowed
        else 'nothing comes after that.'
    )


def _rules(error: agents.GuardrailsViolated) -> Iterator[str]:
    return hints.places(error.problems, whole='all of it')


AGENTS: Adapter[agents.AgentError, Rendered] = (
    on(agents.AgentNotFound).exits(
        2, hint=_agents, meant=lambda error: (error.name, error.available)
    )
    | on(agents.CommandNotFound).exits(
        2, hint=_commands, meant=lambda error: (error.name, error.available)
    )
    | on(agents.AgentNotReady).exits(69, hint=hints.later)
    | on(agents.AgentBusy).exits(75, hint=hints.later)
    | on(agents.InvalidTransition).exits(1, hint=_states)
    | on(agents.GuardrailsViolated).exits(77, hint=_rules)
    | on(agents.ContextOverflow).exits(65, hint='compress the conversation, or begin a new one.')
    | on(agents.CompressionFailed).exits(
        1, hint='leave something out by hand, or begin a new conversation.'
    )
)


def _guards_more_time(error: policies.DeadlineExceeded) -> str:
    return f'ask for less at once, or allow more than {error.timeout:g} s.'


GUARDS: Adapter[policies.GuardError, Rendered] = (
    on(policies.RateLimited).exits(75)
    | on(policies.CircuitOpen).exits(75, hint='until then, do without it.')
    | on(policies.BulkheadFull).exits(75, hint=hints.later)
    | on(policies.DeadlineExceeded).exits(124, hint=_guards_more_time)
)


def _models(error: models.ModelNotFound) -> str | None:
    return None if error.suggestions else f'ask {error.provider} which models it offers.'


def _shorter(error: models.ContextTooLong) -> str:
    return f'leave out {error.tokens - error.limit:,} tokens or more.'


def _shape(error: models.StructuredOutputInvalid) -> Iterator[str]:
    yield 'asked again, the model may keep to it.'
    yield from hints.places(error.problems, whole='the answer')


MODELS: Adapter[models.ModelError, Rendered] = (
    on(models.ModelNotFound).exits(2, hint=_models)
    | on(models.ProviderNotReady).exits(78, hint='mend how the provider is set up.')
    | on(models.ProviderUnavailable).exits(69, hint='another provider may do.')
    | on(models.ModelOverloaded).exits(75, hint='another model may be free.')
    | on(models.NoModelAvailable).exits(69, hint=hints.later)
    | on(models.InvalidModelRequest).exits(65)
    | on(models.ContextTooLong).exits(65, hint=_shorter)
    | on(models.ContentFiltered).exits(77, hint='ask in another way, if that is right.')
    | on(models.OutputTruncated).exits(65, hint='ask for less, or allow more tokens.')
    | on(models.StructuredOutputInvalid).exits(75, hint=_shape)
    | on(models.QuotaExceeded).exits(69, hint='raise the quota, or wait until it begins anew.')
    | on(models.BudgetExceeded).exits(69, hint='whoever set the budget can raise it.')
    | on(models.BatchClosed).exits(1, hint='open a new batch.')
    | on(models.BatchFull).exits(75, hint=hints.later)
    | on(models.BatchTimedOut).exits(124, hint='send it again, or make it smaller.')
    | on(models.CacheMiss).exits(66, hint='ask the model.')
)


def _limit(error: network.UpstreamRateLimited) -> str | None:
    if error.limit is None:
        return hints.later(error)
    made = '' if error.requests_made is None else f', and {error.requests_made} were made'
    return f'it takes {error.limit} requests at a time{made}.'


def _setting(error: network.CredentialsRejected) -> str:
    return f'set {error.required_config} to a key that is valid.'


def _answer(error: network.UpstreamFailed) -> Iterator[str]:
    yield from filter(None, [hints.reads(error.excerpt), hints.later(error)])


NETWORK: Adapter[network.NetworkError, Rendered] = (
    on(network.HostUnreachable).exits(
        69, hint='see whether the name is right and the network is up.'
    )
    | on(network.NetworkTimedOut).exits(124, hint=hints.later)
    | on(network.UpstreamRateLimited).exits(75, hint=_limit)
    | on(network.CredentialsRejected).exits(78, hint=_setting)
    | on(network.UpstreamFailed).exits(69, hint=_answer)
)


def _text(error: parsing.UnreadableCall | parsing.UnknownFormat) -> str | None:
    return hints.reads(error.excerpt)


def _places(error: parsing.SchemaViolations) -> Iterator[str]:
    return hints.places(error.problems, whole='the line')


PARSING: Adapter[parsing.ParsingError, Rendered] = (
    on(parsing.UnreadableCall).exits(65, hint=_text)
    | on(parsing.UnknownFormat).exits(65, hint=_text)
    | on(parsing.SchemaViolations).exits(65, hint=_places)
)


def _protocols_why(error: protocols.McpConnectionFailed) -> Iterator[str]:
    if error.reason is not None:
        yield f'{error.reason}.'
    yield 'see whether the server runs, and is set up as it must be.'


def _own_fault(error: protocols.McpServerFailed) -> str | None:
    return 'the server says that the fault is its own; try again.' if error.retryable else None


def _supported(
    error: protocols.A2aContentTypeNotSupported | protocols.A2aVersionNotSupported,
) -> str | None:
    return f'it takes {join_quoted(error.supported)}.' if error.supported else None


def _card(error: protocols.AgentCardInvalid) -> Iterator[str]:
    return hints.places(error.problems, whole='the card')


MCP: Adapter[protocols.McpError, Rendered] = (
    on(protocols.McpConnectionFailed).exits(69, hint=_protocols_why)
    | on(protocols.McpTransportFailed).exits(69, hint='connect again.')
    | on(protocols.McpServerFailed).exits(1, hint=_own_fault)
    | on(protocols.McpTimedOut).exits(124, hint=hints.later)
)

LSP: Adapter[protocols.LspError, Rendered] = (
    on(protocols.LspNotInitialized).exits(
        78, hint='see whether the server is installed, and how it is started.'
    )
    | on(protocols.LspRequestFailed).exits(1)
    | on(protocols.LspContentModified).exits(1, hint='ask again, about the text as it is now.')
)

A2A: Adapter[protocols.A2aError, Rendered] = (
    on(protocols.A2aTaskNotFound).exits(66, hint='check the id; an old task may be forgotten.')
    | on(protocols.A2aTaskNotCancelable).exits(1, hint='take its outcome.')
    | on(protocols.A2aPushNotSupported).exits(65, hint='poll, or read the stream.')
    | on(protocols.A2aUnsupportedOperation).exits(65, hint="read the agent's card.")
    | on(protocols.A2aContentTypeNotSupported).exits(65, hint=_supported)
    | on(protocols.A2aInvalidAgentResponse).exits(65)
    | on(protocols.A2aExtendedCardNotConfigured).exits(
        78, hint='whoever runs the agent has to set it up.'
    )
    | on(protocols.A2aExtensionRequired).exits(
        65, hint='declare the extension, or ask another agent.'
    )
    | on(protocols.A2aVersionNotSupported).exits(65, hint=_supported)
    | on(protocols.AgentCardInvalid).exits(78, hint=_card)
)


def _reconnect(error: sessions.ConnectionLost) -> str:
    why = f'{error.close_reason}; ' if error.close_reason else ''
    return f'{why}connect again, and go on after event {error.last_event_seq}.'


def _gap(error: sessions.ReplayGap) -> str:
    return f'events are kept from {error.first_available} on; read the whole state again.'


def _tried(error: sessions.RecoveryFailed) -> str:
    return f'it was tried {pluralize(error.attempts, "time")}.'


SESSIONS: Adapter[sessions.SessionError, Rendered] = (
    on(sessions.InvalidInput).exits(65)
    | on(sessions.SessionNotFound).exits(66, hint='begin a new session.')
    | on(sessions.SessionBusy).exits(1, hint='wait for its end, or stop it.')
    | on(sessions.ConnectionLost).exits(69, hint=_reconnect)
    | on(sessions.ReplayGap).exits(1, hint=_gap)
    | on(sessions.UnknownEpoch).exits(66, hint='begin anew, without the numbers of the old epoch.')
    | on(sessions.AckAhead).exits(65, hint='acknowledge what has come, and no more.')
    | on(sessions.RecoveryFailed).exits(1, hint=_tried)
)


STORAGE: Adapter[storage.StorageError, Rendered] = (
    on(storage.RecordNotFound).exits(66, hint='check the key, or store it first.')
    | on(storage.RecordExists).exits(73, hint='change that one, or take another key.')
    | on(storage.StoreClosed).exits(69, hint='open it again.')
    | on(storage.StoreUnavailable).exits(69, hint=hints.later)
)


def _chunk(error: streaming.ChunkUnparsable) -> str | None:
    text = hints.reads(error.excerpt)
    return (
        text if text is None or error.position is None else f'at position {error.position}, {text}'
    )


def _status(error: streaming.StreamProviderFailed) -> str | None:
    return hints.later(error) if error.status is None else f'it gave status {error.status}.'


STREAMING: Adapter[streaming.StreamingError, Rendered] = (
    on(streaming.InvalidStream).exits(65)
    | on(streaming.ChunkUnparsable).exits(65, hint=_chunk)
    | on(streaming.ChunkHandlerFailed).exits(75, hint='try again.')
    | on(streaming.StreamAborted).exits(130)
    | on(streaming.UserInterrupted).exits(130, hint=lambda error: error.feedback)
    | on(streaming.StreamProviderFailed).exits(69, hint=_status)
    | on(streaming.TokenCountFailed).exits(1, hint='estimate the count instead.')
    | on(streaming.BufferFull).exits(75, hint=hints.later)
    | on(streaming.StreamClosed).exits(1, hint='open a new stream.')
    | on(streaming.SlowConsumer).exits(75, hint='connect again, and go on where it was.')
)


_FORBIDDEN: dict[tools.PathReason, str] = {
    'ignored': 'the ignore rules of the workspace hide it from all tools.',
    'write_protected': 'it may be read, not written.',
    'system': 'it belongs to the system; tools leave it alone.',
    'outside_workspace': 'take a path inside the workspace, relative to its root.',
}


def _missing(error: tools.MissingParameter) -> Iterator[str]:
    if error.example:
        yield f'for example: {error.example}'
    yield from _also(error.also)


def _invalid(error: tools.InvalidParameter) -> Iterator[str]:
    return _also(error.also)


def _also(findings: tuple[tools.Finding, ...]) -> Iterator[str]:
    return (f'{one.parameter!r} is wrong too: {one.reason}.' for one in findings)


def _tools(error: tools.UnknownTool) -> str | None:
    return f'the tools are {join_quoted(error.available, last="and")}.' if error.available else None


def _folder(error: tools.FileNotFound) -> str | None:
    return None if error.suggestions else f'look into {describe_parent_folder(error.path)}.'


def _by_whom(error: tools.PathForbidden) -> str:
    return _FORBIDDEN[error.reason]


def _nearest(error: tools.ContentNotFound) -> str | None:
    if error.best_match is None:
        return None
    where = '' if error.line is None else f' at line {error.line}'
    alike = '' if error.similarity is None else f' ({error.similarity:.0%} alike)'
    return f'the nearest text stands{where}{alike}: {truncate(error.best_match, EXCERPT_LIMIT)!r}'


def _found(error: tools.ContentMismatch) -> str:
    return f'it holds {truncate(error.actual, EXCERPT_LIMIT)!r}, not {truncate(error.expected, EXCERPT_LIMIT)!r}.'


def _lines(error: tools.DuplicateMatch) -> str:
    return f'it begins at the lines {join_limited(error.lines)}; name one of them, or replace all.'


def _killed(error: tools.CommandTimedOut) -> Iterator[str]:
    yield from last_words(error.output)
    yield 'allow more time, or run less at once; whatever it had started was killed.'


def _ended(error: tools.CommandFailed) -> Iterator[str]:
    if known := describe_exit_code(error.exit_code):
        yield f'{known}.'
    yield from last_words(error.output)


def _hunks(error: tools.DiffRejected) -> Iterator[str]:
    return (f'{describe_rejected_hunk(hunk)}.' for hunk in error.hunks)


def _tools_more_time(error: tools.ToolTimedOut) -> str:
    return f'ask for less at once, or allow more than {error.timeout:g} s.'


def _tools_problems(error: tools.InvalidResult) -> tuple[str, ...]:
    return error.problems


def _more(error: tools.ResourceExhausted) -> str:
    return f'try again when there is more {error.resource}.'


TOOLS: Adapter[tools.ToolError, Rendered] = (
    on(tools.MissingParameter).exits(2, hint=_missing)
    | on(tools.InvalidParameter).exits(2, hint=_invalid)
    | on(tools.UnknownTool).exits(2, hint=_tools, meant=lambda error: (error.tool, error.available))
    | on(tools.FileNotFound).exits(66, hint=_folder)
    | on(tools.FileAlreadyExists).exits(
        73, hint='say that it may be overwritten, or take another path.'
    )
    | on(tools.PathForbidden).exits(77, hint=_by_whom)
    | on(tools.ContentNotFound).exits(65, hint=_nearest)
    | on(tools.ContentMismatch).exits(65, hint=_found)
    | on(tools.DuplicateMatch).exits(65, hint=_lines)
    | on(tools.CommandTimedOut).exits(124, hint=_killed)
    | on(tools.CommandFailed).exits(1, hint=_ended)
    | on(tools.DiffRejected).exits(65, hint=_hunks)
    | on(tools.ToolFailed).exits(1)
    | on(tools.ToolTimedOut).exits(124, hint=_tools_more_time)
    | on(tools.ToolCancelled).exits(1)
    | on(tools.InvalidResult).exits(1, hint=_tools_problems)
    | on(tools.RegistrationRejected).exits(78)
    | on(tools.ToolRepeated).exits(1, hint='the same arguments would give the same again.')
    | on(tools.TooManyMistakes).exits(1, hint='the failures before this one say what went wrong.')
    | on(tools.ResourceExhausted).exits(75, hint=_more)
)


def _place(error: workspace.ConfigUnreadable) -> Place:
    return Place(error.path, error.line, error.column)


def _workspace_problems(error: workspace.ConfigInvalid | workspace.SkillInvalid) -> Iterator[str]:
    return hints.places(error.problems, whole='the file')


def _rename(error: workspace.SkillNameMismatch) -> str:
    return f'call it {error.expected!r}, or rename its folder {error.actual!r}.'


def _said(error: workspace.WorktreeFailed) -> Iterator[str]:
    return hints.last_words(error.output)


WORKSPACE: Adapter[workspace.WorkspaceError, Rendered] = (
    on(workspace.ConfigUnreadable).exits(78, place=_place)
    | on(workspace.ConfigInvalid).exits(78, hint=_workspace_problems)
    | on(workspace.SkillInvalid).exits(78, hint=_workspace_problems)
    | on(workspace.SkillNameMismatch).exits(78, hint=_rename)
    | on(workspace.PluginFailed).exits(78, hint='update the plugin, or take it out.')
    | on(workspace.EditorInstallFailed).exits(78, hint='install the extension by hand.')
    | on(workspace.NotARepository).exits(
        78, hint='make a repository there, or go to another folder.'
    )
    | on(workspace.WorktreeExists).exits(78, hint='use it, or take another name.')
    | on(workspace.WorktreeFailed).exits(78, hint=_said)
)
