"""Layers that record their calls, for the tests of the pipeline."""

from collections.abc import Awaitable, Callable
from typing import Never, TypeVar

from typing_extensions import override

from seamwise import Failure, Result, Success
from seamwise._runtime.world import World
from seamwise.policies._engine.permit import ADMITTED, Admission, Fork, Outcome, Permit, Waiting
from seamwise.policies._engine.pipeline import Layer

T = TypeVar('T')
E = TypeVar('E')


class RecordingLayer(Layer[str]):
    """Logs `+name` when a call enters, `-name` when it leaves, `!name` when it raises.

    Args:
        refuses: Refuse all calls, and log `xname`.
        takes: Exceptions that `abort` replaces by a failure.
    """

    def __init__(
        self,
        name: str,
        log: list[str],
        *,
        refuses: bool = False,
        takes: type[BaseException] | None = None,
    ) -> None:
        super().__init__(name)
        self.log = log
        self.refuses = refuses
        self.takes = takes

    @override
    def enter(self) -> Admission:
        if self.refuses:
            self.log.append(f'x{self.name}')
            return Failure(f'{self.name} refuses')
        self.log.append(f'+{self.name}')
        return _RecordingPermit(self)

    @override
    def limits(self) -> str:
        return 'records its calls'


class _RecordingPermit(Permit):
    def __init__(self, layer: RecordingLayer) -> None:
        self._layer = layer

    @override
    def leave(self, outcome: Outcome) -> Outcome:
        self._layer.log.append(f'-{self._layer.name}')
        return outcome

    @override
    def abort(self, error: BaseException) -> Failure[object] | None:
        self._layer.log.append(f'!{self._layer.name}')
        if self._layer.takes is not None and isinstance(error, self._layer.takes):
            return Failure(f'{self._layer.name} took {type(error).__name__}')
        return None


class RepeatingLayer(Layer[str]):
    """Repeats a failed call up to `times` calls in total, with a delay of one second."""

    def __init__(self, name: str, times: int, world: World) -> None:
        super().__init__(name)
        self.times = times
        self.world = world

    @override
    def enter(self) -> Admission:
        return _RepeatingPermit(self)

    @override
    def limits(self) -> str:
        return f'{self.times} times'


class _RepeatingPermit(Permit, Waiting):
    def __init__(self, layer: RepeatingLayer) -> None:
        self._layer = layer
        self._remaining = layer.times

    @override
    def leave(self, outcome: Outcome) -> Outcome | Waiting:
        self._remaining -= 1
        return outcome if type(outcome) is Success or not self._remaining else self

    @override
    async def wait(self) -> Permit:
        await self._layer.world.sleep(1.0)
        return self

    @override
    def wait_sync(self) -> Permit:
        self._layer.world.sleep_sync(1.0)
        return self


class DelayingLayer(Layer[str]):
    """Admits each call after one second."""

    def __init__(self, name: str, world: World) -> None:
        super().__init__(name)
        self.world = world

    @override
    def enter(self) -> Admission:
        return _DelayWait(self.world)

    @override
    def limits(self) -> str:
        return 'a delay of one second'


class _DelayWait(Waiting):
    def __init__(self, world: World) -> None:
        self._world = world

    @override
    async def wait(self) -> Permit:
        await self._world.sleep(1.0)
        return ADMITTED

    @override
    def wait_sync(self) -> Permit:
        self._world.sleep_sync(1.0)
        return ADMITTED


class RaisingLayer(Layer[str]):
    """Raises in the given method: a defect of a guard."""

    def __init__(self, where: str) -> None:
        super().__init__(f'raises in {where}')
        self.where = where

    @override
    def enter(self) -> Admission:
        if self.where == 'enter':
            raise ZeroDivisionError('in enter')
        return _RaisingPermit(self.where)

    @override
    def limits(self) -> str:
        return self.where


class _RaisingPermit(Permit):
    def __init__(self, where: str) -> None:
        self._where = where

    @override
    def leave(self, outcome: Outcome) -> Outcome:
        if self._where == 'leave':
            raise ZeroDivisionError('in leave')
        return outcome


class CallingTwiceLayer(Layer[str]):
    """Calls the operation twice in sequence, and returns the second outcome."""

    @override
    def enter(self) -> Admission:
        return _CallTwice()

    @override
    def limits(self) -> str:
        return 'two calls'


class _CallTwice(Fork[Never]):
    @override
    async def run(self, operation: Callable[[], Awaitable[Result[T, E]]]) -> Result[T, E]:
        _ = await operation()
        return await operation()


class DelayedFailureLayer(Layer[str]):
    """Fails each call after one second, when it enters or, if `leaving` is set, when it leaves."""

    def __init__(self, name: str, world: World, *, leaving: bool = False) -> None:
        super().__init__(name)
        self.world = world
        self.leaving = leaving

    @override
    def enter(self) -> Admission:
        return _DelayedFailurePermit(self) if self.leaving else _DelayedFailureWait(self)

    @override
    def limits(self) -> str:
        return 'a failure after one second'


class _DelayedFailurePermit(Permit):
    def __init__(self, layer: DelayedFailureLayer) -> None:
        self._layer = layer

    @override
    def leave(self, outcome: Outcome) -> Waiting:
        return _DelayedFailureWait(self._layer)


class _DelayedFailureWait(Waiting):
    def __init__(self, layer: DelayedFailureLayer) -> None:
        self._layer = layer

    @override
    async def wait(self) -> Outcome:
        await self._layer.world.sleep(1.0)
        return Failure(f'{self._layer.name} fails')

    @override
    def wait_sync(self) -> Outcome:
        self._layer.world.sleep_sync(1.0)
        return Failure(f'{self._layer.name} fails')
