from dataclasses import dataclass

from seamwise import Category, Failure, Result, Success, TaggedError, attempt, when
from seamwise.catalog.network import HostUnreachable
from seamwise.catalog.tools import UnknownTool
from seamwise.policies import Guard, cache, circuit, deadline, fallback, identity, keyed, retry
from seamwise.policies._engine.predicates import always


class Gone(TaggedError, category=Category.NOT_FOUND, message='gone'):
    pass


class Broken(TaggedError, category=Category.VALIDATION, message='broken'):
    pass


class Slow(TaggedError, category=Category.TIMEOUT, message='slow'):
    pass


class Stubborn(TaggedError, category=Category.NOT_FOUND, retryable=True, message='stubborn'):
    pass


class Final(TaggedError, category=Category.TIMEOUT, retryable=False, message='final'):
    pass


class Differs(TaggedError, category=Category.NOT_FOUND, message='differs'):
    is_passing: bool

    @property
    def retryable(self) -> bool:
        return self.is_passing


def gone() -> Result[int, Gone]:
    return Failure(Gone())


def gone_or_broken() -> Result[int, Gone | Broken]:
    return Failure(Gone())


def gone_or_slow() -> Result[int, Gone | Slow]:
    return Failure(Slow())


def stubborn() -> Result[int, Stubborn]:
    return Failure(Stubborn())


def final() -> Result[int, Final]:
    return Failure(Final())


def differs() -> Result[int, Differs]:
    return Failure(Differs(True))


def foreign() -> Result[int, HostUnreachable]:
    return Failure(HostUnreachable('db', 'refused'))


def foreign_tool() -> Result[int, UnknownTool]:
    raise NotImplementedError


def never() -> Success[int]:
    return Success(1)


async def later() -> Result[int, Gone]:
    return Failure(Gone())


again = retry(attempts=3)


# case: one error, no use
def one() -> Result[int, Gone]:
    return again.run_sync(gone)  # finds: SW113


# case: two errors, no use
def two() -> Result[int, Gone | Broken]:
    return again.run_sync(gone_or_broken)  # finds: SW113


# case: one of two is
def one_of_two() -> Result[int, Gone | Slow]:
    return again.run_sync(gone_or_slow)


# case: says so itself
def says_so() -> Result[int, Stubborn]:
    return again.run_sync(stubborn)


# case: says that it is not
def says_not() -> Result[int, Final]:
    return again.run_sync(final)  # finds: SW113


# case: each instance says so
def each() -> Result[int, Differs]:
    return again.run_sync(differs)


# case: an error of the catalogue that is
def catalogue() -> Result[int, HostUnreachable]:
    return again.run_sync(foreign)


# case: an error of the catalogue that is not
def catalogue_not() -> Result[int, UnknownTool]:
    return again.run_sync(foreign_tool)  # finds: SW113


# case: made at once
def at_once() -> Result[int, Gone]:
    return retry().run_sync(gone)  # finds: SW113


# case: a lambda
def with_lambda() -> Result[int, Gone]:
    return again.run_sync(lambda: gone())  # finds: SW113


# case: a local name
def local() -> Result[int, Gone]:
    guard = retry(attempts=2)
    return guard.run_sync(gone)  # finds: SW113


# case: in a task
async def in_task() -> Result[int, Gone]:
    return await again.run(later)  # finds: SW113


# case: with its own opinion
def own_opinion() -> Result[int, Gone]:
    return retry(when=always).run_sync(gone)


# case: a deadline inside adds a retryable error
def deadline_inside() -> object:
    return (retry() >> deadline(1.0)).run_sync(gone)


# case: a deadline outside does not
def deadline_outside() -> object:
    return (deadline(1.0) >> retry()).run_sync(gone)  # finds: SW113


# case: a circuit inside
def circuit_inside() -> object:
    return (retry() >> circuit(name='one')).run_sync(gone)


# case: nothing inside
def nothing_inside() -> object:
    return (retry() >> identity).run_sync(gone)


# case: composed of names
patient = deadline(5.0) >> again


def composed() -> object:
    return patient.run_sync(gone)  # finds: SW113


# case: a decorator
@again  # finds: SW113
def decorated() -> Result[int, Gone]:
    return Failure(Gone())


# case: a decorator where it helps
@again
def decorated_well() -> Result[int, Slow]:
    return Failure(Slow())


# case: a decorator made at once
@retry(attempts=5)  # finds: SW113
def decorated_at_once() -> Result[int, Broken]:
    return Failure(Broken())


# case: nothing that can fail
def cannot_fail() -> object:
    return again.run_sync(never)


# case: no retry
def no_retry() -> object:
    return deadline(2.0).run_sync(gone)


# case: a guard passed as an argument
def handed(guard: Guard[Slow]) -> object:
    return guard.run_sync(gone)


# case: any operation
def any_operation(call) -> object:
    return again.run_sync(call)


# case: any error
def any_error() -> Result[int, TaggedError]:
    raise NotImplementedError


def of_any_error() -> object:
    return again.run_sync(any_error)


# case: words
def words() -> Result[int, str]:
    return Failure('x')


def of_words() -> object:
    return again.run_sync(words)


# case: settings that are passed on
def handed_on(**settings) -> object:
    return retry(**settings).run_sync(gone)


# case: kept in a class or an object
class Client:
    shared = retry(attempts=2)

    def __init__(self) -> None:
        self._own = deadline(1.0) >> retry()
        self._either = retry()

    def patient(self) -> None:
        self._either = retry() >> deadline(1.0)

    def one(self) -> object:
        return self.shared.run_sync(gone)  # finds: SW113

    def other(self) -> object:
        return self._own.run_sync(gone)  # finds: SW113

    def helps(self) -> object:
        return self._own.run_sync(gone_or_slow)

    def nobody_knows(self) -> object:
        return self._either.run_sync(gone)


# case: two that are the same
def the_same(often: bool) -> object:
    guard = retry(attempts=9) if often else retry()
    return guard.run_sync(gone)  # finds: SW113


# case: a decorator below adds a retryable error
@again
@deadline(1.0)
async def decorated_twice() -> Result[int, Gone]:
    return Failure(Gone())


# case: a decorator below adds nothing
@deadline(1.0)
@again  # finds: SW113
@cache(ttl=1.0, name='kept')
async def decorated_thrice() -> Result[int, Gone]:
    return Failure(Gone())


# case: an attempt below
@again  # finds: SW113
@attempt(when(ValueError).becomes(lambda raised: Broken()))
def number_in(text: str) -> int:
    return int(text)


@again
@attempt(when(TimeoutError).becomes(lambda raised: Slow()))
def slow_number_in(text: str) -> int:
    return int(text)


# case: an untyped decorator
def unknown(function):
    return function


@again
@unknown
def decorated_unknown() -> Result[int, Gone]:
    return Failure(Gone())


# case: decorated by a call
tried = again(gone)  # finds: SW113


# case: a key of one's own for each try
def with_key() -> object:
    return keyed(again).run_sync(lambda key: gone())  # finds: SW113
