"""Tables as documents use them: an adapter, its seam, and the revision or the name that it has."""

from collections.abc import Iterator, Mapping
from types import FunctionType
from typing import Any, TypeAlias

from msgspec import Struct
from typing_extensions import TypeIs

from seamwise._errors.errors import TaggedError
from seamwise.seams.adapter import Adapter, Hidden
from seamwise.seams.functions import is_function_arm

Where: TypeAlias = tuple[str, str]
"""Protocol and revision; of a table of the user, an empty text and its name."""

SEAMS = ('cli', 'http', 'session', 'model', 'planner', 'jsonrpc')
"""The seams with tables, in the order of the documents."""


class Table(Struct, frozen=True):
    """A table of a seam."""

    seam: str
    where: Where
    adapter: Adapter[Any, Any]


class Arm(Struct, frozen=True):
    """The arm of one table for an error class."""

    seam: str
    where: Where
    adapter: Adapter[Any, Any]
    kind: type[TaggedError]

    @property
    def declared(self) -> object:
        """The declared answer."""
        return self.adapter.arms[self.kind]

    @property
    def is_hidden(self) -> bool:
        """Whether the error never reaches this seam."""
        return isinstance(self.declared, Hidden)


def read_tables(name: str, value: object) -> tuple[Table, ...]:
    """Return the tables in a value: an adapter, a function, or a mapping of revisions to adapters.

    Args:
        name: Name of the table in documents, for example `shop.http:TABLE`.
        value: The adapter, the annotated function or the mapping.

    Raises:
        TypeError: The value is something else, or its arms do not belong to exactly one seam. Or a
            function is not annotated, or raises for an example of an error class.
    """
    if isinstance(value, FunctionType):
        value = Adapter.of(value)
    tables = tuple(
        Table(_seam_of(name, adapter), where if any(where) else ('', name), adapter)
        for where, adapter in iter_adapters(value)
    )
    if not tables:
        kind = f'a value of the type {type(value).__qualname__}'
        raise TypeError(
            f'{name} is {kind}. A table is an adapter such as on(NotFound).responds(404, …), '
            'or a mapping of revisions to adapters.'
        )
    return tables


def iter_adapters(value: object) -> Iterator[tuple[Where, Adapter[Any, Any]]]:
    """Yield the adapter that a value is, or those of a mapping with their revisions."""
    for where, item in _items(value):
        if _is_adapter(item):
            yield where, item


def _items(value: object) -> Iterator[tuple[Where, object]]:
    if _is_mapping(value):
        for key, item in value.items():
            yield _where(key), item
    else:
        yield ('', ''), value


def _where(key: object) -> Where:
    match key:
        case (str(protocol), str(revision)):
            return protocol, revision
        case _:
            return '', str(key)


def _seam_of(name: str, adapter: Adapter[Any, Any]) -> str:
    """Return the seam of an adapter by its arms, without importing any seam."""
    seams = {seam for arm in adapter.arms.values() if (seam := _seam_of_arm(arm))}
    if len(seams) == 1:
        return seams.pop()
    contents = (
        f'arms of several seams ({", ".join(sorted(seams))})' if seams else 'no arms of a seam'
    )
    raise TypeError(
        f'{name} has {contents}. The arms of a table are made by one `on`, for example '
        'seamwise.seams.http.on(NotFound).responds(404, …).'
    )


def _seam_of_arm(arm: object) -> str | None:
    if isinstance(arm, Hidden):
        return arm.seam
    if is_function_arm(arm):
        arm = arm.sample
    package, _, rest = type(arm).__module__.partition('.seams.')
    return rest.partition('.')[0] if package == 'seamwise' and rest else None


def _is_adapter(value: object) -> TypeIs[Adapter[Any, Any]]:
    return isinstance(value, Adapter)


def _is_mapping(value: object) -> TypeIs[Mapping[object, object]]:
    return isinstance(value, Mapping)
