"""Decisions that a layer returns for a call (admit, wait, refuse), and its completion callbacks."""

from asyncio import CancelledError
from collections.abc import Awaitable, Callable
from typing import Generic, TypeAlias

from typing_extensions import TypeVar

from seamwise._results.containers import Failure, Result, Success
from seamwise.policies._engine.event_loops import refuse_late_gevent, refuse_trio

T = TypeVar('T', default=object)
E = TypeVar('E', default=object)
T_co = TypeVar('T_co', covariant=True, default=object)
E_co = TypeVar('E_co', covariant=True, default=object)

Outcome: TypeAlias = Success[object] | Failure[object]
"""Result of an operation, whatever its value or error."""


class NotStarted(CancelledError):
    """Stands for the exception of a call with wrong arguments, which nothing counts as failed."""


class Permit:
    """Permission for one call. Exactly one of `leave` and `abort` is called when the call ends.

    A layer that keeps no state per call returns `ADMITTED`, or one permit for all calls.
    """

    __slots__ = ()

    def leave(self, outcome: Outcome, /) -> 'Outcome | Waiting':
        """Release the permit after an outcome.

        If this method raises, it must have released the permit before.

        Returns:
            The outcome for the enclosing layers, or a `Waiting` that produces it or a new permit.
        """
        return outcome

    def abort(self, error: BaseException, /) -> Failure[object] | None:  # noqa: ARG002 -- for subclasses
        """Release the permit after an exception or a cancellation.

        Returns:
            The failure that replaces the exception, or None if the exception propagates.
        """
        return None


ADMITTED = Permit()
"""The permit of a layer that keeps no state per call."""


class Waiting(Generic[T_co, E_co]):
    """Something to wait for.

    `T_co` and `E_co` are the types in the result of a wait that returns one.
    """

    __slots__ = ()

    def withdraw(self) -> None:
        """Release the resources of a wait that does not begin, or that an exception ends."""

    async def wait(self) -> Permit | Result[T_co, E_co]:
        """Wait in a task; return a permit to enter (again), or the final result of the layer."""
        raise NotImplementedError

    def wait_sync(self) -> Permit | Result[T_co, E_co]:
        """Wait in a thread, and return the same as `wait`."""
        raise NotImplementedError


async def complete_wait(wait: Waiting[T, E]) -> Permit | Result[T, E]:
    """Wait in a task of asyncio; withdraw the wait if an exception ends it."""
    try:
        refuse_trio()
        return await wait.wait()
    except BaseException:
        wait.withdraw()
        raise


def complete_wait_sync(wait: Waiting[T, E]) -> Permit | Result[T, E]:
    """Wait in a thread; withdraw the wait if an exception ends it."""
    try:
        refuse_late_gevent()
        return wait.wait_sync()
    except BaseException:
        wait.withdraw()
        raise


class Fork(Generic[E_co]):
    """A decision to run the rest of the pipeline any number of times, in tasks.

    `run_sync` treats it as `ADMITTED`. `E_co` is the type of the errors that the layer adds.
    """

    __slots__ = ()

    async def run(self, operation: Callable[[], Awaitable[Result[T, E]]], /) -> Result[T, E | E_co]:
        """Run the rest of the pipeline and return its result."""
        raise NotImplementedError


Admission: TypeAlias = Permit | Result[T, E] | Waiting[T, E] | Fork[E]
"""Answer of a layer to a call that enters or leaves."""


def abort_permits(permits: list[Permit], error: BaseException) -> Failure[object] | None:
    """Abort the permits, innermost first, until one returns a failure that replaces the error."""
    try:
        while permits:
            failure = permits.pop().abort(error)
            if failure is not None:
                return failure
    except BaseException as abort_error:
        # If `abort` itself raises (e.g. an observer calls sys.exit), release the outer permits too.
        failure = abort_permits(permits, abort_error)
        if failure is not None:
            return failure
        raise
    return None
