"""Tests of the cache of the adoption report."""

from pathlib import Path
from textwrap import dedent

import pytest
from msgspec.structs import replace

from seamwise.check.adoption import report_cache
from seamwise.check.adoption.report import AdoptionReport, adoption_report
from seamwise.check.adoption.report_cache import cached_adoption_report
from seamwise.check.settings import CheckSettings

# Each test runs mypy.
pytestmark = [pytest.mark.slow, pytest.mark.nightly, pytest.mark.usefixtures('warm_cache')]

PRICES = """\
def parse(text: str) -> int:
    if not text:
        raise ValueError('empty')
    return int(text)
"""
SHOP = """\
from prices import parse


def total(texts: list[str]) -> int:
    try:
        return sum(parse(text) for text in texts)
    except ValueError:
        return 0
"""


@pytest.fixture
def analyses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[AdoptionReport]:
    """Return the reports that were not taken from the cache."""
    monkeypatch.chdir(tmp_path)
    Path('prices.py').write_text(PRICES, encoding='utf-8')
    Path('shop.py').write_text(SHOP, encoding='utf-8')
    reports: list[AdoptionReport] = []

    def analyse(paths: tuple[str, ...], *, python_executable: str) -> AdoptionReport:
        reports.append(adoption_report(paths, python_executable=python_executable))
        return reports[-1]

    monkeypatch.setattr(report_cache, 'adoption_report', analyse)
    return reports


def report(*, no_cache: bool = False, paths: tuple[str, ...] = ('.',)) -> AdoptionReport:
    return cached_adoption_report(paths, CheckSettings(), no_cache=no_cache)


def assert_same_as_without_cache(cached: AdoptionReport) -> None:
    assert replace(cached, seconds=0.0) == replace(adoption_report(['.']), seconds=0.0)


def test_unchanged_files_are_not_analysed_again(analyses: list[AdoptionReport]) -> None:
    assert report().counts.raising == 1
    assert_same_as_without_cache(report())
    assert len(analyses) == 1
    report(no_cache=True)
    assert len(analyses) == 2


def test_changes_are_noticed(analyses: list[AdoptionReport]) -> None:
    report()
    Path('prices.py').write_text(dedent(PRICES).replace('ValueError', 'KeyError'), encoding='utf-8')
    report()
    Path('more.py').write_text(PRICES, encoding='utf-8')
    assert report().counts.raising == 3
    Path('more.py').unlink()
    assert report().counts.raising == 2
    report(paths=('prices.py',))
    report(paths=('prices.py', 'missing.py'))
    assert len(analyses) == 6


def test_damaged_cache_is_made_again(analyses: list[AdoptionReport]) -> None:
    report()
    (Path('.seamwise_cache') / 'adoption').write_bytes(b'\x80')
    assert_same_as_without_cache(report())
    report()
    assert len(analyses) == 2
