"""Errors as a session stores them beside its messages: a name, and data with the message in it."""

from collections.abc import Mapping

from msgspec import Struct

from seamwise.errors import TaggedError
from seamwise.seams._common import message_of, public_fields


class NamedMessage(Struct, frozen=True):
    """An error in a stored message; `data` has at least a `message`."""

    name: str
    data: Mapping[str, object]


def message(error: TaggedError) -> NamedMessage:
    """Give the stored form of an error: its tag, its message, and its fields but the cause and the secrets.

    >>> from seamwise.catalog.tools import FileNotFound
    >>> message(FileNotFound('read_file', 'a.txt')).name
    'FileNotFound'
    """
    return NamedMessage(error.tag, {'message': message_of(error), **public_fields(error)})
