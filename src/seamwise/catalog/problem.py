"""A finding in a document: what is wrong with it, and where. Several domains have errors that list them."""

from msgspec import Struct


class Problem(Struct, frozen=True):
    """What is wrong, and where: `pointer` is a JSON Pointer (RFC 6901)."""

    pointer: str
    message: str
