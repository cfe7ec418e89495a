"""Values of a Success with a status of their own: `Created`, `Accepted`, `NoContent`."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import ClassVar, Generic, TypeVar
from urllib.parse import quote

from msgspec import Struct
from typing_extensions import TypeIs

T_co = TypeVar('T_co', covariant=True)

_SAFE_IN_URI = ":/%#?=@[]!$&'()*+,;"
"""Characters of a URI reference that are not escaped in a header (RFC 3986, 2.2)."""


class Created(Struct, Generic[T_co], frozen=True):
    """A value that the request created: status 201, and the header Location if there is one.

    >>> Created({'id': 7}, location='/orders/7').location
    '/orders/7'
    """

    status: ClassVar[int] = HTTPStatus.CREATED.value

    value: T_co
    location: str | None = None


class Accepted(Struct, Generic[T_co], frozen=True):
    """A value for a request that will be processed later: status 202."""

    status: ClassVar[int] = HTTPStatus.ACCEPTED.value

    value: T_co


class NoContent(Struct, frozen=True):
    """A success without a body: status 204."""

    status: ClassVar[int] = HTTPStatus.NO_CONTENT.value

    value: ClassVar[None] = None


STATUS_VALUES = (Created, Accepted, NoContent)


class Outcome(Struct, frozen=True):
    """The value to write for a Success, with its status (None: the default) and headers."""

    value: object
    status: int | None = None
    headers: Mapping[str, str] = {}


def outcome_of(value: object) -> Outcome:
    """Return what to write for the value of a Success."""
    # Most values have none of these statuses.
    if not _has_status(value):
        return Outcome(value)
    if _is_created(value):
        location = value.location
        headers = {} if location is None else {'location': quote(location, _SAFE_IN_URI)}
        return Outcome(value.value, value.status, headers)
    if _is_accepted(value):
        return Outcome(value.value, value.status)
    return Outcome(None, NoContent.status)


def _has_status(value: object) -> bool:
    """Return whether a value brings its own status."""
    return isinstance(value, STATUS_VALUES)


def _is_created(value: object) -> TypeIs[Created[object]]:
    return isinstance(value, Created)


def _is_accepted(value: object) -> TypeIs[Accepted[object]]:
    return isinstance(value, Accepted)
