"""A server for all tests in this folder, emptied before each, and servers for single tests."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.policies.redis.servers import Server


@pytest.fixture(scope='session')
def shared_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with Server(tmp_path_factory.mktemp('redis')) as server:
        yield server


@pytest.fixture
def server(shared_server: Server) -> Server:
    shared_server.flush()
    return shared_server


@pytest.fixture
def own_server(tmp_path: Path) -> Iterator[Server]:
    """Yield a server that the test may kill or pause."""
    with Server(tmp_path) as server:
        yield server
