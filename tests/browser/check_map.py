"""Tests of the map page in headless Chromium.

The file name keeps them out of a default test run, which needs no browser.
"""

from collections.abc import Generator
from itertools import combinations
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
from seamwise.check.map.page import render_map_page
from tests.browser.check_page import (
    PHONE,
    chromium,
    contrast,
    luminance,
    read_log,
    run_command,
    run_script,
    search_field,
    set_color_scheme,
    set_width,
    visible_articles,
)
from tests.check.map.files import BUSY, NO_ORDER, SHOP, called, created, function
from tests.check.map.test_formats import HOSTILE, large

pytestmark = pytest.mark.slow

__all__ = ['chromium']

ORDER = f'error={NO_ORDER}'


@pytest.fixture(scope='module')
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    lost = function(
        'shop.web.forget', 40, called(41, 'shop.orders.order', NO_ORDER, lost=[NO_ORDER])
    )
    file = tmp_path_factory.mktemp('page') / 'map.html'
    file.write_text(
        render_map_page(
            build_graph([*SHOP, FileFacts('shop.web', 'shop/web.py', functions=(lost,))])
        ),
        encoding='utf-8',
    )
    return file.as_uri()


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


def article(driver: Chrome, id_: str) -> WebElement:
    return driver.find_element(By.CSS_SELECTOR, f'[id="{id_}"]')


def is_open(driver: Chrome, id_: str) -> bool:
    return (
        article(driver, id_).find_element(By.TAG_NAME, 'details').get_attribute('open') is not None
    )


def open_article(driver: Chrome, id_: str) -> None:
    """Click on an error or a seam."""
    article(driver, id_).find_element(By.TAG_NAME, 'summary').click()
    wait_for_drawing(driver, id_)


def wait_for_drawing(driver: Chrome, id_: str) -> None:
    """Wait for the drawing: the browser sends the toggle event asynchronously."""
    if id_.startswith('error='):
        WebDriverWait(driver, 10).until(
            lambda _: article(driver, id_).find_elements(By.TAG_NAME, 'svg')
        )


def box_classes(driver: Chrome, id_: str) -> dict[str, str]:
    """Return the CSS class of each box in the drawing by its title."""
    boxes = article(driver, id_).find_elements(By.CSS_SELECTOR, '.drawing g')
    return {
        box.find_element(By.TAG_NAME, 'text').text: box.get_attribute('class') or ''
        for box in boxes
    }


def active_element(driver: Chrome) -> WebElement:
    return driver.switch_to.active_element


def test_click_on_an_error_draws_its_paths(browser: Chrome) -> None:
    assert box_classes(browser, ORDER) == {}
    open_article(browser, ORDER)
    assert box_classes(browser, ORDER) == {
        'load': 'made', 'Memory.find': 'made', 'order': 'function', 'Store.find': 'function',
        'get': 'function', 'or_new': 'function', 'pay': 'function', 'forget': 'function',
        'http': 'seam',
    }  # fmt: skip
    kinds = [
        edge.get_attribute('class')
        for edge in article(browser, ORDER).find_elements(By.CSS_SELECTOR, 'svg > path')
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
    assert legend.startswith('Dashed, with a bar: handled. Dotted in red: lost')
    assert (
        '=> shown by http, shop/web.py:17'
        in article(browser, ORDER).find_element(By.TAG_NAME, 'pre').text
    )


def test_boxes_do_not_overlap_and_paths_go_to_the_right(browser: Chrome) -> None:
    open_article(browser, ORDER)
    rectangles: Any = run_script(
        browser,
        """
        const boxes = [...document.querySelectorAll('[open] .drawing rect')];
        return boxes.map((box) => box.getBoundingClientRect().toJSON());
        """,
    )
    for box, other_box in combinations(rectangles, 2):
        is_beside = box['right'] <= other_box['left'] or other_box['right'] <= box['left']
        is_above_or_below = box['bottom'] <= other_box['top'] or other_box['bottom'] <= box['top']
        assert is_beside or is_above_or_below
    names = [
        title.text
        for title in browser.find_elements(By.CSS_SELECTOR, '[open] .drawing g text:first-of-type')
    ]
    left = {name: box['left'] for name, box in zip(names, rectangles, strict=True)}
    assert left['load'] < left['order'] < left['get'] < left['http']


def test_external_function_has_a_box_of_its_class(browser: Chrome) -> None:
    open_article(browser, f'error={BUSY}')
    assert box_classes(browser, f'error={BUSY}')['driver.fetch'] == 'foreign'


def test_long_name_is_cut_in_its_box_and_complete_in_its_tooltip(
    chromium: Chrome, tmp_path: Path
) -> None:
    file = tmp_path / 'long.html'
    name = f'a.{"very_" * 20}long'
    file.write_text(
        render_map_page(
            build_graph([FileFacts('a', 'a.py', functions=(function(name, 1, created(2, 'E')),))])
        ),
        encoding='utf-8',
    )
    chromium.get(f'{file.as_uri()}#error=E')
    wait_for_drawing(chromium, 'error=E')
    (title,) = box_classes(chromium, 'error=E')
    assert (title[0], title[-4:], len(title)) == ('…', 'long', 44)
    assert (
        chromium.find_element(By.CSS_SELECTOR, 'g title').get_attribute('textContent')
        == f'{name}, a.py:1'
    )


def test_search_filters_by_name_tag_function_and_file(browser: Chrome) -> None:
    all_articles = visible_articles(browser)
    assert len(all_articles) == 4
    for word, matches in {
        'busy capacity': [f'error={BUSY}'],
        'Memory.find': [ORDER],
        'shop/store.py:31': [ORDER],
        'zzz': [],
    }.items():
        search_field(browser).clear()
        search_field(browser).send_keys(word)
        assert visible_articles(browser) == matches
        assert browser.find_element(By.ID, 'count').text == f'{len(matches)} of 3 errors'
    search_field(browser).send_keys(Keys.ESCAPE)
    assert visible_articles(browser) == all_articles


def test_keyboard_reaches_all_controls(browser: Chrome, page: str) -> None:
    browser.find_element(By.TAG_NAME, 'body').send_keys('/')
    assert active_element(browser) == search_field(browser)
    search_field(browser).send_keys(Keys.ARROW_DOWN)
    assert active_element(browser) == article(browser, 'seam=http').find_element(
        By.TAG_NAME, 'summary'
    )
    active_element(browser).send_keys(Keys.ARROW_DOWN)
    active_element(browser).send_keys(Keys.ARROW_DOWN)
    assert active_element(browser) == article(browser, ORDER).find_element(By.TAG_NAME, 'summary')
    active_element(browser).send_keys(Keys.ENTER)
    assert is_open(browser, ORDER)
    active_element(browser).send_keys(Keys.ARROW_UP, Keys.NULL)
    active_element(browser).send_keys(Keys.ARROW_UP)
    active_element(browser).send_keys(Keys.ARROW_UP)
    assert active_element(browser) == search_field(browser)
    search_field(browser).send_keys('storebusy', Keys.ENTER)
    assert is_open(browser, f'error={BUSY}')
    browser.get('about:blank')
    browser.get(page)
    browser.find_element(By.TAG_NAME, 'body').send_keys(Keys.TAB)
    assert active_element(browser).text == 'Skip to the map'


def test_link_opens_and_draws_its_error(browser: Chrome, page: str) -> None:
    browser.get('about:blank')
    browser.get(f'{page}#{ORDER}')
    assert is_open(browser, ORDER)
    wait_for_drawing(browser, ORDER)
    assert 'load' in box_classes(browser, ORDER)
    top: Any = run_script(
        browser, 'return document.getElementById(arguments[0]).getBoundingClientRect().top', ORDER
    )
    assert 0 <= top < 700


def test_seam_links_to_its_errors_and_error_to_its_seams(browser: Chrome) -> None:
    open_article(browser, 'seam=http')
    article(browser, 'seam=http').find_element(By.LINK_TEXT, 'NoSuchOrder').click()
    assert is_open(browser, ORDER)
    article(browser, ORDER).find_element(By.LINK_TEXT, 'http').click()
    assert browser.current_url.endswith('#seam=http')


def test_link_to_a_hidden_error_clears_the_filter(browser: Chrome) -> None:
    search_field(browser).send_keys('busy')
    run_script(browser, 'location.hash = arguments[0]', ORDER)
    assert ORDER in visible_articles(browser)
    assert is_open(browser, ORDER)


def test_invalid_link_is_ignored(browser: Chrome, page: str) -> None:
    browser.get('about:blank')
    browser.get(f'{page}#%E0%A4%A')
    assert len(visible_articles(browser)) == 4


def test_all_controls_have_an_accessible_name(browser: Chrome) -> None:
    open_article(browser, ORDER)
    assert (
        article(browser, ORDER)
        .find_element(By.TAG_NAME, 'svg')
        .accessible_name.startswith('Paths of NoSuchOrder')
    )
    assert search_field(browser).accessible_name.startswith('Search errors')
    for control in browser.find_elements(By.CSS_SELECTOR, 'a, summary, input, [tabindex="0"]'):
        assert not control.is_displayed() or control.accessible_name


def test_page_fits_the_width_of_a_phone(browser: Chrome) -> None:
    set_width(browser, PHONE)
    run_script(browser, 'for (const item of document.querySelectorAll("details")) item.open = true')
    wait_for_drawing(browser, ORDER)
    assert run_script(browser, 'return document.documentElement.scrollWidth') == PHONE


@pytest.mark.parametrize('name', ['light', 'dark'])
def test_text_has_sufficient_contrast(browser: Chrome, name: str) -> None:
    set_color_scheme(browser, name)
    run_script(browser, 'for (const item of document.querySelectorAll("details")) item.open = true')
    wait_for_drawing(browser, ORDER)
    for selector in ('body', '.message', '.category', '.facts a', 'pre', 'input', '.drawing p'):
        assert contrast(browser, selector) >= 4.5, selector


def test_page_loads_nothing(browser: Chrome, page: str) -> None:
    open_article(browser, ORDER)
    messages = [entry['message'] for entry in read_log(browser, 'performance')]
    requests = [message for message in messages if '"Network.requestWillBeSent"' in message]
    allowed = [f'"url":"{page}', '"url":"data:', '"url":"about:blank']
    assert all(any(url in request for url in allowed) for request in requests)


def test_hostile_names_run_no_script(chromium: Chrome, tmp_path: Path) -> None:
    file = tmp_path / 'hostile.html'
    file.write_text(render_map_page(HOSTILE), encoding='utf-8')
    read_log(chromium, 'browser')
    chromium.get(file.as_uri())
    run_script(
        chromium, 'for (const item of document.querySelectorAll("details")) item.open = true'
    )
    WebDriverWait(chromium, 10).until(lambda _: chromium.find_elements(By.TAG_NAME, 'svg'))
    assert len(chromium.find_elements(By.TAG_NAME, 'script')) == 2
    assert len(chromium.find_elements(By.CSS_SELECTOR, 'article .drawing g')) == 4
    assert read_log(chromium, 'browser') == []


def test_cycle_without_origin_is_drawn(chromium: Chrome, tmp_path: Path) -> None:
    file = tmp_path / 'cycle.html'
    functions = (
        function('a.f', 1, called(2, 'a.g', 'E')),
        function('a.g', 3, called(4, 'a.f', 'E'), called(5, 'a.g', 'E')),
    )
    file.write_text(
        render_map_page(build_graph([FileFacts('a', 'a.py', functions=functions)])),
        encoding='utf-8',
    )
    chromium.get(f'{file.as_uri()}#error=E')
    wait_for_drawing(chromium, 'error=E')
    assert set(box_classes(chromium, 'error=E')) == {'f', 'g'}


def test_large_program_is_searched_and_partly_drawn(chromium: Chrome, tmp_path: Path) -> None:
    file = tmp_path / 'large.html'
    chain = (
        function('a.f0', 1, created(2, 'a.E')),
        *(function(f'a.f{number}', 1, called(2, 'a.f0', 'a.E')) for number in range(1, 100)),
    )
    file.write_text(
        render_map_page(build_graph([FileFacts('a', 'a.py', functions=chain)])), encoding='utf-8'
    )
    chromium.get(f'{file.as_uri()}#error=a.E')
    wait_for_drawing(chromium, 'error=a.E')
    assert len(box_classes(chromium, 'error=a.E')) == 60
    assert (
        'The drawing shows the 60 nodes on the shortest paths, of 100.'
        in article(chromium, 'error=a.E').text
    )
    file.write_text(render_map_page(large(5000)), encoding='utf-8')
    chromium.get(file.as_uri())
    search_field(chromium).send_keys('E42')
    assert visible_articles(chromium) == ['error=app.E42']
    open_article(chromium, 'error=app.E42')
    assert len(box_classes(chromium, 'error=app.E42')) > 10


def test_page_lists_all_errors_without_scripts(chromium: Chrome, page: str) -> None:
    run_command(chromium, 'Emulation.setScriptExecutionDisabled', {'value': True})
    try:
        chromium.get(page)
        assert not chromium.find_element(By.ID, 'search').is_displayed()
        assert len(visible_articles(chromium)) == 4
    finally:
        run_command(chromium, 'Emulation.setScriptExecutionDisabled', {'value': False})


def picture(driver: Chrome) -> WebElement:
    return driver.find_element(By.CSS_SELECTOR, '#picture .drawing')


def legend_button(driver: Chrome, error: str) -> WebElement:
    return driver.find_element(By.CSS_SELECTOR, f'.legend button[data-error="{error}"]')


def bright_lines(driver: Chrome) -> set[str]:
    """Return the errors of the lines of the picture that are not dimmed."""
    lines = picture(driver).find_elements(By.CSS_SELECTOR, 'path[data-error]:not(.dim)')
    return {line.get_attribute('data-error') or '' for line in lines}


def bounds(driver: Chrome, element: WebElement) -> dict[str, float]:
    rectangle: dict[str, float] = run_script(
        driver, 'return arguments[0].getBoundingClientRect().toJSON()', element
    )
    return rectangle


def width_of_picture(driver: Chrome) -> float:
    return bounds(driver, picture(driver).find_element(By.TAG_NAME, 'svg'))['width']


def test_the_page_begins_with_a_picture_of_all_errors(browser: Chrome) -> None:
    assert browser.find_element(By.CSS_SELECTOR, 'main h2').text == 'The whole program'
    assert bright_lines(browser) == {NO_ORDER, BUSY}
    titles = {
        box.find_element(By.TAG_NAME, 'text').text: bounds(browser, box)['x']
        for box in picture(browser).find_elements(By.CSS_SELECTOR, 'g[data-node]')
    }
    assert titles['load'] < titles['order'] < titles['get'] < titles['http']


def test_a_click_follows_an_error_and_a_second_one_shows_all(browser: Chrome) -> None:
    button = legend_button(browser, NO_ORDER)
    button.click()
    assert bright_lines(browser) == {NO_ORDER}
    assert button.get_attribute('aria-pressed') == 'true'
    button.click()
    assert bright_lines(browser) == {NO_ORDER, BUSY}


def test_the_picture_can_be_zoomed_and_fills_the_window(browser: Chrome) -> None:
    before = width_of_picture(browser)
    tools = picture(browser).find_elements(By.CSS_SELECTOR, '.tools button')
    tools[0].click()
    assert width_of_picture(browser) == pytest.approx(before * 1.25, rel=0.01)
    tools[1].click()
    assert width_of_picture(browser) == pytest.approx(before, rel=0.01)
    tools[3].click()
    assert bounds(browser, picture(browser))['width'] == pytest.approx(1000, abs=16)
    active_element(browser).send_keys(Keys.ESCAPE)
    assert bounds(browser, picture(browser))['width'] < 1000 - 16
    assert active_element(browser).text == 'Full pane'


def test_an_error_view_has_the_same_tools(browser: Chrome) -> None:
    open_article(browser, ORDER)
    tools = article(browser, ORDER).find_elements(By.CSS_SELECTOR, '.tools button')
    assert [tool.text for tool in tools] == ['+', '\u2212', 'Fit', 'Full pane']


@pytest.mark.parametrize('scheme', ['light', 'dark'])
def test_lines_stand_out_from_the_background(browser: Chrome, scheme: str) -> None:
    set_color_scheme(browser, scheme)
    colors: list[str] = run_script(
        browser,
        """
        return [...document.querySelectorAll('#picture path[data-error]')]
            .map((line) => getComputedStyle(line).stroke)
        """,
    )
    background: str = run_script(browser, 'return getComputedStyle(document.body).backgroundColor')
    for color in colors:
        low, high = sorted([luminance(color), luminance(background)])
        assert (high + 0.05) / (low + 0.05) >= 3  # WCAG 2.2, 1.4.11
