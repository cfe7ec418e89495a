"""A small workspace for each test."""

from pathlib import Path

import pytest


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """Create a folder with a file of two lines and a file with a Chinese name."""
    folder = tmp_path / 'ws'
    folder.mkdir()
    (folder / 'a.txt').write_text('one\ntwo\n')
    (folder / '说明.md').write_text('你好，世界\n', encoding='utf-8')
    return folder
