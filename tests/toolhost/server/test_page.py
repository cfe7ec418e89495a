"""The files of the page: their types, their headers, and what they refer to."""

import re
from importlib.resources import files
from pathlib import Path

import pytest

from .live_helpers import page_client

FOLDER = Path(str(files('seamwise.toolhost.server'))) / 'page'
SCRIPTS = sorted(file.name for file in FOLDER.glob('*.js'))
TEXT_KEY = re.compile(r'\btext\(\s*"(\w+)"')
ENTRY = re.compile(r'^  (\w+): "(.*)",$', re.MULTILINE)


def read(name: str) -> str:
    return (FOLDER / name).read_text(encoding='utf-8')


def texts(language: str) -> dict[str, str]:
    """Return the texts of the page in `ENGLISH` or `CHINESE`."""
    block = read('texts.js').partition(f'const {language} = {{\n')[2].partition('\n};')[0]
    return dict(ENTRY.findall(f'{block}\n'))


def test_a_browser_receives_the_page_and_other_clients_the_routes() -> None:
    with page_client() as client:
        page = client.get('/', headers={'accept': 'text/html,*/*;q=0.8'})
        index = client.get('/', headers={'accept': '*/*'})
    assert page.headers['content-type'] == 'text/html; charset=utf-8'
    assert page.text.startswith('<!doctype html>')
    assert 'POST /v1/calls' in index.json()['data']
    assert 'POST /v1/sessions' in index.json()['data']


@pytest.mark.parametrize(
    ('name', 'media_type'),
    [
        ('index.html', 'text/html; charset=utf-8'),
        ('page.css', 'text/css; charset=utf-8'),
        ('page.js', 'text/javascript; charset=utf-8'),
        ('client.js', 'text/javascript; charset=utf-8'),
        ('icon.svg', 'image/svg+xml'),
    ],
)
def test_each_file_has_its_type_and_needs_no_token(name: str, media_type: str) -> None:
    with page_client(token=None) as client:
        response = client.get(f'/page/{name}')
    assert response.status_code == 200
    assert response.headers['content-type'] == media_type
    assert response.headers['x-content-type-options'] == 'nosniff'


def test_the_page_can_use_its_own_server_only() -> None:
    with page_client() as client:
        headers = client.get('/', headers={'accept': 'text/html'}).headers
    policy = headers['content-security-policy'].split('; ')
    assert "default-src 'none'" in policy
    assert "script-src 'self'" in policy
    assert "style-src 'self'" in policy
    assert "connect-src 'self' ws://127.0.0.1:8642 wss://127.0.0.1:8642" in policy
    assert "frame-ancestors 'none'" in policy
    assert headers['x-frame-options'] == 'DENY'
    assert headers['referrer-policy'] == 'no-referrer'
    assert headers['cache-control'] == 'no-store'


@pytest.mark.parametrize('name', ['nothing.js', '__init__.py', '..%2fpage.py', '%2e%2e/page.py'])
def test_other_files_are_not_served(name: str) -> None:
    with page_client() as client:
        assert client.get(f'/page/{name}').status_code == 404


@pytest.mark.parametrize('name', SCRIPTS)
def test_a_script_imports_files_that_are_served(name: str) -> None:
    imported = re.findall(r'from "(.+?)"', read(name))
    served = {f'./{script}' for script in [*SCRIPTS, 'client.js']}
    assert {*imported} <= served


@pytest.mark.parametrize('name', [file.name for file in FOLDER.iterdir() if file.is_file()])
def test_no_file_refers_to_another_server(name: str) -> None:
    addresses = {*re.findall(r'https?://[^\s"\'<>]+', read(name))}
    assert addresses <= {'http://www.w3.org/2000/svg'}


def test_the_page_has_every_text_in_both_languages() -> None:
    english, chinese = texts('ENGLISH'), texts('CHINESE')
    assert list(english) == list(chinese)
    for key, value in english.items():
        assert set(re.findall(r'\{\w+\}', value)) == set(re.findall(r'\{\w+\}', chinese[key])), key


def test_every_text_is_used_and_every_used_text_exists() -> None:
    known = {*texts('ENGLISH')}
    sources = '\n'.join(read(name) for name in SCRIPTS if name != 'texts.js') + read('index.html')
    assert {*TEXT_KEY.findall(sources), *re.findall(r'data-text="(\w+)"', sources)} <= known
    # Keys that are put together: `ex_missing`, `group_guards`, `seam_cli`, and states.
    words = {*re.findall(r'\w+', sources)}
    prefixes = ('ex_', 'group_', 'seam_')
    unused = {key for key in known - words if not key.startswith(prefixes)}
    assert unused == set()
    examples = re.findall(r'\n    id: "(\w+)"', read('examples.js'))
    assert {f'ex_{name}' for name in examples} == {key for key in known if key.startswith('ex_')}


def test_the_texts_in_the_document_are_those_of_the_english_page() -> None:
    english = texts('ENGLISH')
    for key, value in re.findall(r'data-text="(\w+)">([^<]+)<', read('index.html')):
        assert english[key] == value


def test_the_page_is_small() -> None:
    size = sum(file.stat().st_size for file in FOLDER.iterdir() if file.is_file())
    assert size < 150_000
