"""Fixtures of the event log in Redis."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from seamwise.live.stores.redis import watcher
from tests.live.stores.redis_laboratory import RedisLaboratory
from tests.policies.redis.servers import Server


@pytest.fixture
def redis_laboratory(live_redis_server: Server) -> RedisLaboratory:
    return RedisLaboratory(live_redis_server)


@pytest.fixture
def durable_server(tmp_path: Path) -> Iterator[Server]:
    """Yield a Redis that keeps what it has confirmed."""
    with Server(tmp_path, '--appendonly', 'yes', '--appendfsync', 'always') as server:
        yield server


@pytest.fixture
def forgetful_server(tmp_path: Path) -> Iterator[Server]:
    with Server(tmp_path) as server:
        yield server


@pytest.fixture
def signals_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Switch off the regular checks, which would deliver events whose signals are missing."""
    monkeypatch.setattr(watcher, 'CHECK_INTERVAL', 3600.0)


@pytest.fixture
def frequent_checks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watcher, 'CHECK_INTERVAL', 0.05)
