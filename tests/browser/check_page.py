"""The page of the catalogue in a real browser, headless Chromium; its name keeps it out of a plain run, where none may be installed."""

import json
import shutil
import subprocess
import sys
from collections.abc import Generator, Mapping
from pathlib import Path
from typing import Any

import pytest
from selenium.webdriver import Chrome, ChromeOptions, ChromeService
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement

PHONE = 360
"""In CSS pixels: the width of a small phone."""


@pytest.fixture(scope='module')
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    file = tmp_path_factory.mktemp('page') / 'errors.html'
    made = subprocess.run(
        [sys.executable, '-m', 'seamwise', 'catalog', '--format', 'html'],
        capture_output=True,
        check=True,
    )
    file.write_bytes(made.stdout)
    return file.as_uri()


@pytest.fixture(scope='module')
def chromium() -> Generator[Chrome, None, None]:
    options = ChromeOptions()
    options.binary_location = found('chromium', 'chromium-browser', 'google-chrome')
    for argument in (
        '--headless=new',
        '--no-sandbox',
        '--disable-dev-shm-usage',
        '--disable-gpu',
        '--window-size=1000,900',
    ):
        options.add_argument(argument)
    options.set_capability('goog:loggingPrefs', {'browser': 'ALL', 'performance': 'ALL'})
    driver = Chrome(options=options, service=ChromeService(found('chromedriver')))
    yield driver
    driver.quit()


def found(*names: str) -> str:
    return next(path for name in names if (path := shutil.which(name)))


@pytest.fixture
def browser(chromium: Chrome, page: str) -> Generator[Chrome, None, None]:
    """Open the page anew; at the end, nothing may stand in the console."""
    width(chromium, 1000)
    scheme(chromium, 'light')
    chromium.get('about:blank')
    log(chromium, 'browser')
    log(chromium, 'performance')
    chromium.get(page)
    yield chromium
    assert log(chromium, 'browser') == []


# Selenium says nothing of the types of these.


def command(driver: Any, name: str, arguments: Mapping[str, object]) -> None:
    driver.execute_cdp_cmd(name, arguments)


def script(driver: Any, code: str, *arguments: object) -> Any:
    return driver.execute_script(code, *arguments)


def log(driver: Any, kind: str) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = driver.get_log(kind)
    return entries


def width(driver: Chrome, pixels: int) -> None:
    metrics = {'width': pixels, 'height': 800, 'deviceScaleFactor': 1, 'mobile': pixels == PHONE}
    command(driver, 'Emulation.setDeviceMetricsOverride', metrics)


def scheme(driver: Chrome, name: str) -> None:
    command(
        driver,
        'Emulation.setEmulatedMedia',
        {'features': [{'name': 'prefers-color-scheme', 'value': name}]},
    )


def query(driver: Chrome) -> WebElement:
    return driver.find_element(By.ID, 'query')


def shown(driver: Chrome) -> list[str]:
    return [
        one.get_attribute('id') or ''
        for one in driver.find_elements(By.TAG_NAME, 'article')
        if one.is_displayed()
    ]


def is_open(driver: Chrome, tag: str) -> bool:
    return (
        driver.find_element(By.CSS_SELECTOR, f'[id="{tag}"] details').get_attribute('open')
        is not None
    )


def test_typing_filters_by_tag_code_and_text(browser: Chrome) -> None:
    every = len(shown(browser))
    assert every > 100
    query(browser).send_keys('filenotf')
    assert shown(browser) == ['FileNotFound']
    assert browser.find_element(By.ID, 'count').text == f'1 of {every} errors'
    query(browser).clear()
    query(browser).send_keys('ERR_TIMEOUT_001')
    assert shown(browser) == ['ToolTimedOut']
    query(browser).clear()
    query(browser).send_keys('429 retry')
    assert set(shown(browser)) >= {'UpstreamRateLimited'}
    query(browser).clear()
    query(browser).send_keys('zzzz')
    assert shown(browser) == []
    assert [
        one.text for one in browser.find_elements(By.TAG_NAME, 'h2') if one.is_displayed()
    ] == []
    query(browser).send_keys(Keys.ESCAPE)
    assert len(shown(browser)) == every


def test_the_keyboard_reaches_everything(browser: Chrome) -> None:
    browser.find_element(By.TAG_NAME, 'body').send_keys('/')
    assert browser.switch_to.active_element == query(browser)
    query(browser).send_keys('filenotfound', Keys.TAB)
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


def test_a_link_leads_to_its_error_and_opens_it(browser: Chrome, page: str) -> None:
    assert not is_open(browser, 'CircuitOpen')
    browser.get('about:blank')
    browser.get(f'{page}#CircuitOpen')
    assert is_open(browser, 'CircuitOpen')
    top: Any = script(
        browser, 'return document.getElementById("CircuitOpen").getBoundingClientRect().top'
    )
    assert 0 <= top < 100


def test_a_link_to_an_error_that_is_filtered_away_shows_it(browser: Chrome) -> None:
    query(browser).send_keys('filenotfound')
    script(browser, 'location.hash = "#CircuitOpen"')
    assert 'CircuitOpen' in shown(browser)
    assert is_open(browser, 'CircuitOpen')


def test_a_link_that_leads_nowhere_breaks_nothing(browser: Chrome, page: str) -> None:
    browser.get('about:blank')
    browser.get(f'{page}#%E0%A4%A')
    assert len(shown(browser)) > 100


def test_on_a_phone_nothing_is_wider_than_the_screen(browser: Chrome) -> None:
    width(browser, PHONE)
    script(browser, 'for (const one of document.querySelectorAll("details")) one.open = true')
    assert script(browser, 'return document.documentElement.scrollWidth') == PHONE
    wide: Any = script(
        browser,
        'return [...document.querySelectorAll("main *")].filter((one) => one.getBoundingClientRect().right > innerWidth + 1).length',
    )
    assert wide == 0


@pytest.mark.parametrize('name', ['light', 'dark'])
def test_texts_can_be_read_by_day_and_by_night(browser: Chrome, name: str) -> None:
    scheme(browser, name)
    script(browser, 'document.querySelector("details").open = true')
    for selector in ('body', '.message', '.category', '.facts a', 'pre', 'input'):
        assert contrast(browser, selector) >= 4.5, selector


def contrast(driver: Chrome, selector: str) -> float:
    """Give the contrast of an element's text to what is behind it, as WCAG 2.2 (1.4.3) measures it."""
    code = """
        let one = document.querySelector(arguments[0]);
        const ink = getComputedStyle(one).color;
        while (one && getComputedStyle(one).backgroundColor === 'rgba(0, 0, 0, 0)') one = one.parentElement;
        return [ink, one ? getComputedStyle(one).backgroundColor : 'rgb(255, 255, 255)'];
    """
    colors: Any = script(driver, code, selector)
    low, high = sorted(luminance(color) for color in colors)
    return (high + 0.05) / (low + 0.05)


def luminance(color: str) -> float:
    parts = [int(one) / 255 for one in color.partition('(')[2].rstrip(')').split(',')[:3]]
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_the_page_asks_for_nothing(browser: Chrome, page: str) -> None:
    sent = [json.loads(one['message'])['message'] for one in log(browser, 'performance')]
    asked = {
        one['params']['request']['url']
        for one in sent
        if one['method'] == 'Network.requestWillBeSent'
    }
    assert {one for one in asked if not one.startswith('data:')} <= {page, 'about:blank'}


def test_without_scripts_every_error_is_there(chromium: Chrome, page: str) -> None:
    command(chromium, 'Emulation.setScriptExecutionDisabled', {'value': True})
    try:
        chromium.get(page)
        assert not chromium.find_element(By.ID, 'search').is_displayed()
        assert len(shown(chromium)) > 100
    finally:
        command(chromium, 'Emulation.setScriptExecutionDisabled', {'value': False})


def test_the_page_is_small(page: str) -> None:
    assert Path(page.removeprefix('file://')).stat().st_size < 1_000_000
