"""Tests of the playground of the documentation site in headless Chromium.

They build the site, which takes minutes; `.ci/nightly` runs them. A failure of one that loads
hostile links shows what a reader would have been exposed to.
"""

import base64
import json
import os
import re
import time
import zlib
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select
from selenium.webdriver.support.wait import WebDriverWait
from tools.documentation.try_it import fragment_of

from tests.browser.check_page import (
    open_chromium,
    read_log,
    run_command,
    run_script,
    set_color_scheme,
    set_width,
)
from tests.browser.check_site import LOW_CONTRAST, VIOLATIONS
from tests.documentation.playground_examples import EXAMPLES, Example

pytestmark = pytest.mark.nightly

ROOT: Final = Path(__file__).parents[2]

WAIT: Final = 120.0
"""Upper bound of every wait, in seconds: two workers load on a busy machine."""

PHONE_WIDTH: Final = 390

TRY_IT: Final = re.compile(r'class="try-it[^>]*><a href="[^"#]*(#code=[\w-]+)"')

ARM: Final = (
    "                case AlreadyLent(reader):\n                    return f'{reader} has it.'\n"
)


class Playground:
    """The page in a tab of its own."""

    def __init__(self, driver: Chrome, address: str) -> None:
        self.driver = driver
        self.url = f'{address}/playground/'

    def open(self, fragment: str = '') -> None:
        self.driver.get('about:blank')
        self.driver.get(f'{self.url}{fragment}')
        self.wait(lambda: self.script('return document.querySelector(".cm-content") !== null'))

    def script(self, code: str, *arguments: object) -> Any:
        return run_script(self.driver, code, *arguments)

    def text(self, selector: str) -> str:
        return str(self.script('return document.querySelector(arguments[0]).textContent', selector))

    def wait(self, condition: Callable[[], object], seconds: float = WAIT) -> None:
        WebDriverWait(self.driver, seconds, poll_frequency=0.05).until(lambda _: condition())

    def wait_for_checker(self) -> None:
        self.wait(lambda: re.search(r'[Pp]roblem', self.text('#problems-state')))

    def wait_for_python(self) -> None:
        self.wait(lambda: self.script('return !document.getElementById("run").disabled'))

    def choose(self, name: str) -> None:
        Select(self.driver.find_element(By.ID, 'example')).select_by_value(name)

    def program(self) -> str:
        """Return the whole text of the editor, which draws only the visible lines."""
        program: str = self.script(
            'return document.querySelector(".cm-content").cmTile.view.state.doc.toString()'
        )
        return program

    def edit(self, old: str, new: str) -> None:
        """Replace a part of the text, as the keyboard would."""
        self.script(
            """
            const { view } = document.querySelector('.cm-content').cmTile
            const [old, text] = arguments
            const from = view.state.doc.toString().indexOf(old)
            view.dispatch({ changes: { from, to: from + old.length, insert: text } })
            """,
            old,
            new,
        )

    def write(self, program: str) -> None:
        self.edit(self.program(), program)

    def run(self) -> None:
        self.wait_for_python()
        self.driver.find_element(By.ID, 'run').click()
        self.wait_for_python()

    def problem_lines(self) -> list[int]:
        lines: list[str] = self.script(
            'return [...document.querySelectorAll("#problems .where")].map((n) => n.textContent)'
        )
        return [int(line.removeprefix('Line ')) for line in lines]

    def printed(self, stream: str) -> str:
        """Return what the program has written to `out` or `err`."""
        parts: list[str] = self.script(
            'return [...document.querySelectorAll(arguments[0])].map((part) => part.textContent)',
            f'#output .{stream}',
        )
        return ''.join(parts)

    def filled_seams(self) -> set[str]:
        seams: list[str] = self.script(
            """
            return [...document.querySelectorAll('.seam')]
              .filter((card) => !card.querySelector('.nothing, .ghost'))
              .map((card) => card.dataset.seam)
            """
        )
        return {*seams}

    def storage(self) -> dict[str, str]:
        stored: dict[str, str] = self.script('return { ...localStorage }')
        return stored


@pytest.fixture(scope='module')
def chromium() -> Generator[Chrome]:
    with open_chromium() as driver:
        yield driver


@pytest.fixture
def page(chromium: Chrome, address: str) -> Generator[Playground]:
    """Load nothing yet; at the end, the console must be empty."""
    set_width(chromium, 1280)
    set_color_scheme(chromium, 'light')
    chromium.get(f'{address}/glossary/')
    run_script(chromium, 'localStorage.clear()')
    read_log(chromium, 'browser')
    read_log(chromium, 'performance')
    yield Playground(chromium, address)
    assert read_log(chromium, 'browser') == []


def requested(driver: Chrome) -> set[str]:
    """Return the addresses of all requests since the log was read, those of workers included."""
    urls: set[str] = set()
    for entry in read_log(driver, 'performance'):
        message = json.loads(entry['message'])['message']
        if message['method'] == 'Network.requestWillBeSent':
            urls.add(message['params']['request']['url'])
    return urls


# The examples.


@pytest.mark.parametrize('example', EXAMPLES, ids=lambda example: example.name)
def test_an_example_shows_its_problems_its_output_and_its_seams(
    page: Playground, example: Example
) -> None:
    page.open()
    page.wait_for_checker()
    page.choose(example.name)
    page.wait(lambda: page.problem_lines() == [*example.problems])
    page.run()
    output = page.printed('out')
    assert output == example.output
    assert page.text('#failure code') == example.error
    assert page.filled_seams() == {*example.seams, 'log', 'telemetry'}
    assert page.problem_lines() == [*example.problems]


def test_the_first_example_opens_with_the_red_line_and_says_what_to_add(page: Playground) -> None:
    page.open()
    page.wait(lambda: page.script('return document.querySelectorAll(".cm-lintRange-error").length'))
    assert page.text('.cm-lintRange-error') == 'error'
    assert page.text('#problems .hint') == 'Add an arm for it: case AlreadyLent():'


def test_an_arm_removes_the_red_line_and_its_removal_shows_it_within_two_seconds(
    page: Playground,
) -> None:
    page.open()
    page.wait(page.problem_lines)
    page.edit('                case _:\n', f'{ARM}                case _:\n')
    page.wait(lambda: page.text('#problems-state') == 'No problems')
    began = time.monotonic()
    page.edit(ARM, '')
    page.wait(page.problem_lines)
    assert time.monotonic() - began < 2
    page.edit('                case _:\n', f'{ARM}                case _:\n')
    page.wait(lambda: page.text('#problems-state') == 'No problems')
    page.run()
    page.edit("print(answer(lend('9')))", "print(answer(lend('2')))")
    page.run()
    assert 'Bob has it.' in page.text('#output')


def test_the_type_checker_is_usable_before_python(page: Playground) -> None:
    page.open()
    page.wait(page.problem_lines)
    assert 'Python' in page.text('#output-state') or page.text('#output-state') == 'Ready'


# The end of a program.


def test_an_endless_loop_is_stopped_after_ten_seconds(page: Playground) -> None:
    page.open()
    page.wait_for_python()
    page.write("print('begun')\nwhile True:\n    pass\n")
    began = time.monotonic()
    page.run()
    assert 10 <= time.monotonic() - began < 20
    assert page.text('#output-state') == 'Stopped after 10 s'
    assert page.text('#output') == 'begun\n'
    page.write("print('again')")
    page.run()
    assert page.text('#output') == 'again\n'


def test_stop_ends_a_program_at_once(page: Playground) -> None:
    page.open()
    page.wait_for_python()
    page.write('import time\ntime.sleep(1000)')
    page.driver.find_element(By.ID, 'run').click()
    page.wait(lambda: page.text('#output-state') == 'Running')
    page.driver.find_element(By.ID, 'stop').click()
    page.wait(lambda: page.text('#output-state') == 'Stopped', seconds=2)


def test_a_program_that_prints_without_end_does_not_fill_the_page(page: Playground) -> None:
    page.open()
    page.wait_for_python()
    page.write("while True:\n    print('x' * 100)")
    page.run()
    assert page.text('#output-state') == 'Stopped after 10 s'
    assert 100_000 < len(page.text('#output')) < 300_000


def test_each_run_has_a_new_interpreter(page: Playground) -> None:
    page.open()
    page.wait_for_python()
    page.write("import sys\nprint(hasattr(sys, 'left'))\nsys.left = 1\nsys.stdout = None\n")
    page.run()
    page.run()
    assert page.text('#output') == 'False\n'


def test_async_functions_run(page: Playground) -> None:
    page.open()
    page.wait_for_python()
    page.write(
        'import asyncio\n\nasync def main() -> int:\n    await asyncio.sleep(0.01)\n'
        '    return 7\n\nasyncio.run(main())'
    )
    page.run()
    assert page.text('#output') == '7\n'


# Links.


def test_a_shared_link_opens_and_does_not_run_by_itself(page: Playground) -> None:
    program = "print('from a link')\n"
    page.open(fragment_of(program))
    assert page.program() == program
    page.wait_for_python()
    time.sleep(0.5)
    assert 'from a link' not in page.text('#output')
    assert page.storage() == {}
    page.run()
    assert page.text('#output') == 'from a link\n'


def test_copy_link_puts_the_program_into_the_address(page: Playground) -> None:
    page.open()
    page.write("print('ü')")
    page.driver.find_element(By.ID, 'copy-link').click()
    page.wait(lambda: '#code=' in page.driver.current_url)
    page.driver.refresh()
    page.wait(lambda: page.script('return document.querySelector(".cm-content") !== null'))
    assert page.program() == "print('ü')"


@pytest.mark.parametrize(
    'fragment',
    [
        '#code=</script><script>document.title=1</script>',
        '#code=<img src=x onerror=document.title=1>',
        f'#code={"A" * 1_000_000}',
        f'#code={base64.urlsafe_b64encode(zlib.compress(b"a" * 10_000_000, wbits=-15)).decode()}',
        '#code=!!!!',
        '#code=AAAA',
        '#code=',
        '#code=%E0%A4%A',
    ],
    ids=['script', 'markup', 'megabyte', 'bomb', 'no base64', 'no deflate', 'empty', 'bad escape'],
)
def test_a_hostile_link_does_nothing(page: Playground, fragment: str) -> None:
    page.open(fragment)
    assert page.text('#run-problem') == 'The link holds no program that can be read.'
    assert 'case BookNotFound' in page.program()
    assert page.driver.title == 'Playground - Seamwise'
    assert page.script('return document.querySelectorAll("script").length') == 1
    page.wait(page.problem_lines)


def test_texts_of_a_program_are_never_markup(page: Playground) -> None:
    page.open()
    page.wait_for_python()
    page.write(
        'from seamwise import Category, Failure, TaggedError\n\n'
        'class Bad(TaggedError, category=Category.CONFLICT, '
        "message='<img src=x onerror=document.title=1>'):\n    pass\n\n"
        "print('<script>document.title=1</script>')\nx: int = '<b class=x>'\nFailure(Bad())\n"
    )
    page.run()
    page.wait(page.problem_lines)
    assert '<script>' in page.text('#output')
    assert page.script('return document.querySelectorAll("main img, main b.x").length') == 0
    assert page.driver.title == 'Playground - Seamwise'


def test_each_link_of_a_page_opens_a_program_that_runs(page: Playground, site: Path) -> None:
    pages = [site / name / 'index.html' for name in ('', 'errors', 'composition', 'seams')]
    links = {
        f'{path.parent.name} {index}': link
        for path in [*pages, *sorted(site.glob('tutorial/0*/index.html'))]
        for index, link in enumerate(TRY_IT.findall(path.read_text(encoding='utf-8')))
    }
    assert len(links) >= 20
    problems: dict[str, str] = {}
    page.open()
    for name, link in links.items():
        page.script('location.hash = arguments[0]', link)
        page.wait(lambda: page.text('#example option:checked') == 'A program from a link')
        page.run()
        errors = page.printed('err')
        if errors or not page.text('#output-state').startswith('Ended'):
            problems[name] = errors
        page.choose('bind')
    assert problems == {}


# The network and the storage.


def test_no_request_leaves_the_site(page: Playground) -> None:
    page.open()
    page.wait_for_python()
    page.write(
        'import contextlib, gc, urllib.request\n'
        "for name in ('js', 'pyodide', 'pyodide_js', 'pyodide.http'):\n"
        '    with contextlib.suppress(ModuleNotFoundError):\n'
        "        __import__(name); print('reached', name)\n"
        'with contextlib.suppress(Exception):\n'
        "    urllib.request.urlopen('http://example.com/'); print('reached the network')\n"
        # Whatever objects of JavaScript are left lead to the global object.
        'for item in gc.get_objects():\n'
        "    if type(item).__name__ == 'JsProxy':\n"
        '        with contextlib.suppress(Exception):\n'
        '            item.constructor.constructor(\'fetch("https://example.com/a")\')()\n'
        "            print('evaluated')\n"
        "print('end')\n"
    )
    page.run()
    assert page.text('#output') == 'end\n'
    urls = {
        url for url in requested(page.driver) if not url.startswith(('blob:', 'data:', 'about:'))
    }
    assert {urlsplit(url).netloc for url in urls} == {urlsplit(page.url).netloc}
    assert any(url.endswith('/pyodide.asm.wasm') for url in urls)


def test_other_pages_load_nothing_of_the_playground(page: Playground, address: str) -> None:
    for path in ('', 'errors/', 'guards/', 'tutorial/01-errors/'):
        page.driver.get(f'{address}/{path}')
    assert [url for url in requested(page.driver) if 'playground' in url] == []


def test_only_the_text_of_the_reader_is_stored(page: Playground) -> None:
    page.open()
    page.wait_for_python()
    page.choose('two_errors')
    page.run()
    assert page.storage() == {}
    page.write("print('mine')")
    page.wait(page.storage)
    assert page.storage() == {'seamwise.playground.program': "print('mine')"}
    page.choose('bind')
    page.open()
    assert page.program() == "print('mine')"
    assert page.script('return document.cookie') == ''


# Readers.


def test_a_program_is_written_and_run_with_the_keyboard_alone(page: Playground) -> None:
    page.open()
    page.wait_for_python()
    keys = ActionChains(page.driver)
    for _ in range(12):
        keys.send_keys(Keys.TAB).perform()
        if page.script('return document.activeElement.classList.contains("cm-content")'):
            break
    keys.key_down(Keys.CONTROL).send_keys('a').key_up(Keys.CONTROL).perform()
    keys.send_keys("print('typed')").perform()
    keys.key_down(Keys.CONTROL).send_keys(Keys.ENTER).key_up(Keys.CONTROL).perform()
    page.wait(lambda: page.text('#output') == 'typed\n')
    page.wait_for_python()
    keys.send_keys(Keys.ESCAPE, Keys.TAB).perform()
    assert not page.script('return document.activeElement.classList.contains("cm-content")')


def test_a_problem_leads_to_its_line(page: Playground) -> None:
    page.open()
    page.wait(page.problem_lines)
    page.driver.find_element(By.CSS_SELECTOR, '#problems button').click()
    line = page.script(
        """
        const { state } = document.querySelector('.cm-content').cmTile.view
        return state.doc.lineAt(state.selection.main.head).number
        """
    )
    assert line == page.problem_lines()[0]
    assert page.script('return document.activeElement.classList.contains("cm-content")')


def test_the_page_is_in_chinese_too(page: Playground) -> None:
    page.open()
    page.wait_for_python()
    Select(page.driver.find_element(By.ID, 'language')).select_by_value('zh_CN')
    page.run()
    assert page.text('#run') == '运行'
    assert page.text('#problems-state') == '1 个问题'
    assert page.text('#output-state').endswith('后结束')
    assert page.script('return document.documentElement.lang') == 'zh-Hans'
    # Only names, code and product names are left in English.
    assert page.text('#example option:checked') == '被遗忘的分支'


@pytest.mark.parametrize('width', [PHONE_WIDTH, 768, 1440])
@pytest.mark.parametrize('scheme', ['light', 'dark'])
def test_the_page_fits_and_has_sufficient_contrast(
    page: Playground, width: int, scheme: str, request: pytest.FixtureRequest
) -> None:
    set_width(page.driver, width)
    set_color_scheme(page.driver, scheme)
    page.open()
    page.wait(page.problem_lines)
    page.choose('bind')
    page.run()
    assert page.script('return document.documentElement.scrollWidth') <= width
    assert page.script(LOW_CONTRAST) == []
    if folder := os.environ.get('SEAMWISE_SCREENSHOTS'):
        metrics = run_command(page.driver, 'Page.getLayoutMetrics', {})
        height = metrics['cssContentSize']['height']
        clip = {'x': 0, 'y': 0, 'width': width, 'height': height, 'scale': 1}
        shot = run_command(
            page.driver, 'Page.captureScreenshot', {'clip': clip, 'captureBeyondViewport': True}
        )
        Path(folder, f'playground-{width}-{scheme}.png').write_bytes(base64.b64decode(shot['data']))


@pytest.mark.skipif('AXE' not in os.environ, reason='the variable AXE names no axe.min.js')
def test_the_page_has_no_violations_that_axe_finds(page: Playground) -> None:
    page.open()
    page.wait(page.problem_lines)
    page.run()
    page.script(Path(os.environ['AXE']).read_text(encoding='utf-8'))
    assert page.script(VIOLATIONS) == []


@contextmanager
def before_the_page(driver: Chrome, source: str) -> Generator[None]:
    """Run a script in each new document before its own scripts."""
    script = run_command(driver, 'Page.addScriptToEvaluateOnNewDocument', {'source': source})
    try:
        yield
    finally:
        number = {'identifier': script['identifier']}
        run_command(driver, 'Page.removeScriptToEvaluateOnNewDocument', number)


@pytest.mark.parametrize(
    'source',
    [
        'delete globalThis.WebAssembly',
        'delete globalThis.Worker',
        "Object.defineProperty(Navigator.prototype, 'deviceMemory', { value: 1 })",
    ],
    ids=['no WebAssembly', 'no workers', 'little memory'],
)
def test_a_browser_that_cannot_run_it_gets_a_sentence_and_the_code(
    page: Playground, source: str
) -> None:
    with before_the_page(page.driver, source):
        page.driver.get('about:blank')
        page.driver.get(page.url)
        page.wait(lambda: page.driver.find_element(By.ID, 'unsupported').is_displayed())
        assert 'lacks WebAssembly or workers, or has too little memory' in page.text('#unsupported')
        assert 'case BookNotFound' in page.text('#editor pre')
        assert page.script('return document.getElementById("run").disabled')
        assert [url for url in requested(page.driver) if 'pyright' in url or 'pyodide' in url] == []


@pytest.mark.parametrize(
    'source',
    [
        """
        WebAssembly.compile = async () => {
          throw new RangeError('WebAssembly.compile(): Out of memory')
        }
        """,
        # In the worker of Python; its import runs first, and allocates later.
        """
        globalThis.Blob = class extends Blob {
          constructor([script, ...others], options) {
            const refuse = 'WebAssembly.Memory = function () {'
              + "throw new RangeError('WebAssembly.Memory(): could not allocate memory') }"
            super([typeof script === 'string' ? script + refuse : script, ...others], options)
          }
        }
        """,
    ],
    ids=['compiling', 'starting'],
)
def test_a_browser_that_runs_out_of_memory_gets_the_sentence_and_keeps_the_program(
    page: Playground, source: str
) -> None:
    with before_the_page(page.driver, source):
        page.open()
        page.wait(lambda: page.driver.find_element(By.ID, 'unsupported').is_displayed())
        page.wait_for_checker()
        assert page.text('#output-state').startswith('Python cannot be loaded: ')
        assert page.script('return document.getElementById("run").disabled')
        assert 'case BookNotFound' in page.program()
        # Pyodide does not expect that it cannot start.
        read_log(page.driver, 'browser')


def test_another_failure_of_python_is_not_taken_for_a_lack_of_memory(page: Playground) -> None:
    source = "WebAssembly.compile = async () => { throw new RangeError('Maximum call stack') }"
    with before_the_page(page.driver, source):
        page.open()
        page.wait(lambda: page.text('#output-state').endswith('Maximum call stack'))
        assert not page.driver.find_element(By.ID, 'unsupported').is_displayed()


def test_all_files_together_have_at_most_13_megabytes_compressed(site: Path) -> None:
    files = (site / '_static' / 'playground').iterdir()
    sizes = {path.name: len(zlib.compress(path.read_bytes(), 6)) for path in files}
    assert sum(sizes.values()) < 13_000_000, sizes
