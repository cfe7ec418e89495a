"""Generated texts: no exception, the same calls from any pieces, and work that grows linearly.

`SEAMWISE_TEXTS` sets the number of the generated texts.
"""

import os
import random
from itertools import pairwise
from time import process_time
from typing import TypeVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seamwise import Failure
from seamwise.toolhost.formats import Reader, parse
from seamwise.toolhost.formats.reader import SIZE_LIMIT
from tests.toolhost.formats.helpers import read_pieces

CALLS = (
    '{"name": "a", "arguments": {}}', """<tool name="b" args='{"x": 1}'/>""",
    '<tool_call>{"name": "c", "arguments": {}}</tool_call>', '[TOOL_CALLS][{"name": "d"}]',
    '<|python_tag|>e.call(x=1)', 'Action: f\nAction Input: {}\n',
    '```json\n{"name": "g", "arguments": {}}\n```\n', '{"type": "tool_use", "name": "i"}',
    '{"tool_calls": [{"function": {"name": "h", "arguments": "{}"}}]}',
    '<|channel|>commentary to=functions.j <|constrain|>json<|message|>{"x": 1}<|call|>',
    '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>k<｜tool▁sep｜>{}<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
    '<｜tool▁call▁begin｜>function<｜tool▁sep｜>k\n```json\n{"x": 1}\n```<｜tool▁call▁end｜>',
    '<|tool_call_begin|>functions.l:0<|tool_call_argument_begin|>{}<|tool_call_end|>',
    '<tool_call>\n<function=m>\n<parameter=x>\n1\n</parameter>\n</function>\n</tool_call>',
    '<function=m>{"x": 1}</function>', '[n(x=1), n()]', '<|python_start|>[n(x=1)]<|python_end|>',
    '<tool_call>o\n<arg_key>x</arg_key>\n<arg_value>1</arg_value>\n</tool_call>',
    '<function_calls><invoke name="p"><parameter name="x">1</parameter></invoke></function_calls>',
    '<minimax:tool_call><invoke name="q"></invoke></minimax:tool_call>',
    '<read_file>\n<path>x</path>\n</read_file>',
    '<｜DSML｜invoke name="r">{"x": 1}</｜DSML｜invoke>', '[{"name": "s", "arguments": {}}]',
    '{"tool_calls": [{"tool": "t", "arguments": {"x": 1}}]}',
)  # fmt: skip
OPENINGS = (
    '<tool name="a" args="', "<tool name='a' args='{", '<tool ', '<tool_call>',
    '<tool_call>{"name": "', '[TOOL_CALLS]', '[TOOL_CALLS][{"name": "', '[TOOL_CALLS]a[ARGS]{',
    '<|python_tag|>', '<|python_tag|>a.call(', '<|python_tag|>a.call(x="', '<|python_tag|>{',
    '{"name": "a", "arguments": {', '{"tool_calls": [', '{"function_call": ', '{"name": ',
    "{'", '{name:', '{"', '{', '[', '[{', '[1,', '"', "'", '\\', '```', '\n```json\n',
    '\n```json\n[', '\n```python\n', '\n~~~', '\nAction:', '\nAction: a\nAction Input: ',
    '\nAction Input: {', '\nAction: `a`\nAction Input: `', '\nObservation:', '\nThought:',
    '\nFinal Answer:', '\n> ', '`', '``',
    '<think>', '<Reasoning >', '[THINK]', '◁think▷', '<!--', '<tool_response>', '<tools x="">',
    '<|channel|>', '<|channel|>analysis<|message|>', '<|start|>assistant', '<|start|>x<|message|>',
    '<|channel|>commentary to=functions.a<|message|>', '<|channel|>x to=a<|message|>{"a": "',
    '<｜tool▁calls▁begin｜>', '<｜tool▁call▁begin｜>', '<｜tool▁call▁begin｜>a<｜tool▁sep｜>{"a',
    '<|tool_calls_section_begin|>', '<|tool_call_begin|>', '<|tool_call_begin|>a:0<|tool_call_arg',
    '<function=', '<function=a>', '<function=a><parameter=b>', '<tool_call><function=a>',
    '<tool_call>a\n<arg_key>b</arg_key>', '<tool_call>a\n<arg_key>b</arg_key><arg_value>',
    '<invoke name="a">', '<invoke name="a"><parameter name="b">', '<invoke ', '<minimax:tool_call>',
    '<｜DSML｜invoke name="a"><｜DSML｜parameter name="b" string="true">', '<read_file><path>',
    '<output>', '<b>', '<|note|>', '<|think|>', '\nHuman:', '\n### User:', '\nTool result:',
    '\n\n    ', '\n \n\t', '\n    ', '<x a="',
    '[output]', '&lt;b&gt;', ' > ', '- > ', '\n$ ', '\n@@ -1', '<_b>', '</ b>',
    '```{.b}\n', '[|user|]',
    '<p>', '<p>\n', '<p>x</p>', '<div><p>x</p>', '<p/>', '<P>x</P>', '[a(b=1), ',
    '<read_file>', '[a(', '[a(b=', "[a(b='", '<|python_start|>', '<|tool_call_start|>[a(b=',
)  # fmt: skip
OTHERS = (
    '</tool_call>', '</tool>', '/>', '}', ']', '}}', '\n', '\r\n', ' ', '\t', ',', ':', '&', '&#',
    '&amp;', '<', '>', '\\"', '\\u00', '\\ud800', '1', '-', '1e9', 'é', '🙂', ';', '(', ')', '=',
    'x=1,', '"a": 1,', '"k": "v"}', '"arguments": ', '`', '~~~', '\ufeff', '\x00', '<|eom_id|>',
    ' text ', '\n{"name"', '</tool_call>\n<tool_call>{"', '<|message|>', '<|call|>', '<|end|>',
    '<｜tool▁sep｜>', '<｜tool▁call▁end｜>', '<｜tool▁calls▁end｜>', '<|tool_call_end|>',
    '<|tool_calls_section_end|>', '</parameter>', '</function>', '</arg_value>', '</invoke>',
    '</read_file>', '</path>', '<|python_end|>', '-->', '</tool_response>', "x='1'", '\n\n',
    '</output>', '</b>', '<|/note|>',
)  # fmt: skip
PARTS = (*CALLS, *OPENINGS, *OTHERS)
COUNT = int(os.environ.get('SEAMWISE_TEXTS', '100000'))

T = TypeVar('T', str, bytes)

# The end of reasoning without its beginning takes back calls that a reader has returned already.
CLOSINGS = ('</think>', '</Reasoning>', '[/THINK]', '◁/think▷')

texts = st.lists(st.sampled_from(PARTS), max_size=12).map(''.join) | st.text()


def cut(text: T, cuts: list[int]) -> list[T]:
    """Return the pieces of a text between some positions."""
    bounds = [0, *sorted(position % (len(text) + 1) for position in cuts), len(text)]
    return [text[start:end] for start, end in pairwise(bounds)]


@settings(max_examples=300)
@given(texts, st.lists(st.integers(0, 10_000), max_size=6))
def test_a_generated_text_has_the_same_calls_in_any_pieces(text: str, cuts: list[int]) -> None:
    calls = parse(text)
    assert read_pieces(cut(text, cuts)) == calls
    assert read_pieces(text) == calls


@settings(max_examples=300)
@given(st.binary() | texts.map(str.encode), st.lists(st.integers(0, 10_000), max_size=6))
def test_bytes_have_the_same_calls_in_any_pieces_also_within_a_character(
    data: bytes, cuts: list[int]
) -> None:
    calls = parse(data)
    in_pieces = read_pieces(cut(data, cuts))
    if is_utf8(data):
        assert in_pieces == calls
    else:
        # The calls before the invalid byte came out before it was seen.
        assert in_pieces[-1:] == calls
        assert all(call.failure().format != 'text' for call in in_pieces[:-1] if is_failure(call))


def is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def is_failure(call: object) -> bool:
    return type(call) is Failure


@pytest.mark.parametrize(
    'text',
    [
        '{"tool_calls": [\nnull, {"function": {"name": "a"',
        '[TOOL_CALLS][{"name": [\ntrue, "arguments": {}}]',
        '<|python_tag|>{"name": [\nfalse, "parameters": {}}',
        'x ```python\ny``````python\n{"name": "a", "arguments": {}}\n```\n',
    ],
)
def test_a_literal_or_a_fence_may_be_cut(text: str) -> None:
    assert read_pieces(text) == parse(text)


@pytest.mark.slow
@pytest.mark.nightly
def test_no_generated_text_raises_and_pieces_change_nothing() -> None:
    chance = random.Random(16)  # noqa: S311 -- the same texts in every run
    for number in range(COUNT):
        text = ''.join(chance.choices(PARTS, k=chance.randint(1, 9)))
        calls = parse(text)
        pieces: list[str] | list[bytes] = cut(text, chance.choices(range(10_000), k=3))
        if number % 2:
            pieces = cut(text.encode(), chance.choices(range(10_000), k=3))
        assert read_pieces(pieces) == calls, repr(text)


def work(text: str) -> float:
    """Return the seconds of processor time for a text, at best."""
    times: list[float] = []
    for _ in range(3):
        start = process_time()
        parse(text)
        times.append(process_time() - start)
    return min(times)


@pytest.mark.slow
@pytest.mark.parametrize('opening', [*OPENINGS, *CALLS, '<tool ~~~&amp;', '~~~[TOOL_CALLS]'])
def test_the_work_for_a_repeated_opening_grows_linearly(opening: str) -> None:
    """The text grows by 16; quadratic work would grow by 256."""
    sizes = (8_000, 128_000)
    # Without a call at its end, a text of other marks is not read.
    short, long = (work(f'{opening * (size // len(opening))}\n{CALLS[0]}') for size in sizes)
    assert long < 64 * max(short, 1e-4)


@pytest.mark.slow
def test_the_work_for_sections_in_one_piece_grows_linearly() -> None:
    """The text grows by 16; a search for a cut mark after each section would grow by 256."""
    call = '<|tool_call_begin|>functions.l:0<|tool_call_argument_begin|>{}<|tool_call_end|>'
    section = f'<|tool_calls_section_begin|>{call}<|tool_calls_section_end|>'
    times: list[float] = []
    for count in (125, 2000):
        text = (section + 'prose ' * 20) * count
        start = process_time()
        assert len(Reader().feed(text)) >= count - 1
        times.append(process_time() - start)
    assert times[1] < 64 * max(times[0], 1e-4)


@pytest.mark.parametrize(
    'code',
    [
        '[n(x=1), n()]', '[n(x=(1, "]")), n (x=\'{\')]', '[n(x=[[1]])]', '[n(x=1),]', '[n(), 1]',
        '[n(x="{")\n]', '[n(x=1)] [n(x={"name": "b", "arguments": {}})]', '[n(x=<b>), m()]',
        '[n(x=1)\u3000]',
    ],
)  # fmt: skip
def test_a_list_of_python_calls_in_prose_is_no_call_and_hides_what_it_contains(code: str) -> None:
    text = f'See {code} and {CALLS[0]}'
    assert [call.unwrap().tool for call in parse(text)] == ['a']
    assert read_pieces(text) == parse(text)


@pytest.mark.parametrize('tools', [(), ('li',), ('br',)])
@pytest.mark.parametrize(
    ('page', 'has_call'),
    [
        ('<ul>\n  <li>One</li>\n  <li class="x">Two <b>bold</b><br>words</li>\n</ul>\n{}', True),
        ('<p>So</p>\n\n    {}', False),
        ('<p>So</p>\n> {}', False),
        ('<p>So</p>\nHuman: {}', False),
        ('<div><p>One</p>{}</div>', False),
        ('<div><p>One</p>{}', True),
        ('<div><b>one</i></div>{}</b>', True),
        ('<p>`</p>{}`', False),
        ('<p>`</p>`{}', True),
        ('<div><p>One<p>Two</div>{}</p>', True),
        ('<div><p>One<p>Two{}</div></p>', False),
        ('<P>One<p>Two</P>{}</p>', False),
    ],
)
def test_a_page_before_a_call_hides_it_only_if_an_element_contains_it(
    page: str, tools: tuple[str, ...], *, has_call: bool
) -> None:
    text = page.format(CALLS[1])
    calls = parse(text, tools=tools)
    assert [call.unwrap().tool for call in calls if type(call) is not Failure] == ['b'] * has_call
    reader = Reader(tools=tools)
    assert [call for piece in text for call in reader.feed(piece)] + reader.end() == calls


@pytest.mark.slow
def test_the_work_for_fences_of_falling_lengths_grows_linearly() -> None:
    """The text grows by 16; a search for the end of each fence would grow by 64."""
    short, long = (
        work('x ' + ' '.join('`' * size + 'a' for size in range(count, 2, -1)) + CALLS[0])
        for count in (350, 1400)
    )
    assert long < 48 * max(short, 1e-4)


@pytest.mark.slow
@pytest.mark.nightly
def test_the_work_for_a_mixture_of_openings_grows_linearly() -> None:
    chance = random.Random(16)  # noqa: S311 -- the same texts in every run
    for _ in range(150):
        unit = ''.join(chance.choices(PARTS, k=chance.randint(1, 4)))
        head, end = chance.choices(PARTS, k=2)
        short, long = (work(head + unit * (size // len(unit)) + end) for size in (4_000, 64_000))
        assert long < 64 * max(short, 1e-4), repr((head, unit, end))


@pytest.mark.slow
@pytest.mark.parametrize('opening', OPENINGS)
def test_a_megabyte_of_an_opening_is_read(opening: str) -> None:
    calls = parse(opening * (2**20 // len(opening)))
    # An action without an input has no arguments, and all others cannot be read.
    assert all(is_failure(call) or call.unwrap().arguments == {} for call in calls)


@pytest.mark.slow
@pytest.mark.parametrize('opening', ['[', '{"a":', '{"name": "a", "arguments": {"a":', '"' + '['])
@pytest.mark.parametrize('levels', [150, 250, 100_000])
def test_any_number_of_levels_is_read_without_an_exception(opening: str, levels: int) -> None:
    text = opening * levels
    assert read_pieces([text[:1000], text[1000:]]) == parse(text)
    closed = f'<tool_call>{"[" * levels}{"]" * levels}</tool_call>'
    assert is_failure(parse(closed)[0])


def test_a_call_that_never_ends_is_held_up_to_16_mib() -> None:
    reader = Reader()
    piece = 'x' * 2**20
    assert reader.feed('<tool_call>{"name": "a", "arguments": {"text": "') == []
    fed = [call for _ in range(16) for call in reader.feed(piece)]
    (call,) = fed
    assert (call.failure().format, call.failure().position) == ('text', 0)
    assert f'{SIZE_LIMIT:,} characters' in call.failure().problem
    assert reader.feed('"}}</tool_call><tool name="b"/>') == []
    assert reader.end() == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ('piece', 'count'),
    [(CALLS[0] + '\n', 80_000), ('<b>', 90_000), ('words\n' * 2**16, 48)],
    ids=['calls', 'elements', 'text'],
)
def test_the_calls_in_an_open_element_are_held_up_to_16_mib(piece: str, count: int) -> None:
    reader = Reader()
    assert reader.feed(f'<shown>{CALLS[0]}\n') == []
    calls = [
        call
        for start in range(0, count, 1000)
        for call in reader.feed(piece * min(1000, count - start))
    ]
    (call,) = calls
    assert f'{SIZE_LIMIT:,} characters' in call.failure().problem
    assert reader.feed('</shown>') + reader.end() == []


def test_a_held_call_does_not_run_where_the_text_is_too_long() -> None:
    reader = Reader()
    assert reader.feed(f'<shown>{CALLS[0]}<tool_call>{{"name": "a", "arguments": {{"text": "') == []
    calls = [call for _ in range(17) for call in reader.feed('x' * 2**20)]
    assert [call.failure().format for call in calls] == ['text']


@pytest.mark.parametrize('count', [1000, 1001, 1002, 1500])
def test_many_broken_calls_are_merged_and_hide_no_call(count: int) -> None:
    broken, call = '<tool_call>{</tool_call>\n', '<tool name="b"/>\n'
    text = (broken + call) * count
    calls = parse(text)
    assert [item.unwrap().tool for item in calls if not is_failure(item)] == ['b'] * count
    failures = [item.failure() for item in calls if is_failure(item)]
    assert len(failures) == min(count, 1001)
    if count > 1001:
        problem = f'it is the first of {count - 1000} more calls that cannot be read'
        assert failures[-1].problem == problem
        assert failures[-1].position == failures[0].position + 1000 * len(broken + call)
    assert read_pieces([text[start : start + 999] for start in range(0, len(text), 999)]) == calls


def test_a_long_text_without_an_open_call_is_not_held() -> None:
    reader = Reader()
    piece = 'prose\n' * 2**16
    assert [call for _ in range(48) for call in reader.feed(piece)] == []
    (call,) = reader.feed('<tool name="b"/>')
    assert call.unwrap().span == (48 * len(piece), 48 * len(piece) + 16)
    assert reader.end() == []
