"""Tests of algebraic laws: functor, monad, and the equivalence of all styles."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import ExitStack, suppress
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seamwise import (
    Do,
    Failure,
    Result,
    ScopeLeaked,
    Success,
    accumulate,
    accumulate_async,
    attempt,
    bind_async,
    catch,
    catch_all,
    caught,
    collect,
    collect_async,
    fallible,
    flow,
    map_async,
    or_raise,
    partition,
    partition_async,
    tap,
    tap_error,
    when,
)

Number = Result[int, str]
Step = Callable[[int], Number]
Mend = Callable[[str], Number]

values = st.integers(-5, 5)
errors = st.sampled_from(['a', 'b', 'late'])
results: st.SearchStrategy[Number] = st.one_of(values.map(Success), errors.map(Failure))
many = st.lists(results, max_size=8)
plain: st.SearchStrategy[Callable[[int], int]] = st.functions(
    like=lambda number: number, returns=values, pure=True
)
words: st.SearchStrategy[Callable[[str], str]] = st.functions(
    like=lambda word: word, returns=errors, pure=True
)
steps: st.SearchStrategy[Step] = st.functions(
    like=lambda number: number, returns=results, pure=True
)
mends: st.SearchStrategy[Mend] = st.functions(like=lambda word: word, returns=results, pure=True)


def identity(value: object) -> object:
    return value


class TestFunctor:
    @given(results)
    def test_mapping_identity_changes_nothing(self, result: Number) -> None:
        assert result.map(identity) == result
        assert result.alt(identity) == result

    @given(results, plain, plain)
    def test_mapping_a_composition_equals_mapping_twice(
        self, result: Number, f: Callable[[int], int], g: Callable[[int], int]
    ) -> None:
        assert result.map(f).map(g) == result.map(lambda number: g(f(number)))

    @given(results, words, words)
    def test_mapping_errors_by_a_composition_equals_mapping_twice(
        self, result: Number, f: Callable[[str], str], g: Callable[[str], str]
    ) -> None:
        assert result.alt(f).alt(g) == result.alt(lambda word: g(f(word)))

    @given(results, plain, words)
    def test_map_and_alt_are_independent(
        self, result: Number, f: Callable[[int], int], g: Callable[[str], str]
    ) -> None:
        assert result.map(f).alt(g) == result.alt(g).map(f)

    @given(results, plain)
    def test_map_of_a_swapped_result_equals_alt(
        self, result: Number, f: Callable[[int], int]
    ) -> None:
        assert result.swap().swap() == result
        assert result.swap().alt(f).swap() == result.map(f)


class TestMonad:
    @given(values, steps)
    def test_bind_has_a_left_identity(self, value: int, step: Step) -> None:
        assert Success(value).bind(step) == step(value)

    @given(results)
    def test_bind_has_a_right_identity(self, result: Number) -> None:
        assert result.bind(Success) == result

    @given(results, steps, steps)
    def test_bind_is_associative(self, result: Number, f: Step, g: Step) -> None:
        assert result.bind(f).bind(g) == result.bind(lambda number: f(number).bind(g))

    @given(results, plain)
    def test_map_equals_bind_with_success(self, result: Number, f: Callable[[int], int]) -> None:
        assert result.map(f) == result.bind(lambda number: Success(f(number)))


class TestErrorMonad:
    @given(errors, mends)
    def test_lash_has_a_left_identity(self, error: str, mend: Mend) -> None:
        assert Failure(error).lash(mend) == mend(error)

    @given(results)
    def test_lash_has_a_right_identity(self, result: Number) -> None:
        assert result.lash(Failure) == result

    @given(results, mends, mends)
    def test_lash_is_associative(self, result: Number, f: Mend, g: Mend) -> None:
        assert result.lash(f).lash(g) == result.lash(lambda word: f(word).lash(g))

    @given(results, steps)
    def test_bind_of_a_swapped_result_equals_lash(self, result: Number, step: Step) -> None:
        assert result.swap().lash(lambda number: step(number).swap()) == result.bind(step).swap()


class TestCatch:
    @given(results, mends)
    def test_catching_every_class_equals_lash(self, result: Number, mend: Mend) -> None:
        assert (
            catch_all(mend)(result)
            == catch(str, mend)(result)
            == catch((bytes, str), mend)(result)  # type: ignore[arg-type]  # no bytes occur here
            == result.lash(mend)
        )

    @given(results, mends)
    def test_catching_an_absent_class_changes_nothing(self, result: Number, mend: Mend) -> None:
        assert catch(bytes, mend)(result) is result  # type: ignore[arg-type]  # no bytes occur here

    @given(results, mends)
    def test_a_handler_that_returns_the_failure_changes_nothing(
        self, result: Number, mend: Mend
    ) -> None:
        assert catch(str, Failure)(result) == result
        assert catch(str, lambda word: catch_all(mend)(Failure(word)))(result) == catch_all(mend)(
            result
        )

    @given(st.one_of(results, values.map(lambda number: Failure(float(number)))), mends, mends)
    def test_catches_of_different_classes_commute(
        self, result: Result[int, str | float], f: Mend, g: Mend
    ) -> None:
        words_first = catch(str, lambda word: Success(f(word)))
        floats_first = catch(float, lambda number: Success(g(str(number))))
        assert floats_first(words_first(result)) == words_first(floats_first(result))

    @given(results)
    def test_tap_and_tap_error_change_nothing(self, result: Number) -> None:
        calls: list[object] = []
        assert tap_error(tap(result, calls.append), calls.append) is result
        assert calls == [
            result.swap().value_or(None) if isinstance(result, Failure) else result.value_or(None)
        ]


class TestChains:
    """Tests that `bind`, `flow` and direct style agree, with plain and async functions."""

    @given(values, st.lists(steps, min_size=1, max_size=5))
    def test_all_chaining_styles_give_the_same_result(
        self, value: int, chain: Sequence[Step]
    ) -> None:
        @fallible
        def direct(do: Do[str]) -> int:
            number = value
            for step in chain:
                number = do(step(number))
            return number

        @fallible
        def nested(do: Do[str], number: int, *others: Step) -> int:
            first, *rest = others
            value = do(first(number))
            return do(nested(value, *rest)) if rest else value

        bound: Number = Success(value)
        for step in chain:
            bound = bound.bind(step)
        assert flow(value, *chain) == direct() == nested(value, *chain) == bound

    @given(values, st.lists(steps, min_size=1, max_size=5), plain)
    def test_all_async_chaining_styles_give_the_same_result(
        self, value: int, chain: Sequence[Step], f: Callable[[int], int]
    ) -> None:
        async def soon(step: Step, number: int) -> Number:
            return step(number)

        async def mapped(number: int) -> int:
            return f(number)

        @fallible
        async def direct(do: Do[str]) -> int:
            number = value
            for step in chain:
                number = do(await soon(step, number))
            return await mapped(number)

        async def bound_to(result: Number, step: Step) -> Number:
            return await bind_async(result, partial(soon, step))

        async def bound() -> Number:
            result: Number = Success(value)
            for step in chain:
                result = await bound_to(result, step)
            return await map_async(result, mapped)

        async def both() -> tuple[Number, Number]:
            return await direct(), await bound()

        expected = flow(value, *chain).map(f)
        assert asyncio.run(both()) == (expected, expected)

    @given(results)
    def test_caught_inverts_or_raise(self, result: Number) -> None:
        @fallible
        def opened(do: Do[str]) -> int:
            return do(result)

        raising = caught(lambda: or_raise(result), str)
        raised = attempt(lambda: or_raise(result), when(Exception).becomes(str))
        assert opened() == raising == raised == result


class TestMany:
    @given(many)
    def test_all_ways_to_collect_give_the_same_result(self, results: list[Number]) -> None:
        values, errors = partition(results)
        assert [Success(value) for value in values] == [
            result for result in results if isinstance(result, Success)
        ]
        assert [Failure(error) for error in errors] == [
            result for result in results if isinstance(result, Failure)
        ]
        assert collect(results) == (Failure(errors[0]) if errors else Success(tuple(values)))
        assert accumulate(results) == (Failure(tuple(errors)) if errors else Success(tuple(values)))

    @given(many)
    def test_direct_style_collects_like_collect(self, results: list[Number]) -> None:
        @fallible
        def direct(do: Do[str]) -> tuple[int, ...]:
            return tuple(do(result) for result in results)

        assert direct() == collect(results)

    @given(many.filter(lambda results: len(results) > 1))
    def test_arguments_and_an_iterable_give_the_same_result(self, results: list[Number]) -> None:
        assert collect(*results) == collect(iter(results))
        assert accumulate(*results) == accumulate(iter(results))

    @given(many, many)
    def test_partitions_of_two_lists_add_up(
        self, first: list[Number], second: list[Number]
    ) -> None:
        found, lost = partition(first)
        more, others = partition(second)
        assert partition([*first, *second]) == (found + more, lost + others)

    @given(many, st.none() | st.integers(1, 9))
    def test_concurrent_functions_give_the_same_results(
        self, results: list[Number], limit: int | None
    ) -> None:
        async def soon(result: Number, turns: int) -> Number:
            for _ in range(turns):
                await asyncio.sleep(0)
            return result

        async def run() -> None:
            def jobs() -> list[Awaitable[Number]]:
                return [soon(result, len(results) - index) for index, result in enumerate(results)]

            assert await accumulate_async(jobs(), limit=limit) == accumulate(results)
            assert await partition_async(jobs(), limit=limit) == partition(results)
            collected = await collect_async(jobs(), limit=1)
            assert collected == collect(results)

        asyncio.run(run())


LATE: Number = Failure('late')


def succeed(do: Do[str]) -> None:
    do(Success(1))


def fail(do: Do[str]) -> None:
    do.fail('late')


def fail_with_a_constant(do: Do[str]) -> None:
    do(LATE)


def swallow(do: Do[str]) -> None:
    with suppress(BaseException):
        do.fail('swallowed')


def swallow_a_constant(do: Do[str]) -> None:
    with suppress(BaseException):
        do(LATE)


def suppress_all(*_: object) -> bool:
    return True


def swallow_in_a_stack(do: Do[str]) -> None:
    with ExitStack() as stack:
        stack.push(suppress_all)
        do.fail('swallowed')


def swallow_in_a_nested_function(do: Do[str]) -> None:
    @fallible
    def nested(_: Do[str]) -> None:
        swallow(do)

    nested()


GOOD, FAILING = [succeed], [fail, fail_with_a_constant]
SWALLOWING = [swallow, swallow_a_constant, swallow_in_a_stack, swallow_in_a_nested_function]
deeds = st.lists(st.sampled_from([*GOOD, *FAILING, *SWALLOWING]), max_size=5)


@given(deeds, st.booleans())
def test_a_swallowed_signal_always_raises_scope_leaked(
    deeds: list[Callable[[Do[str]], None]], is_async: bool
) -> None:
    def act(do: Do[str]) -> int:
        for deed in deeds:
            deed(do)
        return 1

    @fallible
    async def act_soon(do: Do[str]) -> int:
        await asyncio.sleep(0)
        return act(do)

    def run() -> Number:
        return asyncio.run(act_soon()) if is_async else fallible(act)()

    decisive = next((deed for deed in deeds if deed not in GOOD), None)
    if decisive in SWALLOWING:
        with pytest.raises(ScopeLeaked, match='some code swallowed its early return'):
            run()
    else:
        assert run() == (Success(1) if decisive is None else LATE)
