"""A cache of successes, of functions that threads call: what is kept, under which key, and who waits for whom."""

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
from seamwise.policies._engine.world import World
from seamwise.policies._parts.single_flight import SharedThreadCall
from seamwise.policies.cache import Cache, cache
from seamwise.policies.events import FellBack, GuardEvent
from seamwise.policies.testing import FakeWorld
from tests.policies.errors import Down, Slow, Wrong
from tests.policies.leftovers import Defect, nothing_collected

Answer = Result[object, object]


class Source:
    """A function with what it gives next, and what it was asked."""

    def __init__(self, *, ttl: float = 10.0, stale_for: float = 0.0, capacity: int = 3) -> None:
        self.world = FakeWorld()
        self.events: list[GuardEvent] = []
        self.asked: list[object] = []
        self.gives: Answer | None = None
        self.cache = cache(
            ttl=ttl,
            stale_for=stale_for,
            capacity=capacity,
            name='users',
            observer=self.events.append,
            world=self.world,
        )

        @self.cache
        def load(uid: object) -> Answer:
            self.asked.append(uid)
            return Success((uid, len(self.asked))) if self.gives is None else self.gives

        self.load = load

    def is_kept(self, uid: object) -> bool:
        before = len(self.asked)
        self.load(uid)
        return len(self.asked) == before


def test_a_success_is_given_again_itself_until_its_time_is_over() -> None:
    source = Source(ttl=10.0)
    first = source.load('ada')
    source.world.advance(9.75)
    assert source.load('ada') is first
    source.world.advance(0.25)
    assert source.load('ada') == Success(('ada', 2))
    assert source.asked == ['ada', 'ada']


def test_being_asked_does_not_keep_it_longer() -> None:
    source = Source(ttl=10.0)
    for _ in range(3):
        source.load('ada')
        source.world.advance(5.0)
    assert source.asked == ['ada', 'ada']


def test_its_time_begins_when_the_call_ends() -> None:
    world = FakeWorld()

    @cache(ttl=1.0, name='slow', world=world)
    def load() -> Answer:
        world.advance(5.0)
        return Success(world.now)

    assert load() is load()


def test_a_failure_is_never_kept() -> None:
    source = Source()
    source.gives = Failure(Down())
    assert source.load('ada') == source.load('ada') == Failure(Down())
    assert source.asked == ['ada', 'ada']
    assert source.events == []


def test_a_success_of_nothing_is_kept() -> None:
    source = Source()
    source.gives = Success(None)
    assert source.load('ada') is source.load('ada')
    assert source.asked == ['ada']


def test_the_success_used_least_recently_goes() -> None:
    source = Source(capacity=3)
    for uid in 'abc':
        source.load(uid)
    assert source.is_kept('a')
    source.load('d')
    assert source.is_kept('a')
    assert source.is_kept('c')
    assert source.is_kept('d')
    assert not source.is_kept('b')


def test_a_fresh_success_in_the_place_of_an_old_one_is_used_most_recently() -> None:
    source = Source(capacity=2, ttl=10.0, stale_for=10.0)
    source.load('a')
    source.load('b')
    source.world.advance(10.0)
    source.load('a')
    source.load('c')
    assert source.is_kept('a')


def test_capacity_one_keeps_one() -> None:
    source = Source(capacity=1)
    source.load('a')
    assert source.is_kept('a')
    source.load('b')
    assert source.is_kept('b')
    assert not source.is_kept('a')


@pytest.mark.parametrize(('age', 'is_given'), [(10.0, True), (14.75, True), (15.0, False)])
def test_an_old_success_is_given_while_the_call_fails_for_so_long(
    age: float, is_given: bool
) -> None:
    source = Source(ttl=10.0, stale_for=5.0)
    old = source.load('ada')
    source.world.advance(age)
    source.gives = Failure(Down())
    assert source.load('ada') == (old if is_given else Failure(Down()))
    assert source.events == ([FellBack('users', Down())] if is_given else [])
    assert source.asked == ['ada', 'ada']


def test_an_old_success_of_less_than_a_second_is_given_too() -> None:
    source = Source(ttl=0.25, stale_for=5.0)
    old = source.load('ada')
    source.world.advance(0.5)
    source.gives = Failure(Down())
    assert source.load('ada') is old


def test_an_old_success_is_no_fresh_one() -> None:
    source = Source(ttl=10.0, stale_for=5.0)
    source.load('ada')
    source.world.advance(10.0)
    assert source.load('ada') == Success(('ada', 2))


def test_an_old_success_that_was_given_is_used_recently() -> None:
    source = Source(ttl=10.0, stale_for=5.0, capacity=2)
    source.load('a')
    source.load('b')
    source.world.advance(10.0)
    source.gives = Failure(Down())
    old = source.load('a')
    source.gives = None
    source.load('c')
    source.gives = Failure(Down())
    assert source.load('a') is old


def test_its_age_counts_when_the_call_has_failed() -> None:
    source = Source(ttl=10.0, stale_for=5.0)

    @source.cache
    def load() -> Answer:
        source.world.advance(6.0)
        return source.gives or Success(1)

    load()
    source.world.advance(9.0)
    source.world.advance(1.0)
    source.gives = Failure(Slow())
    assert load() == Failure(Slow())


@pytest.mark.parametrize('answer', [Failure(Wrong()), Failure('no'), Failure(None)])
def test_a_failure_that_will_not_pass_is_an_answer_and_ends_the_old_success(answer: Answer) -> None:
    source = Source(ttl=10.0, stale_for=5.0)
    source.load('ada')
    source.world.advance(10.0)
    source.gives = answer
    assert source.load('ada') is answer
    source.gives = Failure(Down())
    assert source.load('ada') == Failure(Down())
    assert source.events == []


def test_without_an_observer_nobody_is_told_of_an_old_success() -> None:
    world = FakeWorld()
    gives: list[Answer] = [Success(1), Failure(Down())]

    @cache(ttl=1.0, stale_for=1.0, name='x', world=world)
    def load() -> Answer:
        return gives.pop(0)

    first = load()
    world.advance(1.0)
    assert load() is first


def test_what_is_forgotten_is_asked_again_and_the_rest_is_not() -> None:
    source = Source()
    source.load('a')
    source.load('b')
    source.load.forget('a')
    source.load.forget(uid='nobody')
    assert source.is_kept('b')
    assert not source.is_kept('a')
    source.load.clear()
    assert not source.is_kept('a')
    assert not source.is_kept('b')


def test_what_is_forgotten_is_not_given_as_an_old_success() -> None:
    source = Source(ttl=10.0, stale_for=5.0)
    source.load('a')
    source.world.advance(10.0)
    source.load.forget('a')
    source.gives = Failure(Down())
    assert source.load('a') == Failure(Down())


@pytest.mark.parametrize('how', ['forget', 'clear'])
def test_a_call_that_began_before_it_was_forgotten_is_not_kept(how: str) -> None:
    asked: list[int] = []

    @cache(ttl=10.0, stale_for=10.0, name='users', world=FakeWorld())
    def load(uid: int) -> Answer:
        asked.append(uid)
        if len(asked) == 1:
            load.forget(1) if how == 'forget' else load.clear()
        return Success(len(asked))

    assert load(1) == Success(1)
    assert load(1) == Success(2)
    assert load(1) == Success(2)


def test_an_older_call_that_fails_leaves_what_a_newer_one_gave() -> None:
    asked: list[Answer] = []

    @cache(ttl=10.0, name='users', world=FakeWorld())
    def load() -> Answer:
        asked.append(Success(0))
        if len(asked) == 1:
            load.clear()
            in_thread(load)
            return Failure(Wrong())
        return Success('newer')

    assert load() == Failure(Wrong())
    assert load() == Success('newer')
    assert len(asked) == 2


class Clock(FakeWorld):
    """A world whose clock shows what the test says."""

    __slots__ = ('shows',)

    def __init__(self) -> None:
        super().__init__()
        object.__setattr__(self, 'shows', [0.0])
        object.__setattr__(self, 'clock', lambda: self.shows[0])

    shows: list[float]


@pytest.mark.parametrize('later', [-0.001, -1e9, math.nan])
def test_where_the_clock_went_back_nobody_knows_the_age_and_it_is_asked_again(later: float) -> None:
    clock = Clock()
    gives: list[Answer] = [Success(1), Failure(Down()), Success(3)]

    @cache(ttl=10.0, stale_for=5.0, name='x', world=clock)
    def load() -> Answer:
        return gives.pop(0)

    load()
    clock.shows[0] = later
    assert load() == Failure(Down())
    clock.shows[0] = 0.0
    assert load() == load() == Success(3)


def test_a_success_that_comes_between_two_looks_is_given() -> None:
    times = iter([0.0, 10.0, 9.0])
    asked: list[int] = []

    @cache(ttl=10.0, stale_for=5.0, name='x', world=World(clock=lambda: next(times)))
    def load() -> Answer:
        asked.append(1)
        return Success(1)

    assert load() is load()
    assert asked == [1]


def test_under_a_clock_that_stands_still_a_success_stays() -> None:
    source = Source(ttl=1e-9)
    source.load('ada')
    assert source.is_kept('ada')


# --- keys


def asked_by(
    function_cache: Cache,
    function: Callable[..., Any],
    *calls: tuple[tuple[Any, ...], dict[str, Any]],
) -> int:
    asked = 0

    def counted(*args: Any, **kwargs: Any) -> Answer:
        nonlocal asked
        asked += 1
        return Success(None)

    counted.__signature__ = inspect.signature(function)  # type: ignore[attr-defined]  # as `wraps` would make it, and no more
    load: Any = function_cache(counted)
    for args, kwargs in calls:
        load(*args, **kwargs)
    return asked


def call(*args: Any, **kwargs: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    return args, kwargs


def plain(x: int, y: int = 2) -> None: ...
def keywords(x: int, *, y: int = 2) -> None: ...
def rest(x: int, *more: int, **named: int) -> None: ...
def only_rest(*more: int) -> None: ...


@pytest.mark.parametrize(
    ('function', 'calls'),
    [
        (plain, [call(1), call(x=1), call(1, 2), call(1, y=2), call(y=2, x=1)]),
        (keywords, [call(1), call(x=1), call(1, y=2), call(y=2, x=1)]),
        (rest, [call(1), call(x=1)]),
        (rest, [call(1, 2, a=1, b=2), call(1, 2, b=2, a=1)]),
    ],
)
def test_the_same_arguments_are_one_however_they_are_given(
    function: Callable[..., Any], calls: list[Any]
) -> None:
    assert asked_by(cache(ttl=1.0, name='x'), function, *calls) == 1


@pytest.mark.parametrize(
    ('function', 'calls'),
    [
        (plain, [call(1), call(2), call(1, 3), call(2, 1)]),
        (keywords, [call(1), call(2), call(1, y=3)]),
        (rest, [call(1), call(1, 2), call(1, a=2), call(1, b=2), call(1, 2, a=2), call(1, 2, 2)]),
        (rest, [call(1, 2), call(1, (2,), ())]),
        (only_rest, [call(1, 2), call((1, 2))]),
    ],
)
def test_other_arguments_are_another_call(function: Callable[..., Any], calls: list[Any]) -> None:
    assert asked_by(cache(ttl=1.0, name='x'), function, *calls) == len(calls)


def test_a_function_without_arguments_has_one_success() -> None:
    assert asked_by(cache(ttl=1.0, name='x'), lambda: None, call(), call()) == 1


def test_each_function_has_its_own_successes() -> None:
    users = cache(ttl=1.0, name='x')

    def one(uid: int) -> Answer:
        return Success('one')

    def two(uid: int) -> Answer:
        return Success('two')

    assert (users(one)(1), users(two)(1)) == (Success('one'), Success('two'))


def test_arguments_that_do_not_hash_are_a_type_error_that_names_key_and_no_value() -> None:
    source = Source()
    with pytest.raises(
        TypeError, match=r"^'users' keeps .* give `key=`, a function of the same arguments"
    ) as raised:
        source.load(['hunter2'])
    assert 'hunter2' not in ''.join(traceback.format_exception_only(raised.value))
    assert 'list' in str(raised.value.__cause__)
    with pytest.raises(TypeError, match='give `key=`'):
        source.load.forget({})
    assert source.asked == []


def test_key_makes_something_else_of_the_arguments() -> None:
    def by_name(user: dict[str, str], *, deep: bool = False) -> str:
        return user['name']

    asked: list[object] = []

    @cache(ttl=1.0, name='x', key=by_name)
    def load(user: dict[str, str], *, deep: bool = False) -> Answer:
        asked.append(user)
        return Success(None)

    load({'name': 'ada'})
    load({'name': 'ada', 'age': '36'}, deep=True)
    assert len(asked) == 1
    load({'name': 'bob'})
    assert len(asked) == 2
    load.forget({'name': 'ada'})
    load({'name': 'ada'})
    assert len(asked) == 3


def test_the_function_gets_the_arguments_as_they_were_given() -> None:
    @cache(ttl=1.0, name='x')
    def load(*args: object, **named: object) -> Answer:
        return Success((args, named))

    assert load(1, 2, deep=True) == Success(((1, 2), {'deep': True}))


def test_the_arguments_of_a_partial_are_those_that_are_left() -> None:
    def add(x: int, y: int) -> Result[int, str]:
        return Success(x + y)

    seen: list[int] = []

    def key(y: int) -> int:
        seen.append(y)
        return y

    assert cache(ttl=1.0, name='x')(partial(add, 1))(2) == Success(3)
    assert cache(ttl=1.0, name='x', key=key)(partial(add, 1))(2) == Success(3)
    assert seen == [2]


def test_wrong_arguments_are_a_type_error() -> None:
    source = Source()
    wrong: Any = source.load
    with pytest.raises(TypeError, match='missing a required argument'):
        wrong()
    with pytest.raises(TypeError, match='too many positional arguments'):
        wrong(1, 2)
    source.load('ada')
    with pytest.raises(TypeError, match='multiple values'):
        wrong('ada', uid='ada')


def test_a_secret_may_be_an_argument_and_is_compared_by_its_value() -> None:
    source = Source()
    source.load(Secret('token'))
    assert source.is_kept(Secret('token'))
    assert not source.is_kept(Secret('other'))


class Users:
    """Has a method that is cached."""

    def __init__(self) -> None:
        self.asked: list[int] = []

    @cache(ttl=60.0, capacity=2, name='users')
    def load(self, uid: int) -> Result[int, str]:
        self.asked.append(uid)
        return Success(uid)


def test_the_self_of_a_method_is_an_argument() -> None:
    one, two = Users(), Users()
    assert one.load(1) == one.load(uid=1) == two.load(1) == Success(1)
    assert one.asked == two.asked == [1]
    Users.load.forget(one, 1)
    one.load(1)
    two.load(1)
    assert (one.asked, two.asked) == ([1, 1], [1])


def test_an_object_whose_method_is_decorated_for_itself_goes_with_its_successes() -> None:
    class Own:
        def __init__(self) -> None:
            self.load = cache(ttl=60.0, name='own')(self._load)

        def _load(self, uid: int) -> Result[int, str]:
            return Success(uid)

    own = Own()
    assert own.load(1) is own.load(1)
    watched = weakref.ref(own)
    del own
    gc.collect()
    assert watched() is None


def test_what_is_pushed_out_forgotten_or_over_is_not_kept_alive() -> None:
    class Value: ...

    world = FakeWorld()

    @cache(ttl=1.0, capacity=1, name='x', world=world)
    def load(uid: int) -> Result[Value, Down]:
        return Failure(Down()) if uid < 0 or world.now >= 1 else Success(Value())

    def kept(uid: int) -> 'weakref.ref[Value]':
        return weakref.ref(load(uid).unwrap())

    pushed_out = kept(1)
    forgotten = kept(2)
    assert pushed_out() is None
    assert forgotten() is not None
    load.forget(2)
    assert forgotten() is None
    over = kept(3)
    world.advance(1.0)
    load(3)
    assert over() is None


# --- the decorator


def test_it_keeps_the_signature_and_the_name() -> None:
    def load(uid: int, *, deep: bool = False) -> Result[int, str]:
        """Load a user."""
        return Success(uid)

    decorated = cache(ttl=1.0, name='x')(load)
    assert inspect.signature(decorated) == inspect.signature(load)
    assert inspect.getdoc(decorated) == 'Load a user.'
    assert not inspect.iscoroutinefunction(decorated)


@pytest.mark.parametrize('gives', [1, None, 'text'])
def test_what_gives_no_result_is_a_type_error_each_time(gives: Any) -> None:
    source = Source()

    @source.cache
    def load() -> Answer:
        wrong: Answer = gives
        return wrong

    for _ in range(2):
        with pytest.raises(TypeError, match='which is no Result'):
            load()


def test_what_cannot_be_decorated_is_a_type_error() -> None:
    users: Any = cache(ttl=1.0, name='users')
    with pytest.raises(TypeError, match="Put the guard 'users' under @staticmethod"):
        users(staticmethod(plain))
    with pytest.raises(TypeError, match="The guard 'users' decorates a function"):
        users(1)

    def numbers() -> Iterator[int]:
        yield 1

    with pytest.raises(TypeError, match='is a generator'):
        users(numbers)


@pytest.mark.parametrize(
    ('wrong', 'says'),
    [
        ({'ttl': 0}, 'ttl must be a finite number, more than 0'),
        ({'ttl': -1}, 'ttl must be'),
        ({'ttl': math.nan}, 'ttl must be'),
        ({'ttl': math.inf}, 'ttl must be'),
        ({'stale_for': -0.1}, 'stale_for must be a finite number, 0 or more'),
        ({'stale_for': math.inf}, 'stale_for must be'),
        ({'capacity': 0}, 'capacity must be 1 or more'),
        ({'name': ''}, 'name must say what is guarded'),
    ],
)
def test_a_number_out_of_range_is_a_value_error(wrong: dict[str, Any], says: str) -> None:
    right: dict[str, Any] = {'ttl': 1.0, 'name': 'x'}
    with pytest.raises(ValueError, match='^' + re.escape(says)):
        cache(**right | wrong)


@pytest.mark.parametrize(
    ('wrong', 'says'),
    [
        ({'ttl': '1'}, 'ttl must be a number'),
        ({'stale_for': True}, 'stale_for must be a number'),
        ({'capacity': 1.5}, 'capacity must be a whole number'),
        ({'name': 1}, 'name must be a string'),
        (
            {'key': 'uid'},
            "key must be a function of the arguments that gives something hashable, not 'uid'.",
        ),
        ({'observer': 'log'}, 'observer must be a function'),
    ],
)
def test_what_has_the_wrong_type_is_a_type_error(wrong: dict[str, Any], says: str) -> None:
    right: dict[str, Any] = {'ttl': 1.0, 'name': 'x'}
    with pytest.raises(TypeError, match='^' + re.escape(says)):
        cache(**right | wrong)


def test_a_thousand_and_twenty_four_are_kept_and_nothing_is_given_that_is_old() -> None:
    gives: list[Answer] = []
    world = FakeWorld()

    @cache(ttl=1.0, name='x', world=world)
    def load(uid: int) -> Answer:
        return gives[0] if gives else Success(uid)

    first = load(0)
    for uid in range(1, 1_024):
        load(uid)
    assert load(0) is first
    load(1_024)
    gives.append(Failure(Down()))
    assert load(1) == Failure(Down())
    world.advance(1.0)
    assert load(0) == Failure(Down())


# --- threads


def in_thread(function: Callable[[], object]) -> None:
    thread = Thread(target=function)
    thread.start()
    thread.join(5)
    assert not thread.is_alive(), 'the thread hangs'


class Asked:
    """A call that is under way in one thread, and others that wait for it."""

    def __init__(self, end: Callable[[], Answer], waiting: int = 4) -> None:
        self.given: list[Answer] = []
        self.raised: list[BaseException] = []
        self.asked = 0
        self._end = end
        self._go_on = Event()
        self._is_asked = Event()
        self.load = cache(ttl=60.0, name='x')(self._load)
        self._threads = [Thread(target=self._ask) for _ in range(waiting + 1)]

    def _load(self) -> Answer:
        self.asked += 1
        self._is_asked.set()
        assert self._go_on.wait(5)
        return self._end()

    def _ask(self) -> None:
        try:
            self.given.append(self.load())
        except BaseException as raised:  # noqa: BLE001 -- for the test to look at
            self.raised.append(raised)

    @contextmanager
    def under_way(self) -> Generator[None]:
        self._threads[0].start()
        assert self._is_asked.wait(5)
        for thread in self._threads[1:]:
            thread.start()
        yield
        self._go_on.set()
        for thread in self._threads:
            thread.join(5)
            assert not thread.is_alive(), 'a thread hangs'


def test_threads_that_ask_at_the_same_time_share_one_call() -> None:
    answer: Answer = Success(1)
    asked = Asked(lambda: answer)
    with asked.under_way():
        pass
    assert asked.asked == 1
    assert len(asked.given) == 5
    assert all(given is answer for given in asked.given)


def test_threads_that_wait_get_the_failure_too() -> None:
    answer: Answer = Failure(Down())
    asked = Asked(lambda: answer)
    with asked.under_way():
        # Those who have not come yet when the call ends would make one of their own.
        wait_until(lambda: waiting_on(asked) == 4)
    assert asked.asked == 1
    assert asked.given == [answer] * 5


def test_a_defect_is_raised_in_all_of_them_and_its_traceback_does_not_grow() -> None:
    defect = ZeroDivisionError('bug')

    def fails() -> Answer:
        raise defect

    asked = Asked(fails, waiting=12)
    with asked.under_way():
        wait_until(lambda: waiting_on(asked) == 12)
    assert asked.asked == 1
    assert asked.raised == [defect] * 13
    assert len(traceback.extract_tb(defect.__traceback__)) < 16


def test_who_waits_takes_over_where_the_first_thread_was_interrupted() -> None:
    ends: list[BaseException | None] = [KeyboardInterrupt(), None]

    def end() -> Answer:
        raised = ends.pop(0)
        if raised is not None:
            raise raised
        return Success('second')

    asked = Asked(end)
    with asked.under_way():
        wait_until(lambda: waiting_on(asked) == 4)
    assert [type(raised) for raised in asked.raised] == [KeyboardInterrupt]
    assert asked.given == [Success('second')] * 4
    assert asked.asked == 2


def test_after_a_defect_the_next_call_is_a_new_one() -> None:
    source = Source()
    ends = [True, False]

    @source.cache
    def load() -> Answer:
        if ends.pop(0):
            raise ZeroDivisionError
        return Success(1)

    with pytest.raises(ZeroDivisionError):
        load()
    assert load() is load()


def test_who_asks_after_forgetting_does_not_wait_for_the_older_call() -> None:
    asked = Asked(lambda: Success(1), waiting=0)
    with asked.under_way():
        asked.load.clear()
        asked._go_on.set()
        assert asked.load() is asked.load()
    assert asked.asked == 2


def test_a_call_within_itself_is_a_runtime_error_and_not_a_hang() -> None:
    @cache(ttl=1.0, name='tree')
    def load(uid: int) -> Answer:
        return load(uid) if uid == 1 else Success(load(uid + 1))

    def ask() -> None:
        with pytest.raises(RuntimeError, match=r"^'tree' is called in its own call"):
            load(-1)

    in_thread(ask)


def test_other_arguments_may_be_asked_within_a_call() -> None:
    @cache(ttl=1.0, name='sum')
    def total(n: int) -> Result[int, str]:
        return Success(n + total(n - 1).unwrap()) if n else Success(0)

    assert total(10) == Success(55)
    assert total(9) == Success(45)
    assert total(10) == Success(55)


def test_the_context_is_the_callers_and_its_changes_stay() -> None:
    who: ContextVar[str] = ContextVar('who', default='nobody')

    @cache(ttl=1.0, name='x')
    def load() -> Answer:
        before = who.get()
        who.set('changed')
        return Success(before)

    who.set('ada')
    assert load() == Success('ada')
    assert who.get() == 'changed'


def test_a_call_leaves_nothing_of_its_own_in_the_context() -> None:
    before = dict(copy_context().items())
    assert cache(ttl=1.0, name='x')(lambda: Success(1))() == Success(1)
    assert dict(copy_context().items()) == before


def test_the_observer_and_the_old_value_may_ask_the_cache() -> None:
    world = FakeWorld()
    seen: list[Answer] = []

    class Asks:
        def __del__(self) -> None:
            seen.append(load(2))

    @cache(ttl=1.0, stale_for=1.0, capacity=1, name='x', world=world)
    def load(uid: int) -> Answer:
        return Success(Asks() if uid == 1 else uid)

    load(1)
    load(3)
    assert seen == [Success(2)]


def waiting_on(asked: Asked) -> int:
    """Count the threads that run `SharedThreadCall.wait`."""
    import sys  # noqa: PLC0415 -- only here

    frames = [sys._current_frames().get(thread.ident or 0) for thread in asked._threads]
    return sum(
        any(
            f.f_code.co_qualname == SharedThreadCall.wait.__qualname__
            for f, _ in traceback.walk_stack(frame)
        )
        for frame in frames
        if frame
    )


def wait_until(is_so: Callable[[], bool]) -> None:
    pause = Event()
    for _ in range(5_000):
        if is_so():
            return
        pause.wait(0.001)
    pytest.fail('it did not come to that')


@pytest.mark.parametrize('waiting', [0, 3])
def test_a_defect_leaves_no_cycle_behind(waiting: int) -> None:
    begun, ends = Event(), Event()
    gone: list[weakref.ref[Defect]] = []

    @cache(ttl=10.0, name='x')
    def load() -> Answer:
        begun.set()
        assert ends.wait(10)
        raise Defect

    def call() -> None:
        try:
            load()
        except Defect as defect:
            gone.append(weakref.ref(defect))

    with nothing_collected():
        threads = [Thread(target=call) for _ in range(1 + waiting)]
        for thread in threads:
            thread.start()
        assert begun.wait(10)
        time.sleep(0.02)
        ends.set()
        for thread in threads:
            thread.join(10)
        assert [one() for one in gone] == [None] * (1 + waiting)
