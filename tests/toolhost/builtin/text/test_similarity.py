"""Search for the most similar lines, at a bounded cost."""

import pytest

from seamwise.toolhost.builtin.text import similarity
from seamwise.toolhost.builtin.text.document import Document
from seamwise.toolhost.builtin.text.similarity import SimilarText, most_similar

TEXT = Document(
    'def main():\n    print("hello")\n    return 1\n\n'
    'def other():\n    print("bye")\n    return 2\n'
)


def test_a_similar_line_is_found() -> None:
    match = most_similar('def othr():', TEXT)
    assert match is not None
    assert (match.line, match.text) == (5, 'def other():')
    assert 0.9 < match.similarity < 1


def test_several_similar_lines_are_found() -> None:
    match = most_similar('def other():\n    print("good bye")\n', TEXT)
    assert match is not None
    assert (match.line, match.text) == (5, 'def other():\n    print("bye")')


def test_lines_below_the_minimum_similarity_are_not_returned() -> None:
    assert most_similar('zzzzzzzzzzzz', TEXT) is None
    assert most_similar('x', Document('')) is None
    assert most_similar('\n\n', TEXT) is None


def test_a_match_at_the_end_can_have_fewer_lines() -> None:
    match = most_similar('    print("bye")\n    return 2\nend', TEXT)
    assert match is not None
    assert (match.line, match.text) == (6, '    print("bye")\n    return 2')


def test_a_long_text_is_located_by_its_start_and_compared_in_full() -> None:
    lines = [f'line number {number} of the file' for number in range(200)]
    searched = '\n'.join([*lines[100:140], *['a value of another type'] * 40])
    match = most_similar(searched, Document('\n'.join(lines)))
    assert match is not None
    assert match.line == 101
    assert match.text.count('\n') == 79
    assert match.similarity < 0.8
    different = '\n'.join([*lines[100:120], *['---------------------------------'] * 80])
    assert most_similar(different, Document('\n'.join(lines))) is None


def test_lines_that_are_too_long_are_not_compared() -> None:
    match = most_similar('needle in', Document('x' * 1_000_000 + '\nneedle on\n'))
    assert match == SimilarText(similarity=0.889, text='needle on', line=2)


def test_only_the_first_lines_are_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(similarity, 'MAX_LINES', 4)
    match = most_similar('def other()', TEXT)
    assert match is not None
    assert match.line == 1
