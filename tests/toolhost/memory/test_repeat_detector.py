"""Detection of repeated calls and of cycles of two or three calls."""

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seamwise import Failure, Success
from seamwise.catalog.tools import ToolCancelled
from seamwise.toolhost.calls import ToolCall
from seamwise.toolhost.memory.repeat_detector import RepeatDetector


def refusals(calls: str, limit: int) -> str:
    """Return `x` for each refused call and `.` for each other one."""
    detector = RepeatDetector(limit=limit)
    return ''.join(
        '.' if detector.record(ToolCall('tool', {'key': key}, id='c', line=1)) is None else 'x'
        for key in calls
    )


@pytest.mark.parametrize(
    ('calls', 'limit', 'expected'),
    [
        ('aaaaaa', 3, '...xxx'),
        ('aaaaaa', 1, '.xxxxx'),
        ('aaaaaa', 0, '......'),
        ('aaabaaab', 3, '........'),
        ('aaaba', 3, '.....'),
        ('aabaab', 3, '......'),
        ('ababababab', 3, '......xxxx'),
        ('ababaab', 3, '.......'),
        ('abcabcabcabc', 3, '.........xxx'),
        ('abcdabcdabcdabcdabcd', 3, '....................'),
        ('abacabacabac', 3, '............'),
        ('cabababa', 3, '.......x'),
        ('aaaabaaaa', 3, '...x....x'),
        ('abab', 1, '..xx'),
        ('abcabc', 1, '...xxx'),
        ('aabaabaabaab', 3, '.........xxx'),
    ],
)
def test_cycles_of_up_to_three_calls_are_refused_from_the_limit_on(
    calls: str, limit: int, expected: str
) -> None:
    assert refusals(calls, limit) == expected


def refusals_by_definition(calls: str, limit: int) -> str:
    """Return the refusals by definition.

    A call is refused if it follows `limit` equal blocks of p calls and equals their first call.
    """

    def repeats(index: int, length: int) -> bool:
        previous = calls[max(0, index - length * limit) : index]
        return (
            len(previous) == length * limit
            and previous == previous[:length] * limit
            and calls[index] == previous[0]
        )

    return ''.join(
        'x' if limit and any(repeats(index, length) for length in (1, 2, 3)) else '.'
        for index in range(len(calls))
    )


@given(st.text('abc', max_size=30), st.integers(0, 4))
def test_refusals_match_the_definition(calls: str, limit: int) -> None:
    assert refusals(calls, limit) == refusals_by_definition(calls, limit)


@given(st.text('ab', max_size=40), st.integers(0, 3))
def test_refusals_match_the_definition_for_two_different_calls(calls: str, limit: int) -> None:
    assert refusals(calls, limit) == refusals_by_definition(calls, limit)


def test_a_refusal_contains_the_count_and_the_limit() -> None:
    detector = RepeatDetector(limit=2)
    results = [detector.record(ToolCall('ping', {}, id='c', line=1)) for _ in range(4)]
    assert [refusal and (refusal.tool, refusal.count, refusal.limit) for refusal in results] == [
        None,
        None,
        ('ping', 3, 2),
        ('ping', 4, 2),
    ]


@pytest.mark.parametrize(
    ('arguments', 'is_same'),
    [
        ({'b': 2, 'a': {'d': 1, 'c': [1, 2]}}, True),
        ({'a': {'c': [1.0, 2.0], 'd': 1.0}, 'b': 2.0}, True),
        ({'a': {'c': [2, 1], 'd': 1}, 'b': 2}, False),
        ({'a': {'c': [1, 2], 'd': True}, 'b': 2}, False),
        ({'a': {'c': [1, 2], 'd': 1}, 'b': '2'}, False),
        ({'a': {'c': [1, 2], 'd': 1}, 'b': 2.5}, False),
        ({'a': {'c': [1, 2], 'd': 1}}, False),
    ],
)
def test_calls_with_the_same_canonical_json_are_equal(
    arguments: dict[str, object], is_same: bool
) -> None:
    detector = RepeatDetector(limit=1)
    detector.record(ToolCall('x', {'a': {'c': [1, 2], 'd': 1}, 'b': 2}, id='c1', line=1))
    assert (detector.record(ToolCall('x', arguments, id='c2', line=2)) is not None) is is_same


def test_calls_of_another_tool_differ_and_huge_numbers_compare() -> None:
    detector = RepeatDetector(limit=1)
    huge: dict[str, object] = {'a': 10**400, 'b': 1e300}
    assert detector.record(ToolCall('x', huge, id='c1', line=1)) is None
    assert detector.record(ToolCall('y', huge, id='c2', line=2)) is None
    assert detector.record(ToolCall('y', huge, id='c3', line=3)) is not None


def test_arguments_with_lone_surrogates_are_compared() -> None:
    assert refusals('\udcff\udcff\udcfe', 1) == '.x.'


def test_tools_of_two_namespaces_differ_and_both_spellings_of_one_are_equal() -> None:
    detector = RepeatDetector(limit=1)
    assert detector.record(ToolCall('ping', {}, namespace='a')) is None
    assert detector.record(ToolCall('ping', {}, namespace='b')) is None
    assert detector.record(ToolCall('b__ping', {})) is not None


def refusals_of_answers(answers: str, limit: int) -> str:
    """Return `x` for each refused call of one tool with these answers: `?` none, `!` a failure."""
    detector = RepeatDetector(limit=limit)
    marks = ''
    for turn, answer in enumerate(answers):
        refusal = detector.record(ToolCall('date', {}), turn)
        marks += '.' if refusal is None else 'x'
        if answer == '!':
            detector.answer(turn, Failure(ToolCancelled('date', str(turn))))
        elif answer != '?':
            detector.answer(turn, Success({'now': answer}))
    return marks


@pytest.mark.parametrize(
    ('answers', 'expected'),
    [
        ('123456', '......'),
        ('1111', '..xx'),
        ('12222', '...xx'),
        ('!!!', '..x'),
        ('1!1', '..x'),
        ('???', '..x'),
        ('1?2', '..x'),
        # A refused call has no answer, so it does not begin another cycle.
        ('1123', '..xx'),
    ],
)
def test_equal_calls_with_different_values_are_no_repetition(answers: str, expected: str) -> None:
    assert refusals_of_answers(answers, limit=2) == expected


@pytest.mark.parametrize(
    ('first', 'second', 'is_same'),
    [
        (Failure, Failure, True),
        ('a' * 9_999 + '1', 'a' * 9_999 + '2', False),
        ({'b': 1, 'a': {2, 1}}, {'a': {1, 2}, 'b': 1}, True),
        ('\udcffa', '\udcffb', False),
    ],
)
def test_values_of_any_type_are_compared(first: object, second: object, is_same: bool) -> None:
    detector = RepeatDetector(limit=2)
    for turn, value in enumerate((first, second)):
        detector.record(ToolCall('x', {}), turn)
        detector.answer(turn, Success(value))
    assert (detector.record(ToolCall('x', {}), 2) is not None) is is_same


def test_a_cycle_whose_values_change_is_no_repetition() -> None:
    detector = RepeatDetector(limit=2)
    for turn in range(20):
        call = ToolCall(('look', 'wait')[turn % 2], {})
        assert detector.record(call, turn) is None
        detector.answer(turn, Success(turn // 2 if turn % 2 else 'the same'))


def test_answers_may_arrive_in_any_order() -> None:
    for order in permutations(range(3)):
        detector = RepeatDetector(limit=3)
        for turn in range(3):
            assert detector.record(ToolCall('date', {}), turn) is None
        for turn in order:
            detector.answer(turn, Success(turn == 0))
        assert detector.record(ToolCall('date', {}), 3) is None
        assert detector.record(ToolCall('date', {}), 4) is not None


@pytest.mark.parametrize('value', [b'1', {1: 2, 'a': 3}, object, {'x'}])
def test_arguments_without_a_json_form_are_compared(value: object) -> None:
    detector = RepeatDetector(limit=1)
    assert detector.record(ToolCall('x', {'a': 1})) is None
    assert detector.record(ToolCall('x', {'a': value})) is None
    assert detector.record(ToolCall('x', {'a': value})) is not None
