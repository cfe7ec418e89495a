"""Layers that write down what happens to them, for the tests of the pipeline."""

from collections.abc import Awaitable, Callable
from typing import Never, TypeVar

from typing_extensions import override

from seamwise import Failure, Result, Success
from seamwise.policies._engine.permit import ADMITTED, Decision, Fork, Outcome, Permit, Wait
from seamwise.policies._engine.pipeline import Layer
from seamwise.policies._engine.world import World

T = TypeVar('T')
E = TypeVar('E')


class RecordingLayer(Layer[str]):
    """Writes `+name` when a call comes in, `-name` when it leaves and `!name` when it raised; as told, it does more."""

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
    def enter(self) -> Decision:
        if self.refuses:
            self.log.append(f'x{self.name}')
            return Failure(f'{self.name} refuses')
        self.log.append(f'+{self.name}')
        return _SeenPermit(self)

    @override
    def limits(self) -> str:
        return 'writes down what it sees'


class _SeenPermit(Permit):
    def __init__(self, layer: RecordingLayer) -> None:
        self._layer = layer

    @override
    def leave(self, outcome: Outcome) -> Outcome:
        self._layer.log.append(f'-{self._layer.name}')
        return outcome

    @override
    def abort(self, raised: BaseException) -> Failure[object] | None:
        self._layer.log.append(f'!{self._layer.name}')
        if self._layer.takes is not None and isinstance(raised, self._layer.takes):
            return Failure(f'{self._layer.name} took {type(raised).__name__}')
        return None


class RepeatingLayer(Layer[str]):
    """Calls again after a failure, `times` in all, and sleeps a second between."""

    def __init__(self, name: str, times: int, world: World) -> None:
        super().__init__(name)
        self.times = times
        self.world = world

    @override
    def enter(self) -> Decision:
        return _AgainPermit(self)

    @override
    def limits(self) -> str:
        return f'{self.times} times'


class _AgainPermit(Permit, Wait):
    def __init__(self, layer: RepeatingLayer) -> None:
        self._layer = layer
        self._left = layer.times

    @override
    def leave(self, outcome: Outcome) -> Outcome | Wait:
        self._left -= 1
        return outcome if type(outcome) is Success or not self._left else self

    @override
    async def wait(self) -> Permit:
        await self._layer.world.sleep(1.0)
        return self

    @override
    def wait_sync(self) -> Permit:
        self._layer.world.sleep_sync(1.0)
        return self


class DelayingLayer(Layer[str]):
    """Lets a call in after a second."""

    def __init__(self, name: str, world: World) -> None:
        super().__init__(name)
        self.world = world

    @override
    def enter(self) -> Decision:
        return _LateWait(self.world)

    @override
    def limits(self) -> str:
        return 'a second late'


class _LateWait(Wait):
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
    """RaisingLayer where it is told to: a bug in a guard."""

    def __init__(self, where: str) -> None:
        super().__init__(f'raises in {where}')
        self.where = where

    @override
    def enter(self) -> Decision:
        if self.where == 'enter':
            raise ZeroDivisionError('in enter')
        return _RaisesPermit(self.where)

    @override
    def limits(self) -> str:
        return self.where


class _RaisesPermit(Permit):
    def __init__(self, where: str) -> None:
        self._where = where

    @override
    def leave(self, outcome: Outcome) -> Outcome:
        if self._where == 'leave':
            raise ZeroDivisionError('in leave')
        return outcome


class CallingTwiceLayer(Layer[str]):
    """Calls what is inside twice, one after the other, and gives the second outcome."""

    @override
    def enter(self) -> Decision:
        return _TwiceFork()

    @override
    def limits(self) -> str:
        return 'two calls'


class _TwiceFork(Fork[Never]):
    @override
    async def run(self, inside: Callable[[], Awaitable[Result[T, E]]]) -> Result[T, E]:
        _ = await inside()
        return await inside()


class LoopBoundLayer(RecordingLayer):
    """A layer that serves one event loop."""

    is_bound = True


class DelayedFailureLayer(Layer[str]):
    """Lets wait for a second and gives a failure then, to a call that comes or, if so told, to one that leaves."""

    def __init__(self, name: str, world: World, *, leaving: bool = False) -> None:
        super().__init__(name)
        self.world = world
        self.leaving = leaving

    @override
    def enter(self) -> Decision:
        return _SaysLatePermit(self) if self.leaving else _SaysLateWait(self)

    @override
    def limits(self) -> str:
        return 'a failure, a second late'


class _SaysLatePermit(Permit):
    def __init__(self, layer: DelayedFailureLayer) -> None:
        self._layer = layer

    @override
    def leave(self, outcome: Outcome) -> Wait:
        return _SaysLateWait(self._layer)


class _SaysLateWait(Wait):
    def __init__(self, layer: DelayedFailureLayer) -> None:
        self._layer = layer

    @override
    async def wait(self) -> Outcome:
        await self._layer.world.sleep(1.0)
        return Failure(f'{self._layer.name} says so')

    @override
    def wait_sync(self) -> Outcome:
        self._layer.world.sleep_sync(1.0)
        return Failure(f'{self._layer.name} says so')
