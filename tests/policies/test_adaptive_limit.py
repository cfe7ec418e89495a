"""A limit that finds itself goes up while calls are quick, and down when they are slow or fail."""

from collections.abc import Callable
from contextlib import suppress
from math import inf, nan
from typing import Any

import pytest
from typing_extensions import override

from seamwise import Category, Failure, Result, Success, TaggedError
from seamwise.policies._parts.adaptive_limit import AdaptiveLimit, adaptive
from seamwise.policies.bulkhead import bulkhead
from seamwise.policies.errors import BulkheadFull
from seamwise.policies.testing import FakeWorld
from tests.policies.errors import Down, Wrong


class Calls:
    """Tells a learner of calls one after the other."""

    def __init__(self, learner: AdaptiveLimit) -> None:
        self.learner = learner
        self.now = 0.0

    def take(self, *seconds: float, inside: int = 1000) -> int:
        for took in seconds:
            began, self.now = self.now, self.now + took
            self.learner.on_success(began, self.now, inside)
        return self.learner.limit

    def fail(self, seconds: float = 1.0) -> int:
        began, self.now = self.now, self.now + seconds
        self.learner.on_failure(began, self.now)
        return self.learner.limit


def aimd(minimum: int = 1, maximum: int = 100, **more: Any) -> Calls:
    return Calls(adaptive(minimum, maximum, **more).new_limit())


def gradient(minimum: int = 1, maximum: int = 100, **more: Any) -> Calls:
    return Calls(adaptive(minimum, maximum, by='gradient', **more).new_limit())


def test_it_begins_with_the_least_where_nobody_says() -> None:
    assert adaptive(3, 9).new_limit().limit == 3
    assert adaptive(3, 9, start=7).new_limit().limit == 7


def test_a_round_in_time_raises_it_by_one() -> None:
    calls = aimd(start=12)
    assert calls.take(*[1.0] * 11) == 12
    assert calls.take(1.0) == 13
    assert calls.take(*[1.0] * 12) == 13
    assert calls.take(1.0) == 14


def test_a_round_is_of_ten_calls_at_least() -> None:
    calls = aimd(start=2)
    assert calls.take(*[1.0] * 9) == 2
    assert calls.take(1.0) == 3


def test_it_rises_only_where_half_of_it_is_in_use() -> None:
    calls = aimd(start=10)
    assert calls.take(*[1.0] * 50, inside=4) == 10
    assert calls.take(*[1.0] * 9, inside=4) == 10
    assert calls.take(1.0, inside=5) == 11


def test_how_much_of_it_was_in_use_before_a_round_does_not_count() -> None:
    calls = aimd(start=10)
    assert calls.take(*[1.0] * 10, inside=10) == 11
    assert calls.take(*[1.0] * 11, inside=5) == 11


def test_it_stays_between_its_bounds() -> None:
    calls = aimd(4, 6)
    assert calls.take(*[1.0] * 100) == 6
    for _ in range(100):
        assert calls.fail() >= 4
    assert calls.learner.limit == 4


def test_a_round_of_more_than_twice_the_usual_time_takes_a_tenth_off() -> None:
    calls = aimd(start=50, maximum=50)
    calls.take(*[1.0] * 50)
    assert calls.take(*[2.0] * 50) == 50
    assert calls.take(*[2.0] * 49) == 50
    assert calls.take(2.1) == 45


def test_one_slow_call_among_many_says_little() -> None:
    calls = aimd(start=50, maximum=50)
    assert calls.take(*[1.0] * 50, 40.0, *[1.0] * 49) == 50


def test_slow_is_what_somebody_said() -> None:
    calls = aimd(start=50, maximum=50, slow=0.5)
    assert calls.take(*[0.5] * 50) == 50
    assert calls.take(*[0.51] * 50) == 45


def test_of_calls_that_began_before_a_cut_none_cuts_again() -> None:
    learner = adaptive(1, 100, start=100).new_limit()
    for _ in range(20):
        learner.on_failure(started_at=0.0, ended_at=5.0)
    assert learner.limit == 90
    learner.on_failure(started_at=4.999, ended_at=6.0)
    assert learner.limit == 90
    learner.on_failure(started_at=5.0, ended_at=6.0)
    assert learner.limit == 81


def test_a_call_that_began_before_a_round_is_not_of_it() -> None:
    learner = adaptive(1, 100, start=20).new_limit()
    learner.on_failure(started_at=0.0, ended_at=5.0)
    for _ in range(100):
        learner.on_success(4.0, 6.0, 20)
    assert learner.limit == 18
    for _ in range(18):
        learner.on_success(5.0, 6.0, 20)
    assert learner.limit == 19


def test_a_clock_that_goes_back_does_not_keep_it_from_going_down() -> None:
    learner = adaptive(1, 100, start=100).new_limit()
    learner.on_failure(started_at=5000.0, ended_at=5001.0)
    learner.on_failure(started_at=1.0, ended_at=2.0)
    assert learner.limit == 81


@pytest.mark.parametrize('make', [aimd, gradient])
def test_a_clock_that_stands_still_or_goes_back_teaches_nothing(make: Callable[..., Calls]) -> None:
    calls = make(start=20)
    assert calls.take(*[0.0] * 100, *[-1.0] * 100) == 20
    calls.now = 1000.0
    assert calls.take(*[1.0] * 19) == 20
    calls.take(1.0)
    assert calls.learner._exact > 20


def test_every_fiftieth_round_is_followed_by_one_with_half_the_limit_and_the_same_again() -> None:
    calls = aimd(40, 400)
    limits = [calls.learner.limit]
    while len(limits) < 103:
        before = calls.learner._round_from
        while calls.learner._round_from == before:
            calls.take(1.0)
        limits.append(calls.learner.limit)
    assert limits[:50] == list(range(40, 90))
    assert limits[50:53] == [45, 90, 91]
    assert limits[101:103] == [70, 140]


def test_a_probe_finds_out_that_calls_take_longer_now() -> None:
    calls = aimd(1, 1)
    calls.take(*[1.0] * 10 * 49)
    calls.take(*[5.0] * 20)
    assert calls.learner._usual == 5.0


def test_a_probe_that_fails_is_none() -> None:
    calls = aimd(start=100, maximum=100)
    calls.take(*[1.0] * 100 * 50)
    assert calls.learner.limit == 50
    assert calls.fail() == 45
    calls.take(*[1.0] * 45)
    assert calls.learner.limit == 46


def test_a_gradient_leaves_the_root_of_itself_for_a_queue() -> None:
    calls = gradient(start=16)
    calls.take(*[1.0] * 16)
    assert calls.learner._exact == pytest.approx(16 + 4 * 0.2)


def test_a_gradient_follows_the_usual_time_by_that_of_a_round() -> None:
    calls = gradient(start=100, maximum=100)
    calls.take(*[1.0] * 100)
    calls.take(*[2.0] * 100)
    assert calls.learner._exact == pytest.approx(80 + 0.2 * (100 * 1.5 / 2 + 10))


def test_one_round_takes_at_most_a_tenth_off_a_gradient() -> None:
    calls = gradient(start=100, maximum=100)
    calls.take(*[1.0] * 100)
    calls.take(*[1000.0] * 100)
    assert calls.learner._exact == pytest.approx(80 + 0.2 * (50 + 10))


def test_a_gradient_moves_only_where_half_of_it_is_in_use() -> None:
    calls = gradient(start=10)
    calls.take(*[1.0] * 10, inside=4)
    assert calls.learner._exact == 10.0
    calls.take(*[1.0] * 10, inside=5)
    assert calls.learner._exact > 10.0


@pytest.mark.parametrize('by', ['aimd', 'gradient'])
def test_it_finds_what_a_service_can_do(by: Any) -> None:
    """Up to 20 calls take 0.1 s each; with more they queue, and all take longer in proportion."""
    calls = Calls(adaptive(1, 200, by=by).new_limit())
    found: list[int] = []
    for _ in range(600):
        at_once = calls.learner.limit
        began, calls.now = calls.now, calls.now + 0.1 * max(1.0, at_once / 20)
        for _ in range(at_once):
            calls.learner.on_success(began, calls.now, at_once)
        found.append(calls.learner.limit)
    assert min(found[300:]) >= 15
    assert max(found[300:]) <= 45


class Busy:
    """A bulkhead whose calls take as long as the test says."""

    def __init__(self, **more: Any) -> None:
        self.world = FakeWorld()
        self.user = ''
        self.guard = bulkhead(
            adaptive(1, 100, start=10), name='x', key=lambda: self.user, world=self.world, **more
        )

    def call(self, outcome: Any, seconds: float = 1.0) -> None:
        def op() -> Any:
            self.world.advance(seconds)
            if isinstance(outcome, BaseException):
                raise outcome
            return outcome

        with suppress(ZeroDivisionError, KeyboardInterrupt):
            self.guard.run_sync(op)

    def limit(self) -> int:
        errors: list[BulkheadFull] = []

        def op(depth: int) -> Result[int, BulkheadFull]:
            result: Result[int, BulkheadFull] = self.guard.run_sync(lambda: op(depth + 1))
            if isinstance(result, Failure) and not errors:
                errors.append(result.swap().unwrap())
            return Success(depth)

        op(0)
        return errors[0].limit


def test_a_bulkhead_lets_in_as_many_as_were_learned() -> None:
    busy = Busy()
    assert busy.limit() == 10
    busy.call(Failure(Down()))
    assert busy.limit() == 9


@pytest.mark.parametrize(
    'outcome',
    [
        Failure(Wrong()),
        Failure('text'),
        Failure(('a', 1)),
        ZeroDivisionError(),
        KeyboardInterrupt(),
        Success(1),
    ],
)
def test_what_does_not_speak_against_what_is_called_takes_nothing_off(outcome: object) -> None:
    busy = Busy()
    busy.call(outcome, seconds=1000.0)
    assert busy.limit() == 10


def test_a_round_of_successes_raises_the_limit_of_a_bulkhead() -> None:
    busy = Busy()
    for _ in range(9):
        busy.call(Success(1))
    assert busy.limit() == 10
    # One at a time is less than half of ten.
    busy.call(Success(1))
    assert busy.limit() == 10
    world = FakeWorld()
    guard = bulkhead(adaptive(1, 2), name='x', world=world)

    def op() -> Success[int]:
        world.advance(1.0)
        return Success(1)

    for _ in range(10):
        assert guard.run_sync(lambda: guard.run_sync(op)) == Failure(
            BulkheadFull('x', 'tool', '', 1, 0.0)
        )
    for _ in range(10):
        assert guard.run_sync(op) == Success(1)
    assert guard.run_sync(lambda: guard.run_sync(op)) == Success(1)


class Faulty(TaggedError, category=Category.TIMEOUT):
    """An error whose own property raises."""

    @property
    @override
    def category(self) -> Category:
        raise LookupError


def test_a_defect_in_an_error_gives_the_permit_back() -> None:
    guard = bulkhead(adaptive(1, 1), name='x')
    for _ in range(2):
        with pytest.raises(LookupError):
            guard.run_sync(lambda: Failure(Faulty()))
    assert guard.run_sync(lambda: Success(1)) == Success(1)


def test_each_key_learns_for_itself_and_keeps_it_while_nobody_is_there() -> None:
    busy = Busy()
    busy.user = 'a'
    busy.call(Failure(Down()))
    busy.user = 'b'
    assert busy.limit() == 10
    busy.user = 'a'
    assert busy.limit() == 9
    (layer,) = busy.guard._layers
    assert vars(layer)['_compartments'] == {}


def test_of_too_many_keys_the_one_that_left_first_is_forgotten() -> None:
    busy = Busy()
    for number in range(10_001):
        busy.user = f'{number}'
        busy.call(Failure(Down()))
    (layer,) = busy.guard._layers
    assert len(vars(layer)['_stored_limits']) == 10_000
    busy.user = '0'
    assert busy.limit() == 10
    busy.user = '2'
    assert busy.limit() == 9


@pytest.mark.parametrize(
    ('wrong', 'kind', 'message'),
    [
        ({'minimum': 0}, ValueError, 'minimum must be 1 or more'),
        ({'minimum': 1.5}, TypeError, 'minimum must be a whole number'),
        ({'maximum': 2}, ValueError, 'maximum must be 3 or more'),
        ({'by': 'guess'}, ValueError, "by must be one of 'aimd', 'gradient', not 'guess'"),
        ({'start': 2}, ValueError, 'start must be between minimum and maximum, 3 and 9, not 2'),
        ({'start': 10}, ValueError, 'start must be'),
        ({'start': 4.5}, TypeError, 'start must be a whole number'),
        ({'slow': 0}, ValueError, 'slow must be a finite number, more than 0'),
        ({'slow': nan}, ValueError, 'slow must be'),
        ({'slow': inf}, ValueError, 'slow must be'),
        ({'slow': 1.1e9}, ValueError, 'slow must be'),
        ({'slow': 1, 'by': 'gradient'}, ValueError, 'slow is for aimd'),
    ],
)
def test_what_cannot_be_meant_is_refused_when_it_is_made(
    wrong: dict[str, Any], kind: type[Exception], message: str
) -> None:
    given: dict[str, Any] = {'minimum': 3, 'maximum': 9}
    with pytest.raises(kind, match=f'^{message}'):
        adaptive(**given | wrong)


def test_the_narrowest_bounds_that_can_be_meant_work() -> None:
    assert str(adaptive(1, 1, start=1)) == '1 to 1 (aimd)'
    assert str(adaptive(3, 9, start=9, by='gradient')) == '3 to 9 (gradient)'
    assert adaptive(3, 9, start=3, slow=1e9).slow == 1e9
