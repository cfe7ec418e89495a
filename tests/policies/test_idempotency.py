"""A key is one call's: the same over all its attempts, and nobody else's."""

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
from seamwise.policies.testing import FakeWorld
from tests.policies.errors import Slow

Seen = list[tuple[str, int]]


def guard() -> Any:
    return retry(attempts=2, name='outer', world=FakeWorld()) >> retry(
        attempts=3, name='inner', world=FakeWorld()
    )


def test_a_key_is_of_144_bits_in_characters_that_every_header_takes() -> None:
    keys = [new_key() for _ in range(2000)]
    assert len(set(keys)) == 2000
    assert all(re.fullmatch(r'[A-Za-z0-9_-]{24}', key) for key in keys)
    # Each place takes each of the 64 characters.
    assert all(len({key[place] for key in keys}) == 64 for place in range(24))


def test_all_attempts_of_a_call_have_one_key_through_all_guards_and_each_call_its_own() -> None:
    seen = list[str]()

    def op(key: str) -> Result[Never, Slow]:
        seen.append(key)
        return Failure(Slow())

    outermost = keyed(guard())
    for _ in range(3):
        assert outermost.run_sync(op) == Failure(Slow())
    calls = [seen[:6], seen[6:12], seen[12:]]
    assert [len(call) for call in calls] == [6, 6, 6]
    assert [len(set(call)) for call in calls] == [1, 1, 1]
    assert len(set(seen)) == 3


def test_tasks_at_once_have_keys_of_their_own() -> None:
    async def main() -> list[Seen]:
        outermost = keyed(guard())

        async def call(number: int) -> Seen:
            seen: Seen = []

            async def op(key: str) -> Result[Never, Slow]:
                await asyncio.sleep(0)
                seen.append((key, number))
                return Failure(Slow())

            await outermost.run(op)
            return seen

        return list(await asyncio.gather(*[call(number) for number in range(20)]))

    calls = asyncio.run(main())
    assert [len(call) for call in calls] == [6] * 20
    assert all(len(set(call)) == 1 for call in calls)
    assert len({call[0][0] for call in calls}) == 20


def test_threads_at_once_have_keys_of_their_own() -> None:
    seen: Seen = []

    @keyed(guard())
    def pay(key: str, number: int) -> Result[str, Slow]:
        seen.append((key, number))
        return Failure(Slow())

    threads = [threading.Thread(target=pay, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(seen) == 96
    assert len(set(seen)) == len({key for key, _ in seen}) == 16


def test_a_decorated_function_is_called_without_the_key() -> None:
    seen = list[tuple[object, ...]]()

    @keyed(guard())
    def pay(key: str, cents: int, *, to: str = 'bank') -> Result[int, Slow]:
        """Pay."""
        seen.append((key, cents, to))
        return Failure(Slow()) if len(seen) % 6 else Success(cents)

    assert pay(5) == Success(5)
    assert pay(cents=6, to='shop') == Success(6)
    assert len(seen) == 12
    assert len(set(seen)) == 2
    assert {one[1:] for one in seen} == {(5, 'bank'), (6, 'shop')}
    assert (pay.__name__, pay.__doc__) == ('pay', 'Pay.')


def test_a_decorated_coroutine_function_is_one() -> None:
    seen = list[str]()

    @keyed(guard())
    async def pay(key: str, cents: int) -> Result[int, Slow]:
        seen.append(key)
        return Failure(Slow()) if len(seen) < 6 else Success(cents)

    assert inspect.iscoroutinefunction(pay)
    assert asyncio.run(pay(5)) == Success(5)
    assert len(seen) == 6
    assert len(set(seen)) == 1


def test_a_method_takes_its_key_after_self() -> None:
    class Bank:
        def __init__(self) -> None:
            self.seen = list[str]()

        @keyed(guard())
        def pay(self, key: str, cents: int) -> Result[int, Slow]:
            self.seen.append(key)
            return Failure(Slow()) if len(self.seen) < 6 else Success(cents)

        @keyed(guard())
        async def pay_later(self, key: str, cents: int) -> Result[int, Slow]:
            self.seen.append(key)
            return Failure(Slow()) if len(self.seen) < 12 else Success(cents)

        @classmethod
        @keyed(identity)
        def ask(cls, key: str) -> Result[str, Never]:
            return Success(key)

    bank = Bank()
    assert bank.pay(5) == Success(5)
    assert asyncio.run(bank.pay_later(cents=5)) == Success(5)
    assert len(bank.seen) == 12
    assert len(set(bank.seen)) == 2
    assert Bank.ask() != Bank.ask()


def test_who_reads_the_signature_sees_no_key() -> None:
    @keyed(identity)
    def pay(key: str, cents: int, /, *, to: str = 'bank') -> Result[int, Never]:
        return Success(cents)

    assert str(inspect.signature(pay)).startswith("(cents: int, /, *, to: str = 'bank')")
    assert get_type_hints(pay) == {
        'cents': int,
        'to': str,
        'return': get_type_hints(no_key)['return'],
    }

    bare: list[Callable[[str, int], Result[int, Never]]] = [lambda key, cents: Success(cents)]
    decorated = keyed(identity)(bare[0])
    assert str(inspect.signature(decorated)) == '(cents)'
    assert get_type_hints(decorated) == {}


def test_what_the_operation_raises_is_raised() -> None:
    def op(key: str) -> Result[Never, Never]:
        raise ZeroDivisionError(key)

    with pytest.raises(ZeroDivisionError, match=r'^[\w-]{24}$'):
        keyed(guard()).run_sync(op)


def no_key(cents: int) -> Result[int, Never]:
    return Success(cents)


def late_key(cents: int, key: str) -> Result[int, Never]:
    return Success(cents)


def named_key(*, key: str) -> Result[str, Never]:
    return Success(key)


def many_keys(*key: str) -> Result[int, Never]:
    return Success(len(key))


def nothing() -> Result[int, Never]:
    return Success(0)


def method(self: object) -> Result[int, Never]:
    return Success(0)


def method_of_one(self: object, cents: int) -> Result[int, Never]:
    return Success(cents)


@pytest.mark.parametrize(
    'function', [no_key, late_key, named_key, many_keys, nothing, method, method_of_one]
)
def test_a_function_without_a_place_for_the_key_is_refused(function: Callable[..., Any]) -> None:
    after, receiver = (' after self', 'self, ') if function in {method, method_of_one} else ('', '')
    said = f'{function.__name__}: the first parameter{after} must be `key`, as in `def pay({receiver}key: str, …)`.'
    with pytest.raises(TypeError, match=f'^{re.escape(said)}$'):
        keyed(identity)(function)


def test_a_function_without_a_name_is_refused_as_it_is_shown() -> None:
    nameless: Any = partial(no_key)
    with pytest.raises(
        TypeError, match=re.escape(f'{nameless!r}: the first parameter must be `key`')
    ):
        keyed(identity)(nameless)


def test_only_guards_are_keyed() -> None:
    wrong: Any = new_key
    with pytest.raises(TypeError, match=r'keyed expects a guard, as in `keyed\(retry\(\)\)`'):
        keyed(wrong)
    assert repr(keyed(retry(name='bank'))) == '<keyed <guard bank>>'


def test_an_object_whose_call_is_a_coroutine_is_decorated_as_one() -> None:
    class Pays:
        async def __call__(self, key: str, cents: int) -> Result[int, Slow]:
            return Success(cents) if key else Failure(Slow())

    assert asyncio.run(keyed(retry())(Pays())(5)) == Success(5)
