"""The vectors of model outputs: every case as a whole, in pieces, and every stress text."""

import json
from itertools import pairwise
from pathlib import Path
from typing import TypedDict

import pytest

from seamwise import Failure
from seamwise.toolhost.formats import FORMATS, parse
from tests.toolhost.formats.helpers import ParsedCall, read_pieces


class Call(TypedDict, total=False):
    """The expectation of a call, or of one that cannot be read."""

    tool: str
    arguments: dict[str, object]
    id: str | int
    namespace: str
    unreadable: str
    why: str
    span: tuple[int, int]


class Case(TypedDict):
    """A text and its calls."""

    name: str
    format: str
    text: str
    calls: list[Call]


class Stress(TypedDict):
    """A long text, as pieces with the number of times that each is repeated."""

    name: str
    pieces: list[tuple[str, int]]
    readable: int


class Vectors(TypedDict):
    """The file of the vectors."""

    cases: list[Case]
    stress: list[Stress]


FILE = Path(__file__).parents[2] / 'vectors' / 'parse_calls.json'
VECTORS: Vectors = json.loads(FILE.read_text(encoding='utf-8'))
every_case = pytest.mark.parametrize('case', VECTORS['cases'], ids=lambda case: case['name'])
every_stress = pytest.mark.parametrize('stress', VECTORS['stress'], ids=lambda item: item['name'])


def check(call: ParsedCall, expected: Call, case: Case) -> None:
    """Compare a call with its expectation."""
    if type(call) is Failure:
        error = call.failure()
        start, end = expected.get('span', (0, 0))
        assert start <= error.position < end
        assert error.format == expected.get('unreadable')
        assert (error.tool, error.id) == (expected.get('tool'), expected.get('id'))
        assert case['text'][start:end].startswith(error.excerpt[:150])
        return
    value = call.unwrap()
    assert 'unreadable' not in expected
    assert (value.tool, value.id) == (expected.get('tool'), expected.get('id'))
    assert value.arguments == expected.get('arguments')
    assert type(value.id) is type(expected.get('id'))
    assert value.namespace == expected.get('namespace')
    assert value.format in FORMATS
    assert value.format == case['format'] or case['format'] in {'fence', 'mixed'}
    assert value.span is not None
    assert value.tool in case['text'][slice(*value.span)]
    assert value.line is None


@every_case
def test_a_text_has_the_calls_of_its_case(case: Case) -> None:
    calls = parse(case['text'])
    assert len(calls) == len(case['calls'])
    for call, expected in zip(calls, case['calls'], strict=True):
        check(call, expected, case)


@every_case
def test_the_bytes_of_a_text_have_the_same_calls(case: Case) -> None:
    assert parse(case['text'].encode()) == parse(case['text'])


@every_case
def test_a_text_that_is_cut_anywhere_has_the_same_calls(case: Case) -> None:
    text, calls = case['text'], parse(case['text'])
    for cut in range(len(text) + 1):
        assert read_pieces([text[:cut], text[cut:]]) == calls
    assert read_pieces(text) == calls


@every_case
def test_bytes_that_are_cut_anywhere_have_the_same_calls(case: Case) -> None:
    data, calls = case['text'].encode(), parse(case['text'])
    for cut in range(len(data) + 1):
        assert read_pieces([data[:cut], data[cut:]]) == calls
    assert read_pieces(data[index : index + 1] for index in range(len(data))) == calls


@every_case
def test_the_spans_of_a_text_are_in_order_and_do_not_overlap(case: Case) -> None:
    calls = [call.unwrap() for call in parse(case['text']) if type(call) is not Failure]
    spans = [call.span for call in calls if call.span]
    assert all(first[1] <= second[0] for first, second in pairwise(spans))


@every_case
def test_only_the_format_of_a_case_reads_it(case: Case) -> None:
    if case['format'] in FORMATS:
        assert parse(case['text'], only={case['format']}) == parse(case['text'])
        others = set(FORMATS) - {case['format'], 'fence', 'openai'}
        assert parse(case['text'], only=others) == []


@every_stress
def test_a_long_text_has_the_readable_calls_of_its_vector(stress: Stress) -> None:
    text = ''.join(piece * count for piece, count in stress['pieces'])
    calls = parse(text)
    assert sum(type(call) is not Failure for call in calls) == stress['readable']
    assert read_pieces([text[start : start + 4096] for start in range(0, len(text), 4096)]) == calls
