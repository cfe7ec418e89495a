"""A quick look for what could be a secret, for the many texts that hold none."""

from collections import defaultdict
from collections.abc import Iterable
from re import compile as pattern
from re import escape

from seamwise.redaction.in_text import _NEEDLES

_RAREST_FIRST = '@\\=zjx2wk:bv_-.chgs'
"""The characters that a needle is found by, the rarest in ordinary texts first; every needle has one of them."""


def _one_of(needles: Iterable[str]) -> str:
    """Give a pattern that finds any of the needles by its rarest character, and looks at its neighbours only there."""
    around: defaultdict[str, list[str]] = defaultdict(list)
    for needle in needles:
        anchor = next(one for one in _RAREST_FIRST if one in needle)
        before, _, after = needle.partition(anchor)
        around[anchor].append(
            escape(after) + (f'(?<={escape(before + anchor + after)})' if before else '')
        )
    return '|'.join(
        f'{escape(anchor)}(?:{"|".join(neighbours)})' for anchor, neighbours in around.items()
    )


find_suspect = pattern(_one_of(_NEEDLES)).search
"""Finds in a text in lower case what may be a secret; where it finds nothing, `redact` leaves the text as it is."""
