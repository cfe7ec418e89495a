"""The place in a text that is most like another text, at a bounded cost."""

from collections.abc import Iterator

from msgspec import Struct
from rapidfuzz import fuzz, process

from seamwise.toolhost.text.document import Document

SIMILAR = 0.5
"""What is less alike is no help."""

MOST_LINES = 100_000
"""So many lines of a file are looked at, from its beginning."""

SAMPLE = 500
"""In characters: so much of the beginning of the searched text is compared with every place."""

COMPARED = 10_000
"""In characters: so much is compared at the best place."""


class SimilarText(Struct, frozen=True):
    """Lines of a text, the number of the first of them, and how alike they are, from 0 to 1."""

    similarity: float
    text: str
    line: int


def most_similar(searched: str, document: Document) -> SimilarText | None:
    r"""Find the lines that are most like `searched`; None where none are more than half alike.

    >>> most_similar('line tow', Document('line one\nline two\n'))
    SimilarText(similarity=0.875, text='line two', line=2)
    """
    wanted = searched.strip('\n')
    if not wanted:
        return None
    sample = wanted[:SAMPLE]
    best = process.extractOne(
        sample, _windows(document, sample), scorer=fuzz.ratio, score_cutoff=100 * SIMILAR
    )
    if best is None:
        return None
    _text, _score, index = best
    lines = document.lines[index : index + wanted.count('\n') + 1]
    text = '\n'.join(lines)
    similarity = fuzz.ratio(wanted[:COMPARED], text[:COMPARED]) / 100
    return SimilarText(round(similarity, 3), text, index + 1) if similarity > SIMILAR else None


def _windows(document: Document, sample: str) -> Iterator[str | None]:
    """Give, for each line, as many lines from there on as the sample has; None where they cannot be half alike."""
    height = sample.count('\n') + 1
    starts = document.starts
    for first in range(min(len(document.lines), MOST_LINES)):
        start, end = starts[first], starts[min(first + height, len(starts) - 1)] - 1
        # Half alike means at most three times as long.
        yield document.text[start:end] if end - start <= 3 * len(sample) else None
