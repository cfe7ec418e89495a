"""The documentation site, built once for all of its tests in a browser."""

import functools
import http.server
import os
import subprocess
import sys
import threading
from collections.abc import Generator
from pathlib import Path

import pytest
from typing_extensions import override

ROOT = Path(__file__).parents[2]


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    """A handler that logs nothing."""

    @override
    def log_message(self, format: str, *args: object) -> None:
        """Log nothing."""


@pytest.fixture(scope='session')
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the site; the variable SEAMWISE_SITE can name one that is built already."""
    if built := os.environ.get('SEAMWISE_SITE'):
        return Path(built)
    folder = tmp_path_factory.mktemp('site')
    subprocess.run(
        [sys.executable, '-m', 'tools.documentation', '--output', str(folder)], cwd=ROOT, check=True
    )
    return folder


@pytest.fixture(scope='session')
def address(site: Path) -> Generator[str]:
    handler = functools.partial(QuietHandler, directory=str(site))
    with http.server.ThreadingHTTPServer(('127.0.0.1', 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f'http://127.0.0.1:{server.server_port}'
        server.shutdown()
        thread.join()
