"""What a model can do next where a call of another model failed, or its own answer did not do."""

from seamwise.catalog.models import (
    BudgetExceeded,
    ContentFiltered,
    ContextTooLong,
    InvalidModelRequest,
    ModelNotFound,
    ModelOverloaded,
    NoModelAvailable,
    OutputTruncated,
    ProviderNotReady,
    ProviderUnavailable,
    QuotaExceeded,
    StructuredOutputInvalid,
)
from seamwise.seams._phrases import quoted
from seamwise.seams.model.suggestions._words import again, moment, places, why


def model_not_found(error: ModelNotFound) -> str:
    """Name the nearest models."""
    if error.suggestions:
        return f'Did you mean {quoted(error.suggestions)}?'
    return f'Ask {error.provider} for the models that it offers, or leave the choice of the model out.'


def provider_not_ready(error: ProviderNotReady) -> str:
    """Tell who can help."""
    return f'Its configuration must be mended{why(error)}, which you cannot do by a call. Take another provider, or tell the user.'


def provider_unavailable(error: ProviderUnavailable) -> str:
    """Tell when to come back, or where else to go."""
    return f'{again(error)}, or take a model of another provider.'


def model_overloaded(error: ModelOverloaded) -> str:
    """Tell when to come back, or what else to take."""
    return f'{again(error)}, or take another model than {error.model!r}.'


def no_model_available(error: NoModelAvailable) -> str:
    """Tell when to come back; there is nothing else to take."""
    return f'{again(error)}; every model that could do this was tried, so do what you can without one or tell the user.'


def invalid_model_request(error: InvalidModelRequest) -> str:
    """Tell what to mend."""
    return f'Mend what the message says before you ask {error.provider} again; the same request is refused every time.'


def context_too_long(error: ContextTooLong) -> str:
    """Tell by how much it is too long."""
    return f'Leave out at least {max(error.tokens - error.limit, 1)} tokens: quote less, summarize what is long, or split the work in two.'


def content_filtered(error: ContentFiltered) -> str:
    """Tell that the same words meet the same filter."""
    return f'The policy of {error.provider} forbids this; do not try to get around it. Ask for something else, or tell the user.'


def output_truncated(error: OutputTruncated) -> str:
    """Tell how to get the rest."""
    return f'Ask for less, or in parts of fewer than {error.limit} tokens, or allow more; what is there ends in the middle.'


def structured_output_invalid(error: StructuredOutputInvalid) -> str:
    """Name every place to mend."""
    return f'Answer again in the shape that was asked for, and mend {places(error.problems, "the answer itself")}.'


def quota_exceeded(error: QuotaExceeded) -> str:
    """Tell when it goes on, and who can change that."""
    until = None if error.reset is None else moment(error.reset)
    when = f' until {until}' if until else ''
    return f'Nothing more is to be had from {error.provider}{when}. Take another provider, or ask the user to raise the quota.'


def budget_exceeded(error: BudgetExceeded) -> str:
    """Tell who can change it."""
    return f'Make no more calls that cost. Tell the user what is done and what is left, and ask whether {error.limit:g} may be raised.'
