"""Steps from one result to the next: who sees what, and what is handed on untouched."""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Never

import pytest

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
    def test_a_look_at_the_value_leaves_the_same_result(self) -> None:
        seen: list[int] = []
        given = Success(2)
        assert tap(given, seen.append) is given
        assert seen == [2]

    def test_a_failure_is_not_looked_at(self) -> None:
        assert tap(COLD, never) is COLD

    def test_a_look_at_the_error_leaves_the_same_result(self) -> None:
        seen: list[Cold] = []
        assert tap_error(COLD, seen.append) is COLD
        assert seen == [Cold('k')]

    def test_a_success_has_no_error_to_look_at(self) -> None:
        given = Success(2)
        assert tap_error(given, never) is given

    def test_what_the_look_returns_is_dropped(self) -> None:
        assert tap(Success(1), lambda _: Failure('no')) == Success(1)
        assert tap_error(Failure('late'), lambda _: Success(1)) == Failure('late')

    def test_what_the_look_raises_passes(self) -> None:
        with pytest.raises(ZeroDivisionError):
            tap(Success(0), lambda number: 1 // number)
        with pytest.raises(ZeroDivisionError):
            tap_error(Failure(0), lambda number: 1 // number)


class TestAsync:
    def test_a_step_is_awaited_with_the_value(self) -> None:
        assert asyncio.run(bind_async(Success(4), half_soon)) == Success(2)
        assert asyncio.run(bind_async(Success(3), half_soon)) == Failure('3 is odd')

    def test_the_result_of_the_step_is_handed_on_as_it_is(self) -> None:
        given = Failure('late')

        async def fail(_: int) -> Failure[str]:
            return given

        assert asyncio.run(bind_async(Success(1), fail)) is given

    def test_a_mapped_step_is_wrapped(self) -> None:
        assert asyncio.run(map_async(Success(4), text_soon)) == Success('4')

    @pytest.mark.parametrize('take', [bind_async, map_async])
    def test_a_failure_starts_no_step(
        self, take: Callable[[Failure[Cold], Callable[[object], Never]], Awaitable[object]]
    ) -> None:
        async def main() -> object:
            return await take(COLD, never)

        assert asyncio.run(main()) is COLD

    def test_any_awaitable_will_do(self) -> None:
        async def main() -> Result[str, str]:
            loop = asyncio.get_running_loop()
            given: Result[int, str] = Success(4)
            halved = await bind_async(given, lambda number: loop.create_task(half_soon(number)))
            return await map_async(halved, lambda number: asyncio.ensure_future(text_soon(number)))

        assert asyncio.run(main()) == Success('2')

    def test_cancellation_passes(self) -> None:
        async def cancelled(_: int) -> Success[int]:
            raise asyncio.CancelledError

        for take in (bind_async, map_async):
            with pytest.raises(asyncio.CancelledError):
                asyncio.run(take(Success(1), cancelled))


class TestCatch:
    def test_the_kind_is_taken_out_of_the_channel(self) -> None:
        assert catch(Cold, lambda error: Success(error.key))(COLD) == Success('k')

    def test_another_kind_passes_as_the_same_object(self) -> None:
        assert catch(Cold, never)(FULL) is FULL

    def test_a_success_passes_as_the_same_object(self) -> None:
        given = Success(Cold('k'))
        assert catch(Cold, never)(given) is given

    def test_several_kinds_share_a_handler(self) -> None:
        step = catch((Cold, Full), lambda error: Success(type(error).__name__))
        assert [step(COLD), step(FULL), step(LOST)] == [Success('Cold'), Success('Full'), LOST]

    def test_what_the_handler_fails_with_is_not_caught_again(self) -> None:
        again = Failure(Cold('again'))
        assert catch(Cold, lambda _: again)(COLD) is again

    def test_a_chain_of_catches_is_a_chain_of_binds_on_the_error_side(self) -> None:
        warm = catch(Cold, lambda error: Failure(Full(error.key)))(COLD)
        assert catch(Full, lambda error: Success(error.key))(warm) == Success('k')

    def test_errors_need_not_be_tagged(self) -> None:
        assert catch(str, lambda error: Success(error.upper()))(Failure('late')) == Success('LATE')
        assert catch(OSError, lambda error: Success(error.errno))(
            Failure(FileNotFoundError(2, 'gone'))
        ) == Success(2)

    @pytest.mark.parametrize('kinds', [(), Cold | Full, 'Cold', (Cold, 'Full'), Cold('k'), [Cold]])
    def test_what_is_no_class_is_refused(self, kinds: object) -> None:
        match = r'^catch takes a class or a tuple of classes first, not .*; use catch_all for a whole union\.$'
        with pytest.raises(TypeError, match=match):
            catch(kinds, never)  # type: ignore[call-overload]  # the misuse is the test

    def test_catch_all_takes_every_failure(self) -> None:
        def name(error: Cold | Full) -> Success[str]:
            return Success(type(error).__name__)

        assert [catch_all(name)(COLD), catch_all(name)(FULL)] == [Success('Cold'), Success('Full')]

    def test_catch_all_hands_a_success_on(self) -> None:
        given = Success(1)
        assert catch_all(never)(given) is given

    @pytest.mark.parametrize('step', [catch(Sized, len), catch_all(str)])
    def test_a_handler_that_gives_no_result_is_named(
        self, step: Callable[[Failure[object]], object]
    ) -> None:
        with pytest.raises(
            TypeError,
            match=r'^(len|str) must return a Success or a Failure, but returned (int|str)\.$',
        ):
            step(Failure(Sized('k')))


class TestFlow:
    def test_the_value_goes_through_the_steps_from_left_to_right(self) -> None:
        assert flow(
            '8', lambda text: Success(int(text)), half, half, lambda number: Success([number])
        ) == Success([2])

    def test_one_step_is_a_flow(self) -> None:
        assert flow(4, half) == Success(2)
        assert flow(3, half) == Failure('3 is odd')

    def test_the_first_failure_ends_it_as_the_same_object(self) -> None:
        given: Failure[str] = Failure('late')
        assert flow(4, half, lambda _: given, never, never) is given

    def test_the_last_result_is_the_same_object(self) -> None:
        given = Success(1)
        assert flow(4, half, lambda _: given) is given

    def test_it_is_a_chain_of_binds(self) -> None:
        for number in range(16):
            assert flow(number, half, half, half) == half(number).bind(half).bind(half)

    def test_a_hundred_thousand_steps_do_not_recurse(self) -> None:
        def add_one(number: int) -> Success[int]:
            return Success(number + 1)

        assert flow(0, *[add_one] * 100_000) == Success(100_000)

    def test_without_steps_there_is_no_result(self) -> None:
        with pytest.raises(TypeError, match=r'^flow needs at least one step\.$'):
            flow(1)  # type: ignore[call-overload]  # the misuse is the test

    def test_a_step_that_gives_no_result_is_named(self) -> None:
        with pytest.raises(
            TypeError, match=r'^len must return a Success or a Failure, but returned int\.$'
        ):
            flow('a', len)  # type: ignore[arg-type]  # the misuse is the test
        with pytest.raises(TypeError, match=r'^text_soon must return .* but returned coroutine\.$'):
            flow(4, half, text_soon)  # type: ignore[arg-type]  # the misuse is the test

    def test_a_step_without_a_name_is_shown(self) -> None:
        with pytest.raises(
            TypeError, match=r"^functools\.partial\(<class 'int'>, base=2\) must return"
        ):
            flow('1', partial(int, base=2))  # type: ignore[arg-type]  # the misuse is the test
