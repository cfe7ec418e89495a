"""Idempotency keys: one for each call, shared by all its attempts."""

import asyncio
import inspect
import re
import threading
from collections.abc import Callable
from functools import partial
from typing import Any, Never, get_type_hints

import pytest

from seamwise import Failure, Result, Success
from seamwise.policies._engine.pipeline import identity
from seamwise.policies.idempotency import keyed, new_key
from seamwise.policies.retry import retry
from seamwise.testing import FakeWorld
from tests.policies.errors import Slow

KeyedCalls = list[tuple[str, int]]


def build_guard() -> Any:
    return retry(attempts=2, name='outer', world=FakeWorld()) >> retry(
        attempts=3, name='inner', world=FakeWorld()
    )


def test_key_has_144_random_bits_in_characters_valid_in_headers() -> None:
    keys = [new_key() for _ in range(2000)]
    assert len(set(keys)) == 2000
    assert all(re.fullmatch(r'[A-Za-z0-9_-]{24}', key) for key in keys)
    # Each of the 64 characters occurs at each index.
    assert all(len({key[index] for key in keys}) == 64 for index in range(24))


def test_all_attempts_of_a_call_have_the_same_key_and_each_call_a_new_one() -> None:
    calls_made = list[str]()

    def op(key: str) -> Result[Never, Slow]:
        calls_made.append(key)
        return Failure(Slow())

    outermost = keyed(build_guard())
    for _ in range(3):
        assert outermost.run_sync(op) == Failure(Slow())
    calls = [calls_made[:6], calls_made[6:12], calls_made[12:]]
    assert [len(call) for call in calls] == [6, 6, 6]
    assert [len(set(call)) for call in calls] == [1, 1, 1]
    assert len(set(calls_made)) == 3


def test_concurrent_tasks_have_different_keys() -> None:
    async def main() -> list[KeyedCalls]:
        outermost = keyed(build_guard())

        async def call(number: int) -> KeyedCalls:
            calls_made: KeyedCalls = []

            async def op(key: str) -> Result[Never, Slow]:
                await asyncio.sleep(0)
                calls_made.append((key, number))
                return Failure(Slow())

            await outermost.run(op)
            return calls_made

        return list(await asyncio.gather(*[call(number) for number in range(20)]))

    calls = asyncio.run(main())
    assert [len(call) for call in calls] == [6] * 20
    assert all(len(set(call)) == 1 for call in calls)
    assert len({call[0][0] for call in calls}) == 20


def test_concurrent_threads_have_different_keys() -> None:
    calls_made: KeyedCalls = []

    @keyed(build_guard())
    def pay(key: str, number: int) -> Result[str, Slow]:
        calls_made.append((key, number))
        return Failure(Slow())

    threads = [threading.Thread(target=pay, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(calls_made) == 96
    assert len(set(calls_made)) == len({key for key, _ in calls_made}) == 16


def test_decorated_function_is_called_without_the_key() -> None:
    calls_made = list[tuple[object, ...]]()

    @keyed(build_guard())
    def pay(key: str, cents: int, *, to: str = 'bank') -> Result[int, Slow]:
        """Pay."""
        calls_made.append((key, cents, to))
        return Failure(Slow()) if len(calls_made) % 6 else Success(cents)

    assert pay(5) == Success(5)
    assert pay(cents=6, to='shop') == Success(6)
    assert len(calls_made) == 12
    assert len(set(calls_made)) == 2
    assert {call[1:] for call in calls_made} == {(5, 'bank'), (6, 'shop')}
    assert (pay.__name__, pay.__doc__) == ('pay', 'Pay.')


def test_decorated_coroutine_function_stays_a_coroutine_function() -> None:
    calls_made = list[str]()

    @keyed(build_guard())
    async def pay(key: str, cents: int) -> Result[int, Slow]:
        calls_made.append(key)
        return Failure(Slow()) if len(calls_made) < 6 else Success(cents)

    assert inspect.iscoroutinefunction(pay)
    assert asyncio.run(pay(5)) == Success(5)
    assert len(calls_made) == 6
    assert len(set(calls_made)) == 1


def test_method_receives_the_key_after_self() -> None:
    class Bank:
        def __init__(self) -> None:
            self.keys = list[str]()

        @keyed(build_guard())
        def pay(self, key: str, cents: int) -> Result[int, Slow]:
            self.keys.append(key)
            return Failure(Slow()) if len(self.keys) < 6 else Success(cents)

        @keyed(build_guard())
        async def pay_later(self, key: str, cents: int) -> Result[int, Slow]:
            self.keys.append(key)
            return Failure(Slow()) if len(self.keys) < 12 else Success(cents)

        @classmethod
        @keyed(identity)
        def new_key_of_class(cls, key: str) -> Result[str, Never]:
            return Success(key)

    bank = Bank()
    assert bank.pay(5) == Success(5)
    assert asyncio.run(bank.pay_later(cents=5)) == Success(5)
    assert len(bank.keys) == 12
    assert len(set(bank.keys)) == 2
    assert Bank.new_key_of_class() != Bank.new_key_of_class()


def test_signature_of_a_decorated_function_has_no_key() -> None:
    @keyed(identity)
    def pay(key: str, cents: int, /, *, to: str = 'bank') -> Result[int, Never]:
        return Success(cents)

    assert str(inspect.signature(pay)).startswith("(cents: int, /, *, to: str = 'bank')")
    assert get_type_hints(pay) == {
        'cents': int,
        'to': str,
        'return': get_type_hints(no_key)['return'],
    }

    def bare(key: str, cents: int) -> Result[int, Slow]:
        return Success(cents)

    bare.__annotations__.clear()
    decorated = keyed(identity)(bare)
    assert str(inspect.signature(decorated)) == '(cents)'
    assert get_type_hints(decorated) == {}


def test_exception_of_the_operation_propagates() -> None:
    def op(key: str) -> Result[Never, Never]:
        raise ZeroDivisionError(key)

    with pytest.raises(ZeroDivisionError, match=r'^[\w-]{24}$'):
        keyed(build_guard()).run_sync(op)


def no_key(cents: int) -> Result[int, Never]:
    return Success(cents)


def late_key(cents: int, key: str) -> Result[int, Never]:
    return Success(cents)


def named_key(*, key: str) -> Result[str, Never]:
    return Success(key)


def many_keys(*key: str) -> Result[int, Never]:
    return Success(len(key))


def no_parameters() -> Result[int, Never]:
    return Success(0)


def method(self: object) -> Result[int, Never]:
    return Success(0)


def method_of_one(self: object, cents: int) -> Result[int, Never]:
    return Success(cents)


@pytest.mark.parametrize(
    'function', [no_key, late_key, named_key, many_keys, no_parameters, method, method_of_one]
)
def test_function_without_a_parameter_for_the_key_is_a_type_error(
    function: Callable[..., Any],
) -> None:
    after, receiver = (' after self', 'self, ') if function in {method, method_of_one} else ('', '')
    message = (
        f'{function.__name__}: the first parameter{after} must be `key`, '
        f'as in `def pay({receiver}key: str, …)`.'
    )
    with pytest.raises(TypeError, match=f'^{re.escape(message)}$'):
        keyed(identity)(function)


def test_error_for_a_function_without_a_name_contains_its_repr() -> None:
    nameless: Any = partial(no_key)
    with pytest.raises(
        TypeError, match=re.escape(f'{nameless!r}: the first parameter must be `key`')
    ):
        keyed(identity)(nameless)


def test_argument_that_is_not_a_guard_is_a_type_error() -> None:
    not_a_guard: Any = 5
    with pytest.raises(TypeError, match=r'keyed expects a guard, as in `keyed\(retry\(\)\)`'):
        keyed(not_a_guard)
    assert repr(keyed(retry(name='bank'))) == '<keyed <guard bank>>'


def test_object_with_an_async_call_method_becomes_a_coroutine_function() -> None:
    class Pays:
        async def __call__(self, key: str, cents: int) -> Result[int, Slow]:
            return Success(cents) if key else Failure(Slow())

    assert asyncio.run(keyed(retry())(Pays())(5)) == Success(5)
