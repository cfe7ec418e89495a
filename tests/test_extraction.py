"""Extraction of the messages of a program with the real `pybabel`, up to a translated text."""

import logging
import os
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from io import BytesIO
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog
from babel.messages.pofile import read_po, write_po

from seamwise import TaggedError, message_of
from seamwise._errors.texts import add_locales
from seamwise.locale.extraction import Extracted, extract
from tests.catalogues import restore_locales

ENTRY_POINT = 'seamwise = seamwise.locale.extraction:extract'
FUNCTIONS = ['gettext', 'ngettext', 'pgettext', '_']

SOURCE = """\
# -*- coding: utf-8 -*-
from gettext import gettext as _

import seamwise
from seamwise import Category, TaggedError as Base
from typing import Literal

STATE = Literal['open', 'closed']
CLOSED = 'Account {name!r} is ' '{state}.'


# Translators: `order` is a number,
# such as 17.
class OrderNotFound(Base, category=Category.NOT_FOUND, message='There is no order {order_id}.'):
    order_id: int


# A comment for programmers.
class CartTooLarge(
    seamwise.TaggedError,
    category=Category.VALIDATION,
    # Translators: the limit of one order.
    message='The cart has {count} ' + 'items.',
):
    count: int


class AccountClosed(Base, category=Category.CONFLICT, message=CLOSED):
    name: str
    state: STATE


class PrinterJammed(Base, category=Category.EXECUTION):
    pass


class Page(Other, category='x', message='No error.'): ...


# Translators: of the start page
print(_('Welcome'))
"""


@pytest.fixture(autouse=True)
def restore_folders() -> Iterator[None]:
    with restore_locales():
        yield


@pytest.fixture
def entry_points(tmp_path: Path) -> Path:
    """Return a folder that declares the entry point of this library, as its wheel does."""
    folder = tmp_path / 'site' / 'declared_by_the_test-0.dist-info'
    folder.mkdir(parents=True)
    (folder / 'METADATA').write_text(
        'Metadata-Version: 2.1\nName: declared-by-the-test\nVersion: 0\n'
    )
    (folder / 'entry_points.txt').write_text(f'[babel.extractors]\n{ENTRY_POINT}\n')
    return folder.parent


def texts_of(source: str, *tags: str, **options: str) -> list[Extracted]:
    return [*extract(BytesIO(source.encode()), FUNCTIONS, tags, options)]


def error(keywords: str, *, body: str = 'n: int') -> str:
    return f'class A(TaggedError, category=C, {keywords}):\n    {body}'


def test_texts_have_lines_and_comments_for_translators() -> None:
    assert texts_of(SOURCE, 'Translators:') == [
        (
            14,
            'gettext',
            'There is no order {order_id}.',
            ['OrderNotFound', 'Translators: `order` is a number,', 'such as 17.'],
        ),
        (
            23,
            'ngettext',
            ('The cart has {count} items.', 'The cart has {count} items.'),
            ['CartTooLarge', 'Translators: the limit of one order.'],
        ),
        (28, 'gettext', 'Account {name!r} is {state}.', ['AccountClosed']),
        (28, 'pgettext', ('state', 'open'), ['AccountClosed']),
        (28, 'pgettext', ('state', 'closed'), ['AccountClosed']),
        (33, 'gettext', 'Printer jammed.', ['PrinterJammed']),
        (41, '_', ('Welcome',), ['Translators: of the start page']),
    ]


def test_the_public_message_is_extracted_too() -> None:
    source = error(
        "message='{n} of {path}.',\n    public='{n} of it.'", body='n: float\n    path: str'
    )
    assert [(line, template) for line, _, template, _ in texts_of(source)] == [
        (1, '{n} of {path}.'),
        (2, '{n} of it.'),
    ]


def test_identifiers_have_no_plural_forms() -> None:
    for name in ('order_id', 'port', 'ticket'):
        source = error(f"message='No {{{name}}}.'", body=f'{name}: int')
        [(_, function, _, _)] = texts_of(source, identifiers='ticket other')
        assert function == 'gettext'
    [(_, function, _, _)] = texts_of(error("message='{ticket}.'", body='ticket: int'))
    assert function == 'ngettext'


def test_functions_that_babel_was_not_told_get_plain_texts() -> None:
    source = error("message='{n} {w}.'", body="n: int\n    w: Literal['a']")
    extracted = [*extract(BytesIO(source.encode()), ['tr'], (), {})]
    assert [(function, arguments) for _, function, arguments, _ in extracted] == [
        (None, ('{n} {w}.', '{n} {w}.'))
    ]


@pytest.mark.parametrize(
    ('keywords', 'warning'),
    [
        ("message=f'{n}'", "'message' of A is not a literal text"),
        ('message=texts.GONE', "'message' of A is not a literal text"),
        ("message='a', public=other()", "'public' of A is not a literal text"),
        ("message='{n'", "the message '{n' does not work"),
    ],
)
def test_a_message_that_cannot_be_read_is_reported(
    keywords: str, warning: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, 'seamwise'):
        texts_of(error(keywords))
    assert caplog.messages[0].startswith('<source>:1: ')
    assert warning in caplog.messages[0]


def test_a_comment_can_stand_above_the_statement_of_a_call() -> None:
    source = '# NOTE: a name\nprint(\n    ngettext("a", f"b", n),\n)\n# NOTE: none\n\n_("c")'
    assert texts_of(source, 'NOTE') == [
        (3, 'ngettext', ('a', None, None), ['NOTE: a name']),
        (7, '_', ('c',), []),
    ]


def test_hints_of_the_terminal_are_extracted_with_their_comments() -> None:
    source = (
        'CLI = on(A).exits(\n    1,\n    # NOTE: a command\n    hint="Look.",\n)\nother(hint="No.")'
    )
    assert texts_of(source, 'NOTE') == [(4, 'gettext', 'Look.', ['NOTE: a command'])]


def test_a_syntax_error_names_the_file(tmp_path: Path) -> None:
    file = tmp_path / 'broken.py'
    file.write_text('def (:')
    with file.open('rb') as source, pytest.raises(SyntaxError) as info:
        list(extract(source, FUNCTIONS, (), {}))
    assert info.value.filename == str(file)


def test_the_messages_of_a_program_are_translated_with_pybabel(
    tmp_path: Path, entry_points: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / 'translated_shop').mkdir()
    (tmp_path / 'translated_shop' / '__init__.py').touch()
    source = SOURCE.replace("class Page(Other, category='x', message='No error.'): ...", '')
    (tmp_path / 'translated_shop' / 'errors.py').write_text(source, encoding='utf-8')
    (tmp_path / 'babel.cfg').write_text('[seamwise: **.py]\n')
    path = os.pathsep.join([str(entry_points), *filter(None, sys.path)])

    def pybabel(*arguments: str) -> None:
        command = [sys.executable, '-m', 'babel.messages.frontend', *arguments]
        environment = {**os.environ, 'PYTHONPATH': path}
        subprocess.run(command, cwd=tmp_path, check=True, env=environment, capture_output=True)

    pybabel(
        'extract', '-F', 'babel.cfg', '-c', 'Translators:', '-o', 'messages.pot', 'translated_shop'
    )
    template = (tmp_path / 'messages.pot').read_text(encoding='utf-8')
    assert (
        '#. OrderNotFound\n'
        '#. Translators: `order` is a number,\n'
        '#. such as 17.\n'
        '#: translated_shop/errors.py:14\n'
        '#, python-brace-format\n'
        'msgid "There is no order {order_id}."\n'
    ) in template
    pybabel('init', '-i', 'messages.pot', '-d', 'locale', '-l', 'de')
    translate(tmp_path / 'locale' / 'de' / 'LC_MESSAGES' / 'messages.po')
    pybabel('compile', '-d', 'locale')

    add_locales(tmp_path / 'locale', domain='messages')
    monkeypatch.setattr(sys, 'path', [str(tmp_path), *sys.path])
    errors = import_module('translated_shop.errors')
    messages: dict[str, TaggedError] = {
        'Es gibt keine Bestellung 17.': errors.OrderNotFound(17),
        'Im Korb ist ein Artikel.': errors.CartTooLarge(1),
        'Im Korb sind 3 Artikel.': errors.CartTooLarge(3),
        "Das Konto 'ann' ist geschlossen.": errors.AccountClosed('ann', 'closed'),
    }
    assert [message_of(value, 'de') for value in messages.values()] == [*messages]


GERMAN: dict[str, str | tuple[str, ...]] = {
    'There is no order {order_id}.': 'Es gibt keine Bestellung {order_id}.',
    'The cart has {count} items.': ('Im Korb ist ein Artikel.', 'Im Korb sind {count} Artikel.'),
    'Account {name!r} is {state}.': 'Das Konto {name!r} ist {state}.',
    'closed': 'geschlossen',
}


def translate(file: Path) -> None:
    with file.open('rb') as source:
        catalog: Catalog = read_po(source)
    for message in catalog:
        english = message.id if isinstance(message.id, str) else message.id[0]
        if english in GERMAN:
            message.string = GERMAN[english]
    with file.open('wb') as target:
        write_po(target, catalog)
