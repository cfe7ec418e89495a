"""How a person wants to be told: as the terminal allows, without anything but text, or read aloud."""

import os
from typing import TextIO

from seamwise._text.source_excerpt import Style as Style

STYLES: tuple[Style, ...] = ('auto', 'plain', 'screen-reader')

VARIABLE = 'SEAMWISE_STYLE'
"""The environment variable by which a person asks for a style, for every program that reports by this seam."""

USUAL_WIDTH = 80
"""In columns: of a terminal that does not say."""


def requested_style() -> Style:
    """Give the style that the environment asks for, `auto` where it names none that there is."""
    asked = os.environ.get(VARIABLE)
    for one in STYLES:
        if one == asked:
            return one
    return 'auto'


def wants_color(stream: TextIO, style: Style | None = None) -> bool:
    """Whether colour is wanted: on a terminal that knows it, and never with NO_COLOR (https://no-color.org) or another style."""
    if (style or requested_style()) != 'auto':
        return False
    return stream.isatty() and not os.environ.get('NO_COLOR') and os.environ.get('TERM') != 'dumb'


def terminal_width(stream: TextIO, style: Style | None = None) -> int | None:
    """Give the columns of the terminal that a stream is, or None where lines are not to be broken.

    That is where it is no terminal, and for a screen reader; COLUMNS overrules the terminal (POSIX, 8.3).
    """
    if (style or requested_style()) == 'screen-reader' or not stream.isatty():
        return None
    asked = os.environ.get('COLUMNS', '')
    if asked.isdecimal() and int(asked):
        return int(asked)
    try:
        return os.get_terminal_size(stream.fileno()).columns or USUAL_WIDTH
    except OSError:
        return USUAL_WIDTH
