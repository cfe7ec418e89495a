from contextlib import suppress
from typing import NoReturn

from raising_helpers import describe, raise_by_another
from returns.io import IO, IOFailure, IOResult, IOSuccess, impure_safe
from returns.maybe import Maybe
from returns.pipeline import is_successful
from returns.primitives.exceptions import UnwrapFailedError
from returns.result import Result as OpenResult

from seamwise import Category, Failure, Result, Success, TaggedError, is_failure, is_success


class Bad(TaggedError, category=Category.VALIDATION, message='bad'):
    pass


def find(text: str) -> Result[int, Bad]:
    return Success(1) if text else Failure(Bad())


# case: unwrapped without proof
def bet() -> int:
    return find('a').unwrap()  # finds: SW104


# case: the failure without proof
def bet_on_failure() -> Bad:
    return find('a').failure()  # finds: SW104


# case: proven by isinstance
def by_isinstance() -> int:
    found = find('a')
    if isinstance(found, Success):
        return found.unwrap()
    return 0


# case: proven by an early return
def by_early_return() -> Result[int, Bad]:
    found = find('a')
    if isinstance(found, Failure):
        return found
    return Success(found.unwrap() + 1)


# case: proven by is_success
def by_guard() -> int:
    found = find('a')
    return found.unwrap() if is_success(found) else 0


# case: proven to be the failure
def by_failure_guard() -> str:
    found = find('a')
    if is_failure(found):
        return str(found.failure())
    return str(found.unwrap())


# case: proven by its exact class
def by_class() -> int:
    found = find('a')
    if type(found) is Success:
        return found.unwrap()
    return 0


# case: proven by a match
def by_match() -> int:
    found = find('a')
    match found:
        case Success():
            return found.unwrap()
        case Failure():
            return 0


# case: proven in a comprehension
def in_comprehension(results: list[Result[int, Bad]]) -> list[int]:
    return [one.unwrap() for one in results if is_success(one)]


# case: in a comprehension without proof
def bet_in_comprehension(results: list[Result[int, Bad]]) -> list[int]:
    return [one.unwrap() for one in results]  # finds: SW104


# case: the check is of another one
def of_another() -> int:
    first = find('a')
    second = find('b')
    if is_success(first):
        return second.unwrap()  # finds: SW104
    return 0


# case: the check is over
def over() -> int:
    found = find('a')
    if is_success(found):
        print()
    return found.unwrap()  # finds: SW104


# case: assigned again behind the check
def assigned_again() -> int:
    found = find('a')
    if is_failure(found):
        return 0
    found = find('b')
    return found.unwrap()  # finds: SW104


# case: an assertion is the bet itself
def asserted() -> int:
    found = find('a')
    assert is_success(found)  # finds: SW104
    return found.unwrap()


# case: an assertion of a failure, with a message
def asserted_failure() -> Bad:
    found = find('a')
    assert is_failure(found), 'it should'  # finds: SW104
    return found.failure()


# case: an assertion by isinstance
def asserted_isinstance() -> int:
    found = find('a')
    assert isinstance(found, Success)  # finds: SW104
    return found.unwrap()


# case: an assertion of something else
def asserted_else() -> int:
    found = find('a')
    assert found == Success(1)
    return 1


# case: an assertion that is proven
def asserted_proven() -> int:
    found = find('a')
    if is_failure(found):
        return 0
    assert is_success(found)
    return found.unwrap()


# case: one that is certain
def certain(found: Success[int]) -> int:
    return found.unwrap()


# case: the wrong one
def the_wrong_one(found: Failure[Bad]) -> int:
    return found.unwrap()  # finds: SW104


# case: a check that is kept under a name
def kept() -> int:
    found = find('a')
    is_well = is_success(found)
    if is_well:
        return found.unwrap()
    return 0


# case: results of returns
def of_returns(found: OpenResult[int, str]) -> int:
    return found.unwrap()  # finds: SW104


# case: results of returns, checked before
def of_returns_asked(found: OpenResult[int, str]) -> int:
    if is_successful(found):
        return found.unwrap()
    return len(found.failure())


# case: another container has such a method too
def of_maybe(found: Maybe[int]) -> int:
    return found.unwrap()


# case: a class of its own has such methods
class Parcel:
    def unwrap(self) -> int:
        return 1

    def failure(self) -> int:
        return 0


def parcel(one: Parcel) -> int:
    return one.unwrap() + one.failure()


# case: in a text
def in_text() -> str:
    return f'{find("a").unwrap()}'  # finds: SW104


# case: a value instead
def instead() -> int:
    return find('a').value_or(0)


# case: allowed with a reason
LIMIT = find('a').unwrap()  # seamwise: allow[SW104] a constant of this module


# case: an IOResult
@impure_safe
def read_file(path: str) -> str:
    return open(path).read()


def bet_on_io() -> IO[str]:
    return read_file('a').unwrap()  # finds: SW104


def bet_on_io_failure(result: IOResult[int, Bad]) -> IO[Bad]:
    return result.failure()  # finds: SW104


# case: an IOResult that is checked
def checked_io(result: IOResult[int, Bad]) -> IO[int] | None:
    if isinstance(result, IOSuccess):
        return result.unwrap()
    return None


def checked_io_failure(result: IOResult[int, Bad]) -> IO[int] | None:
    if isinstance(result, IOFailure):
        return None
    return result.unwrap()


def checked_by_function(result: IOResult[int, Bad]) -> IO[int] | None:
    return result.unwrap() if is_successful(result) else None


# case: an assertion about an IOResult
def asserted_io(result: IOResult[int, Bad]) -> IO[int]:
    assert isinstance(result, IOSuccess)  # finds: SW104
    return result.unwrap()


# case: the value of IO is no Result
def of_io(value: IO[int]) -> IO[int]:
    return value.map(abs)


# case: all items are checked first
def checked_as_a_whole(results: list[Result[int, Bad]]) -> int:
    if any(isinstance(result, Failure) for result in results):
        return 0
    return sum(result.unwrap() for result in results)


def checked_in_a_loop(results: list[Result[int, Bad]]) -> list[int]:
    numbers: list[int] = []
    if all(is_success(item) for item in results):
        for result in results:
            numbers.append(result.unwrap())
    return numbers


# case: other items are checked first
def others_checked(results: list[Result[int, Bad]], others: list[Result[int, Bad]]) -> list[int]:
    if not all(is_success(result) for result in results):
        return []
    return [other.unwrap() for other in others]  # finds: SW104


# case: a Failure ends in a function that never returns
def fail(error: object) -> NoReturn:
    raise RuntimeError(error)


def fail_untyped(error):  # type: ignore[no-untyped-def]
    raise RuntimeError(error)


def raised_by_alt() -> int:
    return find('a').alt(fail).unwrap() + find('b').alt(fail).map(abs).unwrap()


def raised_by_untyped() -> int:
    return find('a').alt(fail_untyped).unwrap()


def raised_by_a_lambda() -> int:
    return find('a').alt(lambda error: fail(error)).unwrap()


def raised_elsewhere() -> int:
    return find('a').alt(raise_by_another).unwrap()


# case: a Failure ends in a function that may return
def replace(error: Bad) -> Bad:
    if error.message:
        return error
    raise RuntimeError(error)


def replaced_by_alt() -> int:
    return find('a').alt(replace).unwrap()  # finds: SW104


def replaced_elsewhere() -> int:
    return find('a').alt(describe).unwrap()  # finds: SW104


def raised_by_map() -> int:
    return find('a').map(fail_untyped).unwrap()  # finds: SW104


def failure_behind_alt() -> object:
    return find('a').alt(fail_untyped).failure()  # finds: SW104


# case: the exception is suppressed
def suppressed(names: list[str]) -> list[int]:
    numbers: list[int] = []
    for name in names:
        with suppress(KeyError, UnwrapFailedError):
            numbers.append(find(name).unwrap())
    return numbers


# case: another exception is suppressed
def other_suppressed(name: str) -> int:
    with suppress(KeyError):
        return find(name).unwrap()  # finds: SW104
    return 0


# case: an item with a variable index, checked
def checked_items(by_name: dict[str, Result[int, Bad]], names: list[str]) -> int:
    for name in names:
        if isinstance(by_name[name], Success):
            return by_name[name].unwrap()
    return 0


# case: an item with a variable index, matched
def matched_items(by_name: dict[str, Result[int, Bad]], names: list[str]) -> int:
    for name in names:
        match by_name[name]:
            case Success():
                return by_name[name].unwrap()
            case Failure(error):
                print(error)
    return 0


# case: an item with a variable index, not checked
def unchecked_items(by_name: dict[str, Result[int, Bad]], first: str, second: str) -> int:
    if isinstance(by_name[first], Success):
        return by_name[second].unwrap()  # finds: SW104
    return by_name['a'].unwrap()  # finds: SW104


# case: filtered items
def filtered(results: list[Result[int, Bad]], opened: list[OpenResult[int, str]]) -> object:
    for found in filter(is_success, results):
        print(found.unwrap())
    return [found.unwrap() for found in filter(is_successful, opened)]


# case: filtered failures
def filtered_failures(results: list[Result[int, Bad]]) -> object:
    return [found.failure() for found in filter(is_failure, results)]


# case: items filtered by something else
def filtered_wrongly(results: list[Result[int, Bad]]) -> object:
    return (
        [found.unwrap() for found in filter(is_failure, results)],  # finds: SW104
        [found.unwrap() for found in filter(None, results)],  # finds: SW104
    )
