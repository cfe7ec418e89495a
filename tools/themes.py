"""Colors of the pictures on light and on dark pages."""

from collections.abc import Mapping
from types import MappingProxyType

from msgspec import Struct


class Theme(Struct, frozen=True):
    """Colors of a picture."""

    surface: str
    card: str
    line: str
    text: str
    muted: str
    accent: str
    shade: str
    """Background of a time in which something is wrong."""
    wrong: str
    """Color of an error."""
    load: str
    """Area of a load, beside that in the accent color."""


THEMES: Mapping[str, Theme] = MappingProxyType(
    {
        'light': Theme(
            surface='#f6f5f1',
            card='#ffffff',
            line='#d4d2ca',
            text='#1f2328',
            muted='#5c6470',
            accent='#2f4a9a',
            shade='#f3d9d9',
            wrong='#b3261e',
            load='#d9a441',
        ),
        'dark': Theme(
            surface='#14171c',
            card='#1d2128',
            line='#3a404a',
            text='#e8eaed',
            muted='#a5adb8',
            accent='#9db4ff',
            shade='#46292c',
            wrong='#ff9a91',
            load='#b9842b',
        ),
    }
)
"""The themes, by the end of the names of their files."""
