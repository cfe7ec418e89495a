"""Who is at work in a bulkhead where callers wait for ever: whoever has all the room itself would wait for itself."""

from asyncio import Task, current_task
from threading import get_ident
from typing import Any, TypeAlias
from weakref import ReferenceType, ref

from typing_extensions import override

from seamwise.containers import Failure
from seamwise.policies._engine.permit import Outcome, Permit, Wait

Caller: TypeAlias = 'ReferenceType[Task[Any]] | int'
"""A task, which this does not keep alive, or a thread."""


class OwnedPermit(Permit):
    """A permit that knows who has it."""

    __slots__ = ('_held', '_permit', 'caller')

    def __init__(self, permit: Permit, held: 'dict[OwnedPermit, None]') -> None:
        self.caller = current_caller()
        self._permit = permit
        self._held = held
        held[self] = None

    @override
    def leave(self, outcome: Outcome, /) -> Outcome | Wait:
        self._held.pop(self, None)
        return self._permit.leave(outcome)

    @override
    def abort(self, raised: BaseException, /) -> Failure[object] | None:
        self._held.pop(self, None)
        return self._permit.abort(raised)


def current_caller() -> Caller:
    """Give the task that runs here, or the thread where there is none."""
    task = current_task_or_none()
    return get_ident() if task is None else ref(task)


def current_task_or_none() -> Task[Any] | None:
    """Give the task that runs here, also where it called `run_sync`."""
    try:
        return current_task()
    except RuntimeError:
        return None
