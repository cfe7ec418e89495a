"""Request id and language of the request that is being served, as context variables.

Tasks and threads that a request starts with its context see the same values.
"""

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar

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

    >>> with serving('r-1', 'de'):
    ...     current_request_id(), current_locale()
    ('r-1', 'de')
    """
    id_token, locale_token = _request_id.set(request_id), _locale.set(locale)
    try:
        yield
    finally:
        _locale.reset(locale_token)
        _request_id.reset(id_token)


@contextmanager
def in_language(locale: str) -> Generator[None]:
    """Set the language of the reader inside a `with` block, outside of a request too.

    >>> with in_language('zh_CN'):
    ...     current_locale()
    'zh_CN'
    """
    token = _locale.set(locale)
    try:
        yield
    finally:
        _locale.reset(token)
