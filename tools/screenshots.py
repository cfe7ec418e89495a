"""Take the pictures of the pages: `python -m tools.screenshots`.

Starts `seamwise serve` on a copy of `examples/workspace`, runs calls in headless Chromium, and
writes `docs/pictures/live-page-*.png`; `map-*.png` are of the map of `examples/shop`, and
`docs/_static/card.png` is the picture of a link to the site. It needs Chromium and its driver.
"""

import shutil
import subprocess
import sys
from base64 import b64decode
from collections import Counter
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from time import sleep
from typing import Any

from msgspec import Struct
from PIL import Image
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from tests.browser.check_live_page import WORKSPACE, LivePage, new_tab
from tests.browser.check_page import open_chromium, run_script, set_color_scheme
from tests.program.servers import served

FOLDER = Path(__file__).parents[1] / 'docs' / 'pictures'
STATIC = FOLDER.with_name('_static')

MAX_SIZE = 200_000
"""In bytes: the maximum size of a picture."""

COLORS = 256
"""The number of colors of a picture."""


CARD = """\
<body style="margin: 0; box-sizing: border-box; height: 100vh; padding: 0 64px; display: flex;
    align-items: center; gap: 48px; background: #14171c; color: #e8eaed;
    font-family: ui-sans-serif, system-ui, sans-serif">
  <div>
    <div style="width: 88px">{icon}</div>
    <h1 style="font-size: 72px; margin: 24px 0 16px">Seamwise</h1>
    <p style="font-size: 36px; line-height: 1.25; margin: 0">A forgotten error<br>is a red line.</p>
    <p style="font-size: 26px; margin: 24px 0 0; color: #a5adb8">Typed failures for Python</p>
  </div>
  <div style="flex: none; zoom: 1.6">{picture}</div>
</body>
"""
"""The picture that a preview of a link shows."""


class Picture(Struct, frozen=True):
    """A picture of the page.

    Attributes:
        name: The name of its file, without the ending.
        width: The width of the window in CSS pixels.
        height: The height in CSS pixels; None: that of the whole page.
        theme: `light` or `dark`.
        locale: `en` or `zh_CN`.
        scale: The number of pixels for a CSS pixel.
    """

    name: str
    width: int = 1280
    height: int | None = None
    theme: str = 'light'
    locale: str = 'en'
    scale: float = 1.5


PICTURES: Sequence[Picture] = (
    Picture('live-page-light'),
    Picture('live-page-dark', theme='dark'),
    Picture('live-page-zh', height=880, locale='zh_CN'),
    Picture('live-page-phone', width=390, height=844, theme='dark', scale=2),
)


def main() -> None:
    """Take all pictures."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory() as folder:
        workspace = shutil.copytree(WORKSPACE, Path(folder) / 'workspace')
        with served(workspace) as server, open_chromium() as driver, new_tab(driver) as page:
            page.open(server.url, server.token)
            _perform(page)
            for picture in PICTURES:
                _take(driver, page, picture)
            _take_map(driver, Path(folder) / 'map.html')
            _take_card(driver, Path(folder) / 'card.html')


def _perform(page: LivePage) -> None:
    """Run calls, with a connection that is cut in the middle of the last ones."""
    for example in ('flaky', 'slow', 'down'):
        page.run(example)
    page.wait(lambda: 'the next call is a probe' in page.text('#circuits'))
    page.run('back')
    page.start('several')
    page.wait(lambda: len(page.segments(2)) > 1)
    page.find('#disconnect').click()
    page.script('setTimeout(() => document.getElementById("disconnect").click(), 2500)')
    page.wait(lambda: page.marks() and not page.is_busy())
    page.wait_for_state('connected')
    page.wait(lambda: page.segments(2)[-1] == 'ok')
    page.script('document.activeElement.blur()')
    # The metrics arrive after the results.
    sleep(1)


def _take(driver: Chrome, page: LivePage, picture: Picture) -> None:
    set_color_scheme(driver, picture.theme)
    set_size(driver, picture.width, picture.height or 1000, picture.scale)
    if page.find('#language').get_attribute('value') != picture.locale:
        page.change_language(picture.locale)
        page.script('document.activeElement.blur()')
    page.wait(lambda: page.count('.metric .bars') > 1 and page.count('[aria-pressed="true"]'))
    page.script('document.getElementById("events").scrollTo(0, 1e6)')
    height = picture.height or run_script(driver, 'return document.documentElement.scrollHeight')
    # The page is as high as the picture: a bar that sticks would appear in the middle.
    set_size(driver, picture.width, height, picture.scale)
    page.script('document.getElementById("events").scrollTo(0, 1e6)')
    file = FOLDER / f'{picture.name}.png'
    file.write_bytes(_compress(_capture(driver)))
    if file.stat().st_size > MAX_SIZE:
        raise SystemExit(f'{file} has more than {MAX_SIZE:,} bytes.')


def _take_map(driver: Chrome, file: Path) -> None:
    """Draw the map of the example shop, and take its picture of the whole program."""
    command = [sys.executable, '-m', 'seamwise', 'map', 'shop', '--format', 'html', '-o', str(file)]
    subprocess.run(command, cwd=FOLDER.parents[1] / 'examples', check=True)  # noqa: S603 -- own arguments
    set_size(driver, 1240, 1000, 1.5)
    for theme in ('light', 'dark'):
        set_color_scheme(driver, theme)
        driver.get(file.as_uri())
        drawing = driver.find_element(By.CSS_SELECTOR, '#picture .drawing')
        (FOLDER / f'map-{theme}.png').write_bytes(_compress(drawing.screenshot_as_png))


def _take_card(driver: Chrome, file: Path) -> None:
    """Draw the picture of a link, in the size that previews expect."""
    icon, picture = (
        path.read_text(encoding='utf-8')
        for path in (STATIC / 'icon.svg', FOLDER / 'forgotten-arm-dark.svg')
    )
    file.write_text(CARD.format(icon=icon, picture=picture), encoding='utf-8')
    set_size(driver, 1200, 630, 1.0)
    driver.get(file.as_uri())
    (STATIC / 'card.png').write_bytes(_compress(_capture(driver)))


def set_size(driver: Any, width: int, height: int, scale: float) -> None:
    """Set the size of the window in CSS pixels."""
    metrics = {'width': width, 'height': height, 'deviceScaleFactor': scale, 'mobile': False}
    driver.execute_cdp_cmd('Emulation.setDeviceMetricsOverride', metrics)
    driver.execute_cdp_cmd('Emulation.setScrollbarsHidden', {'hidden': True})


def _capture(driver: Any) -> bytes:
    picture = driver.execute_cdp_cmd('Page.captureScreenshot', {'format': 'png'})
    return b64decode(picture['data'])


def _compress(picture: bytes) -> bytes:
    """Return a picture with the most frequent colors only, which is a third of the size."""
    image = Image.open(BytesIO(picture)).convert('RGB')
    # Not the adaptive palette of Pillow, which changes the colors of large areas.
    colors = Counter(zip(*[iter(image.tobytes())] * 3, strict=True))
    palette = Image.new('P', (1, 1))
    palette.putpalette(b''.join(bytes(color) for color, _ in colors.most_common(COLORS)))
    output = BytesIO()
    image.quantize(palette=palette, dither=Image.Dither.NONE).save(output, 'PNG', optimize=True)
    return output.getvalue()


if __name__ == '__main__':
    main()
