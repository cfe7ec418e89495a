"""Draw the diagrams of the documentation: `python -m tools.pictures`.

Each is an SVG file for light and one for dark pages, in `docs/pictures`. The texts of the seams are
their real output.
"""

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from html import escape
from pathlib import Path
from typing import Any

import click
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader, NumberDataPoint

from seamwise import Failure, Result, Success
from seamwise.catalog.network import UpstreamRateLimited
from seamwise.catalog.storage import StoreUnavailable
from seamwise.documents.collect import collect_entry
from seamwise.documents.library import library_catalog
from seamwise.policies import retry
from seamwise.seams import log, session
from seamwise.seams.http.tables import STORAGE
from seamwise.seams.session.tables import NETWORK
from seamwise.seams.telemetry import Telemetry
from seamwise.testing import FakeWorld
from tools.themes import THEMES, Theme

FOLDER = Path(__file__).parents[1] / 'docs' / 'pictures'

SANS = 'ui-sans-serif, system-ui, sans-serif'
MONOSPACE = 'ui-monospace, SFMono-Regular, Menlo, monospace'


def text(x: float, y: float, content: str, fill: str, *, size: int = 13, font: str = SANS) -> str:
    """Return a line of text."""
    return (
        f'<text x="{x}" y="{y}" font-size="{size}" font-family="{font}" fill="{fill}"'
        f' xml:space="preserve">{escape(content)}</text>'
    )


def box(x: float, y: float, width: float, height: float, fill: str, line: str) -> str:
    """Return a rectangle with round corners."""
    return (
        f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="8" fill="{fill}"'
        f' stroke="{line}"/>'
    )


def svg(width: int, height: int, theme: Theme, title: str, parts: Iterable[str]) -> str:
    """Return a picture."""
    size = f'width="{width}" height="{height}" role="img"'
    return '\n'.join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} viewBox="0 0 {width} {height}">',
            f'<title>{escape(title)}</title>',
            f'<rect width="{width}" height="{height}" rx="12" fill="{theme.surface}"/>',
            *parts,
            '</svg>\n',
        ]
    )


GUARDS = (
    ('fallback', 'returns a substitute after a failure'),
    ('rate_limit', 'waits for a slot, or refuses'),
    ('bulkhead', 'limits the calls at one time'),
    ('circuit', 'refuses while the service is down'),
    ('retry', 'repeats a call that may succeed later'),
    ('deadline', 'ends an attempt after its time'),
)


def draw_pipeline(theme: Theme) -> str:
    """Draw the recommended order of guards as nested boxes."""
    step, left, width = 34, 20, 720
    height = 2 * 20 + (len(GUARDS) + 1) * step + len(GUARDS) * 10 + 20

    def parts() -> Iterator[str]:
        for depth, (name, effect) in enumerate(GUARDS):
            x, y = left + depth * 24, 20 + depth * step
            yield box(x, y, width - 2 * x, height - 20 - y - depth * 10, theme.card, theme.line)
            yield text(x + 14, y + 22, name, theme.accent, size=14, font=MONOSPACE)
            yield text(x + 130, y + 22, effect, theme.muted)
        x, y = left + len(GUARDS) * 24, 20 + len(GUARDS) * step
        yield box(x, y, width - 2 * x, step + 4, theme.surface, theme.accent)
        yield text(x + 14, y + 24, 'the call', theme.text, size=14)

    return svg(
        width, height, theme, 'The recommended order of guards, the outermost first', parts()
    )


def draw_seams(theme: Theme, columns: int = 2) -> str:
    """Draw one error, and a card with its output at each of eight seams."""
    card_width, card_height, gap = 350, 96, 16
    cards = list(seam_outputs())
    # The error is the first card if those of the seams do not fill the rows, otherwise above them.
    is_card = len(cards) % columns > 0
    width = columns * card_width + (columns + 1) * gap
    head_width = card_width if is_card else width - 2 * gap
    expression, size = EXPRESSION, 14
    if head_width == card_width:
        expression, size = EXPRESSION.replace('(', '(\n    '), 12
    caption = 48 + 20 * expression.count('\n')
    head_height = card_height if is_card else caption + gap
    top = gap if is_card else head_height + 2 * gap
    height = top + math.ceil((len(cards) + is_card) / columns) * (card_height + gap)

    def parts() -> Iterator[str]:
        yield box(gap, gap, head_width, head_height, theme.card, theme.accent)
        for number, line in enumerate(expression.splitlines()):
            y = gap + 26 + 20 * number
            yield text(gap + 16, y, line, theme.text, size=size, font=MONOSPACE)
        yield text(gap + 16, gap + caption, 'one error, for eight readers', theme.muted)
        for index, (seam, lines) in enumerate(cards, start=is_card):
            x = gap + index % columns * (card_width + gap)
            y = top + index // columns * (card_height + gap)
            yield box(x, y, card_width, card_height, theme.card, theme.line)
            yield text(x + 14, y + 24, seam, theme.accent, size=14)
            for number, line in enumerate(lines):
                yield text(x + 14, y + 46 + 18 * number, line, theme.text, size=11, font=MONOSPACE)

    return svg(width, height, theme, 'One error as eight seams show it', parts())


EXPRESSION = "UpstreamRateLimited('openai', retry_after=1.5, limit=60)"
MAX_LINE = 48


def seam_outputs() -> Iterator[tuple[str, list[str]]]:
    """Yield the name of each seam, and up to three lines of its output for the error."""
    entry = collect_entry(UpstreamRateLimited, library_catalog())
    outputs: dict[str, Any] = {}
    summaries = {answer.seam: answer.summary or '' for answer in reversed(entry.answers)}
    for answer in entry.answers:
        if answer.output is not None:
            outputs.setdefault(answer.seam, json.loads(bytes(answer.output)))
    http, model = outputs['http'], outputs['model']
    # The catalogue shows the Chinese text, which this page is not in.
    error = UpstreamRateLimited('openai', retry_after=1.5, limit=60)
    chat = session.event(error, adapter=NETWORK, locale='en')
    planner, rpc, log = outputs['planner'], outputs['jsonrpc']['error'], outputs['log']
    lines = {
        'Terminal': [*outputs['cli']['text'].splitlines()[::2], summaries['cli']],
        'HTTP': [
            summaries['http'],
            f'Retry-After: {http["headers"]["Retry-After"]}',
            http['body']['error']['message'],
        ],
        'Chat session': [chat.event, *wrap(chat.show_content)],
        'Language model': wrap(model['suggestion']),
        'Planner': [
            planner['code'],
            f'retryable: {str(planner["retryable"]).lower()}',
            f'retry_after_ms: {planner["retry_after_ms"]}',
        ],
        'JSON-RPC': [f'code: {rpc["code"]}', rpc['message'], json.dumps(rpc['data'])],
        'Log': [f'{log["level"].upper()} {log["error_type"]}', log['message']],
        'Telemetry': count(),
    }
    for seam, content in lines.items():
        yield seam, [shortened(line) for line in content[:3]]


def shortened(line: str) -> str:
    """Return a line that fits into a card."""
    return line if len(line) <= MAX_LINE else f'{line[: MAX_LINE - 1]}…'


def wrap(sentence: str) -> list[str]:
    """Break a sentence into lines."""
    lines = ['']
    for word in sentence.split():
        if len(lines[-1]) + len(word) >= MAX_LINE:
            lines.append('')
        lines[-1] = f'{lines[-1]} {word}'.strip()
    return lines


def count() -> list[str]:
    """Count the error, and return the point of the metric."""
    reader = InMemoryMetricReader()
    telemetry = Telemetry(MeterProvider([reader]).get_meter('pictures'))
    telemetry.count(UpstreamRateLimited('openai', retry_after=1.5), seam='http', operation='chat')
    data = reader.get_metrics_data()
    if data is None:
        raise TypeError('The reader has no data.')
    metrics = data.resource_metrics[0].scope_metrics[0].metrics
    [errors] = [metric for metric in metrics if metric.name == 'seamwise.errors']
    [point] = errors.data.data_points
    if not isinstance(point, NumberDataPoint) or point.attributes is None:
        raise TypeError('seamwise._errors.errors is a counter.')
    attributes = point.attributes
    return [
        f'{errors.name} += {point.value}',
        *(f'{name}={value!s}' for name, value in attributes.items()),
    ]


QUESTIONS = (
    ('What can come?', ('failures it builds', 'Results of its calls', 'exceptions of helpers')),
    ('What becomes of it?', ('propagated', 'handled or replaced', 'lost')),
    ('What is declared?', ('its error channel', 'the type of an adapter', 'Do[A | B]')),
)
COMPARISONS = (
    (0, 1, 'SW101, 104, 108, 115, 116, 118'),
    (1, 2, 'SW107, 111, 121'),
    (0, 2, 'SW102, 105, 106, 114'),
)


def draw_questions(theme: Theme) -> str:
    """Draw the three questions of a check, and between them the rules that compare answers."""
    card_width, card_height, gap, top = 214, 116, 24, 24

    def middle(index: int) -> float:
        return gap + index * (card_width + gap) + card_width / 2

    def parts() -> Iterator[str]:
        for index, (question, answers) in enumerate(QUESTIONS):
            x = gap + index * (card_width + gap)
            yield box(x, top, card_width, card_height, theme.card, theme.line)
            yield text(x + 14, top + 28, question, theme.accent, size=15)
            for number, answer in enumerate(answers):
                yield text(x + 14, top + 54 + 20 * number, answer, theme.text)
        for row, (first, second, rules) in enumerate(COMPARISONS):
            y = top + card_height + 40 + row * 44
            start, end = middle(first), middle(second)
            for end_x in (start, end):
                yield line(end_x, top + card_height, end_x, y, theme.line)
                yield f'<circle cx="{end_x}" cy="{y}" r="4" fill="{theme.accent}"/>'
            yield line(start, y, end, y, theme.accent)
            yield text(start + 12, y - 8, rules, theme.muted, size=12, font=MONOSPACE)

    width = 3 * card_width + 4 * gap
    return svg(width, 300, theme, 'The three questions of a check, and the rules', parts())


def line(x1: float, y1: float, x2: float, y2: float, stroke: str) -> str:
    """Return a straight line."""
    return f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="{stroke}" stroke-width="1.5"/>'


REASON_WIDTH, REASON_HEIGHT = 360, 190
"""The size of the pictures of the three reasons on the first page."""

FORGOTTEN_ARM = (
    'match error:',
    '    case BookNotFound(isbn):',
    "        return f'no book {isbn}'",
    '    case _:',
    '        assert_never(error)',
)


def draw_forgotten_arm(theme: Theme) -> str:
    """Draw a match without an arm for `ShelfLocked`, as an editor with mypy shows it."""

    def parts() -> Iterator[str]:
        yield box(12, 12, REASON_WIDTH - 24, 112, theme.card, theme.line)
        for number, code in enumerate(FORGOTTEN_ARM):
            yield text(24, 35 + 20 * number, code, theme.text, size=12, font=MONOSPACE)
        # The argument begins after 21 characters of 7.2 pixels each.
        start, y = 24 + 21 * 7.2, 120
        waves = ''.join(f' q1.5 {-3 if wave % 2 else 3} 3 0' for wave in range(12))
        yield f'<path d="M{start} {y}{waves}" fill="none" stroke="{theme.wrong}"/>'
        yield text(24, 150, 'error: "assert_never" has incompatible type', theme.wrong, size=12)
        yield text(24, 170, '"ShelfLocked"; expected "Never"', theme.wrong, size=12)

    title = 'A type checker reports the error class that a match forgets'
    return svg(REASON_WIDTH, REASON_HEIGHT, theme, title, parts())


def draw_two_readers(theme: Theme) -> str:
    """Draw what a client and what the log show of one error with an internal reason."""
    error = StoreUnavailable('orders', 'postgres://app:hunter22@10.0.0.5/db refused')
    answer, record = STORAGE(error), log.record(error)
    head, reason = record.message.split(': ')

    def parts() -> Iterator[str]:
        for y, reader, lines in (
            (12, 'Browser', (f'{answer.status} {answer.code}', answer.message)),
            (102, 'Log', (f'{head}:', reason)),
        ):
            yield box(12, y, REASON_WIDTH - 24, 78, theme.card, theme.line)
            yield text(24, y + 23, reader, theme.accent, size=14)
            for number, content in enumerate(lines):
                line_y = y + 45 + 18 * number
                yield text(24, line_y, content, theme.text, size=11, font=MONOSPACE)

    title = 'A client sees a general sentence; the log has the reason, without the password'
    return svg(REASON_WIDTH, REASON_HEIGHT, theme, title, parts())


def draw_delay(theme: Theme) -> str:
    """Draw the time line of a retry that waits as long as the server asks for."""
    world = FakeWorld(random=lambda: 0.0)
    limited = UpstreamRateLimited('openai', retry_after=1.5)
    outcomes: Iterator[Result[str, UpstreamRateLimited]] = iter(
        [Failure(limited), Success('answer')]
    )
    answer = retry(world=world).run_sync(lambda: next(outcomes))
    scale, left, y = 120, 60, 78

    def parts() -> Iterator[str]:
        end = left + world.now * scale
        yield box(12, 12, REASON_WIDTH - 24, REASON_HEIGHT - 24, theme.card, theme.line)
        yield line(left, y, end, y, theme.line)
        yield f'<circle cx="{left}" cy="{y}" r="7" fill="{theme.wrong}"/>'
        yield f'<circle cx="{end}" cy="{y}" r="7" fill="{theme.accent}"/>'
        yield text(left + 40, y - 12, f'waits {world.now:g} s', theme.muted)
        yield text(24, y - 32, '429, Retry-After: 1.5', theme.text, size=12, font=MONOSPACE)
        yield text(end - 52, y + 30, repr(answer), theme.text, size=12, font=MONOSPACE)
        yield text(24, 140, 'The error knows when to try again,', theme.muted)
        yield text(24, 160, 'and that a wrong key is no reason to.', theme.muted)

    title = 'A retry waits as long as the error says'
    return svg(REASON_WIDTH, REASON_HEIGHT, theme, title, parts())


PICTURES: Mapping[str, Callable[[Theme], str]] = {
    'delay': draw_delay,
    'forgotten-arm': draw_forgotten_arm,
    'two-readers': draw_two_readers,
    'guards-order': draw_pipeline,
    'eight-seams': draw_seams,
    'eight-seams-broad': partial(draw_seams, columns=3),
    'eight-seams-narrow': partial(draw_seams, columns=1),
    'three-questions': draw_questions,
}


@click.command()
@click.option('--to', type=click.Path(path_type=Path, file_okay=False), default=FOLDER)
def main(to: Path) -> None:
    """Write all diagrams."""
    for name, draw in PICTURES.items():
        for theme_name, theme in THEMES.items():
            path = to / f'{name}-{theme_name}.svg'
            path.write_text(draw(theme), encoding='utf-8')
            click.echo(path)


if __name__ == '__main__':
    main()
