"""Token budget of answers: the order of cuts, valid JSON, and the class, which is never cut."""

import json
from typing import Any, Literal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec import UNSET, Struct

from seamwise import Failure, Result, Success
from seamwise._text.jsonable import to_json
from seamwise.catalog.tools import CommandFailed, FileNotFound, ToolError
from seamwise.seams.model import Done, Guidance, encode, tokens, tool_message
from seamwise.seams.model.tables import TOOLS
from seamwise.seams.model.token_budget import fit_to_tokens, fit_value_to_tokens
from tests.strategies import PLANTED, errors, texts

MIN_TOKENS = 45
"""Upper bound for the tokens of a guidance with everything cut that can be cut."""


class Listing(Struct):
    path: str
    entries: list[str]


def command_guidance(output: str) -> Guidance:
    return TOOLS(CommandFailed('t', 'make', 1, output))


def size(answer: Guidance | Done[object]) -> int:
    return tokens(encode(answer))


@pytest.mark.parametrize(
    ('text', 'expected'),
    [('', 0), ('a', 1), ('abc', 1), ('abcd', 2), ('你', 1), ('\ud800', 1), (b'abcd', 2)],
)
def test_tokens_returns_a_third_of_the_bytes_rounded_up(text: str | bytes, expected: int) -> None:
    assert tokens(text) == expected


# Failures


def test_output_is_cut_first_and_keeps_its_last_lines() -> None:
    guidance = command_guidance(''.join(f'line {number}\n' for number in range(300)))
    cut = fit_to_tokens(guidance, 200)
    assert isinstance(cut, Guidance)
    assert size(cut) <= 200
    assert cut.output is not None
    assert cut.output.startswith('line ')
    assert cut.output.endswith('line 299\n')
    assert (cut.message, cut.suggestion) == (guidance.message, guidance.suggestion)


def test_path_suggestion_and_message_are_cut_after_the_output() -> None:
    guidance = Guidance(
        'error', 'file_operation_error', 'FileNotFound', 'm' * 300, 'p' * 100, 's' * 300, 'o' * 300
    )
    lengths: list[tuple[int, int, int, int]] = []
    for limit in (400, 300, 250, 200, 150, 100, 60, MIN_TOKENS):
        cut = fit_to_tokens(guidance, limit)
        assert isinstance(cut, Guidance)
        assert size(cut) <= limit
        assert (cut.status, cut.type, cut.error_class) == (
            guidance.status,
            guidance.type,
            guidance.error_class,
        )
        lengths.append(
            (
                len(cut.message),
                len(cut.path or ''),
                len(cut.suggestion or ''),
                len(cut.output or ''),
            )
        )
    assert lengths[0] == (300, 100, 300, 300)
    assert lengths[1][:3] == (300, 100, 300)
    assert lengths == sorted(lengths, reverse=True)
    for message, path, suggestion, output in lengths:
        assert not output or (message, path, suggestion) == (300, 100, 300)
        assert not suggestion or message == 300
        assert not path or suggestion == 300


def test_cut_suggestion_ends_with_the_number_of_omitted_characters() -> None:
    cut = fit_to_tokens(Guidance('error', 'state_error', 'X', 'm', suggestion='s' * 500), 80)
    assert isinstance(cut, Guidance)
    assert str(cut.suggestion).endswith(' more)')


def test_answer_that_fits_is_returned_unchanged() -> None:
    guidance = command_guidance('no\n')
    assert fit_to_tokens(guidance, size(guidance)) is guidance
    done: Done[object] = Done(1)
    assert fit_to_tokens(done, size(done)) is done


@pytest.mark.parametrize('limit', [0, -1])
def test_tool_message_rejects_a_limit_below_one(limit: int) -> None:
    with pytest.raises(ValueError, match='limit must be at least 1 token'):
        tool_message(Success(1), adapter=TOOLS, call_id='c', limit=limit)
    with pytest.raises(ValueError, match='limit must be at least 1 token'):
        tool_message(Success(1), adapter=TOOLS, call_id='c', limit=limit, provider='mcp')


@given(
    errors(ToolError).filter(lambda error: error.tag != 'RegistrationRejected'), st.integers(1, 400)
)
@settings(
    max_examples=80, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much]
)
def test_every_failure_fits_and_keeps_its_class(error: Any, limit: int) -> None:
    guidance = TOOLS(error)
    cut = fit_to_tokens(guidance, limit)
    assert isinstance(cut, Guidance)
    assert size(cut) <= max(limit, MIN_TOKENS)
    assert (cut.status, cut.type, cut.error_class) == (
        guidance.status,
        guidance.type,
        guidance.error_class,
    )
    assert PLANTED not in encode(cut).decode()


# Successes


def test_long_text_and_long_list_are_both_cut() -> None:
    cut: Any = fit_value_to_tokens(
        Listing('x' * 5000, [f'file_{number}.txt' for number in range(5000)]), 700
    )
    assert tokens(to_json(cut)) <= 700
    assert cut['path'].endswith(' more)')
    assert cut['path'].startswith('x' * 100)
    assert cut['entries'][0] == 'file_0.txt'
    assert cut['entries'][-1].endswith(' more)')
    assert len(cut['entries']) > 20


def test_short_values_are_kept_next_to_a_long_one() -> None:
    cut: Any = fit_value_to_tokens(
        {'path': 'a.txt', 'content': 'y' * 10_000_000, 'total_lines': 7, 'truncated': False}, 60
    )
    assert (cut['path'], cut['total_lines'], cut['truncated']) == ('a.txt', 7, False)
    assert cut['content'].startswith('yyyy')
    assert tokens(to_json(cut)) <= 60


def test_cut_value_uses_most_of_the_budget() -> None:
    cut = fit_value_to_tokens({'content': 'z' * 100_000}, 1000)
    assert tokens(to_json(cut)) > 980


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | texts(),
    lambda items: st.lists(items, max_size=8) | st.dictionaries(texts(), items, max_size=4),
    max_leaves=40,
)


@pytest.mark.slow
@given(JSON, st.integers(10, 200))
@settings(
    max_examples=80, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much]
)
def test_every_value_fits_and_is_valid_json(value: Any, limit: int) -> None:
    plain = json.loads(to_json(value))
    cut = fit_value_to_tokens(plain, limit)
    encoded = to_json(cut)
    assert tokens(encoded) <= limit
    json.loads(encoded)
    if tokens(to_json(plain)) <= limit:
        assert cut == plain


def test_value_that_cannot_be_cut_is_replaced_by_its_size() -> None:
    assert fit_value_to_tokens({'k' * 1000: 1}, 20) == '… (1006 bytes more)'


@pytest.mark.parametrize('provider', ['openai', 'anthropic', 'gemini', 'mcp'])
def test_message_of_every_provider_keeps_the_budget(
    provider: Literal['openai', 'anthropic', 'gemini', 'mcp'],
) -> None:
    success: Result[Listing, ToolError] = Success(Listing('错误' * 3000, ['a'] * 3000))
    failure: Result[Listing, ToolError] = Failure(CommandFailed('t', 'make', 1, 'line\n' * 700))
    for result in (success, failure):
        payload = _payload(json.loads(to_json(_message(result, provider))))
        assert 150 < tokens(payload) <= 200
        json.loads(payload)


def _payload(message: Any) -> str:
    """Return the text of a message that the model reads."""
    match message:
        case {'functionResponse': {'response': response}}:
            return json.dumps(response, ensure_ascii=False, separators=(',', ':'))
        case {'content': [{'text': text}]} | {'content': text}:
            return str(text)
        case _:
            raise AssertionError(message)


def _message(result: Result[Listing, ToolError], provider: str) -> object:
    match provider:
        case 'anthropic':
            return tool_message(result, adapter=TOOLS, call_id='c', provider='anthropic', limit=200)
        case 'gemini':
            return tool_message(result, adapter=TOOLS, call_id='c', provider='gemini', limit=200)
        case 'mcp':
            return tool_message(result, adapter=TOOLS, call_id='c', provider='mcp', limit=200)
        case _:
            return tool_message(result, adapter=TOOLS, call_id='c', limit=200)


def test_structured_content_is_absent_for_a_cut_value() -> None:
    large: Result[dict[str, str], ToolError] = Success({'content': 'x' * 1000})
    assert (
        tool_message(
            large, adapter=TOOLS, call_id='c', provider='mcp', limit=100
        ).structured_content
        is UNSET
    )
    assert tool_message(
        large, adapter=TOOLS, call_id='c', provider='mcp', limit=1000
    ).structured_content == {'content': 'x' * 1000}


def test_message_shows_the_failure_at_every_limit() -> None:
    failure: Result[object, ToolError] = Failure(FileNotFound('read_file', 'x' * 3000))
    for limit in range(1, 60):
        message = tool_message(
            failure, adapter=TOOLS, call_id='c', provider='anthropic', limit=limit
        )
        assert message.is_error
        assert json.loads(message.content)['error_class'] == 'FileNotFound'
