"""Transports for httpx: a guard under any client."""

from typing import Final

import httpx

from seamwise._errors.causes import Raised
from seamwise._errors.errors import TaggedError
from seamwise.policies._engine.pipeline import Guard
from seamwise.policies.classify.httpx import httpx_failures
from seamwise.policies.transports._delegating import (
    AsyncDelegatingTransport,
    DelegatingTransport,
    Library,
)

# Twin of the module `httpx2`, since type checkers need the classes of one library. The texts
# differ in its name only; `test_transports.py` compares them.


class RequestRefused(httpx.TransportError, Raised):
    """A guard did not admit a request; `error` is its error, such as `CircuitOpen`.

    `caught` and `attempt` turn it into a failure with this error.
    """

    def __init__(self, error: TaggedError, request: httpx.Request) -> None:
        httpx.TransportError.__init__(self, str(error), request=request)
        self.error = error


class RequestTimedOut(httpx.TimeoutException, Raised):
    """The `deadline` of a guard ended a request; `error` is its error."""

    def __init__(self, error: TaggedError, request: httpx.Request) -> None:
        httpx.TimeoutException.__init__(self, str(error), request=request)
        self.error = error


_LIBRARY: Final[Library[httpx.Request, httpx.Response]] = Library(
    classify=httpx_failures(),
    byte_stream=httpx.ByteStream,
    refused=RequestRefused,
    timed_out=RequestTimedOut,
)


class GuardTransport(DelegatingTransport[httpx.Request, httpx.Response], httpx.BaseTransport):
    """Transport that sends each request of a client inside a guard.

    A failure is a response with status 408, 425, 429 or 500 and above (but 501 and 505), and an
    exception of the network. A `Retry-After` header is the delay before the next attempt. If the
    guard gives up, the client receives the last response or exception as without a guard. If the
    guard itself fails, it raises `RequestRefused` or `RequestTimedOut`, which are exceptions of
    httpx.

    A request is sent once, without `retry` and `hedge` of the guard, if its method is not
    idempotent (RFC 9110, 9.2.2) and it has no `Idempotency-Key` header, or if its body is a stream.

    The guard ends when the headers of the response have arrived. The body is read by the client.

    Args:
        guard: Guard of the requests, such as `circuit(…) >> retry()`.
        transport: Transport that sends the requests (None: `httpx.HTTPTransport()`).

    Raises:
        TypeError: `guard` is no guard. A `fallback` is none, since it has no response.

    >>> from seamwise.policies import retry
    >>> send = httpx.MockTransport(lambda request: httpx.Response(200, text='sunny'))
    >>> with httpx.Client(transport=GuardTransport(retry(), send)) as client:
    ...     client.get('https://weather.example.org').text
    'sunny'
    """

    def __init__(self, guard: Guard[object], transport: httpx.BaseTransport | None = None) -> None:
        inner = httpx.HTTPTransport() if transport is None else transport
        super().__init__(guard, inner, _LIBRARY)


class AsyncGuardTransport(
    AsyncDelegatingTransport[httpx.Request, httpx.Response], httpx.AsyncBaseTransport
):
    """Transport that sends each request of an asynchronous client inside a guard.

    It works like `GuardTransport`.

    Args:
        guard: Guard of the requests, such as `circuit(…) >> retry()`.
        transport: Transport that sends the requests (None: `httpx.AsyncHTTPTransport()`).
    """

    def __init__(
        self, guard: Guard[object], transport: httpx.AsyncBaseTransport | None = None
    ) -> None:
        inner = httpx.AsyncHTTPTransport() if transport is None else transport
        super().__init__(guard, inner, _LIBRARY)
