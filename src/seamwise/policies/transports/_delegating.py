"""Transports of httpx and httpx2, apart from the classes of either library."""

from collections.abc import Callable
from types import TracebackType
from typing import Generic, Protocol, Self, TypeVar

from msgspec import Struct

from seamwise._errors.errors import TaggedError
from seamwise._results.edges import Classify
from seamwise.catalog.network import NetworkError
from seamwise.policies._engine.pipeline import Guard
from seamwise.policies.errors import DeadlineExceeded
from seamwise.policies.transports._exchange import Exchange, Request, Response

Q = TypeVar('Q', bound=Request)
R = TypeVar('R', bound=Response)
Q_contra = TypeVar('Q_contra', contravariant=True)
R_co = TypeVar('R_co', covariant=True)


class Library(Struct, Generic[Q, R], frozen=True, kw_only=True):
    """The classes and the classifier of a library that the transports need.

    Attributes:
        classify: Turns exceptions of the library into failures.
        byte_stream: The class of a body that can be sent again.
        refused: Returns the exception for a request that a guard did not admit.
        timed_out: Returns the exception for a request that a deadline ended.
    """

    classify: Classify[NetworkError]
    byte_stream: type
    refused: Callable[[TaggedError, Q], Exception]
    timed_out: Callable[[TaggedError, Q], Exception]

    def exchange(self, guard: Guard[object], request: Q) -> Exchange[Q, R]:
        """Return the attempts of a request."""
        is_replayable = isinstance(request.stream, self.byte_stream)
        return Exchange(guard, request, is_replayable=is_replayable, classify=self.classify)

    def exception(self, error: TaggedError, request: Q) -> Exception:
        """Return the exception for an error of a guard."""
        create = self.timed_out if isinstance(error, DeadlineExceeded) else self.refused
        return create(error, request)


class _Transport(Protocol[Q_contra, R_co]):
    def handle_request(self, request: Q_contra, /) -> R_co: ...
    def __enter__(self) -> object: ...
    def __exit__(
        self,
        kind: type[BaseException] | None,
        exception: BaseException | None,
        traceback: TracebackType | None,
        /,
    ) -> object: ...
    def close(self) -> None: ...


class _AsyncTransport(Protocol[Q_contra, R_co]):
    async def handle_async_request(self, request: Q_contra, /) -> R_co: ...
    async def __aenter__(self) -> object: ...
    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        exception: BaseException | None,
        traceback: TracebackType | None,
        /,
    ) -> object: ...
    async def aclose(self) -> None: ...


class DelegatingTransport(Generic[Q, R]):
    """Base of a transport that sends requests inside a guard, by another transport."""

    def __init__(
        self, guard: Guard[object], inner: _Transport[Q, R], library: Library[Q, R]
    ) -> None:
        self._guard = check_guard(guard)
        self._inner = inner
        self._library = library

    def handle_request(self, request: Q) -> R:
        """Send a request in a thread."""
        exchange = self._library.exchange(self._guard, request)
        outcome = exchange.run_sync(self._inner.handle_request)
        if isinstance(outcome, TaggedError):
            raise self._library.exception(outcome, request)
        return outcome

    def close(self) -> None:
        """Close the inner transport."""
        self._inner.close()

    def __enter__(self) -> Self:
        """Open the inner transport."""
        self._inner.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None = None,
        exception: BaseException | None = None,
        traceback: TracebackType | None = None,
    ) -> None:
        """Close the inner transport."""
        self._inner.__exit__(kind, exception, traceback)


class AsyncDelegatingTransport(Generic[Q, R]):
    """Base of an asynchronous transport that sends requests inside a guard, by another one."""

    def __init__(
        self, guard: Guard[object], inner: _AsyncTransport[Q, R], library: Library[Q, R]
    ) -> None:
        self._guard = check_guard(guard)
        self._inner = inner
        self._library = library

    async def handle_async_request(self, request: Q) -> R:
        """Send a request in a task."""
        exchange = self._library.exchange(self._guard, request)
        outcome = await exchange.run(self._inner.handle_async_request)
        if isinstance(outcome, TaggedError):
            raise self._library.exception(outcome, request)
        return outcome

    async def aclose(self) -> None:
        """Close the inner transport."""
        await self._inner.aclose()

    async def __aenter__(self) -> Self:
        """Open the inner transport."""
        await self._inner.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None = None,
        exception: BaseException | None = None,
        traceback: TracebackType | None = None,
    ) -> None:
        """Close the inner transport."""
        await self._inner.__aexit__(kind, exception, traceback)


def check_guard(guard: Guard[object]) -> Guard[object]:
    """Return the argument, or raise a TypeError if it is no guard."""
    if not isinstance(guard, Guard):
        raise TypeError(f'guard must be a guard such as retry(), not {guard!r}.')
    return guard
