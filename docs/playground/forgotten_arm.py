# One error has no arm, and the type checker objects. Add this arm below the first one, and
# the red line disappears: case AlreadyLent(reader): return f'{reader} has it.'
from typing import assert_never

from seamwise import Category, Failure, Result, Success, TaggedError
from seamwise.seams import cli, http


class BookNotFound(TaggedError, category=Category.NOT_FOUND, message='There is no book {isbn!r}.'):
    isbn: str


class AlreadyLent(TaggedError, category=Category.CONFLICT, message='{reader} has the book.'):
    reader: str


def answer(result: Result[str, BookNotFound | AlreadyLent]) -> str:
    match result:
        case Success(sentence):
            return sentence
        case Failure(error):
            match error:
                case BookNotFound(isbn):
                    return f'We do not have the book {isbn}.'
                case _:
                    assert_never(error)


def lend(isbn: str) -> Result[str, BookNotFound | AlreadyLent]:
    match isbn:
        case '1':
            return Success('Emma is yours for a week.')
        case '2':
            return Failure(AlreadyLent('Bob'))
        case _:
            return Failure(BookNotFound(isbn))


AS_TEXT = cli.on(BookNotFound).exits(66) | cli.on(AlreadyLent).exits(
    75, hint='come back in a week.'
)
AS_HTTP = (
    http.on(BookNotFound).responds(404, 'BOOK_NOT_FOUND')  # status and code
    | http.on(AlreadyLent).responds(409, 'ALREADY_LENT')
)

print(answer(lend('1')))
print(answer(lend('9')))

lend('2')
