"""Tests of the message catalogs: complete, compiled, and extensible with other languages."""

import shutil
from collections.abc import Iterator, Mapping
from io import BytesIO
from pathlib import Path
from re import search, sub
from string import Formatter
from typing import cast

import pytest
from babel.messages.catalog import Catalog, Message
from babel.messages.mofile import read_mo
from babel.messages.pofile import read_po, write_po
from tools.translations import extract_template, main, update

from seamwise import Category, TaggedError, message_of
from seamwise._errors.texts import LOCALES, add_locales
from seamwise.catalog.sessions import RecoveryFailed
from seamwise.catalog.tools import (
    ContentMismatch,
    DuplicateMatch,
    FileNotFound,
    PathForbidden,
    ToolTimedOut,
)
from seamwise.locale.extraction import extract
from seamwise.policies.events import Retrying
from seamwise.seams.session import observer
from seamwise.seams.session.observer import SESSION_END_MESSAGE, WAIT_MESSAGES
from seamwise.seams.session.tables import TOOLS
from tests.catalogues import restore_locales, write_catalog
from tests.seams.test_session import RecordingSession
from tests.strategies import EVERY_CLASS

FOLDER = Path(LOCALES)
LOCALES_HERE = ['en', 'zh_CN']


def file_of(locale: str) -> Path:
    return FOLDER / locale / 'LC_MESSAGES' / 'seamwise.po'


def read(file: Path, locale: str | None = None) -> Catalog:
    with file.open('rb') as source:
        return read_po(source, locale=locale)


def translations_of(catalog: Catalog) -> dict[tuple[str | None, tuple[str, ...]], tuple[str, ...]]:
    return {
        (context_of(message), forms_of(message.id)): forms_of(message.string or '')
        for message in catalog
        if message.id
    }


def context_of(message: Message) -> str | None:
    """Return the context of a message; in a compiled catalog, Babel returns bytes."""
    context: object = message.context
    return context.decode() if isinstance(context, bytes) else message.context


def forms_of(value: object) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(cast('tuple[str, ...]', value))


def messages() -> list[tuple[str, Message]]:
    return [
        (locale, message)
        for locale in LOCALES_HERE
        for message in read(file_of(locale))
        if message.id
    ]


# Contents


@pytest.fixture(scope='module')
def template() -> Catalog:
    return extract_template()


@pytest.mark.parametrize('class_', EVERY_CLASS, ids=lambda class_: class_.__name__)
def test_the_message_of_every_class_is_extracted(
    class_: type[TaggedError], template: Catalog
) -> None:
    message = template.get(class_.__traits__.template)
    assert message is not None
    assert class_.__name__ in message.auto_comments


def test_message_constants_and_literals_are_extracted(template: Catalog) -> None:
    assert SESSION_END_MESSAGE in template
    assert cast('Message', template.get(WAIT_MESSAGES[0])).id == WAIT_MESSAGES
    words = {str(message.id) for message in template if message.context == 'reason'}
    assert words == {'ignored', 'write_protected', 'system', 'outside_workspace'}


def test_a_duration_has_one_form_in_all_texts(template: Catalog) -> None:
    texts = [form for message in template for form in forms_of(message.id)]
    assert [text for text in texts if search(r'\}\S* seconds?\b', text)] == []


def test_the_template_has_the_texts_of_the_sources(template: Catalog) -> None:
    assert set(translations_of(read(FOLDER / 'seamwise.pot'))) == set(translations_of(template)), (
        'run python -m tools.translations'
    )


@pytest.mark.parametrize('locale', LOCALES_HERE)
def test_a_catalog_has_exactly_the_texts_of_the_template(locale: str, template: Catalog) -> None:
    translations = translations_of(read(file_of(locale)))
    assert set(translations) == set(translations_of(template)), 'run python -m tools.translations'
    assert all(map(all, translations.values()))


@pytest.mark.parametrize('locale', LOCALES_HERE)
def test_the_compiled_catalog_equals_its_source(locale: str) -> None:
    with file_of(locale).with_suffix('.mo').open('rb') as file:
        assert translations_of(read_mo(file)) == translations_of(read(file_of(locale)))


def placeholders(text: str) -> list[tuple[str | None, str | None, str | None]]:
    return sorted(
        (name, conversion, spec)
        for _, name, spec, conversion in Formatter().parse(text)
        if name is not None
    )


@pytest.mark.parametrize(
    ('locale', 'message'),
    messages(),
    ids=lambda value: str(value.id)[:40] if isinstance(value, Message) else value,
)
def test_a_translation_has_the_placeholders_of_its_source(locale: str, message: Message) -> None:
    source = placeholders(forms_of(message.id)[-1])
    assert all(placeholders(form) == source for form in forms_of(message.string))
    assert not message.fuzzy


@pytest.mark.parametrize(
    'message',
    [message for locale, message in messages() if locale == 'zh_CN'],
    ids=lambda message: str(message.id)[:40],
)
def test_a_chinese_translation_has_chinese_characters_and_punctuation(message: Message) -> None:
    [translated], english = forms_of(message.string), forms_of(message.id)[0]
    if sub(r'\{.*?\}', '', english):
        assert any('一' <= character <= '鿿' for character in translated)
    assert english.endswith('.') is translated.endswith('。')


def test_the_english_catalog_repeats_the_sources() -> None:
    assert all(message.string == message.id for locale, message in messages() if locale == 'en')


def test_a_variant_of_english_uses_the_english_text(caplog: pytest.LogCaptureFixture) -> None:
    assert message_of(FileNotFound('t', 'a.txt'), 'en-GB') == message_of(FileNotFound('t', 'a.txt'))
    assert not caplog.records


# Extraction and compilation


@pytest.mark.slow
def test_update_does_not_change_a_current_catalog(template: Catalog, tmp_path: Path) -> None:
    for locale in LOCALES_HERE:
        for file in (file_of(locale), file_of(locale).with_suffix('.mo')):
            (tmp_path / file.name).write_bytes(file.read_bytes())
        assert update(tmp_path / 'seamwise.po', template) == 0
        assert (tmp_path / 'seamwise.po').read_bytes() == file_of(locale).read_bytes()


def test_update_counts_a_new_text_until_it_is_translated(tmp_path: Path) -> None:
    source = tmp_path / 'errors.py'
    source.write_text(
        "class Late(TaggedError, category=Category.TIMEOUT, message='{count} days late.'):\n"
        '    count: int\n'
    )
    file = tmp_path / 'seamwise.po'
    with file.open('wb') as empty:
        write_po(empty, Catalog(locale='de'))
    assert update(file, extract_template(tmp_path)) == 1
    catalog = read(file)
    cast('Message', catalog.get('{count} days late.')).string = (
        '{count} Tag zu spät.',
        '{count} Tage zu spät.',
    )
    with file.open('wb') as translated:
        write_po(translated, catalog)
    assert update(file, extract_template(tmp_path)) == 0


@pytest.mark.parametrize(
    ('source', 'expected'),
    [
        (
            "class A(TaggedError, category=C, message='{x} is odd.'):\n    x: str",
            [('gettext', '{x} is odd.')],
        ),
        ('class DiskFull(TaggedError, category=C):\n    x: str', [('gettext', 'Disk full.')]),
        (
            "class A(TaggedError, category=C, message='{n} {m}.'):\n    m: int\n    n: float",
            [('ngettext', ('{n} {m}.', '{n} {m}.'))],
        ),
        (
            "class A(TaggedError, category=C, message='Line {line}.'):\n    line: int",
            [('gettext', 'Line {line}.')],
        ),
        ("class A(Struct, frozen=True):\n    x: Literal['a']", []),
        (
            (
                "class A(TaggedError, category=C, message='{x}'):\n"
                "    x: Literal['a', 'b'] | None\n    y: Literal['c']"
            ),
            [('gettext', '{x}'), ('pgettext', ('x', 'a')), ('pgettext', ('x', 'b'))],
        ),
        (
            (
                "W: TypeAlias = Literal['a']\n"
                "class A(TaggedError, category=C, message='{x}'):\n    x: W"
            ),
            [('gettext', '{x}'), ('pgettext', ('x', 'a'))],
        ),
        ("on(A).exits(66, hint='Look.') | on(B).exits(1, hint=f)", [('gettext', 'Look.')]),
        (
            "class A(TaggedError, category=C, message='{x}', public='Gone.'):\n    x: int",
            [('ngettext', ('{x}', '{x}')), ('gettext', 'Gone.')],
        ),
        ("_Row(general_message='Gone.')", [('gettext', 'Gone.')]),
        ("GONE_MESSAGE = 'Gone.'", [('gettext', ('Gone.',))]),
        ("DAY_MESSAGES = ('A day.', '{n} days.')", [('ngettext', ('A day.', '{n} days.'))]),
        ("texts.gettext('Hello.')\nother('Hello.')", [('gettext', ('Hello.',))]),
    ],
)
def test_extract_yields_the_texts_of_a_source(source: str, expected: list[object]) -> None:
    functions = ['gettext', 'ngettext', 'pgettext']
    options = {'message_constants': 'true'}
    extracted = extract(BytesIO(source.encode()), functions, (), options)
    assert [(function, text) for _, function, text, _ in extracted] == expected


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    shutil.copytree(
        FOLDER, tmp_path / 'locale', ignore=shutil.ignore_patterns('*.py', '__pycache__')
    )
    return tmp_path / 'locale'


@pytest.mark.slow
def test_the_command_updates_every_catalog(copy: Path) -> None:
    original_files = {file: file.read_bytes() for file in copy.rglob('*.*o*') if file.is_file()}
    assert len(original_files) == 5
    for file in original_files:
        if file.suffix != '.po':
            file.unlink()
    with pytest.raises(SystemExit) as info:
        main(copy)
    assert info.value.code is None
    assert {file: file.read_bytes() for file in original_files} == original_files


@pytest.mark.slow
def test_the_command_exits_with_the_number_of_untranslated_texts(copy: Path) -> None:
    file = copy / 'zh_CN' / 'LC_MESSAGES' / 'seamwise.po'
    file.write_text(
        file.read_text(encoding='utf-8').replace('会话因错误而结束。', ''), encoding='utf-8'
    )
    with pytest.raises(SystemExit, match='zh_CN: untranslated texts: 1'):
        main(copy)


@pytest.mark.slow
def test_the_command_fills_only_the_english_catalog(copy: Path) -> None:
    for locale in LOCALES_HERE:
        file = copy / locale / 'LC_MESSAGES' / 'seamwise.po'
        file.write_text(
            file.read_text(encoding='utf-8').partition('\n\n')[0] + '\n', encoding='utf-8'
        )
    with pytest.raises(SystemExit, match=r'^zh_CN: untranslated texts: \d+'):
        main(copy)
    assert set(translations_of(read(copy / 'en' / 'LC_MESSAGES' / 'seamwise.po'))) == set(
        translations_of(read(file_of('en')))
    )


# Additional languages


class Overdue(
    TaggedError,
    namespace='test_locale',
    category=Category.TIMEOUT,
    message='{book!r} is {days} days overdue.',
):
    book: str
    days: int


@pytest.fixture(autouse=True)
def restore_folders() -> Iterator[None]:
    with restore_locales():
        yield


GERMAN: Mapping[str, str | tuple[str, ...]] = {
    '{path!r} does not exist.': '{path!r} gibt es nicht.',
    'The text occurs {count} times in {path!r}.': (
        'Der Text steht einmal in {path!r}.',
        'Der Text steht {count}-mal in {path!r}.',
    ),
    '{operation} failed and will not be retried (attempts: {attempts}).': (
        '{operation} ist gescheitert und wird nicht wiederholt.',
        '{operation} ist {attempts}-mal gescheitert und wird nicht wiederholt.',
    ),
    '{tool} may not touch {path!r} ({reason}).': '{tool} darf {path!r} nicht anfassen ({reason}).',
    'ignored': 'wird übergangen',
    WAIT_MESSAGES[0]: (
        ('Versuch {attempt} von {attempts} ist gescheitert; der nächste beginnt in einer Sekunde.'),
        (
            'Versuch {attempt} von {attempts} ist gescheitert; '
            'der nächste beginnt in {seconds} Sekunden.'
        ),
    ),
    'Line {line} of {path!r} does not have the expected text.': (
        'Zeile {zeile} von {path!r} ist anders.'
    ),
}


def german(folder: Path) -> Path:
    """Translate the template of this package into German, in part."""
    catalog = read(FOLDER / 'seamwise.pot', 'de')
    for message in catalog:
        if (english := forms_of(message.id)[0]) in GERMAN:
            message.string = GERMAN[english]
    return write_catalog(catalog, folder)


def test_another_language_can_be_added(tmp_path: Path) -> None:
    add_locales(german(tmp_path))
    assert message_of(FileNotFound('t', 'a.txt'), 'de') == "'a.txt' gibt es nicht."
    assert message_of(FileNotFound('t', 'a.txt'), 'de-AT') == "'a.txt' gibt es nicht."
    assert (
        message_of(PathForbidden('t', 'a.txt', 'ignored'), 'de')
        == "t darf 'a.txt' nicht anfassen (wird übergangen)."
    )
    assert (
        message_of(PathForbidden('t', 'a.txt', 'system'), 'de')
        == "t darf 'a.txt' nicht anfassen (system)."
    )
    assert message_of(FileNotFound('t', 'a.txt'), 'zh_CN') == "'a.txt' 不存在。"


def test_an_added_language_has_its_own_plural_forms(tmp_path: Path) -> None:
    add_locales(german(tmp_path))
    assert message_of(DuplicateMatch('t', 'a', 1, (1,)), 'de') == "Der Text steht einmal in 'a'."
    assert message_of(DuplicateMatch('t', 'a', 2, (1, 2)), 'de') == "Der Text steht 2-mal in 'a'."
    assert (
        message_of(RecoveryFailed('backup', 1), 'de')
        == 'backup ist gescheitert und wird nicht wiederholt.'
    )
    room = RecordingSession('de')
    for delay in (1.0, 2.0):
        observer(room, adapter=TOOLS)(
            Retrying('search', ToolTimedOut('search', 1.0, 1), 1, 3, delay)
        )
    assert [event.show_content.rpartition('in ')[2] for event in room.sent[1::2]] == [
        'einer Sekunde.',
        '2 Sekunden.',
    ]


def test_a_missing_or_invalid_translation_falls_back_to_english(tmp_path: Path) -> None:
    add_locales(german(tmp_path))
    assert message_of(ToolTimedOut('t', 1.0, 1), 'de') == 't did not finish within 1 s.'
    assert (
        message_of(ContentMismatch('t', 'a', '', '', 3), 'de')
        == "Line 3 of 'a' does not have the expected text."
    )


def test_an_invalid_translation_of_a_wait_falls_back_to_english(tmp_path: Path) -> None:
    catalog = Catalog(locale='de')
    catalog.add(WAIT_MESSAGES, ('{gone} Sekunde', '{gone} Sekunden'))
    add_locales(write_catalog(catalog, tmp_path))
    room = RecordingSession('de')
    observer(room, adapter=TOOLS)(Retrying('search', ToolTimedOut('search', 1.0, 1), 1, 3, 2.0))
    assert room.sent[1].show_content == room.sent[1].content


def test_errors_of_another_package_are_translated_by_their_own_catalog(tmp_path: Path) -> None:
    catalog = Catalog(locale='zh_CN')
    template = '{book!r} is {days} days overdue.'
    catalog.add((template, template), ('{book!r} 已逾期 {days} 天。',))
    add_locales(write_catalog(catalog, tmp_path, domain='library'), domain='library')
    assert message_of(Overdue('Emma', 3), 'zh_CN') == "'Emma' 已逾期 3 天。"
    assert message_of(FileNotFound('t', 'a.txt'), 'zh_CN') == "'a.txt' 不存在。", (
        'the catalog of seamwise is still used'
    )
