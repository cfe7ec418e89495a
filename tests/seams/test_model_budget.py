"""A budget in tokens: what matters least goes first, what is left is whole JSON, and the class is never cut."""

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
from seamwise.seams.model.token_budget import fit_to_tokens, fitted_value
from tests.strategies import PLANTED, errors, texts

LEAST = 45
"""No guidance takes more tokens when everything is cut that can be."""


class Listing(Struct):
    path: str
    entries: list[str]


def failed(output: str) -> Guidance:
    return TOOLS(CommandFailed('t', 'make', 1, output))


def size(answer: Guidance | Done[object]) -> int:
    return tokens(encode(answer))


@pytest.mark.parametrize(
    ('text', 'expected'),
    [('', 0), ('a', 1), ('abc', 1), ('abcd', 2), ('你', 1), ('\ud800', 1), (b'abcd', 2)],
)
def test_tokens_are_a_third_of_the_bytes_rounded_up(text: str | bytes, expected: int) -> None:
    assert tokens(text) == expected


# Failures


def test_the_output_goes_first_and_its_last_lines_stay_longest() -> None:
    whole = failed(''.join(f'line {number}\n' for number in range(300)))
    shown = fit_to_tokens(whole, 200)
    assert isinstance(shown, Guidance)
    assert size(shown) <= 200
    assert shown.output is not None
    assert shown.output.startswith('line ')
    assert shown.output.endswith('line 299\n')
    assert (shown.message, shown.suggestion) == (whole.message, whole.suggestion)


def test_then_the_path_the_suggestion_and_the_message() -> None:
    whole = Guidance(
        'error', 'file_operation_error', 'FileNotFound', 'm' * 300, 'p' * 100, 's' * 300, 'o' * 300
    )
    seen: list[tuple[int, int, int, int]] = []
    for limit in (400, 300, 250, 200, 150, 100, 60, LEAST):
        shown = fit_to_tokens(whole, limit)
        assert isinstance(shown, Guidance)
        assert size(shown) <= limit
        assert (shown.status, shown.type, shown.error_class) == (
            whole.status,
            whole.type,
            whole.error_class,
        )
        seen.append(
            (
                len(shown.message),
                len(shown.path or ''),
                len(shown.suggestion or ''),
                len(shown.output or ''),
            )
        )
    assert seen[0] == (300, 100, 300, 300)
    assert seen[1][:3] == (300, 100, 300)
    assert seen == sorted(seen, reverse=True)
    for message, path, suggestion, output in seen:
        assert not output or (message, path, suggestion) == (300, 100, 300)
        assert not suggestion or message == 300
        assert not path or suggestion == 300


def test_what_is_cut_says_how_much_is_gone() -> None:
    shown = fit_to_tokens(Guidance('error', 'state_error', 'X', 'm', suggestion='s' * 500), 80)
    assert isinstance(shown, Guidance)
    assert str(shown.suggestion).endswith(' more)')


def test_what_fits_is_given_back_as_it_is() -> None:
    whole = failed('no\n')
    assert fit_to_tokens(whole, size(whole)) is whole
    done: Done[object] = Done(1)
    assert fit_to_tokens(done, size(done)) is done


@pytest.mark.parametrize('limit', [0, -1])
def test_a_budget_of_nothing_is_a_mistake(limit: int) -> None:
    with pytest.raises(ValueError, match='limit is a number of tokens from 1 on'):
        tool_message(Success(1), adapter=TOOLS, call_id='c', limit=limit)
    with pytest.raises(ValueError, match='limit is a number of tokens from 1 on'):
        tool_message(Success(1), adapter=TOOLS, call_id='c', limit=limit, provider='mcp')


@given(
    errors(ToolError).filter(lambda error: error.tag != 'RegistrationRejected'), st.integers(1, 400)
)
@settings(
    max_examples=80, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much]
)
def test_any_failure_fits_and_keeps_its_class(error: Any, limit: int) -> None:
    whole = TOOLS(error)
    shown = fit_to_tokens(whole, limit)
    assert isinstance(shown, Guidance)
    assert size(shown) <= max(limit, LEAST)
    assert (shown.status, shown.type, shown.error_class) == (
        whole.status,
        whole.type,
        whole.error_class,
    )
    assert PLANTED not in encode(shown).decode()


# Successes


def test_a_long_text_and_a_long_list_are_cut_alike() -> None:
    shown: Any = fitted_value(
        Listing('x' * 5000, [f'file_{number}.txt' for number in range(5000)]), 700
    )
    assert tokens(to_json(shown)) <= 700
    assert shown['path'].endswith(' more)')
    assert shown['path'].startswith('x' * 100)
    assert shown['entries'][0] == 'file_0.txt'
    assert shown['entries'][-1].endswith(' more)')
    assert len(shown['entries']) > 20


def test_short_values_beside_a_long_one_stay() -> None:
    shown: Any = fitted_value(
        {'path': 'a.txt', 'content': 'y' * 10_000_000, 'total_lines': 7, 'truncated': False}, 60
    )
    assert (shown['path'], shown['total_lines'], shown['truncated']) == ('a.txt', 7, False)
    assert shown['content'].startswith('yyyy')
    assert tokens(to_json(shown)) <= 60


def test_most_of_the_budget_is_used() -> None:
    shown = fitted_value({'content': 'z' * 100_000}, 1000)
    assert tokens(to_json(shown)) > 980


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | texts(),
    lambda inner: st.lists(inner, max_size=8) | st.dictionaries(texts(), inner, max_size=4),
    max_leaves=40,
)


@given(JSON, st.integers(10, 200))
@settings(
    max_examples=80, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much]
)
def test_any_value_fits_and_stays_json(value: Any, limit: int) -> None:
    plain = json.loads(to_json(value))
    shown = fitted_value(plain, limit)
    written = to_json(shown)
    assert tokens(written) <= limit
    json.loads(written)
    if tokens(to_json(plain)) <= limit:
        assert shown == plain


def test_what_cannot_be_cut_in_parts_says_how_large_it_was() -> None:
    assert fitted_value({'k' * 1000: 1}, 20) == '… (1006 bytes more)'


@pytest.mark.parametrize('provider', ['openai', 'anthropic', 'gemini', 'mcp'])
def test_every_provider_keeps_the_budget(
    provider: Literal['openai', 'anthropic', 'gemini', 'mcp'],
) -> None:
    good: Result[Listing, ToolError] = Success(Listing('错误' * 3000, ['a'] * 3000))
    bad: Result[Listing, ToolError] = Failure(CommandFailed('t', 'make', 1, 'line\n' * 700))
    for result in (good, bad):
        payload = _payload(json.loads(to_json(_message(result, provider))))
        assert 150 < tokens(payload) <= 200
        json.loads(payload)


def _payload(message: Any) -> str:
    """Give what the model reads of a message."""
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


def test_a_value_that_was_cut_is_no_structured_content() -> None:
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


def test_a_budget_never_hides_that_a_call_failed() -> None:
    bad: Result[object, ToolError] = Failure(FileNotFound('read_file', 'x' * 3000))
    for limit in range(1, 60):
        message = tool_message(bad, adapter=TOOLS, call_id='c', provider='anthropic', limit=limit)
        assert message.is_error
        assert json.loads(message.content)['error_class'] == 'FileNotFound'
