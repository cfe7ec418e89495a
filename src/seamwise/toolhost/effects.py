"""Possible effects of failed calls of tools that must not run twice."""

from seamwise._errors.errors import TaggedError
from seamwise.catalog.tools import InvalidResult, ToolCancelled, ToolFailed


def leaves_effect_open(error: TaggedError) -> bool:
    """Return whether a tool that began and failed with this error may have taken effect.

    It has not if it refused the call: with an error of its own that is not retryable.

    >>> leaves_effect_open(ToolCancelled('pay', 'shutdown'))
    True
    """
    if isinstance(error, ToolFailed):
        return error.retryable or not isinstance(error.cause, TaggedError)
    return error.retryable or isinstance(error, ToolCancelled | InvalidResult)
