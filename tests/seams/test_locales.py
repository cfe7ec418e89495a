"""Tests of the choice of a message catalog by language tags."""

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog
from hypothesis import given
from hypothesis import strategies as st

from seamwise._errors.texts import add_locales, available_locales
from seamwise.seams.rendering.locales import MAX_LENGTH, MAX_PREFERENCES, best_locale
from tests.catalogues import restore_locales, write_catalog


@pytest.fixture(autouse=True)
def restore_folders() -> Iterator[None]:
    with restore_locales():
        yield


def add_catalogs(folder: Path, *locales: str) -> None:
    for locale in locales:
        catalog = Catalog(locale)
        catalog.add('text', 'text')
        write_catalog(catalog, folder)
    add_locales(folder)


@pytest.mark.parametrize(
    ('preference', 'locale'),
    [
        ('zh_CN', 'zh_CN'),
        ('zh-cn', 'zh_CN'),
        ('zh_CN.UTF-8', 'zh_CN'),
        ('zh_CN.UTF-8@pinyin', 'zh_CN'),
        ('zh', 'zh_CN'),
        ('zh-Hans', 'zh_CN'),
        ('zh-Hans-CN', 'zh_CN'),
        ('zh-Hans-CN-x-private', 'zh_CN'),
        ('zh_SG', 'zh_CN'),
        (' zh-CN ', 'zh_CN'),
        ('zh-TW', 'en'),
        ('zh-Hant', 'en'),
        ('zh-Hant-HK', 'en'),
        ('en-GB', 'en'),
        ('de_DE.UTF-8', 'en'),
        ('C', 'en'),
        ('C.UTF-8', 'en'),
        ('POSIX', 'en'),
        ('*', 'en'),
        ('', 'en'),
        ('../../etc/passwd', 'en'),
        ('zh_CN\0', 'en'),
        ('zh' + '-aaaa' * MAX_LENGTH, 'en'),
    ],
)
def test_a_language_tag_selects_its_catalog(preference: str, locale: str) -> None:
    assert best_locale([preference]) == locale


def test_the_first_language_with_a_catalog_is_used() -> None:
    assert best_locale(['fr', 'C', 'zh', 'en']) == 'zh_CN'
    assert best_locale(['fr', 'en-US', 'zh']) == 'en'
    assert best_locale([]) == 'en'


def test_added_catalogs_are_found(tmp_path: Path) -> None:
    assert best_locale(['de_DE.UTF-8']) == 'en'
    add_catalogs(tmp_path, 'de', 'de_AT', 'pt_BR', 'pt_PT', 'zh_TW')
    assert best_locale(['de_DE.UTF-8']) == 'de'
    assert best_locale(['de-AT']) == 'de_AT'
    assert best_locale(['pt-AO']) == 'pt_BR'
    assert best_locale(['pt-Latn-PT']) == 'pt_PT'
    assert best_locale(['zh-Hant-HK']) == 'zh_TW'
    assert best_locale(['zh-Hans-CN']) == 'zh_CN'


def test_an_unknown_language_is_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        assert best_locale(['tlh', 'nonsense!', 'x' * 1000]) == 'en'
    assert not caplog.records


def test_the_number_of_preferences_is_limited() -> None:
    assert best_locale(['fr'] * (MAX_PREFERENCES - 1) + ['zh']) == 'zh_CN'
    assert best_locale(['fr'] * MAX_PREFERENCES + ['zh']) == 'en'


@given(st.lists(st.text()))
def test_any_text_is_a_preference(preferences: list[str]) -> None:
    assert best_locale(preferences) in available_locales()
