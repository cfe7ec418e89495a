"""Permit owners of a bulkhead with unlimited waiting, to detect a caller that would deadlock."""

from asyncio import AbstractEventLoop, Task, current_task
from collections.abc import Iterable
from threading import get_ident
from typing import Any, TypeAlias
from weakref import ReferenceType, ref

from typing_extensions import override

from seamwise._results.containers import Failure
from seamwise.policies._engine.permit import Outcome, Permit, Waiting

Caller: TypeAlias = 'ReferenceType[Task[Any]] | int'
"""A weak reference to a task, or the identifier of a thread."""


class OwnedPermit(Permit):
    """A permit that records its owner, the caller that acquired it."""

    __slots__ = ('_owned_permits', '_permit', 'owner')

    def __init__(self, permit: Permit, owned_permits: 'dict[OwnedPermit, None]') -> None:
        self.owner = current_caller()
        self._permit = permit
        self._owned_permits = owned_permits
        owned_permits[self] = None

    @override
    def leave(self, outcome: Outcome, /) -> Outcome | Waiting:
        self._owned_permits.pop(self, None)
        return self._permit.leave(outcome)

    @override
    def abort(self, raised: BaseException, /) -> Failure[object] | None:
        self._owned_permits.pop(self, None)
        return self._permit.abort(raised)

    def disown(self) -> None:
        """Forget the owner, because another thread releases this permit."""
        self._owned_permits.pop(self, None)


def disown(permits: Iterable[Permit]) -> None:
    """Forget the owners of permits, because other threads release them."""
    for permit in permits:
        if isinstance(permit, OwnedPermit):
            permit.disown()


def current_caller() -> Caller:
    """Return the current task, or the current thread if no task is running."""
    task = current_task_or_none()
    return get_ident() if task is None else ref(task)


def is_stuck(owner: Caller, waiting_caller: Caller, blocked_loop: AbstractEventLoop | None) -> bool:
    """Return whether the owner of a permit cannot release it while a caller waits.

    Args:
        owner: The owner of the permit.
        waiting_caller: The caller that waits for a permit.
        blocked_loop: The event loop that cannot run while the caller waits.
    """
    if owner == waiting_caller:
        return True
    task = None if isinstance(owner, int) else owner()
    if task is None:
        return False
    loop = task.get_loop()
    return loop is blocked_loop or not loop.is_running()


def current_task_or_none() -> Task[Any] | None:
    """Return the current task, also if it called `run_sync`; None without an event loop."""
    try:
        return current_task()
    except RuntimeError:
        return None
