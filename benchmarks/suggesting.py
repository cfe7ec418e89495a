"""An unknown tool among 10,000: the names that may have been meant, beside `difflib`."""

from collections.abc import Iterable
from difflib import get_close_matches
from itertools import product

from benchmarks.measure import Comparison, timed
from seamwise._close_matches import close_matches
from seamwise.catalog.tools import UnknownTool
from seamwise.seams.model.tables import TOOLS

_ASKED = 'raed_user_file'
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
    f'{verb}_{noun}_{kind}_{number}'
    for verb, noun, kind, number in product(_VERBS, _NOUNS, _NOUNS, range(10))
)


def _ours(turns: Iterable[None]) -> None:
    for _ in turns:
        UnknownTool(_ASKED, 'default', _NAMES, close_matches(_ASKED, _NAMES))


def _shown(turns: Iterable[None]) -> None:
    for _ in turns:
        TOOLS(UnknownTool(_ASKED, 'default', _NAMES, close_matches(_ASKED, _NAMES)))


def _difflib(turns: Iterable[None]) -> None:
    for _ in turns:
        get_close_matches(_ASKED, _NAMES, n=3, cutoff=0.6)


COMPARISONS = (
    Comparison(
        job='`UnknownTool` with its suggestions, among 10,000 names',
        peer='`difflib.get_close_matches`',
        ours=timed(_ours),
        theirs=timed(_difflib),
        target=0.05,
        rounds=20,
        because='every name is compared with the one that was asked for',
    ),
    Comparison(
        job='the same and its guidance for a model, redacted',
        peer='`difflib.get_close_matches`',
        ours=timed(_shown),
        theirs=timed(_difflib),
        target=0.05,
        rounds=20,
        because='every name is compared with the one that was asked for, and those that are shown are redacted',
    ),
)
