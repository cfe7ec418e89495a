"""Request id, language and method of the request that is being served.

Tasks and threads that a request starts with its context see the same values.
"""

from contextlib import AbstractContextManager
from typing import Final

from seamwise.seams.reporting.operations import ACTIVE, Operation, active, inner_operation

_IDEMPOTENT_METHODS: Final = frozenset({'GET', 'HEAD', 'OPTIONS', 'TRACE', 'PUT', 'DELETE'})
"""Methods whose requests may be repeated (RFC 9110, 9.2.2)."""


def current_request_id() -> str | None:
    """Return the id of the request that is being served, or None outside one.

    >>> with serving('r-1'):
    ...     current_request_id()
    'r-1'
    """
    operation = ACTIVE.get()
    return (operation and operation.request_id) or None


def current_locale() -> str:
    """Return the language of the client that is being served; `en` outside a request."""
    operation = ACTIVE.get()
    return 'en' if operation is None else operation.locale


def is_idempotent() -> bool:
    """Return whether the request that is being served may be repeated without further effects.

    Outside a request, and where the method is unknown, it may not.
    """
    operation = ACTIVE.get()
    return operation is not None and operation.method in _IDEMPOTENT_METHODS


def serving(
    request_id: str, locale: str = 'en', *, method: str | None = None
) -> AbstractContextManager[None]:
    """Set the id, the language and the HTTP method of a request inside a `with` block.

    The request is one operation: its tasks and threads report an error once. Nothing is copied to
    the context of the server: in another request, the same error object is a new failure.

    >>> with serving('r-1', 'de'):
    ...     current_request_id(), current_locale()
    ('r-1', 'de')
    """
    return active(Operation(True, request_id, locale, method))  # noqa: FBT003 -- positional arguments are faster


def in_language(locale: str) -> AbstractContextManager[None]:
    """Set the language of the reader inside a `with` block, outside of a request too.

    >>> with in_language('zh_CN'):
    ...     current_locale()
    'zh_CN'
    """
    return inner_operation(locale=locale)
