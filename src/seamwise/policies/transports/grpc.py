"""Interceptors for gRPC: a guard under any channel."""

try:
    import grpc
except ModuleNotFoundError as error:
    if error.name != 'grpc':
        raise
    raise ImportError('seamwise.policies.transports.grpc needs gRPC: pip install grpcio') from error

from collections.abc import Awaitable, Callable, Collection
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar, cast

from typing_extensions import override

from seamwise._errors.causes import Raised
from seamwise._errors.errors import TaggedError
from seamwise._results.containers import Failure, Result, Success
from seamwise.catalog.network import CredentialsRejected
from seamwise.policies._engine.pipeline import Guard
from seamwise.policies.classify.grpc import classify_call
from seamwise.policies.deadline import remaining
from seamwise.policies.transports._delegating import check_guard
from seamwise.policies.transports._grpc_attempts import GuardedCall, is_answer
from seamwise.policies.transports._grpc_calls import AioRefusedCall, CallRefused, UnaryCall

if TYPE_CHECKING:
    from grpc import _CallFuture

__all__ = ['AsyncGuardInterceptor', 'CallRefused', 'GuardInterceptor']

__all__ = ['AsyncGuardInterceptor', 'CallRefused', 'GuardInterceptor', 'Repeatable']

Q = TypeVar('Q')
R = TypeVar('R')

Repeatable: TypeAlias = Collection[str] | Callable[[str], bool]
"""Full names of methods that may be called again, or a function that returns whether one may."""

_NAME_PARTS: Final = 3
"""Number of parts between the slashes of `/shop.Billing/Get`; the first one is empty."""


class GuardInterceptor(grpc.UnaryUnaryClientInterceptor):
    """Interceptor that runs the unary calls of a synchronous channel inside a guard.

    A failure is a call with the status UNAVAILABLE, DEADLINE_EXCEEDED, RESOURCE_EXHAUSTED, INTERNAL
    or UNKNOWN. Any other status is an answer of the server, and a success for the guard. If the
    guard gives up, the caller receives the response or error of the last attempt as without a
    guard. If the guard itself fails, the caller receives `CallRefused`, an `RpcError`.

    `retry` and `hedge` of the guard apply only to the methods in `repeatable`, because gRPC does
    not know which methods are idempotent. The other guards apply to all unary calls. Streaming
    calls are not guarded.

    The timeout of a call is at most the time that is left of the current `deadline`. A delay that
    the server requests (gRFC A6, `google.rpc.RetryInfo`) is that before the next attempt.

    Args:
        guard: Guard of the calls, such as `circuit(…) >> retry()`.
        repeatable: Full names of the methods that may be called again, such as
            `/shop.Billing/Get`, or a function that returns whether a method may.

    Raises:
        TypeError: `guard` is no guard. A `fallback` is none, since it has no call.
        ValueError: A name in `repeatable` is not a full name.

    >>> from seamwise.policies import circuit, retry
    >>> guard = circuit(name='billing') >> retry()
    >>> channel = grpc.intercept_channel(
    ...     grpc.insecure_channel('localhost:50051'),
    ...     GuardInterceptor(guard, repeatable={'/shop.Billing/Get'}),
    ... )
    >>> channel.close()
    """

    def __init__(self, guard: Guard[object], *, repeatable: Repeatable = ()) -> None:
        self._guards = _Guards(guard, repeatable)

    @override
    def intercept_unary_unary(
        self,
        continuation: 'Callable[[grpc.ClientCallDetails, Q], _CallFuture[R]]',
        client_call_details: grpc.ClientCallDetails,
        request: Q,
    ) -> '_CallFuture[R]':
        """Send a request; return its ended call, or a future for `.future()`."""
        method, timeout = client_call_details.method, client_call_details.timeout

        def send() -> UnaryCall:
            details = _Details(client_call_details, remaining(timeout))
            return cast('UnaryCall', continuation(details, request))

        call = GuardedCall(
            self._guards.of(method), send, lambda error: _failure(error, method, timeout)
        ).run(is_future=_is_of_future(continuation))
        return cast('_CallFuture[R]', call)


class AsyncGuardInterceptor(grpc.aio.UnaryUnaryClientInterceptor):
    """Interceptor that runs the unary calls of an asynchronous channel inside a guard.

    It works like `GuardInterceptor`.

    Args:
        guard: Guard of the calls, such as `circuit(…) >> retry()`.
        repeatable: Full names of the methods that may be called again, such as
            `/shop.Billing/Get`, or a function that returns whether a method may.

    >>> import asyncio
    >>> from seamwise.policies import retry
    >>> async def main() -> None:
    ...     interceptor = AsyncGuardInterceptor(retry(), repeatable={'/shop.Billing/Get'})
    ...     async with grpc.aio.insecure_channel('localhost:50051', interceptors=[interceptor]):
    ...         pass
    >>> asyncio.run(main())
    """

    def __init__(self, guard: Guard[object], *, repeatable: Repeatable = ()) -> None:
        self._guards = _Guards(guard, repeatable)

    @override
    async def intercept_unary_unary(
        self,
        continuation: Callable[
            [grpc.aio.ClientCallDetails, Q], Awaitable[grpc.aio.UnaryUnaryCall[Q, R]]
        ],
        client_call_details: grpc.aio.ClientCallDetails,
        request: Q,
    ) -> grpc.aio.UnaryUnaryCall[Q, R]:
        """Send a request; return its ended call."""
        method, timeout = _text(client_call_details.method), client_call_details.timeout
        endings: list[tuple[TaggedError, grpc.aio.UnaryUnaryCall[Q, R] | Exception]] = []

        # seamwise: allow[SW106] a guard under the same channel can refuse with any error
        async def attempt() -> Result[grpc.aio.UnaryUnaryCall[Q, R] | Exception, TaggedError]:
            ending: grpc.aio.UnaryUnaryCall[Q, R] | Exception | None = None
            try:
                details = _with_timeout(client_call_details, remaining(timeout))
                ending = await continuation(details, request)
                await ending
            except Exception as error:
                # Without a call, the exception is that of another interceptor.
                ending = error if ending is None else ending
                failure = _failure(error, method, timeout)
                if failure is not None:
                    endings.append((failure, ending))
                    return Failure(failure)
                if not is_answer(error):
                    raise
            return Success(ending)

        result: Result[grpc.aio.UnaryUnaryCall[Q, R] | Exception, Any] = await self._guards.of(
            method
        ).run(attempt)
        if type(result) is Success:
            ending = result.unwrap()
        else:
            error: TaggedError = result.failure()
            own = (ending for failure, ending in endings if failure is error)
            ending = next(own, None) or AioRefusedCall(error)
        if isinstance(ending, Exception):
            raise ending
        return ending


class _Guards:
    """The guard of each method: all of it, or only the part that does not repeat calls."""

    def __init__(self, guard: Guard[object], repeatable: Repeatable) -> None:
        self._guard = check_guard(guard)
        self._once = guard.once()
        self._is_repeatable = _check_repeatable(repeatable)

    def of(self, method: str) -> Guard[object]:
        return self._guard if self._is_repeatable(method) else self._once


class _Details(grpc.ClientCallDetails):
    """The details of a call with another timeout.

    Other interceptors may pass details without some of the attributes, and gRPC then uses its own.
    """

    def __init__(self, details: grpc.ClientCallDetails, timeout: float | None) -> None:
        self._details = details
        self.timeout = timeout

    def __getattr__(self, name: str) -> object:
        value: object = getattr(self._details, name)
        return value


def _is_of_future(continuation: object) -> bool:
    """Return whether a caller of `.future()` gets the call, and does not wait for its attempts.

    gRPC does not tell this to interceptors. Its continuation is a function inside `future`, or
    inside the method for callers that wait.
    """
    return '.future.' in getattr(continuation, '__qualname__', '')


def _with_timeout(
    details: grpc.aio.ClientCallDetails, timeout: float | None
) -> grpc.aio.ClientCallDetails:
    return grpc.aio.ClientCallDetails(
        details.method, timeout, details.metadata, details.credentials, details.wait_for_ready
    )


def _failure(error: Exception, method: str, timeout: float | None) -> TaggedError | None:
    """Return the failure of an attempt, or None if it was answered or is a defect."""
    if isinstance(error, Raised) and isinstance(error.error, TaggedError):
        # Another guard under the same channel has refused the call.
        return error.error
    failure = classify_call(error, method[1:].partition('/')[0], timeout or 0.0)
    # The server has checked the credentials, so it works.
    return None if isinstance(failure, CredentialsRejected) else failure


def _check_repeatable(repeatable: Repeatable) -> Callable[[str], bool]:
    if isinstance(repeatable, str):
        raise TypeError(f'repeatable must be a set of method names, such as {{{repeatable!r}}}.')
    if callable(repeatable):
        return repeatable
    for name in repeatable:
        if len(name.split('/')) != _NAME_PARTS or not name.startswith('/'):
            raise ValueError(
                'repeatable must have full names of methods, such as '
                f"'/shop.Billing/Get', not {name!r}."
            )
    return frozenset(repeatable).__contains__


def _text(method: str | bytes) -> str:
    # The types of grpc say str, but an asynchronous channel passes bytes.
    return method.decode() if isinstance(method, bytes) else method
