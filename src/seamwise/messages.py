"""Message templates: checked once when a class is made, filled in without ever failing or telling a secret."""

from collections.abc import Callable, Mapping
from functools import lru_cache
from re import match
from string import Formatter
from typing import NamedTuple

from seamwise.redaction import redact
from seamwise.secrets import MASK, Secret

TEXT_LIMIT = 1024
"""A free text on any wire has at most so many characters, then it says how many more there were."""

VALUE_LIMIT = 200
"""A value inside a message has at most so many characters."""

_CONVERSIONS: Mapping[str | None, Callable[[object], str]] = {'r': repr, 's': str, 'a': ascii}


class Part(NamedTuple):
    """A stretch of text, and the field that follows it, if any."""

    text: str
    field: str | None
    conversion: str | None
    spec: str


@lru_cache(maxsize=4096)
def parse_template(template: str) -> tuple[Part, ...]:
    """Take a template apart; raises ValueError with the reason where it is no template."""
    return tuple(
        Part(text, field, conversion, spec or '')
        for text, field, spec, conversion in Formatter().parse(template)
    )


def check_template(template: str, fields: Mapping[str, object]) -> None:
    """Raise ValueError where `template` does not fit `fields` (name to annotation)."""
    for part in parse_template(template):
        if part.field is None:
            continue
        if not part.field:
            raise ValueError('`{}` names no field')
        if not part.field.isidentifier():
            raise ValueError(f'`{{{part.field}}}` is not the plain name of a field')
        if part.field not in fields:
            raise ValueError(f'there is no field {part.field!r}')
        if part.conversion not in {None, *_CONVERSIONS}:
            raise ValueError(f'`!{part.conversion}` is no conversion: use !r, !s or !a')
        if '{' in part.spec:
            raise ValueError(f'the format of {part.field!r} must not hold fields itself')
        _check_spec(part, fields[part.field])


_SAMPLES: Mapping[object, object] = {
    int: 1,
    float: 1.0,
    str: '',
    bool: True,
    'int': 1,
    'float': 1.0,
    'str': '',
    'bool': True,
}


def _check_spec(part: Part, annotation: object) -> None:
    sample = '' if part.conversion else _SAMPLES.get(annotation)
    if sample is None or not part.spec:
        return
    try:
        format(sample, part.spec)
    except ValueError as reason:
        raise ValueError(
            f'the format {part.spec!r} does not fit {part.field!r}: {reason}'
        ) from None


def field_names(template: str) -> set[str]:
    """Give the fields that a template names; one that cannot be read names a field that nobody has."""
    try:
        return {part.field for part in parse_template(template) if part.field is not None}
    except ValueError:
        return {''}


def fill(template: str, values: object) -> str:
    """Fill a checked template from the attributes of `values`: secrets masked, long values and the whole cut."""
    return shorten(''.join([part.text + _shown(part, values) for part in parse_template(template)]))


def _shown(part: Part, values: object) -> str:
    if part.field is None:
        return ''
    value: object = getattr(values, part.field)
    if type(value) is Secret:
        return MASK
    is_cut = False
    if isinstance(value, str) and len(value) > VALUE_LIMIT:
        is_cut = True
        # Half a credential is not known as one any more: it must go before the cut.
        value = shorten(redact(value), VALUE_LIMIT)
    try:
        if part.conversion is not None:
            value = _CONVERSIONS[part.conversion](value)
        said = format(value, part.spec)
        # Quotes around a text that has been cut are no reason to cut it again.
        return said if is_cut else shorten(said, VALUE_LIMIT)
    # seamwise: allow[SW103] the reader of an error must not lose its message to one value; here and not in _foreign for its speed
    except Exception:  # noqa: BLE001
        # A value of another type than declared must not cost the reader the whole message.
        return shorten(object.__repr__(value), VALUE_LIMIT)


def shorten(text: str, limit: int = TEXT_LIMIT) -> str:
    """Cut `text` after `limit` characters and say how many more there were; cut once, however often called.

    >>> shorten('abcdefgh', 5)
    'abcde… (3 more)'
    """
    if len(text) <= limit or (match(r'… \(\d+ more\)\Z', text[limit:]) is not None):
        return text
    return f'{text[:limit]}… ({len(text) - limit} more)'
