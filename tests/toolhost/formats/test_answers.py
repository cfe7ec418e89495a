"""Answers to calls in every format, checked with the types of each provider's SDK."""

import json
from collections.abc import Mapping

import pytest
from anthropic.types import ToolResultBlockParam
from google.genai.types import Part
from mcp.types import CallToolResult
from msgspec import Struct
from openai.types.chat import ChatCompletionFunctionMessageParam, ChatCompletionToolMessageParam
from openai.types.responses.response_input_param import FunctionCallOutput
from pydantic import TypeAdapter

from seamwise import Category, Failure, Result, Success, TaggedError
from seamwise.catalog.parsing import ParsingError, UnreadableCall
from seamwise.catalog.tools import ToolError, ToolTimedOut
from seamwise.policies import GuardError
from seamwise.policies.errors import RateLimited
from seamwise.seams.model import on
from seamwise.toolhost import ToolCall, ToolOutcome, formats
from seamwise.toolhost.formats import FORMATS, answer, parse

Own = ToolError | ParsingError | GuardError

JSON_FORMATS = {'xml', 'mistral', 'llama', 'pythonic', 'fence', 'tool_list', 'array', 'bare'}
"""Formats that are answered with the JSON itself."""

DIALECTS = {'harmony', 'deepseek', 'kimi', 'qwen', 'glm', 'invoke', 'minimax', 'cline'}
"""Formats of local models with marks of their own for an answer."""

ADAPTERS: Mapping[str, TypeAdapter[object]] = {
    'openai': TypeAdapter(ChatCompletionToolMessageParam),
    'function_call': TypeAdapter(ChatCompletionFunctionMessageParam),
    'openai_responses': TypeAdapter(FunctionCallOutput),
    'anthropic': TypeAdapter(ToolResultBlockParam),
    'gemini': TypeAdapter(Part),
    'mcp': TypeAdapter(CallToolResult),
}
"""The types of the answers that are no text, in the SDKs of their providers."""


def outcome_of(
    result: Result[object, Own], *, name: str = 'openai', id_: str | int | None = 'c1'
) -> ToolOutcome[Own]:
    call = ToolCall('add', {'a': 1}, id=id_, format=name)
    return ToolOutcome(3, call, result, attempts=1, waited=0.0, duration=0.1)


def shapes(text: str, value: object, *, is_error: bool, id_: str = 'c1') -> dict[str, object]:
    """Return the answer in every format."""
    fields: object = {'result': value}
    if isinstance(value, dict):
        fields = value  # pyright: ignore[reportUnknownVariableType]  # of any JSON
    # Only MCP has a place for the value besides the text, which is a string as it is.
    mcp_text = value if isinstance(value, str) else text
    mcp: dict[str, object] = {
        'resultType': 'complete',
        'content': [{'type': 'text', 'text': mcp_text}],
        'isError': is_error,
    }
    return {
        'openai': {'role': 'tool', 'tool_call_id': id_, 'content': text},
        'function_call': {'role': 'function', 'name': 'add', 'content': text},
        'openai_responses': {'type': 'function_call_output', 'call_id': id_, 'output': text},
        'anthropic': {
            'type': 'tool_result',
            'tool_use_id': id_,
            'content': text,
            'is_error': is_error,
        },
        'gemini': {'functionResponse': {'name': 'add', 'response': fields}},
        'mcp': mcp if is_error else {**mcp, 'structuredContent': fields},
        'hermes': f'<tool_response>\n{text}\n</tool_response>',
        'react': f'Observation: {text}',
        **_dialects(text, id_, is_error=is_error),
        **dict.fromkeys(JSON_FORMATS, text),
    }


def _dialects(text: str, id_: str, *, is_error: bool) -> dict[str, object]:
    """Return the answer in the formats of local models."""
    results = f'<result>\n<tool_name>add</tool_name>\n<stdout>\n{text}\n</stdout>\n</result>'
    error = f'<error>\n{text}\n</error>'
    return {
        'harmony': '<|start|>functions.add to=assistant<|channel|>commentary'
        f'<|message|>{text}<|end|>',
        'deepseek': f'<｜tool▁output▁begin｜>{text}<｜tool▁output▁end｜>',
        'kimi': f'<|im_system|>add<|im_middle|>## Return of {id_}\n{text}<|im_end|>',
        **dict.fromkeys(('qwen', 'glm'), f'<tool_response>\n{text}\n</tool_response>'),
        'invoke': f'<function_results>\n{error if is_error else results}\n</function_results>',
        'minimax': f'<response>{text}</response>',
        'cline': f'[add] Result:\n{text}',
    }


@pytest.mark.parametrize('name', FORMATS)
@pytest.mark.parametrize(
    ('value', 'text'),
    [
        ({'sum': 3}, '{"sum":3}'),
        (3, '3'),
        ('naïve 🙂', '"naïve 🙂"'),
        ([1, None], '[1,null]'),
        (None, 'null'),
        (12345678901234567890, '12345678901234567890'),
    ],
)
def test_a_success_is_answered_with_its_value(name: str, value: object, text: str) -> None:
    expected = shapes(text, value, is_error=False)[name]
    assert answer(outcome_of(Success(value), name=name)) == expected
    assert answer(outcome_of(Success(value), name='bare'), format=name) == expected


@pytest.mark.parametrize('name', FORMATS)
def test_a_failure_is_answered_with_the_guidance_of_the_model_seam(name: str) -> None:
    error = ToolTimedOut('add', 10.0, 2)
    guidance = formats.TOOL_GUIDANCE(error)
    expected = answer(outcome_of(Failure(error), name=name))
    text = _text(expected)
    data, _ = json.JSONDecoder().raw_decode(text, text.index('{"'))
    assert data['suggestion'] == guidance.suggestion
    assert data['status'] == 'error'
    assert expected == shapes(json.dumps(data, separators=(',', ':')), data, is_error=True)[name]


def _text(value: object) -> str:
    """Return the content of an answer as JSON."""
    match value:
        case str():
            return value
        case {'content': [{'text': str(text)}]} | {'content': str(text)} | {'output': str(text)}:
            return text
        case {'functionResponse': {'response': response}}:  # pyright: ignore[reportUnknownVariableType]  # of any JSON
            return json.dumps(response)
        case _:
            pytest.fail(f'{value!r} has no content')


def test_every_format_has_a_shape() -> None:
    assert set(shapes('', None, is_error=False)) == set(FORMATS)
    assert set(ADAPTERS) | JSON_FORMATS | {'hermes', 'react', *DIALECTS} == set(FORMATS)


@pytest.mark.parametrize('name', ADAPTERS)
@pytest.mark.parametrize(
    'result', [Success({'sum': 3}), Success(3), Failure(RateLimited('api', 5, 1.0, 0.5))], ids=repr
)
def test_an_answer_has_the_type_of_the_sdk(name: str, result: Result[object, Own]) -> None:
    value = answer(outcome_of(result, name=name))
    ADAPTERS[name].validate_python(value)
    ADAPTERS[name].validate_json(json.dumps(value))


@pytest.mark.parametrize(
    ('id_', 'expected'), [(None, 'call-3'), ('', ''), ('c1', 'c1'), (7, '7'), (0, '0')]
)
def test_a_call_without_an_id_is_answered_by_its_place(
    id_: str | int | None, expected: str
) -> None:
    outcome = outcome_of(Success(3), id_=id_)
    for name in ('openai', 'openai_responses', 'anthropic'):
        expected_answer = shapes('3', 3, is_error=False, id_=expected)[name]
        assert answer(outcome, format=name) == expected_answer


@pytest.mark.parametrize('name', FORMATS)
def test_a_call_that_cannot_be_read_is_answered_in_its_format(name: str) -> None:
    error = UnreadableCall(name, 'the arguments are not JSON', '{', 5, 'c1', 'add')
    unread: ToolOutcome[Own] = ToolOutcome(
        2, None, Failure(error), attempts=0, waited=0.0, duration=0.0
    )
    known = outcome_of(Failure(error), name=name)
    assert answer(unread) == answer(known)


def test_a_text_that_cannot_be_read_is_answered_as_json() -> None:
    (call,) = parse(b'\xff')
    outcome: ToolOutcome[Own] = ToolOutcome(
        1, None, Failure(call.failure()), attempts=0, waited=0.0, duration=0.0
    )
    text = answer(outcome)
    assert isinstance(text, str)
    assert json.loads(text)['suggestion'].startswith('Send the call again')
    assert answer(outcome, format='openai') == {
        'role': 'tool',
        'tool_call_id': 'call-1',
        'content': text,
    }


class Point(Struct):
    x: int
    name: str


def test_a_value_of_any_type_is_answered_as_its_json() -> None:
    outcome = outcome_of(Success(Point(1, '\ud800')))
    assert answer(outcome, format='bare') == '{"x":1,"name":"\ufffd"}'
    assert answer(outcome, format='gemini') == {
        'functionResponse': {'name': 'add', 'response': {'x': 1, 'name': '\ufffd'}}
    }


class CityUnknown(
    TaggedError,
    category=Category.NOT_FOUND,
    message='No city {city!r}.',
    namespace='tests.formats.answers',
):
    city: str


def test_an_error_of_the_application_needs_its_own_arm() -> None:
    call = ToolCall('weather', {}, id='c1', format='anthropic')
    outcome: ToolOutcome[CityUnknown] = ToolOutcome(
        1, call, Failure(CityUnknown('Osl')), attempts=1, waited=0.0, duration=0.0
    )
    own = formats.TOOL_GUIDANCE | on(CityUnknown).guides(
        'content_error', suggestion='Ask for the spelling.'
    )
    block = answer(outcome, model=own)
    assert isinstance(block, dict)
    assert block['is_error'] is True
    assert 'Ask for the spelling.' in str(block['content'])


def test_a_wrong_format_is_a_value_error_with_similar_names() -> None:
    with pytest.raises(ValueError, match=r"'gemni' is not a format\. Did you mean 'gemini'"):
        answer(outcome_of(Success(3)), format='gemni')


def test_an_answer_round_trips_through_the_wire() -> None:
    call = parse('{"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": {"name": "add"}}')
    outcome: ToolOutcome[Own] = ToolOutcome(
        1, call[0].unwrap(), Success({'sum': 3}), attempts=1, waited=0.0, duration=0.0
    )
    result = CallToolResult.model_validate_json(json.dumps(answer(outcome)))
    assert (result.structured_content, result.is_error) == ({'sum': 3}, False)
