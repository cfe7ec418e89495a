"""Messages in a language, and errors as their audiences see them."""

import logging
from typing import TYPE_CHECKING

import msgspec
import pytest

from seamwise import Category, Cause, Secret, TaggedError, shown, text
from seamwise.catalog.tools import FileNotFound, Finding, InvalidParameter
from seamwise.texts import catalogue

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
def test_an_unknown_locale_falls_back_and_says_so_once(locale: str, caplog: pytest.LogCaptureFixture) -> None:
    catalogue.cache_clear()
    with caplog.at_level(logging.WARNING, 'seamwise'):
        for _ in range(3):
            assert text(FileNotFound('t', 'a.txt'), locale) == text(FileNotFound('t', 'a.txt'))
    assert len(caplog.records) == 1
    assert len(caplog.text) < 300


def test_a_translation_that_names_an_unknown_field_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    class Stale:
        def gettext(self, message: str) -> str:
            return '{gone} fehlt' if message else ''

    def catalogue_of(_: str) -> Stale:
        return Stale()

    monkeypatch.setattr('seamwise.texts.catalogue', catalogue_of)
    assert text(Login('ann', Secret('x')), 'de') == 'ann may not come in.'


def test_shown_masks_secrets_cuts_texts_and_drops_the_cause() -> None:
    error = Login('ann' * 1000, Secret('hunter2'), Secret('abc'), ('password=hunter2-FAKE', 'b'), OSError('disk'))
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
