"""Messages in a language, and errors as their audiences see them."""

import logging
from collections.abc import Iterator
from gettext import NullTranslations
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec
import pytest
from babel.messages.catalog import Catalog

from seamwise import Category, Cause, Secret, TaggedError, shown, text, texts
from seamwise.catalog.tools import FileNotFound, Finding, InvalidParameter
from seamwise.texts import add_locales, catalogue
from tests.catalogues import compiled, only_here

if TYPE_CHECKING:
    from decimal import Decimal


class Login(TaggedError, category=Category.AUTHENTICATION, message='{user} may not come in.'):
    user: str
    password: Secret[str]
    token: Secret[str] | None = None
    notes: tuple[str, ...] = ()
    cause: Cause | None = None


def test_english_is_the_message_itself() -> None:
    assert text(FileNotFound('read_file', 'a.txt')) == str(FileNotFound('read_file', 'a.txt'))


def test_a_translation_is_filled_in_with_the_same_values() -> None:
    chinese = text(FileNotFound('read_file', 'a.txt'), 'zh_CN')
    assert chinese != text(FileNotFound('read_file', 'a.txt'))
    assert 'a.txt' in chinese
    assert any('一' <= character <= '鿿' for character in chinese)
    assert text(FileNotFound('read_file', 'a.txt'), 'zh-CN') == chinese


def test_a_class_without_a_translation_is_shown_in_english() -> None:
    assert text(Login('ann', Secret('x')), 'zh_CN') == 'ann may not come in.'


def test_an_empty_message_is_not_the_header_of_a_catalogue() -> None:
    class Silent(TaggedError, category=Category.CONFLICT, message=''):
        pass

    assert text(Silent(), 'zh_CN') == ''


@pytest.mark.parametrize('locale', ['xx', 'no_SUCH', '../../etc', 'zh_CN/..', '', 'a' * 500])
def test_an_unknown_locale_falls_back_and_says_so_once(
    locale: str, caplog: pytest.LogCaptureFixture
) -> None:
    catalogue.cache_clear()
    with caplog.at_level(logging.WARNING, 'seamwise'):
        for _ in range(3):
            assert text(FileNotFound('t', 'a.txt'), locale) == text(FileNotFound('t', 'a.txt'))
    assert len(caplog.records) == 1
    assert len(caplog.text) < 300


def test_a_translation_that_names_an_unknown_field_is_not_shown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Stale:
        def gettext(self, message: str) -> str:
            return '{gone} fehlt' if message else ''

    def catalogue_of(_: str) -> Stale:
        return Stale()

    monkeypatch.setattr('seamwise.texts.catalogue', catalogue_of)
    assert text(Login('ann', Secret('x')), 'de') == 'ann may not come in.'


@pytest.fixture(autouse=True)
def none_stays() -> Iterator[None]:
    with only_here():
        yield


def german(
    folder: Path,
    *said: tuple[str | tuple[str, str], str | tuple[str, ...], str | None],
    domain: str = 'seamwise',
) -> Path:
    found = Catalog(locale='de')
    for english, translated, context in said:
        found.add(english, translated, context=context)
    return compiled(found, folder, domain=domain)


class Parked(
    TaggedError, category=Category.CONFLICT, message='{state} for {days} days, in row {row}.'
):
    row: int
    days: int
    state: Literal['open', 'shut'] | None = 'open'


TEMPLATE = '{state} for {days} days, in row {row}.'


def test_a_locale_may_come_from_outside(tmp_path: Path) -> None:
    add_locales(german(tmp_path, ('{user} may not come in.', '{user} darf nicht herein.', None)))
    assert text(Login('ann', Secret('x')), 'de') == 'ann darf nicht herein.'
    assert text(FileNotFound('t', 'a'), 'de') == str(FileNotFound('t', 'a'))


def test_the_form_follows_from_the_first_number_of_the_message(tmp_path: Path) -> None:
    add_locales(
        german(
            tmp_path,
            ((TEMPLATE, TEMPLATE), ('Ein Tag, Reihe {row}.', '{days} Tage, Reihe {row}.'), None),
        )
    )
    assert [text(Parked(9, days), 'de') for days in (1, 2)] == [
        'Ein Tag, Reihe 9.',
        '2 Tage, Reihe 9.',
    ]


def test_a_closed_word_is_translated_by_the_name_of_its_field(tmp_path: Path) -> None:
    translated = ('{state}: {days}', '{state}: {days}')
    add_locales(
        german(
            tmp_path,
            ((TEMPLATE, TEMPLATE), translated, None),
            ('open', 'offen', 'state'),
            ('shut', 'gemein', 'mood'),
        )
    )
    assert [text(Parked(9, 2, state), 'de') for state in ('open', 'shut', None)] == [
        'offen: 2',
        'shut: 2',
        'None: 2',
    ]


def test_what_is_added_last_is_looked_at_first(tmp_path: Path) -> None:
    said = ["'a' gibt es nicht.", "'a' fehlt."]
    for number, one in enumerate(said):
        add_locales(
            german(
                tmp_path / str(number),
                ('{path!r} does not exist.', one.replace("'a'", '{path!r}'), None),
            )
        )
        assert text(FileNotFound('t', 'a'), 'de') == one


def test_a_folder_without_a_catalogue_is_refused(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / 'nothing'):
        with pytest.raises(
            ValueError,
            match=r'contains no message catalog; German texts would be in de/LC_MESSAGES/seamwise\.mo',
        ):
            add_locales(folder)
    with pytest.raises(ValueError, match=r'library\.mo'):
        add_locales(german(tmp_path), domain='library')


def test_a_catalogue_that_cannot_be_read_is_refused_where_it_is_added(tmp_path: Path) -> None:
    folder = german(tmp_path)
    (folder / 'de' / 'LC_MESSAGES' / 'seamwise.mo').write_bytes(b'no catalogue')
    with pytest.raises(OSError, match='Bad magic number'):
        add_locales(folder)
    assert type(catalogue('de')) is NullTranslations


def test_a_folder_added_twice_is_looked_through_once(tmp_path: Path) -> None:
    folder = german(tmp_path)
    add_locales(folder)
    add_locales(str(folder))
    assert len(texts._folders) == 2


def test_shown_masks_secrets_cuts_texts_and_drops_the_cause() -> None:
    error = Login(
        'ann' * 1000,
        Secret('hunter2'),
        Secret('abc'),
        ('password=hunter2-FAKE', 'b'),
        OSError('disk'),
    )
    seen = shown(error)
    assert seen.user == ('ann' * 1000)[:1024] + '… (1976 more)'
    assert (seen.password, seen.token, seen.cause) == (Secret('***'), None, None)
    assert 'FAKE' not in repr(seen.notes)
    assert seen.notes[1] == 'b'
    assert shown(seen) == seen


def test_shown_reaches_into_structs() -> None:
    error = InvalidParameter('t', 'p', 'r', Secret(1), (Finding('x' * 2000, 'r'),))
    assert shown(error).also[0].parameter.endswith('… (976 more)')
    assert shown(error).value is None


def test_shown_changes_nothing_that_may_be_seen() -> None:
    class Numbers(TaggedError, category=Category.CONFLICT):
        whole: int
        part: float
        flags: frozenset[str]
        none: str | None = None

    error = Numbers(1, 0.5, frozenset({'a', 'b'}))
    assert shown(error) == error
    assert msgspec.json.encode(shown(error)).startswith(b'{"_tag":"Numbers"')


class Overdrawn(TaggedError, category=Category.CONFLICT):
    balance: 'Decimal | None'
    pin: Secret[str]


def test_shown_takes_a_class_whose_annotations_only_type_checkers_can_read() -> None:
    assert shown(Overdrawn(None, Secret('hunter2'))) == Overdrawn(None, Secret('***'))
