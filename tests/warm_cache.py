"""A filled cache for tests of `seamwise check`, which then do not analyse the standard library."""

import contextlib
import shutil
from pathlib import Path

import pytest
from filelock import FileLock

from seamwise.check.checking import run_check
from seamwise.check.settings import CheckSettings

# Paths in the cache are relative, so that a copy is valid in another folder.
_CACHE = Path(CheckSettings().cache_dir)
_IMPORTS = """\
import asyncio, concurrent.futures, contextlib, dataclasses, json, logging, pathlib, threading
import fastapi, httpx, stamina, tenacity
import returns.future, returns.io, returns.result, seamwise.policies
from seamwise.seams import cli, http, log, session
"""


@pytest.fixture(scope='session')
def _filled_cache(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """Return the cache after a check of a module that imports what the tests import.

    It takes long, so one worker of pytest-xdist fills the cache for all.
    """
    folder = tmp_path_factory.getbasetemp()
    if worker_id != 'master':
        folder = folder.parent
    folder /= 'warm_cache'
    with FileLock(folder.with_suffix('.lock')):
        if not folder.exists():
            folder.mkdir()
            _fill(folder)
    return folder / _CACHE


def _fill(folder: Path) -> None:
    with contextlib.chdir(folder):
        Path('imports.py').write_text(_IMPORTS, encoding='utf-8')
        report = run_check(['imports.py'])
    assert report.problems == ()
    # Older versions of mypy have no cache that the check uses.
    (folder / _CACHE).mkdir(exist_ok=True)


@pytest.fixture
def warm_cache(tmp_path: Path, _filled_cache: Path) -> Path:
    """Put a copy of a filled cache where a check in `tmp_path` looks for it."""
    return shutil.copytree(_filled_cache, tmp_path / _CACHE)
