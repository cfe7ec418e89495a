"""Laws: results are functors and monads on both sides, and every way to write the same thing gives the same."""

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


def same(one: object) -> object:
    return one


class TestFunctor:
    @given(results)
    def test_identity(self, result: Number) -> None:
        assert result.map(same) == result
        assert result.alt(same) == result

    @given(results, plain, plain)
    def test_composition(
        self, result: Number, f: Callable[[int], int], g: Callable[[int], int]
    ) -> None:
        assert result.map(f).map(g) == result.map(lambda number: g(f(number)))

    @given(results, words, words)
    def test_composition_of_errors(
        self, result: Number, f: Callable[[str], str], g: Callable[[str], str]
    ) -> None:
        assert result.alt(f).alt(g) == result.alt(lambda word: g(f(word)))

    @given(results, plain, words)
    def test_the_two_sides_do_not_touch(
        self, result: Number, f: Callable[[int], int], g: Callable[[str], str]
    ) -> None:
        assert result.map(f).alt(g) == result.alt(g).map(f)

    @given(results, plain)
    def test_swapped_the_sides_are_one_another(
        self, result: Number, f: Callable[[int], int]
    ) -> None:
        assert result.swap().swap() == result
        assert result.swap().alt(f).swap() == result.map(f)


class TestMonad:
    @given(values, steps)
    def test_left_identity(self, value: int, step: Step) -> None:
        assert Success(value).bind(step) == step(value)

    @given(results)
    def test_right_identity(self, result: Number) -> None:
        assert result.bind(Success) == result

    @given(results, steps, steps)
    def test_associativity(self, result: Number, f: Step, g: Step) -> None:
        assert result.bind(f).bind(g) == result.bind(lambda number: f(number).bind(g))

    @given(results, plain)
    def test_a_map_is_a_bind(self, result: Number, f: Callable[[int], int]) -> None:
        assert result.map(f) == result.bind(lambda number: Success(f(number)))


class TestErrorSide:
    @given(errors, mends)
    def test_left_identity(self, error: str, mend: Mend) -> None:
        assert Failure(error).lash(mend) == mend(error)

    @given(results)
    def test_right_identity(self, result: Number) -> None:
        assert result.lash(Failure) == result

    @given(results, mends, mends)
    def test_associativity(self, result: Number, f: Mend, g: Mend) -> None:
        assert result.lash(f).lash(g) == result.lash(lambda word: f(word).lash(g))

    @given(results, steps)
    def test_swapped_a_bind_is_a_lash(self, result: Number, step: Step) -> None:
        assert result.swap().lash(lambda number: step(number).swap()) == result.bind(step).swap()


class TestCatch:
    @given(results, mends)
    def test_catching_everything_is_a_lash(self, result: Number, mend: Mend) -> None:
        assert (
            catch_all(mend)(result)
            == catch(str, mend)(result)
            == catch((bytes, str), mend)(result)  # type: ignore[arg-type]  # there are no bytes here
            == result.lash(mend)
        )

    @given(results, mends)
    def test_catching_nothing_that_is_there_is_nothing(self, result: Number, mend: Mend) -> None:
        assert catch(bytes, mend)(result) is result  # type: ignore[arg-type]  # there are no bytes here

    @given(results, mends)
    def test_handing_on_is_catching_nothing(self, result: Number, mend: Mend) -> None:
        assert catch(str, Failure)(result) == result
        assert catch(str, lambda word: catch_all(mend)(Failure(word)))(result) == catch_all(mend)(
            result
        )

    @given(st.one_of(results, values.map(lambda number: Failure(float(number)))), mends, mends)
    def test_catches_of_different_kinds_may_change_places(
        self, result: Result[int, str | float], f: Mend, g: Mend
    ) -> None:
        words_first = catch(str, lambda word: Success(f(word)))
        floats_first = catch(float, lambda number: Success(g(str(number))))
        assert floats_first(words_first(result)) == words_first(floats_first(result))

    @given(results)
    def test_looks_change_nothing(self, result: Number) -> None:
        seen: list[object] = []
        assert tap_error(tap(result, seen.append), seen.append) is result
        assert seen == [
            result.swap().value_or(None) if isinstance(result, Failure) else result.value_or(None)
        ]


class TestChains:
    """Binds, `flow`, direct style, and each of them with coroutines: four spellings of one thing."""

    @given(values, st.lists(steps, min_size=1, max_size=5))
    def test_they_agree(self, value: int, chain: Sequence[Step]) -> None:
        @fallible
        def direct(do: Do[str]) -> int:
            number = value
            for step in chain:
                number = do(step(number))
            return number

        @fallible
        def nested(do: Do[str], number: int, *others: Step) -> int:
            first, *rest = others
            found = do(first(number))
            return do(nested(found, *rest)) if rest else found

        bound: Number = Success(value)
        for step in chain:
            bound = bound.bind(step)
        assert flow(value, *chain) == direct() == nested(value, *chain) == bound

    @given(values, st.lists(steps, min_size=1, max_size=5), plain)
    def test_coroutines_agree(
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
    def test_there_and_back(self, result: Number) -> None:
        @fallible
        def opened(do: Do[str]) -> int:
            return do(result)

        raising = caught(lambda: or_raise(result), str)
        raised = attempt(lambda: or_raise(result), when(Exception).becomes(str))
        assert opened() == raising == raised == result


class TestMany:
    @given(many)
    def test_they_agree(self, given_results: list[Number]) -> None:
        found, lost = partition(given_results)
        assert [Success(one) for one in found] == [
            one for one in given_results if isinstance(one, Success)
        ]
        assert [Failure(one) for one in lost] == [
            one for one in given_results if isinstance(one, Failure)
        ]
        assert collect(given_results) == (Failure(lost[0]) if lost else Success(tuple(found)))
        assert accumulate(given_results) == (
            Failure(tuple(lost)) if lost else Success(tuple(found))
        )

    @given(many)
    def test_direct_style_collects(self, given_results: list[Number]) -> None:
        @fallible
        def direct(do: Do[str]) -> tuple[int, ...]:
            return tuple(do(one) for one in given_results)

        assert direct() == collect(given_results)

    @given(many.filter(lambda given_results: len(given_results) > 1))
    def test_slots_are_an_iterable(self, given_results: list[Number]) -> None:
        assert collect(*given_results) == collect(iter(given_results))
        assert accumulate(*given_results) == accumulate(iter(given_results))

    @given(many, many)
    def test_parts_add_up(self, one: list[Number], two: list[Number]) -> None:
        found, lost = partition(one)
        more, others = partition(two)
        assert partition([*one, *two]) == (found + more, lost + others)

    @given(many, st.none() | st.integers(1, 9))
    def test_side_by_side_they_give_the_same(
        self, given_results: list[Number], limit: int | None
    ) -> None:
        async def soon(result: Number, turns: int) -> Number:
            for _ in range(turns):
                await asyncio.sleep(0)
            return result

        async def run() -> None:
            def jobs() -> list[Awaitable[Number]]:
                return [
                    soon(result, len(given_results) - place)
                    for place, result in enumerate(given_results)
                ]

            assert await accumulate_async(jobs(), limit=limit) == accumulate(given_results)
            assert await partition_async(jobs(), limit=limit) == partition(given_results)
            collected = await collect_async(jobs(), limit=1)
            assert collected == collect(given_results)

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


def deaf(*_: object) -> bool:
    return True


def swallow_in_a_stack(do: Do[str]) -> None:
    with ExitStack() as stack:
        stack.push(deaf)
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
def test_a_swallowed_signal_is_always_loud(
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
