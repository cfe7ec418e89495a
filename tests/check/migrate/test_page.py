"""Test of the example on the page docs/check/migrate.md."""

import re
from pathlib import Path

import pytest

from tests.check.migrate.migrating import migrate, write_package

PAGE = Path(__file__).parents[3] / 'docs' / 'check' / 'migrate.md'


@pytest.mark.slow
def test_the_page_shows_what_the_command_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    before, after = re.findall(
        r'^```python\n(.*?)^```$', PAGE.read_text(encoding='utf-8'), re.MULTILINE | re.DOTALL
    )
    folder = tmp_path / 'page'
    write_package(folder, {'stock': before})
    migrate(folder)
    assert (folder / 'stock.py').read_text() == after
