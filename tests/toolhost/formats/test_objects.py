"""Calls in objects: dicts as a provider's JSON has them, and the objects of its SDK."""

from types import MappingProxyType
from typing import Any

import pytest
from anthropic.types import Message, TextBlock, ToolUseBlock, Usage
from google.genai.types import Candidate, Content, FunctionCall, GenerateContentResponse, Part
from mcp.types import CallToolRequest, CallToolRequestParams, JSONRPCRequest
from openai.types.chat import ChatCompletion, ChatCompletionMessage
from openai.types.responses import Response, ResponseFunctionToolCall
from pydantic import BaseModel

from seamwise import Failure
from seamwise.catalog.parsing import UnknownFormat
from seamwise.testing import assert_failure
from seamwise.toolhost.calls import ToolCall
from seamwise.toolhost.formats import FORMATS, Reader, expect, parse
from seamwise.toolhost.formats.parsing import Output
from tests.toolhost.formats.helpers import call_in, calls_in, error_in

TAG = '<tool name="x"/>'
OPENAI_MESSAGE = ChatCompletionMessage.model_validate(
    {
        'role': 'assistant',
        'content': TAG,
        'tool_calls': [
            {'id': 'c1', 'type': 'function', 'function': {'name': 'add', 'arguments': '{"a": 1}'}}
        ],
    }
)
OPENAI = ChatCompletion.model_validate(
    {
        'id': 'chatcmpl-1',
        'object': 'chat.completion',
        'created': 1,
        'model': 'gpt',
        'choices': [{'index': 0, 'finish_reason': 'tool_calls', 'message': OPENAI_MESSAGE}],
    }
)
RESPONSE_ITEM = ResponseFunctionToolCall(
    type='function_call', id='fc_1', call_id='c1', name='add', arguments='{"a": 1}'
)
RESPONSE = Response.model_construct(id='resp_1', object='response', output=[RESPONSE_ITEM])
ANTHROPIC_BLOCK = ToolUseBlock(type='tool_use', id='c1', name='add', input={'a': 1})
ANTHROPIC = Message(
    id='msg_1',
    type='message',
    role='assistant',
    model='claude',
    content=[TextBlock(type='text', text=TAG), ANTHROPIC_BLOCK],
    stop_reason='tool_use',
    usage=Usage(input_tokens=1, output_tokens=1),
)
GEMINI_PART = Part(function_call=FunctionCall(id='c1', name='add', args={'a': 1}))
GEMINI = GenerateContentResponse(
    candidates=[Candidate(content=Content(role='model', parts=[Part(text=TAG), GEMINI_PART]))]
)
MCP = JSONRPCRequest(
    jsonrpc='2.0', id='c1', method='tools/call', params={'name': 'add', 'arguments': {'a': 1}}
)
OBJECTS: list[tuple[str, Any]] = [
    ('openai', OPENAI),
    ('openai', OPENAI_MESSAGE),
    ('openai', OPENAI_MESSAGE.tool_calls),
    ('openai', {'message': OPENAI_MESSAGE}),
    ('openai_responses', RESPONSE),
    ('openai_responses', RESPONSE.output),
    ('openai_responses', RESPONSE_ITEM),
    ('anthropic', ANTHROPIC),
    ('anthropic', ANTHROPIC.content),
    ('anthropic', ANTHROPIC_BLOCK),
    ('gemini', GEMINI),
    ('gemini', GEMINI_PART),
    ('mcp', MCP),
]


@pytest.mark.parametrize(('name', 'output'), OBJECTS)
def test_an_object_of_an_sdk_is_read_without_its_texts(name: str, output: Output) -> None:
    assert calls_in(output) == [ToolCall('add', {'a': 1}, 'c1', format=name)]
    assert calls_in(output, only=[name]) == calls_in(output)
    assert parse(output, only=set(FORMATS) - {name}) == []


@pytest.mark.parametrize(
    ('name', 'output'), [row for row in OBJECTS if isinstance(row[1], BaseModel)]
)
def test_the_json_of_an_sdk_is_read_in_every_spelling(name: str, output: BaseModel) -> None:
    for by_alias in (False, True):
        data = output.model_dump(mode='json', by_alias=by_alias)
        text = output.model_dump_json(by_alias=by_alias)
        assert calls_in(data) == [ToolCall('add', {'a': 1}, 'c1', format=name)]
        (call,) = calls_in(text)
        assert (call.format, call.id, call.arguments) == (name, 'c1', {'a': 1})
        assert call.span is not None


def test_an_mcp_request_of_the_sdk_has_no_id() -> None:
    request = CallToolRequest(params=CallToolRequestParams(name='add', arguments={'a': 1}))
    assert call_in(request) == ToolCall('add', {'a': 1}, format='mcp')


@pytest.mark.parametrize(
    ('output', 'expected'),
    [  # pyright: ignore[reportUnknownArgumentType]  # empty objects have no type
        ({'name': 'add', 'arguments': {}}, ('bare', None)),
        ([{'name': 'add', 'arguments': {}}], ('array', None)),
        (({'tool': 'add', 'args': {}, 'id': 7},), ('array', 7)),
        ({'tool_calls': [{'tool': 'add', 'arguments': '{}'}]}, ('tool_list', None)),
        ({'function_call': {'name': 'add', 'arguments': '{}'}}, ('function_call', None)),
        ({'function_call': {'name': 'add', 'args': {}}}, ('gemini', None)),
        ({'parts': [{'function_call': {'name': 'add'}}]}, ('gemini', None)),
        (
            MappingProxyType[str, object](
                {'name': 'add', 'arguments': MappingProxyType[str, object]({})}
            ),
            ('bare', None),
        ),
    ],
)
def test_a_mapping_or_sequence_is_read_as_its_json(
    output: Output, expected: tuple[str, int | None]
) -> None:
    call = call_in(output)
    assert (call.tool, call.arguments, call.format, call.id) == ('add', {}, *expected)
    assert call.span is None


@pytest.mark.parametrize(
    'output',
    [  # pyright: ignore[reportUnknownArgumentType]  # empty objects have no type
        {},
        [],
        {'content': TAG},
        [{'role': 'user', 'content': TAG}],
        {'content': [{'type': 'text', 'text': '{"name": "add", "arguments": {}}'}]},
        {'output': [{'type': 'message', 'content': [{'type': 'output_text', 'text': TAG}]}]},
        {'content': [{'type': 'server_tool_use', 'id': 's', 'name': 'web_search', 'input': {}}]},
        {'choices': [{'message': {'content': TAG, 'tool_calls': None}}]},
        {'candidates': [{'content': {'parts': [{'text': TAG, 'function_call': None}]}}]},
        {'candidates': None},
        {'jsonrpc': '2.0', 'id': 1, 'method': 'ping'},
        {'name': 'Ann', 'age': 41},
    ],
)
def test_an_object_without_a_call_has_an_empty_list(output: Output) -> None:
    assert parse(output) == []
    assert_failure(expect(output), UnknownFormat)


@pytest.mark.parametrize(
    ('arguments', 'problem'),
    [
        ([], 'the arguments are not an object'),
        (3, 'the arguments are not an object'),
        ({'a': float('nan')}, 'the arguments are not JSON'),
        ({'a': float('inf')}, 'the arguments are not JSON'),
        ({'a': 10**4300}, 'the arguments are not JSON'),
        ({'a': {1, 2}}, 'the arguments are not JSON'),
        ({'a': b'x'}, 'the arguments are not JSON'),
        ({'a': '\ud800'}, 'it contains half of a surrogate pair'),
        ({'1': 1, 1: 2}, 'an object has the same key twice'),
        (b'{}', 'the arguments are not an object'),
    ],
)
def test_arguments_of_an_object_that_are_not_json_are_unreadable(
    arguments: object, problem: str
) -> None:
    error = error_in({'type': 'tool_use', 'id': 't', 'name': 'add', 'input': arguments})
    assert error.problem.endswith(problem)
    assert (error.tool, error.id, error.position, error.excerpt) == ('add', 't', 0, '')


@pytest.mark.parametrize(
    ('arguments', 'problem', 'position'),
    [
        ('{"a": 1, "a": 2}', 'the arguments are not JSON: an object has the same key twice', 0),
        ('{"city": "Ös', 'the arguments are not JSON: it is cut off', 11),
        ('[1]', 'the arguments are not an object', 0),
        ('{"a": x}', 'the arguments are not JSON: invalid character', 6),
        ('{"\ud800": x}', 'the arguments are not JSON: it contains half of a surrogate pair', 2),
    ],
)
def test_the_position_in_a_text_of_arguments_is_that_in_the_text(
    arguments: str, problem: str, position: int
) -> None:
    function = {'name': 'add', 'arguments': arguments}
    error = error_in({'tool_calls': [{'id': 't', 'type': 'function', 'function': function}]})
    excerpt = arguments.replace('\ud800', '\ufffd')
    assert (error.problem, error.position, error.excerpt) == (problem, position, excerpt)


def test_a_bad_item_of_a_list_takes_no_other_with_it() -> None:
    item = {'id': 'c1', 'function': {'name': 'add', 'arguments': '{}'}}
    items: list[object] = [item, None, 'x', 5, [], {}, {'id': 'c2', 'function': None}, item]
    calls = parse({'tool_calls': items})
    assert [type(call) is Failure for call in calls] == [False, *[True] * 6, False]
    assert calls[6].failure().id == 'c2'


def test_an_object_that_contains_itself_is_unreadable() -> None:
    arguments: dict[str, object] = {}
    arguments['a'] = arguments['b'] = arguments
    assert error_in({'name': 'add', 'arguments': arguments}).tool == 'add'


def test_an_object_of_any_depth_is_read_without_an_exception() -> None:
    value: object = 1
    for _ in range(100_000):
        value = [value]
    assert error_in({'name': 'add', 'arguments': {'a': value}}).tool == 'add'
    assert_failure(expect({'a': value}), UnknownFormat)
    while isinstance(value, list):  # the interpreter would free them recursively
        value = value[0]


def test_an_output_without_a_call_is_a_failure_with_an_excerpt() -> None:
    excerpt = assert_failure(expect('I know: password=hunter2hunter2'), UnknownFormat).excerpt
    assert excerpt.startswith('I know: password=')
    assert 'hunter2' not in excerpt
    assert assert_failure(expect(b'\xc3\xa9'), UnknownFormat).excerpt == 'é'
    assert assert_failure(expect('\ud800'), UnknownFormat).excerpt == '\ufffd'
    assert assert_failure(expect({'a': object()}), UnknownFormat).excerpt == '{"a":"<object>"}'
    assert len(assert_failure(expect('x' * 10_000), UnknownFormat).excerpt) == 200


def test_an_unreadable_call_is_a_success_of_expect() -> None:
    assert len(expect('<tool name="add"').unwrap()) == 1
    assert len(expect(b'\xff').unwrap()) == 1


@pytest.mark.parametrize(
    ('name', 'hint'),
    [('opnai', "Did you mean 'openai'"), ('XML', "Did you mean 'xml'"), ('', 'The formats are')],
)
def test_a_wrong_name_in_only_is_a_value_error_with_similar_names(name: str, hint: str) -> None:
    with pytest.raises(ValueError, match=hint):
        parse('', only=['openai', name])
    with pytest.raises(ValueError, match=hint):
        Reader(only={name})
    with pytest.raises(ValueError, match=hint):
        expect({}, only=name)


def test_only_may_be_one_name_or_none_at_all() -> None:
    assert parse(TAG, only='xml') == parse(TAG)
    assert parse(TAG, only=[]) == []
    assert parse({'name': 'a', 'arguments': {}}, only='bare') != []


def test_bytes_that_are_not_utf8_are_one_unreadable_call() -> None:
    error = error_in(TAG.encode() + b'\xe2\x82' + TAG.encode())
    assert (error.format, error.position, error.excerpt) == ('text', len(TAG), TAG)
    assert error_in(b'\xff').problem == 'byte 0xff is not UTF-8'
    assert error_in(TAG.encode() + b'\xe2').position == len(TAG)
