"""Tests of direct style in plain functions."""

import asyncio
import gc
import threading
import weakref
from collections.abc import Callable, Coroutine, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import Any, Never
from unittest.mock import Mock

import pytest
from returns.result import Failure as ReturnsFailure
from returns.result import Success as ReturnsSuccess
from typing_extensions import override

from seamwise import Do, Failure, Result, ScopeLeaked, Success, fallible
from seamwise._results.scope import Signal
from seamwise.catalog.storage import RecordNotFound

LATE = Failure('late')


@fallible
def half(do: Do[str], number: int) -> int:
    if number % 2:
        do.fail(f'{number} is odd')
    return number // 2


@fallible
def quarter(do: Do[str], number: int) -> int:
    return do(half(do(half(number))))


@pytest.fixture
def another_thread() -> Generator[None]:
    """Keep another thread alive, so that a failing `do` checks its own thread."""
    end = threading.Event()
    thread = threading.Thread(target=end.wait)
    thread.start()
    yield
    end.set()
    thread.join()


class TestResult:
    def test_the_return_value_becomes_a_success(self) -> None:
        assert half(4) == Success(2)

    def test_do_returns_the_value_of_a_success(self) -> None:
        value = [1]

        @fallible
        def same(do: Do[Never]) -> list[int]:
            return do(Success(value))

        assert same().unwrap() is value

    def test_do_ends_the_function_with_the_failure_itself(self) -> None:
        @fallible
        def ends(do: Do[str]) -> None:
            do(LATE)
            pytest.fail('the function has ended')

        assert ends() is LATE

    def test_do_fail_ends_the_function_with_an_error(self) -> None:
        assert half(3) == Failure('3 is odd')
        assert quarter(6) == Failure('3 is odd')
        assert quarter(12) == Success(3)

    def test_a_function_without_a_return_value_succeeds_with_none(self) -> None:
        @fallible
        def nothing(_do: Do[Never]) -> None:
            pass

        assert nothing() == Success(None)

    @pytest.mark.parametrize('value', [LATE, Success(1), ReturnsSuccess(1), ReturnsFailure(1)])
    def test_a_result_as_value_raises_type_error(self, value: object) -> None:
        @fallible
        def load(_do: Do[Never]) -> object:
            return value

        @fallible
        async def load_async(_do: Do[Never]) -> object:
            return value

        with pytest.raises(TypeError, match=r'load returned .* @fallible adds the Success; write'):
            load()
        with pytest.raises(TypeError, match=r'load_async returned .* write `return do'):
            asyncio.run(load_async())

    def test_a_coroutine_as_value_raises_type_error_and_is_closed(self) -> None:
        async def later() -> None: ...

        @fallible
        def load(_do: Do[Never]) -> object:
            return later()

        with pytest.raises(TypeError, match='load returned a coroutine; declare it with `async'):
            load()

    def test_a_coroutine_that_a_coroutine_function_does_not_await_raises_type_error(self) -> None:
        async def later() -> None: ...

        class Loader:
            @fallible
            async def load(self, _do: Do[Never]) -> object:
                return later()

        with pytest.raises(TypeError, match=r'Loader\.load returned a coroutine; await its result'):
            asyncio.run(Loader().load())

    @pytest.mark.parametrize('error', [LATE, ReturnsFailure('late')])
    def test_do_fail_with_a_result_raises_type_error(self, error: Any) -> None:
        @fallible
        def load(do: Do[object]) -> int:
            do.fail(error)

        with pytest.raises(TypeError, match=r'do\.fail takes an error, not .*; write do\(result\)'):
            load()

    def test_do_fail_with_a_class_raises_type_error(self) -> None:
        @fallible
        def load(do: Do[Any]) -> int:
            do.fail(RecordNotFound)

        with pytest.raises(TypeError, match=r'not the class RecordNotFound; create one, as in'):
            load()

    def test_arguments_are_passed_unchanged(self) -> None:
        @fallible
        def many(
            _do: Do[Never], a: int, /, b: int, *rest: int, c: int = 4, **others: int
        ) -> list[object]:
            return [a, b, rest, c, others]

        none = dict[str, int]()
        assert many(1, 2) == Success([1, 2, (), 4, none])
        assert many(1, b=2, function=3, do_=5) == Success([1, 2, (), 4, {'function': 3, 'do_': 5}])
        assert many(1, 2, 3, c=5) == Success([1, 2, (3,), 5, none])
        with pytest.raises(TypeError, match='missing 1 required positional argument'):
            many(1)  # type: ignore[call-arg]  # the misuse is the test

    def test_a_function_can_call_itself_deeply(self) -> None:
        @fallible
        def down(do: Do[str], number: int) -> int:
            return do(down(number - 1)) + 1 if number else do(half(1))

        @fallible
        def count(do: Do[str], number: int) -> int:
            return do(count(number - 1)) + 1 if number else 0

        assert down(200) == Failure('1 is odd')
        assert count(200) == Success(200)


class Shop:
    def __init__(self, name: str) -> None:
        self.name = name

    @fallible
    def sell(self, do: Do[str], *, count: int = 2) -> str:
        return f'{do(half(count))} {self.name}'

    @classmethod
    @fallible
    def of(cls, do: Do[str], name: str) -> 'Shop':
        return cls(name) if name else do.fail('nameless')

    @staticmethod
    @fallible
    def count(do: Do[str], number: int) -> int:
        return do(half(number))


class BookShop(Shop):
    @override
    @fallible
    def sell(self, do: Do[str], *, count: int = 2) -> str:
        return do(super().sell(count=count)) + ' books'


class TestMethods:
    def test_a_method_can_be_fallible(self) -> None:
        assert Shop('pens').sell(count=4) == Success('2 pens')
        assert Shop('pens').sell() == Success('1 pens')
        assert Shop('pens').sell(count=3) == Failure('3 is odd')
        assert Shop.sell(Shop('pens')) == Success('1 pens')

    def test_an_inherited_method_can_be_called(self) -> None:
        assert BookShop('old').sell() == Success('1 old books')
        assert BookShop('old').sell(count=1) == Failure('1 is odd')

    def test_a_classmethod_receives_its_class(self) -> None:
        assert type(BookShop.of('old').unwrap()) is BookShop
        assert Shop.of('') == Failure('nameless')

    def test_a_staticmethod_can_be_fallible(self) -> None:
        assert (Shop.count(4), Shop('a').count(3)) == (Success(2), Failure('3 is odd'))


class TestNestedCode:
    """Tests of `do` in code that the function runs."""

    def test_do_works_in_a_generator_that_the_function_consumes(self) -> None:
        @fallible
        def total(do: Do[str], *numbers: int) -> int:
            return sum(do(half(number)) for number in numbers)

        assert (total(2, 4), total(2, 3, 5)) == (Success(3), Failure('3 is odd'))

    def test_do_works_in_a_callback(self) -> None:
        @fallible
        def ordered(do: Do[str], *numbers: int) -> list[int]:
            return sorted(numbers, key=lambda number: do(half(number)))

        assert (ordered(4, 2), ordered(4, 1)) == (Success([2, 4]), Failure('1 is odd'))

    def test_do_works_in_a_helper(self) -> None:
        def helper(do: Do[str], number: int) -> int:
            return do(half(number))

        @fallible
        def with_help(do: Do[str], number: int) -> int:
            return helper(do, number)

        assert (with_help(4), with_help(3)) == (Success(2), Failure('3 is odd'))

    @pytest.mark.usefixtures('another_thread')
    def test_do_ends_its_own_function_from_a_nested_one(self) -> None:
        ends: list[str] = []

        @fallible
        def outer(mine: Do[str], inner_fails: bool) -> str:
            @fallible
            def inner(do: Do[str]) -> None:
                try:
                    (do if inner_fails else mine)(LATE)
                finally:
                    ends.append('inner')

            result = inner()
            ends.append('outer')
            return result.failure()

        assert outer(True) == Success('late')
        assert outer(False) is LATE
        assert ends == ['inner', 'outer', 'inner']

    def test_several_functions_can_fail_with_the_same_failure(self) -> None:
        @fallible
        def inner(do: Do[str]) -> None:
            do(LATE)

        @fallible
        def outer(do: Do[str]) -> None:
            assert inner() is LATE
            do(inner())

        assert outer() is LATE
        assert outer() is LATE

    @pytest.mark.usefixtures('another_thread')
    def test_other_threads_do_not_affect_do(self) -> None:
        assert quarter(6) == Failure('3 is odd')

    def test_two_threads_can_run_the_same_function_concurrently(self) -> None:
        both = threading.Barrier(2, timeout=5)

        @fallible
        def meet(do: Do[str], number: int) -> int:
            both.wait()
            return do(half(number))

        with ThreadPoolExecutor(2) as pool:
            for _ in range(20):
                assert list(pool.map(meet, (1, 4))) == [Failure('1 is odd'), Success(2)]
                assert list(pool.map(meet, (1, 3))) == [Failure('1 is odd'), Failure('3 is odd')]


class TestEarlyReturn:
    def test_except_exception_does_not_swallow_the_signal(self) -> None:
        @fallible
        def careless(do: Do[str]) -> int:
            try:
                return do(half(1))
            except Exception as swallowed:  # noqa: BLE001 -- the blind except is the test
                pytest.fail(str(swallowed))

        assert careless() == Failure('1 is odd')

    def test_finally_and_context_managers_run_on_an_early_return(self) -> None:
        events: list[str] = []

        @contextmanager
        def managed() -> Generator[None]:
            try:
                yield
            except BaseException as signal:
                events.append(f'{type(signal).__name__}: {signal}')
                raise
            finally:
                events.append('managed')

        @fallible
        def tidy(do: Do[str]) -> None:
            try:
                with managed():
                    do(LATE)
            finally:
                events.append('finally')

        assert tidy() is LATE
        assert events == [
            "Signal: a do left its function with Failure('late')",
            'managed',
            'finally',
        ]

    @pytest.mark.parametrize(
        'kind', [ValueError, KeyboardInterrupt, SystemExit, GeneratorExit, StopIteration]
    )
    def test_exceptions_propagate_unchanged(self, kind: type[BaseException]) -> None:
        raised = kind('a')

        @fallible
        def raises(_do: Do[str]) -> None:
            raise raised

        with pytest.raises(kind) as caught:
            raises()
        assert caught.value is raised
        assert (raised.__context__, raised.__cause__) == (None, None)

    def test_an_exception_during_an_early_return_propagates(self) -> None:
        @fallible
        def untidy(do: Do[str]) -> None:
            try:
                do(LATE)
            finally:
                raise ValueError('untidy')

        with pytest.raises(ValueError, match='untidy'):
            untidy()

    def test_a_group_without_signals_propagates_unchanged(self) -> None:
        group = ExceptionGroup('a', [ValueError('b')])

        @fallible
        def raises(_do: Do[str]) -> None:
            raise group

        with pytest.raises(ExceptionGroup) as caught:
            raises()
        assert caught.value is group

    def test_a_failure_in_nested_groups_is_returned(self) -> None:
        @fallible
        def grouped(do: Do[str]) -> None:
            try:
                do(LATE)
            except Signal as signal:
                raise BaseExceptionGroup('outer', [BaseExceptionGroup('inner', [signal])]) from None

        assert grouped() is LATE

    def test_a_signal_of_another_function_in_a_group_propagates(self) -> None:
        @fallible
        def outer(do: Do[str]) -> None:
            @fallible
            def inner(_do: Do[str]) -> None:
                try:
                    do(LATE)
                except Signal as signal:
                    raise BaseExceptionGroup('a', [signal]) from None

            inner()
            pytest.fail('the outer function has ended')

        assert outer() is LATE


class TestInvalidArguments:
    @pytest.mark.parametrize('wrong', [7, None, 'late', ValueError('a'), Success])
    def test_do_raises_type_error_for_other_values(self, wrong: object) -> None:
        @fallible
        def wrongly(do: Do[str]) -> None:
            do(wrong)  # type: ignore[arg-type]  # the misuse is the test

        with pytest.raises(
            TypeError, match=f'^do takes a Success or a Failure, not {type(wrong).__name__};'
        ):
            wrongly()

    def test_a_coroutine_raises_type_error_with_a_hint(self) -> None:
        @fallible
        def forgetful(do: Do[str]) -> int:
            return do(asyncio.sleep(0))  # type: ignore[arg-type]  # the misuse is the test

        with pytest.raises(
            TypeError,
            match=r'^do takes a result, not a coroutine; write `do\(await sleep\(…\)\)`\.$',
        ):
            forgetful()
        gc.collect()

    def test_a_coroutine_without_a_name_raises_type_error_with_a_hint(self) -> None:
        coroutine = Mock(spec=Coroutine)

        @fallible
        def forgetful(do: Do[str]) -> object:
            return do(coroutine)

        with pytest.raises(TypeError, match=r'write `do\(await step\(…\)\)`\.$'):
            forgetful()
        coroutine.close.assert_called_once_with()

    def test_a_type_error_of_do_that_is_caught_is_no_failure(self) -> None:
        @fallible
        def second_try(do: Do[str]) -> int:
            with suppress(TypeError):
                do(7)  # type: ignore[arg-type]  # the misuse is the test
            return do(Success(1))

        assert second_try() == Success(1)


class Held:
    """Object that a frame refers to."""


def fails(do: Do[str], _held: Held) -> None:
    do(LATE)


def fails_with_error(do: Do[str], _held: Held) -> None:
    do.fail('late')


def swallows(do: Do[str], _held: Held) -> None:
    with suppress(BaseException):
        do(LATE)


def swallows_first(do: Do[str], _held: Held) -> None:
    with suppress(BaseException):
        do(LATE)
    do.fail('later')


def raises(_do: Do[str], _held: Held) -> None:
    raise ValueError


def raises_beside(do: Do[str], _held: Held) -> None:
    try:
        do(LATE)
    except Signal as signal:
        raise BaseExceptionGroup('a', [signal, ValueError('b')]) from None


def groups(do: Do[str], _held: Held) -> None:
    try:
        do(LATE)
    except Signal as signal:
        raise BaseExceptionGroup('a', [signal]) from None


@pytest.mark.usefixtures('another_thread')
@pytest.mark.parametrize(
    'body', [fails, fails_with_error, swallows, swallows_first, raises, raises_beside, groups]
)
def test_an_ended_function_leaves_no_reference_cycle(
    body: Callable[[Do[str], Held], None],
) -> None:
    function: Callable[[Held], Result[None, str]] = fallible(body)

    def call() -> weakref.ref[Held]:
        held = Held()
        with suppress(ScopeLeaked, ValueError, ExceptionGroup):
            function(held)
        return weakref.ref(held)

    gc.collect()
    gc.disable()
    try:
        assert call()() is None
    finally:
        gc.enable()
