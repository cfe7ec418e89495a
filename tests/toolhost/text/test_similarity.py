"""The most similar place is found, and at a bounded cost."""

import pytest

from seamwise.toolhost.text import similarity as similar
from seamwise.toolhost.text.document import Document
from seamwise.toolhost.text.similarity import SimilarText, most_similar

TEXT = Document(
    'def main():\n    print("hello")\n    return 1\n\ndef other():\n    print("bye")\n    return 2\n'
)


def test_one_line_is_found_by_what_it_has_in_common() -> None:
    found = most_similar('def othr():', TEXT)
    assert found is not None
    assert (found.line, found.text) == (5, 'def other():')
    assert 0.9 < found.similarity < 1


def test_several_lines_are_found_together() -> None:
    found = most_similar('def other():\n    print("good bye")\n', TEXT)
    assert found is not None
    assert (found.line, found.text) == (5, 'def other():\n    print("bye")')


def test_what_is_not_half_alike_is_not_given() -> None:
    assert most_similar('zzzzzzzzzzzz', TEXT) is None
    assert most_similar('x', Document('')) is None
    assert most_similar('\n\n', TEXT) is None


def test_the_end_of_a_file_may_be_shorter_than_what_is_searched_for() -> None:
    found = most_similar('    print("bye")\n    return 2\nend', TEXT)
    assert found is not None
    assert (found.line, found.text) == (6, '    print("bye")\n    return 2')


def test_a_long_text_is_found_by_its_beginning_and_compared_as_a_whole() -> None:
    lines = [f'line number {number} of the file' for number in range(200)]
    searched = '\n'.join([*lines[100:140], *['a value of another type'] * 40])
    found = most_similar(searched, Document('\n'.join(lines)))
    assert found is not None
    assert found.line == 101
    assert found.text.count('\n') == 79
    assert found.similarity < 0.8
    unlike = '\n'.join([*lines[100:120], *['---------------------------------'] * 80])
    assert most_similar(unlike, Document('\n'.join(lines))) is None


def test_lines_that_are_too_long_to_be_alike_are_not_compared() -> None:
    found = most_similar('needle in', Document('x' * 1_000_000 + '\nneedle on\n'))
    assert found == SimilarText(similarity=0.889, text='needle on', line=2)


def test_only_the_beginning_of_a_file_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(similar, 'MAX_LINES', 4)
    found = most_similar('def other()', TEXT)
    assert found is not None
    assert found.line == 1
