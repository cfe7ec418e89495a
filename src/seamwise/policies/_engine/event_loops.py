"""Checks that a guard runs in tasks of asyncio, or in threads that it can block."""

import sys
from typing import Final


def refuse_trio() -> None:
    """Raise a RuntimeError in a task of trio, which has other tasks and timers.

    It costs nothing in programs that have not imported trio.
    """
    trio = sys.modules.get('trio')
    if trio is not None and trio.lowlevel.in_trio_run():
        raise RuntimeError(
            'Guards of tasks need asyncio, and this is a task of trio: run the guard in a thread, '
            'with `await trio.to_thread.run_sync(guard.run_sync, op)`.'
        )


def refuse_late_gevent() -> None:
    """Raise a RuntimeError if gevent replaced the threads after this library was imported.

    The locks of the guards are then those of real threads: one greenlet that waits would block all
    others for ever. It costs nothing in programs that have not imported gevent.
    """
    if 'gevent.monkey' in sys.modules and not _WAS_PATCHED and _has_patched_threads():
        raise RuntimeError(
            'gevent patched the threads after seamwise was imported, so that a guard that waits '
            'would block all greenlets: call `gevent.monkey.patch_all()` before other imports.'
        )


def _has_patched_threads() -> bool:
    monkey = sys.modules.get('gevent.monkey')
    return monkey is not None and bool(monkey.is_module_patched('threading'))


_WAS_PATCHED: Final = _has_patched_threads()
