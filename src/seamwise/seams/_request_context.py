"""Request id and language of the request that is being served, as context variables.

Tasks and threads that a request starts with its context see the same values.
"""

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar

from seamwise.seams._operations import ACTIVE, Operation

_request_id: ContextVar[str | None] = ContextVar('seamwise_request_id', default=None)
_locale: ContextVar[str] = ContextVar('seamwise_locale', default='en')


def current_request_id() -> str | None:
    """Return the id of the request that is being served, or None outside one."""
    return _request_id.get()


def current_locale() -> str:
    """Return the language of the client that is being served; `en` outside a request."""
    return _locale.get()


@contextmanager
def serving(request_id: str, locale: str = 'en') -> Generator[None]:
    """Set the id and the language of a request inside a `with` block.

    The request is one operation: its tasks and threads report an error once.

    >>> with serving('r-1', 'de'):
    ...     current_request_id(), current_locale()
    ('r-1', 'de')
    """
    id_token, locale_token = _request_id.set(request_id), _locale.set(locale)
    # Nothing is copied to the context of the server: in another request, the same error object is
    # a new failure.
    operation_token = ACTIVE.set(Operation(has_end=True))
    try:
        yield
    finally:
        ACTIVE.reset(operation_token)
        _locale.reset(locale_token)
        _request_id.reset(id_token)
