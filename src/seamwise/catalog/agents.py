"""Errors of agents: lookup, state, guardrails and context."""

from datetime import datetime
from typing import TypeAlias

from typing_extensions import override

from seamwise._defects.exception_kinds import category_of, is_retryable, recovery_of
from seamwise._errors.categories import Category, Recovery
from seamwise._errors.causes import Cause
from seamwise._errors.errors import TaggedError, retry_after
from seamwise._errors.type_hints import Pairs
from seamwise.catalog.problem import Problem


class AgentNotFound(
    TaggedError, category=Category.NOT_FOUND, message='There is no agent {name!r}.'
):
    """No agent with this name is registered. The caller chooses one of `available`."""

    name: str
    available: tuple[str, ...]
    suggestions: tuple[str, ...] = ()


class CommandNotFound(
    TaggedError, category=Category.NOT_FOUND, message='There is no command {name!r}.'
):
    """No command with this name is registered. The caller chooses one of `available`."""

    name: str
    available: tuple[str, ...]
    suggestions: tuple[str, ...] = ()


LookupFailure: TypeAlias = AgentNotFound | CommandNotFound


class AgentNotReady(
    TaggedError,
    category=Category.UNAVAILABLE,
    message='The agent {agent!r} is not ready ({state}).',
):
    """The agent is starting or stopping. The caller retries."""

    agent: str
    state: str
    retry_after: float | None = None


class AgentBusy(TaggedError, category=Category.CAPACITY, message='The agent {agent!r} is busy.'):
    """The agent is running another task, and runs one at a time. The caller waits."""

    agent: str
    retry_after: float | None = None


class InvalidTransition(
    TaggedError,
    category=Category.CONFLICT,
    message='The agent {agent!r} is {current}; it cannot become {requested}.',
):
    """The state of the agent does not permit this transition.

    The caller chooses one of `allowed`.
    """

    agent: str
    current: str
    requested: str
    allowed: tuple[str, ...]


StateFailure: TypeAlias = AgentNotReady | AgentBusy | InvalidTransition


class GuardrailsViolated(
    TaggedError, category=Category.PERMISSION, message='This violates the guardrails of {agent!r}.'
):
    """An action or answer of the agent violates its rules. A person decides."""

    agent: str
    problems: tuple[Problem, ...]


class ContextOverflow(
    TaggedError,
    category=Category.VALIDATION,
    message='The conversation exceeds the context window (tokens: {tokens}, limit: {limit}).',
):
    """The conversation exceeds the context window. The caller compresses it or starts a new one."""

    tokens: int
    limit: int


class CompressionFailed(
    TaggedError,
    category=Category.EXECUTION,
    message='The conversation could not be compressed: {reason}.',
):
    """The conversation could not be shortened. A person decides what to omit."""

    reason: str
    cause: Cause | None = None


ContextFailure: TypeAlias = ContextOverflow | CompressionFailed


class AgentFailed(TaggedError, category=Category.EXECUTION, message='The agent {agent!r} failed.'):
    """An error reached the boundary of an agent; see `cause`. The caller reacts to the cause.

    Category, retryability, recovery and delay are those of the cause. `agent_type` is the kind of
    the agent, such as `reviewer`; `metadata` has further facts as pairs of name and value, which
    the seams show as an object. `timestamp` is the time of the failure, with a time zone.
    """

    agent: str
    agent_type: str
    cause: Cause
    metadata: Pairs = ()
    timestamp: datetime | None = None

    @property
    @override
    def category(self) -> Category:
        """The category of the cause."""
        return category_of(self.cause)

    @property
    @override
    def retryable(self) -> bool:
        """Whether the cause is retryable."""
        return is_retryable(self.cause)

    @property
    @override
    def recovery(self) -> Recovery:
        """The recovery of the cause."""
        return (
            self.cause.recovery if isinstance(self.cause, TaggedError) else recovery_of(self.cause)
        )

    @property
    def retry_after(self) -> float | None:
        """The delay in seconds that a tagged cause requests, or None."""
        return retry_after(self.cause) if isinstance(self.cause, TaggedError) else None


AgentError: TypeAlias = (
    LookupFailure | StateFailure | GuardrailsViolated | ContextFailure | AgentFailed
)
