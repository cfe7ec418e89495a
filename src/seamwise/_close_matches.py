"""Names that somebody may have meant."""

from collections.abc import Iterable

MOST = 3
"""So many suggestions are enough."""

CLOSE = 60
"""In percent: a name that is less like the one given is not suggested."""

LONGEST = 255
"""In characters: a longer name is nobody's typing error, and not worth the time."""


def close_matches(name: str, names: Iterable[str]) -> tuple[str, ...]:
    """Give up to three of `names` that are much like `name`, the nearest first, upper and lower case aside.

    Without rapidfuzz there are none.

    >>> close_matches('raed_file', ['list_files', 'write_file', 'read_file'])
    ('read_file', 'write_file')
    """
    try:
        from rapidfuzz import fuzz, process  # noqa: PLC0415 -- comes with the extras `cli` and `toolhost`
    except ModuleNotFoundError:
        # What happened must be told all the same; who may have been meant is an addition to it.
        return ()
    if len(name) > LONGEST:
        return ()
    found = process.extract(
        name, names, scorer=fuzz.ratio, processor=str.casefold, limit=MOST, score_cutoff=CLOSE
    )
    return tuple(one for one, _score, _index in found)
