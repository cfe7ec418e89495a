"""A workspace of its own for each test, with a secret outside of it."""

from pathlib import Path

import pytest

from seamwise.toolhost.workspace.workspace import Workspace
from tests.toolhost.helpers import CANARY


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Make the folder of the workspace; beside it `outside/secret.txt` holds the canary."""
    (tmp_path / 'outside').mkdir()
    (tmp_path / 'outside' / 'secret.txt').write_text(CANARY)
    made = tmp_path / 'ws'
    made.mkdir()
    return made


@pytest.fixture
def workspace(folder: Path) -> Workspace:
    return Workspace(folder)
