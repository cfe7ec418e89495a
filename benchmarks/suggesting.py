"""Suggestions for an unknown tool among 10,000, compared with `difflib`."""

from collections.abc import Iterable
from difflib import get_close_matches
from itertools import product

from benchmarks.measure import Comparison, timed
from seamwise._text.close_matches import close_matches
from seamwise.catalog.tools import UnknownTool
from seamwise.seams.model.tables import TOOLS

_MISSPELLED = 'raed_user_file'
_VERBS = (
    'read',
    'write',
    'list',
    'search',
    'replace',
    'execute',
    'apply',
    'create',
    'delete',
    'update',
)
_NOUNS = ('file', 'folder', 'user', 'issue', 'page', 'mail', 'team', 'order', 'invoice', 'table')
_NAMES = tuple(
    f'{verb}_{noun}_{second_noun}_{number}'
    for verb, noun, second_noun, number in product(_VERBS, _NOUNS, _NOUNS, range(10))
)


def _build_error(rounds: Iterable[None]) -> None:
    for _ in rounds:
        UnknownTool(_MISSPELLED, 'default', _NAMES, close_matches(_MISSPELLED, _NAMES))


def _build_guidance(rounds: Iterable[None]) -> None:
    for _ in rounds:
        TOOLS(UnknownTool(_MISSPELLED, 'default', _NAMES, close_matches(_MISSPELLED, _NAMES)))


def _difflib_matches(rounds: Iterable[None]) -> None:
    for _ in rounds:
        get_close_matches(_MISSPELLED, _NAMES, n=3, cutoff=0.6)


COMPARISONS = (
    Comparison(
        job='`UnknownTool` with its suggestions, among 10,000 names',
        peer='`difflib.get_close_matches`',
        ours=timed(_build_error),
        theirs=timed(_difflib_matches),
        target=0.05,
        rounds=20,
        because='every name is compared with the misspelled one',
    ),
    Comparison(
        job='the same and its guidance for a model, redacted',
        peer='`difflib.get_close_matches`',
        ours=timed(_build_guidance),
        theirs=timed(_difflib_matches),
        target=0.05,
        rounds=20,
        because='every name is compared with the misspelled one, and the listed names are redacted',
    ),
)
