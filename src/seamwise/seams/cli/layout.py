"""Layout of rendered text for a terminal: wrapping, hanging indents and colours, by rich."""

from io import StringIO
from typing import Literal

try:
    from rich.cells import cell_len
    from rich.console import Console
    from rich.text import Text
except ModuleNotFoundError as missing:
    raise ModuleNotFoundError(
        "Colour and width need rich: pip install 'seamwise[cli]'", name=missing.name
    ) from missing

LABEL_STYLES = {'at': 'blue', 'hint:': 'cyan', 'did you mean': 'green', 'caused by:': 'magenta'}
"""Labels at the start of a line after the first one, with their rich styles."""

MIN_WIDTH = 20
"""In columns. Text for a narrower terminal is wrapped at this width."""


def format_for_terminal(text: str, *, width: int, color: bool, first_style: str) -> str:
    r"""Return a text wrapped at `width` columns, with its labels coloured.

    The continuation of a line is indented as far as the text after its label or its leading
    spaces. East Asian wide characters count as two columns.

    Args:
        text: The text, already escaped for a terminal.
        width: Width of the terminal in columns; at least `MIN_WIDTH` is used.
        color: Whether to write escape sequences for colours.
        first_style: Rich style of the first line.

    >>> text = 'It failed.\nhint: 再试一次或者等待一会儿再来'
    >>> print(format_for_terminal(text, width=24, color=False, first_style='bold'))
    It failed.
    hint: 再试一次或者等待一
          会儿再来
    """
    color_system: Literal['standard'] | None = 'standard' if color else None
    console = Console(
        file=StringIO(),
        width=max(width, MIN_WIDTH),
        height=25,  # Without a height, rich assumes 80 columns for TERM=dumb and ignores `width`.
        force_terminal=color,
        color_system=color_system,
        no_color=not color,
        legacy_windows=False,
    )
    head, *rest = text.split('\n')
    lines = _wrap(console, Text(head, first_style))
    for line in rest:
        lines += _wrap_line(console, line)
    with console.capture() as capture:
        for wrapped in lines:
            console.print(wrapped, soft_wrap=True, highlight=False)
    return capture.get().removesuffix('\n')


def _wrap_line(console: Console, line: str) -> list[Text]:
    label = next((label for label in LABEL_STYLES if line.startswith(f'{label} ')), None)
    if label is None:
        return _wrap_indented(console, line)
    body = Text(line.removeprefix(label).lstrip())
    pieces = _wrap(console, body, indent=len(label) + 1)
    blank = ' ' * len(label)
    starts = [Text(label, LABEL_STYLES[label]), *(Text(blank) for _ in pieces[1:])]
    return [Text.assemble(start, ' ', piece) for start, piece in zip(starts, pieces, strict=True)]


def _wrap_indented(console: Console, line: str) -> list[Text]:
    if cell_len(line) <= console.width:
        return [Text(line)]
    body = line.lstrip(' ')
    blank = ' ' * min(len(line) - len(body), console.width // 2)
    pieces = _wrap(console, Text(body), indent=len(blank))
    return [Text.assemble(blank, piece) for piece in pieces]


def _wrap(console: Console, text: Text, *, indent: int = 0) -> list[Text]:
    pieces = list(text.wrap(console, console.width - indent))
    for piece in pieces:
        piece.rstrip()
    return pieces
