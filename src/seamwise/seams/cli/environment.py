"""Output styles for people, and the capabilities of their terminals."""

import os
from typing import TextIO

from seamwise._text.source_excerpt import Style

STYLES: tuple[Style, ...] = ('auto', 'plain', 'screen-reader')

STYLE_VARIABLE = 'SEAMWISE_STYLE'
"""Environment variable that selects a style for every program that reports through this seam."""

DEFAULT_WIDTH = 80
"""In columns, for a terminal that does not report its width."""


def requested_style() -> Style:
    """Return the style that the environment selects; `auto` if it is unset or unknown."""
    name = os.environ.get(STYLE_VARIABLE)
    for style in STYLES:
        if style == name:
            return style
    return 'auto'


def wants_color(stream: TextIO, style: Style | None = None) -> bool:
    """Return whether to use colours: on a terminal that supports them, in the style `auto`.

    NO_COLOR switches them off (https://no-color.org).
    """
    if (style or requested_style()) != 'auto':
        return False
    return stream.isatty() and not os.environ.get('NO_COLOR') and os.environ.get('TERM') != 'dumb'


def terminal_width(stream: TextIO, style: Style | None = None) -> int | None:
    """Return the width of a terminal in columns, or None if lines must not be wrapped.

    Lines are not wrapped for screen readers and on streams that are no terminal. COLUMNS
    overrides the width of the terminal (POSIX, 8.3).
    """
    if (style or requested_style()) == 'screen-reader' or not stream.isatty():
        return None
    columns = os.environ.get('COLUMNS', '')
    if columns.isdecimal() and int(columns):
        return int(columns)
    try:
        return os.get_terminal_size(stream.fileno()).columns or DEFAULT_WIDTH
    except OSError:
        return DEFAULT_WIDTH
