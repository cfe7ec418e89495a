"""What may be shown of an error: the quick way for the many that hold short and harmless values only, and the thorough one."""

from collections.abc import Callable
from functools import lru_cache
from math import isfinite
from typing import NamedTuple, TypeAlias

from msgspec.structs import asdict

from seamwise._text.jsonable import replace_surrogates
from seamwise.errors import TaggedError
from seamwise.messages import TEXT_LIMIT, VALUE_LIMIT, field_names
from seamwise.redaction.sensitive_names import is_sensitive
from seamwise.seams._common import _public_names, message_of, public_fields
from seamwise.seams._render_cache import RenderCache
from seamwise.seams._secret_prefilter import find_suspect

_WIDEST = 2**63


_Seen: TypeAlias = tuple[str, dict[str, object]]


class _Plan(NamedTuple):
    """How the errors of a class are read, and what was seen of them before."""

    message: Callable[[dict[str, object]], str]
    private: tuple[str, ...]
    known: RenderCache[_Seen]


def public_view(error: TaggedError) -> tuple[str, dict[str, object]]:
    """Give what is shown of an error: its message and its fields, as `message_of` and `public_fields` give them.

    >>> from seamwise.catalog.storage import RecordNotFound
    >>> public_view(RecordNotFound('user', 'u-17'))
    ("There is no user 'u-17'.", {'kind': 'user', 'key': 'u-17'})
    """
    plan = _plan(type(error))
    if plan is None:
        return message_of(error), public_fields(error)
    known = plan.known.get(error)
    if known is None:
        known = _at_a_glance(error, plan)
        if known is None:
            return message_of(error), public_fields(error)
        plan.known.keep(error, known)
    message, fields = known
    return message, fields.copy()


def _at_a_glance(error: TaggedError, plan: _Plan) -> _Seen | None:
    fields = asdict(error)
    for name in plan.private:
        del fields[name]
    try:
        message = plan.message(fields)
    except (TypeError, ValueError):
        return None
    # Within this length no value in the message can have been too long.
    texts = _texts(message, fields) if len(message) <= VALUE_LIMIT else None
    if texts is None or find_suspect(texts.lower()):
        return None
    return message, fields


def _texts(texts: str, fields: dict[str, object]) -> str | None:
    """Give the texts and those that the fields add, or None where there is more than short texts and plain values."""
    for name, value in fields.items():
        if type(value) is str:
            if len(value) > TEXT_LIMIT:
                return None
            if value not in texts:
                texts += ' ' + value
        elif value == ():
            fields[name] = []
        elif not _is_plain(value):
            return None
    return texts if texts.isascii() or replace_surrogates(texts) == texts else None


def _is_plain(value: object) -> bool:
    if value is None or type(value) is bool:
        return True
    if type(value) is int:
        return -_WIDEST <= value < _WIDEST
    return type(value) is float and isfinite(value)


@lru_cache(maxsize=4096)
def _plan(kind: type[TaggedError]) -> _Plan | None:
    public = _public_names(kind)
    template = kind.__traits__.template
    is_usual = (
        kind.__str__ is TaggedError.__str__
        and field_names(template) <= set(public)
        and not any(map(is_sensitive, public))
    )
    private = tuple(name for name in kind.__struct_fields__ if name not in public)
    return _Plan(template.format_map, private, RenderCache()) if is_usual else None
