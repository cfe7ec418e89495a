"""A cache of functions that threads call: entries, keys, and shared calls."""

import gc
import inspect
import math
import re
import time
import traceback
import weakref
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from functools import partial
from threading import Event, Thread
from typing import Any

import pytest

from seamwise import Failure, Result, Secret, Success
from seamwise._runtime.world import World
from seamwise.policies.cache import CacheDecorator, cache
from seamwise.policies.deadline import deadline, remaining
from seamwise.policies.events import FellBack, GuardEvent
from seamwise.testing import FakeWorld
from tests.policies.errors import Down, Slow, Wrong
from tests.policies.gc_helpers import Defect, gc_disabled

Outcome = Result[object, object]


class Source:
    """A cached function with configurable outcomes, and a record of its calls."""

    def __init__(self, *, ttl: float = 10.0, stale_for: float = 0.0, capacity: int = 3) -> None:
        self.world = FakeWorld()
        self.events: list[GuardEvent] = []
        self.calls: list[object] = []
        self.outcome: Outcome | None = None
        self.cache = cache(
            ttl=ttl,
            stale_for=stale_for,
            capacity=capacity,
            name='users',
            observer=self.events.append,
            world=self.world,
        )

        @self.cache
        def load(uid: object) -> Outcome:
            self.calls.append(uid)
            return Success((uid, len(self.calls))) if self.outcome is None else self.outcome

        self.load = load

    def is_cached(self, uid: object) -> bool:
        call_count = len(self.calls)
        self.load(uid)
        return len(self.calls) == call_count


def test_cached_success_is_returned_until_its_ttl_expires() -> None:
    source = Source(ttl=10.0)
    first = source.load('ada')
    source.world.advance(9.75)
    assert source.load('ada') is first
    source.world.advance(0.25)
    assert source.load('ada') == Success(('ada', 2))
    assert source.calls == ['ada', 'ada']


def test_read_does_not_extend_the_ttl() -> None:
    source = Source(ttl=10.0)
    for _ in range(3):
        source.load('ada')
        source.world.advance(5.0)
    assert source.calls == ['ada', 'ada']


def test_ttl_starts_at_the_end_of_the_call() -> None:
    world = FakeWorld()

    @cache(ttl=1.0, name='slow', world=world)
    def load() -> Outcome:
        world.advance(5.0)
        return Success(world.now)

    assert load() is load()


def test_failure_is_not_cached() -> None:
    source = Source()
    source.outcome = Failure(Down())
    assert source.load('ada') == source.load('ada') == Failure(Down())
    assert source.calls == ['ada', 'ada']
    assert source.events == []


def test_success_of_none_is_cached() -> None:
    source = Source()
    source.outcome = Success(None)
    assert source.load('ada') is source.load('ada')
    assert source.calls == ['ada']


def test_least_recently_used_success_is_evicted() -> None:
    source = Source(capacity=3)
    for uid in 'abc':
        source.load(uid)
    assert source.is_cached('a')
    source.load('d')
    assert source.is_cached('a')
    assert source.is_cached('c')
    assert source.is_cached('d')
    assert not source.is_cached('b')


def test_success_that_replaces_a_stale_one_is_the_most_recently_used() -> None:
    source = Source(capacity=2, ttl=10.0, stale_for=10.0)
    source.load('a')
    source.load('b')
    source.world.advance(10.0)
    source.load('a')
    source.load('c')
    assert source.is_cached('a')


def test_capacity_of_one_keeps_the_last_success() -> None:
    source = Source(capacity=1)
    source.load('a')
    assert source.is_cached('a')
    source.load('b')
    assert source.is_cached('b')
    assert not source.is_cached('a')


@pytest.mark.parametrize(('age', 'is_returned'), [(10.0, True), (14.75, True), (15.0, False)])
def test_stale_success_replaces_a_failure_until_stale_for_expires(
    age: float, is_returned: bool
) -> None:
    source = Source(ttl=10.0, stale_for=5.0)
    old = source.load('ada')
    source.world.advance(age)
    source.outcome = Failure(Down())
    assert source.load('ada') == (old if is_returned else Failure(Down()))
    assert source.events == ([FellBack('users', Down())] if is_returned else [])
    assert source.calls == ['ada', 'ada']


def test_stale_success_with_a_ttl_below_a_second_replaces_a_failure() -> None:
    source = Source(ttl=0.25, stale_for=5.0)
    old = source.load('ada')
    source.world.advance(0.5)
    source.outcome = Failure(Down())
    assert source.load('ada') is old


def test_stale_success_does_not_replace_a_new_success() -> None:
    source = Source(ttl=10.0, stale_for=5.0)
    source.load('ada')
    source.world.advance(10.0)
    assert source.load('ada') == Success(('ada', 2))


def test_stale_success_that_was_returned_is_recently_used() -> None:
    source = Source(ttl=10.0, stale_for=5.0, capacity=2)
    source.load('a')
    source.load('b')
    source.world.advance(10.0)
    source.outcome = Failure(Down())
    old = source.load('a')
    source.outcome = None
    source.load('c')
    source.outcome = Failure(Down())
    assert source.load('a') is old


def test_age_of_a_stale_success_is_measured_after_the_failed_call() -> None:
    source = Source(ttl=10.0, stale_for=5.0)

    @source.cache
    def load() -> Outcome:
        source.world.advance(6.0)
        return source.outcome or Success(1)

    load()
    source.world.advance(9.0)
    source.world.advance(1.0)
    source.outcome = Failure(Slow())
    assert load() == Failure(Slow())


@pytest.mark.parametrize('outcome', [Failure(Wrong()), Failure('no'), Failure(None)])
def test_permanent_failure_is_returned_and_invalidates_the_stale_success(outcome: Outcome) -> None:
    source = Source(ttl=10.0, stale_for=5.0)
    source.load('ada')
    source.world.advance(10.0)
    source.outcome = outcome
    assert source.load('ada') is outcome
    source.outcome = Failure(Down())
    assert source.load('ada') == Failure(Down())
    assert source.events == []


def test_stale_success_is_returned_without_an_observer() -> None:
    world = FakeWorld()
    outcomes: list[Outcome] = [Success(1), Failure(Down())]

    @cache(ttl=1.0, stale_for=1.0, name='x', world=world)
    def load() -> Outcome:
        return outcomes.pop(0)

    first = load()
    world.advance(1.0)
    assert load() is first


def test_forget_removes_one_success_and_clear_removes_all() -> None:
    source = Source()
    source.load('a')
    source.load('b')
    source.load.forget('a')
    source.load.forget(uid='unknown')
    assert source.is_cached('b')
    assert not source.is_cached('a')
    source.load.clear()
    assert not source.is_cached('a')
    assert not source.is_cached('b')


def test_forgotten_success_is_not_returned_as_a_stale_one() -> None:
    source = Source(ttl=10.0, stale_for=5.0)
    source.load('a')
    source.world.advance(10.0)
    source.load.forget('a')
    source.outcome = Failure(Down())
    assert source.load('a') == Failure(Down())


@pytest.mark.parametrize('method', ['forget', 'clear'])
def test_result_of_a_call_that_started_before_forget_is_not_cached(method: str) -> None:
    calls: list[int] = []

    @cache(ttl=10.0, stale_for=10.0, name='users', world=FakeWorld())
    def load(uid: int) -> Outcome:
        calls.append(uid)
        if len(calls) == 1:
            load.forget(1) if method == 'forget' else load.clear()
        return Success(len(calls))

    assert load(1) == Success(1)
    assert load(1) == Success(2)
    assert load(1) == Success(2)


def test_failure_of_a_call_from_before_clear_does_not_invalidate_a_newer_success() -> None:
    calls: list[Outcome] = []

    @cache(ttl=10.0, name='users', world=FakeWorld())
    def load() -> Outcome:
        calls.append(Success(0))
        if len(calls) == 1:
            load.clear()
            run_in_thread(load)
            return Failure(Wrong())
        return Success('newer')

    assert load() == Failure(Wrong())
    assert load() == Success('newer')
    assert len(calls) == 2


class Clock(FakeWorld):
    """A world with a clock that the test can set to any time."""

    __slots__ = ('readings',)

    def __init__(self) -> None:
        super().__init__()
        object.__setattr__(self, 'readings', [0.0])
        object.__setattr__(self, 'clock', lambda: self.readings[0])

    readings: list[float]


@pytest.mark.parametrize('reading', [-0.001, -1e9, math.nan])
def test_success_expires_if_the_clock_goes_back(reading: float) -> None:
    clock = Clock()
    outcomes: list[Outcome] = [Success(1), Failure(Down()), Success(3)]

    @cache(ttl=10.0, stale_for=5.0, name='x', world=clock)
    def load() -> Outcome:
        return outcomes.pop(0)

    load()
    clock.readings[0] = reading
    assert load() == Failure(Down())
    clock.readings[0] = 0.0
    assert load() == load() == Success(3)


def test_success_that_is_stored_between_two_reads_is_returned() -> None:
    times = iter([0.0, 10.0, 9.0])
    calls: list[int] = []

    @cache(ttl=10.0, stale_for=5.0, name='x', world=World(clock=lambda: next(times)))
    def load() -> Outcome:
        calls.append(1)
        return Success(1)

    assert load() is load()
    assert calls == [1]


def test_success_does_not_expire_while_the_clock_stands_still() -> None:
    source = Source(ttl=1e-9)
    source.load('ada')
    assert source.is_cached('ada')


# Keys


def count_executions(
    function_cache: CacheDecorator,
    function: Callable[..., Any],
    *calls: tuple[tuple[Any, ...], dict[str, Any]],
) -> int:
    """Return how often a cached function with this signature is executed by the calls."""
    executions = 0

    def count(*args: Any, **kwargs: Any) -> Outcome:
        nonlocal executions
        executions += 1
        return Success(None)

    count.__signature__ = inspect.signature(function)  # type: ignore[attr-defined]  # set like `wraps` does
    load: Any = function_cache(count)
    for args, kwargs in calls:
        load(*args, **kwargs)
    return executions


def call(*args: Any, **kwargs: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    return args, kwargs


def positional(x: int, y: int = 2) -> None: ...
def keyword_only(x: int, *, y: int = 2) -> None: ...
def variadic(x: int, *args: int, **kwargs: int) -> None: ...
def only_variadic(*args: int) -> None: ...


@pytest.mark.parametrize(
    ('function', 'calls'),
    [
        (positional, [call(1), call(x=1), call(1, 2), call(1, y=2), call(y=2, x=1)]),
        (keyword_only, [call(1), call(x=1), call(1, y=2), call(y=2, x=1)]),
        (variadic, [call(1), call(x=1)]),
        (variadic, [call(1, 2, a=1, b=2), call(1, 2, b=2, a=1)]),
    ],
)
def test_equal_arguments_have_the_same_key(function: Callable[..., Any], calls: list[Any]) -> None:
    assert count_executions(cache(ttl=1.0, name='x'), function, *calls) == 1


@pytest.mark.parametrize(
    ('function', 'calls'),
    [
        (positional, [call(1), call(2), call(1, 3), call(2, 1)]),
        (keyword_only, [call(1), call(2), call(1, y=3)]),
        (
            variadic,
            [call(1), call(1, 2), call(1, a=2), call(1, b=2), call(1, 2, a=2), call(1, 2, 2)],
        ),
        (variadic, [call(1, 2), call(1, (2,), ())]),
        (only_variadic, [call(1, 2), call((1, 2))]),
    ],
)
def test_different_arguments_have_different_keys(
    function: Callable[..., Any], calls: list[Any]
) -> None:
    assert count_executions(cache(ttl=1.0, name='x'), function, *calls) == len(calls)


def test_function_without_arguments_has_one_key() -> None:
    assert count_executions(cache(ttl=1.0, name='x'), lambda: None, call(), call()) == 1


def test_each_decorated_function_has_its_own_entries() -> None:
    users = cache(ttl=1.0, name='x')

    def first(uid: int) -> Outcome:
        return Success('first')

    def second(uid: int) -> Outcome:
        return Success('second')

    assert (users(first)(1), users(second)(1)) == (Success('first'), Success('second'))


def test_unhashable_argument_is_a_type_error_that_mentions_key_but_no_value() -> None:
    source = Source()
    with pytest.raises(
        TypeError,
        match=r"^'users' needs a hashable key, .* pass `key=`, a function of the same arguments",
    ) as caught:
        source.load(['hunter2'])
    assert 'hunter2' not in ''.join(traceback.format_exception_only(caught.value))
    assert 'list' in str(caught.value.__cause__)
    with pytest.raises(TypeError, match='pass `key=`'):
        source.load.forget({})
    assert source.calls == []


def test_option_key_computes_the_key_from_the_arguments() -> None:
    def by_name(user: dict[str, str], *, deep: bool = False) -> str:
        return user['name']

    calls: list[object] = []

    @cache(ttl=1.0, name='x', key=by_name)
    def load(user: dict[str, str], *, deep: bool = False) -> Outcome:
        calls.append(user)
        return Success(None)

    load({'name': 'ada'})
    load({'name': 'ada', 'age': '36'}, deep=True)
    assert len(calls) == 1
    load({'name': 'bob'})
    assert len(calls) == 2
    load.forget({'name': 'ada'})
    load({'name': 'ada'})
    assert len(calls) == 3


def test_function_receives_the_arguments_unchanged() -> None:
    @cache(ttl=1.0, name='x')
    def load(*args: object, **kwargs: object) -> Outcome:
        return Success((args, kwargs))

    assert load(1, 2, deep=True) == Success(((1, 2), {'deep': True}))


def test_key_of_a_partial_consists_of_its_remaining_arguments() -> None:
    def add(x: int, y: int) -> Result[int, str]:
        return Success(x + y)

    keys: list[int] = []

    def key(y: int) -> int:
        keys.append(y)
        return y

    assert cache(ttl=1.0, name='x')(partial(add, 1))(2) == Success(3)
    assert cache(ttl=1.0, name='x', key=key)(partial(add, 1))(2) == Success(3)
    assert keys == [2]


def test_arguments_that_do_not_match_the_signature_are_a_type_error() -> None:
    source = Source()
    untyped_load: Any = source.load
    with pytest.raises(TypeError, match='missing a required argument'):
        untyped_load()
    with pytest.raises(TypeError, match='too many positional arguments'):
        untyped_load(1, 2)
    source.load('ada')
    with pytest.raises(TypeError, match='multiple values'):
        untyped_load('ada', uid='ada')


def test_secret_argument_is_compared_by_value() -> None:
    source = Source()
    source.load(Secret('token'))
    assert source.is_cached(Secret('token'))
    assert not source.is_cached(Secret('other'))


class Users:
    """A class with a cached method."""

    def __init__(self) -> None:
        self.calls: list[int] = []

    @cache(ttl=60.0, capacity=2, name='users')
    def load(self, uid: int) -> Result[int, str]:
        self.calls.append(uid)
        return Success(uid)


def test_self_of_a_method_is_part_of_the_key() -> None:
    first, second = Users(), Users()
    assert first.load(1) == first.load(uid=1) == second.load(1) == Success(1)
    assert first.calls == second.calls == [1]
    Users.load.forget(first, 1)
    first.load(1)
    second.load(1)
    assert (first.calls, second.calls) == ([1, 1], [1])


def test_cache_of_a_bound_method_does_not_keep_its_object_alive() -> None:
    class Users:
        def __init__(self) -> None:
            self.load = cache(ttl=60.0, name='users')(self._load)

        def _load(self, uid: int) -> Result[int, str]:
            return Success(uid)

    users = Users()
    assert users.load(1) is users.load(1)
    reference = weakref.ref(users)
    del users
    gc.collect()
    assert reference() is None


def test_evicted_forgotten_or_expired_value_is_not_kept_alive() -> None:
    class Value: ...

    world = FakeWorld()

    @cache(ttl=1.0, capacity=1, name='x', world=world)
    def load(uid: int) -> Result[Value, Down]:
        return Failure(Down()) if uid < 0 or world.now >= 1 else Success(Value())

    def load_reference(uid: int) -> 'weakref.ref[Value]':
        return weakref.ref(load(uid).unwrap())

    evicted = load_reference(1)
    forgotten = load_reference(2)
    assert evicted() is None
    assert forgotten() is not None
    load.forget(2)
    assert forgotten() is None
    expired = load_reference(3)
    world.advance(1.0)
    load(3)
    assert expired() is None


# The decorator


def test_decorator_keeps_the_signature_and_the_docstring() -> None:
    def load(uid: int, *, deep: bool = False) -> Result[int, str]:
        """Load a user."""
        return Success(uid)

    decorated = cache(ttl=1.0, name='x')(load)
    assert inspect.signature(decorated) == inspect.signature(load)
    assert inspect.getdoc(decorated) == 'Load a user.'
    assert not inspect.iscoroutinefunction(decorated)


@pytest.mark.parametrize('value', [1, None, 'text'])
def test_function_that_returns_no_result_is_a_type_error_in_each_call(value: Any) -> None:
    source = Source()

    @source.cache
    def load() -> Outcome:
        outcome: Outcome = value
        return outcome

    for _ in range(2):
        with pytest.raises(TypeError, match='which is not a Result'):
            load()


def test_decorating_anything_but_a_function_is_a_type_error() -> None:
    users: Any = cache(ttl=1.0, name='users')
    with pytest.raises(TypeError, match="Put the guard 'users' below @staticmethod"):
        users(staticmethod(positional))
    with pytest.raises(TypeError, match="The guard 'users' must decorate a function"):
        users(1)

    def numbers() -> Iterator[int]:
        yield 1

    with pytest.raises(TypeError, match='is a generator'):
        users(numbers)


@pytest.mark.parametrize(
    ('options', 'message'),
    [
        ({'ttl': 0}, 'ttl must be a finite number, more than 0'),
        ({'ttl': -1}, 'ttl must be'),
        ({'ttl': math.nan}, 'ttl must be'),
        ({'ttl': math.inf}, 'ttl must be'),
        ({'stale_for': -0.1}, 'stale_for must be a finite number, 0 or more'),
        ({'stale_for': math.inf}, 'stale_for must be'),
        ({'capacity': 0}, 'capacity must be 1 or more'),
        ({'name': ''}, 'name must not be empty'),
    ],
)
def test_option_out_of_range_is_a_value_error(options: dict[str, Any], message: str) -> None:
    defaults: dict[str, Any] = {'ttl': 1.0, 'name': 'x'}
    with pytest.raises(ValueError, match='^' + re.escape(message)):
        cache(**defaults | options)


@pytest.mark.parametrize(
    ('options', 'message'),
    [
        ({'ttl': '1'}, 'ttl must be a number'),
        ({'stale_for': True}, 'stale_for must be a number'),
        ({'capacity': 1.5}, 'capacity must be a whole number'),
        ({'name': 1}, 'name must be a string'),
        (
            {'key': 'uid'},
            "key must be a function of the arguments that returns something hashable, not 'uid'.",
        ),
        ({'observer': 'log'}, 'observer must be a function'),
    ],
)
def test_option_of_the_wrong_type_is_a_type_error(options: dict[str, Any], message: str) -> None:
    defaults: dict[str, Any] = {'ttl': 1.0, 'name': 'x'}
    with pytest.raises(TypeError, match='^' + re.escape(message)):
        cache(**defaults | options)


def test_defaults_are_a_capacity_of_1024_and_no_stale_successes() -> None:
    failures: list[Outcome] = []
    world = FakeWorld()

    @cache(ttl=1.0, name='x', world=world)
    def load(uid: int) -> Outcome:
        return failures[0] if failures else Success(uid)

    first = load(0)
    for uid in range(1, 1_024):
        load(uid)
    assert load(0) is first
    load(1_024)
    failures.append(Failure(Down()))
    assert load(1) == Failure(Down())
    world.advance(1.0)
    assert load(0) == Failure(Down())


# Threads


def run_in_thread(function: Callable[[], object]) -> None:
    thread = Thread(target=function)
    thread.start()
    thread.join(5)
    assert not thread.is_alive(), 'the thread hangs'


class ConcurrentCalls:
    """A call in flight in one thread, and waiters in other threads."""

    def __init__(self, operation: Callable[[], Outcome], waiters: int = 4) -> None:
        self.outcomes: list[Outcome] = []
        self.errors: list[BaseException] = []
        self.executions = 0
        self._operation = operation
        self._can_end = Event()
        self._has_started = Event()
        self.load = cache(ttl=60.0, name='x')(self._load)
        self._threads = [Thread(target=self._call) for _ in range(waiters + 1)]

    def _load(self) -> Outcome:
        self.executions += 1
        self._has_started.set()
        assert self._can_end.wait(5)
        return self._operation()

    def _call(self) -> None:
        try:
            self.outcomes.append(self.load())
        except BaseException as error:  # noqa: BLE001 -- checked by the tests
            self.errors.append(error)

    @contextmanager
    def in_flight(self) -> Generator[None]:
        """Start all calls, and let them end after the `with` block."""
        self._threads[0].start()
        assert self._has_started.wait(5)
        for thread in self._threads[1:]:
            thread.start()
        yield
        self._can_end.set()
        for thread in self._threads:
            thread.join(5)
            assert not thread.is_alive(), 'a thread hangs'


def test_concurrent_threads_share_one_call() -> None:
    expected: Outcome = Success(1)
    calls = ConcurrentCalls(lambda: expected)
    with calls.in_flight():
        pass
    assert calls.executions == 1
    assert len(calls.outcomes) == 5
    assert all(outcome is expected for outcome in calls.outcomes)


def test_waiting_threads_receive_the_failure() -> None:
    expected: Outcome = Failure(Down())
    calls = ConcurrentCalls(lambda: expected)
    with calls.in_flight():
        # A thread that arrives after the end of the call would start a new one.
        wait_until(lambda: count_waiting(calls) == 4)
    assert calls.executions == 1
    assert calls.outcomes == [expected] * 5


def test_defect_is_raised_in_all_threads_without_growing_its_traceback() -> None:
    defect = ZeroDivisionError('bug')

    def fail() -> Outcome:
        raise defect

    calls = ConcurrentCalls(fail, waiters=12)
    with calls.in_flight():
        wait_until(lambda: count_waiting(calls) == 12)
    assert calls.executions == 1
    assert calls.errors == [defect] * 13
    assert len(traceback.extract_tb(defect.__traceback__)) < 16


def test_waiting_thread_starts_a_new_call_if_the_first_one_was_interrupted() -> None:
    errors: list[BaseException | None] = [KeyboardInterrupt(), None]

    def operation() -> Outcome:
        error = errors.pop(0)
        if error is not None:
            raise error
        return Success('second')

    calls = ConcurrentCalls(operation)
    with calls.in_flight():
        wait_until(lambda: count_waiting(calls) == 4)
    assert [type(error) for error in calls.errors] == [KeyboardInterrupt]
    assert calls.outcomes == [Success('second')] * 4
    assert calls.executions == 2


def test_next_call_after_a_defect_executes_the_function() -> None:
    source = Source()
    is_defect = [True, False]

    @source.cache
    def load() -> Outcome:
        if is_defect.pop(0):
            raise ZeroDivisionError
        return Success(1)

    with pytest.raises(ZeroDivisionError):
        load()
    assert load() is load()


def test_call_after_clear_does_not_join_the_earlier_call() -> None:
    calls = ConcurrentCalls(lambda: Success(1), waiters=0)
    with calls.in_flight():
        calls.load.clear()
        calls._can_end.set()
        assert calls.load() is calls.load()
    assert calls.executions == 2


def test_reentrant_call_is_a_runtime_error() -> None:
    @cache(ttl=1.0, name='tree')
    def load(uid: int) -> Outcome:
        return load(uid) if uid == 1 else Success(load(uid + 1))

    def load_in_its_own_call() -> None:
        with pytest.raises(RuntimeError, match=r"^'tree' is called inside its own call"):
            load(-1)

    run_in_thread(load_in_its_own_call)


def test_recursive_call_with_other_arguments_is_allowed() -> None:
    @cache(ttl=1.0, name='sum')
    def total(n: int) -> Result[int, str]:
        return Success(n + total(n - 1).unwrap()) if n else Success(0)

    assert total(10) == Success(55)
    assert total(9) == Success(45)
    assert total(10) == Success(55)


def test_call_runs_in_the_context_of_its_caller() -> None:
    user: ContextVar[str] = ContextVar('user', default='default')

    @cache(ttl=1.0, name='x')
    def load() -> Outcome:
        value = user.get()
        user.set('changed')
        return Success(value)

    user.set('ada')
    assert load() == Success('ada')
    assert user.get() == 'changed'


def test_call_does_not_change_the_context() -> None:
    def load() -> Result[int, str]:
        return Success(1)

    expected = dict(copy_context().items())
    assert cache(ttl=1.0, name='x')(load)() == Success(1)
    assert dict(copy_context().items()) == expected


def test_finalizer_of_an_evicted_value_can_use_the_cache() -> None:
    world = FakeWorld()
    outcomes: list[Outcome] = []

    class Value:
        def __del__(self) -> None:
            outcomes.append(load(2))

    @cache(ttl=1.0, stale_for=1.0, capacity=1, name='x', world=world)
    def load(uid: int) -> Outcome:
        return Success(Value() if uid == 1 else uid)

    load(1)
    load(3)
    assert outcomes == [Success(2)]


def count_waiting(calls: ConcurrentCalls) -> int:
    """Return the number of threads that run `SharedThreadCall.wait`."""
    import sys  # noqa: PLC0415 -- used only here

    frames = [sys._current_frames().get(thread.ident or 0) for thread in calls._threads]
    return sum(
        any(f.f_code.co_qualname == 'SharedThreadCall.wait' for f, _ in traceback.walk_stack(frame))
        for frame in frames
        if frame
    )


def wait_until(condition: Callable[[], bool]) -> None:
    pause = Event()
    for _ in range(5_000):
        if condition():
            return
        pause.wait(0.001)
    pytest.fail('the condition did not become true')


@pytest.mark.parametrize('waiters', [0, 3])
def test_defect_leaves_no_reference_cycle(waiters: int) -> None:
    has_started, can_end = Event(), Event()
    references: list[weakref.ref[Defect]] = []

    @cache(ttl=10.0, name='x')
    def load() -> Outcome:
        has_started.set()
        assert can_end.wait(10)
        raise Defect

    def call() -> None:
        try:
            load()
        except Defect as defect:
            references.append(weakref.ref(defect))

    with gc_disabled():
        threads = [Thread(target=call) for _ in range(1 + waiters)]
        for thread in threads:
            thread.start()
        assert has_started.wait(10)
        time.sleep(0.02)
        can_end.set()
        for thread in threads:
            thread.join(10)
        assert [reference() for reference in references] == [None] * (1 + waiters)


def test_shared_call_of_threads_has_no_deadline_of_a_caller() -> None:
    world = FakeWorld()
    time_left: list[float | None] = []

    @cache(ttl=10.0, name='users', world=world)
    def load() -> Result[str, Down]:
        time_left.append(remaining())
        return Success('Ada')

    def request() -> Result[str, Down]:
        result = load()
        time_left.append(remaining())
        return result

    assert deadline(2.0, world=world).run_sync(request) == Success('Ada')
    assert time_left == [None, 2.0]
