"""Draw the diagrams of the documentation: `python -m tools.pictures`.

Each is an SVG file for light and one for dark pages, in `docs/pictures`. The texts of the seams are
their real output.
"""

import json
from collections.abc import Iterable, Iterator
from html import escape
from pathlib import Path
from typing import Any

import click
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader, NumberDataPoint

from seamwise.catalog.network import UpstreamRateLimited
from seamwise.documents.collect import collect_entry
from seamwise.documents.library import library_catalog
from seamwise.seams.telemetry import Telemetry
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


def draw_seams(theme: Theme, columns: int = 2, card_width: int = 350, most: int = 48) -> str:
    """Draw one error, and a card with its output at each of eight seams.

    Args:
        theme: Colors.
        columns: The number of cards in a row.
        card_width: The width of a card.
        most: The maximum length of a line in a card, in characters.
    """
    card_height, gap, top = 96, 16, 96
    cards = list(seam_outputs(most))
    rows = len(cards) // columns
    width = columns * card_width + (columns + 1) * gap
    height = top + rows * (card_height + gap)

    def parts() -> Iterator[str]:
        yield box(gap, gap, width - 2 * gap, top - 2 * gap, theme.card, theme.accent)
        yield text(gap + 16, gap + 26, EXPRESSION, theme.text, size=14, font=MONOSPACE)
        yield text(gap + 16, gap + 48, 'one error, for eight readers', theme.muted)
        for index, (seam, lines) in enumerate(cards):
            x = gap + index % columns * (card_width + gap)
            y = top + index // columns * (card_height + gap)
            yield box(x, y, card_width, card_height, theme.card, theme.line)
            yield text(x + 14, y + 24, seam, theme.accent, size=14)
            for number, line in enumerate(lines):
                yield text(x + 14, y + 46 + 18 * number, line, theme.text, size=11, font=MONOSPACE)

    return svg(width, height, theme, 'One error as eight seams show it', parts())


def draw_wide_seams(theme: Theme) -> str:
    """Draw the same in two rows, for the start page."""
    return draw_seams(theme, columns=4, card_width=258, most=34)


EXPRESSION = "UpstreamRateLimited('openai', retry_after=1.5, limit=60)"


def seam_outputs(most: int = 48) -> Iterator[tuple[str, list[str]]]:
    """Yield the name of each seam, and up to three lines of its output for the error.

    Args:
        most: The maximum length of a line, in characters.
    """
    entry = collect_entry(UpstreamRateLimited, library_catalog())
    outputs: dict[str, Any] = {}
    summaries = {answer.seam: answer.summary or '' for answer in reversed(entry.answers)}
    for answer in entry.answers:
        if answer.output is not None:
            outputs.setdefault(answer.seam, json.loads(bytes(answer.output)))
    http, session, model = outputs['http'], outputs['session'], outputs['model']
    planner, rpc, log = outputs['planner'], outputs['jsonrpc']['error'], outputs['log']
    lines = {
        'Terminal': [*outputs['cli']['text'].splitlines()[::2], summaries['cli']],
        'HTTP': [
            summaries['http'],
            f'Retry-After: {http["headers"]["Retry-After"]}',
            http['body']['error']['message'],
        ],
        'Chat session': [session['event'], session['show_content']],
        'Language model': wrap(model['suggestion'], most),
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
        yield seam, [shortened(line, most) for line in content[:3]]


def shortened(line: str, most: int) -> str:
    """Return a line that fits into a card."""
    return line if len(line) <= most else f'{line[: most - 1]}…'


def wrap(sentence: str, most: int) -> list[str]:
    """Break a sentence into lines."""
    lines = ['']
    for word in sentence.split():
        if len(lines[-1]) + len(word) >= most:
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


FORGOTTEN = """\
match error:
    case BookNotFound(isbn):
        return f'There is no {isbn}.'
    case _:
        assert_never(error)
"""


def draw_red_line(theme: Theme) -> str:
    """Draw a match that lacks an arm, and the problem that a type checker reports."""
    left, top, step, column = 16, 30, 20, 7.2
    lines = FORGOTTEN.splitlines()
    y = top + step * (len(lines) - 1)
    start = left + column * lines[-1].index('error')
    waves = ''.join(' q 3 -4 6 0 t 6 0' for _ in range(3))

    def parts() -> Iterator[str]:
        for number, source in enumerate(lines):
            line_y = top + step * number
            yield text(left, line_y, source, theme.text, size=12, font=MONOSPACE)
        yield (
            f'<path d="M {start} {y + 5}{waves}" fill="none" stroke="{theme.wrong}"'
            ' stroke-width="1.5"/>'
        )
        yield box(left, y + 18, 288, 50, theme.card, theme.wrong)
        yield text(left + 12, y + 36, 'error: argument of type "AlreadyLent"', theme.wrong)
        yield text(left + 12, y + 53, 'cannot be assigned to type "Never"', theme.wrong)

    return svg(320, y + 84, theme, 'A type checker finds the arm that is missing', parts())


PICTURES = {
    'red-line': draw_red_line,
    'eight-seams-wide': draw_wide_seams,
    'guards-order': draw_pipeline,
    'eight-seams': draw_seams,
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
