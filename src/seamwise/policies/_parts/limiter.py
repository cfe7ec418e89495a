"""Base of the guards that limit calls, which a `with` statement can use directly."""

from types import TracebackType
from typing import Self, TypeVar

from seamwise.policies._engine.blocks import Block
from seamwise.policies._engine.pipeline import Layer
from seamwise.policies._parts.reentrancy import Caller, current_caller

E_co = TypeVar('E_co', covariant=True)


class Limiter(Layer[E_co]):
    """A guard for blocks of code: `async with limiter:` in a task, `with limiter:` in a thread.

    It is a context manager for any number of callers at once, and can be nested. A block has to end
    in the task or thread in which it began. `acquire` has no such restriction.
    """

    def __init__(self, name: str, /) -> None:
        self._blocks: dict[Caller, list[Block]] = {}
        super().__init__(name)

    def __enter__(self) -> Self:
        """Wait for admission in a thread.

        Raises:
            Raised: The guard does not admit the block; it carries the error.
        """
        self._push(self.acquire().__enter__())
        return self

    async def __aenter__(self) -> Self:
        """Wait for admission in a task; see `__enter__`."""
        self._push(await self.acquire().__aenter__())
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        exception: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Leave the guard; exceptions propagate."""
        self._pop().__exit__(kind, exception, traceback)

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        exception: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Leave the guard; exceptions propagate."""
        await self._pop().__aexit__(kind, exception, traceback)

    def _push(self, block: Block) -> None:
        self._blocks.setdefault(current_caller(), []).append(block)

    def _pop(self) -> Block:
        caller = current_caller()
        blocks = self._blocks.get(caller)
        if not blocks:
            raise RuntimeError(
                f'A block of {self.name!r} ends in another task or thread than it began: '
                'use `acquire()` for it.'
            )
        block = blocks.pop()
        if not blocks:
            del self._blocks[caller]
        return block
