"""Tests of `collect`, `accumulate` and `partition`."""

import asyncio
from collections.abc import Iterable, Iterator

import pytest

from seamwise import Failure, Result, Success, accumulate, collect, partition

Number = Result[int, str]


def numbers(count: int, *, odd_from: int | None = None) -> Iterator[Number]:
    """Yield successes, and from `odd_from` on failures for odd numbers."""
    for number in range(count):
        yield (
            Failure(f'{number} is odd')
            if odd_from is not None and number >= odd_from and number % 2
            else Success(number)
        )


class OnceThenNever:
    """Iterator that must not be read beyond its first failure."""

    def __init__(self, *results: Number) -> None:
        self.results = list(results)

    def __iter__(self) -> Iterator[Number]:
        return self

    def __next__(self) -> Number:
        assert self.results, 'read too far'
        return self.results.pop(0)


class TestCollect:
    def test_collect_returns_the_values_of_its_arguments(self) -> None:
        assert collect(Success(1), Success('a'), Success(None)) == Success((1, 'a', None))

    def test_collect_returns_the_values_of_an_iterable(self) -> None:
        assert collect(numbers(3)) == Success((0, 1, 2))
        assert collect([Success(1)]) == Success((1,))
        assert collect([]) == Success(())

    def test_collect_treats_one_result_as_an_argument(self) -> None:
        assert collect(Success([1, 2])) == Success(([1, 2],))
        late = Failure('late')
        assert collect(late) is late

    def test_collect_returns_the_first_failure_itself(self) -> None:
        first, second = Failure('first'), Failure('second')
        assert collect(Success(1), first, second) is first
        results: list[Number] = [Success(1), second, first]
        assert collect(results) is second

    def test_collect_reads_nothing_after_the_first_failure(self) -> None:
        assert collect(OnceThenNever(Success(1), Failure('late'))) == Failure('late')

    def test_collect_leaves_the_rest_of_an_iterator_unread(self) -> None:
        iterator = numbers(9, odd_from=3)
        assert collect(iterator) == Failure('3 is odd')
        assert next(iterator) == Success(4)

    def test_collect_reads_a_hundred_thousand_results_without_recursion(self) -> None:
        assert collect(numbers(100_000)).map(len) == Success(100_000)

    def test_collect_propagates_an_exception_of_an_iterator(self) -> None:
        with pytest.raises(ZeroDivisionError):
            collect(Success(1 // number) for number in (1, 0))


class TestAccumulate:
    def test_accumulate_returns_all_values(self) -> None:
        assert accumulate(Success(1), Success('a')) == Success((1, 'a'))
        assert accumulate(numbers(3)) == Success((0, 1, 2))
        assert accumulate([]) == Success(())

    def test_accumulate_returns_all_errors_in_order(self) -> None:
        assert accumulate(Failure('b'), Success(1), Failure('a'), Failure('b')) == Failure(
            ('b', 'a', 'b')
        )
        assert accumulate(numbers(6, odd_from=2)) == Failure(('3 is odd', '5 is odd'))

    def test_accumulate_returns_one_error_as_a_tuple(self) -> None:
        assert accumulate(Failure('late')) == Failure(('late',))
        assert accumulate(Success(1), Failure(())) == Failure(((),))

    def test_accumulate_reads_a_hundred_thousand_results_without_recursion(self) -> None:
        assert accumulate(numbers(100_000)).map(len) == Success(100_000)
        assert accumulate(numbers(100_000, odd_from=0)).alt(len) == Failure(50_000)


class TestPartition:
    def test_partition_splits_values_and_errors_in_order(self) -> None:
        assert partition(numbers(6, odd_from=2)) == ([0, 1, 2, 4], ['3 is odd', '5 is odd'])

    def test_partition_of_nothing_returns_two_empty_lists(self) -> None:
        assert partition([]) == ([], [])

    def test_partition_reads_a_hundred_thousand_results_without_recursion(self) -> None:
        values, errors = partition(numbers(100_000, odd_from=0))
        assert (len(values), len(errors)) == (50_000, 50_000)


class TestInvalidArguments:
    @pytest.mark.parametrize('name', ['collect', 'accumulate', 'partition'])
    @pytest.mark.parametrize(
        ('wrong', 'kind'), [(7, 'int'), (None, 'NoneType'), ([Success(1)], 'list'), (str, 'type')]
    )
    def test_an_item_that_is_no_result_raises_type_error_with_its_position(
        self, name: str, wrong: object, kind: str
    ) -> None:
        function = {'collect': collect, 'accumulate': accumulate, 'partition': partition}[name]
        with pytest.raises(TypeError, match=f'^{name} takes results, but number 3 is {kind}\\.$'):
            function([Success(1), Success(2), wrong, Success(4)])  # type: ignore[operator]  # the misuse is the test

    def test_an_argument_that_is_no_result_raises_type_error_with_its_position(self) -> None:
        with pytest.raises(TypeError, match=r'^collect takes results, but number 1 is int\.$'):
            collect(1, Success(2))  # type: ignore[call-overload]  # the misuse is the test
        with pytest.raises(TypeError, match=r'^accumulate takes results, but number 2 is list\.$'):
            accumulate(Success(2), [Success(1)])  # type: ignore[call-overload]  # the misuse is the test

    @pytest.mark.parametrize('name', ['collect', 'accumulate', 'partition'])
    @pytest.mark.parametrize('wrong', [7, None])
    def test_an_argument_that_is_not_iterable_raises_type_error(
        self, name: str, wrong: object
    ) -> None:
        function = {'collect': collect, 'accumulate': accumulate, 'partition': partition}[name]
        match = f'^{name} takes results or one iterable of results, not {type(wrong).__name__}\\.$'
        with pytest.raises(TypeError, match=match):
            function(wrong)  # type: ignore[operator]  # the misuse is the test

    def test_a_coroutine_among_results_raises_type_error_with_a_hint(self) -> None:
        forgotten = asyncio.sleep(0)
        match = (
            r'^collect takes results, but number 2 is coroutine, which must be awaited first '
            r'\(or use the function with _async\)\.$'
        )
        with pytest.raises(TypeError, match=match):
            collect(Success(1), forgotten)  # type: ignore[call-overload]  # the misuse is the test
        forgotten.close()

    def test_collect_does_not_check_items_after_a_failure(self) -> None:
        mixed: Iterable[Number] = [Failure('late'), 7]  # type: ignore[list-item]  # the misuse is the test
        assert collect(mixed) == Failure('late')
        with pytest.raises(TypeError, match='number 2 is int'):
            accumulate(mixed)
