"""Texts in several languages: `show_content` for readers of any of them."""

from collections.abc import Callable, Mapping
from typing import Self

from typing_extensions import override

from seamwise.texts import available_locales


class LocalizedText(str):
    """A text in one language that can be rendered in the others.

    >>> greeting = LocalizedText('Hello', lambda locale: '你好' if locale == 'zh_CN' else 'Hello')
    >>> translations_of(greeting)['zh_CN']
    '你好'
    """

    __slots__ = ('_render',)
    _render: Callable[[str], str]

    def __new__(cls, text: str, render: Callable[[str], str]) -> Self:
        """Return the text, which remembers how it is rendered in a language."""
        self: Self = super().__new__(cls, text)
        self._render = render
        return self

    def in_locale(self, locale: str) -> str:
        """Return the text in a language."""
        return self._render(locale)

    @override
    def __reduce__(self) -> tuple[type[str], tuple[str]]:
        # A function cannot be pickled; the text can.
        return (str, (str(self),))


def translations_of(text: str) -> Mapping[str, str]:
    """Return a text in every language that has a catalogue, or nothing for a plain text."""
    if not isinstance(text, LocalizedText):
        return {}
    return {locale: text.in_locale(locale) for locale in available_locales()}
