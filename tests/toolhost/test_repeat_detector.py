"""A call that goes on with a cycle of one, two or three calls is refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seamwise.toolhost.calls import ToolCall
from seamwise.toolhost.repeat_detector import RepeatDetector


def refused(calls: str, limit: int) -> str:
    """Give an `x` for every refused call, and a `.` for every other."""
    repetition = RepeatDetector(limit=limit)
    return ''.join(
        '.' if repetition.record(ToolCall('c', 'tool', {'key': one}, 1)) is None else 'x'
        for one in calls
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
def test_the_limit_holds_for_cycles_of_one_two_and_three(
    calls: str, limit: int, expected: str
) -> None:
    assert refused(calls, limit) == expected


def by_the_rule(calls: str, limit: int) -> str:
    """Say the rule as it is written: `limit` equal blocks of p calls come before, and this one equals their first."""

    def repeats(at: int, length: int) -> bool:
        before = calls[max(0, at - length * limit) : at]
        return (
            len(before) == length * limit
            and before == before[:length] * limit
            and calls[at] == before[0]
        )

    return ''.join(
        'x' if limit and any(repeats(at, length) for length in (1, 2, 3)) else '.'
        for at in range(len(calls))
    )


@given(st.text('abc', max_size=30), st.integers(0, 4))
def test_it_is_the_rule(calls: str, limit: int) -> None:
    assert refused(calls, limit) == by_the_rule(calls, limit)


@given(st.text('ab', max_size=40), st.integers(0, 3))
def test_it_is_the_rule_with_few_calls(calls: str, limit: int) -> None:
    assert refused(calls, limit) == by_the_rule(calls, limit)


def test_the_refusal_says_how_often_and_what_the_limit_is() -> None:
    repetition = RepeatDetector(limit=2)
    asked = [repetition.record(ToolCall('c', 'ping', {}, 1)) for _ in range(4)]
    assert [one and (one.tool, one.count, one.limit) for one in asked] == [
        None,
        None,
        ('ping', 3, 2),
        ('ping', 4, 2),
    ]


@pytest.mark.parametrize(
    ('arguments', 'same'),
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
def test_calls_are_the_same_by_their_canonical_json(
    arguments: dict[str, object], same: bool
) -> None:
    repetition = RepeatDetector(limit=1)
    repetition.record(ToolCall('c1', 'x', {'a': {'c': [1, 2], 'd': 1}, 'b': 2}, 1))
    assert (repetition.record(ToolCall('c2', 'x', arguments, 2)) is not None) is same


def test_another_tool_is_another_call_and_huge_numbers_are_numbers() -> None:
    repetition = RepeatDetector(limit=1)
    huge: dict[str, object] = {'a': 10**400, 'b': 1e300}
    assert repetition.record(ToolCall('c1', 'x', huge, 1)) is None
    assert repetition.record(ToolCall('c2', 'y', huge, 2)) is None
    assert repetition.record(ToolCall('c3', 'y', huge, 3)) is not None


def test_half_of_a_character_makes_a_call_like_others() -> None:
    assert refused('\udcff\udcff\udcfe', 1) == '.x.'
