"""Tests of the documentation site in headless Chromium.

They build the site, which takes a minute; `.ci/nightly` runs them.
"""

import itertools
import os
from collections.abc import Generator, Mapping
from pathlib import Path
from types import MappingProxyType
from urllib.parse import urlsplit

import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.wait import WebDriverWait
from sphinx.util.inventory import InventoryFile
from tools.documentation.public_names import MODULES, public_names

from tests.browser.check_page import (
    open_chromium,
    read_log,
    run_script,
    set_color_scheme,
    set_width,
)

PHONE_WIDTH = 390
SCREEN_HEIGHT = 900
"""Of a laptop, in CSS pixels."""

SEARCHES: Mapping[str, str] = MappingProxyType(
    {
        'raise or return': 'questions/when-should-a-function-raise-and-when-return-a-failure',
        'replacement for exceptions': 'questions/is-seamwise-a-replacement-for-exceptions',
        'plugin for mypy': 'check/plugin',
        'match in two steps': 'questions/why-do-i-have-to-match-in-two-steps',
        'value out of a result': 'questions/how-do-i-get-the-value-out-of-a-result',
        'stop at the first failure': (
            'questions/how-do-i-call-several-functions-and-stop-at-the-first-failure'
        ),
        'collect all errors': 'questions/how-do-i-collect-all-errors-for-example-of-a-form',
        'convert an exception': 'questions/how-do-i-convert-an-exception-into-an-error',
        'failure into an exception': 'questions/how-do-i-turn-a-failure-into-an-exception',
        'async functions': 'questions/does-it-work-with-async-functions',
        'subclass an error': 'questions/why-can-i-not-subclass-an-error-class',
        'cause of an error': 'questions/how-do-i-add-a-cause-to-an-error',
        'password logs': 'questions/how-do-i-keep-a-password-out-of-the-logs',
        'hide a field from clients': (
            'questions/how-do-i-hide-a-field-from-clients-but-keep-it-in-the-log'
        ),
        'fastapi': 'fastapi',
        'status code': 'questions/which-status-code-does-a-client-get-for-an-error',
        'django': 'frameworks/django',
        'click typer': 'frameworks/click-and-typer',
        'exit code': 'questions/how-do-i-use-it-with-click-or-typer',
        'redis': 'guards/redis',
        'idempotency key': 'guards/retry',
        'circuit': 'guards/circuit',
        'cache': 'guards/cache',
        'hedge': 'guards/hedge',
        'retry a call': 'questions/how-do-i-retry-a-call',
        'order of guards': 'questions/what-order-should-guards-go-in',
        'must not run twice': 'questions/how-do-i-retry-a-request-that-must-not-run-twice',
        'limit rate processes': ('questions/how-do-i-limit-the-rate-of-several-processes-together'),
        'test guards waiting': 'questions/how-do-i-test-code-with-guards-without-waiting',
        'test that a function fails': 'questions/how-do-i-test-that-a-function-fails',
        'sentry': 'logging-and-sentry',
        'language of the user': 'questions/how-do-i-show-an-error-in-the-language-of-the-user',
        'migrate existing code': 'questions/how-do-i-migrate-existing-code-step-by-step',
        'tool calls language model': (
            'questions/how-do-i-run-the-tool-calls-that-a-language-model-wrote'
        ),
        'untrusted tool': 'questions/how-do-i-run-a-tool-that-i-do-not-trust',
        'resume lost connection': (
            'questions/how-do-clients-resume-a-stream-after-a-lost-connection'
        ),
        'cost run time': 'questions/what-does-it-cost-at-run-time',
        'package returns': 'questions/can-i-use-it-together-with-the-package-returns',
    }
)
"""Words that a newcomer types, and the page that answers the question."""

OTHER_WORDS: Mapping[str, str] = MappingProxyType(
    {
        'throw or return': 'when-should-a-function-raise-and-when-return-a-failure',
        'instead of try except': 'is-seamwise-a-replacement-for-exceptions',
        'type checker setup': 'do-i-need-a-plugin-for-mypy-or-pyright',
        'nested match': 'why-do-i-have-to-match-in-two-steps',
        'unwrap default value': 'how-do-i-get-the-value-out-of-a-result',
        'chain functions': 'how-do-i-call-several-functions-and-stop-at-the-first-failure',
        'form validation': 'how-do-i-collect-all-errors-for-example-of-a-form',
        'catch an exception': 'how-do-i-convert-an-exception-into-an-error',
        'throw error': 'how-do-i-turn-a-failure-into-an-exception',
        'await coroutine': 'does-it-work-with-async-functions',
        'error inheritance': 'why-can-i-not-subclass-an-error-class',
        'original exception': 'how-do-i-add-a-cause-to-an-error',
        'secret token redact': 'how-do-i-keep-a-password-out-of-the-logs',
        'public message': 'how-do-i-hide-a-field-from-clients-but-keep-it-in-the-log',
        'rest api endpoint': 'how-do-i-use-it-with-fastapi',
        'http response code': 'which-status-code-does-a-client-get-for-an-error',
        'flask web framework': 'how-do-i-use-it-with-starlette-flask-django-litestar-or-aiohttp',
        'command line exit code': 'how-do-i-use-it-with-click-or-typer',
        'exponential backoff': 'how-do-i-retry-a-call',
        'combine timeout and retry': 'what-order-should-guards-go-in',
        'duplicate payment': 'how-do-i-retry-a-request-that-must-not-run-twice',
        'throttle redis': 'how-do-i-limit-the-rate-of-several-processes-together',
        'fake clock': 'how-do-i-test-code-with-guards-without-waiting',
        'unit test failure': 'how-do-i-test-that-a-function-fails',
        'monitoring bugs': 'how-do-i-log-errors-and-send-bugs-to-sentry',
        'translate messages': 'how-do-i-show-an-error-in-the-language-of-the-user',
        'legacy code': 'how-do-i-migrate-existing-code-step-by-step',
        'openai function calling': 'how-do-i-run-the-tool-calls-that-a-language-model-wrote',
        'sandbox': 'how-do-i-run-a-tool-that-i-do-not-trust',
        'reconnect websocket': 'how-do-clients-resume-a-stream-after-a-lost-connection',
        'performance overhead': 'what-does-it-cost-at-run-time',
        'dry-python': 'can-i-use-it-together-with-the-package-returns',
    }
)
"""Words that are not in the title, and the question of which they find the page."""

NATURAL: Mapping[str, str] = MappingProxyType(
    {
        'what is a seam': 'seams',
        'TaggedError': 'reference/api/seamwise',
        'Result': 'reference/api/seamwise',
        'ModelNotFound': 'reference/errors/ModelError',
        'how to install': 'tutorial/index',
        'getting started': 'tutorial/index',
        'python version supported': 'tutorial/index',
        'license': 'index',
        'how do I return a 404': 'questions/which-status-code-does-a-client-get-for-an-error',
        'custom 404 body': 'seams/http/bodies',
        'how to define a custom error': 'errors',
        'timeout for async call': 'guards/deadline',
        'retry POST safely': 'questions/how-do-i-retry-a-request-that-must-not-run-twice',
        'rollback sqlalchemy session on failure': 'transactions',
        'validation': 'questions/how-do-i-collect-all-errors-for-example-of-a-form',
        'do notation': 'composition',
        'flask blueprint': 'frameworks/flask',
        'VS Code extension language server': 'check/editor',
        'pre-commit hook': 'check/ci',
        'suppress a finding': 'check/suppress',
        'suppress a finding noqa': 'check/suppress',
        'JSON schema of error response': 'reference/wire-shapes',
        'what is the default of retry attempts': 'guards/retry',
        'rate limit across workers': (
            'questions/how-do-i-limit-the-rate-of-several-processes-together'
        ),
        'mask credit card number': 'redaction',
        'thread safety': 'guards',
        'failure in a websocket': 'seams/http/handlers',
        'background task': 'seams/http/handlers',
        'legacy clients': 'seams/http/older-contracts',
        'deprecation': 'stability',
    }
)
"""Searches in the words of a sentence, or for a name, and a page that must be found."""

FIND = """
const [query, terms, excluded, highlighted, objects] = Search._parseQuery(arguments[0])
const results = Search._performSearch(query, terms, excluded, highlighted, objects)
return results.reverse().map((result) => result[0])
"""

HEADINGS = """
return [...document.querySelectorAll('article :is(h1, h2, h3, h4, h5, h6)')]
  .map((heading) => Number(heading.tagName[1]))
"""

VIOLATIONS = """
return axe.run().then((report) => report.violations.map((violation) => violation.id))
"""

LOW_CONTRAST = """
const channel = (value) => value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4
const luminance = ([r, g, b]) =>
  0.2126 * channel(r / 255) + 0.7152 * channel(g / 255) + 0.0722 * channel(b / 255)
const parse = (color) => color.match(/[\\d.]+/g).map(Number)
const background = (node) => {
  for (; node; node = node.parentElement) {
    const color = parse(getComputedStyle(node).backgroundColor)
    if (color.length < 4 || color[3] === 1) return color
  }
  return [255, 255, 255]
}
const low = new Set()
for (const node of document.querySelectorAll('article *, .sidebar-drawer *')) {
  const ownText = [...node.childNodes].some((child) => child.nodeType === 3 && child.data.trim())
  const isShown = node.checkVisibility({ visibilityProperty: true, opacityProperty: true })
  if (!ownText || !isShown) continue
  const [a, b] = [parse(getComputedStyle(node).color), background(node)].map(luminance)
  const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)
  const text = node.textContent.trim().slice(0, 30)
  if (ratio < 4.5) low.add(`${node.tagName}.${node.className} ${text}: ${ratio.toFixed(2)}`)
}
return [...low]
"""


@pytest.fixture(scope='module')
def chromium() -> Generator[Chrome]:
    with open_chromium() as driver:
        yield driver


@pytest.fixture(autouse=True)
def _laptop(chromium: Chrome) -> None:
    set_width(chromium, 1280)
    set_color_scheme(chromium, 'light')


def pages(site: Path) -> list[str]:
    return [
        path.parent.relative_to(site).as_posix()
        for path in sorted(site.rglob('index.html'))
        # The first is a page of the theme, without text; the second has tests of its own.
        if path.parent.name not in {'search', 'playground'}
    ]


def test_pages_have_ordered_headings_no_messages_and_no_foreign_requests(
    chromium: Chrome, address: str, site: Path
) -> None:
    read_log(chromium, 'browser')
    read_log(chromium, 'performance')
    problems: list[str] = []
    for page in pages(site):
        chromium.get(f'{address}/{page}/')
        levels: list[int] = run_script(chromium, HEADINGS)
        steps = [after - before for before, after in itertools.pairwise(levels)]
        if levels.count(1) != 1 or max(steps, default=0) > 1:
            problems.append(f'{page}: headings {levels}')
        problems += [f'{page}: {entry["message"]}' for entry in read_log(chromium, 'browser')]
    messages: list[str] = [entry['message'] for entry in read_log(chromium, 'performance')]
    urls = {
        part.split('"')[0]
        for message in messages
        if '"Network.requestWillBeSent"' in message
        for part in message.split('"url":"')[1:]
    }
    assert problems == []
    assert {urlsplit(url).hostname for url in urls} - {None} == {'127.0.0.1'}


@pytest.mark.skipif('AXE' not in os.environ, reason='the variable AXE names no axe.min.js')
def test_pages_have_no_violations_that_axe_finds(
    chromium: Chrome, address: str, site: Path
) -> None:
    axe = Path(os.environ['AXE']).read_text(encoding='utf-8')
    violations: dict[str, list[str]] = {}
    for page in pages(site):
        # Those of errors have one template, as have those of questions.
        if not page.startswith(('reference/errors/', 'questions/')):
            chromium.get(f'{address}/{page}/')
            run_script(chromium, axe)
            violations[page] = run_script(chromium, VIOLATIONS)
    assert {page: ids for page, ids in violations.items() if ids} == {}


@pytest.mark.parametrize('theme', ['light', 'dark'])
@pytest.mark.parametrize('page', ['', 'guards', 'faq', 'reference/api/seamwise', 'check/SW101'])
def test_texts_have_sufficient_contrast(
    chromium: Chrome, address: str, page: str, theme: str
) -> None:
    set_color_scheme(chromium, theme)
    chromium.get(f'{address}/{page}')
    assert run_script(chromium, LOW_CONTRAST) == []


@pytest.mark.parametrize(
    'page',
    ['', 'guards', 'glossary', 'reference/errors/ToolError', 'reference/api/seamwise.policies'],
)
def test_a_page_fits_a_phone(chromium: Chrome, address: str, page: str) -> None:
    set_width(chromium, PHONE_WIDTH)
    chromium.get(f'{address}/{page}')
    assert run_script(chromium, 'return document.documentElement.scrollWidth') <= PHONE_WIDTH


def test_a_search_runs_with_the_keyboard_alone(chromium: Chrome, address: str) -> None:
    chromium.get(address)
    chromium.find_element(By.TAG_NAME, 'body').send_keys(Keys.TAB)
    field = chromium.switch_to.active_element
    while field.get_attribute('name') != 'q':
        field.send_keys(Keys.TAB)
        field = chromium.switch_to.active_element
    field.send_keys('retry a call', Keys.ENTER)
    wait = WebDriverWait(chromium, 20)
    links = '#search-results li a'
    wait.until(lambda driver: len(driver.find_elements(By.CSS_SELECTOR, links)) >= 3)
    titles = [link.text for link in chromium.find_elements(By.CSS_SELECTOR, links)[:3]]
    assert 'How do I retry a call?' in titles


WING_RESULTS = """
return [...document.querySelectorAll('#search-results li')].map((item) => [
  new URL(item.querySelector('a').href).pathname,
  item.querySelector('.search-wing')?.textContent ?? null,
])
"""


def search_results(chromium: Chrome, address: str) -> dict[str, str | None]:
    """Return the paths of the pages that a search finds, with their wings."""
    chromium.get(address)
    WebDriverWait(chromium, 20).until(
        lambda driver: 'Search finished' in driver.find_element(By.TAG_NAME, 'article').text
    )
    results: list[tuple[str, str | None]] = run_script(chromium, WING_RESULTS)
    return dict(results)


def test_a_result_says_its_wing_and_the_other_wing_can_be_left_out(
    chromium: Chrome, address: str
) -> None:
    found = search_results(chromium, f'{address}/search/?q=processor+retry')
    assert (found['/guards/retry/'], found['/processor/']) == ('Services', 'Agents')
    assert found['/glossary/'] is None
    chromium.find_element(By.LINK_TEXT, 'Agents').click()
    of_agents = search_results(chromium, chromium.current_url)
    assert of_agents.items() <= found.items()
    assert {'/processor/', '/glossary/'} <= of_agents.keys()
    assert 'Services' not in of_agents.values()


@pytest.fixture(scope='module')
def search_page(chromium: Chrome, address: str) -> Chrome:
    chromium.get(f'{address}/search/')
    WebDriverWait(chromium, 20).until(
        lambda driver: run_script(driver, 'return Boolean(Search._index)')
    )
    return chromium


@pytest.mark.parametrize(('words', 'page'), [*SEARCHES.items(), *NATURAL.items()])
def test_the_first_three_hits_answer_a_question(search_page: Chrome, words: str, page: str) -> None:
    hits: list[str] = run_script(search_page, FIND, words)
    assert page in hits[:3]


@pytest.mark.parametrize(('words', 'question'), OTHER_WORDS.items())
def test_the_first_three_hits_answer_a_question_in_other_words(
    search_page: Chrome, words: str, question: str
) -> None:
    hits: list[str] = run_script(search_page, FIND, words)
    assert f'questions/{question}' in hits[:3]


def test_every_public_name_is_found(search_page: Chrome) -> None:
    missing = [
        f'{module}.{name}'
        for modules in MODULES.values()
        for module in modules
        for name in public_names(module)
        if f'reference/api/{module}' not in run_script(search_page, FIND, name)
    ]
    assert missing == []


def test_intersphinx_finds_every_public_name(site: Path) -> None:
    inventory = InventoryFile.loads((site / 'objects.inv').read_bytes(), uri='https://example.org/')
    targets = {
        f'{module}.{name}'
        for modules in MODULES.values()
        for module in modules
        for name in public_names(module)
    }
    names = {name for objects in inventory.data.values() for name in objects}
    unions = {
        'seamwise.policies.GuardError',
        'seamwise.catalog.tools.ToolError',
        'seamwise.catalog.storage.StorageError',
        'seamwise.catalog.protocols.LspError',
    }
    assert (targets | unions) - names == set()
    assert [name for name in names if '._' in name] == []
    location = inventory.data['py:class']['seamwise.Success'].uri
    assert location == 'https://example.org/reference/api/seamwise/#seamwise.Success'


def test_each_page_links_to_its_markdown_copy(site: Path) -> None:
    made_by_sphinx = {'genindex', 'py-modindex'}
    missing = [
        page
        for page in pages(site)
        if page not in made_by_sphinx
        and (
            '<link rel="alternate" type="text/markdown" href="index.md" />'
            not in (site / page / 'index.html').read_text(encoding='utf-8')
            or not (site / page / 'index.md').is_file()
        )
    ]
    assert missing == []


def test_signatures_have_no_private_defaults(site: Path) -> None:
    private = [
        page
        for page in pages(site)
        if '"default_value"><span class="pre">_'
        in (site / page / 'index.html').read_text(encoding='utf-8')
    ]
    assert private == []


def test_a_diagram_can_be_read_on_a_phone(chromium: Chrome, address: str) -> None:
    set_width(chromium, PHONE_WIDTH)
    chromium.get(f'{address}/seams/')
    widths: list[int] = run_script(
        chromium,
        """
        const picture = document.querySelector('article .picture.only-light')
        return [picture.querySelector('img').width, picture.clientWidth, picture.scrollWidth]
        """,
    )
    image, visible, scrollable = widths
    assert image >= 700
    assert visible < PHONE_WIDTH
    assert scrollable == image


@pytest.mark.parametrize(
    ('width', 'variant'), [(PHONE_WIDTH, 'narrow'), (768, 'medium'), (1440, 'broad')]
)
@pytest.mark.parametrize('scheme', ['light', 'dark'])
def test_one_variant_of_the_picture_on_the_first_page_is_visible(
    chromium: Chrome, address: str, width: int, variant: str, scheme: str
) -> None:
    set_width(chromium, width)
    set_color_scheme(chromium, scheme)
    chromium.get(f'{address}/')
    visible: list[str] = run_script(
        chromium,
        """
        const pictures = [...document.querySelectorAll('article section > p > .picture')]
        return pictures.filter((picture) => picture.offsetWidth > 0).map((one) => one.className)
        """,
    )
    assert visible == [f'picture only-{scheme} {variant}']


def test_the_answer_to_a_question_fits_one_screen(
    chromium: Chrome, address: str, site: Path
) -> None:
    questions = [page for page in pages(site) if page.startswith('questions/')]
    assert len(questions) >= 30
    heights: dict[str, int] = {}
    for page in questions:
        chromium.get(f'{address}/{page}/')
        heights[page] = run_script(
            chromium, "return document.querySelector('article').getBoundingClientRect().height"
        )
    assert {page: height for page, height in heights.items() if height > SCREEN_HEIGHT} == {}
