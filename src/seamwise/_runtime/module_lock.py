"""Locks of modules, which are free in a forked process."""

import os
from threading import Lock
from types import TracebackType


class ModuleLock:
    """Lock for the data of a module.

    Another thread of the parent process may hold it during a fork; that thread does not exist in
    the child, so the child gets a new lock.

    >>> lock = ModuleLock()
    >>> with lock:
    ...     pass
    """

    def __init__(self) -> None:
        self._lock = Lock()
        if hasattr(os, 'register_at_fork'):
            os.register_at_fork(after_in_child=self._replace)

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(
        self,
        error_type: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._lock.release()

    def _replace(self) -> None:
        self._lock = Lock()
