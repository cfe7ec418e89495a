"""A rendered text laid out for a terminal of some width, with or without colour; rich does the work."""

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

LABELS = {'at': 'blue', 'hint:': 'cyan', 'did you mean': 'green', 'caused by:': 'magenta'}
"""What a line after the first one begins with, and its colour."""

NARROWEST = 20
"""On a narrower terminal lines are laid out as on one of this width."""


def painted(text: str, *, width: int, color: bool, first: str) -> str:
    r"""Lay a text out in `width` columns, wide East Asian characters counted as two; what follows a label or spaces is indented.

    `first` is the style of the first line. The text must be safe to print already.

    >>> print(painted('It failed.\nhint: 再试一次或者等待一会儿再来', width=24, color=False, first='bold'))
    It failed.
    hint: 再试一次或者等待一
          会儿再来
    """
    system: Literal['standard'] | None = 'standard' if color else None
    console = Console(
        file=StringIO(),
        width=max(width, NARROWEST),
        height=25,  # without one, rich takes a dumb terminal for 80 columns wide, whatever it is told
        force_terminal=color,
        color_system=system,
        no_color=not color,
        legacy_windows=False,
    )
    head, *rest = text.split('\n')
    lines = [
        *_wrapped(console, Text(head, first)),
        *(piece for line in rest for piece in _labelled(console, line)),
    ]
    with console.capture() as capture:
        for line in lines:
            console.print(line, soft_wrap=True, highlight=False)
    return capture.get().removesuffix('\n')


def _labelled(console: Console, line: str) -> list[Text]:
    label = next((one for one in LABELS if line.startswith(f'{one} ')), '')
    if not label:
        return _indented(console, line)
    body = Text(line.removeprefix(label).lstrip())
    pieces = _wrapped(console, body, room=len(label) + 1)
    blank = ' ' * len(label)
    starts = [Text(label, LABELS[label]), *(Text(blank) for _ in pieces[1:])]
    return [Text.assemble(start, ' ', piece) for start, piece in zip(starts, pieces, strict=True)]


def _indented(console: Console, line: str) -> list[Text]:
    if cell_len(line) <= console.width:
        return [Text(line)]
    body = line.lstrip(' ')
    blank = ' ' * min(len(line) - len(body), console.width // 2)
    return [Text.assemble(blank, piece) for piece in _wrapped(console, Text(body), room=len(blank))]


def _wrapped(console: Console, text: Text, *, room: int = 0) -> list[Text]:
    pieces = list(text.wrap(console, console.width - room))
    for piece in pieces:
        piece.rstrip()
    return pieces
