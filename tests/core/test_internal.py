"""Tests of `Internal`: readable like a plain field, and absent from messages for clients."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import msgspec
import pytest
from babel.messages.catalog import Catalog
from typing_extensions import override

from seamwise import (
    Category,
    Cause,
    Internal,
    Secret,
    TaggedError,
    codec,
    json_schema,
    message_of,
    redact,
    sanitized,
)
from seamwise._errors.errors import HIDES_INTERNAL
from seamwise._errors.internal import INTERNAL
from seamwise._errors.texts import add_locales, general_message, public_message
from seamwise.catalog.tools import FileNotFound
from tests.catalogues import restore_locales, write_catalog


class BankDown(
    TaggedError,
    category=Category.UNAVAILABLE,
    message='{bank} does not answer: {reason}.',
    public='{bank} does not answer.',
):
    bank: str
    reason: Internal[str]
    host: Internal[str] | None = None
    note: Internal[str | None] = None


class LedgerDown(TaggedError, category=Category.TIMEOUT, message='{host} is too slow.'):
    host: Internal[str]


class Part(msgspec.Struct, frozen=True):
    number: int
    excerpt: Internal[str]


class Nested(TaggedError, category=Category.EXECUTION, message='{parts}'):
    parts: tuple[Part, ...]


class Spoken(TaggedError, category=Category.EXECUTION):
    host: Internal[str]

    @override
    def __str__(self) -> str:
        return f'Ask {self.host}.'


class Quoted(TaggedError, category=Category.EXECUTION, message='{host}'):
    host: 'Internal[str]'
    later: 'Internal[NotDefinedYet]' = None  # type: ignore[name-defined]  # noqa: F821 -- the test
    limit: ClassVar[int] = 3


def test_an_internal_field_is_read_like_a_plain_one() -> None:
    error = BankDown('Acme', 'connection refused', host='10.0.0.5')
    assert (error.reason, error.host, error.note) == ('connection refused', '10.0.0.5', None)
    assert type(error.reason) is str
    assert message_of(error) == str(error) == 'Acme does not answer: connection refused.'
    assert repr(INTERNAL) == 'INTERNAL'


def test_a_class_knows_its_internal_fields() -> None:
    assert BankDown.__traits__.internal == {'reason', 'host', 'note'}
    assert Quoted.__traits__.internal == {'host', 'later'}


def test_a_field_that_contains_an_internal_one_is_internal_as_a_whole() -> None:
    assert Nested.__traits__.internal == {'parts'}
    assert public_message(Nested((Part(1, '10.0.0.5'),))) == 'The operation failed.'


def test_the_public_message_replaces_one_with_internal_fields() -> None:
    assert public_message(BankDown('Acme', '10.0.0.5')) == 'Acme does not answer.'


def test_without_a_public_message_clients_see_the_sentence_of_the_category() -> None:
    assert public_message(LedgerDown('10.0.0.5')) == 'The operation did not finish in time.'
    assert public_message(Spoken('10.0.0.5')) == 'The operation failed.'
    assert str(Spoken('10.0.0.5')) == 'Ask 10.0.0.5.'


def test_a_message_without_internal_fields_is_public() -> None:
    class Partly(TaggedError, category=Category.UNAVAILABLE, message='{bank} is closed.'):
        bank: str
        host: Internal[str]

    assert public_message(Partly('Acme', '10.0.0.5')) == 'Acme is closed.'
    missing = FileNotFound('read_file', 'a.txt')
    assert public_message(missing, 'zh_CN') == message_of(missing, 'zh_CN')


@pytest.mark.parametrize('category', Category)
def test_every_category_has_a_general_sentence_in_each_language(category: Category) -> None:
    english, chinese = general_message(category), general_message(category, 'zh_CN')
    assert english == category.general_message
    assert english.endswith('.')
    assert chinese.endswith('。')
    assert '{' not in english + chinese


@pytest.fixture
def _other_locales() -> Iterator[None]:
    with restore_locales():
        yield


@pytest.mark.usefixtures('_other_locales')
def test_the_public_message_is_translated(tmp_path: Path) -> None:
    catalog = Catalog(locale='de')
    catalog.add('{bank} does not answer.', '{bank} antwortet nicht.')
    add_locales(write_catalog(catalog, tmp_path))
    assert public_message(BankDown('Acme', '10.0.0.5'), 'de') == 'Acme antwortet nicht.'


@pytest.mark.parametrize(
    ('template', 'complaint'),
    [
        ('{reason}', "prints the field 'reason', which is internal"),
        ('{bank}: {host!r}', "prints the field 'host', which is internal"),
        ('{token}', "prints the field 'token', which is secret"),
        ('{later}', "prints the field 'later', which is secret"),
        ('{cause}', "prints the field 'cause', which is not for clients"),
        ('{nothing}', "the public message '{nothing}' does not work: there is no field 'nothing'"),
        ('', 'public must not be empty'),
        (7, 'public must be a str, not 7'),
    ],
)
def test_a_public_message_that_is_not_public_raises_type_error(
    template: Any, complaint: str
) -> None:
    with pytest.raises(TypeError, match='Made: ') as caught:

        class Made(TaggedError, category=Category.UNAVAILABLE, public=template):  # pyright: ignore[reportUnusedClass]  # its creation fails
            bank: str
            reason: Internal[str]
            host: Internal[str] | None = None
            token: Secret[str] | None = None
            later: 'Secret[NotDefinedYet] | None' = None  # type: ignore[name-defined]  # noqa: F821 -- the test
            cause: Cause | None = None

    assert complaint in str(caught.value)


def test_the_format_of_an_internal_number_is_checked() -> None:
    class Slow(TaggedError, category=Category.TIMEOUT, message='{seconds:.1f}'):
        seconds: Internal[float]

    assert str(Slow(1.25)) == '1.2'
    with pytest.raises(TypeError, match="the format 'zz' does not fit 'seconds'"):

        class Broken(TaggedError, category=Category.TIMEOUT, message='{seconds:zz}'):  # pyright: ignore[reportUnusedClass]  # its creation fails
            seconds: Internal[float]


def test_an_internal_field_must_be_hashable() -> None:
    with pytest.raises(TypeError, match="the field 'hosts' contains a list"):

        class Hosts(TaggedError, category=Category.TIMEOUT):  # pyright: ignore[reportUnusedClass]  # its creation fails
            hosts: Internal[list[str]]


def test_a_codec_and_shown_keep_internal_fields() -> None:
    error = BankDown('Acme', 'token=FAKE-hunter2', note='n')
    assert codec(BankDown).decode(codec(BankDown).encode(BankDown('Acme', 'r'))) == BankDown(
        'Acme', 'r'
    )
    assert sanitized(error).reason == redact('token=FAKE-hunter2')
    schema = json_schema(BankDown)['$defs']['BankDown']['properties']
    assert schema['reason'] == {'type': 'string'}


def test_texts_of_an_error_can_leave_out_internal_fields() -> None:
    class Stuck(TaggedError, category=Category.CONFLICT, message='{order}: {reason}.'):
        order: int
        reason: Internal[str]

    error = Stuck(7, 'held by 10.0.0.5')
    token = HIDES_INTERNAL.set(True)
    try:
        assert (repr(error), str(error)) == ('Stuck(order=7)', 'Stuck(order=7)')
    finally:
        HIDES_INTERNAL.reset(token)
    assert repr(error) == "Stuck(order=7, reason='held by 10.0.0.5')"
    assert str(error) == '7: held by 10.0.0.5.'
