"""Language of a client, from the `Accept-Language` header (RFC 9110, 12.5.4)."""

from functools import lru_cache

from seamwise.seams.rendering.locales import best_locale

_MAX_LENGTH = 1024
"""A longer header is ignored."""
_MAX_RANGES = 20


def locale_for(accept_language: str | None) -> str:
    """Return the locale whose messages a client understands best; `en` if there is none.

    >>> locale_for('zh-Hans-CN, en;q=0.8'), locale_for(None)
    ('zh_CN', 'en')
    """
    if accept_language is None or len(accept_language) > _MAX_LENGTH:
        return 'en'
    return best_locale(_ranges(accept_language))


@lru_cache(maxsize=256)
def _ranges(accept_language: str) -> tuple[str, ...]:
    """Return the language ranges of a header, those of the highest weight first."""
    weighted: list[tuple[float, str]] = []
    for item in accept_language.split(',')[:_MAX_RANGES]:
        range_, _, parameter = item.partition(';')
        name, _, weight = parameter.strip().partition('=')
        try:
            quality = float(weight) if name.strip().lower() == 'q' else 1.0
        except ValueError:
            continue
        if range_.strip() and 0 < quality <= 1:
            weighted.append((quality, range_.strip()))
    # The sort is stable: ranges of the same weight keep their order.
    return tuple(range_ for _, range_ in sorted(weighted, key=lambda pair: -pair[0]))
