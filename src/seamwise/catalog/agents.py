"""What can go wrong with agents: who they are, what state they are in, what they may say, how much they remember."""

from typing import TypeAlias

from seamwise.catalog.problem import Problem
from seamwise.categories import Category
from seamwise.causes import Cause
from seamwise.errors import TaggedError


class AgentNotFound(
    TaggedError, category=Category.NOT_FOUND, message='There is no agent {name!r}.'
):
    """Nobody has registered an agent of this name. The caller picks one of `available`."""

    name: str
    available: tuple[str, ...]
    suggestions: tuple[str, ...] = ()


class CommandNotFound(
    TaggedError, category=Category.NOT_FOUND, message='There is no command {name!r}.'
):
    """Nobody has registered a command of this name. The caller picks one of `available`."""

    name: str
    available: tuple[str, ...]
    suggestions: tuple[str, ...] = ()


LookupFailure: TypeAlias = AgentNotFound | CommandNotFound


class AgentNotReady(
    TaggedError,
    category=Category.UNAVAILABLE,
    message='The agent {agent!r} is not ready ({state}).',
):
    """The agent is starting or stopping. The caller tries again."""

    agent: str
    state: str
    retry_after: float | None = None


class AgentBusy(TaggedError, category=Category.CAPACITY, message='The agent {agent!r} is at work.'):
    """The agent does one thing at a time. The caller waits."""

    agent: str
    retry_after: float | None = None


class InvalidTransition(
    TaggedError,
    category=Category.CONFLICT,
    message='The agent {agent!r} is {current}, it cannot be {requested} next.',
):
    """The agent's state does not lead there. The caller takes one of `allowed`."""

    agent: str
    current: str
    requested: str
    allowed: tuple[str, ...]


StateFailure: TypeAlias = AgentNotReady | AgentBusy | InvalidTransition


class GuardrailsViolated(
    TaggedError, category=Category.PERMISSION, message='The guardrails of {agent!r} forbid this.'
):
    """What the agent was to do or say breaks its rules. Somebody decides."""

    agent: str
    problems: tuple[Problem, ...]


class ContextOverflow(
    TaggedError,
    category=Category.VALIDATION,
    message='{tokens} tokens are more than the {limit} that fit.',
):
    """The conversation has outgrown its window. The caller compresses it, or begins a new one."""

    tokens: int
    limit: int


class CompressionFailed(
    TaggedError,
    category=Category.EXECUTION,
    message='The conversation could not be compressed: {reason}.',
):
    """Making the conversation shorter did not work. Somebody decides what can be left out."""

    reason: str
    cause: Cause | None = None


ContextFailure: TypeAlias = ContextOverflow | CompressionFailed

AgentError: TypeAlias = LookupFailure | StateFailure | GuardrailsViolated | ContextFailure
