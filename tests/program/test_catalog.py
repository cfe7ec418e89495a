"""`seamwise catalog`: all formats contain the same facts."""

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
from seamwise.documents.library import library_catalog
from seamwise.documents.openapi import build_openapi
from seamwise.documents.page import render_html
from seamwise.documents.typescript import render_typescript
from seamwise.documents.unions import UNIONS
from seamwise.program.cli import seamwise
from tests.program.helpers import COMMAND
from tests.strategies import EVERY_CLASS

LIBRARY = library_catalog()
TAGS = {kind.__traits__.tag for kind in EVERY_CLASS}


def catalog(*arguments: str) -> Result:
    return CliRunner().invoke(seamwise, ['catalog', *arguments])


@pytest.fixture(scope='module')
def html() -> str:
    return catalog('--format', 'html').stdout


class Page(HTMLParser):
    """The ids and links of a page, and its elements without an end tag."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.open: list[str] = []
        self.feed(page)
        self.close()

    @override
    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        self.ids += [item for item in [attributes.get('id')] if item]
        self.links += [
            value for name in ('href', 'src', 'action') if (value := attributes.get(name))
        ]
        if tag not in {'meta', 'link', 'input'}:
            self.open.append(tag)

    @override
    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


# For people


@pytest.mark.slow
def test_text_contains_every_error() -> None:
    result = catalog()
    assert result.exit_code == 0
    heads = re.findall(r'(?:\A|\n\n\n)(\w+): ', result.stdout)
    assert set(heads) == TAGS


@pytest.mark.slow
def test_page_contains_every_error_once_under_its_tag(html: str) -> None:
    page = Page(html)
    assert page.open == []
    assert len(page.ids) == len(set(page.ids))
    assert set(page.ids) >= TAGS


def test_page_loads_no_other_resource(html: str) -> None:
    assert {link for link in Page(html).links if not link.startswith('#')} == {'data:,'}
    assert "default-src 'none'" in html
    assert re.search(r'url\(|@import|fetch\(|XMLHttpRequest', html) is None


def test_page_escapes_the_fields_of_an_error() -> None:
    evil = '</pre></script><script>alert(1)</script>"><img src=x onerror=alert(1)>&amp;'
    entry = collect_entry(FileNotFound, LIBRARY)
    example = msgspec.structs.replace(
        entry.example, files={evil: evil}, lines=(evil,), circumstances=evil
    )
    output = msgspec.Raw(msgspec.json.encode({'text': evil, 'exit_code': 1}))
    answers = tuple(
        msgspec.structs.replace(answer, where=evil, summary=evil, output=output)
        for answer in entry.answers
    )
    parts: Any = dict.fromkeys(('tag', 'name', 'meaning', 'message'), evil)
    evil_entry = msgspec.structs.replace(
        entry, **parts, advice=(evil,), example=example, answers=answers
    )
    assert evil not in render_html([evil_entry], evil)
    page = Page(render_html([evil_entry], evil))
    assert page.open == []
    assert evil in page.ids
    assert not any('onerror' in link for link in page.links if not link.startswith('#'))


# For programs


@pytest.mark.slow
def test_json_contains_every_error() -> None:
    output = json.loads(catalog('--json').stdout)
    assert {item['tag'] for item in output} == TAGS
    assert [*dict.fromkeys(item['union'] for item in output)] == [*UNIONS]
    assert all(
        item['example'].get('lines') or item['example'].get('constructor') for item in output
    )


def test_typescript_has_one_union_per_union_of_the_catalogue() -> None:
    module = render_typescript(LIBRARY)
    assert catalog('--format', 'typescript').stdout == module.removesuffix('\n') + '\n'
    unions = dict(re.findall(r'^export type (\w+Error) = (.+);$', module, re.MULTILINE))
    assert list(unions) == list(UNIONS)
    members_by_union = {name: set(members.split(' | ')) for name, members in unions.items()}
    for name, kinds in UNIONS.items():
        visible_names = {
            kind.__name__
            for kind in kinds
            if f'// {kind.__traits__.tag} never reaches HTTP.' not in module
        }
        assert members_by_union[name] == (visible_names or {'never'})
    assert members_by_union['WorkspaceError'] == {'never'}


def test_typescript_contains_fields_but_no_secret_and_no_cause() -> None:
    module = render_typescript(LIBRARY)
    assert 'readonly type: "ProviderModelNotFoundError";' in module
    assert 'readonly similarity?: number; readonly best_match?: string;' in module
    assert 'readonly also: readonly Finding[];' in module
    assert (
        'readonly reason: "ignored" | "write_protected" | "system" | "outside_workspace";' in module
    )
    assert 'readonly cause' not in module
    assert 'readonly value' not in module


def test_openapi_has_a_response_for_every_status_of_the_tables() -> None:
    document = json.loads(catalog('--format', 'openapi').stdout)
    assert document['openapi'].startswith('3.1')
    statuses = {str(status) for status in document['components']['responses']}
    assert statuses >= {
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
    assert document == json.loads(msgspec.json.encode(build_openapi(LIBRARY)))


# The command


@pytest.mark.parametrize(
    'arguments', [('catalog', '--format', 'openapi'), ('explain', 'FileNotFound')]
)
def test_catalog_ends_quietly_if_its_reader_has_ended(arguments: tuple[str, ...]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    result = subprocess.run(
        [*COMMAND, *arguments], stdout=writing, stderr=subprocess.PIPE, check=False, timeout=60
    )
    os.close(writing)
    assert (result.returncode, result.stderr) == (141, b'')


def test_misspelt_format_is_answered_with_a_suggestion() -> None:
    result = catalog('--format', 'typscript')
    assert result.exit_code == 2
    assert "Did you mean 'typescript'" in result.stderr


def test_help_shows_an_example_and_the_exit_codes() -> None:
    text = catalog('--help').stdout
    assert 'seamwise catalog --format html > errors.html' in text
    assert 'Exit codes:' in text
