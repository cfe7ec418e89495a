"""Tests of translated messages and of `sanitized`."""

import logging
from collections.abc import Iterator
from gettext import NullTranslations
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec
import pytest
from babel.messages.catalog import Catalog

from seamwise import Category, Cause, Secret, TaggedError, message_of, sanitized
from seamwise._errors import texts
from seamwise._errors.texts import add_locales, catalogue, matching_locales
from seamwise.catalog.tools import FileNotFound, Finding, InvalidParameter
from tests.catalogues import restore_locales, write_catalog

if TYPE_CHECKING:
    from decimal import Decimal


class Login(TaggedError, category=Category.AUTHENTICATION, message='{user} may not come in.'):
    user: str
    password: Secret[str]
    token: Secret[str] | None = None
    notes: tuple[str, ...] = ()
    cause: Cause | None = None


def test_the_english_text_is_the_message() -> None:
    assert message_of(FileNotFound('read_file', 'a.txt')) == str(FileNotFound('read_file', 'a.txt'))


def test_a_translation_is_filled_with_the_same_values() -> None:
    chinese = message_of(FileNotFound('read_file', 'a.txt'), 'zh_CN')
    assert chinese != message_of(FileNotFound('read_file', 'a.txt'))
    assert 'a.txt' in chinese
    assert any('一' <= character <= '鿿' for character in chinese)
    assert message_of(FileNotFound('read_file', 'a.txt'), 'zh-CN') == chinese


def test_the_text_of_a_class_without_a_translation_is_english() -> None:
    assert message_of(Login('ann', Secret('x')), 'zh_CN') == 'ann may not come in.'


def test_the_translation_of_an_empty_message_is_not_the_catalog_header() -> None:
    class Silent(TaggedError, category=Category.CONFLICT, message=''):
        pass

    assert message_of(Silent(), 'zh_CN') == ''


@pytest.mark.parametrize('locale', ['xx', 'no_SUCH', '../../etc', 'zh_CN/..', '', 'a' * 500])
def test_an_unknown_locale_falls_back_to_english_and_logs_one_warning(
    locale: str, caplog: pytest.LogCaptureFixture
) -> None:
    catalogue.cache_clear()
    with caplog.at_level(logging.WARNING, 'seamwise'):
        for _ in range(3):
            assert message_of(FileNotFound('t', 'a.txt'), locale) == message_of(
                FileNotFound('t', 'a.txt')
            )
    assert len(caplog.records) == 1
    assert len(caplog.text) < 300


def test_a_translation_with_an_unknown_field_is_not_used(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Stale:
        def gettext(self, message: str) -> str:
            return '{gone} fehlt' if message else ''

    def catalogue_of(_: str) -> Stale:
        return Stale()

    monkeypatch.setattr('seamwise._errors.texts.catalogue', catalogue_of)
    assert message_of(Login('ann', Secret('x')), 'de') == 'ann may not come in.'


@pytest.fixture(autouse=True)
def restore_folders() -> Iterator[None]:
    with restore_locales():
        yield


def german(
    folder: Path,
    *translations: tuple[str | tuple[str, str], str | tuple[str, ...], str | None],
    domain: str = 'seamwise',
) -> Path:
    catalog = Catalog(locale='de')
    for english, translated, context in translations:
        catalog.add(english, translated, context=context)
    return write_catalog(catalog, folder, domain=domain)


class Parked(
    TaggedError, category=Category.CONFLICT, message='{state} for {days} days, in row {row}.'
):
    row: int
    days: int
    state: Literal['open', 'shut'] | None = 'open'


TEMPLATE = '{state} for {days} days, in row {row}.'


def test_a_locale_can_be_added(tmp_path: Path) -> None:
    add_locales(german(tmp_path, ('{user} may not come in.', '{user} darf nicht herein.', None)))
    assert message_of(Login('ann', Secret('x')), 'de') == 'ann darf nicht herein.'
    assert message_of(FileNotFound('t', 'a'), 'de') == str(FileNotFound('t', 'a'))


@pytest.mark.parametrize(
    ('locale', 'available', 'expected'),
    [
        ('zh-Hans', ['en', 'zh_CN'], ['zh_CN']),
        ('zh-Hans-CN', ['zh_CN'], ['zh_CN']),
        ('zh_Hans_CN', ['zh_CN'], ['zh_CN']),
        ('zh_CN.UTF-8', ['zh_CN'], ['zh_CN']),
        ('ZH-cn', ['zh_CN'], ['zh_CN']),
        ('zh-SG', ['zh_CN'], ['zh_CN']),
        ('zh', ['zh_TW', 'zh_CN'], ['zh_CN']),
        ('zh-TW', ['zh_CN'], []),
        ('zh-Hant', ['zh_CN', 'zh_TW'], ['zh_TW']),
        ('zh-HK', ['zh_CN', 'zh_TW', 'zh_Hant'], ['zh_Hant', 'zh_TW']),
        ('zh-Hant-CN', ['zh_CN', 'zh_TW'], ['zh_TW']),
        ('sr_RS@latin', ['sr', 'sr_Latn'], ['sr_Latn']),
        ('sr-ME', ['sr', 'sr_Latn'], ['sr_Latn']),
        ('pt-BR', ['pt_PT', 'pt'], ['pt']),
        ('pt_PT.UTF-8', ['pt', 'pt_PT'], ['pt_PT', 'pt']),
        ('pt', ['pt_PT'], []),
        ('de-CH-1996', ['de_AT', 'de', 'de_CH'], ['de_CH', 'de']),
        ('es-419', ['es', 'es_419'], ['es_419', 'es']),
        ('fil', ['fi'], []),
        ('../de', ['de'], []),
        ('C', ['en'], []),
    ],
)
def test_a_locale_is_looked_up_by_its_subtags(
    locale: str, available: list[str], expected: list[str]
) -> None:
    assert matching_locales(locale, available) == expected


def test_a_message_is_translated_for_every_form_of_a_locale(tmp_path: Path) -> None:
    error = FileNotFound('t', 'a')
    for locale in ('zh-Hans', 'zh_CN.UTF-8', 'zh-SG'):
        assert message_of(error, locale) == message_of(error, 'zh_CN') != str(error)
    assert message_of(error, 'zh-TW') == message_of(error, 'en-GB') == str(error)
    add_locales(german(tmp_path, ('{user} may not come in.', '{user} darf nicht herein.', None)))
    assert message_of(Login('ann', Secret('x')), 'de-CH-1996') == 'ann darf nicht herein.'


def test_the_plural_form_depends_on_the_first_number_of_the_message(tmp_path: Path) -> None:
    add_locales(
        german(
            tmp_path,
            ((TEMPLATE, TEMPLATE), ('Ein Tag, Reihe {row}.', '{days} Tage, Reihe {row}.'), None),
        )
    )
    assert [message_of(Parked(9, days), 'de') for days in (1, 2)] == [
        'Ein Tag, Reihe 9.',
        '2 Tage, Reihe 9.',
    ]


def test_a_literal_is_translated_by_the_name_of_its_field(tmp_path: Path) -> None:
    translated = ('{state}: {days}', '{state}: {days}')
    add_locales(
        german(
            tmp_path,
            ((TEMPLATE, TEMPLATE), translated, None),
            ('open', 'offen', 'state'),
            ('shut', 'gemein', 'mood'),
        )
    )
    assert [message_of(Parked(9, 2, state), 'de') for state in ('open', 'shut', None)] == [
        'offen: 2',
        'shut: 2',
        'None: 2',
    ]


def test_the_last_added_folder_takes_precedence(tmp_path: Path) -> None:
    expected = ["'a' gibt es nicht.", "'a' fehlt."]
    for number, message in enumerate(expected):
        add_locales(
            german(
                tmp_path / str(number),
                ('{path!r} does not exist.', message.replace("'a'", '{path!r}'), None),
            )
        )
        assert message_of(FileNotFound('t', 'a'), 'de') == message


def test_the_available_locales_include_added_ones(tmp_path: Path) -> None:
    assert texts.available_locales() == ('en', 'zh_CN')
    add_locales(german(tmp_path, ('{user} may not come in.', 'Nein.', None)))
    assert texts.available_locales() == ('de', 'en', 'zh_CN')


def test_a_folder_without_a_message_catalog_raises_value_error(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / 'nothing'):
        with pytest.raises(
            ValueError,
            match=r'contains no message catalog; '
            r'German texts would be in de/LC_MESSAGES/seamwise\.mo',
        ):
            add_locales(folder)
    with pytest.raises(ValueError, match=r'library\.mo'):
        add_locales(german(tmp_path), domain='library')


def test_an_unreadable_message_catalog_raises_os_error_when_it_is_added(tmp_path: Path) -> None:
    folder = german(tmp_path)
    (folder / 'de' / 'LC_MESSAGES' / 'seamwise.mo').write_bytes(b'no catalogue')
    with pytest.raises(OSError, match='Bad magic number'):
        add_locales(folder)
    assert type(catalogue('de')) is NullTranslations


def test_a_message_catalog_that_is_deleted_after_it_was_added_is_replaced_by_english(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = german(tmp_path, ('{user} may not come in.', 'Nein.', None))
    add_locales(folder)
    assert 'de' in texts.available_locales()
    (folder / 'de' / 'LC_MESSAGES' / 'seamwise.mo').unlink()
    assert message_of(Login('ann', Secret('x')), 'de') == 'ann may not come in.'
    assert "no texts for the locale 'de'" in caplog.text


def test_a_folder_that_is_added_twice_is_searched_once(tmp_path: Path) -> None:
    folder = german(tmp_path)
    add_locales(folder)
    add_locales(str(folder))
    assert len(texts._folders) == 2


def test_shown_masks_secrets_cuts_texts_and_removes_the_cause() -> None:
    error = Login(
        'ann' * 1000,
        Secret('hunter2'),
        Secret('abc'),
        ('password=hunter2-FAKE', 'b'),
        OSError('disk'),
    )
    client_view = sanitized(error)
    assert client_view.user == ('ann' * 1000)[:1024] + '… (1976 more)'
    assert (client_view.password, client_view.token, client_view.cause) == (
        Secret('***'),
        None,
        None,
    )
    assert 'FAKE' not in repr(client_view.notes)
    assert client_view.notes[1] == 'b'
    assert sanitized(client_view) == client_view


def test_shown_redacts_nested_structs() -> None:
    error = InvalidParameter('t', 'p', 'r', Secret(1), (Finding('x' * 2000, 'r'),))
    assert sanitized(error).also[0].parameter.endswith('… (976 more)')
    assert sanitized(error).value is None


def test_shown_keeps_harmless_values() -> None:
    class Numbers(TaggedError, category=Category.CONFLICT):
        whole: int
        part: float
        flags: frozenset[str]
        none: str | None = None

    error = Numbers(1, 0.5, frozenset({'a', 'b'}))
    assert sanitized(error) == error
    assert msgspec.json.encode(sanitized(error)).startswith(b'{"_tag":"Numbers"')


class Overdrawn(TaggedError, category=Category.CONFLICT):
    balance: 'Decimal | None'
    pin: Secret[str]


def test_shown_accepts_a_class_with_unresolvable_annotations() -> None:
    assert sanitized(Overdrawn(None, Secret('hunter2'))) == Overdrawn(None, Secret('***'))


class Refused(
    TaggedError, namespace='test_texts_shown', category=Category.AUTHENTICATION, message='No.'
):
    user: str
    password: str
    passwords: tuple[str, ...]
    pin: int


def test_shown_masks_fields_with_sensitive_names_and_keeps_their_types() -> None:
    error = Refused('ann', 'sommer', ('winter', 'herbst'), 1234)
    assert sanitized(error) == Refused('ann', '***', ('***', '***'), 1234)


class Provided(
    TaggedError, namespace='tests_texts', category=Category.VALIDATION, message='Invalid.'
):
    value: object
    password: object = None


def test_shown_masks_a_secret_in_a_field_of_any_type() -> None:
    assert sanitized(Provided(Secret('hunter2'))).value == '***'


def test_shown_redacts_values_of_any_type() -> None:
    value = ('token=FAKE-hunter2', Secret('a'), ['password=FAKE-hunter2'], frozenset({1}))
    masked: Any = sanitized(Provided(value)).value
    text, secret, items, numbers = masked
    assert 'FAKE' not in f'{text} {items}'
    assert (secret, numbers) == (Secret('***'), frozenset({1}))


def test_shown_masks_the_values_of_a_field_with_a_sensitive_name() -> None:
    password = sanitized(Provided(1, ('hunter2', {'a': 'hunter2'}, Secret('hunter2')))).password
    assert 'hunter2' not in repr(password)
    assert repr(sanitized(Provided(1, 'hunter2')).password) == "'***'"


def test_pairs_and_bytes_of_a_sanitized_error_are_those_that_redaction_masks() -> None:
    class Refused(TaggedError, category=Category.CONFLICT, message='No.', namespace='pairs'):
        what: object

    pair = ('X-Api-Key', 'FAKE-1')
    for value, safe in (
        ((pair,), (('X-Api-Key', '***'),)),
        (frozenset({pair}), frozenset({('X-Api-Key', '***')})),
        (pair, ('X-Api-Key', '***')),
        (b'password=x', b'<10 bytes>'),
        (('a', 'b'), ('a', 'b')),
    ):
        assert sanitized(Refused(value)).what == safe
