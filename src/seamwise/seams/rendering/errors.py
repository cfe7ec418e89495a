"""Messages, fields and causes of errors that are safe to show, and redacted errors."""

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from typing import TypeVar

from msgspec import NODEFAULT, structs

from seamwise._defects.entries import Link
from seamwise._errors.causes import causes, error_chain
from seamwise._errors.codec import PYDANTIC_FORM, PublicFields
from seamwise._errors.errors import HIDES_INTERNAL, TAG_FIELD, TaggedError
from seamwise._errors.messages import field_names
from seamwise._errors.reported import ReportedCause
from seamwise._errors.texts import message_of, public_message
from seamwise._errors.type_hints import PAIRS, is_secret, resolved_hints
from seamwise._text.jsonable import DEPTH_LIMIT, safe_str, to_builtins_dict
from seamwise._text.secrets import Secret
from seamwise._text.shortening import shorten
from seamwise.redaction import redact
from seamwise.seams.rendering.nested_errors import replace_errors
from seamwise.seams.rendering.values import counted_line, masked_places, safe_items, safe_text

K = TypeVar('K', bound=TaggedError)


def safe_message(error: TaggedError, locale: str = 'en') -> str:
    """Return the message of an error in a language, safe to show.

    >>> from seamwise.catalog.tools import FileNotFound
    >>> safe_message(FileNotFound('read_file', 'https://ann:hunter2@example.org/a'))
    "'https://***@example.org/a' does not exist."
    """
    # Redact before formatting too: a message cuts long values, and the first half of a secret
    # no longer matches the patterns of redaction.
    return safe_text(message_of(redact(error), locale))


def safe_public_message(error: TaggedError, locale: str = 'en') -> str:
    """Return the message of an error for clients like `safe_message`, without its internal fields.

    >>> from seamwise.catalog.tools import FileNotFound
    >>> safe_public_message(FileNotFound('read_file', 'a.txt'), 'zh_CN')
    "'a.txt' 不存在。"
    """
    with _public_texts():
        safe_error = redact(error)
        changes = {
            name: part
            for name in safe_error.__struct_fields__
            if (part := _public_text(value := getattr(safe_error, name), locale)) is not value
        }
        shown = structs.replace(safe_error, **changes) if changes else safe_error
        return safe_text(public_message(shown, locale))


@contextmanager
def _public_texts() -> Generator[None]:
    """Leave internal fields out of `str` and `repr` of errors inside a `with` block.

    A model of pydantic, an exception or an object without a form of its own is shown as its text.
    """
    token = HIDES_INTERNAL.set(True)
    try:
        yield
    finally:
        HIDES_INTERNAL.reset(token)


def _public_text(value: object, locale: str) -> object:
    """Return a value whose text, as a part of a message, has no internal field of an error."""
    if isinstance(value, TaggedError):
        return safe_public_message(value, locale)
    return value if isinstance(value, BaseException) else public_form(value, depth=DEPTH_LIMIT)


def counted_message(error: TaggedError) -> tuple[str, int]:
    """Return the message like `safe_message`, and the number of masked places in it."""
    shown_fields = field_names(error.__traits__.template)
    fields = {
        name: getattr(error, name) for name in error.__struct_fields__ if name in shown_fields
    }
    message, masked = counted_line(message_of(redact(error)))
    return shorten(message), masked + masked_places(fields)


def all_fields(error: TaggedError) -> dict[str, object]:
    """Return the fields of an error, safe to show, without its cause and its secrets."""
    return safe_items(_visible_fields(error, all_field_names(type(error))))


def public_fields(error: TaggedError) -> dict[str, object]:
    """Return the fields of an error like `all_fields`, without the internal ones.

    Errors in the fields have their public form.
    """
    return public_items(_visible_fields(error, public_field_names(type(error))))


def public_form(value: object, *, depth: int | None = None) -> object:
    """Replace each tagged error in a value, at any depth, by its tag and its public fields.

    Args:
        value: The value, without cycles. A value without errors is returned itself.
        depth: The number of levels that are kept. Default: all.
    """
    return replace_errors(value, _tag_and_fields, depth=depth)


@contextmanager
def public_in_pydantic() -> Generator[None]:
    """Let pydantic write errors in their public form inside a `with` block.

    `public_form` sees the fields of a model, but not what its computed fields and serializers add.
    """
    token = PYDANTIC_FORM.set(_tag_and_fields)
    try:
        yield
    finally:
        PYDANTIC_FORM.reset(token)


def _tag_and_fields(error: TaggedError) -> dict[str, object]:
    return PublicFields({TAG_FIELD: error.tag, **public_fields(error)})


def public_items(values: Mapping[str, object]) -> dict[str, object]:
    """Return a mapping with safe values like `safe_items`, and its errors in their public form."""
    with _public_texts():
        # Redaction removes cycles.
        items = redact(values)
        return to_builtins_dict(
            {name: public_form(value, depth=DEPTH_LIMIT) for name, value in items.items()}
        )


@lru_cache(maxsize=4096)
def pair_fields(kind: type[TaggedError]) -> frozenset[str]:
    """Return the names of the fields whose pairs are shown as an object."""
    try:
        fields = structs.fields(kind)
    except NameError:
        # An annotation that cannot be resolved at run time does not name `Pairs`.
        return frozenset()
    return frozenset(
        field.name for field in fields if PAIRS in getattr(field.type, '__metadata__', ())
    )


def field_values(error: TaggedError, names: tuple[str, ...]) -> dict[str, object]:
    """Return some fields of an error, with pairs as a mapping."""
    pairs = pair_fields(type(error))
    return {
        name: as_object(getattr(error, name)) if name in pairs else getattr(error, name)
        for name in names
    }


def as_object(pairs: tuple[tuple[str, str], ...]) -> object:
    """Return pairs as a mapping; anything else, which type checkers refuse, as it is."""
    try:
        return dict(pairs)
    except (TypeError, ValueError):
        return pairs


def _visible_fields(error: TaggedError, names: tuple[str, ...]) -> dict[str, object]:
    fields = field_values(error, names)
    return {name: value for name, value in fields.items() if not isinstance(value, Secret)}


@lru_cache(maxsize=4096)
def all_field_names(kind: type[TaggedError]) -> tuple[str, ...]:
    """Return the names of all fields of a class, except its cause and its secrets."""
    # By annotation, not by value: whether an optional secret is set must not be shown either.
    annotations = resolved_hints(kind)
    return tuple(
        name
        for name in kind.__struct_fields__
        if name != 'cause' and not is_secret(annotations.get(name))
    )


@lru_cache(maxsize=4096)
def public_field_names(kind: type[TaggedError]) -> tuple[str, ...]:
    """Return the names of the fields of a class that clients may see.

    They are all fields except the cause, the secrets and the internal ones.
    """
    internal = kind.__traits__.internal
    return tuple(name for name in all_field_names(kind) if name not in internal)


@lru_cache(maxsize=4096)
def fields_with_null(kind: type[TaggedError]) -> frozenset[str]:
    """Return the names of the fields whose default is a value: for them, None is not the default.

    All other fields can be left out if they are None.
    """
    # Not the fields of msgspec, which fail for a type that only type checkers import.
    defaults = zip(
        reversed(kind.__struct_fields__), reversed(kind.__struct_defaults__), strict=False
    )
    return frozenset(
        name for name, default in defaults if default is not NODEFAULT and default is not None
    )


def redacted(error: K) -> K:
    """Return an error with redacted texts in full length; its cause is unchanged.

    The texts may be cut afterwards: no secret is left in them.
    """
    copy = redact(error)
    if 'cause' not in error.__struct_fields__:
        return copy
    return structs.replace(copy, cause=getattr(error, 'cause', None))


def direct_cause(error: TaggedError) -> Link | None:
    """Return the direct cause of an error, safe to show, or None if it has none."""
    return next(map(cause_link, causes(error)), None)


def all_causes(error: TaggedError) -> tuple[Link, ...]:
    """Return the whole chain of causes of an error, nearest first, safe to show."""
    if getattr(error, 'cause', None) is None:
        return ()
    return tuple(cause_link(cause) for cause in error_chain(error) if cause is not error)


def cause_link(cause: TaggedError | BaseException) -> Link:
    """Return the type and the message of a cause, safe to show."""
    if isinstance(cause, ReportedCause):
        return Link(safe_text(cause.type), safe_text(cause.message))
    if isinstance(cause, TaggedError):
        return Link(cause.tag, safe_message(cause))
    return Link(type(cause).__name__, safe_text(safe_str(cause)))
