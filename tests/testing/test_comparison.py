"""Tests of the explanation of a failed comparison."""

from typing import Any
from unittest.mock import ANY

import pytest
from hypothesis import given
from returns import result as returns_result
from typing_extensions import override

from seamwise import Category, Failure, Secret, Success, TaggedError
from seamwise.catalog.parsing import ParsingError
from seamwise.catalog.tools import ToolError
from seamwise.testing import errors_of
from seamwise.testing.comparison import explain
from tests.testing.errors import Busy, Empty, Gone, LoginFailed, SyncFailed


class Number(TaggedError, namespace='testing', category=Category.CONFLICT):
    value: object


def lines(left: object, right: object) -> list[str]:
    """Return the lines after the summary."""
    explanation = explain(left, right)
    assert explanation is not None
    return explanation[1:]


def test_the_summary_is_what_one_would_type() -> None:
    explanation = explain(Failure(Gone(8)), Success('a'))
    assert explanation is not None
    assert explanation[0] == "Failure(Gone(key=8, shelf='A')) == Success('a')"


def test_each_field_that_differs_has_a_line() -> None:
    expected = ['Gone differs in 2 fields:', '  key: 8 != 9', "  shelf: 'A' != 'B'"]
    assert lines(Failure(Gone(8)), Failure(Gone(9, 'B'))) == expected
    assert lines(Gone(8), Gone(9, 'B')) == expected
    assert lines(Success(Gone(8)), Success(Gone(9, 'B'))) == expected


def test_nested_fields_have_a_path() -> None:
    left = SyncFailed((Gone(1), Gone(2)), SyncFailed(cause=Gone(3)))
    right = SyncFailed((Gone(1), Gone(4), Gone(5)), SyncFailed(cause=Gone(6)))
    assert lines(left, right) == [
        'SyncFailed differs in 2 fields:',
        '  parts[1].key: 2 != 4',
        "  parts[2]: only on the right: Gone(key=5, shelf='A')",
        '  cause.cause.key: 3 != 6',
    ]
    assert "  parts[2]: only on the left: Gone(key=5, shelf='A')" in lines(right, left)


def test_different_classes_are_named_with_their_fields() -> None:
    assert lines(Failure(Gone(8)), Failure(Empty())) == [
        'Different classes: Gone and Empty',
        '  Gone:',
        '    key: 8',
        "    shelf: 'A'",
        '  Empty:',
        '    Empty()',
    ]


def test_a_tagged_error_and_another_value_are_different_classes() -> None:
    assert lines(Failure(Gone(8)), Failure('gone'))[0] == 'Different classes: Gone and str'
    assert lines(Gone(8), 'gone')[-2:] == ['  str:', "    'gone'"]


def test_classes_with_equal_names_are_named_with_their_modules() -> None:
    namespace: dict[str, Any] = {'__name__': 'other.errors'}
    exec(  # noqa: S102 -- a class of another module
        'from seamwise import Category, TaggedError\n'
        'class Gone(TaggedError, category=Category.CONFLICT): pass',
        namespace,
    )
    other = namespace['Gone']
    assert lines(Gone(8), other())[0] == (
        'Different classes: tests.testing.errors.Gone and other.errors.Gone'
    )


def test_a_class_that_was_defined_twice_is_explained() -> None:
    def define() -> type[TaggedError]:
        class Twice(TaggedError, category=Category.CONFLICT):
            pass

        return Twice

    assert 'defined twice' in lines(define()(), define()())[1]


def test_a_success_and_a_failure_are_both_shown() -> None:
    assert lines(Success([3]), Failure(Gone(8))) == [
        'Left is a Success: [3]',
        'Right is a Failure: Gone',
        '  key: 8',
        "  shelf: 'A'",
    ]


def test_a_result_and_a_bare_value_say_what_to_compare_with() -> None:
    assert lines(Failure(Gone(8)), Gone(8)) == [
        'Left is a Failure, the right side is no result.',
        "Compare with Failure(Gone(key=8, shelf='A')).",
    ]
    assert lines(3, Success(3)) == [
        'Right is a Success, the left side is no result.',
        'Compare with Success(3).',
    ]
    assert lines(Success(0.3), pytest.approx(0.3)) == [
        'Left is a Success, the right side is no result.'
    ]


def test_secrets_differ_without_being_shown() -> None:
    left = LoginFailed('ann', Secret('FAKE-1'), 'one')
    right = LoginFailed('ann', Secret('FAKE-2'), 'two')
    explanation = explain(left, right)
    assert explanation is not None
    assert 'FAKE' not in '\n'.join(explanation)
    assert explanation[2:] == ['  token: two different secrets', "  password: 'one' != 'two'"]


def test_a_difference_inside_a_masked_credential_is_named_but_not_shown() -> None:
    left, right = (Number(f'https://ann:FAKE-{i}@example.org') for i in range(2))
    explanation = explain(left, right)
    assert explanation is not None
    assert 'FAKE' not in '\n'.join(explanation)
    assert explanation[2].endswith('differs where *** hides a secret')


def test_equal_texts_of_different_values_are_explained() -> None:
    left, right = SyncFailed(cause=OSError('disk')), SyncFailed(cause=OSError('disk'))
    assert lines(left, right)[1:] == [
        "  cause: OSError('disk') twice; an exception is equal to itself only"
    ]

    class Point:
        @override
        def __repr__(self) -> str:
            return 'Point()'

    assert 'twice, but not equal' in lines(Number(Point()), Number(Point()))[1]


def test_a_field_that_is_not_equal_to_itself_is_explained() -> None:
    assert lines(Number(float('nan')), Number(float('nan')))[1] == (
        '  value: nan twice, but not equal (builtins.float)'
    )


def test_a_field_that_cannot_be_compared_differs() -> None:
    class Incomparable:
        @override
        def __eq__(self, other: object) -> bool:
            raise ValueError

        @override
        def __hash__(self) -> int:
            return 0

    assert len(lines(Number(Incomparable()), Number(Incomparable()))) == 2


def test_a_text_of_several_lines_is_compared_by_line() -> None:
    assert lines(Number('a\nb'), Number('a\nc'))[2:] == ['        a', '      - b', '      + c']


def test_long_values_are_cut_unless_the_full_difference_is_requested() -> None:
    left, right = Number('x' * 5000 + 'a' + 'x' * 5000), Number('x' * 5000 + 'b' + 'x' * 5000)
    short = lines(left, right)
    assert sum(map(len, short)) < 500
    assert 'differs in its middle (run pytest with -vv)' in short[1]
    full = explain(left, right, limit=None)
    assert full is not None
    assert 'xax' in full[2]
    assert 'xbx' in full[2]


def test_the_summary_fits_the_width() -> None:
    left, right = Number('a' * 500), Number('b' * 500)
    for width in (60, 100):
        explanation = explain(left, right, width=width)
        assert explanation is not None
        assert width - 5 < len(explanation[0]) <= width


@pytest.mark.parametrize(
    ('left', 'right'), [(1, 2), ('a', 'b'), ([Gone(8)], [Gone(9)]), (ANY, {}), (Gone, Busy)]
)
def test_values_that_are_neither_results_nor_errors_are_left_to_others(
    left: object, right: object
) -> None:
    assert explain(left, right) is None


def test_results_of_returns_are_explained_too() -> None:
    assert lines(returns_result.Success(1), returns_result.Success(2)) == ['1 != 2']


@given(errors_of(ToolError | ParsingError), errors_of(ToolError | ParsingError))
def test_any_two_different_errors_have_an_explanation(
    left: TaggedError, right: TaggedError
) -> None:
    if left == right:
        return
    explanation = explain(Failure(left), Failure(right))
    assert explanation is not None
    assert len(explanation) > 2
    assert not any('\n' in line for line in explanation)
