"""Check that a guard runs in asyncio, whose tasks and timers it uses."""

import sys


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
