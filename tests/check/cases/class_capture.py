import collections
import datetime
from datetime import date
from typing import TypeAlias, assert_never

from seamwise import Category, Failure, Result, Success, TaggedError


class Missing(TaggedError, category=Category.NOT_FOUND, message='missing'):
    name: str = ''


class Busy(TaggedError, category=Category.CAPACITY, message='busy'):
    pass


Known: TypeAlias = Missing | Busy


def find(name: str) -> Result[int, Missing | Busy]:
    return Success(len(name)) if name else Failure(Missing())


# case: an error class in a Failure
def failure(name: str) -> str:
    match find(name):
        case Success(_):
            return 'found'
        case Failure(Missing):  # finds: SW123
            return 'missing'


# case: arms after it, which are reached when it is fixed
def followed(name: str) -> str:
    match find(name):
        case Success(_):
            return 'found'
        case Failure(Missing):  # finds: SW123
            return 'missing'
        case Failure(Busy()):
            return 'busy'


# case: an error class in the match of an error
def inner(error: Missing | Busy) -> str:
    match error:
        case Missing():
            return 'missing'
        case Busy:  # finds: SW123
            return 'busy'


# case: a class in a Success
def success(name: str) -> str:
    match find(name):
        case Success(int):  # finds: SW123
            return 'found'
        case Failure(error):
            return str(error)


# case: an alias of error classes
def alias(name: str) -> str:
    match find(name):
        case Success(_):
            return 'found'
        case Failure(Known):  # finds: SW123
            return 'known'


# case: a dotted name
def dotted(found: Result[date, Missing]) -> str:
    match found:
        case Success(datetime.date):  # finds: SW123
            return 'a date'
        case _:
            return 'no date'


# case: a field, a tuple, and a name for the value
def parts(found: Result[tuple[int, str], Missing], other: Result[int, Busy]) -> str:
    match found, other:
        case Success((int, _)), _:  # finds: SW123
            return 'a pair'
        case Failure(Missing(name=str)), _:  # finds: SW123
            return 'a name'
        case _, Failure(Busy as error):  # finds: SW123
            return str(error)
        case _:
            return ''


# case: a Failure among other values
def unknown(value: object) -> str:
    match value:
        case Failure(Missing):  # finds: SW123
            return 'failed'
        case _:
            return ''


# case: a class that the arm uses as a variable
def used(name: str) -> str:
    match find(name):
        case Success(_):
            return 'found'
        case Failure(Missing):  # finds: SW123
            return str(Missing)


# case: classes with parentheses
def closed(name: str) -> str:
    match find(name):
        case Success(int()):
            return 'found'
        case Failure(error):
            match error:
                case Missing():
                    return 'missing'
                case Busy():
                    return 'busy'
                case _:
                    assert_never(error)


# case: a variable named like a class in lower case
def lower_case(found: Result[date, Missing]) -> str:
    match found:
        case Success(date):
            return date.isoformat()
        case Failure(Missing(name=type)):
            return type


# case: a variable that only a guard reads
def guarded(name: str) -> str:
    match find(name):
        case Success(int) if int > 1:
            return 'long'
        case _:
            return ''


# case: a match of other values
def other(value: object) -> str:
    match value:
        case {'kind': str}:
            return 'a dict'
        case Busy:
            return 'anything'


# case: a variable that is no class
def variable(name: str) -> str:
    match find(name):
        case Success(number):
            return str(number)
        case Failure(error):
            return str(error)


# case: a constant of a module
def constant(found: Result[str, Missing]) -> str:
    match found:
        case Success(datetime.__name__ | collections.__name__):
            return 'a module'
        case _:
            return ''
