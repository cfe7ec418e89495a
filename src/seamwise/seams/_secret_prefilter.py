"""Fast search for possible secrets; most texts contain none, and skip redaction."""

from collections import defaultdict
from collections.abc import Iterable
from re import compile as pattern
from re import escape

from seamwise.redaction.in_text import _NEEDLES

_RAREST_FIRST = '@\\=zjx2wk:bv_-.chgs'
"""Anchor characters, the rarest in ordinary texts first. Every needle contains at least one."""


def _any_of(needles: Iterable[str]) -> str:
    """Return a pattern that finds a needle by its rarest character, then checks the neighbours."""
    by_anchor: defaultdict[str, list[str]] = defaultdict(list)
    for needle in needles:
        anchor = next(char for char in _RAREST_FIRST if char in needle)
        before, _, after = needle.partition(anchor)
        look_behind = f'(?<={escape(before + anchor + after)})' if before else ''
        by_anchor[anchor].append(escape(after) + look_behind)
    return '|'.join(
        f'{escape(anchor)}(?:{"|".join(neighbours)})' for anchor, neighbours in by_anchor.items()
    )


find_suspect = pattern(_any_of(_NEEDLES)).search
"""Search a lower-case text for a possible secret. Without a match, `redact` changes nothing."""
