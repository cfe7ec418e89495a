"""Fixtures: a separate workspace for each test, with a secret file outside of it."""

from pathlib import Path

import pytest

from seamwise.toolhost.builtin.workspace.workspace import Workspace
from tests.toolhost.helpers import CANARY


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Create the folder of a workspace; `../outside/secret.txt` contains the canary."""
    (tmp_path / 'outside').mkdir()
    (tmp_path / 'outside' / 'secret.txt').write_text(CANARY)
    workspace_folder = tmp_path / 'ws'
    workspace_folder.mkdir()
    return workspace_folder


@pytest.fixture
def workspace(folder: Path) -> Workspace:
    return Workspace(folder)
