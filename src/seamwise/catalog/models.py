"""Errors of language model calls: selection, request, answer, spending, batches and cache."""

from typing import TypeAlias

from seamwise._errors.categories import Category, Recovery
from seamwise._errors.causes import Cause
from seamwise._errors.errors import TaggedError
from seamwise.catalog.problem import Problem


class ModelNotFound(
    TaggedError,
    tag='ProviderModelNotFoundError',
    category=Category.NOT_FOUND,
    message='{provider} has no model {model!r}.',
):
    """The provider has no model with this name. The caller chooses one of `suggestions`."""

    provider: str
    model: str
    suggestions: tuple[str, ...] = ()
    cause: Cause | None = None


class ProviderNotReady(
    TaggedError,
    tag='ProviderInitError',
    category=Category.CONFIGURATION,
    message='The provider {provider!r} could not be set up.',
):
    """The configured provider cannot be initialized. The operator corrects the configuration."""

    provider: str
    cause: Cause | None = None


class ProviderUnavailable(
    TaggedError, category=Category.UNAVAILABLE, message='{provider} is not available.'
):
    """The provider does not respond. The caller retries or uses another provider."""

    provider: str
    retry_after: float | None = None
    cause: Cause | None = None


ProviderError: TypeAlias = ModelNotFound | ProviderNotReady | ProviderUnavailable


class ModelOverloaded(
    TaggedError, category=Category.CAPACITY, message='{model!r} of {provider} is overloaded.'
):
    """The model accepts no more requests for now. The caller waits or uses another model."""

    provider: str
    model: str
    retry_after: float | None = None
    cause: Cause | None = None


class NoModelAvailable(
    TaggedError, category=Category.UNAVAILABLE, message='None of {tried} is available.'
):
    """All suitable models were tried without success. The caller retries later."""

    tried: tuple[str, ...]
    retry_after: float | None = None
    cause: Cause | None = None


RoutingError: TypeAlias = ModelOverloaded | NoModelAvailable


class InvalidModelRequest(
    TaggedError, category=Category.VALIDATION, message='{provider} rejects the request: {reason}.'
):
    """The provider rejects the request as invalid. The caller corrects it."""

    provider: str
    reason: str
    cause: Cause | None = None


class ContextTooLong(
    TaggedError,
    category=Category.VALIDATION,
    message='{provider} rejects the prompt as too long.',
):
    """The prompt exceeds the context window of the model. The caller shortens it.

    `tokens` and `limit` are None if the provider states them in its message only.
    """

    provider: str
    tokens: int | None = None
    limit: int | None = None
    cause: Cause | None = None


class ContentFiltered(
    TaggedError, category=Category.PERMISSION, message='{provider} withheld the answer: {reason}.'
):
    """The policy of the provider forbids the prompt or the answer.

    A person decides whether to rephrase the request.
    """

    provider: str
    reason: str
    cause: Cause | None = None


RequestError: TypeAlias = InvalidModelRequest | ContextTooLong | ContentFiltered


class OutputTruncated(
    TaggedError,
    category=Category.VALIDATION,
    message='The answer of {provider} was cut at its token limit.',
):
    """The answer reached the token limit of the request, `limit` if it is known.

    The caller asks for less or raises the limit.
    """

    provider: str
    limit: int | None = None
    cause: Cause | None = None


class StructuredOutputInvalid(
    TaggedError,
    category=Category.EXECUTION,
    retryable=True,
    recovery=Recovery.RETRY,
    message='The answer of {provider} violates the requested schema.',
):
    """The answer of the model violates the requested schema. A retry may succeed."""

    provider: str
    problems: tuple[Problem, ...]
    cause: Cause | None = None


AnswerError: TypeAlias = OutputTruncated | StructuredOutputInvalid


class QuotaExceeded(
    TaggedError, category=Category.QUOTA, message='The quota at {provider} is exhausted.'
):
    """The quota of the account is exhausted; it is renewed at the Unix time `reset`.

    The owner of the account waits or raises the quota.
    """

    provider: str
    reset: float | None = None
    cause: Cause | None = None


class BudgetExceeded(
    TaggedError, category=Category.QUOTA, message='{spent:g} of the budget of {limit:g} is spent.'
):
    """The spending limit of this program is reached. The owner of the limit can raise it."""

    limit: float
    spent: float
    cause: Cause | None = None


SpendingError: TypeAlias = QuotaExceeded | BudgetExceeded


class BatchClosed(
    TaggedError, category=Category.CONFLICT, message='The batch {batch!r} is closed.'
):
    """A request was added to a closed batch. The caller opens a new one."""

    batch: str
    cause: Cause | None = None


class BatchFull(
    TaggedError,
    category=Category.CAPACITY,
    message='The batch {batch!r} is full (capacity: {capacity}).',
):
    """The batch accepts no more requests until it has been sent. The caller waits."""

    batch: str
    capacity: int
    retry_after: float | None = None
    cause: Cause | None = None


class BatchTimedOut(
    TaggedError,
    category=Category.TIMEOUT,
    message='The batch {batch!r} did not finish within {timeout:g} s.',
):
    """The batch did not finish within `timeout` seconds. The caller sends it again."""

    batch: str
    timeout: float
    retry_after: float | None = None
    cause: Cause | None = None


BatchError: TypeAlias = BatchClosed | BatchFull | BatchTimedOut


class CacheMiss(
    TaggedError, category=Category.NOT_FOUND, message='Nothing is cached under {key!r}.'
):
    """No answer is cached under this key. The caller asks the model."""

    key: str
    cause: Cause | None = None


ModelError: TypeAlias = (
    ProviderError
    | RoutingError
    | RequestError
    | AnswerError
    | SpendingError
    | BatchError
    | CacheMiss
)
