"""Parts of suggestions for language models, and the advice after a call that may have run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from math import ceil

from msgspec.structs import replace

from seamwise._errors.causes import causes
from seamwise._errors.errors import TaggedError, retry_after
from seamwise._text.phrases import MAX_LISTED, join_limited, join_quoted
from seamwise.catalog.problem import Problem
from seamwise.redaction import redact
from seamwise.seams import catalog
from seamwise.seams.model.shape import Guidance
from seamwise.seams.rendering.errors import cause_link, safe_public_message

EXCERPT_LIMIT = 600
"""In characters. Longer texts from files and calls are cut in a suggestion."""


FAULT_OF_TOOL = 'The fault is with the tool, not with your call.'

TOOL_FAULT = f'{FAULT_OF_TOOL} Choose another way, or tell the user.'

CHECK_EFFECT = (
    'It may have taken effect: check that before you call it again. If you cannot, tell the user.'
)


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
            first = FAULT_OF_TOOL if error.defect is not None else fault_of_machine(error)
        case (
            catalog.tools.ToolTimedOut()
            | catalog.tools.ResourceExhausted()
            | catalog.policies.DeadlineExceeded()
        ):
            pass
        case _:
            first = guidance.suggestion
    return replace(guidance, suggestion=f'{first} {CHECK_EFFECT}' if first else CHECK_EFFECT)


def fault_of_machine(error: catalog.tools.ToolFailed) -> str:
    """Return the sentence for a tool that failed without a bug, with its cause."""
    # The text of an exception is the tool's own here, unlike that of a driver.
    is_tagged = isinstance(error.cause, TaggedError)
    text = public_cause(error) if is_tagged else cause_link(error.cause).message
    reason = f' ({text})' if text else ''
    return f'The fault is with the machine, not with your call{reason}.'


def wait_and_retry(error: TaggedError) -> str:
    """Return the delay before a retry, if the error has one, else a short pause.

    >>> from seamwise.catalog.network import UpstreamFailed
    >>> wait_and_retry(UpstreamFailed('search', 503, '', retry_after=1.23))
    'Wait 1.3 s, then try again'
    >>> wait_and_retry(UpstreamFailed('search', 503, ''))
    'Wait a moment, then try again'
    """
    seconds = retry_after(error)
    if seconds is None:
        return 'Wait a moment, then try again'
    return f'Wait {format_seconds(seconds)} s, then try again' if seconds else 'Try again now'


def format_seconds(seconds: float) -> str:
    """Return seconds with at most one decimal, rounded up so that the delay is long enough."""
    # The inner rounding removes binary noise: 1.1 * 10 is 11.000000000000002.
    tenths = ceil(round(seconds * 10, 6))
    return str(tenths // 10) if tenths % 10 == 0 else f'{tenths // 10}.{tenths % 10}'


def format_time(unix_time: float) -> str | None:
    """Return a Unix time in RFC 3339 with whole seconds, or None if it is out of range."""
    try:
        return datetime.fromtimestamp(ceil(unix_time), UTC).strftime('%Y-%m-%dT%H:%M:%SZ')
    except (ValueError, OverflowError, OSError):
        return None


def cause_in_brackets(error: TaggedError) -> str:
    """Return the cause like `public_cause`, in brackets after a space; empty if there is none."""
    text = public_cause(error)
    return f' ({text})' if text else ''


def public_cause(error: TaggedError) -> str:
    """Return the message of a tagged cause, or the class of an exception: its text is internal."""
    cause = next(iter(causes(error)), None)
    if isinstance(cause, TaggedError):
        return safe_public_message(cause)
    return '' if cause is None else cause_link(cause).type


def list_problems(problems: Iterable[Problem], whole: str) -> str:
    """Return problems with their pointers; an empty pointer refers to the `whole`."""
    texts = [f'{problem.pointer or whole} ({problem.message})' for problem in problems]
    return join_limited(texts) or whole


def choose_from(names: Iterable[str], otherwise: str) -> str:
    """Return the names to choose from, or another suggestion if there are none."""
    options = tuple(names)
    return f'Choose {join_quoted(options)}.' if options else otherwise


def suggest_names(suggestions: Sequence[str], available: Sequence[str], *, noun: str) -> str:
    """Return the closest names, then the available ones."""
    question = f'Did you mean {_quote_names(suggestions)}? ' if suggestions else ''
    if not available:
        return f'{question}No {noun} is available; continue without one.'
    return f'{question}The {noun}s are {_quote_names(available, last="and")}.'


def _quote_names(names: Sequence[str], *, last: str = 'or') -> str:
    """Return names in quotes; only the names that are shown are redacted."""
    quoted = [repr(redact(name)) for name in names[:MAX_LISTED]]
    # `join_limited` only counts the rest, so it need not be redacted (there can be thousands).
    return join_limited([*quoted, *names[MAX_LISTED:]], last=last)


def capitalize(text: str) -> str:
    """Return a text with a capital first letter; the others stay."""
    return text[:1].upper() + text[1:]
