"""The language that the environment selects (POSIX.1-2024, section 8.2)."""

import os
from collections.abc import Iterator, Mapping

from seamwise.seams.rendering.locales import best_locale

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
