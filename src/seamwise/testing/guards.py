"""A fake world for all guards of a program, which also resets their state."""

from collections.abc import Generator
from contextlib import contextmanager

from seamwise._runtime.fake_world import FakeWorld
from seamwise._runtime.registry import reset_all
from seamwise._runtime.world import replace_real


@contextmanager
def fake_world() -> Generator[FakeWorld]:
    """Make all guards built with `REAL` use a new `FakeWorld` inside a `with` block.

    All guards, budgets and caches of the process are reset at both ends. The pytest fixture
    `guard_world` does the same for a test.

    >>> from seamwise import Failure
    >>> from seamwise.catalog.network import HostUnreachable
    >>> from seamwise.policies import retry
    >>> bank = retry(jitter='none')  # as in a module of the program
    >>> with fake_world() as world:
    ...     _ = bank.run_sync(lambda: Failure(HostUnreachable('bank', 'reset')))
    >>> world.slept
    [0.1, 0.2]
    """
    world = FakeWorld()
    try:
        with replace_real(world):
            # Times of another clock have no meaning in this one, so state cannot be kept.
            reset_all()
            yield world
    finally:
        reset_all()
