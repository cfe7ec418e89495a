"""Suggestions for a misspelt name."""

from collections.abc import Iterable

MAX_SUGGESTIONS = 3

MIN_SIMILARITY = 60
"""In percent; less similar names are not suggested."""

MAX_LENGTH = 255
"""In characters; a longer name is no typing error, and comparing it takes long."""


def close_matches(name: str, names: Iterable[str]) -> tuple[str, ...]:
    """Return up to three of `names` that are similar to `name`, the most similar first.

    Upper and lower case do not matter. Without rapidfuzz the result is empty.

    >>> close_matches('raed_file', ['list_files', 'write_file', 'read_file'])
    ('read_file', 'write_file')
    """
    try:
        from rapidfuzz import fuzz, process  # noqa: PLC0415 -- in the extras `cli` and `toolhost`
    except ModuleNotFoundError:
        # Suggestions are optional: the error that they belong to is reported without them.
        return ()
    if len(name) > MAX_LENGTH:
        return ()
    # rapidfuzz would call a `processor` for each pair, which takes six times as long.
    candidates = [*names]
    matches = process.extract(
        name.casefold(),
        [candidate.casefold() for candidate in candidates],
        scorer=fuzz.ratio,
        limit=MAX_SUGGESTIONS,
        score_cutoff=MIN_SIMILARITY,
    )
    return tuple(candidates[index] for _match, _score, index in matches)
