"""Classifier for the exceptions of the standard library during an outage of a service."""

import errno
from socket import gaierror
from typing import Final, TypeAlias

from seamwise._results.containers import Failure
from seamwise._results.edges import Classify
from seamwise._runtime.validation import check_float
from seamwise.catalog.network import HostUnreachable, NetworkTimedOut
from seamwise.policies.classify.exception_text import exception_reason

_Error: TypeAlias = HostUnreachable | NetworkTimedOut

_UNREACHABLE_CODES: Final = frozenset(
    {errno.ENETUNREACH, errno.ENETDOWN, errno.EHOSTUNREACH, errno.EHOSTDOWN}
)
"""Codes of an `OSError` that Python raises without a class of its own."""


def standard_failures(service: str, *, timeout: float = 0.0) -> Classify[_Error]:
    """Return a classifier, for `refine`, of the exceptions of sockets and `asyncio`.

    - NetworkTimedOut: TimeoutError, also that of `asyncio.timeout`.
    - HostUnreachable: ConnectionError, a name that cannot be resolved (`socket.gaierror`), and an
      OSError that says that the network or the host cannot be reached.

    Everything else remains an exception: a missing file is no outage, a ValueError is a bug, and an
    invalid certificate needs human attention.

    Args:
        service: Name of the service in the errors; the exceptions do not contain it.
        timeout: Time limit of the call in seconds (0 if unknown); the exceptions do not contain it.

    >>> standard_failures('bank')(ConnectionResetError('reset by peer')).failure().reason
    'reset by peer'
    >>> print(standard_failures('bank', timeout=2.0)(TimeoutError()).failure())
    bank did not finish a call within 2 s.
    """
    check_float('timeout', timeout, minimum=0.0)

    def classify(error: Exception) -> Failure[_Error] | None:
        if isinstance(error, TimeoutError):
            return Failure(NetworkTimedOut(service, 'a call', timeout=timeout, cause=error))
        is_unreachable = isinstance(error, ConnectionError | gaierror) or (
            isinstance(error, OSError) and error.errno in _UNREACHABLE_CODES
        )
        if is_unreachable:
            return Failure(HostUnreachable(service, exception_reason(error), cause=error))
        return None

    return classify
