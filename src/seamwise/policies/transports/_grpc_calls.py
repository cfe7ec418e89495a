"""Calls of gRPC that no server has answered, because a guard or the caller ended them."""

from collections.abc import Callable
from math import ceil
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Never, cast

import grpc
from typing_extensions import override

from seamwise._errors.categories import Category
from seamwise._errors.causes import Raised
from seamwise._errors.errors import TaggedError, retry_after
from seamwise.policies.classify.pushback import PUSHBACK_KEY

if TYPE_CHECKING:

    class UnaryCall(grpc.Call, grpc.Future[Any]):
        """Both interfaces of a unary call of a synchronous channel."""
else:

    class UnaryCall(grpc.Call, grpc.Future):
        """Both interfaces; at run time `Future` is not generic."""


_CODES: Final = {
    Category.TIMEOUT: grpc.StatusCode.DEADLINE_EXCEEDED,
    Category.RATE_LIMIT: grpc.StatusCode.RESOURCE_EXHAUSTED,
    Category.CAPACITY: grpc.StatusCode.RESOURCE_EXHAUSTED,
}
"""Status codes of the errors of guards; that of all others is UNAVAILABLE."""


class CallRefused(grpc.RpcError, Raised):
    """A guard ended a call; `error` is its error, such as `CircuitOpen`.

    The status code is DEADLINE_EXCEEDED for `DeadlineExceeded`, RESOURCE_EXHAUSTED for
    `RateLimited` and `BulkheadFull`, and UNAVAILABLE for other errors. The details are the message
    of the error. Its `retry_after` is the `grpc-retry-pushback-ms` of the trailing metadata (gRFC
    A6).

    `caught` and `attempt` turn it into a failure with this error. `grpc_failures` leaves it as it
    is: the server has not failed.

    >>> from seamwise.policies import CircuitOpen
    >>> refused = CallRefused(CircuitOpen('billing', 5, 1.5, 'open'))
    >>> refused.code().name, refused.details()
    ('UNAVAILABLE', "The circuit 'billing' refuses calls (failures: 5).")
    """

    error: TaggedError

    def __init__(self, error: TaggedError) -> None:
        Raised.__init__(self, error)

    @override
    def code(self) -> grpc.StatusCode:
        """Return the status code."""
        return _CODES.get(self.error.category, grpc.StatusCode.UNAVAILABLE)

    @override
    def details(self) -> str:
        """Return the message of the error."""
        return str(self.error)

    def debug_error_string(self) -> str:
        """Return the representation of the error."""
        return repr(self.error)

    @override
    def __str__(self) -> str:
        return self.details()

    @override
    def __repr__(self) -> str:
        return f'{type(self).__name__}({self.error!r})'

    @override
    def __reduce__(self) -> tuple[type['CallRefused'], tuple[TaggedError]]:
        return type(self), (self.error,)


class EndedCall(UnaryCall):
    """A call that has ended with an exception, with both interfaces of a unary call.

    gRPC calls `result()` of the object that an interceptor returns.
    """

    def _exception(self) -> BaseException:
        raise NotImplementedError

    @override
    def result(self, timeout: float | None = None) -> Never:
        """Raise the exception."""
        raise self._exception()

    @override
    def exception(self, timeout: float | None = None) -> Exception | None:
        """Return the exception."""
        # A defect can be any exception, though the interface says otherwise.
        return cast('Exception', self._exception())

    @override
    def traceback(self, timeout: float | None = None) -> TracebackType | None:
        """Return the traceback of the exception."""
        try:
            self.result()
        # seamwise: allow[SW103] it is the exception of this call
        except Exception as error:  # noqa: BLE001
            return error.__traceback__

    @override
    def initial_metadata(self) -> tuple[tuple[str, str | bytes], ...]:
        """Return no metadata: no server has answered."""
        return ()

    @override
    def trailing_metadata(self) -> tuple[tuple[str, str | bytes], ...]:
        """Return no metadata: no server has answered."""
        return ()

    @override
    def time_remaining(self) -> float:
        """Return 0, because the call has ended."""
        return 0.0

    @override
    def add_callback(self, callback: Callable[[], None]) -> bool:
        """Return False, because the call has ended."""
        return False

    @override
    def add_done_callback(self, fn: 'Callable[[grpc.Future[Any]], None]') -> None:
        """Call the function immediately."""
        fn(self)

    @override
    def cancel(self) -> bool:
        """Return False, because the call has ended."""
        return False

    @override
    def cancelled(self) -> bool:
        """Return whether the caller cancelled the call."""
        return False

    @override
    def done(self) -> bool:
        """Return True."""
        return True

    @override
    def running(self) -> bool:
        """Return False."""
        return False

    @override
    def is_active(self) -> bool:
        """Return False."""
        return False


class RefusedCall(CallRefused, EndedCall):
    """`CallRefused` of a synchronous channel."""

    @override
    def _exception(self) -> BaseException:
        return self

    @override
    def trailing_metadata(self) -> tuple[tuple[str, str | bytes], ...]:  # type: ignore[override]  # pyright: ignore[reportIncompatibleMethodOverride] -- as in grpc.Call
        """Return the delay of the error, if it has one."""
        return _pushback(self.error)


class AioRefusedCall(CallRefused, grpc.aio.AioRpcError):
    """`CallRefused` of an asynchronous channel."""

    @override
    def initial_metadata(self) -> grpc.aio.Metadata:
        """Return no metadata: no server has answered."""
        return grpc.aio.Metadata()

    @override
    def trailing_metadata(self) -> grpc.aio.Metadata:  # type: ignore[override]  # pyright: ignore[reportIncompatibleMethodOverride] -- as in AioRpcError
        """Return the delay of the error, if it has one."""
        return grpc.aio.Metadata(*_pushback(self.error))


class CancelledCall(EndedCall):
    """A call that the caller cancelled between two attempts."""

    @override
    def _exception(self) -> BaseException:
        return grpc.FutureCancelledError()

    @override
    def exception(self, timeout: float | None = None) -> Never:
        """Raise, as a cancelled call of gRPC does."""
        raise self._exception()

    @override
    def traceback(self, timeout: float | None = None) -> Never:
        """Raise, as a cancelled call of gRPC does."""
        raise self._exception()

    @override
    def cancelled(self) -> bool:
        """Return True."""
        return True

    @override
    def code(self) -> grpc.StatusCode:
        """Return the status code."""
        return grpc.StatusCode.CANCELLED

    @override
    def details(self) -> str:
        """Return the details of a cancelled call of gRPC."""
        return 'Locally cancelled by application!'


class DefectiveCall(EndedCall):
    """A call that ended with an exception that is no `RpcError`."""

    def __init__(self, defect: BaseException) -> None:
        self._defect = defect

    @override
    def _exception(self) -> BaseException:
        return self._defect

    @override
    def code(self) -> grpc.StatusCode:
        """Return the status code of gRPC for an exception in an interceptor."""
        return grpc.StatusCode.INTERNAL

    @override
    def details(self) -> str:
        """Return the details of gRPC for an exception in an interceptor."""
        return 'Exception raised while intercepting the RPC'


def _pushback(error: TaggedError) -> tuple[tuple[str, str], ...]:
    delay = retry_after(error)
    # Rounded up, so that nothing comes back too early.
    return () if delay is None else ((PUSHBACK_KEY, str(ceil(delay * 1000))),)
