"""One server for all the tests here, emptied before each; and one a test for those that kill it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.policies.redis.servers import Server


@pytest.fixture(scope='session')
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with Server(tmp_path_factory.mktemp('redis')) as server:
        yield server


@pytest.fixture
def server(running: Server) -> Server:
    running.flush()
    return running


@pytest.fixture
def mortal(tmp_path: Path) -> Iterator[Server]:
    with Server(tmp_path) as server:
        yield server
