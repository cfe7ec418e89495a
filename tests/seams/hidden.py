"""The error that a client decodes if the server hides fields."""

from typing import TypeVar

import msgspec

from seamwise import TaggedError, sanitized
from seamwise._errors.type_hints import resolved_hints
from seamwise.seams.rendering.errors import all_field_names, public_field_names

E = TypeVar('E', bound=TaggedError)


def without_hidden(error: E, *, is_hidden: bool) -> E | None:
    """Return the shown error with the mask for hidden texts; None if a number would be needed.

    Args:
        error: The error that was sent.
        is_hidden: Whether the server hides all fields but the delay, not only the internal ones.
    """
    kind = type(error)
    sent = {*public_field_names(kind)} & (
        {'retry_after'} if is_hidden else {*all_field_names(kind)}
    )
    hints = resolved_hints(kind)
    changes: dict[str, object] = {}
    for field in msgspec.structs.fields(kind):
        if field.name in sent or field.name not in all_field_names(kind):
            continue
        if field.required and hints[field.name] is not str:
            return None
        changes[field.name] = '***' if field.required else field.default
    return msgspec.structs.replace(sanitized(error), **changes)
