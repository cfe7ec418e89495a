"""Fixtures of the live sessions: every store, in a laboratory of its own."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from time import time

import pytest

from seamwise.live import EventLog, Limits, MemoryLog
from tests.live.stores.laboratory import Laboratory


class MemoryLaboratory:
    """Logs in memory: each one is a store of its own."""

    def open(
        self, *, limits: Limits | None = None, clock: Callable[[], float] = time
    ) -> AbstractAsyncContextManager[EventLog]:
        return MemoryLog(limits=limits or Limits(), clock=clock)

    def forget(self) -> None:
        """Do nothing: a log in memory forgets everything when it is closed."""


@pytest.fixture
def anyio_backend() -> str:
    return 'asyncio'


@pytest.fixture(params=['memory'])
def laboratory(request: pytest.FixtureRequest) -> Laboratory:
    """Return each of the stores."""
    return MemoryLaboratory()
