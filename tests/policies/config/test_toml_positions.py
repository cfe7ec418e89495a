"""Positions of keys in a TOML document, for every way to write a key."""

import tomllib
from collections.abc import Iterator

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from seamwise.policies.config.schema import child_pointer, is_table
from seamwise.policies.config.toml_positions import KeyPositions, LineColumn, line_column

DOCUMENT = '''\
# [no.table] here
[default] # nor = "here" [no]
retry.attempts = 3
 retry . "bud\\u0067et" = """
[no]
no = 1 ""\\""""""
'' = 'no = "'
[ tools . 'x/y' ]
deadline={seconds = 3, deep = { list = [1, {no=2}, "]", # no = ]
 ["}", \'\'\'
 ]\'\'\'] ]}, "a~b"=1979-05-27 07:32:00}
when = 1979-05-27 07:32:00 # no = 1
[[list]]
k = '#'
[[list]]
k = 1
[default.retry.inner]
last = true'''


@pytest.mark.parametrize(
    ('pointer', 'line', 'column'),
    [
        ('', 1, 1),
        ('/default', 2, 2),
        ('/default/retry', 3, 1),
        ('/default/retry/attempts', 3, 7),
        ('/default/retry/budget', 4, 10),
        ('/default/', 7, 1),
        ('/tools', 8, 3),
        ('/tools/x~1y', 8, 11),
        ('/tools/x~1y/deadline', 9, 1),
        ('/tools/x~1y/deadline/seconds', 9, 11),
        ('/tools/x~1y/deadline/deep/list', 9, 33),
        ('/tools/x~1y/deadline/a~0b', 11, 12),
        ('/tools/x~1y/when', 12, 1),
        ('/list/k', 14, 1),
        ('/default/retry/inner', 17, 16),
        ('/default/retry/inner/last', 18, 1),
        # A missing key has the position of its nearest parent.
        ('/no', 1, 1),
        ('/default/retry/attempts/no', 3, 7),
        ('/tools/x~1y/deadline/deep/list/1/no', 9, 33),
        ('/tools/x~1y/deadline/a~1b', 9, 1),
    ],
)
def test_a_key_is_found_at_its_position(pointer: str, line: int, column: int) -> None:
    tomllib.loads(DOCUMENT)
    assert KeyPositions(DOCUMENT).find(pointer) == LineColumn(line, column)
    assert KeyPositions(DOCUMENT.replace('\n', '\r\n')).find(pointer) == LineColumn(line, column)


def test_lines_and_columns_count_from_one() -> None:
    assert [line_column('é\n\nb', offset) for offset in range(5)] == [
        (1, 1),
        (1, 2),
        (2, 1),
        (3, 1),
        (3, 2),
    ]


def test_invalid_toml_is_rejected() -> None:
    with pytest.raises(ValueError, match='not valid TOML from offset 6 on'):
        KeyPositions('a = 1\n= 2').find('/a')


KEY_TEXTS = st.text('ab."\'#=[]{}~/\\\n\té', min_size=0, max_size=3)
BLANKS = st.sampled_from(['', ' ', '\t'])
VALUES = st.sampled_from(
    [
        '1',
        '-0.5',
        'true',
        '1979-05-27 07:32:00',
        "'x = 1'",
        '"\\"]#"',
        '"""a\n"b = 1""\n"""',
        "'''\n[c]'''",
        '[]',
        '[[1], {a = 1}]',
    ]
)


@st.composite
def keys_and_spellings(draw: st.DrawFn) -> tuple[str, str]:
    """Generate a key and one of its spellings."""
    name = draw(KEY_TEXTS)
    escaped = ''.join(
        f'\\u{ord(character):04x}' if character in '"\\\n\t' else character for character in name
    )
    spellings = [f'"{escaped}"']
    if "'" not in name and '\n' not in name:
        spellings.append(f"'{name}'")
    if name and set(name) <= set('ab'):
        spellings.append(name)
    return name, draw(st.sampled_from(spellings))


@st.composite
def documents(draw: st.DrawFn) -> tuple[str, dict[str, int]]:
    """Generate a document, and the offset of each key by its pointer.

    Both are built together, so that the offsets do not depend on a search.
    """
    text, offsets = '', dict[str, int]()

    def key(parent: str, depth: int) -> str:
        nonlocal text
        pointer = parent
        for dot in ['', *['.'] * draw(st.integers(0, depth))]:
            name, spelling = draw(keys_and_spellings())
            pointer = child_pointer(pointer, name)
            text += draw(BLANKS) + dot + draw(BLANKS) if dot else ''
            offsets.setdefault(pointer, len(text))
            text += spelling
        return pointer

    def pair(parent: str, depth: int) -> None:
        nonlocal text
        pointer = key(parent, depth)
        text += draw(BLANKS) + '=' + draw(BLANKS)
        if depth and draw(st.booleans()):
            text += '{' + draw(BLANKS)
            for number in range(draw(st.integers(0, 2))):
                text += ', ' if number else ''
                pair(pointer, depth - 1)
            text += draw(BLANKS) + '}'
        else:
            text += draw(VALUES)

    table = ''
    for _ in range(draw(st.integers(1, 5))):
        text += draw(st.sampled_from(['', '\n', '# a = 1\n', ' ']))
        if draw(st.integers(0, 3)) == 0:
            text += '[' + draw(BLANKS)
            table = key('', 1)
            text += draw(BLANKS) + ']'
        else:
            pair(table, 2)
        text += draw(st.sampled_from(['\n', ' # b = 2\n', '\r\n']))
    return text, offsets


def is_toml(text: str) -> bool:
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return False
    return True


def pointers(value: object, pointer: str = '') -> Iterator[str]:
    if is_table(value):
        for name, item in value.items():
            yield child_pointer(pointer, name)
            yield from pointers(item, child_pointer(pointer, name))


@given(documents().filter(lambda document: is_toml(document[0])))
@example(('a = {"b" = 1}', {'/a': 0, '/a/b': 5}))
def test_every_key_of_a_generated_document_is_found(document: tuple[str, dict[str, int]]) -> None:
    text, offsets = document
    existing = set(pointers(tomllib.loads(text)))
    assert existing == {pointer for pointer in offsets if pointer in existing}
    for pointer in existing:
        assert KeyPositions(text).find(pointer) == line_column(text, offsets[pointer])
