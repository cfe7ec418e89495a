"""Exit codes and hints of all catalogue errors: one table per union.

Exit codes follow sysexits.h: 2 usage, 65 bad data, 66 no input, 69 unavailable, 73 cannot create,
75 temporary failure, 77 no permission, 78 configuration. 124 is the code of timeout(1), 130 that
of a shell after Ctrl-C, 1 any other failure.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from seamwise._errors.errors import TaggedError, retry_after
from seamwise._runtime.source_excerpt import Place
from seamwise._text.phrases import join_limited, join_quoted, pluralize, truncate
from seamwise.catalog.problem import Problem
from seamwise.seams import catalog
from seamwise.seams.adapter import Adapter
from seamwise.seams.cli.on import on
from seamwise.seams.cli.shape import LATER_MESSAGE, Rendered
from seamwise.seams.rendering.tool_phrases import (
    describe_exit_code,
    describe_parent_folder,
    describe_rejected_hunk,
)

__all__ = [
    'A2A', 'ACCESS', 'AGENTS', 'GUARDS', 'LSP', 'MCP', 'MODELS', 'NETWORK', 'PARSING', 'SESSIONS',
    'STORAGE', 'STREAMING', 'TOOLS', 'WORKSPACE',
]  # fmt: skip

EXCERPT_LIMIT = 200
"""In characters. Longer texts are cut in a hint."""


def retry_later_hint(error: TaggedError) -> str | None:
    """Return the hint to retry later, or None if the delay is known.

    A known delay becomes a hint for every error, so that tables need not repeat it.
    """
    return LATER_MESSAGE if retry_after(error) is None else None


def excerpt_hint(text: str) -> str | None:
    """Return a hint with the text that could not be read, or None if it is empty."""
    return f'the text is {truncate(text, EXCERPT_LIMIT)!r}' if text else None


def available_hint(noun: str, names: Sequence[str]) -> str | None:
    """Return a hint with the available names, or None if there are none."""
    return f'the {noun} are {join_quoted(names, last="and")}.' if names else None


def last_line_hint(output: str) -> Iterator[str]:
    """Yield a hint with the last line of a command's output, if there is one."""
    if lines := output.strip().splitlines():
        yield f'the last line of its output is {truncate(lines[-1], EXCERPT_LIMIT)!r}'


def problem_hints(problems: Iterable[Problem], *, whole: str) -> Iterator[str]:
    """Yield one hint per problem; `whole` replaces an empty pointer."""
    return (f'{problem.pointer or whole}: {problem.message}.' for problem in problems)


ACCESS: Adapter[catalog.access.AccessError, Rendered] = Adapter(
    lambda: (
        on(catalog.access.Unauthenticated).exits(
            77, hint=lambda error: None if error.reason is None else f'{error.reason}.'
        )
        | on(catalog.access.AccessDenied).exits(77, hint='ask an administrator to grant access.')
    )
)


def _passing_failure(error: catalog.agents.AgentFailed | catalog.tools.ToolFailed) -> str | None:
    return retry_later_hint(error) if error.retryable else None


AGENTS: Adapter[catalog.agents.AgentError, Rendered] = Adapter(
    lambda: (
        on(catalog.agents.AgentNotFound).exits(
            2,
            hint=lambda error: available_hint('agents', error.available),
            lookup=lambda error: (error.name, error.available),
        )
        | on(catalog.agents.CommandNotFound).exits(
            2,
            hint=lambda error: available_hint('commands', error.available),
            lookup=lambda error: (error.name, error.available),
        )
        | on(catalog.agents.AgentNotReady).exits(69, hint=retry_later_hint)
        | on(catalog.agents.AgentBusy).exits(75, hint=retry_later_hint)
        | on(catalog.agents.InvalidTransition).exits(
            1,
            hint=lambda error: (
                f'the next state can be {join_quoted(error.allowed)}.'
                if error.allowed
                else 'it is a final state.'
            ),
        )
        | on(catalog.agents.GuardrailsViolated).exits(
            77, hint=lambda error: problem_hints(error.problems, whole='all of it')
        )
        | on(catalog.agents.ContextOverflow).exits(
            65, hint='compress the conversation, or start a new one.'
        )
        | on(catalog.agents.CompressionFailed).exits(
            1, hint='shorten it manually, or start a new conversation.'
        )
        | on(catalog.agents.AgentFailed).exits(1, hint=_passing_failure)
    )
)


GUARDS: Adapter[catalog.policies.GuardError, Rendered] = Adapter(
    lambda: (
        on(catalog.policies.RateLimited).exits(75)
        | on(catalog.policies.CircuitOpen).exits(75, hint='continue without it until it recovers.')
        | on(catalog.policies.BulkheadFull).exits(75, hint=retry_later_hint)
        | on(catalog.policies.DeadlineExceeded).exits(
            124,
            hint=lambda error: f'request less at a time, or allow more than {error.timeout:g} s.',
        )
    )
)


def _excess_tokens(error: catalog.models.ContextTooLong) -> str:
    if error.tokens is None or error.limit is None:
        return 'shorten the prompt.'
    return f'remove at least {error.tokens - error.limit:,} tokens.'


def _schema_problems(error: catalog.models.StructuredOutputInvalid) -> Iterator[str]:
    yield 'try again: the model may follow the schema next time.'
    yield from problem_hints(error.problems, whole='the answer')


MODELS: Adapter[catalog.models.ModelError, Rendered] = Adapter(
    lambda: (
        on(catalog.models.ModelNotFound).exits(
            2,
            hint=lambda error: (
                None if error.suggestions else f'list the models that {error.provider} offers.'
            ),
        )
        | on(catalog.models.ProviderNotReady).exits(78, hint="fix the provider's configuration.")
        | on(catalog.models.ProviderUnavailable).exits(69, hint='try another provider.')
        | on(catalog.models.ModelOverloaded).exits(75, hint='try another model.')
        | on(catalog.models.NoModelAvailable).exits(69, hint=retry_later_hint)
        | on(catalog.models.InvalidModelRequest).exits(65)
        | on(catalog.models.ContextTooLong).exits(65, hint=_excess_tokens)
        | on(catalog.models.ContentFiltered).exits(
            77, hint='rephrase the request if it is legitimate.'
        )
        | on(catalog.models.OutputTruncated).exits(
            65, hint='request a shorter answer, or allow more tokens.'
        )
        | on(catalog.models.StructuredOutputInvalid).exits(75, hint=_schema_problems)
        | on(catalog.models.QuotaExceeded).exits(
            69, hint='raise the quota, or wait until it is reset.'
        )
        | on(catalog.models.BudgetExceeded).exits(
            69, hint='raise the budget, or ask its owner to raise it.'
        )
        | on(catalog.models.BatchClosed).exits(1, hint='open a new batch.')
        | on(catalog.models.BatchFull).exits(75, hint=retry_later_hint)
        | on(catalog.models.BatchTimedOut).exits(124, hint='send it again, or make it smaller.')
        | on(catalog.models.CacheMiss).exits(66, hint='send the request to the model.')
    )
)


def _rate_limit(error: catalog.network.UpstreamRateLimited) -> str | None:
    if error.limit is None:
        return retry_later_hint(error)
    period = '' if error.period is None else f' in {error.period:g} s'
    count = '' if error.requests_made is None else f'; requests made: {error.requests_made}'
    return f'its limit is {pluralize(error.limit, "request")}{period}{count}.'


def _required_settings(error: catalog.network.CredentialsRejected) -> str:
    settings = error.required_config
    if not settings:
        return f'set valid credentials for {error.service}.'
    keys = 'a valid key' if len(settings) == 1 else 'valid keys'
    return f'set {join_limited(settings)} to {keys}.'


NETWORK: Adapter[catalog.network.NetworkError, Rendered] = Adapter(
    lambda: (
        on(catalog.network.HostUnreachable).exits(
            69, hint='check the name and the network connection.'
        )
        | on(catalog.network.NetworkTimedOut).exits(124, hint=retry_later_hint)
        | on(catalog.network.UpstreamRateLimited).exits(75, hint=_rate_limit)
        | on(catalog.network.CredentialsRejected).exits(78, hint=_required_settings)
        | on(catalog.network.UpstreamFailed).exits(
            69,
            hint=lambda error: filter(None, [excerpt_hint(error.excerpt), retry_later_hint(error)]),
        )
    )
)


def _call_excerpt(
    error: catalog.parsing.UnreadableCall | catalog.parsing.UnknownFormat,
) -> str | None:
    return excerpt_hint(error.excerpt)


PARSING: Adapter[catalog.parsing.ParsingError, Rendered] = Adapter(
    lambda: (
        on(catalog.parsing.UnreadableCall).exits(65, hint=_call_excerpt)
        | on(catalog.parsing.UnknownFormat).exits(65, hint=_call_excerpt)
        | on(catalog.parsing.SchemaViolations).exits(
            65, hint=lambda error: problem_hints(error.problems, whole='the line')
        )
    )
)


def _connection_advice(error: catalog.protocols.McpConnectionFailed) -> Iterator[str]:
    if error.reason is not None:
        yield f'{error.reason}.'
    yield 'check that the server runs and is configured correctly.'


def _supported(
    error: catalog.protocols.A2aContentTypeNotSupported | catalog.protocols.A2aVersionNotSupported,
) -> str | None:
    return f'it supports {join_quoted(error.supported)}.' if error.supported else None


MCP: Adapter[catalog.protocols.McpError, Rendered] = Adapter(
    lambda: (
        on(catalog.protocols.McpConnectionFailed).exits(69, hint=_connection_advice)
        | on(catalog.protocols.McpTransportFailed).exits(69, hint='reconnect.')
        | on(catalog.protocols.McpServerFailed).exits(
            1,
            hint=lambda error: (
                'the server reports a fault of its own; try again.' if error.retryable else None
            ),
        )
        | on(catalog.protocols.McpTimedOut).exits(124, hint=retry_later_hint)
    )
)

LSP: Adapter[catalog.protocols.LspError, Rendered] = Adapter(
    lambda: (
        on(catalog.protocols.LspNotInitialized).exits(
            78, hint='check that the server is installed, and how it is started.'
        )
        | on(catalog.protocols.LspRequestFailed).exits(1)
        | on(catalog.protocols.LspContentModified).exits(
            1, hint='repeat the request for the current text.'
        )
    )
)

A2A: Adapter[catalog.protocols.A2aError, Rendered] = Adapter(
    lambda: (
        on(catalog.protocols.A2aTaskNotFound).exits(
            66, hint='check the id; the agent may have deleted an old task.'
        )
        | on(catalog.protocols.A2aTaskNotCancelable).exits(1, hint='read its result instead.')
        | on(catalog.protocols.A2aPushNotSupported).exits(
            65, hint='poll the task, or read its stream.'
        )
        | on(catalog.protocols.A2aUnsupportedOperation).exits(
            65, hint="see the agent's card for its operations."
        )
        | on(catalog.protocols.A2aContentTypeNotSupported).exits(65, hint=_supported)
        | on(catalog.protocols.A2aInvalidAgentResponse).exits(65)
        | on(catalog.protocols.A2aExtendedCardNotConfigured).exits(
            78, hint='ask the operator of the agent to configure it.'
        )
        | on(catalog.protocols.A2aExtensionRequired).exits(
            65, hint='declare the extension, or use another agent.'
        )
        | on(catalog.protocols.A2aVersionNotSupported).exits(65, hint=_supported)
        | on(catalog.protocols.AgentCardInvalid).exits(
            78, hint=lambda error: problem_hints(error.problems, whole='the card')
        )
    )
)


def _reconnect(error: catalog.sessions.ConnectionLost) -> str:
    reason = f'{error.close_reason}; ' if error.close_reason else ''
    return f'{reason}reconnect, and continue after event {error.last_event_seq}.'


SESSIONS: Adapter[catalog.sessions.SessionError, Rendered] = Adapter(
    lambda: (
        on(catalog.sessions.InvalidInput).exits(65)
        | on(catalog.sessions.SessionNotFound).exits(66, hint='start a new session.')
        | on(catalog.sessions.SessionBusy).exits(1, hint='wait until it finishes, or stop it.')
        | on(catalog.sessions.ConnectionLost).exits(69, hint=_reconnect)
        | on(catalog.sessions.ReplayGap).exits(
            1,
            hint=lambda error: (
                f'events are available from {error.first_available} on; read the whole state again.'
            ),
        )
        | on(catalog.sessions.UnknownEpoch).exits(
            66, hint='start again without the sequence numbers of the old epoch.'
        )
        | on(catalog.sessions.AckAhead).exits(
            65, hint='acknowledge only events that were received.'
        )
        | on(catalog.sessions.RecoveryFailed).exits(
            1, hint=lambda error: f'it was tried {pluralize(error.attempts, "time")}.'
        )
    )
)


STORAGE: Adapter[catalog.storage.StorageError, Rendered] = Adapter(
    lambda: (
        on(catalog.storage.RecordNotFound).exits(66, hint='check the key, or store it first.')
        | on(catalog.storage.RecordExists).exits(
            73, hint='update that record, or choose another key.'
        )
        | on(catalog.storage.StoreClosed).exits(69, hint='open it again.')
        | on(catalog.storage.StoreUnavailable).exits(69, hint=retry_later_hint)
    )
)


def _chunk_excerpt(error: catalog.streaming.ChunkUnparsable) -> str | None:
    hint = excerpt_hint(error.excerpt)
    if hint is None or error.position is None:
        return hint
    return f'at position {error.position}, {hint}'


STREAMING: Adapter[catalog.streaming.StreamingError, Rendered] = Adapter(
    lambda: (
        on(catalog.streaming.InvalidStream).exits(65)
        | on(catalog.streaming.ChunkUnparsable).exits(65, hint=_chunk_excerpt)
        | on(catalog.streaming.ChunkHandlerFailed).exits(75, hint='try again.')
        | on(catalog.streaming.StreamAborted).exits(130)
        | on(catalog.streaming.UserInterrupted).exits(130, hint=lambda error: error.feedback)
        | on(catalog.streaming.StreamProviderFailed).exits(
            69,
            hint=lambda error: (
                retry_later_hint(error)
                if error.status is None
                else f'its response has status {error.status}.'
            ),
        )
        | on(catalog.streaming.TokenCountFailed).exits(1, hint='estimate the count instead.')
        | on(catalog.streaming.BufferFull).exits(75, hint=retry_later_hint)
        | on(catalog.streaming.StreamClosed).exits(1, hint='open a new stream.')
        | on(catalog.streaming.SlowConsumer).exits(
            75, hint='reconnect, and continue where the stream stopped.'
        )
    )
)


_PATH_REASONS: dict[catalog.tools.PathReason, str] = {
    'ignored': 'the ignore rules of the workspace hide it from all tools.',
    'write_protected': 'tools can read it, but not write it.',
    'system': 'it belongs to the system; tools do not access it.',
    'outside_workspace': 'choose a path inside the workspace, relative to its root.',
}


def _missing_parameter(error: catalog.tools.MissingParameter) -> Iterator[str]:
    if error.example:
        yield f'for example: {error.example}'
    yield from _other_findings(error.also)


def _other_findings(findings: tuple[catalog.tools.Finding, ...]) -> Iterator[str]:
    return (f'{finding.parameter!r} is also invalid: {finding.reason}.' for finding in findings)


def _most_similar_text(error: catalog.tools.ContentNotFound) -> str | None:
    if error.best_match is None:
        return None
    line = '' if error.line is None else f' at line {error.line}'
    similarity = '' if error.similarity is None else f' ({error.similarity:.0%} similar)'
    text = truncate(error.best_match, EXCERPT_LIMIT)
    return f'the most similar text{line}{similarity} is {text!r}'


def _actual_text(error: catalog.tools.ContentMismatch) -> str:
    actual = truncate(error.actual, EXCERPT_LIMIT)
    expected = truncate(error.expected, EXCERPT_LIMIT)
    return f'the actual text is {actual!r}, not {expected!r}.'


def _matching_lines(error: catalog.tools.DuplicateMatch) -> str:
    if len(error.lines) == 1:
        return f'it starts at line {error.lines[0]}; replace all, or search for a longer text.'
    return f'it starts at lines {join_limited(error.lines)}; choose one of them, or replace all.'


def _timeout_advice(error: catalog.tools.CommandTimedOut) -> Iterator[str]:
    yield from last_line_hint(error.output)
    yield 'allow more time, or run less at a time; the command and its child processes were killed.'


def _exit_reason(error: catalog.tools.CommandFailed) -> Iterator[str]:
    if meaning := describe_exit_code(error.exit_code):
        yield f'{meaning}.'
    yield from last_line_hint(error.output)


TOOLS: Adapter[catalog.tools.ToolError, Rendered] = Adapter(
    lambda: (
        on(catalog.tools.MissingParameter).exits(2, hint=_missing_parameter)
        | on(catalog.tools.InvalidParameter).exits(
            2, hint=lambda error: _other_findings(error.also)
        )
        | on(catalog.tools.UnknownTool).exits(
            2,
            hint=lambda error: available_hint('tools', error.available),
            lookup=lambda error: (error.tool, error.available),
        )
        | on(catalog.tools.FileNotFound).exits(
            66,
            hint=lambda error: (
                None if error.suggestions else f'list {describe_parent_folder(error.path)}.'
            ),
        )
        | on(catalog.tools.FileAlreadyExists).exits(
            73, hint='allow overwriting it, or choose another path.'
        )
        | on(catalog.tools.PathForbidden).exits(77, hint=lambda error: _PATH_REASONS[error.reason])
        | on(catalog.tools.ContentNotFound).exits(65, hint=_most_similar_text)
        | on(catalog.tools.ContentMismatch).exits(65, hint=_actual_text)
        | on(catalog.tools.DuplicateMatch).exits(65, hint=_matching_lines)
        | on(catalog.tools.CommandTimedOut).exits(124, hint=_timeout_advice)
        | on(catalog.tools.CommandFailed).exits(1, hint=_exit_reason)
        | on(catalog.tools.DiffRejected).exits(
            65, hint=lambda error: (f'{describe_rejected_hunk(hunk)}.' for hunk in error.hunks)
        )
        | on(catalog.tools.ToolFailed).exits(1, hint=_passing_failure)
        | on(catalog.tools.ToolTimedOut).exits(
            124,
            hint=lambda error: f'request less at a time, or allow more than {error.timeout:g} s.',
        )
        | on(catalog.tools.ToolCancelled).exits(1)
        | on(catalog.tools.InvalidResult).exits(
            1, hint=lambda error: problem_hints(error.problems, whole='the result')
        )
        | on(catalog.tools.RegistrationRejected).exits(78)
        | on(catalog.tools.ToolRepeated).exits(
            1, hint='the same arguments would give the same result.'
        )
        | on(catalog.tools.TooManyMistakes).exits(
            1, hint='see the previous failures for the causes.'
        )
        | on(catalog.tools.ResourceExhausted).exits(
            75, hint='free this resource, or try again later.'
        )
    )
)


def _file_problems(
    error: catalog.workspace.ConfigInvalid | catalog.workspace.SkillInvalid,
) -> Iterator[str]:
    return problem_hints(error.problems, whole='the file')


WORKSPACE: Adapter[catalog.workspace.WorkspaceError, Rendered] = Adapter(
    lambda: (
        on(catalog.workspace.ConfigUnreadable).exits(
            78, place=lambda error: Place(error.path, error.line, error.column)
        )
        | on(catalog.workspace.ConfigInvalid).exits(78, hint=_file_problems)
        | on(catalog.workspace.SkillInvalid).exits(78, hint=_file_problems)
        | on(catalog.workspace.SkillNameMismatch).exits(
            78,
            hint=lambda error: (
                f'name it {error.expected!r}, or rename its folder to {error.actual!r}.'
            ),
        )
        | on(catalog.workspace.PluginFailed).exits(78, hint='update or remove the plugin.')
        | on(catalog.workspace.EditorInstallFailed).exits(
            78, hint='install the extension manually.'
        )
        | on(catalog.workspace.NotARepository).exits(
            78, hint='create a repository there, or use another folder.'
        )
        | on(catalog.workspace.WorktreeExists).exits(78, hint='use it, or choose another name.')
        | on(catalog.workspace.WorktreeFailed).exits(
            78, hint=lambda error: last_line_hint(error.output)
        )
    )
)
