"""Search for the lines of a document most similar to a text, at a bounded cost."""

from collections.abc import Iterator

from msgspec import Struct

from seamwise.toolhost.builtin.text.document import Document

MIN_SIMILARITY = 0.5
"""Less similar lines do not help the caller."""

MAX_LINES = 100_000
"""The number of lines that are searched, from the start of a document."""

SAMPLE_LENGTH = 500
"""In characters: the start of the text that is compared with every position."""

MAX_COMPARED_LENGTH = 10_000
"""In characters: the length of the final comparison at the best position."""


class SimilarText(Struct, frozen=True):
    """Lines of a document, the number of the first one, and their similarity (0 to 1)."""

    similarity: float
    text: str
    line: int


def most_similar(text: str, document: Document) -> SimilarText | None:
    r"""Return the lines most similar to a text, or None if none exceed `MIN_SIMILARITY`.

    >>> most_similar('line tow', Document('line one\nline two\n'))
    SimilarText(similarity=0.875, text='line two', line=2)
    """
    query = text.strip('\n')
    if not query:
        return None
    # Imported here: only a failed edit needs it.
    from rapidfuzz import fuzz, process  # noqa: PLC0415

    sample = query[:SAMPLE_LENGTH]
    best = process.extractOne(
        sample, _windows(document, sample), scorer=fuzz.ratio, score_cutoff=100 * MIN_SIMILARITY
    )
    if best is None:
        return None
    _text, _score, index = best
    lines = document.lines[index : index + query.count('\n') + 1]
    match = '\n'.join(lines)
    ratio = fuzz.ratio(query[:MAX_COMPARED_LENGTH], match[:MAX_COMPARED_LENGTH]) / 100
    return SimilarText(round(ratio, 3), match, index + 1) if ratio > MIN_SIMILARITY else None


def _windows(document: Document, sample: str) -> Iterator[str | None]:
    """Yield for each line a text of as many lines as the sample, or None if it is too long."""
    height = sample.count('\n') + 1
    starts = document.starts
    for line in range(min(len(document.lines), MAX_LINES)):
        start, end = starts[line], starts[min(line + height, len(starts) - 1)] - 1
        # A ratio of 0.5 allows at most three times the length.
        yield document.text[start:end] if end - start <= 3 * len(sample) else None
