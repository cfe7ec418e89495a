"""`seamwise catalog`: the same facts in five formats."""

import json
import os
import re
import subprocess
from html.parser import HTMLParser
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner, Result
from typing_extensions import override

from seamwise.catalog.tools import FileNotFound
from seamwise.documents.collect import collect_entry
from seamwise.documents.openapi import build_openapi
from seamwise.documents.page import render_html
from seamwise.documents.typescript import render_typescript
from seamwise.documents.unions import UNIONS
from seamwise.program.cli import seamwise
from tests.program.helpers import COMMAND
from tests.strategies import EVERY_CLASS

TAGS = {kind.__traits__.tag for kind in EVERY_CLASS}


def catalog(*arguments: str) -> Result:
    return CliRunner().invoke(seamwise, ['catalog', *arguments])


@pytest.fixture(scope='module')
def html() -> str:
    return catalog('--format', 'html').stdout


class Page(HTMLParser):
    """What a page is made of."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.open: list[str] = []
        self.feed(page)
        self.close()

    @override
    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        known = dict(attrs)
        self.ids += [one for one in [known.get('id')] if one]
        self.links += [one for name in ('href', 'src', 'action') if (one := known.get(name))]
        if tag not in {'meta', 'link', 'input'}:
            self.open.append(tag)

    @override
    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


# For people


def test_the_text_tells_of_every_error() -> None:
    ended = catalog()
    assert ended.exit_code == 0
    heads = re.findall(r'(?:\A|\n\n\n)(\w+): ', ended.stdout)
    assert set(heads) == TAGS


def test_the_page_has_every_error_under_its_tag_once(html: str) -> None:
    page = Page(html)
    assert page.open == []
    assert len(page.ids) == len(set(page.ids))
    assert set(page.ids) >= TAGS


def test_the_page_fetches_nothing(html: str) -> None:
    assert {one for one in Page(html).links if not one.startswith('#')} == {'data:,'}
    assert "default-src 'none'" in html
    assert re.search(r'url\(|@import|fetch\(|XMLHttpRequest', html) is None


def test_whatever_an_error_holds_is_text_on_the_page() -> None:
    evil = '</pre></script><script>alert(1)</script>"><img src=x onerror=alert(1)>&amp;'
    known = collect_entry(FileNotFound)
    example = msgspec.structs.replace(
        known.example, files={evil: evil}, lines=(evil,), circumstances=evil
    )
    output = msgspec.Raw(msgspec.json.encode({'text': evil, 'exit_code': 1}))
    answers = tuple(
        msgspec.structs.replace(one, where=evil, summary=evil, output=output)
        for one in known.answers
    )
    parts: Any = dict.fromkeys(('tag', 'name', 'meaning', 'message'), evil)
    told = msgspec.structs.replace(known, **parts, advice=(evil,), example=example, answers=answers)
    assert evil not in render_html([told])
    page = Page(render_html([told]))
    assert page.open == []
    assert evil in page.ids
    assert not any('onerror' in link for link in page.links if not link.startswith('#'))


# For programs


def test_the_json_has_every_error() -> None:
    told = json.loads(catalog('--json').stdout)
    assert {one['tag'] for one in told} == TAGS
    assert [*dict.fromkeys(one['union'] for one in told)] == [*UNIONS]
    assert all(one['example'].get('lines') or one['example'].get('constructor') for one in told)


def test_the_typescript_has_a_union_for_each_of_the_catalogue() -> None:
    module = render_typescript()
    assert catalog('--format', 'typescript').stdout == module.removesuffix('\n') + '\n'
    unions = dict(re.findall(r'^export type (\w+Error) = (.+);$', module, re.MULTILINE))
    assert list(unions) == list(UNIONS)
    named = {name: set(members.split(' | ')) for name, members in unions.items()}
    for name, kinds in UNIONS.items():
        told = {
            kind.__name__
            for kind in kinds
            if f'// {kind.__traits__.tag} never reaches HTTP.' not in module
        }
        assert named[name] == (told or {'never'})
    assert named['WorkspaceError'] == {'never'}


def test_the_typescript_tells_the_fields_and_no_secret_or_cause() -> None:
    module = render_typescript()
    assert 'readonly type: "ProviderModelNotFoundError";' in module
    assert 'readonly similarity: number | null; readonly best_match: string | null;' in module
    assert 'readonly also: readonly Finding[];' in module
    assert (
        'readonly reason: "ignored" | "write_protected" | "system" | "outside_workspace";' in module
    )
    assert 'readonly cause' not in module
    assert 'readonly provided' not in module


def test_the_openapi_has_an_answer_for_every_status_of_the_tables() -> None:
    document = json.loads(catalog('--format', 'openapi').stdout)
    assert document['openapi'].startswith('3.1')
    told = {str(status) for status in document['components']['responses']}
    assert told >= {
        '400',
        '401',
        '402',
        '403',
        '404',
        '409',
        '413',
        '422',
        '429',
        '500',
        '502',
        '503',
        '504',
    }
    assert document == json.loads(msgspec.json.encode(build_openapi()))


# The command


@pytest.mark.parametrize(
    'arguments', [('catalog', '--format', 'openapi'), ('explain', 'FileNotFound')]
)
def test_without_a_reader_it_ends_quietly(arguments: tuple[str, ...]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    ended = subprocess.run(
        [*COMMAND, *arguments], stdout=writing, stderr=subprocess.PIPE, check=False, timeout=60
    )
    os.close(writing)
    assert (ended.returncode, ended.stderr) == (141, b'')


def test_a_misspelt_format_is_answered_with_the_nearest() -> None:
    ended = catalog('--format', 'typscript')
    assert ended.exit_code == 2
    assert "Did you mean 'typescript'" in ended.stderr


def test_help_shows_an_example_and_the_exit_codes() -> None:
    shown = catalog('--help').stdout
    assert 'seamwise catalog --format html > errors.html' in shown
    assert 'Exit codes:' in shown
