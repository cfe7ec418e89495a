from collections import defaultdict
from collections.abc import Callable
from typing import Any, TypeVar, assert_never

from seamwise import Category, Do, Failure, Result, Success, TaggedError, fallible
from seamwise.seams import http
from seamwise.seams.adapter import Adapter

E = TypeVar('E')
K = TypeVar('K', bound='TaggedError')


class Missing(TaggedError, category=Category.NOT_FOUND, message='missing'):
    pass


class Busy(TaggedError, category=Category.CAPACITY, message='busy'):
    pass


class Base(TaggedError, category=Category.VALIDATION, message='base'):
    pass


class Short(Base, category=Category.VALIDATION, message='short'):
    pass


class Long(Base, category=Category.VALIDATION, message='long'):
    pass


# case: a wildcard
def wildcard(error: Missing | Busy) -> int:
    match error:
        case Missing():
            return 404
        case _:  # finds: SW107
            return 500


# case: a class without parentheses, which SW123 reports
def without_parentheses(error: Missing | Busy) -> int:
    match error:
        case Missing():
            return 404
        case Busy:
            return 503


# case: the same in a Failure
def failure_without_parentheses(result: Result[int, Missing | Busy]) -> int:
    match result:
        case Success(value):
            return value
        case Failure(Missing()):
            return 404
        case Failure(Busy):
            return 503


# case: closed
def closed(error: Missing | Busy) -> int:
    match error:
        case Missing():
            return 404
        case Busy():
            return 503
        case _:
            assert_never(error)


# case: closed without a last arm
def closed_too(error: Missing | Busy) -> int:
    match error:
        case Missing():
            return 404
        case Busy():
            return 503


# case: a capture
def capture(error: Missing | Busy) -> str:
    match error:
        case Missing():
            return '404'
        case other:  # finds: SW107
            return str(other)


# case: a captured error that is returned
def handed_on(error: Missing | Busy) -> Result[int, Busy]:
    match error:
        case Missing():
            return Success(0)
        case other:
            return Failure(other)


# case: returned in direct style
@fallible
def handed_to_do(do: Do[Busy], error: Missing | Busy) -> int:
    match error:
        case Missing():
            return 0
        case _:
            do.fail(error)


# case: a wildcard with a guard
def guarded(error: Missing | Busy, strict: bool) -> int:
    match error:
        case _ if strict:
            return 500
        case Missing():
            return 404
        case Busy():
            return 503


# case: a wildcard after every class
def after_all(error: Missing | Busy) -> int:
    match error:
        case Missing():
            return 404
        case Busy():
            return 503
        case _:  # finds: SW107
            return 500


# case: a base class
def by_base(error: Missing | Short | Long) -> int:
    match error:
        case Missing():
            return 404
        case Base():  # finds: SW107
            return 400


# case: the base of all, with a name
def by_tagged(error: Missing | Busy) -> str:
    match error:
        case Missing():
            return '404'
        case TaggedError() as other:  # finds: SW107
            return str(other)


# case: a base class inside of a Failure
def inside(result: Result[int, Missing | Busy]) -> int:
    match result:
        case Failure(Missing()):
            return 404
        case Failure(TaggedError()):  # finds: SW107
            return 500
        case Success(_):
            return 200


# case: two matches
def two(result: Result[int, Missing | Busy]) -> int:
    match result:
        case Success(value):
            return value
        case Failure(error):
            match error:
                case Missing() | Busy():
                    return 500


# case: a match on something else
def on_text(text: str | int) -> int:
    match text:
        case str():
            return 1
        case _:
            return 2


# case: one error only
def one(error: Missing) -> int:
    match error:
        case Missing():
            return 404
        case _:
            return 500


# case: a table with a default
STATUS: dict[type[TaggedError], int] = {Missing: 404}


def table(error: Missing | Busy) -> int:
    return STATUS.get(type(error), 500)  # finds: SW107


# case: by its tag
NAMES = {'Missing': 404}


def by_tag(error: Missing | Busy) -> int:
    return NAMES.get(error.tag, 500)  # finds: SW107


# case: a table without a default
def strict_table(error: Missing | Busy) -> int:
    return STATUS[type(error)]


# case: a table of something else
def other_table(word: str) -> int:
    return NAMES.get(word, 500)


def types_of_others(word: str | int) -> int:
    return {str: 1, int: 2}.get(type(word), 3)


# case: a table with a default factory
DEFAULTING: defaultdict[type[TaggedError], int] = defaultdict(lambda: 500, {Missing: 404})


def defaulting(error: Missing | Busy) -> int:
    return DEFAULTING[type(error)]  # finds: SW107


# case: an adapter for the base of all
ALL = http.on(TaggedError).responds(500, 'FAILED')  # finds: SW107


# case: an adapter
BOTH = http.on(Missing).responds(404, 'MISSING') | http.on(Busy).responds(503, 'BUSY')


# case: a table without an arm for a declared class
BUSY = http.on(Busy).responds(503, 'BUSY')

HOLE: Adapter[Missing | Busy | Short, http.HttpError] = (
    http.on(Missing).responds(404, 'MISSING')  # finds: SW107
    | http.on(Busy).responds(503, 'BUSY')
)


# case: a table with fewer arms, by its name
ONLY_BUSY: Adapter[Missing | Busy, http.HttpError] = BUSY  # finds: SW107


# case: a postponed table without an arm
LATE: Adapter[Missing | Busy, http.HttpError] = Adapter(lambda: BUSY | BUSY)  # finds: SW107


# case: a table with every arm
WHOLE: Adapter[Missing | Busy, http.HttpError] = http.on(Missing).responds(404, 'M') | BUSY


# case: a table with more arms than the declared classes
NARROWER: Adapter[Busy, http.HttpError] = WHOLE


# case: a group of hidden classes on the right, which mypy joins to their base class
GROUP: Adapter[Missing | Busy | Short, http.HttpError] = BUSY | http.on(Missing | Short).hidden()


# case: an argument without an arm
def serve(adapter: Adapter[Missing | Busy, http.HttpError], *, name: str = '') -> None:
    pass


def served() -> None:
    serve(BUSY)  # finds: SW107
    serve(adapter=BUSY | http.on(Short).hidden())  # finds: SW107
    serve(WHOLE, name='api')


# case: a generic parameter
def serve_any(adapter: Adapter[E, http.HttpError]) -> Adapter[E | Busy, http.HttpError]:
    return adapter | BUSY


serve_any(http.on(Missing).hidden())


# case: a returned table without an arm
def partial() -> Adapter[Missing | Busy, http.HttpError]:
    return BUSY  # finds: SW107


# case: a returned table
def complete() -> Adapter[Missing | Busy, http.HttpError]:
    return WHOLE


# case: a replaced arm
CHANGED: Adapter[Missing | Busy, http.HttpError] = WHOLE.but(http.on(Busy).responds(429, 'BUSY'))


# case: a replaced arm that is not there
WRONG = BUSY.but(http.on(Missing).responds(410, 'GONE'))  # finds: SW107


# case: a replaced arm does not add one
STILL: Adapter[Missing | Busy, http.HttpError] = BUSY.but(http.on(Busy).hidden())  # finds: SW107


# case: another method of the same name
class Shop:
    def but(self, other: object) -> object:
        return other


OTHER = Shop().but(http.on(Missing).hidden())


# case: an optional table
MAYBE: Adapter[Missing | Busy, http.HttpError] | None = WHOLE


# case: an untyped table
ANYTHING: Any = BUSY
UNKNOWN: Adapter[Missing | Busy, http.HttpError] = ANYTHING


# case: allowed with a reason
def allowed(error: Missing | Busy) -> int:
    match error:
        case Missing():
            return 404
        case _:  # seamwise: allow[SW107] a probe: all else is down
            return 500


# case: a wildcard for the failures of a Result, after an arm for one of them
def other_failures(result: Result[int, Missing | Busy]) -> int:
    match result:
        case Success(value):
            return value
        case Failure(Missing()):
            return 404
        case Failure(_):  # finds: SW107
            return 500


def other_results(result: Result[int, Missing | Busy]) -> int:
    match result:
        case Failure(Missing() as error):
            return len(str(error))
        case _:  # finds: SW107
            return 500


def unnamed_failures(result: Result[int, Missing | Busy | Short]) -> int:
    match result:
        case Success(value):
            return value
        case Failure(Missing() | Busy()):
            return 404
        case Failure():  # finds: SW107
            return 500


# case: all failures alike
def alike(result: Result[int, Missing | Busy]) -> int:
    match result:
        case Success(value):
            return value
        case Failure():
            return 500


# case: an arm for each class, and one for the type checker
def each_class(result: Result[int, Missing | Busy]) -> int:
    match result:
        case Success(value):
            return value
        case Failure(Missing()):
            return 404
        case Failure(Busy()):
            return 503
        case _:
            return 500


# case: the other failures are passed on
def passed_on(result: Result[int, Missing | Busy]) -> Result[int, Missing | Busy]:
    match result:
        case Failure(Missing()):
            return Success(0)
        case failure:
            return failure


def passed_to_a_function(result: Result[int, Missing | Busy]) -> int:
    match result:
        case Success(value):
            return value
        case Failure(Missing()):
            return 0
        case Failure(error):
            return closed(error)


def matched_again(result: Result[int, Missing | Busy | Short]) -> int:
    match result:
        case Success(value):
            return value
        case Failure(Missing()):
            return 404
        case Failure(error):
            match error:
                case Busy():
                    return 503
                case Short():
                    return 400
                case _:
                    assert_never(error)


# case: a function for every error, where an adapter is expected
def every_error(error: TaggedError) -> http.HttpError:
    return http.HttpError.of(error, 500, 'FAILED')


def some_errors(error: Missing | Busy) -> http.HttpError:
    return http.HttpError.of(error, 500, 'FAILED')


def name_of(error: TaggedError) -> str:
    return error.tag


Adapter.of(every_error)  # finds: SW107
Adapter.of(some_errors)
some_errors(Missing())
every_error(Missing())
names = map(name_of, [Missing()])


def decided_by_the_caller(adapter: Callable[[K], http.HttpError], error: K) -> http.HttpError:
    return Adapter.of(adapter)(error)
