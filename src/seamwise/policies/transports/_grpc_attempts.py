"""One guarded call of a synchronous gRPC channel: its attempts, and the future for them."""

from asyncio import CancelledError
from collections.abc import Callable
from contextvars import copy_context
from functools import partial
from logging import getLogger
from threading import Condition, Thread
from types import TracebackType
from typing import Any, cast

import grpc
from typing_extensions import override

from seamwise._errors.causes import Raised
from seamwise._errors.errors import TaggedError
from seamwise.policies._engine.pipeline import Guard
from seamwise.policies._parts.reentrancy import disown
from seamwise.policies.deadline import CURRENT_SCOPE, leave_scopes
from seamwise.policies.transports._grpc_calls import (
    CancelledCall,
    DefectiveCall,
    RefusedCall,
    UnaryCall,
)


class GuardedCall:
    """The attempts of one call, one after the other.

    It is used by one thread at a time: that of the caller, and for a future those that end it.

    Args:
        guard: Guard of the call.
        send: Starts an attempt. It returns an ended call, or for `.future()` a running one.
        failure_of: Returns the error of a failed call, or None if the server has answered.
    """

    def __init__(
        self,
        guard: Guard[object],
        send: Callable[[], UnaryCall],
        failure_of: Callable[[Exception], TaggedError | None],
    ) -> None:
        self.repeats = any(layer.repeats for layer in guard._layers)
        self._block = guard._new_block()
        self._send = send
        self._failure_of = failure_of
        self._failures: list[tuple[TaggedError, UnaryCall]] = []

    def run(self, *, is_future: bool) -> UnaryCall:
        """Return the ended call, or a future if the caller of gRPC does not wait for it."""
        scope = CURRENT_SCOPE.get()
        while True:
            try:
                call = self.start()
            except Raised as refusal:
                return _refused(refusal)
            # The call of a future can have ended already.
            if is_future or not call.done():
                self.disown()
                future = GuardedFuture(self, call)
                # The deadlines of this call do not limit the code of the caller.
                leave_scopes(scope)
                future.watch(call)
                return future
            ended = self.end(call)
            if ended is not None:
                return ended

    def start(self) -> UnaryCall:
        """Enter the guard and start an attempt.

        Raises:
            Raised: The guard refused the call.
        """
        while True:
            self._block.__enter__()
            try:
                call = self._send()
                if isinstance(call, Exception) and not isinstance(call, grpc.Future):
                    # gRPC returns the exceptions of interceptors, though it can use calls only.
                    raise call
            except BaseException as error:
                if isinstance(error, grpc.Call) and isinstance(error, grpc.Future):
                    return cast('UnaryCall', error)
                if not self._block.__exit__(type(error), error, error.__traceback__):
                    raise
            else:
                return call

    def end(self, call: UnaryCall) -> UnaryCall | None:
        """Leave the guard after an attempt, and wait if another one follows.

        Returns:
            The call to return to the caller, or None if another attempt follows.
        """
        error = self._error(call)
        try:
            if self._block.__exit__(None if error is None else type(error), error, None):
                return None
        except Raised as raised:
            own = (call for failure, call in self._failures if failure is raised.error)
            return next(own, None) or _refused(raised)
        return call

    def abandon(self) -> None:
        """Leave the guard instead of starting the next attempt."""
        self._block.__enter__()
        self._block.__exit__(CancelledError, CancelledError(), None)

    def disown(self) -> None:
        """Separate the permits from the current thread, which does not wait for the call."""
        disown(self._block._permits)

    def _error(self, call: UnaryCall) -> BaseException | None:
        """Return the exception with which an attempt leaves the guard."""
        if call.cancelled():
            return CancelledError()
        exception = call.exception()
        if exception is None:
            return None
        failure = self._failure_of(exception)
        if failure is not None:
            self._failures.append((failure, call))
            return Raised(failure)
        return None if is_answer(exception) else exception


class GuardedFuture(UnaryCall):
    """Future for all attempts of a guarded call, returned by `.future()` of gRPC."""

    def __init__(self, attempts: GuardedCall, call: UnaryCall) -> None:
        self._attempts = attempts
        self._context = copy_context()
        self._condition = Condition()
        self._current = call
        self._ended: UnaryCall | None = None
        self._callbacks: list[Callable[[], object]] = []

    def watch(self, call: UnaryCall) -> None:
        """Continue when an attempt has ended."""
        call.add_done_callback(self._on_done)

    def _on_done(self, _future: object) -> None:
        call = self._current
        if self._attempts.repeats and call.code() is not grpc.StatusCode.OK:
            # The delay before the next attempt must not block the thread of the channel.
            Thread(target=self._advance, args=(call,), daemon=True).start()
        else:
            self._advance(call)

    def _advance(self, call: UnaryCall) -> None:
        following = self._context.run(self._next_attempt, call)
        # Outside of the context, which cannot be entered twice: the call may have ended already.
        if following is not None:
            self.watch(following)

    def _next_attempt(self, call: UnaryCall) -> UnaryCall | None:
        """Start the next attempt and return it, or end the future."""
        ended: UnaryCall | None
        try:
            ended = self._attempts.end(call)
            if ended is None:
                if self.done():
                    self._attempts.abandon()
                    return None
                return self._start()
        except Raised as refusal:
            ended = _refused(refusal)
        # The future raises it.
        except BaseException as error:  # noqa: BLE001
            ended = DefectiveCall(error)
        self._end(ended)
        return None

    def _start(self) -> UnaryCall:
        following = self._attempts.start()
        self._attempts.disown()
        with self._condition:
            self._current = following
            is_cancelled = self._ended is not None
        if is_cancelled:
            following.cancel()
        return following

    def _end(self, ended: UnaryCall) -> bool:
        """Set the outcome and run the callbacks; return False if there was an outcome already."""
        with self._condition:
            if self._ended is not None:
                return False
            self._ended = ended
            self._condition.notify_all()
        for callback in self._callbacks:
            try:
                callback()
            # seamwise: allow[SW103] as gRPC does, so that it does not affect the others
            except Exception:
                getLogger('seamwise').exception('A callback of a gRPC call failed.')
        return True

    def _wait(self, timeout: float | None = None) -> UnaryCall:
        """Return the call that ended the future."""
        with self._condition:
            self._condition.wait_for(lambda: self._ended is not None, timeout)
            if self._ended is None:
                raise grpc.FutureTimeoutError
            return self._ended

    @override
    def cancel(self) -> bool:
        """Cancel the current attempt and start no other one."""
        if not self._end(CancelledCall()):
            return False
        with self._condition:
            current = self._current
        current.cancel()
        return True

    @override
    def cancelled(self) -> bool:
        """Return whether the caller cancelled the call."""
        return self._ended is not None and self._ended.cancelled()

    @override
    def done(self) -> bool:
        """Return whether the call has ended."""
        return self._ended is not None

    @override
    def running(self) -> bool:
        """Return whether the call has not ended."""
        return self._ended is None

    @override
    def is_active(self) -> bool:
        """Return whether the call has not ended."""
        return self._ended is None

    @override
    def result(self, timeout: float | None = None) -> Any:
        """Wait for the response and return it, or raise the exception of the call."""
        return self._wait(timeout).result()

    @override
    def exception(self, timeout: float | None = None) -> Exception | None:
        """Wait for the exception of the call and return it; None after a response."""
        return self._wait(timeout).exception()

    @override
    def traceback(self, timeout: float | None = None) -> TracebackType | None:
        """Wait for the traceback of the exception and return it; None after a response."""
        # The types of grpc do not tell that of a traceback.
        ended: Any = self._wait(timeout)
        return cast('TracebackType | None', ended.traceback())

    @override
    def add_done_callback(self, fn: 'Callable[[grpc.Future[Any]], None]') -> None:
        """Call a function with this future when the call has ended."""
        if not self.add_callback(partial(fn, self)):
            fn(self)

    @override
    def add_callback(self, callback: Callable[[], None]) -> bool:
        """Call a function when the call has ended; return False if it has ended already."""
        with self._condition:
            if self._ended is not None:
                return False
            self._callbacks.append(callback)
            return True

    @override
    def time_remaining(self) -> float:
        """Return the seconds that are left for the current attempt."""
        return self._current.time_remaining()

    # An attempt that fails may be repeated, so these methods wait for the end of the last one.
    @override
    def initial_metadata(self) -> tuple[tuple[str, str | bytes], ...]:
        """Wait for the metadata that the server sent first."""
        return self._wait().initial_metadata()

    @override
    def trailing_metadata(self) -> tuple[tuple[str, str | bytes], ...]:
        """Wait for the metadata that the server sent last."""
        return self._wait().trailing_metadata()

    @override
    def code(self) -> grpc.StatusCode:
        """Wait for the status code."""
        return self._wait().code()

    @override
    def details(self) -> str:
        """Wait for the details of the status."""
        return self._wait().details()


def is_answer(exception: Exception) -> bool:
    """Return whether an exception is a status code, and no defect of an interceptor."""
    return isinstance(exception, grpc.RpcError) and isinstance(
        exception, (grpc.Call, grpc.aio.AioRpcError)
    )


def _refused(raised: Raised) -> RefusedCall:
    return RefusedCall(cast('TaggedError', raised.error))
