"""Calls in texts: rules of each format beyond the vectors, and the places of calls in a text."""

import pytest

from seamwise import Failure
from seamwise.catalog.parsing import UnreadableCall
from seamwise.testing import assert_failure
from seamwise.toolhost.formats import parse
from tests.toolhost.formats.helpers import call_in, calls_in, error_in, outline, read_pieces

PING = '{"name": "ping", "arguments": {}}'
PONG = '<tool name="pong"/>'


def tools_in(text: str) -> list[str | None]:
    """Return the tools of the calls in a text, and None for each call that cannot be read.

    Reading the text in pieces must have the same result.
    """
    calls = parse(text)
    assert read_pieces(text) == calls
    for cut in range(len(text)):
        assert read_pieces([text[:cut], text[cut:]]) == calls
    return [None if type(call) is Failure else call.unwrap().tool for call in calls]


@pytest.mark.parametrize(
    'text',
    [
        '<TOOL NAME="ping" ARGS="{}"/>',
        "<Tool Args = '{}' Name = 'ping' ></TOOL >",
        '<tool\n  name="ping"\r\n  args="{\r\n}"\n/>',
        '<tool args="&#123;&#x7d;" name="ping"/>',
        '<tool name="ping" args=""/>',
        '<tool name="ping" args="  "/>',
    ],
)
def test_the_attributes_of_a_tag_may_be_written_in_any_way(text: str) -> None:
    assert outline(parse(text)) == [('xml', ('ping', {}))]


def test_the_entities_of_a_tag_are_decoded_once() -> None:
    text = '<tool name="a&lt;b" args="{&quot;x&quot;: &quot;&amp;lt;&quot;}" id="7" namespace="n"/>'
    call = call_in(text)
    assert (call.tool, call.arguments, call.id, call.namespace) == ('a<b', {'x': '&lt;'}, '7', 'n')


def test_backslashes_in_an_attribute_are_removed_once() -> None:
    call = call_in(r'<tool name="say" args="{\"text\": \"a \\\"b\\\" \\n\"}"/>')
    assert call.arguments == {'text': 'a "b" \n'}


def test_a_name_may_contain_spaces() -> None:
    assert tools_in('<tool name="read the file" args="{}"/>') == ['read the file']


@pytest.mark.parametrize(
    ('text', 'problem'),
    [
        ('<tool name="" args="{}"/>', 'the call has no name'),
        ('<tool args="{}"/>', 'the call has no name'),
        ('<tool name=ping/>', 'the tag is broken or cut off'),
        ('<tool name="ping" args="{}" args="{}"/>', 'the tag is broken or cut off'),
        ('<tool name="ping" args="{}">', 'the tag is not closed'),
        ('<tool name="ping">text</tool>', 'the tag has content'),
        ('<tool name="ping" args="5"/>', 'the arguments are not an object'),
        ("""<tool name="ping" args='"{}"'/>""", 'the arguments are encoded twice'),
        ('<tool name="ping" args="{\'a\': 1}"/>', 'object keys must be strings'),
        ("""<tool name="ping" args='{"a": 1, "a": 2}'/>""", 'an object has the same key twice'),
        (r"""<tool name="ping" args='{"a": "\ud800"}'/>""", 'half of a surrogate pair'),
        ('<tool name="&#xD800;"/>', 'half of a surrogate pair'),
        ('<tool name="\ud800"/>', 'half of a surrogate pair'),
    ],
)
def test_a_tag_that_cannot_be_read_says_why(text: str, problem: str) -> None:
    error = error_in(text)
    assert error.format == 'xml'
    assert error.problem.endswith(problem)
    assert (error.excerpt + (error.tool or '')).encode()


@pytest.mark.parametrize(
    ('text', 'tools'),
    [
        (f'<tool name="a" args="{{}}"> and {PONG}', [None, 'pong']),
        (f'<tool name="a {PONG}', [None, 'pong']),
        (f'<tool name="a" {PONG}', [None, 'pong']),
        (f"""<tool name="a" args='{{"x": 1'/> {PONG}""", [None, 'pong']),
        (f"""<tool name="a" args='{{"x": "1}}'/> {PONG}""", [None, 'pong']),
        (f'{{"name": "a" "arguments": {{}}}} {PONG}', [None, 'pong']),
        (f'{{"name": "a", "arguments": {{"x": 1}} {PONG}', [None, 'pong']),
        (f'{{"name": "a", "arguments": {{"x": 1}}\n{PING}', [None, 'ping']),
        (f'{{"name": "a", "arguments": {{"x": "1}}\n{PING}', [None, 'ping']),
        (f'{{"name": "a", "arguments": {{"x": "1\n2"}}}} {PING}', [None, 'ping']),
        (f'<tool_call>{{"name": "a"</tool_call><tool_call>{PING}</tool_call>', [None, 'ping']),
        (f'<tool_call>{{"name": "a</tool_call><tool_call>{PING}</tool_call>', [None, 'ping']),
        (f'<tool_call>\n{{"name": "a\n</tool_call>\n<tool_call>{PING}', [None, 'ping']),
        (f'<tool_call>{{"name": "a"\n{PONG}', [None, 'pong']),
        (f'[TOOL_CALLS][{{"name": "a", "arguments": {{}}}},]\n{PING}', [None, 'ping']),
        (f'[TOOL_CALLS] none\n{PING}', [None, 'ping']),
        (f'<|python_tag|>a.call(x=f())\n{PING}', [None, 'ping']),
        (f'<|python_tag|>a.call(x="1\n<|python_tag|>{PING}', [None, 'ping']),
        (f'```json\n{{"name": "a", "arguments": {{"x": 1\n```\n{PONG}', [None, 'pong']),
        ('Action: a\nAction Input: x\nAction: b\nAction Input: {}', [None, 'b']),
    ],
)
def test_a_call_that_cannot_be_read_takes_no_other_with_it(
    text: str, tools: list[str | None]
) -> None:
    assert tools_in(text) == tools


@pytest.mark.parametrize(
    'text',
    [
        '{"name": "say", "arguments": {"x": {"name": "ping", "arguments": {}}}}',
        """<tool name="say" args='{"x": "<tool name=\\"ping\\"/>"}'/>""",
        """<tool name="say" args='{"x": "</tool>"}'></tool>""",
        '<tool_call>{"name": "say", "arguments": {"x": "</tool_call>"}}</tool_call>',
        """<tool_call>{"name": "say", "arguments": {"x": "<tool name='ping'/>"}}</tool_call>""",
        """{"function_call": {"name": "say", "arguments": {"x": "<tool name='ping'/>"}}}""",
        """[TOOL_CALLS][{"name": "say", "arguments": {"x": "[TOOL_CALLS][]"}}]""",
        """<|python_tag|>say.call(x="<tool name='ping'/>")""",
        """Action: say\nAction Input: {"x": "<tool name='ping'/>"}""",
        '```json\n{"name": "say", "arguments": {"x": "```json\\n```"}}\n```',
    ],
)
def test_nothing_is_searched_in_a_call_that_was_read(text: str) -> None:
    assert tools_in(text) == ['say']


@pytest.mark.parametrize(
    'text',
    [
        '{"name": "say", "arguments": {"x": "\n{"name": "ping", "arguments": {}}\n"}}',
        '{"name": "say", "arguments": {"x": "a \\"b\\" <tool name=\\"ping\\"/>",}}',
        """{"name": "say", "arguments": {"x": "use <tool name="ping" args="{}"/> now"}}""",
    ],
)
def test_a_string_with_wrong_quotes_runs_nothing_in_it(text: str) -> None:
    assert tools_in(text) == [None]


@pytest.mark.parametrize('arguments', ['null', '""', '"  "', '{}', '"{}"', '"\\u007b}"'])
def test_absent_arguments_are_empty(arguments: str) -> None:
    text = f'{{"name": "ping", "arguments": {arguments}}}'
    assert call_in(text).arguments == {}


@pytest.mark.parametrize('arguments', ['3', '[]', 'true', '"3"', '"[]"', '"{"', r'"\"{}\""', '0'])
def test_arguments_that_are_no_object_are_unreadable(arguments: str) -> None:
    error = error_in(f'{{"name": "ping", "id": 7, "arguments": {arguments}}}')
    assert (error.tool, error.id, error.format) == ('ping', 7, 'bare')


@pytest.mark.parametrize(
    ('value', 'id_'),
    [
        ('"c1"', 'c1'),
        ('""', ''),
        ('0', 0),
        ('-7', -7),
        ('null', None),
        ('true', None),
        ('1.5', None),
        ('[1]', None),
    ],
)
def test_an_id_keeps_its_type(value: str, id_: str | int | None) -> None:
    call = call_in(f'{{"id": {value}, "name": "ping", "arguments": {{}}}}')
    assert (call.id, type(call.id)) == (id_, type(id_))


def test_calls_with_the_same_id_are_all_read() -> None:
    item = f'{{"id": "c1", "function": {PING}}}'
    text = f'{{"tool_calls": [{item}, {item}]}}'
    assert [call.id for call in calls_in(text)] == ['c1', 'c1']


@pytest.mark.parametrize('name', ['null', '5', '""', '[]', '{}'])
def test_a_call_without_a_name_is_unreadable(name: str) -> None:
    error = error_in(f'{{"name": {name}, "arguments": {{}}}}')
    assert (error.problem, error.tool) == ('the call has no name', None)


@pytest.mark.parametrize(
    'text',
    [
        "{'name': 'ping', 'arguments': {}}",
        "{name: 'ping', arguments: {}}",
        '{"name": "ping", arguments: {}}',
        '{"arguments": {}, "name": "ping"',
        '{"name": "ping", "arguments": {"a": 1e400}}',
        '{"name": "ping", "arguments": {"a": 01}}',
        '{"name": "ping", "arguments": {"a": Infinity}}',
        '{"name": "ping", "arguments": {"a": "\t"}}',
        '{"name": "ping", "arguments": {}, "arguments": {"a": 1}}',
        '{"name": "ping", "na\\u006de": "pong", "arguments": {}}',
        '{"name": "ping", "arguments": {"a": "\ud800"}}',
        '{"name": "ping", "arguments": // none\n{}}',
    ],
)
def test_a_broken_object_with_the_keys_of_a_call_is_unreadable(text: str) -> None:
    assert tools_in(text) == [None]
    assert error_in(text).format == 'bare'


@pytest.mark.parametrize(
    'text',
    [
        '{"name": "Ann", "age": 41,}',
        '{"arguments": {"a": 1',
        '{name: string; age: number}',
        'if (x) { "name" } else { y }',
        '{"calls": {"x": 1}, }',
        '<tools name="ping"/> </tool_call> <toolbox/>',
        'the TOOL_CALLS] of [tool_calls]',
        'Action: ping',
        'my Action Input: {}',
        '{"type": "function", "function": {"name": "ping", "parameters": {}}}',
        '5',
        '"<tool name=\\"ping\\"/>"',
        '[[{"name": "ping", "arguments": {}}]]',
        '[1, null, {"a": 1}]',
        '{"note": "{\\"name\\": \\"ping\\", \\"arguments\\": {}}"}',
        '{"tool_calls": null, "function_call": null, "functionCall": null}',
    ],
)
def test_other_text_has_no_call(text: str) -> None:
    assert tools_in(text) == []


def test_integers_are_exact_up_to_4300_digits() -> None:
    digits = '9' * 4300
    assert call_in(f'{{"name": "a", "arguments": {{"n": {digits}}}}}').arguments == {
        'n': int(digits)
    }
    error = error_in(f'{{"name": "a", "arguments": {{"n": {digits}9}}}}')
    assert error.problem == 'the JSON is broken: integer value out of range'


def test_numbers_keep_their_type() -> None:
    call = call_in('{"name": "a", "arguments": {"i": 1, "f": 1.0, "e": 1e2, "z": -0.0}}')
    assert [type(value) for value in call.arguments.values()] == [int, float, float, float]


def test_a_byte_order_mark_belongs_to_no_call() -> None:
    assert call_in(f'\ufeff{PING}').span == (1, 1 + len(PING))
    assert call_in(f'\ufeff[{PING}]').format == 'array'
    assert call_in(f'\ufeff{PING}'.encode()).span == (1, 1 + len(PING))


def test_spans_count_characters_not_bytes() -> None:
    text = f'🙂é {PONG} 🙂 {PING}'
    assert [text[slice(*call.span)] for call in calls_in(text) if call.span] == [PONG, PING]
    assert calls_in(text.encode()) == calls_in(text)


def test_the_position_in_invalid_bytes_counts_characters() -> None:
    error = error_in(f'é🙂{PING}'.encode() + b'\xff')
    assert (error.format, error.problem) == ('text', 'byte 0xff is not UTF-8')
    assert error.position == len(f'é🙂{PING}')


@pytest.mark.parametrize(
    ('text', 'calls'),
    [  # pyright: ignore[reportUnknownArgumentType]  # empty objects have no type
        (f'[{PING}, null, {{"a": 1}}]', [('array', ('ping', {})), ('array', None)]),
        (f'see [{PING}]', [('bare', ('ping', {}))]),
        (f'```json\n[{PING}]\n```', [('array', ('ping', {}))]),
        (f'```\n{PONG}\n```', [('xml', ('pong', {}))]),
        (f'```JSON\r\n{PING}\r\n```', [('bare', ('ping', {}))]),
        (f'~~~json\n[{PING}]\n~~~', [('array', ('ping', {}))]),
        (f'~~~python\n{PING}\n~~~\n{PONG}', [('xml', ('pong', {}))]),
        (f'so~~~ {PING}', [('bare', ('ping', {}))]),
        (f'```json\n{PING}', [('bare', ('ping', {}))]),
        (f'```python\n{PING}', []),
        (f'```python\nx\n```\n```json\n{PING}\n```', [('bare', ('ping', {}))]),
        (f'```markdown\n```json\n{PING}\n```\n```\n{PONG}', [('xml', ('pong', {}))]),
        (f'````markdown\n```json\n{PING}\n```\n````', []),
        (f'````json\n```\n{PING}\n```\n````', [('bare', ('ping', {}))]),
        (f'- a list\n  ```python\n  {PING}\n  ```\n{PONG}', [('xml', ('pong', {}))]),
        (f'```python\nx\n``` and {PONG}', [('xml', ('pong', {}))]),
        (f'a `{PING}` in a line', []),
        (f'in a line ```python {PING}``` and {PONG}', [('xml', ('pong', {}))]),
    ],
)
def test_a_fenced_block_is_read_if_it_says_json_or_nothing(
    text: str, calls: list[tuple[str, object]]
) -> None:
    assert outline(parse(text)) == calls
    tools_in(text)


def test_only_fence_reads_all_formats_in_blocks_and_nothing_else() -> None:
    text = f'{PONG}\n```json\n{PING}\n```\n{PONG}\n```\n{PONG}\n```\n{PING}'
    assert [call.format for call in calls_in(text, only=['fence'])] == ['bare', 'xml']
    assert [call.format for call in calls_in(text, only=['fence', 'xml'])] == [
        'xml', 'bare', 'xml', 'xml',
    ]  # fmt: skip


@pytest.mark.parametrize(
    ('text', 'tools'),
    [
        ('Action: a\nAction Input: {}\nObservation: <tool name="b"/>', ['a']),
        ('Thought: x\nObservation: <tool name="b"/>', []),
        (f'Action: search[x]\nObservation: {PING}', []),
        ('Action: a\nAction Input: {}\nThought: y\nAction: b\nAction Input: {}', ['a', 'b']),
        (
            'Action: a\nAction Input: {"x": "\\nObservation:"}\nAction: b\nAction Input:',
            ['a', None],
        ),
        ('Action: a\nAction Input:\nThought: x\nAction: b\nAction Input: {}', [None, 'b']),
        (f'The Observation: {PING}\nObservation: {PONG}', ['ping']),
        ('Action:a\r\nAction Input:{}\r\n', ['a']),
        ('Action: a\nAction Input:\n```json\n{\n}\n```\n', ['a']),
        ('Action: a\nAction Input: {\n "x": 1\n}\nFinal Answer: 5', ['a']),
        ('Action: a\nAction Input: {} and more', [None]),
        ('Action Input: {}', [None]),
    ],
)
def test_an_action_ends_before_its_observation(text: str, tools: list[str | None]) -> None:
    assert tools_in(text) == tools


@pytest.mark.parametrize(
    ('arguments', 'expected'),
    [
        ('', {}),
        ('x=1, y=-2.5, z=True, n=None', {'x': 1, 'y': -2.5, 'z': True, 'n': None}),
        ('l=[1, "b", None], d={"k": False}', {'l': [1, 'b', None], 'd': {'k': False}}),
        (r"""x='it\'s "so"'""", {'x': 'it\'s "so"'}),
        (r'x="\x41\u00e9\101\n\q\U0001f642"', {'x': 'Aé' + 'A\n\\q🙂'}),
        ('x="; <|eom_id|> <tool name=\'b\'/>"', {'x': "; <|eom_id|> <tool name='b'/>"}),
    ],
)
def test_a_python_call_has_literals_by_keyword(arguments: str, expected: dict[str, object]) -> None:
    text = f'<|python_tag|>a.b.call({arguments})<|eom_id|>'
    assert tools_in(text) == ['a.b']
    assert call_in(text).arguments == expected


@pytest.mark.parametrize(
    'arguments',
    [
        '"Oslo"',
        'x=f()',
        'x=1+1',
        'x=__import__("os").system("true")',
        'x=nan',
        'x=Infinity',
        'x=float("nan")',
        'x=1, x=2',
        'x=[1)',
        'x=1]',
        'x={1: 2}',
        '**{"x": 1}',
        'x=f"{y}"',
        'x="cut off',
        'x="a\\\nb"',
        'x=true',
        r'x="\N{DIGIT ONE}"',
        r'x="\ud800"',
        r'x="\U00110000"',
    ],
)
def test_a_python_call_with_anything_else_is_unreadable(arguments: str) -> None:
    text = f'<|python_tag|>a.call({arguments})'
    assert tools_in(text) == [None]
    assert error_in(text).tool == 'a'


@pytest.mark.parametrize(
    ('text', 'tools'),
    [
        ('<|python_tag|>a.call(x=1); b.call(y=2)', ['a', 'b']),
        ('<|python_tag|>{"name": "a", "parameters": {}}; {"name": "b"}', ['a', 'b']),
        ('<|python_tag|>[{"name": "a", "parameters": {}}, null]', ['a', None]),
        ('<|python_tag|>print("x")\n', [None]),
        ('[TOOL_CALLS]a{"x": 1}', ['a']),
        ('[TOOL_CALLS]a[CALL_ID]q[ARGS]{}[TOOL_CALLS]b[ARGS]{}', ['a', 'b']),
        ('[TOOL_CALLS] [{"name": "a"}, null, {"arguments": {}}]</s>', ['a', None, None]),
        ('[TOOL_CALLS]{"name": "a"}', ['a']),
        ('[TOOL_CALLS][]', []),
        (f'<tool_call>{PING}{PING}</tool_call>', ['ping', 'ping']),
        (f'<tool_call>[{PING}, {PING}]</tool_call>', ['ping', 'ping']),
        (f'<tool_call>{PING}', ['ping']),
        (f'<tool_call>{PING} and more</tool_call>', [None]),
        ('<tool_call></tool_call>', [None]),
        ('<tool_call>{"arguments": {}}</tool_call>', [None]),
        (f'{PING}\n{PING},\r\n{PING}', ['ping'] * 3),
    ],
)
def test_a_mark_may_have_several_calls(text: str, tools: list[str | None]) -> None:
    assert tools_in(text) == tools


def test_all_formats_may_be_in_one_text_in_its_order() -> None:
    text = (
        f'{PING} {PONG} Action: x\nAction: c\nAction Input: {{}}\n[TOOL_CALLS][{PING}]\n'
        f'<|python_tag|>e.call()\n```json\n{{"function_call": {PING}}}\n```\n'
        f'{{"tool_calls": [{{"function": {PING}}}, {{"tool": "t"}}]}}\n'
        f'{{"type": "function_call", "name": "r"}} {{"type": "tool_use", "name": "u"}}\n'
        f'{{"functionCall": {{"name": "g"}}}} {{"method": "tools/call", "params": {PING}}}\n'
        f'<tool_call>{PING}</tool_call>'
    )
    assert [call.format for call in calls_in(text)] == [
        'bare', 'xml', 'react', 'mistral', 'llama', 'function_call', 'openai', 'tool_list',
        'openai_responses', 'anthropic', 'gemini', 'mcp', 'hermes',
    ]  # fmt: skip
    spans = [call.span for call in calls_in(text) if call.span]
    assert spans == sorted(spans)


def test_an_excerpt_hides_secrets_and_is_short() -> None:
    error = error_in('{"name": "a", "arguments": {"password": "hunter2", "x": ' + 'y' * 1000)
    assert 'hunter2' not in error.excerpt
    assert len(error.excerpt) <= 200


@pytest.mark.parametrize(
    ('text', 'problem'),
    [
        ('{"name": "add", "arguments": {"a": 1,}}', 'trailing comma in object'),
        ("{'name': 'add', 'arguments': {}}", 'object keys must be strings'),
        ('<tool_call>{"name": "add" "arguments": {}}</tool_call>', "expected ',' or '}'"),
        ('{"name": "add", "arguments": {"a": 1', 'it is cut off'),
    ],
)
def test_the_reason_for_broken_json_is_that_of_the_decoder(text: str, problem: str) -> None:
    (call,) = parse(text)
    assert assert_failure(call, UnreadableCall).problem == f'the JSON is broken: {problem}'


def test_the_position_of_a_problem_is_that_in_the_whole_text() -> None:
    call = '{"name": "add", "arguments": {"a": 1,}}'
    (_, second) = parse(f'{call}\n\n{call}')
    error = assert_failure(second, UnreadableCall)
    assert error.position == len(call) + 2 + call.index(',}') + 1


@pytest.mark.parametrize('mark', ['`', '``'])
def test_an_action_and_its_input_can_be_inline_code(mark: str) -> None:
    text = f'Action: {mark}read_file{mark}\nAction Input: {mark}{{"path": "a b"}}{mark}\n'
    [call] = parse(text, only=['react'])
    assert (call.unwrap().tool, call.unwrap().arguments) == ('read_file', {'path': 'a b'})
    [unreadable] = parse('Action: `read_file`\nAction Input: `{"path": `a`}`', only=['react'])
    assert unreadable.failure().tool == 'read_file'
