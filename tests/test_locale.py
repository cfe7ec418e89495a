"""The catalogues: complete, true to their sources, compiled, and open to languages from outside."""

import shutil
from collections.abc import Iterator, Mapping
from io import BytesIO
from pathlib import Path
from re import sub
from string import Formatter
from typing import cast

import pytest
from babel.messages.catalog import Catalog, Message
from babel.messages.mofile import read_mo
from babel.messages.pofile import read_po, write_po
from tools.translations import extract_template, main, update

from seamwise import Category, TaggedError, text
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
from seamwise.seams.session import observe
from seamwise.seams.session.observer import SESSION_END_MESSAGE, WAIT_MESSAGES
from seamwise.seams.session.tables import TOOLS
from seamwise.texts import LOCALES, add_locales
from tests.catalogues import restore_locales, write_catalog
from tests.seams.test_session import Room
from tests.strategies import EVERY_CLASS

FOLDER = Path(LOCALES)
KNOWN = ['en', 'zh_CN']


def file_of(locale: str) -> Path:
    return FOLDER / locale / 'LC_MESSAGES' / 'seamwise.po'


def read(file: Path, locale: str | None = None) -> Catalog:
    with file.open('rb') as source:
        return read_po(source, locale=locale)


def said(found: Catalog) -> dict[tuple[str | None, tuple[str, ...]], tuple[str, ...]]:
    return {(context(one), several(one.id)): several(one.string or '') for one in found if one.id}


def context(message: Message) -> str | None:
    """Give the context of a text; of a compiled one Babel gives its bytes."""
    found: object = message.context
    return found.decode() if isinstance(found, bytes) else message.context


def several(value: object) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(cast('tuple[str, ...]', value))


def messages() -> list[tuple[str, Message]]:
    return [(locale, one) for locale in KNOWN for one in read(file_of(locale)) if one.id]


# What is there


@pytest.fixture(scope='module')
def template() -> Catalog:
    return extract_template()


@pytest.mark.parametrize('kind', EVERY_CLASS, ids=lambda kind: kind.__name__)
def test_the_message_of_every_class_is_extracted(
    kind: type[TaggedError], template: Catalog
) -> None:
    found = template.get(kind.__traits__.template)
    assert found is not None
    assert kind.__name__ in found.auto_comments


def test_every_phrase_is_extracted(template: Catalog) -> None:
    assert SESSION_END_MESSAGE in template
    assert cast('Message', template.get(WAIT_MESSAGES[0])).id == WAIT_MESSAGES
    words = {str(one.id) for one in template if one.context == 'reason'}
    assert words == {'ignored', 'write_protected', 'system', 'outside_workspace'}


def test_the_template_is_what_the_sources_hold(template: Catalog) -> None:
    assert set(said(read(FOLDER / 'seamwise.pot'))) == set(said(template)), (
        'run python -m tools.translations'
    )


@pytest.mark.parametrize('locale', KNOWN)
def test_a_catalogue_has_every_text_and_no_other(locale: str, template: Catalog) -> None:
    found = said(read(file_of(locale)))
    assert set(found) == set(said(template)), 'run python -m tools.translations'
    assert all(map(all, found.values()))


@pytest.mark.parametrize('locale', KNOWN)
def test_the_compiled_catalogue_is_that_of_its_source(locale: str) -> None:
    with file_of(locale).with_suffix('.mo').open('rb') as file:
        assert said(read_mo(file)) == said(read(file_of(locale)))


def placeholders(said: str) -> list[tuple[str | None, str | None, str | None]]:
    return sorted(
        (name, conversion, spec)
        for _, name, spec, conversion in Formatter().parse(said)
        if name is not None
    )


@pytest.mark.parametrize(
    ('locale', 'message'),
    messages(),
    ids=lambda one: str(one.id)[:40] if isinstance(one, Message) else one,
)
def test_a_translation_has_the_placeholders_of_its_source(locale: str, message: Message) -> None:
    source = placeholders(several(message.id)[-1])
    assert all(placeholders(one) == source for one in several(message.string))
    assert not message.fuzzy


@pytest.mark.parametrize(
    'message',
    [one for locale, one in messages() if locale == 'zh_CN'],
    ids=lambda one: str(one.id)[:40],
)
def test_a_chinese_text_is_chinese(message: Message) -> None:
    [translated], english = several(message.string), several(message.id)[0]
    if sub(r'\{.*?\}', '', english):
        assert any('一' <= character <= '鿿' for character in translated)
    assert english.endswith('.') is translated.endswith('。')


def test_english_is_what_the_sources_say() -> None:
    assert all(one.string == one.id for locale, one in messages() if locale == 'en')


def test_a_variety_of_english_is_english(caplog: pytest.LogCaptureFixture) -> None:
    assert text(FileNotFound('t', 'a.txt'), 'en-GB') == text(FileNotFound('t', 'a.txt'))
    assert not caplog.records


# How it is made


def test_a_catalogue_that_is_up_to_date_stays_as_it_is_to_the_byte(
    template: Catalog, tmp_path: Path
) -> None:
    for locale in KNOWN:
        for name in (file_of(locale), file_of(locale).with_suffix('.mo')):
            (tmp_path / name.name).write_bytes(name.read_bytes())
        assert update(tmp_path / 'seamwise.po', template) == 0
        assert (tmp_path / 'seamwise.po').read_bytes() == file_of(locale).read_bytes()


def test_a_new_text_is_counted_until_it_is_translated(tmp_path: Path) -> None:
    source = tmp_path / 'errors.py'
    source.write_text(
        "class Late(TaggedError, category=Category.TIMEOUT, message='{count} days late.'):\n    count: int\n"
    )
    file = tmp_path / 'seamwise.po'
    with file.open('wb') as empty:
        write_po(empty, Catalog(locale='de'))
    assert update(file, extract_template(tmp_path)) == 1
    found = read(file)
    cast('Message', found.get('{count} days late.')).string = (
        '{count} Tag zu spät.',
        '{count} Tage zu spät.',
    )
    with file.open('wb') as translated:
        write_po(translated, found)
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
            "class A(TaggedError, category=C, message='{x}'):\n    x: Literal['a', 'b'] | None\n    y: Literal['c']",
            [('gettext', '{x}'), ('pgettext', ('x', 'a')), ('pgettext', ('x', 'b'))],
        ),
        (
            "W: TypeAlias = Literal['a']\nclass A(TaggedError, category=C, message='{x}'):\n    x: W",
            [('gettext', '{x}'), ('pgettext', ('x', 'a'))],
        ),
        ("GONE_MESSAGE = 'Gone.'", [('gettext', ('Gone.',))]),
        ("DAY_MESSAGES = ('A day.', '{n} days.')", [('ngettext', ('A day.', '{n} days.'))]),
        ("texts.gettext('Hello.')\nother('Hello.')", [('gettext', ('Hello.',))]),
    ],
)
def test_what_is_found_in_a_source(source: str, expected: list[object]) -> None:
    found = extract(BytesIO(source.encode()), ['gettext', 'ngettext', 'pgettext'], (), {})
    assert [(function, said) for _, function, said, _ in found] == expected


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    shutil.copytree(
        FOLDER, tmp_path / 'locale', ignore=shutil.ignore_patterns('*.py', '__pycache__')
    )
    return tmp_path / 'locale'


def test_the_command_brings_every_catalogue_up_to_date(copy: Path) -> None:
    before = {file: file.read_bytes() for file in copy.rglob('*.*o*') if file.is_file()}
    assert len(before) == 5
    for file in before:
        if file.suffix != '.po':
            file.unlink()
    with pytest.raises(SystemExit) as ended:
        main(copy)
    assert ended.value.code is None
    assert {file: file.read_bytes() for file in before} == before


def test_the_command_says_what_is_not_translated(copy: Path) -> None:
    file = copy / 'zh_CN' / 'LC_MESSAGES' / 'seamwise.po'
    file.write_text(
        file.read_text(encoding='utf-8').replace('会话因错误而结束。', ''), encoding='utf-8'
    )
    with pytest.raises(SystemExit, match='zh_CN: untranslated texts: 1'):
        main(copy)


def test_english_says_what_the_sources_say_and_nobody_else_does(copy: Path) -> None:
    for locale in KNOWN:
        file = copy / locale / 'LC_MESSAGES' / 'seamwise.po'
        file.write_text(
            file.read_text(encoding='utf-8').partition('\n\n')[0] + '\n', encoding='utf-8'
        )
    with pytest.raises(SystemExit, match=r'^zh_CN: untranslated texts: \d+'):
        main(copy)
    assert set(said(read(copy / 'en' / 'LC_MESSAGES' / 'seamwise.po'))) == set(
        said(read(file_of('en')))
    )


# Languages from outside


class Overdue(
    TaggedError,
    namespace='test_locale',
    category=Category.TIMEOUT,
    message='{book!r} is {days} days overdue.',
):
    book: str
    days: int


@pytest.fixture(autouse=True)
def none_stays() -> Iterator[None]:
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
        'Versuch {attempt} von {attempts} ist gescheitert; der nächste beginnt in einer Sekunde.',
        'Versuch {attempt} von {attempts} ist gescheitert; der nächste beginnt in {seconds} Sekunden.',
    ),
    'Line {line} of {path!r} does not have the expected text.': 'Zeile {zeile} von {path!r} ist anders.',
}


def german(folder: Path) -> Path:
    """Translate the shipped template, as a user of this package does."""
    found = read(FOLDER / 'seamwise.pot', 'de')
    for one in found:
        if (english := several(one.id)[0]) in GERMAN:
            one.string = GERMAN[english]
    return write_catalog(found, folder)


def test_a_third_language_comes_from_outside(tmp_path: Path) -> None:
    add_locales(german(tmp_path))
    assert text(FileNotFound('t', 'a.txt'), 'de') == "'a.txt' gibt es nicht."
    assert text(FileNotFound('t', 'a.txt'), 'de-AT') == "'a.txt' gibt es nicht."
    assert (
        text(PathForbidden('t', 'a.txt', 'ignored'), 'de')
        == "t darf 'a.txt' nicht anfassen (wird übergangen)."
    )
    assert (
        text(PathForbidden('t', 'a.txt', 'system'), 'de')
        == "t darf 'a.txt' nicht anfassen (system)."
    )
    assert text(FileNotFound('t', 'a.txt'), 'zh_CN') == "'a.txt' 不存在。"


def test_it_has_the_plural_forms_of_its_own_language(tmp_path: Path) -> None:
    add_locales(german(tmp_path))
    assert text(DuplicateMatch('t', 'a', 1, (1,)), 'de') == "Der Text steht einmal in 'a'."
    assert text(DuplicateMatch('t', 'a', 2, (1, 2)), 'de') == "Der Text steht 2-mal in 'a'."
    assert (
        text(RecoveryFailed('backup', 1), 'de')
        == 'backup ist gescheitert und wird nicht wiederholt.'
    )
    room = Room('de')
    for delay in (1.0, 2.0):
        observe(room, adapter=TOOLS)(
            Retrying('search', ToolTimedOut('search', 1.0, 1), 1, 3, delay)
        )
    assert [one.show_content.rpartition('in ')[2] for one in room.sent[1::2]] == [
        'einer Sekunde.',
        '2 Sekunden.',
    ]


def test_what_it_has_not_translated_or_not_well_is_english(tmp_path: Path) -> None:
    add_locales(german(tmp_path))
    assert text(ToolTimedOut('t', 1.0, 1), 'de') == 't did not finish within 1.0 s.'
    assert (
        text(ContentMismatch('t', 'a', '', '', 3), 'de')
        == "Line 3 of 'a' does not have the expected text."
    )


def test_a_text_about_a_wait_that_cannot_be_filled_in_is_english(tmp_path: Path) -> None:
    found = Catalog(locale='de')
    found.add(WAIT_MESSAGES, ('{gone} Sekunde', '{gone} Sekunden'))
    add_locales(write_catalog(found, tmp_path))
    room = Room('de')
    observe(room, adapter=TOOLS)(Retrying('search', ToolTimedOut('search', 1.0, 1), 1, 3, 2.0))
    assert room.sent[1].show_content == room.sent[1].content


def test_errors_of_one_s_own_are_translated_from_a_catalogue_of_one_s_own(tmp_path: Path) -> None:
    found = Catalog(locale='zh_CN')
    template = '{book!r} is {days} days overdue.'
    found.add((template, template), ('{book!r} 已逾期 {days} 天。',))
    add_locales(write_catalog(found, tmp_path, domain='library'), domain='library')
    assert text(Overdue('Emma', 3), 'zh_CN') == "'Emma' 已逾期 3 天。"
    assert text(FileNotFound('t', 'a.txt'), 'zh_CN') == "'a.txt' 不存在。", 'ours is still there'
