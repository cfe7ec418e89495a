"""`redact`: the same value without its secrets, however deep they are and whatever holds them."""

from collections.abc import Mapping
from typing import TypeVar, overload

import msgspec

from seamwise.redaction.scalars import CONTAINER, leaf

S = TypeVar('S', bound=msgspec.Struct)


@overload
def redact(value: str, /) -> str: ...
@overload
def redact(value: S, /) -> S: ...
@overload
def redact(value: Mapping[str, object], /) -> dict[str, object]: ...
@overload
def redact(value: object, /) -> object: ...
def redact(value: object, /) -> object:
    """Give `value` with every secret in it masked; what was given is not changed, and no depth is too deep.

    Masked is what stands under a sensitive name (whole, containers too), what is a credential by its form, and
    what a text names; JSON inside a text is searched too. The shape stays: mappings become dicts, lists, tuples
    and sets stay such, a Struct and a dataclass stay of their class (copied without `__post_init__`), in which
    a `Secret` stays a `Secret`, of the mask. Everywhere else a `Secret` becomes the mask itself, as text, so that
    whatever encodes the result can show nothing. Bytes become `<N bytes>`, an exception the text of it, a
    container inside itself `<cycle>`. Any other object stays as it is if neither its `str` nor its `repr` holds
    a secret, else it becomes the redacted text.

    >>> redact({'user': 'ann', 'apiKey': 'k-1', 'max_tokens': 5, 'body': b'...'})
    {'user': 'ann', 'apiKey': '***', 'max_tokens': 5, 'body': '<3 bytes>'}
    >>> redact('curl -H "Authorization: Bearer abc123" https://ann:hunter2@example.org/')
    'curl -H "Authorization: Bearer ***" https://***@example.org/'
    """
    answer = leaf(value)
    if answer is not CONTAINER:
        return answer
    # Compiling the patterns takes longer than importing all else.
    from seamwise.redaction.containers import Walk  # noqa: PLC0415

    return Walk().run(value)
