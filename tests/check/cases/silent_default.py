from typing import TypeVar

from seamwise import Category, Failure, Result, Success, TaggedError, catch, tap, tap_error
from seamwise.catalog.tools import FileNotFound


E = TypeVar('E')


class Gone(TaggedError, category=Category.NOT_FOUND, message='gone'):
    pass


class Broken(TaggedError, category=Category.CONFIGURATION, message='broken'):
    pass


def gone() -> Result[int, Gone]:
    return Failure(Gone())


def either() -> Result[int, Gone | Broken]:
    return Failure(Gone())


async def later() -> Result[int, Broken]:
    return Failure(Broken())


def no_file() -> Result[int, FileNotFound]:
    raise NotImplementedError


# case: an error of the category NOT_FOUND
def not_found() -> int:
    return gone().value_or(0)


# case: an error of the catalogue with the category NOT_FOUND
def no_such_file() -> int:
    return no_file().value_or(0)


# case: something else too
def something_else() -> int:
    return either().value_or(0)  # finds: SW115


# case: in a task
async def in_task() -> int:
    return (await later()).value_or(0)  # finds: SW115


# case: under a name
def by_name() -> int:
    found = either()
    return found.value_or(0)  # finds: SW115


# case: mapped first
def mapped() -> str:
    return either().map(str).value_or('none')  # finds: SW115


# case: looked at before
def looked() -> int:
    return tap_error(either(), print).value_or(0)


# case: only the value is looked at
def tapped() -> int:
    return tap(either(), print).value_or(0)  # finds: SW115


# case: looked at under its name
def looked_by_name() -> int:
    found = either()
    if isinstance(found, Failure):
        print(found.failure())
    return found.value_or(0)


# case: an arm that looks
def arm() -> int:
    found = either()
    match found:
        case Failure(error):
            print(error)
        case Success(_):
            pass
    return found.value_or(0)


# case: the other one is taken out before
def caught() -> int:
    return catch(Broken, lambda error: Success(1))(either()).value_or(0)


# case: the expected one is taken out, and the other one left
def caught_wrong() -> int:
    return catch(Gone, lambda error: Success(1))(either()).value_or(0)  # finds: SW115


# case: a text as error
def text() -> Result[int, str]:
    return Failure('x')


def of_text() -> int:
    return text().value_or(0)  # finds: SW115


# case: no failure
def sure() -> int:
    return Success(1).value_or(0)


# case: something else of that name
class Box:
    def value_or(self, default: int) -> int:
        return default


def box() -> int:
    return Box().value_or(1)


# case: passed to a function that handles it
def log(result: Result[int, Gone | Broken]) -> None:
    print(result)


def handed() -> int:
    found = either()
    log(found)
    return found.value_or(0)


# case: tapped under a name
def tapped_by_name() -> int:
    found = either()
    tap_error(found, print)
    return found.value_or(0)


# case: looked at before it has its name
def looked_before() -> int:
    found = tap_error(either(), print)
    return found.value_or(0)


# case: looked at before another step
def broken(number: int) -> Result[int, Broken]:
    return Failure(Broken())


def looked_too_early() -> int:
    return tap_error(gone(), print).bind(broken).value_or(0)  # finds: SW115


# case: an attribute
class Holder:
    last: Result[int, Broken] = Success(1)

    def silent(self) -> int:
        return self.last.value_or(0)  # finds: SW115

    def looked(self) -> int:
        if isinstance(self.last, Failure):
            print(self.last.failure())
        return self.last.value_or(0)


# case: errors that remain after the arms above
def left() -> int:
    match either():
        case Failure(Broken() as error):
            return len(str(error))
        case other:
            return other.value_or(0)


# case: any error
def whatever(result: Result[int, E]) -> int:
    return result.value_or(0)


def whatever_or_broken(result: Result[int, E | Broken]) -> int:
    return result.value_or(0)  # finds: SW115
