"""Tests of the catalogue page in headless Chromium.

The file name keeps them out of a default test run, which needs no browser.
"""

import json
import shutil
import subprocess
import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from selenium.webdriver import Chrome, ChromeOptions, ChromeService
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement

pytestmark = pytest.mark.slow

PHONE = 360
"""Width of a small phone in CSS pixels."""


@pytest.fixture(scope='module')
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    file = tmp_path_factory.mktemp('page') / 'errors.html'
    result = subprocess.run(
        [sys.executable, '-m', 'seamwise', 'catalog', '--format', 'html'],
        capture_output=True,
        check=True,
    )
    file.write_bytes(result.stdout)
    return file.as_uri()


@pytest.fixture(scope='module')
def chromium() -> Generator[Chrome, None, None]:
    with open_chromium() as driver:
        yield driver


@contextmanager
def open_chromium() -> Generator[Chrome, None, None]:
    options = ChromeOptions()
    options.binary_location = find_program('chromium', 'chromium-browser', 'google-chrome')
    for argument in (
        '--headless=new',
        '--no-sandbox',
        '--disable-dev-shm-usage',
        '--disable-gpu',
        '--window-size=1000,900',
    ):
        options.add_argument(argument)
    options.set_capability('goog:loggingPrefs', {'browser': 'ALL', 'performance': 'ALL'})
    driver = Chrome(options=options, service=ChromeService(find_program('chromedriver')))
    try:
        yield driver
    finally:
        driver.quit()


def find_program(*names: str) -> str:
    return next(path for name in names if (path := shutil.which(name)))


@pytest.fixture
def browser(chromium: Chrome, page: str) -> Generator[Chrome, None, None]:
    """Load the page; at the end, the console must be empty."""
    set_width(chromium, 1000)
    set_color_scheme(chromium, 'light')
    chromium.get('about:blank')
    read_log(chromium, 'browser')
    read_log(chromium, 'performance')
    chromium.get(page)
    yield chromium
    assert read_log(chromium, 'browser') == []


# Selenium does not type these methods.


def run_command(driver: Any, name: str, arguments: Mapping[str, object]) -> Any:
    return driver.execute_cdp_cmd(name, arguments)


def run_script(driver: Any, code: str, *arguments: object) -> Any:
    return driver.execute_script(code, *arguments)


def read_log(driver: Any, kind: str) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = driver.get_log(kind)
    return entries


def set_width(driver: Chrome, pixels: int) -> None:
    metrics = {'width': pixels, 'height': 800, 'deviceScaleFactor': 1, 'mobile': pixels == PHONE}
    run_command(driver, 'Emulation.setDeviceMetricsOverride', metrics)


def set_color_scheme(driver: Chrome, name: str) -> None:
    run_command(
        driver,
        'Emulation.setEmulatedMedia',
        {'features': [{'name': 'prefers-color-scheme', 'value': name}]},
    )


def search_field(driver: Chrome) -> WebElement:
    return driver.find_element(By.ID, 'query')


def visible_articles(driver: Chrome) -> list[str]:
    return [
        article.get_attribute('id') or ''
        for article in driver.find_elements(By.TAG_NAME, 'article')
        if article.is_displayed()
    ]


def is_open(driver: Chrome, tag: str) -> bool:
    return (
        driver.find_element(By.CSS_SELECTOR, f'[id="{tag}"] details').get_attribute('open')
        is not None
    )


def test_search_filters_by_tag_code_and_text(browser: Chrome) -> None:
    total = len(visible_articles(browser))
    assert total > 100
    search_field(browser).send_keys('filenotf')
    assert visible_articles(browser) == ['FileNotFound']
    assert browser.find_element(By.ID, 'count').text == f'1 of {total} errors'
    search_field(browser).clear()
    search_field(browser).send_keys('ERR_TIMEOUT_001')
    assert visible_articles(browser) == ['ToolTimedOut']
    search_field(browser).clear()
    search_field(browser).send_keys('429 retry')
    assert set(visible_articles(browser)) >= {'UpstreamRateLimited'}
    search_field(browser).clear()
    search_field(browser).send_keys('zzzz')
    assert visible_articles(browser) == []
    headings = browser.find_elements(By.TAG_NAME, 'h2')
    assert [heading.text for heading in headings if heading.is_displayed()] == []
    search_field(browser).send_keys(Keys.ESCAPE)
    assert len(visible_articles(browser)) == total


def test_keyboard_reaches_all_controls(browser: Chrome) -> None:
    browser.find_element(By.TAG_NAME, 'body').send_keys('/')
    assert browser.switch_to.active_element == search_field(browser)
    search_field(browser).send_keys('filenotfound', Keys.TAB)
    summary = browser.switch_to.active_element
    assert summary.tag_name == 'summary'
    summary.send_keys(Keys.ENTER)
    assert is_open(browser, 'FileNotFound')
    summary.send_keys(Keys.TAB)
    assert (
        browser.switch_to.active_element.get_attribute('href')
        == f'{browser.current_url}#FileNotFound'
    )
    browser.get('about:blank')
    browser.back()
    browser.find_element(By.TAG_NAME, 'body').send_keys(Keys.TAB)
    assert browser.switch_to.active_element.text == 'Skip to the errors'


def test_link_opens_its_error(browser: Chrome, page: str) -> None:
    assert not is_open(browser, 'CircuitOpen')
    browser.get('about:blank')
    browser.get(f'{page}#CircuitOpen')
    assert is_open(browser, 'CircuitOpen')
    top: Any = run_script(
        browser, 'return document.getElementById("CircuitOpen").getBoundingClientRect().top'
    )
    assert 0 <= top < 100


def test_link_to_a_hidden_error_clears_the_filter(browser: Chrome) -> None:
    search_field(browser).send_keys('filenotfound')
    run_script(browser, 'location.hash = "#CircuitOpen"')
    assert 'CircuitOpen' in visible_articles(browser)
    assert is_open(browser, 'CircuitOpen')


def test_invalid_link_is_ignored(browser: Chrome, page: str) -> None:
    browser.get('about:blank')
    browser.get(f'{page}#%E0%A4%A')
    assert len(visible_articles(browser)) > 100


def test_page_fits_the_width_of_a_phone(browser: Chrome) -> None:
    set_width(browser, PHONE)
    run_script(browser, 'for (const item of document.querySelectorAll("details")) item.open = true')
    assert run_script(browser, 'return document.documentElement.scrollWidth') == PHONE
    wide: Any = run_script(
        browser,
        """
        const elements = [...document.querySelectorAll('main *')];
        const right = (element) => element.getBoundingClientRect().right;
        return elements.filter((element) => right(element) > innerWidth + 1).length;
        """,
    )
    assert wide == 0


@pytest.mark.parametrize('name', ['light', 'dark'])
def test_text_has_sufficient_contrast(browser: Chrome, name: str) -> None:
    set_color_scheme(browser, name)
    run_script(browser, 'document.querySelector("details").open = true')
    for selector in ('body', '.message', '.category', '.facts a', 'pre', 'input'):
        assert contrast(browser, selector) >= 4.5, selector


def contrast(driver: Chrome, selector: str) -> float:
    """Return the contrast ratio of a text to its background (WCAG 2.2, 1.4.3)."""
    code = """
        let element = document.querySelector(arguments[0]);
        const color = getComputedStyle(element).color;
        const background = () => getComputedStyle(element).backgroundColor;
        while (element && background() === 'rgba(0, 0, 0, 0)') element = element.parentElement;
        return [color, element ? background() : 'rgb(255, 255, 255)'];
    """
    colors: Any = run_script(driver, code, selector)
    low, high = sorted(luminance(color) for color in colors)
    return (high + 0.05) / (low + 0.05)


def luminance(color: str) -> float:
    parts = [int(part) / 255 for part in color.partition('(')[2].rstrip(')').split(',')[:3]]
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_page_loads_nothing(browser: Chrome, page: str) -> None:
    entries = read_log(browser, 'performance')
    events = [json.loads(entry['message'])['message'] for entry in entries]
    urls = {
        event['params']['request']['url']
        for event in events
        if event['method'] == 'Network.requestWillBeSent'
    }
    assert {url for url in urls if not url.startswith('data:')} <= {page, 'about:blank'}


def test_page_lists_all_errors_without_scripts(chromium: Chrome, page: str) -> None:
    run_command(chromium, 'Emulation.setScriptExecutionDisabled', {'value': True})
    try:
        chromium.get(page)
        assert not chromium.find_element(By.ID, 'search').is_displayed()
        assert len(visible_articles(chromium)) > 100
    finally:
        run_command(chromium, 'Emulation.setScriptExecutionDisabled', {'value': False})


def test_page_is_smaller_than_one_megabyte(page: str) -> None:
    assert Path(page.removeprefix('file://')).stat().st_size < 1_000_000
