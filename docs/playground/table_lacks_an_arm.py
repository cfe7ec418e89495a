# A table decides for every error what the clients of an API see. This one lacks an arm,
# and the type checker objects. Add it, run the program, and look at the seam HTTP:
#
#     | http.on(ShelfLocked).responds(409, 'SHELF_LOCKED')
from seamwise import Category, Failure, Result, Success, TaggedError
from seamwise.seams import http
from seamwise.seams.adapter import Adapter


class BookNotFound(TaggedError, category=Category.NOT_FOUND, message='There is no book {isbn!r}.'):
    isbn: str


class AlreadyLent(TaggedError, category=Category.CONFLICT, message='{reader} has the book.'):
    reader: str


class ShelfLocked(TaggedError, category=Category.CONFLICT, message='Shelf {shelf} is locked.'):
    shelf: int


AS_HTTP: Adapter[BookNotFound | AlreadyLent | ShelfLocked, http.HttpError] = (
    http.on(BookNotFound).responds(404, 'BOOK_NOT_FOUND')  # status and code
    | http.on(AlreadyLent).responds(409, 'ALREADY_LENT')
)


def find(isbn: str) -> Result[str, BookNotFound | AlreadyLent | ShelfLocked]:
    match isbn:
        case '1':
            return Success('Emma')
        case '2':
            return Failure(AlreadyLent('Bob'))
        case '3':
            return Failure(ShelfLocked(7))
        case _:
            return Failure(BookNotFound(isbn))


print(AS_HTTP(AlreadyLent('Bob')).status)

find('3')
