import hashlib
import http
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from enum import IntEnum
from http import HTTPMethod, HTTPStatus
from http import client as http_client
from json import dumps as as_text
from typing import TYPE_CHECKING, ClassVar, NoReturn, Protocol

import click
import msgspec
import rich
from fastapi import HTTPException, status
from rich.console import Console
from starlette.responses import JSONResponse

import seamwise.seams.cli  # finds: SW109
from seamwise import Category, Failure, Result, Success, TaggedError, seams  # finds: SW109
from seamwise.seams.http import on  # finds: SW109

if TYPE_CHECKING:
    from seamwise.seams.http import HttpError  # finds: SW109


# case: a domain error that knows its domain
class OrderNotFound(TaggedError, category=Category.NOT_FOUND, message='There is no order {number}.'):
    number: int


# case: a status as a field
class Gone(TaggedError, category=Category.NOT_FOUND, message='gone'):
    http_status: int = 410  # finds: SW109


# case: a status as a constant of the class
class Held(TaggedError, category=Category.CONFLICT, message='held'):
    status_code: ClassVar[int] = 409  # finds: SW109


# case: a status that must be given
class Refused(TaggedError, category=Category.CONFLICT, message='refused'):
    status_code: int  # finds: SW109


# case: a code of HTTP as the code of an error
class Full(TaggedError, category=Category.CAPACITY, message='full'):
    code: int = 503  # finds: SW109


# case: a code that is none of HTTP
class Unknown(TaggedError, category=Category.NOT_FOUND, message='unknown'):
    code: int = 4711


# case: an exit code
class Broken(TaggedError, category=Category.EXECUTION, message='broken'):
    exit_code: int = 2  # finds: SW109


# case: a colour of a terminal
class Red(TaggedError, category=Category.CONFLICT, message='red'):
    colour: str = 'red'  # finds: SW109


# case: a paint has a colour, and an error may speak of it
@dataclass(frozen=True)
class Paint:
    colour: str = 'red'
    code: int = 404


# case: an error may speak of a colour
class PaintSoldOut(TaggedError, category=Category.NOT_FOUND, message='There is no {colour} paint.'):
    colour: str


# case: to_dict of an error
class Written(TaggedError, category=Category.CONFLICT, message='written'):
    def to_dict(self) -> dict[str, object]:  # finds: SW109
        return {}


# case: to_dict with a decorator, of any class
class Basket:
    @classmethod
    def to_dict(cls) -> dict[str, object]:  # finds: SW109
        return {}


# case: to_dict of an interface
class Writes(Protocol):
    def to_dict(self) -> dict[str, object]: ...  # finds: SW109


# case: a method that returns the status
class Asked(TaggedError, category=Category.CONFLICT, message='asked'):
    kind: int

    @property
    def http_status(self) -> int:  # finds: SW109
        return self.kind


# case: a method that returns the status as a number
class Told(TaggedError, category=Category.CONFLICT, message='told'):
    def status_code(self) -> int:
        return 409  # finds: SW109


# case: a method with an ambiguous name
class Line:
    def as_dict(self) -> dict[str, object]:
        return {}


# case: a status of the domain
class Parcel:
    def status(self) -> str:
        return 'on its way'

    # case: from_dict
    def from_dict(self, given: dict[str, int]) -> int:
        return given['number']


# case: HTTPStatus, in a return
def status_of(error: OrderNotFound) -> int:
    return HTTPStatus.NOT_FOUND  # finds: SW109


# case: HTTPStatus, through its module, in an annotation
def annotated(error: OrderNotFound) -> 'int':
    found: http.HTTPStatus | None = None  # finds: SW109
    return error.number


# case: a status of the client library
def of_client() -> int:
    return http_client.NOT_FOUND  # finds: SW109


# case: other members of http
def method() -> str:
    return HTTPMethod.GET.value


# case: a port
def port() -> int:
    return http_client.HTTPS_PORT


# case: a framework's exception
def raises() -> NoReturn:
    raise HTTPException(status_code=404)  # finds: SW109


# case: a framework's constant
def constant() -> int:
    return status.HTTP_409_CONFLICT  # finds: SW109


# case: a framework's response, over several lines
def responds() -> object:
    return JSONResponse(  # finds: SW109
        {},
        status_code=404,
    )


# case: a table of statuses by class
TABLE = {OrderNotFound: 404, Full: 503}  # finds: SW109


# case: a table of statuses by name
STATUS = {'order_not_found': 404}  # finds: SW109


# case: a table of other numbers
SHELVES = {'books': 404, 'paint': 503}


# case: a status by keyword
def answer(text: str, status: int = 200) -> str:
    return f'{status} {text}'


def by_keyword() -> str:
    return answer('no', status=404)  # finds: SW109


# case: a status by position
def by_position() -> str:
    return answer('no', 404)  # finds: SW109


# case: a status as a default
def by_default(*, status_code: int = 500) -> int:  # finds: SW109
    return status_code


# case: a status compared
class Answer:
    status_code: int = 0
    body: str = ''


def compares(given: Answer) -> bool:
    if given.status_code == 404:  # finds: SW109
        return False
    return True


# case: a status matched
def matches(given: Answer) -> str:
    match given.status_code:
        case 404 | 410:  # finds: SW109
            return 'gone'
        case _:
            return 'here'


# case: a function that returns codes of errors
def code_for(error: OrderNotFound | Full) -> int:
    match error:
        case OrderNotFound():
            return 404  # finds: SW109
        case Full():
            return 503  # finds: SW109


# case: numbers of the domain
ORDER_NUMBER = 404
AREA_CODE = 415


# case: a status of orders
order_status = 402


# case: fields of the domain
@dataclass
class Order:
    number: int
    status: str = 'open'
    zip_code: int = 500


# case: an enumeration of the domain
class OrderStatus(IntEnum):
    OPEN = 400
    CLOSED = 500


# case: an order with such a number
def order_404() -> Order:
    order = Order(404)
    if order.number == 500:
        return Order(number=503)
    return order


# case: a postcode
def postcode() -> int:
    return 404


# case: a code that is no error's
def country_code(name: str) -> int:
    return 404 if name == 'nowhere' else 500


# case: json.dumps
def writes(order: Order) -> str:
    return json.dumps({'number': order.number})  # finds: SW109


# case: json.dumps under another name, as a value
WRITERS = {'json': as_text}  # finds: SW109


# case: json.dumps for a key
def key(order: Order) -> str:
    return hashlib.sha256(json.dumps(order.number).encode()).hexdigest()  # finds: SW109


# case: another library that writes JSON
def encodes(order: Order) -> bytes:
    return msgspec.json.encode(order)  # finds: SW109


# case: another library that writes JSON, with an encoder created earlier
ENCODER = msgspec.json.Encoder()  # finds: SW109


# case: JSON that is read
def reads(text: str) -> object:
    return json.loads(text)


# case: JSON that is decoded
def decodes(text: str) -> int:
    return msgspec.json.decode(text, type=int)


# case: JSON that cannot be read
def fails_to_read(text: str) -> bool:
    try:
        json.loads(text)
    except json.JSONDecodeError:
        return False
    return True


# case: a local thing called json
class Book:
    def dumps(self, number: int) -> str:
        return str(number)


def shadows(json: Book) -> str:
    return json.dumps(404)


# case: words in a docstring
def documented() -> None:
    """Gives no HTTPStatus.NOT_FOUND, 404, json.dumps, sys.exit or \\x1b[31m colour; `to_dict` neither."""


# case: words in a text
def worded() -> str:
    # json.dumps(HTTPStatus.NOT_FOUND)
    return 'json.dumps(HTTPStatus.NOT_FOUND), status 404, exit code 2'


# case: an escape
def escapes(text: str) -> str:
    return f'\x1b[31m{text}\x1b[0m'  # finds: SW109


# case: an escape by its number
BOLD = '\033[1m'  # finds: SW109


# case: a colour of a library
def styles(text: str) -> str:
    return click.style(text, fg='red')  # finds: SW109


# case: a library for terminals
def prints(text: str) -> None:
    rich.print(text)  # finds: SW109


# case: a library for terminals, in a signature
def shows(console: Console) -> None:  # finds: SW109
    return None


# case: an end of the program
def leaves() -> NoReturn:
    sys.exit(2)  # finds: SW109


# case: an end of the program, raised
def raises_exit() -> NoReturn:
    raise SystemExit(2)  # finds: SW109


# case: an end of the program, by its own constant
def of_os() -> int:
    return os.EX_USAGE  # finds: SW109


# case: an end of the program that is let pass
def lets_pass() -> None:
    try:
        leaves()
    except (KeyboardInterrupt, SystemExit):
        raise


# case: an exit code, given by a function
def exit_code(error: OrderNotFound) -> int:
    return 3  # finds: SW109


# case: the exit code of another program
def runs(command: list[str]) -> bool:
    done = subprocess.run(command, check=False)
    return done.returncode == 2


# case: other members of sys and os
def version() -> str:
    return f'{sys.version} {os.getpid()}'


# case: results as they are
def find_order(number: int) -> Result[Order, OrderNotFound]:
    return Success(Order(number)) if number == 404 else Failure(OrderNotFound(number=404))


# case: an exit code that is compared
@dataclass
class Done:
    exit_code: int
    output: str


def succeeded(done: Done) -> bool:
    return done.exit_code == 0 or done.exit_code in (1, 2)


# case: small numbers as a status
def small(order: Order, status: int = 1) -> bool:
    return status == 2 or order.number == 200


# case: an error made of a number
def not_found() -> OrderNotFound:
    return OrderNotFound(404)


# case: numbers that are compared
def is_special(number: int) -> bool:
    return number in {404, 500} or 400 <= number < 500


# case: numbers that are matched
def shelf(number: int) -> str:
    match number:
        case 404:
            return 'books'
        case 500:
            return 'paint'
        case _:
            return ''


# case: a status in words
def in_words(status: str) -> bool:
    return status == '404'


# case: a status that is true or false
def flagged(*, status: bool = True) -> bool:
    return status is True


# case: a class of the domain with a familiar name
class JSONEncoder:
    """Of this shop: it packs parcels."""


class Response:
    pass


def own_names() -> tuple[JSONEncoder, Response]:
    return JSONEncoder(), Response()


# case: a method called exit
class Door:
    def exit(self, code: int) -> None:
        return None


def leaves_by(door: Door, sys: Door) -> None:
    door.exit(404)
    sys.exit(2)


# case: colours of paint
COLOURS = {'red': 1, 'green': 2}


def mix(colour: str, other: str = 'green') -> list[str]:
    return sorted([colour, other, 'red'])


# case: a bracket that is no escape
LIST = '[31m] is 31 metres'


# case: prices and quantities
PRICES = {'book': 404, 'paint': 503, 'status': 'open'}


# case: categories of the library
CATEGORY = Category.NOT_FOUND
RETRYABLE = Category.TIMEOUT.retryable


# case: an error with a limit
class Slow(TaggedError, category=Category.TIMEOUT, message='It took more than {limit} seconds.'):
    limit: int = 504


# case: a code in words
class Worded(TaggedError, category=Category.CONFLICT, message='worded'):
    code: str = 'E404'


# case: a version of a protocol
PROTOCOL = (4, 0, 4)
RETRIES = 429


# case: allowed with a reason
def signature(order: Order) -> str:
    return json.dumps(order.number, sort_keys=True)  # seamwise: allow[SW109] what is signed is this text
