"""Redaction: copies of values with all secrets masked."""

from collections.abc import Collection, Mapping
from typing import TypeVar, overload

import msgspec

from seamwise.redaction.prefilter import may_contain_secret
from seamwise.redaction.redactor import Redactor
from seamwise.redaction.settings import Entry, current
from seamwise.redaction.settings import configure as configure

S = TypeVar('S', bound=msgspec.Struct)


@overload
def redact(
    value: str, /, *, also: Collection[Entry] = (), never: Collection[Entry] = ()
) -> str: ...
@overload
def redact(value: S, /, *, also: Collection[Entry] = (), never: Collection[Entry] = ()) -> S: ...
@overload
def redact(
    value: Mapping[str, object],
    /,
    *,
    also: Collection[Entry] = (),
    never: Collection[Entry] = (),
) -> dict[str, object]: ...
@overload
def redact(
    value: object, /, *, also: Collection[Entry] = (), never: Collection[Entry] = ()
) -> object: ...
def redact(
    value: object, /, *, also: Collection[Entry] = (), never: Collection[Entry] = ()
) -> object:
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

    Booleans, None, measures such as `token_count`, and messages about a field are kept.

    Args:
        value: Any value; it is not changed.
        also: Further names, in any notation, and compiled patterns of secrets.
        never: Names whose values are kept, and compiled patterns of values to keep.

    Raises:
        TypeError: `also` or `never` is no collection of names and compiled patterns.

    >>> redact({'user': 'ann', 'apiKey': 'k-1', 'max_tokens': 5, 'body': b'...'})
    {'user': 'ann', 'apiKey': '***', 'max_tokens': 5, 'body': '<3 bytes>'}
    >>> redact('curl -H "Authorization: Bearer abc123" https://ann:hunter2@example.org/')
    'curl -H "Authorization: Bearer ***" https://***@example.org/'
    >>> redact('iban=DE02 csrf_token=x', also={'iban'}, never={'csrf_token'})
    'iban=*** csrf_token=x'
    """
    return redact_and_count(value, also=also, never=never)[0]


def redact_named(name: str, value: object) -> object:
    """Return the redacted value of a name, which may show that the value is secret.

    >>> redact_named('password', 'sommer'), redact_named('user', 'ann')
    ('***', 'ann')
    """
    # The name is redacted too, so it cannot be used as the key.
    return next(iter(redact({name: value}).values()))


def redact_part(text: str, start: int, end: int) -> str:
    """Return `text[start:end]` redacted, as a part of the text: cutting first would lose names.

    >>> redact_part('DB_PASSWORD=hunter2 ls', 8, 22)
    'ORD=*** ls'
    """
    settings = current()
    if not may_contain_secret(text, settings):
        return text[start:end]
    # Compiling the patterns takes longer than all other imports.
    from seamwise.redaction.engine import mask_secrets_of_part  # noqa: PLC0415

    return mask_secrets_of_part(text, start, end, settings)


@overload
def redact_and_count(
    value: Mapping[str, object],
    *,
    also: Collection[Entry] = (),
    never: Collection[Entry] = (),
) -> tuple[dict[str, object], int]: ...
@overload
def redact_and_count(
    value: object, *, also: Collection[Entry] = (), never: Collection[Entry] = ()
) -> tuple[object, int]: ...
def redact_and_count(
    value: object, *, also: Collection[Entry] = (), never: Collection[Entry] = ()
) -> tuple[object, int]:
    """Return a redacted copy of a value, and the number of masked places in it.

    >>> redact_and_count({'user': 'ann', 'token': 'abc', 'note': 'password=hunter2'})
    ({'user': 'ann', 'token': '***', 'note': 'password=***'}, 2)
    """
    settings = current()
    if also != () or never != ():
        settings = settings.with_entries(also, never)
    redactor = Redactor(settings)
    if type(value) is str:
        return redactor.text(value), redactor.masked
    # Compiling the patterns takes longer than all other imports.
    from seamwise.redaction.containers import redact_value  # noqa: PLC0415

    return redact_value(value, redactor), redactor.masked
