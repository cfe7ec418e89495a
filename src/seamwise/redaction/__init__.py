"""Redaction: copies of values with all secrets masked."""

from collections.abc import Mapping
from typing import TypeVar, overload

import msgspec

from seamwise.redaction.scalars import CONTAINER, redact_scalar

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
    """Return a copy of `value` in which every secret is masked, at any depth.

    Three kinds of secrets are masked: values under a sensitive name (including whole containers),
    credentials with a known form, and values that a text assigns to a sensitive name. JSON in a
    text is searched too. The result has the same structure:

    - Mappings become dicts; lists, tuples and sets keep their types.
    - Structs and dataclasses keep their classes and are copied without `__post_init__`. A `Secret`
      in a field becomes a `Secret` of the mask, elsewhere the mask as text.
    - Bytes become `<N bytes>`, exceptions their text, and a container inside itself `<cycle>`.
    - Any other object is kept unless its `str` or `repr` contains a secret; then it becomes the
      redacted text.

    >>> redact({'user': 'ann', 'apiKey': 'k-1', 'max_tokens': 5, 'body': b'...'})
    {'user': 'ann', 'apiKey': '***', 'max_tokens': 5, 'body': '<3 bytes>'}
    >>> redact('curl -H "Authorization: Bearer abc123" https://ann:hunter2@example.org/')
    'curl -H "Authorization: Bearer ***" https://***@example.org/'
    """
    redacted = redact_scalar(value)
    if redacted is not CONTAINER:
        return redacted
    # Compiling the patterns takes longer than all other imports.
    from seamwise.redaction.containers import ContainerRedaction  # noqa: PLC0415

    return ContainerRedaction().run(value)
