"""Each key of a document is found where it stands, however it is written."""

import tomllib
from collections.abc import Iterator

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from seamwise.toolhost.guards.toml_positions import KeyPositions, LineColumn, line_column
from seamwise.toolhost.schema import child_pointer, is_table

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
        # What is not there has the place of what it would stand in.
        ('/no', 1, 1),
        ('/default/retry/attempts/no', 3, 7),
        ('/tools/x~1y/deadline/deep/list/1/no', 9, 33),
        ('/tools/x~1y/deadline/a~1b', 9, 1),
    ],
)
def test_a_key_is_found_where_it_stands(pointer: str, line: int, column: int) -> None:
    tomllib.loads(DOCUMENT)
    assert KeyPositions(DOCUMENT).find(pointer) == LineColumn(line, column)
    assert KeyPositions(DOCUMENT.replace('\n', '\r\n')).find(pointer) == LineColumn(line, column)


def test_a_position_counts_from_one() -> None:
    assert [line_column('é\n\nb', offset) for offset in range(5)] == [
        (1, 1),
        (1, 2),
        (2, 1),
        (3, 1),
        (3, 2),
    ]


def test_what_is_no_toml_is_refused() -> None:
    with pytest.raises(ValueError, match='not valid TOML from offset 6 on'):
        KeyPositions('a = 1\n= 2').find('/a')


WORDS = st.text('ab."\'#=[]{}~/\\\n\té', min_size=0, max_size=3)
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
def written_keys(draw: st.DrawFn) -> tuple[str, str]:
    """Give a key and one of the ways to write it."""
    name = draw(WORDS)
    escaped = ''.join(f'\\u{ord(one):04x}' if one in '"\\\n\t' else one for one in name)
    ways = [f'"{escaped}"']
    if "'" not in name and '\n' not in name:
        ways.append(f"'{name}'")
    if name and set(name) <= set('ab'):
        ways.append(name)
    return name, draw(st.sampled_from(ways))


@st.composite
def documents(draw: st.DrawFn) -> tuple[str, dict[str, int]]:
    """Give a document, and where each of its keys stands by the pointer to it: written side by side, so that nothing is searched."""
    text, places = '', dict[str, int]()

    def key(parent: str, depth: int) -> str:
        nonlocal text
        pointer = parent
        for dot in ['', *['.'] * draw(st.integers(0, depth))]:
            name, written = draw(written_keys())
            pointer = child_pointer(pointer, name)
            text += draw(BLANKS) + dot + draw(BLANKS) if dot else ''
            places.setdefault(pointer, len(text))
            text += written
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
    return text, places


def is_toml(text: str) -> bool:
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return False
    return True


def pointers(value: object, pointer: str = '') -> Iterator[str]:
    if is_table(value):
        for name, one in value.items():
            yield child_pointer(pointer, name)
            yield from pointers(one, child_pointer(pointer, name))


@given(documents().filter(lambda made: is_toml(made[0])))
@example(('a = {"b" = 1}', {'/a': 0, '/a/b': 5}))
def test_every_key_of_any_document_is_found(made: tuple[str, dict[str, int]]) -> None:
    text, places = made
    known = set(pointers(tomllib.loads(text)))
    assert known == {one for one in places if one in known}
    for pointer in known:
        assert KeyPositions(text).find(pointer) == line_column(text, places[pointer])
