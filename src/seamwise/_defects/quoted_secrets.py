"""Secrets that an exception of another library quotes, found by the structure of the exception."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from itertools import islice
from typing import Any, Final, TypeAlias

from seamwise._errors.causes import members
from seamwise._errors.errors import TaggedError
from seamwise._text.safe_call import call_or_describe
from seamwise.redaction.settings import current

MAX_ERRORS: Final = 100
"""Maximum number of exceptions and of validation errors that are searched."""

_Extractor: TypeAlias = Callable[[Any], Iterator[object]]


def quoted_secrets(error: object) -> frozenset[str]:
    """Return the texts that an exception and its causes quote under a sensitive name.

    pydantic, FastAPI, SQLAlchemy, attrs and jsonschema keep a value apart from its name, and also
    without it. An exception whose attributes raise has none.

    >>> class Attribute:
    ...     name = 'password'
    >>> Attribute.__module__ = 'attr._make'
    >>> quoted_secrets(TypeError('must be int', Attribute(), int, 'hunter2'))
    frozenset({'hunter2'})
    """
    return frozenset(
        text
        for link in _tree(error)
        for text in call_or_describe(partial(_secrets_of, link), lambda _: ())
    )


def _secrets_of(error: BaseException) -> tuple[str, ...]:
    return tuple(_texts((_extractor(type(error)) or _attrs)(error)))


def _tree(error: object) -> Iterator[BaseException]:
    seen: set[int] = set()
    stack: list[object] = [error]
    while stack and len(seen) < MAX_ERRORS:
        link = stack.pop()
        if link is None or id(link) in seen:
            continue
        seen.add(id(link))
        if isinstance(link, BaseException):
            yield link
            stack += [*members(link), link.__context__, link.__cause__]
        elif isinstance(link, TaggedError):
            stack.append(getattr(link, 'cause', None))


def _texts(values: Iterable[object]) -> Iterator[str]:
    """Yield the texts in some values, at any depth."""
    queue: list[Any] = [*values]
    seen: set[int] = set()
    # The queue grows, and keeps its items alive, so that their ids stay unique.
    for value in islice(queue, MAX_ERRORS * MAX_ERRORS):
        if isinstance(value, str):
            yield value
        elif isinstance(value, bytes):
            yield value.decode('latin-1')
        elif id(value) not in seen:
            seen.add(id(value))
            if isinstance(value, Mapping):
                queue += value.values()
            elif isinstance(value, (list, tuple, set, frozenset)):
                queue += value


def _extractor(class_: type[BaseException]) -> _Extractor | None:
    # The libraries are optional, so that their classes are known by name.
    for base in class_.__mro__:
        extractor = _EXTRACTORS.get((base.__module__.partition('.')[0], base.__name__))
        if extractor is not None:
            return extractor
    return None


def _is_named(location: Iterable[object]) -> bool:
    return any(isinstance(part, str) and current().is_sensitive(part) for part in location)


def _validation(error: Any) -> Iterator[object]:
    for item in islice(error.errors(), MAX_ERRORS):
        # The input of a missing field is the container of the others.
        if item.get('type') != 'missing' and _is_named(item.get('loc', ())):
            yield item.get('input')


def _sqlalchemy(error: Any) -> Iterator[object]:
    # Its patterns are slow to compile, and few exceptions have a statement.
    from seamwise.redaction.sql import secret_parameters  # noqa: PLC0415

    if isinstance(error.statement, str):
        yield from secret_parameters(error.statement, error.params, current())


def _jsonschema(error: Any) -> Iterator[object]:
    if _is_named(error.absolute_path):
        yield error.instance


def _attrs(error: BaseException) -> Iterator[object]:
    """Yield the value of a validator: its arguments are text, attribute, expected and value."""
    if len(error.args) < _ATTRS_ARGUMENTS:
        return
    attribute: Any = error.args[1]
    if type(attribute).__module__.startswith('attr') and _is_named((attribute.name,)):
        yield error.args[3]


_ATTRS_ARGUMENTS = 4

_EXTRACTORS: Final[Mapping[tuple[str, str], _Extractor]] = {
    ('pydantic_core', 'ValidationError'): _validation,
    ('fastapi', 'ValidationException'): _validation,
    ('sqlalchemy', 'StatementError'): _sqlalchemy,
    ('jsonschema', '_Error'): _jsonschema,
}
