"""The loans of a library, at a terminal, over HTTP and in a chat."""

from typing import TypeAlias, assert_never

from seamwise import Category, Failure, Result, Success, TaggedError
from seamwise.seams.cli import Rendered
from seamwise.seams.http import HttpError
from seamwise.seams.session import ErrorEvent


class NoReader(TaggedError, category=Category.NOT_FOUND, message='There is no reader {number}.'):
    number: int


class LimitReached(TaggedError, category=Category.QUOTA, message='{name} has {books} books.'):
    name: str
    books: int


LoanError: TypeAlias = NoReader | LimitReached


def find_reader(number: int) -> Result[str, NoReader]:
    return Success('Ada') if number == 1 else Failure(NoReader(number))


def lend(name: str, title: str) -> Result[str, LimitReached]:
    return Success(f'{title} for {name}') if title else Failure(LimitReached(name, 5))


def loan(number: int, title: str) -> Result[str, LoanError]:
    return find_reader(number).bind(lambda name: lend(name, title))


def to_cli(error: LoanError) -> Rendered:
    match error:
        case NoReader():
            return Rendered.of(error, exit_code=66, hint='list the readers.')
        case LimitReached():
            return Rendered.of(error, exit_code=1)
    assert_never(error)


def to_http(error: LoanError) -> HttpError:
    match error:
        case NoReader():
            return HttpError.of(error, 404, 'NO_READER')
        case LimitReached():
            return HttpError.of(error, 409, 'LIMIT_REACHED')
    assert_never(error)


def to_session(error: LoanError) -> ErrorEvent:
    match error:
        case NoReader():
            return ErrorEvent.of(error, 'error.validation', 'ERR_READER_001')
        case LimitReached(books=books):
            return ErrorEvent.of(error, 'error.resource', 'ERR_LIMIT_001', books=books)
    assert_never(error)
