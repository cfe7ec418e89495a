"""The page of the map in a real browser, headless Chromium; its name keeps it out of a plain run, where none may be installed."""

from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.wait import WebDriverWait

from seamwise.check.facts import FileFacts
from seamwise.check.map.build import build_graph
from seamwise.check.map.page import as_html
from tests.browser.check_page import (
    PHONE,
    chromium,
    command,
    contrast,
    log,
    query,
    scheme,
    script,
    shown,
    width,
)
from tests.check.map.files import BUSY, NO_ORDER, SHOP, called, function, made
from tests.check.map.test_formats import HOSTILE, large

__all__ = ['chromium']

ORDER = f'error={NO_ORDER}'


@pytest.fixture(scope='module')
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    lost = function(
        'shop.web.forget', 40, called(41, 'shop.orders.order', NO_ORDER, lost=[NO_ORDER])
    )
    file = tmp_path_factory.mktemp('page') / 'map.html'
    file.write_text(
        as_html(build_graph([*SHOP, FileFacts('shop.web', 'shop/web.py', functions=(lost,))])),
        encoding='utf-8',
    )
    return file.as_uri()


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


def article(driver: Chrome, own: str) -> WebElement:
    return driver.find_element(By.CSS_SELECTOR, f'[id="{own}"]')


def is_open(driver: Chrome, own: str) -> bool:
    return (
        article(driver, own).find_element(By.TAG_NAME, 'details').get_attribute('open') is not None
    )


def opened(driver: Chrome, own: str) -> None:
    """Click on an error or a seam."""
    article(driver, own).find_element(By.TAG_NAME, 'summary').click()
    drawing(driver, own)


def drawing(driver: Chrome, own: str) -> None:
    """Wait for the drawing: a browser tells a script a little later that something has been opened."""
    if own.startswith('error='):
        WebDriverWait(driver, 10).until(
            lambda _: article(driver, own).find_elements(By.TAG_NAME, 'svg')
        )


def boxes(driver: Chrome, own: str) -> dict[str, str]:
    """Give the kind of every box that is drawn, by its name."""
    found = article(driver, own).find_elements(By.CSS_SELECTOR, '.drawing g')
    return {
        one.find_element(By.TAG_NAME, 'text').text: one.get_attribute('class') or ''
        for one in found
    }


def active(driver: Chrome) -> WebElement:
    return driver.switch_to.active_element


def test_a_click_on_an_error_shows_its_way_from_producer_to_seam(browser: Chrome) -> None:
    assert boxes(browser, ORDER) == {}
    opened(browser, ORDER)
    assert boxes(browser, ORDER) == {
        'load': 'made', 'Memory.find': 'made', 'order': 'function', 'Store.find': 'function', 'get': 'function', 'or_new': 'function',
        'pay': 'function', 'forget': 'function', 'http': 'seam',
    }  # fmt: skip
    kinds = [
        one.get_attribute('class')
        for one in article(browser, ORDER).find_elements(By.CSS_SELECTOR, 'svg > path')
    ]
    assert sorted(filter(None, kinds)) == [
        'handled',
        'lost',
        'override',
        'passes',
        'passes',
        'passes',
        'show',
    ]
    legend = article(browser, ORDER).find_element(By.CSS_SELECTOR, '.drawing p').text
    assert legend.startswith('Dashed, with a bar: handled there. Dotted in red: lost there')
    assert (
        '=> shown by http, shop/web.py:17'
        in article(browser, ORDER).find_element(By.TAG_NAME, 'pre').text
    )


def test_no_box_covers_another_and_ways_go_to_the_right(browser: Chrome) -> None:
    opened(browser, ORDER)
    found: Any = script(
        browser,
        'return [...document.querySelectorAll("[open] .drawing rect")].map((one) => one.getBoundingClientRect().toJSON())',
    )
    for number, one in enumerate(found):
        for other in found[number + 1 :]:
            apart = (
                one['right'] <= other['left']
                or other['right'] <= one['left']
                or one['bottom'] <= other['top']
            )
            assert apart or other['bottom'] <= one['top']
    names = [
        one.text
        for one in browser.find_elements(By.CSS_SELECTOR, '[open] .drawing g text:first-of-type')
    ]
    left = {name: one['left'] for name, one in zip(names, found, strict=True)}
    assert left['load'] < left['order'] < left['get'] < left['http']


def test_an_error_from_elsewhere_begins_in_a_foreign_box(browser: Chrome) -> None:
    opened(browser, f'error={BUSY}')
    assert boxes(browser, f'error={BUSY}')['driver.fetch'] == 'foreign'


def test_a_long_name_is_cut_in_its_box_and_whole_in_its_title(
    chromium: Chrome, tmp_path: Path
) -> None:
    file = tmp_path / 'long.html'
    name = f'a.{"very_" * 20}long'
    file.write_text(
        as_html(
            build_graph([FileFacts('a', 'a.py', functions=(function(name, 1, made(2, 'E')),))])
        ),
        encoding='utf-8',
    )
    chromium.get(f'{file.as_uri()}#error=E')
    drawing(chromium, 'error=E')
    (shown_name,) = boxes(chromium, 'error=E')
    assert (shown_name[0], shown_name[-4:], len(shown_name)) == ('…', 'long', 44)
    assert (
        chromium.find_element(By.CSS_SELECTOR, 'g title').get_attribute('textContent')
        == f'{name}, a.py:1'
    )


def test_typing_filters_by_name_tag_function_and_file(browser: Chrome) -> None:
    every = shown(browser)
    assert len(every) == 4
    for word, left in {
        'busy capacity': [f'error={BUSY}'],
        'Memory.find': [ORDER],
        'shop/store.py:31': [ORDER],
        'zzz': [],
    }.items():
        query(browser).clear()
        query(browser).send_keys(word)
        assert shown(browser) == left
        assert browser.find_element(By.ID, 'count').text == f'{len(left)} of 3 errors'
    query(browser).send_keys(Keys.ESCAPE)
    assert shown(browser) == every


def test_the_keyboard_reaches_everything(browser: Chrome, page: str) -> None:
    browser.find_element(By.TAG_NAME, 'body').send_keys('/')
    assert active(browser) == query(browser)
    query(browser).send_keys(Keys.ARROW_DOWN)
    assert active(browser) == article(browser, 'seam=http').find_element(By.TAG_NAME, 'summary')
    active(browser).send_keys(Keys.ARROW_DOWN)
    active(browser).send_keys(Keys.ARROW_DOWN)
    assert active(browser) == article(browser, ORDER).find_element(By.TAG_NAME, 'summary')
    active(browser).send_keys(Keys.ENTER)
    assert is_open(browser, ORDER)
    active(browser).send_keys(Keys.ARROW_UP, Keys.NULL)
    active(browser).send_keys(Keys.ARROW_UP)
    active(browser).send_keys(Keys.ARROW_UP)
    assert active(browser) == query(browser)
    query(browser).send_keys('storebusy', Keys.ENTER)
    assert is_open(browser, f'error={BUSY}')
    browser.get('about:blank')
    browser.get(page)
    browser.find_element(By.TAG_NAME, 'body').send_keys(Keys.TAB)
    assert active(browser).text == 'Skip to the map'


def test_a_link_leads_to_its_error_and_draws_it(browser: Chrome, page: str) -> None:
    browser.get('about:blank')
    browser.get(f'{page}#{ORDER}')
    assert is_open(browser, ORDER)
    drawing(browser, ORDER)
    assert 'load' in boxes(browser, ORDER)
    top: Any = script(
        browser, 'return document.getElementById(arguments[0]).getBoundingClientRect().top', ORDER
    )
    assert 0 <= top < 700


def test_a_seam_leads_to_its_errors_and_an_error_to_its_seams(browser: Chrome) -> None:
    opened(browser, 'seam=http')
    article(browser, 'seam=http').find_element(By.LINK_TEXT, 'NoSuchOrder').click()
    assert is_open(browser, ORDER)
    article(browser, ORDER).find_element(By.LINK_TEXT, 'http').click()
    assert browser.current_url.endswith('#seam=http')


def test_a_link_to_an_error_that_is_filtered_away_shows_it(browser: Chrome) -> None:
    query(browser).send_keys('busy')
    script(browser, 'location.hash = arguments[0]', ORDER)
    assert ORDER in shown(browser)
    assert is_open(browser, ORDER)


def test_a_link_that_leads_nowhere_breaks_nothing(browser: Chrome, page: str) -> None:
    browser.get('about:blank')
    browser.get(f'{page}#%E0%A4%A')
    assert len(shown(browser)) == 4


def test_everything_has_a_name_for_those_who_do_not_see_it(browser: Chrome) -> None:
    opened(browser, ORDER)
    assert (
        article(browser, ORDER)
        .find_element(By.TAG_NAME, 'svg')
        .accessible_name.startswith('The ways of NoSuchOrder')
    )
    assert query(browser).accessible_name.startswith('Search errors')
    for one in browser.find_elements(By.CSS_SELECTOR, 'a, summary, input, [tabindex="0"]'):
        assert not one.is_displayed() or one.accessible_name


def test_on_a_phone_nothing_is_wider_than_the_screen(browser: Chrome) -> None:
    width(browser, PHONE)
    script(browser, 'for (const one of document.querySelectorAll("details")) one.open = true')
    drawing(browser, ORDER)
    assert script(browser, 'return document.documentElement.scrollWidth') == PHONE


@pytest.mark.parametrize('name', ['light', 'dark'])
def test_texts_can_be_read_by_day_and_by_night(browser: Chrome, name: str) -> None:
    scheme(browser, name)
    script(browser, 'for (const one of document.querySelectorAll("details")) one.open = true')
    drawing(browser, ORDER)
    for selector in ('body', '.message', '.category', '.facts a', 'pre', 'input', '.drawing p'):
        assert contrast(browser, selector) >= 4.5, selector


def test_the_page_asks_for_nothing(browser: Chrome, page: str) -> None:
    opened(browser, ORDER)
    sent = [
        one['message']
        for one in log(browser, 'performance')
        if '"Network.requestWillBeSent"' in one['message']
    ]
    assert all(
        f'"url":"{page}' in one or '"url":"data:' in one or '"url":"about:blank' in one
        for one in sent
    )


def test_hostile_names_run_nothing(chromium: Chrome, tmp_path: Path) -> None:
    file = tmp_path / 'hostile.html'
    file.write_text(as_html(HOSTILE), encoding='utf-8')
    log(chromium, 'browser')
    chromium.get(file.as_uri())
    script(chromium, 'for (const one of document.querySelectorAll("details")) one.open = true')
    WebDriverWait(chromium, 10).until(lambda _: chromium.find_elements(By.TAG_NAME, 'svg'))
    assert len(chromium.find_elements(By.TAG_NAME, 'script')) == 2
    assert len(chromium.find_elements(By.CSS_SELECTOR, '.drawing g')) == 4
    assert log(chromium, 'browser') == []


def test_a_cycle_without_a_beginning_is_drawn(chromium: Chrome, tmp_path: Path) -> None:
    file = tmp_path / 'cycle.html'
    turns = (
        function('a.f', 1, called(2, 'a.g', 'E')),
        function('a.g', 3, called(4, 'a.f', 'E'), called(5, 'a.g', 'E')),
    )
    file.write_text(
        as_html(build_graph([FileFacts('a', 'a.py', functions=turns)])), encoding='utf-8'
    )
    chromium.get(f'{file.as_uri()}#error=E')
    drawing(chromium, 'error=E')
    assert set(boxes(chromium, 'error=E')) == {'f', 'g'}


def test_a_large_program_is_searched_and_drawn_in_part(chromium: Chrome, tmp_path: Path) -> None:
    file = tmp_path / 'large.html'
    chain = (
        function('a.f0', 1, made(2, 'a.E')),
        *(function(f'a.f{one}', 1, called(2, 'a.f0', 'a.E')) for one in range(1, 100)),
    )
    file.write_text(
        as_html(build_graph([FileFacts('a', 'a.py', functions=chain)])), encoding='utf-8'
    )
    chromium.get(f'{file.as_uri()}#error=a.E')
    drawing(chromium, 'error=a.E')
    assert len(boxes(chromium, 'error=a.E')) == 60
    assert (
        'Drawn are the 60 places on the shortest ways, of 100.'
        in article(chromium, 'error=a.E').text
    )
    file.write_text(as_html(large(5000)), encoding='utf-8')
    chromium.get(file.as_uri())
    query(chromium).send_keys('E42')
    assert shown(chromium) == ['error=app.E42']
    opened(chromium, 'error=app.E42')
    assert len(boxes(chromium, 'error=app.E42')) > 10


def test_without_scripts_every_error_is_there(chromium: Chrome, page: str) -> None:
    command(chromium, 'Emulation.setScriptExecutionDisabled', {'value': True})
    try:
        chromium.get(page)
        assert not chromium.find_element(By.ID, 'search').is_displayed()
        assert len(shown(chromium)) == 4
    finally:
        command(chromium, 'Emulation.setScriptExecutionDisabled', {'value': False})
