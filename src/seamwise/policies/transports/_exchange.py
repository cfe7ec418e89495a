"""One guarded request of a client: its attempts, and the response or exception that it ends with.

The protocols are the common part of httpx and httpx2.
"""

from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from typing import Any, Final, Generic, Protocol, TypeVar

from seamwise._errors.errors import TaggedError
from seamwise._results.containers import Failure, Result, Success
from seamwise._results.edges import Classify
from seamwise.catalog.network import NetworkError, UpstreamFailed, UpstreamRateLimited
from seamwise.policies._engine.pipeline import Guard
from seamwise.policies.classify.http_statuses import TOO_MANY_REQUESTS, is_upstream_failure
from seamwise.policies.hints import from_headers

IDEMPOTENT_METHODS: Final = frozenset({'GET', 'HEAD', 'OPTIONS', 'TRACE', 'PUT', 'DELETE'})
"""RFC 9110, 9.2.2."""


class Url(Protocol):
    """Address of a request."""

    @property
    def host(self) -> str:
        """Name of the host."""
        ...


class Request(Protocol):
    """A request of a client."""

    method: str

    @property
    def url(self) -> Url:
        """Address."""
        ...

    @property
    def headers(self) -> Mapping[str, str]:
        """Headers, without regard to case."""
        ...

    @property
    def stream(self) -> object:
        """Body."""
        ...


class Response(Protocol):
    """A response whose body has not been read."""

    status_code: int

    @property
    def headers(self) -> Mapping[str, str]:
        """Headers, without regard to case."""
        ...

    def close(self) -> None:
        """Release the connection, in a thread."""
        ...

    async def aclose(self) -> None:
        """Release the connection, in a task."""
        ...


Q = TypeVar('Q', bound=Request)
R = TypeVar('R', bound=Response)


class Exchange(Generic[Q, R]):
    """The attempts of one request.

    Args:
        guard: Guard of the client.
        request: The request.
        is_replayable: Whether its body can be sent again.
        classify: Turns exceptions of the client into failures.
    """

    def __init__(
        self,
        guard: Guard[object],
        request: Q,
        *,
        is_replayable: bool,
        classify: Classify[NetworkError],
    ) -> None:
        is_idempotent = request.method in IDEMPOTENT_METHODS or 'idempotency-key' in request.headers
        self._guard = guard if is_idempotent and is_replayable else guard.once()
        self._request = request
        self._classify = classify
        # Responses whose connection is in use. Of two attempts at once, the second must not close
        # the response that the first has got.
        self._failed: list[R] = []
        self._succeeded: list[R] = []
        self._errors: list[TaggedError] = []
        self._last: R | Exception | None = None

    def run_sync(self, send: Callable[[Q], R]) -> R | TaggedError:
        """Send the request in a thread; return the response, or the error of a guard."""

        def attempt() -> Result[R, NetworkError]:
            # It needs the connection of the one before if the pool has no other.
            _close_all(self._failed)
            try:
                return self._result(send(self._request))
            except Exception as error:
                failure = self._failure(error)
                if failure is None:
                    raise
                return failure

        response: R | None = None
        try:
            outcome = self._outcome(self._guard.run_sync(attempt))
            if not isinstance(outcome, TaggedError):
                response = outcome
            return outcome
        finally:
            _close_all(self._failed, kept=response)
            _close_all(self._succeeded, kept=response)

    async def run(self, send: Callable[[Q], Awaitable[R]]) -> R | TaggedError:
        """Send the request in a task; return the response, or the error of a guard."""

        async def attempt() -> Result[R, NetworkError]:
            await _aclose_all(self._failed)
            try:
                return self._result(await send(self._request))
            except Exception as error:
                failure = self._failure(error)
                if failure is None:
                    raise
                return failure

        response: R | None = None
        try:
            outcome = self._outcome(await self._guard.run(attempt))
            if not isinstance(outcome, TaggedError):
                response = outcome
            return outcome
        finally:
            await _aclose_all(self._failed, kept=response)
            await _aclose_all(self._succeeded, kept=response)

    def _result(self, response: R) -> Result[R, UpstreamFailed | UpstreamRateLimited]:
        status = response.status_code
        delay = from_headers(response.headers, now=datetime.now(UTC))
        host = self._request.url.host
        error: UpstreamFailed | UpstreamRateLimited
        if status == TOO_MANY_REQUESTS:
            error = UpstreamRateLimited(host, retry_after=delay)
        elif is_upstream_failure(status):
            error = UpstreamFailed(host, status, '', retry_after=delay)
        else:
            self._succeeded.append(response)
            return Success(response)
        self._failed.append(response)
        self._errors.append(error)
        self._last = response
        return Failure(error)

    def _failure(self, exception: Exception) -> Failure[NetworkError] | None:
        failure = self._classify(exception)
        if failure is not None:
            self._errors.append(failure.failure())
            self._last = exception
        return failure

    def _outcome(self, result: Result[R, Any]) -> R | TaggedError:
        """Return the response of a result, or the guard's error; raise the client's exception."""
        if type(result) is Success:
            response: R = result.unwrap()
            return response
        error: TaggedError = result.failure()
        # By identity: a guard inside this one's client can fail with an equal error.
        if self._last is None or not any(error is own for own in self._errors):
            return error
        # Of concurrent attempts the guard may choose any, but the others are closed.
        if isinstance(self._last, Exception):
            raise self._last
        return self._last


def _close_all(responses: list[R], *, kept: R | None = None) -> None:
    while responses:
        response = responses.pop()
        if response is not kept:
            response.close()


async def _aclose_all(responses: list[R], *, kept: R | None = None) -> None:
    while responses:
        response = responses.pop()
        if response is not kept:
            await response.aclose()
