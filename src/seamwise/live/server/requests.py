"""Requests to the gateway: the positions and the attempts in them."""

from re import compile as pattern

from starlette.requests import HTTPConnection, Request

from seamwise._results.containers import Failure, Result, Success
from seamwise._text.shortening import shorten
from seamwise.catalog.sessions import InvalidInput
from seamwise.live.events import Position
from seamwise.live.log import Attempt

_CLIENT = pattern(r'[A-Za-z0-9_-]{1,64}').fullmatch
_NUMBER = pattern(r'[0-9]{1,15}').fullmatch


def read_position(request: Request) -> Result[Position | None, InvalidInput]:
    """Return the position of a reader: the header `Last-Event-ID`, else `?since=`, else None.

    A browser adds the header when it connects again to the same URL, so the header is newer.
    """
    text = request.headers.get('last-event-id') or request.query_params.get('since')
    if not text:
        return Success(None)
    position = Position.parse(text)
    if position is None:
        rule = 'a position is the id of an event, such as 9f2c:42'
        return Failure(InvalidInput(rule, shorten(text)))
    return Success(position)


def read_attempt(connection: HTTPConnection) -> Result[Attempt | None, InvalidInput]:
    """Return the attempt to connect of a client that names itself, else None."""
    client = connection.query_params.get('client')
    number = connection.query_params.get('attempt')
    if client is None and number is None:
        return Success(None)
    if client is None or number is None or not (_CLIENT(client) and _NUMBER(number)):
        rule = '?client= has 1 to 64 letters, digits, - and _, and &attempt= has 15 digits or fewer'
        return Failure(InvalidInput(rule, shorten(f'{client}, {number}')))
    return Success(Attempt(client, int(number)))
