"""Values and helpers for the tests of redaction."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

import msgspec

from seamwise import Secret, redact

PLANTED = 'FAKE-planted'

Change: TypeAlias = Callable[[Any], Any]


class Point(NamedTuple):
    x: int
    token: str = ''
    note: object = None


class Node(msgspec.Struct):
    next: object


@dataclass
class Account:
    name: str
    password: str
    proof: Secret[str] | None = None
    tags: list[str] = field(default_factory=list[str])
    hidden: object = field(default=None, repr=False)


def redacted_any(value: object) -> Any:
    """Redact a value; the result is `Any`, so that tests can access its attributes."""
    return redact(value)


PARTS: list[tuple[Any, Change]] = [
    (Mapping, lambda value: [*value.keys(), *value.values()]),
    ((list, tuple, set, frozenset), list),
    (msgspec.Struct, lambda value: [getattr(value, name) for name in value.__struct_fields__]),
    (Account, lambda value: [value.name, value.password, value.proof, value.tags, value.hidden]),
]


def parts(value: Any) -> Iterator[Any]:
    """Yield a value and all its parts, including keys, without recursion."""
    stack: list[Any] = [value]
    visited: set[int] = set()
    while stack:
        part = stack.pop()
        if id(part) not in visited:
            visited.add(id(part))
            yield part
            stack += next((split(part) for type_, split in PARTS if isinstance(part, type_)), ())


def texts(value: Any) -> str:
    """Return all text forms of a value and of each part that is no container."""
    text = f'{value}\n{value!r}\n{json.dumps(value, default=repr, ensure_ascii=False)}\n'
    return text + '\n'.join(
        f'{part!s}\n{part!r}'
        for part in parts(value)
        if isinstance(part, (str, bytes, int, Secret))
    )
