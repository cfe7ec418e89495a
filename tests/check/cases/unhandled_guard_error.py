import asyncio
from functools import partial
from typing import TypeVar, assert_never

from seamwise import Category, Do, Failure, Result, Success, TaggedError, bind_async, catch, catch_all, collect, fallible, or_raise, tap_error
from seamwise._results.containers import is_failure, is_success
from seamwise.policies import (
    CircuitOpen, DeadlineExceeded, Guard, circuit, deadline, fallback, keyed, retry, retryable,
)
from seamwise.seams.http import HttpError, on


class A(TaggedError, category=Category.NOT_FOUND, message='a'):
    pass


class B(TaggedError, category=Category.CAPACITY, message='b'):
    pass


def a() -> Result[int, A]:
    return Failure(A())


async def later() -> Result[int, A]:
    return Failure(A())


E = TypeVar('E')

upstream = circuit(name='upstream')
quick = deadline(2.0)
both = circuit(name='both') >> deadline(1.0)


# case: falls through a match
def falls_through() -> int:
    match upstream.run_sync(a):  # finds: SW114
        case Success(value):
            return value
        case Failure(A()):
            return 1
    return 2


# case: an arm for it
def has_arm() -> int:
    match upstream.run_sync(a):
        case Success(value):
            return value
        case Failure(A()):
            return 1
        case Failure(CircuitOpen()):
            return 2


# case: an arm that uses any error
def any_error() -> str:
    match upstream.run_sync(a):
        case Success(value):
            return str(value)
        case Failure(error):
            return str(error)


# case: an arm that looks at no error
def no_look() -> str:
    match upstream.run_sync(a):  # finds: SW114
        case Success(value):
            return str(value)
        case Failure(_):
            return 'failed'


# case: an arm for all that is no success
def wildcard() -> str:
    match upstream.run_sync(a):  # finds: SW114
        case Success(value):
            return str(value)
        case _:
            return 'failed'


# case: two levels, closed
def two_levels() -> int:
    match upstream.run_sync(a):
        case Success(value):
            return value
        case Failure(error):
            match error:
                case A():
                    return 1
                case CircuitOpen():
                    return 2
                case _:
                    assert_never(error)


# case: two levels, where the inner one falls through
def inner_falls_through() -> int:
    match upstream.run_sync(a):  # finds: SW114
        case Success(value):
            return value
        case Failure(error):
            match error:
                case A():
                    return 1
    return 2


# case: two levels with a wildcard arm
def inner_wildcard() -> int:
    match upstream.run_sync(a):
        case Success(value):
            return value
        case Failure(error):
            match error:
                case A():
                    return 1
                case other:
                    return len(str(other))


# case: returned
def returned() -> Result[int, A | CircuitOpen]:
    return upstream.run_sync(a)


# case: returned by a name
def returned_by_name() -> Result[int, A | CircuitOpen]:
    found = upstream.run_sync(a)
    return found.map(lambda one: one + 1)


# case: returned early
def returned_early() -> Result[str, A | CircuitOpen]:
    found = upstream.run_sync(a)
    if isinstance(found, Failure):
        return found
    return Success(str(found.unwrap()))


# case: a chain of isinstance
def chain() -> int:
    found = upstream.run_sync(a)  # finds: SW114
    if isinstance(found, Success):
        return found.unwrap()
    error = found.failure()
    if isinstance(error, A):
        return 1
    return 2


# case: a chain of isinstance that checks for it
def chain_asks() -> int:
    found = upstream.run_sync(a)
    if isinstance(found, Success):
        return found.unwrap()
    error = found.failure()
    if isinstance(error, A):
        return 1
    if isinstance(error, CircuitOpen):
        return 2
    return 3


# case: a chain of isinstance that uses the remaining error
def chain_uses() -> str:
    found = upstream.run_sync(a)
    if is_success(found):
        return str(found.unwrap())
    error = found.failure()
    if isinstance(error, A):
        return 'a'
    return str(error)


# case: a chain where only the other one is used
def uses_other() -> str:
    found = upstream.run_sync(a)  # finds: SW114
    if is_failure(found):
        error = found.failure()
        if isinstance(error, A):
            return str(error)
        return 'failed'
    return str(found.unwrap())


# case: a default
def default() -> int:
    return upstream.run_sync(a).value_or(0)  # finds: SW114


# case: a catch
def caught() -> Result[int, A]:
    return catch(CircuitOpen, lambda error: Success(0))(upstream.run_sync(a))


# case: a catch of the other one, then a default
def caught_other() -> int:
    return catch(A, lambda error: Success(0))(upstream.run_sync(a)).value_or(1)  # finds: SW114


# case: a catch of everything
def handle(error: A | CircuitOpen) -> Success[int]:
    return Success(0)


def caught_all() -> Result[int, A]:
    return upstream.run_sync(a).lash(handle)


# case: altered
def altered() -> Result[int, B]:
    return upstream.run_sync(a).alt(lambda error: B())


# case: an adapter
ANSWERS = on(A).responds(404, 'A') | on(CircuitOpen).responds(503, 'OPEN')


def adapted() -> HttpError | int:
    match upstream.run_sync(a):
        case Success(value):
            return value
        case Failure(error):
            return ANSWERS(error)


# case: direct style
@fallible
def direct(do: Do[A | CircuitOpen]) -> int:
    return do(upstream.run_sync(a))


# case: out by an exception
def raised() -> int:
    return or_raise(upstream.run_sync(a))


# case: discarded on purpose
def meant() -> None:
    _ = upstream.run_sync(a)


# case: looked at, and left
def looked() -> int:
    return tap_error(upstream.run_sync(a), print).value_or(0)


# case: stored
class Keeper:
    def __init__(self) -> None:
        self.last = upstream.run_sync(a)


# case: passed to a function
def show(result: Result[int, A | CircuitOpen]) -> None:
    print(result)


def handed() -> None:
    show(upstream.run_sync(a))


# case: in a task
async def awaited() -> int:
    match await quick.run(later):  # finds: SW114
        case Success(value):
            return value
        case Failure(A()):
            return 1
    return 2


# case: in a task, with an arm for it
async def awaited_arm() -> int:
    match await quick.run(later):
        case Success(value):
            return value
        case Failure(A()):
            return 1
        case Failure(DeadlineExceeded()):
            return 2


# case: two guards, with one error handled
def half() -> int:
    match both.run_sync(a):  # finds: SW114
        case Success(value):
            return value
        case Failure(A() | CircuitOpen()):
            return 1
    return 2


# case: a retry adds nothing
def only_retry() -> int:
    match retry().run_sync(a):
        case Success(value):
            return value
        case Failure(A()):
            return 1


# case: collected, and returned
def collected() -> Result[tuple[int, int], A | CircuitOpen]:
    return collect(upstream.run_sync(a), a())


# case: bound later
async def step(number: int) -> Result[int, B]:
    return Success(number)


async def bound_later() -> Result[int, A | B | DeadlineExceeded]:
    return await bind_async(await quick.run(later), step)


# case: under a condition only
def condition() -> bool:
    return isinstance(upstream.run_sync(a), Success)  # finds: SW114


# case: a condition, and then the value
def checked() -> int:
    found = upstream.run_sync(a)  # finds: SW114
    if is_failure(found):
        return 0
    return found.unwrap()


# case: a decorator, and no caller that looks
@upstream  # finds: SW114
def fetch() -> Result[int, A]:
    return Failure(A())


def calls_fetch() -> int:
    match fetch():
        case Success(value):
            return value
        case Failure(A()):
            return 1
    return 2


# case: a decorator, and a caller that handles it
@upstream
def fetch_well() -> Result[int, A]:
    return Failure(A())


def calls_fetch_well() -> int:
    match fetch_well():
        case Success(value):
            return value
        case Failure(A()):
            return 1
        case Failure(CircuitOpen()):
            return 2


# case: a decorator, and a caller that declares it
@upstream
def fetch_on() -> Result[int, A]:
    return Failure(A())


def calls_fetch_on() -> Result[int, A | CircuitOpen]:
    return fetch_on()


# case: a decorator without callers
@upstream
def fetch_alone() -> Result[int, A]:
    return Failure(A())


# case: a decorator of a method
class Client:
    @upstream  # finds: SW114
    def fetch(self) -> Result[int, A]:
        return Failure(A())

    def total(self) -> int:
        return self.fetch().value_or(0)


# case: yielded
def yields():
    yield upstream.run_sync(a)


# case: in a list
def listed() -> list[Result[int, A | CircuitOpen]]:
    return [upstream.run_sync(a) for _ in range(3)]


# case: in a lambda passed as an argument
def in_lambda() -> int:
    return a().bind(lambda number: upstream.run_sync(a)).value_or(0)  # finds: SW114


# case: in a lambda with a result that is used
def in_lambda_on() -> Result[int, A | CircuitOpen]:
    return a().bind(lambda number: upstream.run_sync(a))


# case: one guard inside of another
async def one_inside() -> int:
    match await quick.run(lambda: retry().run(lambda: quick.run(later))):  # finds: SW114
        case Success(value):
            return value
        case Failure(A()):
            return 1
    return 2


# case: many at once
def many_at_once(numbers: list[int]) -> int:
    return len(collect(upstream.run_sync(a) for _ in numbers).value_or(()))  # finds: SW114


# case: checked by its type
def by_type() -> int:
    found = upstream.run_sync(a)
    if is_failure(found) and type(found.failure()) is CircuitOpen:
        return 1
    return 0


# case: at the top level of a file, for others
LAST = upstream.run_sync(a)


# case: errors replaced by a fallback
def answered() -> int:
    return (fallback(lambda error: Success(1)) >> upstream).run_sync(a).value_or(0)


# case: errors replaced by a conditional fallback
def answered_sometimes() -> int:
    guard = fallback(lambda error: Success(1), when=retryable) >> upstream
    return guard.run_sync(a).value_or(0)  # finds: SW114


# case: a key of one's own for each call
def with_key() -> int:
    return keyed(upstream).run_sync(lambda key: a()).value_or(0)  # finds: SW114


# case: decorated by a call
by_hand = upstream(a)  # finds: SW114


def calls_by_hand() -> int:
    return by_hand().value_or(0)


# case: a guard of an object
class Keeps:
    def __init__(self, guard: Guard[CircuitOpen]) -> None:
        self._guard = guard

    def total(self) -> int:
        return self._guard.run_sync(a).value_or(0)  # finds: SW114

    def fetch(self) -> Result[int, A | CircuitOpen]:
        return self._guard.run_sync(a)


# case: any guard
def any_guard(guard: Guard[E]) -> int:
    return guard.run_sync(a).value_or(0)
