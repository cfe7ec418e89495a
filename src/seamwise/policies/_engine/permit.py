"""What a layer of a pipeline says when a call comes: come in, wait, or no. And what it is told when the call ends."""

from collections.abc import Awaitable, Callable
from typing import Generic, TypeAlias

from typing_extensions import TypeVar

from seamwise.containers import Failure, Result, Success

T = TypeVar('T', default=object)
E = TypeVar('E', default=object)
T_co = TypeVar('T_co', covariant=True, default=object)
E_co = TypeVar('E_co', covariant=True, default=object)

Outcome: TypeAlias = Success[object] | Failure[object]
"""What an operation gave, whatever is in it."""


class Permit:
    """Leave to go in. Of each permit, `leave` is called with an outcome, or `abort` with an exception.

    A layer that keeps nothing of a call gives `ADMITTED`, or one permit to all.
    """

    __slots__ = ()

    def leave(self, outcome: Outcome, /) -> 'Outcome | Wait':
        """Give what is told outside of a call that has ended, or what to wait for. Where this raises, the permit is back all the same."""
        return outcome

    def abort(self, raised: BaseException, /) -> Failure[object] | None:  # noqa: ARG002 -- for those that read it
        """Give the failure that an exception or a cancellation means, or None for it to pass."""
        return None


ADMITTED = Permit()
"""The permit of a layer that keeps nothing of a call."""


class Wait(Generic[T_co, E_co]):
    """Something to wait for. Whoever is interrupted gives back what was taken, and raises.

    `T_co` and `E_co` are what the outcome holds that it may give.
    """

    __slots__ = ()

    async def wait(self) -> Permit | Result[T_co, E_co]:
        """Wait in a task: gives a permit to go in (again), or what is told outside."""
        raise NotImplementedError

    def wait_sync(self) -> Permit | Result[T_co, E_co]:
        """Wait in a thread."""
        raise NotImplementedError


class Fork(Generic[E_co]):
    """A layer that calls what is inside of it otherwise than once, in tasks; a thread just goes in.

    `E_co` is what it can fail with itself.
    """

    __slots__ = ()

    async def run(self, inside: Callable[[], Awaitable[Result[T, E]]], /) -> Result[T, E | E_co]:
        """Give the outcome of what is inside."""
        raise NotImplementedError


Decision: TypeAlias = Permit | Result[T, E] | Wait[T, E] | Fork[E]
"""What a layer says of a call that comes, or of one that goes."""
