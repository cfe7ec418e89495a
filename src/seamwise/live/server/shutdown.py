"""Notice of the end of the process: the signal that a server handles, seen by the gateway too.

uvicorn ends the lifespan of an application only after its connections have ended, so an endless
stream would wait for itself.
"""

import signal
from asyncio import AbstractEventLoop, get_running_loop
from collections.abc import Callable, Generator
from contextlib import contextmanager
from threading import current_thread, main_thread
from types import FrameType
from typing import Final, TypeAlias

Handler: TypeAlias = Callable[[int, FrameType | None], object]

_SIGNALS: Final = (signal.SIGTERM, signal.SIGINT)


class Shutdown:
    """Calls functions when the process is asked to end.

    The handlers of the server are called as before. They are replaced while there are functions to
    call only, and not outside of the main thread, where Python allows no signal handlers: there,
    only `begin` calls the functions.
    """

    def __init__(self) -> None:
        self._callbacks: dict[object, Callable[[], None]] = {}
        self._loop: AbstractEventLoop | None = None
        self._servers: tuple[object, ...] = ()
        self._has_begun = False

    @property
    def has_begun(self) -> bool:
        """Whether the process is about to end."""
        return self._has_begun

    @contextmanager
    def notifying(self, callback: Callable[[], None]) -> Generator[None]:
        """Call a function at the end of the process, while the block runs.

        If the process is about to end already, the function is called at once.
        """
        self._loop = get_running_loop()
        key = object()
        self._callbacks[key] = callback
        servers = _watch(self)
        if servers != self._servers:
            # Another server: the end of the one before it is over.
            self._servers, self._has_begun = servers, False
        try:
            if self._has_begun:
                callback()
            yield
        finally:
            del self._callbacks[key]
            if not self._callbacks:
                _unwatch(self)

    def begin(self) -> None:
        """Call the functions."""
        self._has_begun = True
        for callback in [*self._callbacks.values()]:
            callback()

    def begin_soon(self) -> None:
        """Call the functions in their event loop, from a signal handler."""
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self.begin)


class _Hook:
    """Signal handler in front of another one."""

    def __init__(self, handler: Handler) -> None:
        self.handler = handler

    def __call__(self, number: int, frame: FrameType | None) -> None:
        for shutdown in [*_watching]:
            shutdown.begin_soon()
        self.handler(number, frame)


_watching: Final[set[Shutdown]] = set()


def _watch(shutdown: Shutdown) -> tuple[object, ...]:
    """Watch the signals, and return the handlers of the server.

    A server sets its handlers after it has loaded the application: this is done for each
    connection.
    """
    _watching.add(shutdown)
    if current_thread() is not main_thread():
        return ()
    handlers: list[object] = []
    for number in _SIGNALS:
        handler = signal.getsignal(number)
        if isinstance(handler, _Hook):
            handlers.append(handler.handler)
        # SIG_DFL ends the process at once, and SIG_IGN and handlers of C are left alone.
        elif callable(handler):
            handlers.append(handler)
            signal.signal(number, _Hook(handler))
    return tuple(handlers)


def _unwatch(shutdown: Shutdown) -> None:
    """Put the handlers of the server back after the last connection of all gateways."""
    _watching.discard(shutdown)
    if _watching or current_thread() is not main_thread():
        return
    for number in _SIGNALS:
        handler = signal.getsignal(number)
        if isinstance(handler, _Hook):
            signal.signal(number, handler.handler)
