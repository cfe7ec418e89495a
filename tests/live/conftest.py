"""Fixtures of the live sessions: every store, in a laboratory of its own."""

from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from time import time

import pytest

from seamwise.live import EventLog, LogLimits, MemoryLog
from tests.live.stores.laboratory import Laboratory
from tests.live.stores.sqlite_laboratory import SqliteLaboratory
from tests.policies.redis.servers import Server


class MemoryLaboratory:
    """Logs in memory: each one is a store of its own."""

    def open(
        self, *, limits: LogLimits | None = None, clock: Callable[[], float] = time
    ) -> AbstractAsyncContextManager[EventLog]:
        return MemoryLog(limits=limits or LogLimits(), clock=clock)

    def forget(self) -> None:
        """Do nothing: a log in memory forgets everything when it is closed."""


@pytest.fixture
def anyio_backend() -> str:
    return 'asyncio'


@pytest.fixture(scope='session')
def live_redis_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Yield a Redis for all tests; each laboratory has a prefix of its own."""
    with Server(tmp_path_factory.mktemp('live-redis')) as server:
        yield server


def _make_laboratory(request: pytest.FixtureRequest, tmp_path: Path) -> Laboratory:
    if request.param == 'memory':
        return MemoryLaboratory()
    if request.param == 'sqlite':
        return SqliteLaboratory(tmp_path)
    from tests.live.stores.redis_laboratory import RedisLaboratory  # noqa: PLC0415

    server: Server = request.getfixturevalue('live_redis_server')
    return RedisLaboratory(server)


@pytest.fixture(params=['memory', 'sqlite', 'redis'])
def laboratory(request: pytest.FixtureRequest, tmp_path: Path) -> Laboratory:
    """Return each of the stores."""
    return _make_laboratory(request, tmp_path)


@pytest.fixture(params=['sqlite', 'redis'])
def shared_laboratory(request: pytest.FixtureRequest, tmp_path: Path) -> Laboratory:
    """Return each of the stores that several logs can share."""
    return _make_laboratory(request, tmp_path)
