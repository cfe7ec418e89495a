"""Settings of the environment: style of the output, width of the terminal, and language."""

import os
from collections.abc import Iterator, Mapping
from typing import TextIO

from seamwise._runtime.source_excerpt import Style
from seamwise.seams.rendering.locales import best_locale

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


UNTRANSLATED = frozenset({'', 'C', 'POSIX'})
"""Locales without a language. LANGUAGE is ignored in them, as in GNU gettext."""


def environment_locale(environment: Mapping[str, str] | None = None) -> str:
    """Return the locale of the message catalog for the language of the user, by default `en`.

    The first of LC_ALL, LC_MESSAGES and LANG that is not empty is the locale. LANGUAGE, a list
    separated by colons, takes precedence over its language.

    Args:
        environment: Environment variables. Default: those of the process.

    >>> environment_locale({'LANG': 'zh_CN.UTF-8'}), environment_locale({'LANG': 'C.UTF-8'})
    ('zh_CN', 'en')
    >>> environment_locale({'LC_ALL': 'C', 'LANG': 'zh_CN'})
    'en'
    """
    return best_locale(_preferences(os.environ if environment is None else environment))


def _preferences(environment: Mapping[str, str]) -> Iterator[str]:
    names = ('LC_ALL', 'LC_MESSAGES', 'LANG')
    locale = next(filter(None, (environment.get(name) for name in names)), '')
    if locale.partition('.')[0] not in UNTRANSLATED:
        yield from environment.get('LANGUAGE', '').split(':')
        yield locale
