"""Choice of the message catalog for the languages that a reader prefers."""

from collections.abc import Iterable
from functools import lru_cache
from itertools import islice
from re import fullmatch

from seamwise._errors.texts import available_locales

MAX_PREFERENCES = 50
"""Number of preferences that are considered."""

MAX_LENGTH = 64
"""In characters; a longer preference is skipped. RFC 5646, section 4.4.1, asks for 35 or more."""

DEFAULT_LOCALE = 'en'

_TRADITIONAL_REGIONS = frozenset({'hk', 'mo', 'tw'})
"""Regions whose Chinese is written in traditional characters, if the tag names no script."""


def best_locale(preferences: Iterable[str]) -> str:
    """Return the locale of the message catalog for the first preferred language that has one.

    A language without a catalog is skipped silently, since clients choose it.

    Args:
        preferences: Language tags (`zh-Hans-CN`, BCP 47) or names of POSIX locales
            (`de_DE.UTF-8`), best first. Anything else, such as `C` or `*`, is skipped.

    Returns:
        The name of a catalog, such as `zh_CN`; `en` if there is none for any preference. A catalog
        is searched by lookup (RFC 4647, section 3.4), then by language and script: `zh-Hans` is
        found as `zh_CN`, and `zh-TW`, which is written in another script, is not.

    >>> best_locale(['de_DE.UTF-8', 'zh-Hans-CN']), best_locale(['C'])
    ('zh_CN', 'en')
    """
    catalogs = available_locales()
    for preference in islice(preferences, MAX_PREFERENCES):
        locale = _find(preference, catalogs) if len(preference) <= MAX_LENGTH else None
        if locale is not None:
            return locale
    return DEFAULT_LOCALE


@lru_cache(maxsize=256)
def _find(preference: str, catalogs: tuple[str, ...]) -> str | None:
    # A POSIX name ends with an encoding and a modifier: `de_DE.UTF-8@euro`.
    tag = preference.strip().partition('.')[0].partition('@')[0].replace('_', '-').lower()
    if not fullmatch('[a-z]{2,3}(-[a-z0-9]{1,8})*', tag):
        return None
    tags = {name.replace('_', '-').lower(): name for name in (*catalogs, DEFAULT_LOCALE)}
    subtags = tag.split('-')
    for length in range(len(subtags), 0, -1):
        prefix = '-'.join(subtags[:length])
        if prefix in tags:
            return tags[prefix]
    similar = [other for other in tags if _is_similar(other, tag)]
    same_region = [other for other in similar if other.split('-')[-1] == subtags[-1]]
    return next((tags[other] for other in [*same_region, *similar]), None)


def _is_similar(tag: str, other: str) -> bool:
    """Return whether two tags have the same language, and no different scripts."""
    language, script = _language_and_script(tag)
    other_language, other_script = _language_and_script(other)
    return language == other_language and ('' in {script, other_script} or script == other_script)


def _language_and_script(tag: str) -> tuple[str, str]:
    language, *rest = tag.split('-')
    if rest and fullmatch('[a-z]{4}', rest[0]):
        return language, rest[0]
    if language != 'zh':
        return language, ''
    return language, 'hans' if _TRADITIONAL_REGIONS.isdisjoint(rest) else 'hant'
