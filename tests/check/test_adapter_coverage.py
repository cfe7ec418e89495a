"""Tests of the findings about adapters with too few arms: they name the classes."""

from pathlib import Path

import pytest

from seamwise.check.checking import run_check

CODE = """
from seamwise import Category, TaggedError
from seamwise.seams.adapter import Adapter
from seamwise.seams.http import HttpError, on


class Lost(TaggedError, category=Category.NOT_FOUND):
    pass


class Busy(TaggedError, category=Category.CAPACITY):
    pass


class Full(TaggedError, category=Category.CAPACITY):
    pass


LOST = on(Lost).responds(404, 'LOST')
ONE: Adapter[Lost | Busy, HttpError] = LOST
TWO: Adapter[Lost | Busy | Full, HttpError] = Adapter(lambda: LOST)
GONE = LOST.but(on(Busy).hidden())
"""


@pytest.mark.parametrize(
    'plugin',
    [pytest.param('', marks=pytest.mark.slow), 'plugins = seamwise.check.plugin\n'],
    ids=['mypy', 'plugin'],
)
def test_the_finding_names_the_classes_without_an_arm(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, plugin: str
) -> None:
    (tmp_path / 'shop.py').write_text(CODE, encoding='utf-8')
    (tmp_path / 'mypy.ini').write_text(f'[mypy]\n{plugin}', encoding='utf-8')
    monkeypatch.chdir(tmp_path)
    findings = run_check(['.'], no_cache=True).findings
    lines = CODE.splitlines()
    assert [(f.code, lines[f.line - 1].split()[0], f.message, f.help) for f in findings] == [
        (
            'SW107',
            'ONE:',
            'This adapter has no arm for Busy.',
            'Add `on(Busy)…`, or `on(Busy).hidden()`.',
        ),
        (
            'SW107',
            'TWO:',
            'This adapter has no arms for Busy and Full.',
            'Add `on(Busy)…` and `on(Full)…`, or `on(Busy | Full).hidden()`.',
        ),
        (
            'SW107',
            'GONE',
            'This adapter has no arm for Busy to replace.',
            'Add arms with `|`; `but` replaces arms that the adapter has.',
        ),
    ]
