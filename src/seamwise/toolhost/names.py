"""Names of tools, as every provider accepts them."""

import re
from typing import Final

_PATTERN: Final = re.compile('[a-zA-Z_][a-zA-Z0-9_-]{0,63}')
"""The intersection of the rules of OpenAI, Anthropic (letters, digits, `_` and `-`, up to 64
characters) and Gemini (begins with a letter or an underscore)."""

_SEPARATOR: Final = '__'


def qualified_name(name: str, namespace: str | None) -> str:
    """Return the name of a tool for a model. Providers have no namespaces, so it contains both.

    >>> qualified_name('weather', 'nordic'), qualified_name('weather', None)
    ('nordic__weather', 'weather')
    """
    return name if namespace is None else f'{namespace}{_SEPARATOR}{name}'


def name_problem(name: str, namespace: str | None) -> str | None:
    """Return the reason why no provider would accept the name of a tool, or None.

    >>> name_problem('get.weather', None)
    'a name has letters, digits, "_" and "-", begins with a letter or "_", and has at most 64 ...'
    """
    if _PATTERN.fullmatch(qualified_name(name, namespace)) and namespace != '' and name:
        return None
    parts = 'a name' if namespace is None else f'"namespace{_SEPARATOR}name"'
    return (
        f'{parts} has letters, digits, "_" and "-", begins with a letter or "_", and has at most '
        '64 characters'
    )
