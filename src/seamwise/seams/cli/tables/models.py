"""How a failing call of a language model looks at a terminal."""

from collections.abc import Iterator

from seamwise.catalog.models import (
    BatchClosed,
    BatchFull,
    BatchTimedOut,
    BudgetExceeded,
    CacheMiss,
    ContentFiltered,
    ContextTooLong,
    InvalidModelRequest,
    ModelError,
    ModelNotFound,
    ModelOverloaded,
    NoModelAvailable,
    OutputTruncated,
    ProviderNotReady,
    ProviderUnavailable,
    QuotaExceeded,
    StructuredOutputInvalid,
)
from seamwise.seams.adapter import Adapter
from seamwise.seams.cli import hints
from seamwise.seams.cli.on import on
from seamwise.seams.cli.shape import Rendered


def _models(error: ModelNotFound) -> str | None:
    return None if error.suggestions else f'ask {error.provider} which models it offers.'


def _shorter(error: ContextTooLong) -> str:
    return f'leave out {error.tokens - error.limit:,} tokens or more.'


def _shape(error: StructuredOutputInvalid) -> Iterator[str]:
    yield 'asked again, the model may keep to it.'
    yield from hints.places(error.problems, whole='the answer')


MODELS: Adapter[ModelError, Rendered] = (
    on(ModelNotFound).exits(2, hint=_models)
    | on(ProviderNotReady).exits(78, hint='mend how the provider is set up.')
    | on(ProviderUnavailable).exits(69, hint='another provider may do.')
    | on(ModelOverloaded).exits(75, hint='another model may be free.')
    | on(NoModelAvailable).exits(69, hint=hints.later)
    | on(InvalidModelRequest).exits(65)
    | on(ContextTooLong).exits(65, hint=_shorter)
    | on(ContentFiltered).exits(77, hint='ask in another way, if that is right.')
    | on(OutputTruncated).exits(65, hint='ask for less, or allow more tokens.')
    | on(StructuredOutputInvalid).exits(75, hint=_shape)
    | on(QuotaExceeded).exits(69, hint='raise the quota, or wait until it begins anew.')
    | on(BudgetExceeded).exits(69, hint='whoever set the budget can raise it.')
    | on(BatchClosed).exits(1, hint='open a new batch.')
    | on(BatchFull).exits(75, hint=hints.later)
    | on(BatchTimedOut).exits(124, hint='send it again, or make it smaller.')
    | on(CacheMiss).exits(66, hint='ask the model.')
)
