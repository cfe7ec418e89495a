from typing import Any, Generic, TypeVar, overload

from returns.context import (
    RequiresContextFutureResult,
    RequiresContextIOResult,
    RequiresContextResult,
)
from returns.future import FutureResult, future_safe
from returns.io import IOResult, impure_safe
from returns.result import Result as OpenResult
from returns.result import Failure as OpenFailure
from returns.result import Success as OpenSuccess
from returns.result import safe

from seamwise import Category, Do, Failure, Result, Success, TaggedError, fallible


class Bad(TaggedError, category=Category.VALIDATION, message='bad'):
    pass


E = TypeVar('E')
F = TypeVar('F', bound=TaggedError)


# case: every tagged error
def tagged() -> Result[int, TaggedError]:  # finds: SW106
    return Success(1)


# case: any object
def anything() -> Result[int, object]:  # finds: SW106
    return Success(1)


# case: Any
def untyped() -> Result[int, Any]:  # finds: SW106
    return Success(1)


# case: an exception
def exception() -> Result[int, ValueError]:  # finds: SW106
    return Success(1)


# case: one of several is an exception
def one_of_several() -> Result[int, Bad | OSError]:  # finds: SW106
    return Success(1)


# case: errors by name
def named() -> Result[int, Bad]:
    return Success(1)


# case: a text or a tuple as an error
def text() -> Result[int, str]:
    return Success(1)


def several() -> Result[int, tuple[Bad, ...]]:
    return Success(1)


# case: cannot fail
def certain() -> Success[int]:
    return Success(1)


# case: the caller says which
def generic(result: Result[int, E]) -> Result[int, E]:
    return result


def bound(error: F) -> Failure[F]:
    return Failure(error)


# case: a parameter may be wide
def takes(result: Result[int, object]) -> str:
    return str(result)


# case: async
async def later() -> Result[int, Exception]:  # finds: SW106
    return Success(1)


# case: a lone failure
def failing() -> Failure[Exception]:  # finds: SW106
    return Failure(ValueError())


# case: direct style
@fallible
def direct(do: Do[TaggedError]) -> int:  # finds: SW106
    return 1


# case: direct style by name
@fallible
def direct_named(do: Do[Bad]) -> int:
    return 1


# case: a method, under its decorator
class Service:
    @staticmethod
    def run() -> Result[int, object]:  # finds: SW106
        return Success(1)

    @property
    def last(self) -> Result[int, Bad]:
        return Success(1)


# case: safe of returns
@safe
def parsed(text: str) -> int:  # finds: SW106
    return int(text)


# case: the base class of returns
def opened() -> OpenResult[int, Exception]:  # finds: SW106
    return parsed('1')


def opened_well() -> OpenResult[int, str]:
    return parsed('1').alt(str)


# case: only overloads are seen
@overload
def either(given: int) -> Result[int, Bad]: ...
@overload
def either(given: str) -> Result[str, Bad]: ...
def either(given: object) -> Result[object, object]:
    return Success(given)


# case: a classifier
def classifier(raised: Exception) -> Failure[object] | None:
    return None


# case: without annotations
def quiet():  # type: ignore[no-untyped-def]
    return Success(1)


# case: a value may be an object
def value() -> Result[object, Bad]:
    return Success(1)


# case: allowed with a reason
def allowed() -> Result[int, object]:  # seamwise: allow[SW106] it carries what others have named
    return Success(1)


# case: the same result as the argument
R = TypeVar('R', bound='Result[object, object]')


def same(result: R) -> R:
    return result


# case: one side of plain returns
def one_side(number: int) -> OpenSuccess[int]:
    return OpenSuccess(number)


def either_side(number: int) -> OpenSuccess[int] | OpenFailure[Bad]:
    return OpenFailure(Bad())


# case: containers of returns for effects
def read() -> IOResult[int, Exception]:  # finds: SW106
    return IOResult.from_value(1)


def fetch() -> FutureResult[int, Exception]:  # finds: SW106
    return FutureResult.from_value(1)


async def fetch_later() -> IOResult[int, object]:  # finds: SW106
    return IOResult.from_value(1)


def in_context() -> RequiresContextResult[int, Exception, str]:  # finds: SW106
    return RequiresContextResult.from_value(1)


def read_in_context() -> RequiresContextIOResult[int, Exception, str]:  # finds: SW106
    return RequiresContextIOResult.from_value(1)


def fetch_in_context() -> RequiresContextFutureResult[int, Exception, str]:  # finds: SW106
    return RequiresContextFutureResult.from_value(1)


# case: containers for effects, with errors by name
def read_named() -> IOResult[int, Bad]:
    return IOResult.from_value(1)


def fetch_named() -> FutureResult[int, Bad]:
    return FutureResult.from_value(1)


def named_in_context() -> RequiresContextResult[int, Bad, Exception]:
    return RequiresContextResult.from_value(1)


def effect_of_the_caller(result: IOResult[int, E]) -> IOResult[int, E]:
    return result


def read_or_nothing() -> IOResult[int, Exception] | int:
    return 1


# case: the variants of safe
@impure_safe
def read_safely() -> int:  # finds: SW106
    return 1


@future_safe
async def fetch_safely() -> int:  # finds: SW106
    return 1


@safe(exceptions=(ValueError, TypeError))
def parsed_by_name(text: str) -> int:  # finds: SW106
    return int(text)
