"""The calls that vLLM and SGLang read in the texts of their own tests, and those read here.

`tests/vectors/server_parsers.jsonl` has a text a line, with values of its own: the structure is
that of a test of the server. Arguments of null are no JSON object at the server either. `types` are
the parameters of the tool. `differs` says why a text is read differently here.
"""

import json
from collections import Counter
from pathlib import Path
from typing import Literal, TypedDict

import pytest

from seamwise import Failure, Success
from seamwise.toolhost.formats import parse
from seamwise.toolhost.formats.untyped import UNTYPED, typed_arguments
from tests.toolhost.formats.helpers import ParsedCall, read_pieces


class Call(TypedDict):
    """A call; arguments that are no JSON object are None."""

    tool: str
    arguments: dict[str, object] | None


class _Facts(TypedDict):
    family: str
    source: Literal['vllm', 'sglang']
    name: str
    text: str
    calls: list[Call]


class Case(_Facts, total=False):
    """A text of a family of models, and the calls that a server reads in it."""

    types: dict[str, dict[str, object]]
    differs: str


PAGE = Path(__file__).parents[3] / 'docs' / 'formats.md'
FILE = Path(__file__).parents[2] / 'vectors' / 'server_parsers.jsonl'
CASES: list[Case] = [json.loads(line) for line in FILE.read_text(encoding='utf-8').splitlines()]
every_case = pytest.mark.parametrize(
    'case', CASES, ids=lambda case: f'{case["family"]}-{case["source"]}-{case["name"]}'
)

LEAST = 0.95
"""The least part of all texts that are read as the servers read them."""

LEAST_OF_A_FAMILY = 0.85

JSON_TYPES = {'string': str, 'integer': int, 'object': dict}


def typed(call: ParsedCall, case: Case) -> list[Call]:
    """Return the call with the types of its tool, or nothing if it cannot be read."""
    if type(call) is Failure:
        return []
    value = call.unwrap()
    arguments = value.arguments
    if value.format in UNTYPED:
        arguments = typed_arguments(arguments, {'properties': case.get('types', {})})
    return [{'tool': value.tool, 'arguments': arguments}]


def calls_here(case: Case) -> list[Call]:
    """Return the calls that run here."""
    return [item for call in parse(case['text']) for item in typed(call, case)]


def calls_there(case: Case) -> list[Call]:
    """Return the calls that run at the server."""
    return [call for call in case['calls'] if call['arguments'] is not None]


def are_equal(first: object, second: object) -> bool:
    """Return whether two values have the same JSON: 1 is neither 1.0 nor true."""
    return json.dumps(first, sort_keys=True) == json.dumps(second, sort_keys=True)


def is_refused(call: Call, case: Case) -> bool:
    """Return whether the tool refuses the names or the types of the arguments."""
    types = case.get('types', {})
    return any(
        name not in types or not isinstance(value, JSON_TYPES[str(types[name]['type'])])
        for name, value in (call['arguments'] or {}).items()
    )


@every_case
def test_a_text_is_read_as_a_server_reads_it_or_the_case_says_why_not(case: Case) -> None:
    assert are_equal(calls_here(case), calls_there(case)) is ('differs' not in case)


@every_case
def test_no_other_call_runs(case: Case) -> None:
    wanted = [json.dumps(call, sort_keys=True) for call in calls_there(case)]
    for call in calls_here(case):
        assert json.dumps(call, sort_keys=True) in wanted or is_refused(call, case)


@every_case
def test_a_text_of_a_server_has_the_same_calls_in_pieces(case: Case) -> None:
    text, calls = case['text'], parse(case['text'])
    assert read_pieces(text) == calls
    for cut in range(0, len(text), 7):
        assert read_pieces([text[:cut], text[cut:]]) == calls


def test_arguments_that_are_no_object_at_a_server_are_unreadable_here() -> None:
    for case in CASES:
        broken = [call['tool'] for call in case['calls'] if call['arguments'] is None]
        failures = [call.failure() for call in parse(case['text']) if type(call) is not Success]
        assert len(failures) >= len(broken), case['name']


def test_nearly_all_texts_are_read_as_the_servers_read_them() -> None:
    texts = Counter(case['family'] for case in CASES)
    alike = Counter(case['family'] for case in CASES if 'differs' not in case)
    assert alike.total() >= LEAST * texts.total(), alike
    share = f'{alike.total()} of them ({alike.total() / texts.total():.1%}'.replace('%', ' %')
    assert share in PAGE.read_text(encoding='utf-8')
    assert {family: alike[family] / texts[family] for family in texts} == {
        family: pytest.approx(1.0, abs=1.0 - LEAST_OF_A_FAMILY) for family in texts
    }
