"""A tool runs only if the text is a call of it with these arguments, by a reader of its own."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seamwise import Success
from seamwise.toolhost.formats import FORMATS, parse
from seamwise.toolhost.formats.untyped import UNTYPED
from tests.toolhost.formats.helpers import read_pieces
from tests.toolhost.formats.reference import possible_calls
from tests.toolhost.formats.test_pieces import CALLS, PARTS, cut
from tests.toolhost.formats.writers import ASIDES, REASONING, WRITERS

pieces = st.sampled_from(PARTS) | st.sampled_from(CALLS)
texts = st.lists(pieces, max_size=8).map(''.join)


def check(text: str) -> None:
    """Compare the calls that can be read with those that the reference reader finds."""
    possible = possible_calls(text)
    for call in parse(text):
        if type(call) is not Success:
            continue
        value = call.unwrap()
        found = [arguments for tool, arguments in possible if tool == value.tool]
        if value.format in UNTYPED:
            # The line ends around a value are no part of it, in some of these formats.
            stripped = {key: str(item).strip() for key, item in value.arguments.items()}
            found = [{key: str(item).strip() for key, item in each.items()} for each in found]
            assert stripped in found, (text, value)
        else:
            assert value.arguments in found, (text, value, found)


@settings(max_examples=300)
@given(texts)
def test_a_tool_runs_only_if_the_text_calls_it(text: str) -> None:
    check(text)


@settings(max_examples=200)
@given(st.sampled_from((*REASONING[:9], *ASIDES)), st.sampled_from(CALLS), st.sampled_from(CALLS))
def test_only_the_call_behind_what_is_no_call_runs(aside: str, draft: str, call: str) -> None:
    text = f'{aside.format(draft)}\n{call}'
    check(text)
    before = len([item for item in parse(call) if type(item) is Success])
    assert len([item for item in parse(text) if type(item) is Success]) <= before


@settings(max_examples=200)
@given(
    st.lists(st.sampled_from(CALLS), min_size=1, max_size=4).map('\n'.join),
    st.sampled_from(('output', 'x', 'a:b', 'Log', 'div')),
    st.sampled_from(('', '\n', 'so: ')),
    st.lists(st.integers(0, 10_000), max_size=3),
)
def test_no_calls_in_an_element_run(calls: str, name: str, before: str, cuts: list[int]) -> None:
    text = f'So:\n<{name}>{before}{calls}\n</{name}>\n'
    assert parse(text) == []
    assert read_pieces(cut(text, cuts)) == []


@pytest.mark.parametrize('name', WRITERS)
def test_the_reference_reader_knows_every_dialect(name: str) -> None:
    arguments = {'path': 'notes.txt', 'text': 'a (b) {c} [d]'}
    assert ('read_file', arguments) in [
        (tool, {key: str(value).strip() for key, value in found.items()})
        for tool, found in possible_calls(WRITERS[name]('read_file', arguments))
    ]


@pytest.mark.slow
@pytest.mark.nightly
def test_no_generated_text_runs_another_call() -> None:
    chance = random.Random(39)  # noqa: S311 -- the same texts in every run
    formats = set[str]()
    for _ in range(20_000):
        text = ''.join(chance.choices((*PARTS, *CALLS), k=chance.randint(1, 8)))
        check(text)
        formats.update(call.unwrap().format for call in parse(text) if type(call) is Success)
    # The others are objects of providers or formats inside another one.
    assert set(FORMATS) - formats <= {'function_call', 'openai_responses', 'gemini', 'mcp', 'fence'}
