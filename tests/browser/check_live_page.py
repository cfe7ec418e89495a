"""Tests of the page of `seamwise serve` in headless Chromium, against the real program.

The file name keeps them out of a default test run, which needs no browser.
"""

import json
import re
import shutil
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest
from selenium.common.exceptions import StaleElementReferenceException
from selenium.webdriver import Chrome
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import Select
from selenium.webdriver.support.wait import WebDriverWait

from tests.browser.check_page import (
    PHONE,
    chromium,
    contrast,
    read_log,
    run_command,
    run_script,
    set_color_scheme,
    set_width,
)
from tests.ports import free_port
from tests.program.servers import RunningServer, served

pytestmark = pytest.mark.slow

__all__ = ['chromium']

WORKSPACE: Final = Path(__file__).parents[2] / 'examples' / 'workspace'

WAIT: Final = 30.0
"""Upper bound of every wait, in seconds."""

SEAMS: Final = ['cli', 'http', 'session', 'model', 'planner', 'jsonrpc', 'log', 'telemetry']


class LivePage:
    """The page in one tab of the browser."""

    def __init__(self, driver: Chrome) -> None:
        self.driver = driver

    def open(self, url: str, token: str) -> None:
        """Load the page with its token."""
        self.driver.get(f'{url}#{token}')
        self.wait_for_state('connected')

    def script(self, code: str, *arguments: object) -> Any:
        return run_script(self.driver, code, *arguments)

    def find(self, selector: str) -> WebElement:
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def text(self, selector: str) -> str:
        return self.texts(selector)[0]

    def texts(self, selector: str) -> list[str]:
        """Return the visible text of each element, as of one moment: the page replaces elements."""
        texts: list[str] = self.script(
            'return [...document.querySelectorAll(arguments[0])].map('
            '(item) => item.checkVisibility() ? item.innerText.trim() : "")',
            selector,
        )
        return texts

    def count(self, selector: str) -> int:
        return len(self.driver.find_elements(By.CSS_SELECTOR, selector))

    def wait(self, condition: Callable[[], object]) -> None:
        # The page may replace an element between two commands.
        ignored = [StaleElementReferenceException]
        waiting = WebDriverWait(self.driver, WAIT, poll_frequency=0.05, ignored_exceptions=ignored)
        waiting.until(lambda _: condition())

    def wait_for_state(self, name: str) -> None:
        self.wait(lambda: self.find('#state').get_attribute('data-state') == name)

    def choose(self, example: str) -> None:
        self.wait(lambda: self.count(f'#example option[value="{example}"]'))
        Select(self.find('#example')).select_by_value(example)

    def start(self, example: str) -> None:
        """Run an example, and return at once."""
        self.choose(example)
        self.find('#run').click()
        self.wait(lambda: self.count('.lane'))

    def run(self, example: str) -> None:
        """Run an example, and wait for its end."""
        self.choose(example)
        self.press_run()

    def run_output(self, output: object) -> None:
        """Run the calls in an output of the caller's own, and wait for their end."""
        self.enter(output)
        self.press_run()

    def enter(self, output: object) -> None:
        text = output if isinstance(output, str) else json.dumps(output)
        # The driver would need minutes to type a long text.
        self.script(
            'const field = document.getElementById("output"); field.value = arguments[0];'
            'field.dispatchEvent(new Event("input", {bubbles: true}))',
            text,
        )

    def press_run(self) -> None:
        last = self.last_number()
        self.find('#run').click()
        self.wait(lambda: self.last_number() > last and not self.is_busy())

    def is_busy(self) -> bool:
        busy: bool = self.script(
            'const run = document.getElementById("run");'
            'return run.disabled || run.getAttribute("aria-disabled") === "true"'
        )
        return busy

    def numbers(self) -> list[int]:
        """Return the numbers of the events in the list."""
        numbers: list[int] = self.script(
            'return [...document.querySelectorAll("#events .event")].map((row) => +row.dataset.seq)'
        )
        return numbers

    def last_number(self) -> int:
        return max(self.numbers(), default=0)

    def facts(self) -> dict[str, str]:
        """Return the fact of each seam."""
        return {
            seam: str(self.find(f'[data-seam="{seam}"] .fact').get_attribute('textContent'))
            for seam in SEAMS
        }

    def body(self, seam: str) -> str:
        return str(self.find(f'[data-seam="{seam}"] pre').get_attribute('textContent'))

    def segments(self, lane: int = 0) -> list[str]:
        """Return the kinds of the segments of a lane. A busy machine lets any call wait first."""
        kinds: list[str] = self.script(
            'const lane = document.querySelectorAll(".lane")[arguments[0]];'
            'return [...lane.querySelectorAll(".segment")].map((item) => item.classList[1])',
            lane,
        )
        return [kind for kind in kinds if kind != 'queue']

    def has_waited(self, lane: int) -> bool:
        """Return whether a lane begins with the time in the queue."""
        return self.count(f'.lane:nth-of-type({lane + 1}) .segment.queue') > 0

    def marks(self) -> list[str]:
        return self.texts('#events .mark')

    def change_language(self, locale: str) -> None:
        Select(self.find('#language')).select_by_value(locale)
        self.wait_for_state('connected')


@pytest.fixture(scope='module')
def server(tmp_path_factory: pytest.TempPathFactory) -> Generator[RunningServer]:
    folder = tmp_path_factory.mktemp('live') / 'workspace'
    shutil.copytree(WORKSPACE, folder)
    with served(folder) as running:
        yield running


@contextmanager
def new_tab(driver: Chrome) -> Generator[LivePage]:
    """Open a tab, which has a storage of its own, and close it at the end."""
    before = driver.current_window_handle
    driver.switch_to.new_window('tab')
    set_width(driver, 1280)
    set_color_scheme(driver, 'light')
    read_log(driver, 'browser')
    read_log(driver, 'performance')
    try:
        yield LivePage(driver)
    finally:
        driver.close()
        driver.switch_to.window(before)


@pytest.fixture
def page(chromium: Chrome, server: RunningServer) -> Generator[LivePage]:
    """Load the page; at the end, the console must be empty."""
    with new_tab(chromium) as opened:
        opened.open(server.url, server.token)
        opened.script('localStorage.clear()')
        yield opened
        assert read_log(chromium, 'browser') == []


# A call and its error.


def test_the_error_of_an_example_is_shown_at_every_seam(page: LivePage) -> None:
    page.run('missing')
    assert page.facts() == {
        'cli': 'exit 66',
        'http': '404',
        'session': 'error.correctable',
        'model': 'file_operation_error',
        'planner': 'TOOL_EXECUTION_FAILED',
        'jsonrpc': 'isError',
        'log': 'error',
        'telemetry': 'FileNotFound',
    }
    assert page.text('#failure code') == 'FileNotFound'
    assert page.body('http').startswith('HTTP/1.1 404')
    for seam in SEAMS:
        assert 'notes/plan.md' in page.body(seam) or seam == 'telemetry'
    assert page.text('#summary') == 'The call failed'


def test_an_example_is_shown_until_the_first_call(page: LivePage) -> None:
    assert page.text('#failure').startswith('Example')
    assert page.facts()['http'] == '404'
    assert page.count('.ghost') == 0
    page.run('bug')
    assert not page.text('#failure').startswith('Example')
    assert page.count('.is-example') == 0


@pytest.mark.parametrize(
    ('example', 'error_type', 'code'),
    [
        ('argument', 'InvalidParameter', '400'),
        ('outside', 'PathForbidden', '403'),
        ('unknown', 'UnknownTool', '404'),
        ('command', 'CommandFailed', '422'),
        ('unreadable', 'UnreadableCall', '400'),
        ('bug', 'INTERNAL', '500'),
    ],
)
def test_each_example_fails_as_it_says(
    page: LivePage, example: str, error_type: str, code: str
) -> None:
    page.run(example)
    assert page.text('#failure code') == error_type
    assert page.facts()['http'] == code
    assert all(page.body(seam) for seam in SEAMS)


def test_a_call_of_ones_own_runs(page: LivePage) -> None:
    page.run_output({'tool': 'read_file', 'arguments': {'path': 'notes.txt'}})
    assert page.text('#summary') == 'The call succeeded'
    assert 'Written by the examples' in page.body('cli')
    assert Select(page.find('#example')).first_selected_option.text == 'A call of your own'


def test_a_call_can_be_chosen_to_see_its_error(page: LivePage) -> None:
    page.run_output([{'tool': 'read_file', 'arguments': {'path': name}} for name in 'ab'])
    assert page.text('#summary') == '2 of 2 calls failed'
    for index, name in enumerate('ab'):
        page.driver.find_elements(By.CSS_SELECTOR, '.lane')[index].click()
        assert f"'{name}' does not exist" in page.body('cli')
        assert page.text('.lane[aria-pressed="true"] .preview') == name


# Guards.


def test_attempts_and_waits_are_drawn(page: LivePage) -> None:
    page.run('flaky')
    assert page.segments() == ['failed', 'wait', 'failed', 'wait', 'ok']
    assert '3 attempts' in page.text('.lane .note')
    assert page.count('#axis span') >= 2


def test_a_circuit_opens_refuses_and_closes_again(page: LivePage) -> None:
    page.run('down')
    assert page.segments(0) == ['failed', 'wait', 'failed', 'wait', 'failed']
    assert page.segments(1) == ['failed', 'wait', 'failed', 'wait', 'failed']
    assert page.segments(2) == ['refused']
    assert page.has_waited(1)
    assert page.has_waited(2)
    assert page.text('#circuits .chip') == 'open'
    assert re.search(r'a probe in \d s', page.text('#circuits'))
    assert 'CircuitOpen' in page.texts('.lane .note')[2]
    page.wait(lambda: 'the next call is a probe' in page.text('#circuits'))
    page.run('back')
    assert page.text('#circuits .chip') == 'closed'
    assert page.text('#summary') == 'The call succeeded'


def test_a_tool_that_never_ends_is_stopped(page: LivePage) -> None:
    page.enter({'tool': 'execute_command', 'arguments': {'command': 'sleep 1000'}})
    page.find('#run').click()
    page.wait(lambda: page.segments() == ['running'] if page.count('.lane') else False)
    assert page.is_busy()
    page.find('#stop').click()
    page.wait(lambda: not page.is_busy())
    assert page.text('#failure code') == 'ToolCancelled'
    assert page.segments() == ['failed']


# The connection.


def test_a_cut_connection_resumes_and_nothing_is_lost(page: LivePage) -> None:
    page.run('missing')
    page.choose('flaky')
    # In the browser: the driver would be too late on a busy machine.
    page.script(
        'document.getElementById("run").click();'
        'setTimeout(() => document.getElementById("disconnect").click(), 100)'
    )
    page.wait(lambda: len(page.marks()) == 1)
    assert page.text('#disconnect') == 'Reconnect now'
    assert re.fullmatch(r'Connection cut after event \d+', page.marks()[0])
    assert 'resumes in' in page.text('#state')
    # By itself.
    page.wait_for_state('connected')
    page.wait(lambda: not page.is_busy())
    _, mark = page.marks()
    missed = int(re.findall(r'Resumed: (\d+) missed events replayed, none lost', mark)[0])
    assert page.numbers() == [*range(1, page.last_number() + 1)]
    assert page.count('#events .is-replayed') == missed >= 1
    assert page.segments()[-1] == 'ok'


def test_the_button_resumes_at_once(page: LivePage) -> None:
    page.find('#disconnect').click()
    page.find('#disconnect').click()
    page.wait_for_state('connected')
    assert page.marks()[-1] == 'Resumed: nothing was missed'


def test_a_reload_in_the_middle_shows_the_same_session(page: LivePage) -> None:
    page.start('flaky')
    page.driver.refresh()
    page.wait_for_state('connected')
    page.wait(lambda: page.count('.lane') and not page.is_busy())
    assert page.segments() == ['failed', 'wait', 'failed', 'wait', 'ok']
    assert page.numbers() == [*range(1, page.last_number() + 1)]
    assert page.count('#events .is-replayed') == 0


def test_a_copy_of_the_tab_takes_over_and_gives_back(page: LivePage) -> None:
    page.run('missing')
    first = page.driver.current_window_handle
    page.script('window.open(location.href)')
    page.wait(lambda: page.find('#state').get_attribute('data-state') == 'replaced')
    assert page.text('#state-text') == 'Open in another tab'
    [copy] = {*page.driver.window_handles} - {first, page.driver.window_handles[0]}
    page.driver.switch_to.window(copy)
    page.wait_for_state('connected')
    page.wait(lambda: page.numbers() == [1, 2, 3, 4])
    page.driver.close()
    page.driver.switch_to.window(first)
    page.find('#disconnect').click()
    page.wait_for_state('connected')
    page.run('list')
    assert page.numbers() == [*range(1, 8)]


def test_two_tabs_have_sessions_of_their_own(page: LivePage, server: RunningServer) -> None:
    page.run('missing')
    with new_tab(page.driver) as other:
        other.open(server.url, server.token)
        assert other.numbers() == []
        other.run('list')
    assert page.numbers() == [1, 2, 3, 4]
    assert page.find('#state').get_attribute('data-state') == 'connected'


def test_a_server_that_starts_again_is_found(chromium: Chrome, tmp_path: Path) -> None:
    shutil.copytree(WORKSPACE, folder := tmp_path / 'workspace')
    token = tmp_path / 'token'
    token.write_text('a-token-of-these-tests')
    token.chmod(0o600)
    port = free_port()
    options: Sequence[str | Path] = ('--token-file', token, '--port', str(port))
    with new_tab(chromium) as page:
        with served(folder, *options) as server:
            page.open(server.url, token.read_text())
            page.run('missing')
            assert server.stop() == 0
            page.wait_for_state('lost')
        with served(folder, *options):
            page.wait_for_state('connected')
            page.wait(page.marks)
            assert page.marks() == ['The server has begun a new session']
            page.run('list')
            assert page.numbers() == [1, 2, 3]
        read_log(chromium, 'browser')


# Hostile and large contents.


def test_texts_of_a_call_are_never_markup(page: LivePage) -> None:
    name = '<img src=x onerror="document.title=1">'
    page.run_output({'tool': name, 'arguments': {'<b>': '</script><script>document.title=1'}})
    assert page.text('#failure code') == 'UnknownTool'
    assert page.count('main img, main b.x, main script') == 0
    assert page.driver.title == 'Seamwise'
    assert name in page.body('cli')


def test_unicode_and_long_values_keep_the_layout(page: LivePage) -> None:
    path = '文件/😀\u202eß' + '长' * 1000
    page.run_output({'tool': 'read_file', 'arguments': {'path': path + 'x' * 100_000}})
    assert page.text('#failure code') == 'InvalidParameter'
    assert page.script('return document.documentElement.scrollWidth <= innerWidth')


def test_an_error_with_ten_thousand_items_is_cut(page: LivePage) -> None:
    page.run_output({'tool': 'read_file', 'arguments': {f'item_{n}': n for n in range(10_000)}})
    assert page.text('#failure code') == 'MissingParameter'
    assert re.search(r'… [\d,]+ bytes in all', page.body('log'))
    assert page.script('return document.querySelectorAll("*").length') < 5_000


def test_a_hundred_calls_run_and_one_more_is_refused(page: LivePage) -> None:
    calls: list[dict[str, object]] = [{'tool': 'list_files', 'arguments': {}}] * 101
    page.run_output(calls[1:])
    assert page.text('#summary') == 'All 100 calls succeeded'
    page.run_output(calls)
    assert page.text('#failure code') == 'SchemaViolations'


def test_an_output_that_is_too_long_is_not_sent(page: LivePage) -> None:
    page.enter('x' * 500_000)
    page.find('#run').click()
    assert page.text('#run-problem') == 'The output has 489 KiB; at most 400 KiB can be sent.'
    assert page.numbers() == []


# Metrics.


def test_the_five_metrics_are_drawn(page: LivePage) -> None:
    page.run('flaky')
    page.run('slow')
    page.wait(lambda: page.count('.metric .bars') == 2)
    assert page.texts('.metric figcaption') == [
        'Error rate by type',
        'Retry success rate',
        'Time to recovery',
        'Unrecoverable errors a session',
        'Commonest error paths',
    ]
    assert page.count('.metric svg') >= 5
    assert 'no data yet' not in page.text('#metric-grid')
    assert '→' in page.text('.metric:last-child')


# Access.


def test_the_token_is_in_no_address(chromium: Chrome, server: RunningServer) -> None:
    with new_tab(chromium) as page:
        page.open(server.url, server.token)
        page.run('missing')
        assert page.driver.current_url == server.url
        assert page.script('return history.length') <= 2
        entries = [
            json.loads(entry['message'])['message'] for entry in read_log(chromium, 'performance')
        ]
        requests = [item for item in entries if item['method'] == 'Network.requestWillBeSent']
        sockets = [item for item in entries if item['method'] == 'Network.webSocketCreated']
        urls = {item['params']['request']['url'] for item in requests}
        urls |= {item['params']['url'] for item in sockets}
        assert sockets
        assert not any(server.token in url.partition('#')[0] for url in urls)
        # Nothing of another server is used.
        host = f'127.0.0.1:{server.port}/'
        assert {url.partition('//')[2][: len(host)] for url in urls if '//' in url} == {host}


def test_nothing_is_shown_without_the_token(chromium: Chrome, server: RunningServer) -> None:
    with new_tab(chromium) as page:
        chromium.get(server.url)
        page.wait(lambda: page.find('#token-card').is_displayed())
        assert not page.find('main').is_displayed()
        assert not page.find('#disconnect').is_displayed()
        assert page.driver.switch_to.active_element == page.find('#token')
        page.find('#token').send_keys('wrong', Keys.ENTER)
        page.wait(lambda: page.text('#token-error'))
        assert page.text('#token-error') == 'The server does not know this token.'
        page.find('#token').clear()
        page.find('#token').send_keys(server.token, Keys.ENTER)
        page.wait_for_state('connected')
        assert page.find('main').is_displayed()
        page.driver.refresh()
        page.wait_for_state('connected')
        # The refused token.
        [entry] = read_log(chromium, 'browser')
        assert '401' in entry['message']


def test_the_page_says_that_it_needs_scripts(chromium: Chrome, server: RunningServer) -> None:
    with new_tab(chromium) as page:
        run_command(chromium, 'Emulation.setScriptExecutionDisabled', {'value': True})
        try:
            chromium.get(server.url)
            assert 'needs JavaScript' in page.text('noscript')
        finally:
            run_command(chromium, 'Emulation.setScriptExecutionDisabled', {'value': False})


# Languages, themes, sizes.


def test_the_page_speaks_chinese(page: LivePage) -> None:
    page.run('missing')
    page.change_language('zh_CN')
    page.wait(lambda: page.last_number() == 4)
    assert page.find('html').get_attribute('lang') == 'zh-Hans'
    assert page.text('#run') == '运行'
    assert page.text('#disconnect') == '断开连接'
    assert page.text('#summary') == '调用失败'
    assert '不存在' in page.text('#events')
    assert '不存在' in page.body('session')
    visible: str = page.script(
        'return [...document.querySelectorAll("[data-text], #summary, figcaption, #state-text")]'
        '.map((item) => item.textContent).join("\\n")'
    )
    english = set(re.findall(r'[A-Za-z]{2,}', visible))
    assert english <= {'OpenAI', 'Anthropic', 'MCP', 'XML'}
    page.driver.refresh()
    page.wait_for_state('connected')
    assert page.text('#run') == '运行'
    page.change_language('en')


def test_a_change_of_the_language_keeps_the_events(page: LivePage) -> None:
    page.run('flaky')
    before = page.numbers()
    page.change_language('zh_CN')
    page.wait(lambda: page.numbers() == before)
    assert page.segments() == ['failed', 'wait', 'failed', 'wait', 'ok']
    assert page.marks() == []
    page.change_language('en')


@pytest.mark.parametrize('theme', ['light', 'dark'])
def test_texts_have_sufficient_contrast(page: LivePage, theme: str) -> None:
    set_color_scheme(page.driver, theme)
    page.run('flaky')
    page.run('missing')
    page.find('#disconnect').click()
    for selector in (
        *('body', 'h1', '#run', '#disconnect', '#state-text', '#position', '.help', 'label'),
        *('textarea', '#summary', '.lane .note', '.lane .note b', '.preview', '.axis', '.legend'),
        *('.event .seq', '.event .at', '.event .show', '.is-error .name', '.is-ok .name'),
        *('.is-guard .name', '.mark', '.failure', '.failure code', '.chip', '.seam .for'),
        *('.fact', '.k', '.s', '.n', 'pre', '.metric figcaption', '.metric dd', '.circuits li'),
    ):
        assert contrast(page.driver, selector) >= 4.5, selector
    page.find('#disconnect').click()
    page.wait_for_state('connected')


def test_the_theme_is_that_of_the_system(page: LivePage) -> None:
    background = 'return getComputedStyle(document.body).backgroundColor'
    light: str = page.script(background)
    set_color_scheme(page.driver, 'dark')
    dark: str = page.script(background)
    assert [int(color.partition('(')[2].partition(',')[0]) > 127 for color in (light, dark)] == [
        True,
        False,
    ]


@pytest.mark.parametrize('locale', ['en', 'zh_CN'])
@pytest.mark.parametrize(
    'width',
    [320, *(pytest.param(width, marks=pytest.mark.nightly) for width in (PHONE, 700, 1280, 2560))],
)
def test_the_page_fits_its_window(page: LivePage, width: int, locale: str) -> None:
    page.run('flaky')
    page.run('missing')
    set_width(page.driver, width)
    page.change_language(locale)
    page.wait(lambda: page.count('.metric .bars'))
    wide: list[str] = page.script(
        """
        const isOutside = (item) => {
          const { left, right } = item.getBoundingClientRect();
          return right > innerWidth + 1 || left < -1;
        };
        return [...document.querySelectorAll("body *:not(.hidden, .hidden *, .skip)")]
          .filter(isOutside).map((item) => item.outerHTML.slice(0, 80));
        """
    )
    assert wide == []
    assert page.script('return document.documentElement.scrollWidth <= innerWidth')
    page.change_language('en')


_RECORD_FRAMES: Final = """
    globalThis.frames_ = new Set();
    const record = () => {
      const run = document.getElementById("run");
      const visible = run?.checkVisibility({ visibilityProperty: true }) ? run.innerText : "";
      const root = document.documentElement;
      // Without a color of its own, a document is painted in that of its scheme.
      const color = document.body && document.styleSheets.length
        ? getComputedStyle(document.body).backgroundColor : "";
      if (root) frames_.add(JSON.stringify([color, visible]));
      requestAnimationFrame(record);
    };
    requestAnimationFrame(record);
"""


@pytest.mark.parametrize('theme', ['light', 'dark'])
def test_no_frame_shows_another_theme_or_language(page: LivePage, theme: str) -> None:
    page.change_language('zh_CN')
    set_color_scheme(page.driver, theme)
    run_command(page.driver, 'Page.enable', {})
    run_command(page.driver, 'Page.addScriptToEvaluateOnNewDocument', {'source': _RECORD_FRAMES})
    page.driver.refresh()
    page.wait_for_state('connected')
    final: str = page.script('return getComputedStyle(document.body).backgroundColor')
    frames: list[str] = page.script('return [...frames_]')
    seen = {tuple(json.loads(frame)) for frame in frames}
    assert (final, '运行') in seen
    assert seen <= {(final, '运行'), (final, ''), ('', '')}
    page.change_language('en')


# Keyboard and screen readers.


def focused(page: LivePage) -> str:
    return page.driver.switch_to.active_element.get_attribute('id') or ''


def test_all_controls_are_reached_with_the_keyboard(page: LivePage) -> None:
    page.run('missing')
    page.driver.refresh()
    page.wait(lambda: page.count('.lane[aria-pressed="true"]'))
    reached: list[str] = []
    for _ in range(9):
        ActionChains(page.driver).send_keys(Keys.TAB).perform()
        active = page.driver.switch_to.active_element
        reached.append(active.get_attribute('id') or str(active.get_attribute('class')))
        outline: str = page.script('return getComputedStyle(document.activeElement).outlineStyle')
        assert outline != 'none', reached
    assert reached == [
        *('skip', 'disconnect', 'language', 'example', 'output', 'run', 'lane', 'events'),
        reached[-1],
    ]


def test_a_call_runs_with_the_keyboard_alone(page: LivePage) -> None:
    page.find('#output').send_keys(Keys.CONTROL, Keys.ENTER)
    page.wait(lambda: page.last_number() == 4)
    assert focused(page) == 'output'
    page.find('#run').send_keys(Keys.ENTER)
    page.wait(lambda: page.last_number() == 8)
    assert focused(page) == 'run'


def test_the_skip_link_leads_to_the_call(page: LivePage) -> None:
    page.find('.skip').send_keys(Keys.ENTER)
    assert focused(page) == 'main'
    assert page.find('#state').get_attribute('data-state') == 'connected'


def test_every_control_has_an_accessible_name(page: LivePage) -> None:
    page.run('missing')
    controls = page.driver.find_elements(
        By.CSS_SELECTOR, 'button, select, textarea, input, [tabindex="0"], section, article'
    )
    names = [item.accessible_name for item in controls if item.is_displayed()]
    assert all(names)
    assert {'Run', 'Example', 'Disconnect', 'Language', 'Stop', 'Output of a model'} <= {*names}
    assert len(
        {*page.script('return [...document.querySelectorAll("[id]")].map((x) => x.id)')}
    ) == (page.count('[id]'))


def test_the_result_of_a_call_is_announced(page: LivePage) -> None:
    page.run('missing')
    page.wait(lambda: 'read_file failed: FileNotFound.' in str(announced(page)))
    page.find('#disconnect').click()
    page.wait(lambda: 'Connection cut after event 4' in str(announced(page)))
    page.find('#disconnect').click()
    page.wait(lambda: 'Resumed: nothing was missed' in str(announced(page)))
    assert page.find('#announcer').get_attribute('aria-live') == 'polite'


def announced(page: LivePage) -> str | None:
    return page.find('#announcer').get_attribute('textContent')


def accessibility_tree(driver: Chrome) -> list[tuple[str, str]]:
    """Return the role and the name of each node that a screen reader reads, in its order."""
    nodes: list[dict[str, Any]] = run_command(driver, 'Accessibility.getFullAXTree', {})['nodes']
    by_id = {node['nodeId']: node for node in nodes}
    tree: list[tuple[str, str]] = []
    waiting = [nodes[0]]
    while waiting:
        node = waiting.pop()
        if not node['ignored']:
            tree.append((node['role']['value'], node.get('name', {}).get('value', '')))
        waiting += [by_id[child] for child in reversed(node['childIds']) if child in by_id]
    return tree


def test_a_screen_reader_reads_the_page_in_order(page: LivePage) -> None:
    page.run('flaky')
    run_command(page.driver, 'Accessibility.enable', {})
    tree = accessibility_tree(page.driver)
    outline = [
        *(('heading', 'Seamwise'), ('button', 'Disconnect'), ('combobox', 'Language')),
        *(('main', ''), ('region', 'Run a call'), ('combobox', 'Example')),
        *(('textbox', 'Output of a model'), ('button', 'Run'), ('button', 'Stop')),
        *(('region', 'What happened'), ('StaticText', 'The call succeeded')),
        *(('heading', 'Circuits'), ('region', 'Session events'), ('list', 'Session events')),
        *(('region', 'At every seam'), ('region', 'Metrics of this server')),
        *(('figure', 'Retry success rate'), ('status', '')),
    ]
    positions = [tree.index(node) for node in outline]
    assert positions == sorted(positions)
    # What is drawn is also said: the lane of the call, and its events without the colors.
    names = [name for role, name in tree if role == 'button' and name.startswith('demo_service')]
    assert re.fullmatch(
        r'demo_service Oslo, 2 succeeded · 3 attempts · waited \S+ m?s · \S+ m?s', names[0]
    )
    texts = [name for role, name in tree if role == 'StaticText']
    assert texts.count('error.transient') == 2
    assert {'Attempt 2 of 3 failed; the next one begins in 1 s.'} <= {*texts}
    roles = {role for role, _ in tree}
    assert roles & {'img', 'image', 'graphics-document', 'SvgRoot'} == set()


def test_motion_is_reduced_on_request(page: LivePage) -> None:
    run_command(
        page.driver,
        'Emulation.setEmulatedMedia',
        {'features': [{'name': 'prefers-reduced-motion', 'value': 'reduce'}]},
    )
    page.start('slow')
    page.wait(lambda: 'running' in page.segments())
    assert page.script('return document.getAnimations().length') == 0
    page.find('#stop').click()
    page.wait(lambda: not page.is_busy())
