"""HTTP statuses after which the same request may succeed later."""

from typing import Final

_REPEATABLE: Final = frozenset({408, 425})
"""Statuses below 500 after which the same request may be sent again (RFC 9110, 15.5.9; RFC 8470,
5.2).
"""

_FIRST_SERVER_ERROR: Final = 500

_PERMANENT: Final = frozenset({501, 505})
"""Statuses from 500 for requests that this server never supports (RFC 9110, 15.6.2, 15.6.6)."""

TOO_MANY_REQUESTS: Final = 429


def is_upstream_failure(status: int) -> bool:
    """Return whether a status is a failure of the server that may pass.

    >>> [status for status in (404, 408, 500, 501, 503) if is_upstream_failure(status)]
    [408, 500, 503]
    """
    return status in _REPEATABLE or (status >= _FIRST_SERVER_ERROR and status not in _PERMANENT)
