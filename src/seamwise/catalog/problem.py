"""One finding in a document; errors of several domains list them."""

from msgspec import Struct


class Problem(Struct, frozen=True):
    """A mistake in a document and its position; `pointer` is a JSON Pointer (RFC 6901)."""

    pointer: str
    message: str
