"""What the tests of redaction share: things that hold values, and how to see everything in them."""

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


def changed(value: object) -> Any:
    """Redact, for tests that look into whatever comes out."""
    return redact(value)


PARTS: list[tuple[Any, Change]] = [
    (Mapping, lambda one: [*one.keys(), *one.values()]),
    ((list, tuple, set, frozenset), list),
    (msgspec.Struct, lambda one: [getattr(one, name) for name in one.__struct_fields__]),
    (Account, lambda one: [one.name, one.password, one.proof, one.tags, one.hidden]),
]


def parts(value: Any) -> Iterator[Any]:
    """Walk over everything in a value, keys included, without a recursion."""
    ahead: list[Any] = [value]
    seen: set[int] = set()
    while ahead:
        one = ahead.pop()
        if id(one) not in seen:
            seen.add(id(one))
            yield one
            ahead += next((take(one) for kind, take in PARTS if isinstance(one, kind)), ())


def texts(value: Any) -> str:
    """Give every text form of a value: of the whole, and of each part that is no container."""
    whole = f'{value}\n{value!r}\n{json.dumps(value, default=repr, ensure_ascii=False)}\n'
    return whole + '\n'.join(
        f'{one!s}\n{one!r}' for one in parts(value) if isinstance(one, (str, bytes, int, Secret))
    )
