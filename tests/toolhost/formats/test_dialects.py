"""Formats of local models: read whole and at every cut, and nothing in them as another call."""

import asyncio
import json
from textwrap import indent

import pytest

from seamwise import Failure, Result, Success, TaggedError
from seamwise.catalog.parsing import UnreadableCall
from seamwise.catalog.tools import UnknownTool
from seamwise.toolhost import Processor, tool
from seamwise.toolhost.formats import FORMATS, Reader, parse
from seamwise.toolhost.formats.entries import is_array, is_object
from seamwise.toolhost.formats.untyped import UNTYPED, typed_arguments
from tests.toolhost.formats.helpers import call_in, calls_in, error_in, read_pieces
from tests.toolhost.formats.writers import (
    ASIDES,
    INDENTATIONS,
    JSON_WRITERS,
    LINE_ASIDES,
    REASONING,
    WRITERS,
    Writer,
)

TOOL = 'read_file'
TEXTS = {'path': 'a b.txt', 'note': 'line 1\nline "2" <b>é</b>'}
SPECIAL = ('<|', '<｜', '[TOOL_CALLS]', '```')
TAGS_AND_JSON = [name for name in WRITERS if not WRITERS[name]('a', {}).startswith(SPECIAL)]
every_writer = pytest.mark.parametrize('writer', WRITERS.values(), ids=WRITERS)


@every_writer
def test_a_call_is_read_whole_and_at_every_cut(writer: Writer) -> None:
    text = writer(TOOL, TEXTS)
    calls = parse(text)
    assert [(call.unwrap().tool, call.unwrap().arguments) for call in calls] == [(TOOL, TEXTS)]
    for cut in range(len(text) + 1):
        assert read_pieces([text[:cut], text[cut:]]) == calls
        assert read_pieces(text[:cut]) == parse(text[:cut])
    assert read_pieces(text) == calls


@every_writer
def test_a_call_that_is_cut_off_never_runs_with_other_arguments(writer: Writer) -> None:
    text = writer(TOOL, TEXTS)
    # An action of ReAct may have no input: its text alone does not show that it is cut off.
    begin = text.find('Input: {') + len('Input: {')
    for cut in range(begin, len(text)):
        for call in parse(text[:cut]):
            assert type(call) is Failure or call.unwrap().arguments == TEXTS


@every_writer
def test_a_call_without_arguments_is_read(writer: Writer) -> None:
    (call,) = calls_in(writer(TOOL, {}))
    assert (call.tool, call.arguments) == (TOOL, {})


@pytest.mark.parametrize('name', [name for name in WRITERS if not name.startswith('pythonic')])
def test_arguments_keep_their_types_or_are_texts(name: str) -> None:
    arguments = {'path': '418', 'line': 2, 'flag': True, 'more': {'a': [1, None]}}
    call = call_in(WRITERS[name](TOOL, arguments))
    assert call.format in FORMATS
    if call.format not in UNTYPED:
        assert call.arguments == arguments
        return
    assert call.arguments['line'] == '2'
    types = {'path': 'string', 'line': 'integer', 'flag': 'boolean', 'more': 'object'}
    properties = {key: {'type': type_} for key, type_ in types.items()}
    assert typed_arguments(call.arguments, {'properties': properties}) == arguments


@pytest.mark.parametrize(
    ('schema', 'value'),
    [
        ({'type': 'string'}, '7'),
        ({}, '7'),
        ({'type': ['integer', 'null']}, 7),
        ({'type': ['integer', 'string']}, '7'),
        ({'anyOf': [{'type': 'integer'}, {'type': 'null'}]}, 7),
        ({'anyOf': [{'type': 'integer'}, {'type': 'string'}]}, '7'),
        ({'$ref': '#/$defs/Count'}, 7),
        ({'enum': [7, 8]}, 7),
        ({'enum': ['7', 8]}, '7'),
        ({'const': 7}, 7),
        ({'$ref': '#/$defs/Loop'}, '7'),
    ],
)
def test_the_schema_of_a_tool_decides_the_type_of_a_text(
    schema: dict[str, object], value: object
) -> None:
    definitions = {'Count': {'type': 'integer'}, 'Loop': {'$ref': '#/$defs/Loop'}}
    root = {'properties': {'a': schema}, '$defs': definitions}
    assert typed_arguments({'a': '7'}, root) == {'a': value}


def test_constants_of_python_are_those_of_json() -> None:
    types = {'a': {'type': 'boolean'}, 'b': {'type': 'null'}, 'c': {'type': 'integer'}}
    raw = {'a': 'True', 'b': ' None ', 'c': 'seven'}
    expected = {'a': True, 'b': None, 'c': 'seven'}
    assert typed_arguments(raw, {'properties': types}) == expected


@pytest.mark.parametrize(
    ('schema', 'is_null'),
    [
        ({'type': 'string'}, False),
        ({}, False),
        ({'type': ['string', 'null']}, True),
        ({'anyOf': [{'type': 'string'}, {'type': 'null'}]}, True),
        ({'allOf': [{'type': ['string', 'null']}, {'type': 'string'}]}, False),
        ({'$ref': '#/$defs/Note'}, True),
        ({'$ref': '#/$defs/Loop'}, False),
        ({'enum': ['null', 'a']}, False),
        ({'enum': ['a', None]}, True),
    ],
)
def test_null_is_none_for_a_parameter_that_can_be_null(
    schema: dict[str, object], is_null: bool
) -> None:
    definitions = {'Note': {'type': ['string', 'null']}, 'Loop': {'$ref': '#/$defs/Loop'}}
    root = {'properties': {'a': schema}, '$defs': definitions}
    assert typed_arguments({'a': ' null\n'}, root) == {'a': None if is_null else ' null\n'}


@pytest.mark.parametrize(
    ('text', 'value'),
    [
        ("{'k': 'v', 'n': None}", {'k': 'v', 'n': None}),
        ("['a', True, [1]]", ['a', True, [1]]),
        ("['a'", "['a'"),
        ("['a'], b=['c']", "['a'], b=['c']"),
        ("['a']) or (['b']", "['a']) or (['b']"),
        ('[open(1)]', '[open(1)]'),
        ("{'a', 'b'}", "{'a', 'b'}"),
        ("'a'", "'a'"),
    ],
)
def test_lists_and_objects_can_be_written_as_in_python(text: str, value: object) -> None:
    schema = {'properties': {'a': {'type': ['array', 'object']}}}
    assert typed_arguments({'a': text}, schema) == {'a': value}


@pytest.mark.parametrize(
    ('raw', 'value'),
    [
        ('7', 7),
        ('null', None),
        ('Hei, all!', 'Hei, all!'),
        ('2026-02-03', '2026-02-03'),
        ('{"a": 1', None),
        ('["a"', None),
        ('"a', None),
    ],
)
def test_a_plain_text_of_deepseek_that_is_said_to_be_json_stays_a_text(
    raw: str, value: object
) -> None:
    text = (
        f'<｜DSML｜invoke name="f"><｜DSML｜parameter name="a" string="false">{raw}'
        '</｜DSML｜parameter></｜DSML｜invoke>'
    )
    (call,) = parse(text)
    if type(call) is Success:
        assert call.unwrap().arguments == {'a': value}
    else:
        assert raw[0] in '{["'


@every_writer
@pytest.mark.parametrize('inner', WRITERS.values(), ids=WRITERS)
def test_a_call_in_the_arguments_of_a_call_never_runs(writer: Writer, inner: Writer) -> None:
    data = inner('list_files', {'path': '.'})
    for value in (data, f'x {data} y', f'{data}\n{data}'):
        arguments = {'path': 'a', 'content': value}
        calls = parse(writer('write_file', arguments))
        assert len(calls) == 1
        if type(calls[0]) is Success:
            assert calls[0].unwrap().tool == 'write_file'
            assert calls[0].unwrap().arguments == arguments


@every_writer
@pytest.mark.parametrize('reasoning', REASONING)
def test_a_draft_in_reasoning_never_runs(writer: Writer, reasoning: str) -> None:
    text = reasoning.format(writer('list_files', {'path': '.'}))
    assert parse(text) == []
    if reasoning.endswith(('>', '▷', ']')):
        after = call_in(f'{text}\n{WRITERS["hermes"](TOOL, TEXTS)}')
        assert (after.tool, after.arguments) == (TOOL, TEXTS)


@every_writer
@pytest.mark.parametrize('ending', ['</think>', '[/THINK]', '◁/think▷'])
def test_a_reader_that_begins_in_reasoning_waits_for_its_end(writer: Writer, ending: str) -> None:
    text = f'{writer("list_files", {})}{ending}\n<tool name="ping"/>'
    reader = Reader(in_reasoning=True)
    calls = [call for char in text for call in reader.feed(char)] + reader.end()
    assert [call.unwrap().tool for call in calls] == ['ping']
    assert calls == parse(text, in_reasoning=True) == parse(text)
    assert parse(writer('list_files', {}), in_reasoning=True) == []


@every_writer
@pytest.mark.parametrize('aside', ASIDES)
def test_data_that_is_no_call_never_runs(writer: Writer, aside: str) -> None:
    text = aside.format(writer('list_files', {'path': '.'}))
    assert parse(text) == []
    assert read_pieces(text) == []


@pytest.mark.parametrize('indentation', INDENTATIONS)
@pytest.mark.parametrize('name', TAGS_AND_JSON)
def test_indented_code_never_runs(name: str, indentation: str) -> None:
    code = indent(WRITERS[name]('list_files', {'path': '.'}), indentation)
    ping = '{"name": "ping", "arguments": {}}'
    text = f'An example:\n  \n{code}\n\n{code}\nSo:\n\n   {ping}'
    calls = parse(text)
    assert [call.unwrap().tool for call in calls] == ['ping']
    for cut in range(len(text)):
        assert read_pieces([text[:cut], text[cut:]]) == calls


@every_writer
@pytest.mark.parametrize('before', ['\n\n    ', '\t\n\n\t', '<think>x</think>\n\n     '])
def test_the_first_line_of_an_answer_is_no_code(writer: Writer, before: str) -> None:
    text = before + writer('list_files', {'path': '.'})
    calls = parse(text)
    assert [call.unwrap().tool for call in calls] == ['list_files']
    for cut in range(len(text)):
        assert read_pieces([text[:cut], text[cut:]]) == calls


@pytest.mark.parametrize(
    'text',
    [
        'For <name> take: {}',
        '- <br> {}',
        '<tool_calls>{}</tool_calls>',
        '<my:function_call>{}</my:function_call>',
        '<answer>\n{}\n</answer>',
        '<p>Text</p> {}',
        '<b><i>Text</b> {} </i>',
        '</output> {}',
        '<|tool_call|>{}',
        '1. Do this:\n\n    ```json\n    {}\n    ```\n',
        'It is\n\n    <|python_tag|>{}',
        'a list:\n    {}',
    ],
)
def test_an_element_without_its_end_hides_no_call(text: str) -> None:
    text = text.replace('{}', '{"name": "ping", "arguments": {}}')
    calls = parse(text)
    assert [call.unwrap().tool for call in calls] == ['ping']
    for cut in range(len(text)):
        assert read_pieces([text[:cut], text[cut:]]) == calls


def test_a_reader_holds_the_calls_in_an_element_up_to_its_end() -> None:
    ping, pong = (f'{{"name": "{name}", "arguments": {{}}}}' for name in ('ping', 'pong'))
    reader = Reader()
    assert [call.unwrap().tool for call in reader.feed(f'{ping} <shown>{pong}')] == ['ping']
    assert reader.feed(f'</shown> <unknown> {ping}') == []
    (call,) = reader.end()
    assert call.unwrap().span == (93, 126)


@pytest.mark.parametrize(
    'token', ['<|im_start|>assistant\n', '<|end_header_id|>', '<｜Assistant｜>', '<|role_sep|>']
)
def test_a_reader_holds_no_calls_behind_the_tokens_of_a_template(token: str) -> None:
    assert len(Reader().feed(f'{token}{{"name": "ping", "arguments": {{}}}} ')) == 1


@pytest.mark.parametrize('header', ['analysis to=functions.a', 'analysis to=a <|constrain|>json'])
def test_a_call_in_the_reasoning_of_harmony_never_runs(header: str) -> None:
    text = f'<|channel|>{header}<|message|>{{"x": 1}}<|call|>'
    assert error_in(text).problem == 'the call is in the channel of the reasoning'
    assert read_pieces(text) == parse(text)
    in_role = '<|start|>assistant to=a<|channel|>analysis<|message|>{}<|call|>'
    assert error_in(in_role).tool == 'a'


@pytest.mark.parametrize(
    'tag',
    [
        '<INVOKE name="save"><PARAMETER name="t">{}</PARAMETER></INVOKE>',
        "<invoke name='save'><parameter name='t'>{}</parameter></invoke>",
        '<write_to_file mode="x"><path>a</path><content>{}</content></write_to_file>',
        '<read_file path="{}"/>',
        '<read_file />',
        '<function=save ><PARAMETER=t>{}</PARAMETER></function>',
        '<FUNCTION=save>\n<PARAMETER=t>\n{}\n</PARAMETER>\n</FUNCTION>',
        '<tool_call>\u200b\n<function=save><parameter=t>{}</parameter>\u200b</function></tool_call>',
    ],
)
def test_data_in_a_tag_that_is_nearly_one_of_a_format_never_runs(tag: str) -> None:
    draft = '{"name": "list_files", "arguments": {"path": "."}}'
    call = '{"name": "ping", "arguments": {}}'
    text = f'{tag.format(draft)}\n{call}'
    broken, whole = parse(text)
    assert type(broken) is Failure
    assert whole.unwrap().tool == 'ping'
    assert read_pieces(text) == [broken, whole]


@pytest.mark.parametrize(
    'tag',
    [
        '< invoke name="save">\n< parameter name="t">{}</ parameter>\n</ invoke>',
        '<\u200bfunction=save>\n<\u200bparameter=t>\n{}\n</\u200bparameter>\n</\u200bfunction>',
        '< tool_call>save\n< arg_key>t</ arg_key>\n< arg_value>{}</ arg_value>\n</ tool_call>',
        '<\ufeff｜DSML｜parameter name="t" string="true">{}</\ufeff｜DSML｜parameter>',
        '&lt;｜DSML｜parameter name="t" string="true"&gt;{}&lt;/｜DSML｜parameter&gt;',
        '&lt;function=save&gt;&lt;parameter=t&gt;{}&lt;/parameter&gt;&lt;/function&gt;',
        '<argument=t>\n{}\n</argument>',
    ],
)
def test_data_in_a_tag_that_is_only_written_like_one_of_a_format_never_runs(tag: str) -> None:
    text = f'{tag.format(WRITERS["bare"]("list_files", {"path": "."}))}\n<tool name="ping"/>'
    calls = parse(text)
    assert [call.unwrap().tool for call in calls] == ['ping']
    for size in range(1, 8):
        assert read_pieces([text[at : at + size] for at in range(0, len(text), size)]) == calls


@pytest.mark.parametrize(
    'tag',
    [
        '<TOOL_CALL>save\n<ARG_KEY>t</ARG_KEY>\n<ARG_VALUE>{}',
        '< invoke name="save">\n< parameter name="t">{}',
        '<FUNCTION=save>\n<PARAMETER=t>\n{}',
        '<\u200bfunction=save>\n<parameter=t>\n{}',
    ],
)
def test_data_in_such_a_tag_that_is_cut_off_never_runs(tag: str) -> None:
    text = tag.format(WRITERS['bare']('list_files', {'path': '.'}))
    assert all(type(call) is Failure for call in parse(text))
    assert read_pieces(text) == parse(text)


@pytest.mark.parametrize(
    'text',
    ['if a < b and c > d: {}', 'x <y=1, {}', '<｜DSML｜function_calls>{}</｜DSML｜function_calls>'],
)
def test_an_angle_bracket_in_prose_hides_no_call(text: str) -> None:
    text = text.replace('{}', '{"name": "ping", "arguments": {}}')
    calls = parse(text)
    assert [call.unwrap().tool for call in calls] == ['ping']
    assert read_pieces(text) == calls


@pytest.mark.parametrize('aside', LINE_ASIDES)
@pytest.mark.parametrize('name', [name for name in WRITERS if name != 'fence'])
def test_a_quote_or_code_in_a_line_never_runs(name: str, aside: str) -> None:
    call = WRITERS[name]('list_files', {'path': '.'})
    if '\n' in call or '`' in call:
        pytest.skip('the call has several lines, or code')
    text = aside.format(call)
    assert parse(text) == []
    assert read_pieces(text) == []


KEYS = (
    *('params', 'input', 'kwargs', 'action_input', 'Arguments', 'function_args', 'tool_input'),
    *('path', 'scope'),
)


@pytest.mark.parametrize('key', KEYS)
@pytest.mark.parametrize('name', JSON_WRITERS)
def test_arguments_under_another_key_are_unreadable(name: str, key: str) -> None:
    text = JSON_WRITERS[name]('wipe', {}).replace('"arguments": {}', f'"{key}": {{"a": "tmp"}}')
    calls = parse(text)
    if calls or name not in {'bare', 'array'}:
        assert [call.failure().problem for call in calls] == [
            f'the call has no arguments, but the key {key!r}'
        ]


@pytest.mark.parametrize('name', JSON_WRITERS)
def test_empty_arguments_beside_other_keys_are_unreadable(name: str) -> None:
    text = JSON_WRITERS[name]('wipe', {}).replace('{}', '{}, "scope": "tmp", "deep": true')
    problem = "the call has no arguments, but the keys 'scope' and 'deep'"
    assert error_in(text).problem == problem


@pytest.mark.parametrize('name', JSON_WRITERS)
def test_arguments_under_two_keys_are_unreadable(name: str) -> None:
    text = JSON_WRITERS[name]('wipe', {'a': 1}).replace('"arguments"', '"args": {}, "arguments"')
    problem = "the call has arguments in more than one place: 'args' and 'arguments'"
    assert error_in(text).problem == problem


@pytest.mark.parametrize('name', JSON_WRITERS)
def test_two_names_are_unreadable(name: str) -> None:
    text = JSON_WRITERS[name]('wipe', {'a': 1}).replace('"name"', '"tool": "add", "name"')
    assert error_in(text).problem == "the call has two names, 'wipe' and 'add'"


ANSWERS: list[dict[str, object]] = [
    {'choices': [{'finish_reason': 'length', 'message': {'tool_calls': [{'function': {}}]}}]},
    {'choices': [{'finish_reason': 'abort', 'message': {'tool_calls': [{'function': {}}]}}]},
    {'choices': [{'finish_reason': 'length', 'message': {'function_call': {}}}]},
    {'stop_reason': 'max_tokens', 'content': [{'type': 'tool_use', 'input': {}}]},
    {'stop_reason': 'refusal', 'content': [{'type': 'tool_use'}]},
    {'status': 'incomplete', 'output': [{'type': 'function_call', 'arguments': ''}]},
    {'output': [{'type': 'function_call', 'arguments': '', 'status': 'incomplete'}]},
    {'candidates': [{'finishReason': 'MAX_TOKENS', 'content': {'parts': [{'functionCall': {}}]}}]},
]


def named(value: object) -> object:
    """Return an answer with a name in each of its calls."""
    if is_array(value):
        return [named(item) for item in value]
    if not is_object(value):
        return value
    fields = {key: named(item) for key, item in value.items()}
    for key in ('function', 'function_call', 'functionCall'):
        if is_object(inner := fields.get(key)):
            fields[key] = {'name': 'wipe', **inner}
    return {'name': 'wipe', **fields} if 'type' in fields else fields


@pytest.mark.parametrize('answer', ANSWERS, ids=str)
def test_a_call_of_an_answer_that_was_stopped_is_cut_off(answer: dict[str, object]) -> None:
    output = named(answer)
    assert is_object(output)
    for calls in (parse(output), parse(json.dumps(output))):
        (call,) = calls
        assert (call.failure().tool, call.failure().problem) == ('wipe', 'the call is cut off')


BROKEN = [
    '<function=a><parameter=x>1</function>',
    '<function=a><parameter=x>1</parameter>and</function>',
    '<function=a><parameter=x>1</parameter><parameter=x>2</parameter></function>',
    '<function=a><parameter=x><parameter=y>1</parameter></parameter></function>',
    '<tool_call><function=a></function> and </tool_call>',
    '<tool_call>a\n<arg_key>x</arg_key>\n<arg_key>y</arg_key></tool_call>',
    '<invoke name="a"><parameter name="x">1</invoke>',
    '<invoke name="a">text</invoke>',
    '<｜DSML｜invoke name="a"><｜DSML｜parameter name="x">1</｜DSML｜parameter></｜DSML｜invoke>',
    '<｜tool▁calls▁begin｜>a<｜tool▁sep｜>{"x": 1}<｜tool▁calls▁end｜>',
    '<｜tool▁call▁begin｜>a<｜tool▁sep｜>{"x": 1<｜tool▁call▁end｜>',
    '<｜tool▁call▁begin｜>a<｜tool▁sep｜>{"x": 1}{"name": "b", "args": {}}<｜tool▁call▁end｜>',
    '<|tool_call_begin|>functions.a<|tool_call_argument_begin|>{"x": 1}<|tool_call_end|>',
    '<|tool_call_begin|>0<|tool_call_argument_begin|>{"x": 1}<|tool_call_end|>',
    '<|channel|>commentary to=functions.a<|message|>{"x": 1} {"x": 2}<|call|>',
    '<|channel|>commentary to=functions.a <|constrain|>code<|message|>{"x": 1}<|call|>',
    '<|channel|>commentary to=functions.a{"x": 1}<|call|>',
    '<|channel|>commentary to=functions.a<|message|>',
    "[a(x=1), b(y='",
    '<|python_start|>[a(x=b(y=1))]<|python_end|>',
    '<|python_start|>{"name": "a", "arguments": {}<|python_end|>',
    '<read_file><path>a</read_file>',
    '<read_file>\n<path>a</path> and </read_file>',
    '<read_file>\n<path>a<path>b</path></path></read_file>',
]


@pytest.mark.parametrize('text', BROKEN)
def test_a_call_outside_of_its_grammar_is_one_unreadable_call(text: str) -> None:
    assert error_in(text).problem
    assert read_pieces(text) == parse(text)
    ping = '\n<tool name="ping"/>'
    assert read_pieces([f'{text}{ping}']) == parse(f'{text}{ping}')


def test_prose_about_a_format_is_no_call() -> None:
    for text in (
        'Use <read_file> for that, not [a, b] or [x(y)](z).',
        'the list [f(x=1) for x in y] is code',
        'a < b > c, a <- b, <b>bold</b>, 5 > 4\n and <think about it',
    ):
        assert parse(text) == []
        assert [call.tool for call in calls_in(f'{text}\n<tool name="ping"/>')] == ['ping']


def test_the_names_of_tools_with_tags_can_be_given() -> None:
    text = '<my_tool>\n<city>Oslo</city>\n</my_tool>'
    assert parse(text) == []
    (call,) = parse(text, tools=['my_tool'])
    assert (call.unwrap().tool, call.unwrap().arguments) == ('my_tool', {'city': 'Oslo'})
    reader = Reader(tools=['my_tool'])
    assert [call for char in text for call in reader.feed(char)] == [call]


def test_a_section_may_have_several_calls() -> None:
    call = (
        '<|tool_call_begin|>functions.{0}:{1} <|tool_call_argument_begin|> {{}} <|tool_call_end|>'
    )
    text = f'<|tool_calls_section_begin|>{call.format("a", 0)}\n{call.format("b", 1)}'
    found = calls_in(f'{text}<|tool_calls_section_end|> and {{"name": "c", "arguments": {{}}}}')
    assert [(item.tool, item.id) for item in found] == [
        ('a', 'functions.a:0'),
        ('b', 'functions.b:1'),
        ('c', None),
    ]


def test_a_bad_call_of_a_list_takes_no_other_with_it() -> None:
    bad, good = parse('<|python_start|>[a(x=b"z"), b(x=1)]<|python_end|>')
    assert bad.failure().tool == 'a'
    assert good.unwrap().arguments == {'x': 1}


@pytest.mark.parametrize('mark', ['<|python_start|>', '<|tool_call_start|>'])
def test_a_text_in_a_list_behind_a_mark_may_have_several_lines(mark: str) -> None:
    text = f"{mark}[a(x='1)\n\t\"2\"]'), b()]<|python_end|> It's"
    first, second = calls = calls_in(text)
    assert (first.arguments, second.tool) == ({'x': '1)\n\t"2"]'}, 'b')
    for cut in range(len(text)):
        assert read_pieces([text[:cut], text[cut:]]) == [Success(call) for call in calls]


@pytest.mark.parametrize(
    'text',
    [
        "<|python_start|>[a(x='1)\n)]<|python_end|> It's. 'b')]",
        "<|python_start|>[a(x='1),\n b(y='2')]<|python_end|>",
        "<|python_start|>[a(x='1\\\n2')]<|python_end|>",
        "<|python_start|>[a(x='1)\n)]",
        "[a(x='1\n2')]",
    ],
)
def test_a_text_with_a_line_end_that_is_not_closed_is_unreadable(text: str) -> None:
    calls = parse(text)
    assert [type(call) for call in calls] == [Failure]
    for cut in range(len(text)):
        assert read_pieces([text[:cut], text[cut:]]) == calls


@tool
async def show(path: str, line: int = 1) -> str:
    """Show a line of a file."""
    return f'{path}:{line}'


def test_the_types_of_a_tool_decide_at_the_processor() -> None:
    async def main() -> list[object]:
        async with Processor(show) as processor:
            outcomes = await processor.run(WRITERS['qwen']('show', {'path': '418', 'line': 2}))
            return [outcome.result for outcome in outcomes]

    assert asyncio.run(main()) == [Success('418:2')]


OTHER_SPELLINGS = (
    *('Read_file', 'READ_FILE', 'readFile', 'read-file', 'read.file', 'read_files', 'read'),
    *('functions.functions.read_file', 'default_api.read_file', 'tools__read_file'),
    *('read_file\u200b', '\uff52ead_file', 'read_file\x00', 'read_file\u0301'),
)


@every_writer
@pytest.mark.parametrize('name', OTHER_SPELLINGS)
def test_a_call_of_a_name_runs_no_tool_with_a_similar_name(writer: Writer, name: str) -> None:
    runs: list[str] = []

    @tool
    def read_file(path: str = '') -> str:
        runs.append(path)
        return path

    async def run(output: str) -> list[Result[object, TaggedError]]:
        async with Processor(read_file) as processor:
            return [outcome.result for outcome in await processor.run(output)]

    results = asyncio.run(run(writer(name, {'path': 'a'})))
    assert not runs
    for result in results:
        error = result.failure()
        assert isinstance(error, UnknownTool | UnreadableCall)
        assert not isinstance(error, UnknownTool) or error.suggestions == ('read_file',)
