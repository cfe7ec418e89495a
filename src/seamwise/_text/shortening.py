"""Cuts of long texts, which say how much they omit."""

from re import match

TEXT_LIMIT = 1024
"""Maximum length of a free text on a wire, in characters; see `shorten`."""

VALUE_LIMIT = 200
"""Maximum length of one value in a message, in characters; see `shorten`."""


def shorten(text: str, limit: int = TEXT_LIMIT) -> str:
    """Cut `text` after `limit` characters and append the number of the others.

    A text that was cut to the same limit before is returned unchanged.

    >>> shorten('abcdefgh', 5)
    'abcde… (3 more)'
    """
    if len(text) <= limit or (match(r'… \(\d+ more\)\Z', text[limit:]) is not None):
        return text
    return f'{text[:limit]}… ({len(text) - limit} more)'
