"""Event loop for Python in WebAssembly, which has no sockets."""

import asyncio
import selectors
import time
from collections.abc import Coroutine, Mapping
from typing import Any, TypeVar

from typing_extensions import override

T = TypeVar('T')


class _NoSelector(selectors.BaseSelector):
    """Selector of a loop without files, which only waits."""

    @override
    def register(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:
        raise NotImplementedError('There are no sockets.')

    @override
    def unregister(self, fileobj: Any) -> selectors.SelectorKey:
        raise KeyError(fileobj)

    @override
    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        time.sleep(max(timeout or 0.0, 0.0))
        return []

    @override
    def get_map(self) -> Mapping[Any, selectors.SelectorKey]:
        return {}


class BlockingLoop(asyncio.SelectorEventLoop):
    """Event loop that blocks, as on other platforms; that of Pyodide returns to JavaScript."""

    def __init__(self) -> None:
        super().__init__(_NoSelector())

    def _make_self_pipe(self) -> None:
        """Do nothing, because no other thread can wake the loop."""

    def _close_self_pipe(self) -> None:
        """Do nothing, because there is no pipe."""


def install() -> None:
    """Make `asyncio.run` use such a loop."""
    # The code below JavaScript runs inside the loop of Pyodide.
    asyncio._set_running_loop(None)
    modules: tuple[Any, Any] = (asyncio, asyncio.events)
    for module in modules:
        # Policies are deprecated in Python 3.14.
        module.new_event_loop = BlockingLoop
    # Pyodide replaces it where the browser can switch stacks.
    modules[0].run = _run


def _run(main: Coroutine[Any, Any, T], *, debug: bool | None = None) -> T:
    with asyncio.Runner(debug=debug, loop_factory=BlockingLoop) as runner:
        return runner.run(main)
