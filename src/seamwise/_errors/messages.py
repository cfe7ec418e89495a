"""Message templates: checked when a class is created, filled in without exceptions or secrets."""

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from string import Formatter
from types import UnionType
from typing import Annotated, Any, NamedTuple, Union, get_args, get_origin

from seamwise._errors.internal import INTERNAL
from seamwise._text.secrets import MASK, Secret
from seamwise._text.shortening import VALUE_LIMIT, shorten
from seamwise.redaction import redact, redact_named
from seamwise.redaction.settings import current

_CONVERSIONS: Mapping[str | None, Callable[[object], str]] = {'r': repr, 's': str, 'a': ascii}


class Part(NamedTuple):
    """Literal text of a template and the field after it, if there is one."""

    text: str
    field: str | None
    conversion: str | None
    spec: str


@lru_cache(maxsize=4096)
def parse_template(template: str) -> tuple[Part, ...]:
    """Split a template into its parts; raises ValueError with the reason if it is malformed."""
    return tuple(
        Part(text, field, conversion, spec or '')
        for text, field, spec, conversion in Formatter().parse(template)
    )


def validate_template(template: str, fields: Mapping[str, object]) -> None:
    """Raise ValueError if `template` does not fit `fields`, a mapping of names to annotations."""
    for part in parse_template(template):
        if part.field is None:
            continue
        if not part.field:
            raise ValueError('`{}` names no field; write the name of one, as in `{path}`')
        if not part.field.isidentifier():
            raise ValueError(f'`{{{part.field}}}` is not the plain name of a field')
        if part.field not in fields:
            raise ValueError(f'there is no field {part.field!r}')
        if part.conversion not in {None, *_CONVERSIONS}:
            raise ValueError(f'`!{part.conversion}` is no conversion; use !r, !s or !a')
        if '{' in part.spec:
            raise ValueError(f'the format of {part.field!r} must not contain fields')
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
    if not part.spec:
        return
    for sample in [''] if part.conversion else _samples(annotation):
        try:
            format(sample, part.spec)
        except ValueError as error:
            raise ValueError(
                f'the format {part.spec!r} does not fit {part.field!r}: {error}'
            ) from None


def _samples(annotation: object) -> list[object]:
    """Return a value of each type of a union that has a known format."""
    if get_origin(annotation) is Annotated and get_args(annotation)[1] is INTERNAL:
        return _samples(get_args(annotation)[0])
    types: Iterable[object] = [annotation]
    if isinstance(annotation, str):
        types = [name.strip() for name in annotation.split('|')]
    elif get_origin(annotation) in {Union, UnionType}:
        types = get_args(annotation)
    # Other annotations may not be hashable.
    return [
        _SAMPLES[type_] for type_ in types if isinstance(type_, (type, str)) and type_ in _SAMPLES
    ]


def field_names(template: str) -> set[str]:
    """Return the names of the fields in a template.

    For a malformed template the result is the empty name, which is no field of any class.
    """
    try:
        return {part.field for part in parse_template(template) if part.field is not None}
    except ValueError:
        return {''}


def fill(template: str, values: object) -> str:
    """Fill a checked template with the attributes of `values`.

    Secrets are masked. Long values and the message are cut.
    """
    return shorten(
        ''.join([part.text + _format(part, values) for part in parse_template(template)])
    )


def append_problems(text: str, values: object) -> str:
    """Append the items of the field `problems` of `values` that have a pointer and a message.

    >>> from seamwise.catalog.problem import Problem
    >>> from seamwise.catalog.workspace import ConfigInvalid
    >>> error = ConfigInvalid('app.toml', (Problem('/port', 'must be a number'),))
    >>> append_problems('The file is not valid.', error)
    'The file is not valid. /port: must be a number.'
    """
    problems: Any = getattr(values, 'problems', None)
    items: tuple[object, ...] = problems if type(problems) is tuple else ()  # pyright: ignore[reportUnknownVariableType]  # isinstance does not tell the members
    lines: list[str] = []
    for problem in items:
        pointer: object = getattr(problem, 'pointer', None)
        message: object = getattr(problem, 'message', None)
        if isinstance(pointer, str) and isinstance(message, str):
            lines.append(f'{pointer}: {message}' if pointer else message)
    return shorten(f'{text} {"; ".join(lines)}.') if lines else text


def _format(part: Part, values: object) -> str:
    if part.field is None:
        return ''
    value: object = getattr(values, part.field)
    if type(value) is Secret:
        return MASK
    if current().is_sensitive(part.field):
        value = redact_named(part.field, value)
    is_cut = False
    if isinstance(value, str) and len(value) > VALUE_LIMIT:
        is_cut = True
        # Redact before the cut: half a credential no longer looks like one.
        value = shorten(redact(value), VALUE_LIMIT)
    try:
        if part.conversion is not None:
            value = _CONVERSIONS[part.conversion](value)
        # The format is for the value of an optional field; None accepts none.
        text = 'None' if value is None else format(value, part.spec)
        # Quotes make a cut text longer again; it is not cut twice.
        return text if is_cut else shorten(text, VALUE_LIMIT)
    # seamwise: allow[SW103] one value must not cost the message; `_safe_call` would be slower
    except Exception:  # noqa: BLE001
        # For example, the type of the value is not the declared one.
        return shorten(object.__repr__(value), VALUE_LIMIT)
