import asyncio
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Generic, Literal, Protocol, TypeAlias, TypeVar, overload

from seamwise import (
    Category, Do, Failure, Result, Success, TaggedError, accumulate, attempt, bind_async, catch, catch_all,
    collect, collect_async, fallible, flow, from_returns, map_async, partition, refine, tap, tap_error, when,
)
from seamwise._results.many import OneOrMore
from seamwise.policies import CircuitOpen, circuit, keyed


class A(TaggedError, category=Category.NOT_FOUND, message='a'):
    pass


class B(TaggedError, category=Category.CAPACITY, message='b'):
    pass


class C(TaggedError, category=Category.VALIDATION, message='c'):
    text: str = ''


class Base(TaggedError, category=Category.VALIDATION, message='base'):
    pass


class Leaf(Base, category=Category.VALIDATION, message='leaf'):
    pass


AB: TypeAlias = A | B
T = TypeVar('T')
E = TypeVar('E')


def a() -> Result[int, A]:
    return Failure(A())


def b(number: int) -> Result[int, B]:
    return Failure(B())


def ab(number: int = 0) -> Result[int, A | B]:
    if number:
        return Failure(A())
    return Failure(B())


async def later_a() -> Result[int, A]:
    return Failure(A())


async def later_b(number: int) -> Result[int, B]:
    return Failure(B())


# case: one too many
def too_many(text: str) -> Result[int, A | B]:  # finds: SW105
    return Success(1) if text else Failure(A())


# case: both are made
def both(text: str) -> Result[int, A | B]:
    if text:
        return Failure(A())
    return Failure(B())


# case: in one expression
def ternary(text: str) -> Result[int, A | B]:
    return Failure(A() if text else B())


# case: no failure at all
def never(text: str) -> Result[int, A]:  # finds: SW105
    return Success(len(text))


# case: a channel that is declared to be empty
def empty(text: str) -> Result[int, str]:
    return Failure(text)


# case: an alias
def alias(text: str) -> Result[int, AB]:  # finds: SW105
    return Success(1) if text else Failure(A())


# case: a callee returns the errors that it declares
def through() -> Result[int, A | B]:
    return ab()


# case: one wide function, and its caller
def wide() -> Result[int, A | B]:  # finds: SW105
    return a()


def caller_of_wide() -> Result[int, A | B]:
    return wide()


# case: bound steps
def bound() -> Result[int, A | B]:
    return a().bind(b)


# case: bound steps, one too many
def bound_too_many() -> Result[int, A | B | C]:  # finds: SW105
    return a().bind(b)


# case: a lambda as a step
def lambda_step() -> Result[int, A | B | C]:
    return a().bind(lambda one: b(one) if one else Failure(C()))


# case: a lambda as a step, one too many
def lambda_too_many() -> Result[int, A | B | C]:  # finds: SW105
    return a().bind(lambda one: b(one))


# case: mapped
def mapped() -> Result[str, A | B]:  # finds: SW105
    return a().map(str)


# case: lashed
def lashed() -> Result[int, A | B]:  # finds: SW105
    return a().lash(lambda error: b(1))


# case: altered
def altered() -> Result[int, A | C]:  # finds: SW105
    return a().alt(lambda error: C())


# case: altered by a class
def altered_by_class() -> Result[int, C]:
    return a().alt(lambda error: C('x'))


# case: a catch
def caught() -> Result[int, B | C]:
    return catch(A, lambda error: Failure(C()))(ab())


# case: a catch that removes all errors
def caught_too_many() -> Result[int, A | B]:  # finds: SW105
    return catch(A, lambda error: Success(1))(ab())


# case: a catch under a name
def caught_by_name() -> Result[int, A | B]:  # finds: SW105
    step = catch(A, lambda error: Success(1))
    return step(ab())


# case: a catch of two
def caught_two() -> Result[int, A | C]:  # finds: SW105
    return catch((A, B), lambda error: Failure(C()))(ab())


# case: catch all
def to_c(error: A | B) -> Failure[C]:
    return Failure(C())


def caught_all() -> Result[int, A | C]:  # finds: SW105
    return catch_all(to_c)(ab())


# case: a flow
def flowing(number: int) -> Result[int, A | B]:
    return flow(number, lambda one: a(), b)


# case: a flow, one too many
def flowing_too_many(number: int) -> Result[int, A | B | C]:  # finds: SW105
    return flow(number, b, lambda one: a())


# case: collected
def collected() -> Result[tuple[int, int], A | B]:
    return collect(a(), b(1))


# case: collected, one too many
def collected_too_many() -> Result[tuple[int, int], A | B | C]:  # finds: SW105
    return collect(a(), b(1))


# case: collected from a comprehension
def collected_all(numbers: list[int]) -> Result[tuple[int, ...], A | B]:  # finds: SW105
    return collect(b(one) for one in numbers)


# case: accumulated
def accumulated() -> Result[tuple[int, int], OneOrMore[A | B]]:
    return accumulate(a(), b(1))


# case: accumulated, one too many
def accumulated_too_many() -> Result[tuple[int, int], OneOrMore[A | B | C]]:  # finds: SW105
    return accumulate(a(), b(1))


# case: tapped
def tapped() -> Result[int, A | B]:  # finds: SW105
    return tap_error(tap(a(), print), print)


# case: direct style
@fallible
def direct(do: Do[A | B], number: int) -> int:
    do(a())
    return do(b(number))


# case: direct style, one too many
@fallible
def direct_too_many(do: Do[A | B | C], number: int) -> int:  # finds: SW105
    if number:
        do.fail(A())
    return do(b(number))


# case: direct style of a coroutine
@fallible
async def direct_later(do: Do[A | B], number: int) -> int:
    do(await later_a())
    return do(await later_b(number))


# case: direct style of a coroutine, one too many
@fallible
async def direct_later_too_many(do: Do[A | B | C], number: int) -> int:  # finds: SW105
    do(await later_a())
    return do(await later_b(number))


# case: direct style in a function inside
@fallible
def direct_inside(do: Do[A | B], numbers: list[int]) -> list[int]:
    def one(number: int) -> int:
        return do(b(number)) + do(a())

    return [one(number) for number in numbers]


def helper(do: Do[B], number: int) -> int:
    return do(b(number))


# case: direct style with a helper
@fallible
def direct_helped(do: Do[A | B], number: int) -> int:
    do(a())
    return helper(do, number)


# case: direct style with a helper, one too many
@fallible
def direct_helped_too_many(do: Do[A | B | C], number: int) -> int:  # finds: SW105
    do(a())
    return helper(do, number)


# case: direct style, passed to an untyped function
@fallible
def direct_away(do: Do[A | B], number: int) -> int:
    holder = [do]
    return holder[0](a())


# case: direct style of a method
class Service:
    @fallible
    def run(self, do: Do[A | B], number: int) -> int:  # finds: SW105
        return do(b(number))


# case: a coroutine
async def later() -> Result[int, A | B]:  # finds: SW105
    return await later_a()


# case: bound later
async def bound_later() -> Result[int, A | B]:
    return await bind_async(await later_a(), later_b)


# case: bound later, one too many
async def bound_later_too_many() -> Result[int, A | B | C]:  # finds: SW105
    return await bind_async(await later_a(), later_b)


# case: gathered later
async def gathered() -> Result[tuple[int, int], A | B | C]:  # finds: SW105
    return await collect_async(later_a(), later_b(1))


# case: a local name
def local(text: str) -> Result[int, A | B]:  # finds: SW105
    found = a()
    return found


# case: a local name that is assigned twice
def local_twice(text: str) -> Result[int, A | B]:
    found: Result[int, A | B] = a()
    if text:
        found = b(1)
    return found


# case: narrowed
def narrowed(text: str) -> Result[int, A | B]:  # finds: SW105
    found = ab()
    match found:
        case Success(_):
            return found
        case Failure(error):
            match error:
                case A():
                    return Success(1)
                case B():
                    return Failure(error)


# case: the error of an arm
def arms(text: str) -> Result[int, A | B]:
    match ab():
        case Success(value):
            return Success(value)
        case Failure(error):
            return Failure(error)


# case: an early return
def early() -> Result[str, A | B]:
    first = a()
    if isinstance(first, Failure):
        return first
    second = b(first.unwrap())
    if isinstance(second, Failure):
        return second
    return Success('done')


# case: an early return, one too many
def early_too_many() -> Result[str, A | B | C]:  # finds: SW105
    first = a()
    if isinstance(first, Failure):
        return first
    second = b(first.unwrap())
    if isinstance(second, Failure):
        return second
    return Success('done')


# case: the error taken out
def taken_out() -> Result[str, A | B]:  # finds: SW105
    first = a()
    if isinstance(first, Failure):
        return Failure(first.failure())
    return Success('done')


# case: a base class in the channel
def base(text: str) -> Result[int, Base]:
    return Failure(Leaf()) if text else Success(1)


# case: a parameter
def given(result: Result[int, A | B]) -> Result[int, A | B]:
    return result


# case: a parameter with an error
def given_error(error: A | B) -> Result[int, A | B]:
    return Failure(error)


# case: a parameter with an error, one too many
def given_error_too_many(error: A) -> Result[int, A | B]:  # finds: SW105
    return Failure(error)


# case: a function passed as an argument
def handed(call: Callable[[], Result[int, A | B]]) -> Result[int, A | B]:
    return call()


# case: generic
def generic(call: Callable[[], Result[T, E]]) -> Result[T, E | A]:
    return Failure(A()) if call is None else call()


# case: generic, one too many
def generic_too_many(call: Callable[[], Result[T, E]]) -> Result[T, E | A]:  # finds: SW105
    return call()


# case: the result of a generic function
def of_generic() -> Result[int, A | B | C]:  # finds: SW105
    return generic(lambda: b(1))


# case: an abstract method
class Store(ABC):
    @abstractmethod
    def load(self) -> Result[int, A | B]: ...


# case: a protocol
class Loads(Protocol):
    def load_all(self) -> Result[int, A | B]: ...


# case: a method that another one overrides
class Cautious:
    def load(self) -> Result[int, A | B]:
        return Success(1)


class Bold(Cautious):
    def load(self) -> Result[int, A | B]:
        return ab()


# case: a method with an override that does not create it either
class Quiet:
    def load(self) -> Result[int, A | B]:  # finds: SW105
        return a()


class Quieter(Quiet):
    def load(self) -> Result[int, A]:
        return a()


# case: a method as its base class declares it
class Remote(ABC):
    @abstractmethod
    async def fetch(self, number: int) -> Result[int, A | B]: ...

    @property
    @abstractmethod
    def last(self) -> Result[int, A | B]: ...


class Near(Remote):
    async def fetch(self, number: int) -> Result[int, A | B]:
        return await later_a()

    @property
    def last(self) -> Result[int, A | B]:
        return a()


# case: a method as a base class declares it further up, and with its type argument
class Shelf(ABC, Generic[E]):
    @abstractmethod
    def take(self) -> Result[int, E]: ...


class Board(Shelf[A | B]):
    pass


class Plank(Board):
    def take(self) -> Result[int, A | B]:
        return a()


# case: a method that declares more than its base class
class Narrow(ABC):
    @abstractmethod
    def take(self) -> Result[int, A | B] | int: ...

    def leave(self) -> 'Result[int, TaggedError]':
        return a()


class Wider(Narrow):
    def take(self) -> Result[int, A | B]:
        return a()

    def leave(self) -> Result[int, A | B]:  # finds: SW105
        return a()


# case: a method as the protocol of its class declares it
class Keeps(Protocol):
    def keep(self, number: int) -> Result[int, A | B]: ...
    def drop(self) -> None: ...


class Keeper:
    def keep(self, number: int) -> Result[int, A | B]:
        return b(number)

    def drop(self) -> None:
        pass


# case: a method of a class that lacks another method of the protocol
class HalfKeeper:
    def keep(self, number: int) -> Result[int, A | B]:  # finds: SW105
        return b(number)


# case: a method that declares an error which the protocol does not
class EagerKeeper:
    def keep(self, number: int) -> Result[int, B | C]:  # finds: SW105
        return b(number)

    def drop(self) -> None:
        pass


# case: a stub
def stub() -> Result[int, A]:
    raise NotImplementedError


# case: overloads
@overload
def loaded(text: str) -> Result[str, A]: ...
@overload
def loaded(text: int) -> Result[int, A]: ...
def loaded(text: str | int) -> Result[str, A] | Result[int, A]:
    return Failure(A())


# case: an attempt
def attempted(text: str) -> Result[int, C]:
    return attempt(lambda: int(text), when(ValueError).becomes(lambda raised: C(text)))


# case: an attempt, one too many
def attempted_too_many(text: str) -> Result[int, C | A]:  # finds: SW105
    return attempt(lambda: int(text), when(ValueError).becomes(lambda raised: C(text)))


# case: an attempt by rules that have a name
RULES = when(ValueError).becomes(lambda raised: C(str(raised))) | when(OSError).becomes(lambda raised: A())


def attempted_by_rules(text: str) -> Result[int, C | A]:
    return attempt(lambda: int(text), RULES)


# case: refined
def classify(raised: Exception) -> Failure[C] | None:
    return Failure(C()) if isinstance(raised, ValueError) else None


def refined(text: str) -> Result[int, C | A]:  # finds: SW105
    return refine(lambda: int(text), classify)


upstream = circuit(name='upstream')


# case: a guard
def guarded() -> Result[int, A | CircuitOpen]:
    return upstream.run_sync(a)


# case: a guard, one too many
def guarded_too_many() -> Result[int, A | B | CircuitOpen]:  # finds: SW105
    return upstream.run_sync(a)


# case: a guard as a decorator
@upstream
def decorated() -> Result[int, A | B]:  # finds: SW105
    return a()


# case: errors added by the decorator of a guard
def of_decorated() -> Result[int, A | B | CircuitOpen]:
    return decorated()


# case: recursion
def again(number: int) -> Result[int, A | B]:  # finds: SW105
    if number:
        return again(number - 1)
    return Failure(A())


# case: two that call one another
def ping(number: int) -> Result[int, A | B]:
    return pong(number) if number else Failure(A())


def pong(number: int) -> Result[int, A | B]:
    return ping(number) if number else Failure(B())


# case: a function inside
def outer() -> Result[int, A | B]:
    def inner() -> Result[int, B]:
        return b(1)

    return a().bind(lambda number: inner())


# case: a function inside that is too wide
def outer_of_wide() -> Result[int, A]:
    def inner() -> Result[int, A | B]:  # finds: SW105
        return a()

    return catch(B, lambda error: Success(1))(inner())


# case: partial
def partially() -> Result[int, B | A]:  # finds: SW105
    step = partial(b, 1)
    return step()


# case: words as errors
def words(text: str) -> Result[int, Literal['empty', 'long']]:
    return Failure('empty') if not text else Success(1)


# case: an untyped value
def unknown(given) -> Result[int, A | B]:
    return given.load()


# case: a constant
MISSING = Failure(A())


def constant() -> Result[int, A | B]:  # finds: SW105
    return MISSING


# case: in a loop
def looping(numbers: list[int]) -> Result[int, A | B]:
    last: Result[int, A | B] = a()
    for number in numbers:
        last = last.bind(b)
    return last


# case: an error converted from an exception
def excepting(text: str) -> Result[int, A | C]:  # finds: SW105
    try:
        return Success(int(text))
    except ValueError:
        return Failure(C(text))


# case: out of a list
def out_of_list(results: list[Result[int, A | B]]) -> Result[int, A | B]:
    return results[0]


# case: an attribute
class Holder:
    result: Result[int, A | B] = Success(1)

    def get(self) -> Result[int, A | B]:
        return self.result


# case: a generic class
class Box(Generic[E]):
    def __init__(self, error: E) -> None:
        self.error = error

    def open(self) -> Result[int, E]:
        return Failure(self.error)


def of_box(box: Box[A]) -> Result[int, A | B]:  # finds: SW105
    return box.open()


# case: walrus
def walrus() -> Result[int, A | B]:  # finds: SW105
    if isinstance(found := a(), Failure):
        return found
    return Success(2)


# case: partitioned
def parted(numbers: list[int]) -> Result[int, A | B]:  # finds: SW105
    values, errors = partition(b(one) for one in numbers)
    return Failure(errors[0]) if errors else Success(sum(values))


# case: a type variable with a bound
Bound = TypeVar('Bound', bound=TaggedError)


def refused(error: Bound) -> Result[int, Bound]:
    return Failure(error)


def of_bound() -> Result[int, A | B]:  # finds: SW105
    return refused(A())


def of_bound_both(error: A | B) -> Result[int, A | B]:
    return refused(error)


# case: a type variable of two, one too many
Either = TypeVar('Either', A, B)


def of_either(error: Either) -> Result[int, Either | C]:  # finds: SW105
    return Failure(error)


# case: an error class passed as an argument
def required(value: int | None, kind: type[E]) -> Result[int, E]:
    return Success(value) if value is not None else Failure(kind())


def of_kind(value: int | None) -> Result[int, A | B]:  # finds: SW105
    return required(value, A)


# case: an error and a result, both of one type variable
def first_of(result: Result[int, E], others: list[E]) -> Result[int, E]:
    return Failure(others[0]) if others else result


def of_first() -> Result[int, A | B]:
    return first_of(a(), [B()])


# case: results in a list, passed to a generic function
def unpacked(results: list[Result[T, E]]) -> Result[list[T], E]:
    values: list[T] = []
    for result in results:
        if isinstance(result, Failure):
            return result
        values.append(result.unwrap())
    return Success(values)


def of_unpacked() -> Result[list[int], A | B]:  # finds: SW105
    return unpacked([a(), a()])


# case: collected from a parameter, a map, a starred list, a gather
def collected_given(*results: Result[int, A]) -> Result[tuple[int, ...], A | B]:  # finds: SW105
    return collect(results)


def collected_mapped(numbers: list[int]) -> Result[tuple[int, ...], A | B]:  # finds: SW105
    return collect(map(b, numbers))


def collected_starred(numbers: list[int]) -> Result[tuple[int, ...], A | B | C]:  # finds: SW105
    return collect([*(b(one) for one in numbers), a()])


async def collected_gathered(numbers: list[int]) -> Result[tuple[int, ...], A | B]:  # finds: SW105
    return collect(await asyncio.gather(*(later_b(one) for one in numbers)))


# case: behind a loop that never ends so
def behind_loop(number: int) -> Result[int, A | B]:  # finds: SW105
    while number:
        number -= 1
    else:
        return a()
    return Success(1)


# case: a key of one's own for each call
kept = keyed(circuit(name='kept'))


def with_key() -> Result[int, A | B | CircuitOpen]:  # finds: SW105
    return kept.run_sync(lambda key: a())


# case: a service with a repository, in all its forms
class Repository(Protocol):
    async def find(self, number: int) -> Result[int, A | B]: ...


class InMemory:
    @property
    def last(self) -> Result[int, A | B]:  # finds: SW105
        return a()

    @classmethod
    def make(cls, number: int) -> 'Result[InMemory, A | B]':
        return ab(number).map(lambda _: cls())

    @staticmethod
    def check(number: int) -> Result[int, A | B]:  # finds: SW105
        return b(number)

    async def find(self, number: int) -> Result[int, A | B]:
        async with asyncio.TaskGroup() as group:
            one = group.create_task(later_a())
            other = group.create_task(later_b(number))
        return other.result() if isinstance(one.result(), Success) else one.result()


async def of_repository(repository: Repository) -> Result[int, A | B | C]:  # finds: SW105
    return await repository.find(1)


# case: an error that an unchecked unwrap raises today
def unwrapped() -> Result[int, A]:
    return Success(a().unwrap() + 1)


# case: an error that is discarded today
def discarded() -> Result[int, A | B]:  # finds: SW105
    a()
    return Success(1)


# case: an error to which an exception will be converted
def to_int(text: str) -> Result[int, C]:
    if not text.isdigit():
        raise ValueError(text)
    return Success(int(text))


# case: an error that is raised instead of returned
def raises_error(number: int) -> Result[int, A]:
    if number:
        raise A()  # type: ignore[misc]
    return Success(1)


# case: an exception beside an error
class Full(Exception):
    pass


def raises_exception(number: int) -> Result[int, A | B]:
    if number > 1:
        raise Full
    return Success(1) if number else Failure(A())


# case: an exception that a helper raises
def checked(number: int) -> int:
    if number > 1:
        raise Full
    return number


def raises_through_helper(number: int) -> Result[int, A]:
    return Success(checked(number))


# case: an exception of an inner function, and one that reports a bug
def raises_in_inner(number: int) -> Result[int, A]:  # finds: SW105
    def inner() -> None:
        raise Full

    assert number, inner
    if number > 1:
        raise AssertionError(number)
    return Success(1)


# case: an exception that is caught
def catches(text: str) -> Result[int, A]:  # finds: SW105
    try:
        if not text:
            raise ValueError(text)
    except ValueError:
        return Success(0)
    return Success(int(text))


# case: a branch that is not implemented
def unfinished(number: int) -> Result[int, A]:
    if number > 1:
        raise NotImplementedError
    return Success(1)


# case: a swallowed exception
def swallows(text: str) -> Result[int, C]:
    try:
        return Success(int(text))
    except Exception:
        return Success(0)


# case: an error of a Result that is never read
def never_read(number: int) -> Result[int, B]:
    stored = b(number)
    return Success(number)


def never_read_of_two(number: int) -> Result[int, B | C]:  # finds: SW105
    if number:
        stored = b(number)
    return Success(number)


# case: an error of Results that are discarded together
def discarded_together(numbers: list[int]) -> Result[int, B]:
    [b(number) for number in numbers]
    return Success(1)


# case: an error of a coroutine that is discarded
async def discarded_later() -> Result[int, A]:
    async with asyncio.timeout(1):
        await later_a()
    return Success(1)


# case: an error of a Result as a condition
def condition(number: int) -> Result[int, B]:
    if number and b(number):
        return Success(1)
    return Success(2)


def condition_of_items(numbers: list[int]) -> Result[int, B]:
    return Success(1 if any(b(number) for number in numbers) else 2)


def condition_of_filter(numbers: list[int]) -> Result[int, B]:
    return Success(len(list(filter(b, numbers))))


# case: an error that an unchecked unwrap raises today, in an argument
def unwrapped_argument(number: int) -> Result[str, A | B]:  # finds: SW105
    print(b(number).unwrap())
    return Success('done')


# case: an error that a check handles
def handled(number: int) -> Result[int, B]:  # finds: SW105
    stored = b(number)
    if isinstance(stored, Failure):
        return Success(0)
    return Success(stored.unwrap())
