"""Tests of the composition of steps: `tap`, `catch`, `flow` and their async versions."""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, Never

import pytest
from returns.result import Success as ReturnsSuccess

from seamwise import (
    Category,
    Failure,
    Result,
    Success,
    TaggedError,
    bind_async,
    catch,
    catch_all,
    flow,
    map_async,
    tap,
    tap_error,
)


class Cold(TaggedError, category=Category.NOT_FOUND, message='Cold.'):
    key: str


class Full(TaggedError, category=Category.CAPACITY, message='Full.'):
    key: str


class Lost(TaggedError, category=Category.CONNECTION, message='Lost.'):
    key: str


COLD = Failure(Cold('k'))
FULL = Failure(Full('k'))
LOST = Failure(Lost('k'))


class Sized(str):
    __slots__ = ()


def never(_: object) -> Never:
    pytest.fail('this must not be called')


def half(number: int) -> Result[int, str]:
    return Failure(f'{number} is odd') if number % 2 else Success(number // 2)


async def half_soon(number: int) -> Result[int, str]:
    await asyncio.sleep(0)
    return half(number)


async def text_soon(number: int) -> str:
    await asyncio.sleep(0)
    return str(number)


class TestTap:
    def test_tap_returns_the_same_success(self) -> None:
        values: list[int] = []
        result = Success(2)
        assert tap(result, values.append) is result
        assert values == [2]

    def test_tap_ignores_a_failure(self) -> None:
        assert tap(COLD, never) is COLD

    def test_tap_error_returns_the_same_failure(self) -> None:
        values: list[Cold] = []
        assert tap_error(COLD, values.append) is COLD
        assert values == [Cold('k')]

    def test_tap_error_ignores_a_success(self) -> None:
        result = Success(2)
        assert tap_error(result, never) is result

    def test_tap_ignores_the_return_value_of_its_function(self) -> None:
        assert tap(Success(1), lambda _: Failure('no')) == Success(1)
        assert tap_error(Failure('late'), lambda _: Success(1)) == Failure('late')

    def test_tap_propagates_an_exception_of_its_function(self) -> None:
        with pytest.raises(ZeroDivisionError):
            tap(Success(0), lambda number: 1 // number)
        with pytest.raises(ZeroDivisionError):
            tap_error(Failure(0), lambda number: 1 // number)


class TestAsync:
    def test_bind_async_awaits_the_step_with_the_value(self) -> None:
        assert asyncio.run(bind_async(Success(4), half_soon)) == Success(2)
        assert asyncio.run(bind_async(Success(3), half_soon)) == Failure('3 is odd')

    def test_bind_async_returns_the_result_of_the_step_itself(self) -> None:
        result = Failure('late')

        async def fail(_: int) -> Failure[str]:
            return result

        assert asyncio.run(bind_async(Success(1), fail)) is result

    def test_map_async_wraps_the_value_of_the_step(self) -> None:
        assert asyncio.run(map_async(Success(4), text_soon)) == Success('4')

    @pytest.mark.parametrize('function', [bind_async, map_async])
    def test_a_failure_does_not_call_the_step(
        self, function: Callable[[Failure[Cold], Callable[[object], Never]], Awaitable[object]]
    ) -> None:
        async def main() -> object:
            return await function(COLD, never)

        assert asyncio.run(main()) is COLD

    def test_a_step_may_return_any_awaitable(self) -> None:
        async def main() -> Result[str, str]:
            loop = asyncio.get_running_loop()
            result: Result[int, str] = Success(4)
            halved = await bind_async(result, lambda number: loop.create_task(half_soon(number)))
            return await map_async(halved, lambda number: asyncio.ensure_future(text_soon(number)))

        assert asyncio.run(main()) == Success('2')

    def test_cancellation_of_a_step_propagates(self) -> None:
        async def cancelled(_: int) -> Success[int]:
            raise asyncio.CancelledError

        for function in (bind_async, map_async):
            with pytest.raises(asyncio.CancelledError):
                asyncio.run(function(Success(1), cancelled))


class TestCatch:
    def test_catch_handles_an_error_of_its_class(self) -> None:
        assert catch(Cold, lambda error: Success(error.key))(COLD) == Success('k')

    def test_catch_returns_a_failure_of_another_class_itself(self) -> None:
        assert catch(Cold, never)(FULL) is FULL

    def test_catch_returns_a_success_itself(self) -> None:
        result = Success(Cold('k'))
        assert catch(Cold, never)(result) is result

    def test_catch_handles_several_classes_with_one_handler(self) -> None:
        step = catch((Cold, Full), lambda error: Success(type(error).__name__))
        assert [step(COLD), step(FULL), step(LOST)] == [Success('Cold'), Success('Full'), LOST]

    def test_a_failure_of_the_handler_is_not_caught_again(self) -> None:
        again = Failure(Cold('again'))
        assert catch(Cold, lambda _: again)(COLD) is again

    def test_catches_can_be_chained_with_lash(self) -> None:
        warm = catch(Cold, lambda error: Failure(Full(error.key)))(COLD)
        assert catch(Full, lambda error: Success(error.key))(warm) == Success('k')

    def test_catch_handles_errors_that_are_not_tagged(self) -> None:
        assert catch(str, lambda error: Success(error.upper()))(Failure('late')) == Success('LATE')
        assert catch(OSError, lambda error: Success(error.errno))(
            Failure(FileNotFoundError(2, 'gone'))
        ) == Success(2)

    @pytest.mark.parametrize('kinds', [(), Cold | Full, 'Cold', (Cold, 'Full'), Cold('k'), [Cold]])
    def test_catch_raises_type_error_for_anything_but_classes(self, kinds: object) -> None:
        match = (
            r'^catch takes a class or a tuple of classes first, not .*; '
            r'write \(A, B\) for A \| B, or use catch_all for a whole union\.$'
        )
        with pytest.raises(TypeError, match=match):
            catch(kinds, never)  # type: ignore[call-overload]  # the misuse is the test

    def test_catch_all_handles_every_failure(self) -> None:
        def name(error: Cold | Full) -> Success[str]:
            return Success(type(error).__name__)

        assert [catch_all(name)(COLD), catch_all(name)(FULL)] == [Success('Cold'), Success('Full')]

    def test_catch_all_returns_a_success_itself(self) -> None:
        result = Success(1)
        assert catch_all(never)(result) is result

    @pytest.mark.parametrize('handler', [len, str])
    def test_a_handler_that_returns_no_result_raises_type_error_with_its_name(
        self, handler: Any
    ) -> None:
        with pytest.raises(
            TypeError,
            match=r'^(len|str) must return a Success or a Failure, but returned (int|str)\.$',
        ):
            catch(Sized, handler)(Failure(Sized('k')))
        with pytest.raises(TypeError, match=f'^{handler.__name__} must return a Success'):
            catch_all(handler)(Failure(Sized('k')))


class TestFlow:
    def test_flow_calls_the_steps_from_left_to_right(self) -> None:
        assert flow(
            '8', lambda text: Success(int(text)), half, half, lambda number: Success([number])
        ) == Success([2])

    def test_flow_accepts_one_step(self) -> None:
        assert flow(4, half) == Success(2)
        assert flow(3, half) == Failure('3 is odd')

    def test_flow_returns_the_first_failure_itself(self) -> None:
        result: Failure[str] = Failure('late')
        assert flow(4, half, lambda _: result, never, never) is result

    def test_flow_returns_the_last_result_itself(self) -> None:
        result = Success(1)
        assert flow(4, half, lambda _: result) is result

    def test_flow_equals_a_chain_of_binds(self) -> None:
        for number in range(16):
            assert flow(number, half, half, half) == half(number).bind(half).bind(half)

    def test_flow_runs_a_hundred_thousand_steps_without_recursion(self) -> None:
        def add_one(number: int) -> Success[int]:
            return Success(number + 1)

        assert flow(0, *[add_one] * 100_000) == Success(100_000)

    def test_flow_raises_type_error_without_steps(self) -> None:
        with pytest.raises(TypeError, match=r'^flow needs at least one step\.$'):
            flow(1)  # type: ignore[call-overload]  # the misuse is the test

    def test_a_step_that_returns_no_result_raises_type_error_with_its_name(self) -> None:
        with pytest.raises(
            TypeError, match=r'^len must return a Success or a Failure, but returned int\.$'
        ):
            flow('a', len)  # type: ignore[arg-type]  # the misuse is the test
        with pytest.raises(TypeError, match=r'^text_soon must return .* but returned coroutine\.$'):
            flow(4, half, text_soon)  # type: ignore[arg-type]  # the misuse is the test

    def test_a_step_without_a_name_is_described_by_its_repr(self) -> None:
        with pytest.raises(
            TypeError, match=r"^functools\.partial\(<class 'int'>, base=2\) must return"
        ):
            flow('1', partial(int, base=2))  # type: ignore[arg-type]  # the misuse is the test


@pytest.mark.parametrize('function', [bind_async, map_async])
def test_a_step_that_is_not_asynchronous_raises_type_error(function: Any) -> None:
    def step(number: int) -> Success[int]:
        return Success(number)

    with pytest.raises(TypeError, match='step must return an awaitable, but returned Success'):
        asyncio.run(function(Success(1), step))


def test_the_result_of_an_async_step_is_checked() -> None:
    async def step(number: int) -> Any:
        return ReturnsSuccess(number) if number else 0

    assert type(asyncio.run(bind_async(Success(1), step))) is Success
    with pytest.raises(TypeError, match='a Success or a Failure, but returned int'):
        asyncio.run(bind_async(Success(0), step))
