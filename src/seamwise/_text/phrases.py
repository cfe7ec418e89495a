"""Lists, counts and excerpts for use inside sentences."""

from collections.abc import Iterable, Sequence

from seamwise._text.shortening import shorten

MAX_LISTED = 20
"""Longer lists show their first 20 items and the number of the others."""


def join_quoted(names: Iterable[str], *, last: str = 'or') -> str:
    """Join names in quotes, at most 20 of them; `last` is the word before the last one.

    >>> join_quoted(('a.py', 'b.py', 'c.py'))
    "'a.py', 'b.py' or 'c.py'"
    """
    return join_limited([repr(name) for name in names], last=last)


def join_limited(items: Sequence[object], *, last: str = 'and') -> str:
    """Join items as in a sentence, at most 20 of them; `last` is the word before the last one.

    >>> join_limited((1, 4, 7)), join_limited(range(100))[-20:]
    ('1, 4 and 7', ', 18, 19 and 80 more')
    """
    texts = [str(item) for item in items[:MAX_LISTED]]
    if len(items) > MAX_LISTED:
        return f'{", ".join(texts)} {last} {len(items) - MAX_LISTED} more'
    return f' {last} '.join(filter(None, [', '.join(texts[:-1]), *texts[-1:]]))


def pluralize(number: int, noun: str) -> str:
    """Return a number with its noun, which takes an `s` in the plural.

    >>> pluralize(1, 'hunk'), pluralize(2, 'hunk')
    ('1 hunk', '2 hunks')
    """
    return f'{number} {noun}' if number == 1 else f'{number} {noun}s'


def end_sentence(text: str) -> str:
    """Return a text that another sentence can follow; it gets a full stop if it has no end.

    >>> end_sentence('It took 3 s'), end_sentence('Why?')
    ('It took 3 s.', 'Why?')
    """
    return text if text.endswith(('.', '?', '!', '。')) else f'{text}.'


def truncate(text: str, limit: int) -> str:
    r"""Return a text without its last line ends, cut after `limit` characters.

    >>> truncate('one\ntwo\n', 5)
    'one\nt… (2 more)'
    """
    return shorten(text.rstrip('\n'), limit)
