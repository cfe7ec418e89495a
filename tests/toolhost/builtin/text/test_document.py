"""Documents and edits: the parts of a file that no edit touches stay unchanged."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seamwise.toolhost.builtin.text.document import Document, TextEdit

CONTENTS = st.lists(
    st.sampled_from(['a', 'bc', '', '\n', '\r\n', '\r', '\x0b', '\u2028', '\ufeff', '数']),
    max_size=12,
).map(''.join)


@given(CONTENTS)
def test_a_document_without_edits_is_unchanged(content: str) -> None:
    assert Document(content).apply_edits([]) == content


@given(CONTENTS)
def test_the_text_has_normalized_line_ends_and_a_last_newline(content: str) -> None:
    document = Document(content)
    assert '\r\n' not in document.text or '\r\r\n' in content or content.endswith('\r')
    assert document.text == '' or document.text.endswith('\n')
    assert ''.join(f'{line}\n' for line in document.lines) == document.text
    assert len(document.starts) == len(document.lines) + 1
    for number, (start, line) in enumerate(zip(document.starts, document.lines, strict=False), 1):
        assert document.text.startswith(line, start)
        assert document.line_at(start) == number


@given(CONTENTS, st.data())
def test_an_edit_changes_its_own_range_only(content: str, data: st.DataObject) -> None:
    document = Document(content)
    start = data.draw(st.integers(0, len(document.text)))
    end = data.draw(st.integers(start, len(document.text)))
    edited = Document(document.apply_edits([TextEdit(start, end, 'X')]))
    expected = document.text[:start] + 'X' + document.text[end:]
    # A carriage return before the file's own line end can become part of a line end.
    actual, normalized_expected = (
        re.sub('[\r\n]+$', '', text.replace('\r\n', '\n')) for text in (edited.text, expected)
    )
    assert actual == normalized_expected


@pytest.mark.parametrize(
    ('content', 'edits', 'expected'),
    [
        ('one\ntwo\n', [TextEdit(0, 3, '1')], '1\ntwo\n'),
        ('one\r\ntwo\r\n', [TextEdit(0, 3, '1\n1')], '1\r\n1\r\ntwo\r\n'),
        ('one\r\ntwo\r\n', [TextEdit(0, 4, '')], 'two\r\n'),
        ('one\r\ntwo\r\n', [TextEdit(3, 4, '-')], 'one-two\r\n'),
        ('one\r\ntwo\nthree\r\n', [TextEdit(4, 7, 'x\ny')], 'one\r\nx\r\ny\nthree\r\n'),
        ('one\ntwo\r\nthree\n', [TextEdit(4, 7, 'x\ny')], 'one\nx\ny\r\nthree\n'),
        ('one\ntwo', [TextEdit(4, 7, 'x')], 'one\nx'),
        ('one\ntwo', [TextEdit(4, 8, 'x\n')], 'one\nx'),
        ('one\ntwo', [TextEdit(8, 8, 'three\n')], 'one\ntwo\nthree'),
        ('one\r\ntwo', [TextEdit(8, 8, 'three\n')], 'one\r\ntwo\r\nthree'),
        ('', [TextEdit(0, 0, 'one\n')], 'one\n'),
        ('\ufeffone\n', [TextEdit(0, 3, '1')], '\ufeff1\n'),
        ('a\r', [TextEdit(0, 1, 'b')], 'b\r'),
        (
            'one\ntwo\nthree\n',
            [TextEdit(0, 3, '1'), TextEdit(4, 7, '2'), TextEdit(8, 8, '-')],
            '1\n2\n-three\n',
        ),
    ],
)
def test_edits_use_the_line_ends_of_the_file(
    content: str, edits: list[TextEdit], expected: str
) -> None:
    assert Document(content).apply_edits(edits) == expected


@pytest.mark.parametrize('content', ['one\r\ntwo\r\n', 'one\r\ntwo'])
@pytest.mark.parametrize(
    ('last_newline', 'expected'), [(True, 'one\r\ntwo\r\n'), (False, 'one\r\ntwo')]
)
def test_a_last_newline_can_be_added_or_removed(
    content: str, last_newline: bool, expected: str
) -> None:
    assert Document(content).apply_edits([], last_newline=last_newline) == expected
