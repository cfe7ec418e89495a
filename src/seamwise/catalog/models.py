"""What can go wrong with a call of a language model: the choice of it, the request, the answer, the batch, the cache."""

from typing import TypeAlias

from seamwise.catalog.problem import Problem
from seamwise.categories import Category, Recovery
from seamwise.causes import Cause
from seamwise.errors import TaggedError


class ModelNotFound(
    TaggedError,
    tag='ProviderModelNotFoundError',
    category=Category.NOT_FOUND,
    message='{provider} offers no model {model!r}.',
):
    """The provider is configured, but has no model of this name. The caller picks one of `suggestions`."""

    provider: str
    model: str
    suggestions: tuple[str, ...] = ()


class ProviderNotReady(
    TaggedError,
    tag='ProviderInitError',
    category=Category.CONFIGURATION,
    message='The provider {provider!r} could not be set up.',
):
    """The provider is named in the configuration but cannot start. Whoever runs the program mends the configuration."""

    provider: str
    cause: Cause | None = None


class ProviderUnavailable(
    TaggedError, category=Category.UNAVAILABLE, message='{provider} is not available.'
):
    """The provider does not answer. The caller tries again, or takes another one."""

    provider: str
    retry_after: float | None = None
    cause: Cause | None = None


ProviderError: TypeAlias = ModelNotFound | ProviderNotReady | ProviderUnavailable


class ModelOverloaded(
    TaggedError, category=Category.CAPACITY, message='{model!r} of {provider} has too much to do.'
):
    """The model takes no more work for now. The caller waits, or takes another model."""

    provider: str
    model: str
    retry_after: float | None = None
    cause: Cause | None = None


class NoModelAvailable(
    TaggedError, category=Category.UNAVAILABLE, message='None of {tried} is available.'
):
    """Every model that could have done the work was tried. The caller tries again later."""

    tried: tuple[str, ...]
    retry_after: float | None = None
    cause: Cause | None = None


RoutingError: TypeAlias = ModelOverloaded | NoModelAvailable


class InvalidModelRequest(
    TaggedError, category=Category.VALIDATION, message='{provider} refuses the request: {reason}.'
):
    """The provider says that the request is wrong. The caller mends it."""

    provider: str
    reason: str
    cause: Cause | None = None


class ContextTooLong(
    TaggedError,
    category=Category.VALIDATION,
    message='{tokens} tokens are more than the {limit} that {provider} takes.',
):
    """The prompt does not fit into the model's window. The caller shortens it."""

    provider: str
    tokens: int
    limit: int
    cause: Cause | None = None


class ContentFiltered(
    TaggedError, category=Category.PERMISSION, message='{provider} withheld the answer: {reason}.'
):
    """The provider's policy forbids the prompt or the answer. Somebody decides whether to ask in another way."""

    provider: str
    reason: str


RequestError: TypeAlias = InvalidModelRequest | ContextTooLong | ContentFiltered


class OutputTruncated(
    TaggedError,
    category=Category.VALIDATION,
    message='The answer of {provider} was cut at {limit} tokens.',
):
    """The answer is longer than was asked for. The caller asks for less, or allows more."""

    provider: str
    limit: int


class StructuredOutputInvalid(
    TaggedError,
    category=Category.EXECUTION,
    retryable=True,
    recovery=Recovery.RETRY,
    message='The answer of {provider} does not have the shape that was asked for.',
):
    """The model's answer breaks the schema. Asked again it may keep it."""

    provider: str
    problems: tuple[Problem, ...]


AnswerError: TypeAlias = OutputTruncated | StructuredOutputInvalid


class QuotaExceeded(
    TaggedError, category=Category.QUOTA, message='The quota at {provider} is used up.'
):
    """What the account may use is used up; `reset` is the Unix time at which it may go on. Somebody raises it, or waits."""

    provider: str
    reset: float | None = None


class BudgetExceeded(
    TaggedError, category=Category.QUOTA, message='{spent:g} of the budget of {limit:g} is spent.'
):
    """This program's own limit on what may be spent is reached. Whoever set it can raise it."""

    limit: float
    spent: float


SpendingError: TypeAlias = QuotaExceeded | BudgetExceeded


class BatchClosed(
    TaggedError, category=Category.CONFLICT, message='The batch {batch!r} is closed.'
):
    """A request came for a batch that takes no more. The caller opens a new one."""

    batch: str


class BatchFull(
    TaggedError,
    category=Category.CAPACITY,
    message='The batch {batch!r} is full with {capacity} requests.',
):
    """The batch takes no more until it has been sent. The caller waits."""

    batch: str
    capacity: int
    retry_after: float | None = None


class BatchTimedOut(
    TaggedError,
    category=Category.TIMEOUT,
    message='The batch {batch!r} was not done within {timeout:g} s.',
):
    """The batch took too long; `timeout` is in seconds. The caller sends it again."""

    batch: str
    timeout: float
    retry_after: float | None = None


BatchError: TypeAlias = BatchClosed | BatchFull | BatchTimedOut


class CacheMiss(
    TaggedError, category=Category.NOT_FOUND, message='Nothing is cached under {key!r}.'
):
    """No answer is stored under this key. The caller asks the model."""

    key: str


ModelError: TypeAlias = (
    ProviderError
    | RoutingError
    | RequestError
    | AnswerError
    | SpendingError
    | BatchError
    | CacheMiss
)
