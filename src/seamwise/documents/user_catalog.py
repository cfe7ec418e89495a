"""The errors of a program as the subject of a document."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from types import ModuleType, UnionType
from typing import Any, Union, get_args, get_origin

from msgspec.structs import replace
from typing_extensions import TypeAliasType, TypeIs

from seamwise._errors.errors import TaggedError, iter_registered
from seamwise.documents.collect import is_of_library
from seamwise.documents.error_catalog import ErrorCatalog
from seamwise.documents.tables import Table


def user_catalog(modules: Sequence[ModuleType], tables: Sequence[Table]) -> ErrorCatalog:
    """Return the errors of imported modules, or those of the tables if there are no modules.

    Args:
        modules: Modules, and packages with their imported submodules. A class belongs to the module
            that defines it, and to one that has its name in `__all__`.
        tables: The tables that decide about the errors.
    """
    classes = _classes(modules) if modules else _covered(tables)
    kinds = tuple(dict.fromkeys(classes))
    searched = modules or [sys.modules[name] for name in dict.fromkeys(k.__module__ for k in kinds)]
    unions = {
        name: members
        for module in searched
        for name, members in _unions(module)
        if not {*members}.isdisjoint(kinds)
    }
    names = [module.__name__ for module in modules] or [table.where[1] for table in tables]
    catalog = ErrorCatalog(
        title=', '.join(dict.fromkeys(names)), kinds=kinds, unions=unions, tables=tuple(tables)
    )
    if any(map(is_of_library, kinds)):
        # Imported here, because the tables of this library take a quarter of a second to import.
        from seamwise.documents.library import library_tables  # noqa: PLC0415

        catalog = replace(catalog, defaults=library_tables())
    order = [*unions, '']
    return replace(
        catalog, kinds=tuple(sorted(kinds, key=lambda kind: order.index(catalog.union_of(kind))))
    )


def _classes(modules: Sequence[ModuleType]) -> Iterator[type[TaggedError]]:
    """Yield the classes that modules define or export."""
    for module in modules:
        exported: Iterable[str] = getattr(module, '__all__', ())
        yield from filter(_is_error, (getattr(module, name, None) for name in exported))
    prefixes = tuple(f'{module.__name__}.' for module in modules)
    for kind in iter_registered():
        if f'{kind.__module__}.'.startswith(prefixes):
            yield kind


def _covered(tables: Sequence[Table]) -> Iterator[type[TaggedError]]:
    for table in tables:
        yield from filter(_is_error, table.adapter.kinds)


def _is_error(value: object) -> TypeIs[type[TaggedError]]:
    return isinstance(value, type) and issubclass(value, TaggedError) and value is not TaggedError


def _unions(module: ModuleType) -> Iterator[tuple[str, tuple[type[TaggedError], ...]]]:
    """Yield the public unions of errors in a module and its imported submodules."""
    for path, part in [*sys.modules.items()]:
        if f'{path}.'.startswith(f'{module.__name__}.'):
            for name, value in [*vars(part).items()]:
                if not name.startswith('_') and _is_union(value) and (members := _members(value)):
                    yield name, members


def _is_union(value: object) -> bool:
    return isinstance(value, TypeAliasType) or get_origin(value) in {Union, UnionType}


def _members(value: Any) -> tuple[type[TaggedError], ...]:
    """Return the classes of a union, also of one in an alias; empty if a member is no error."""
    if isinstance(value, TypeAliasType):
        return _members(value.__value__)
    if get_origin(value) in {Union, UnionType}:
        parts = [_members(member) for member in get_args(value)]
        return tuple(dict.fromkeys(kind for part in parts for kind in part)) if all(parts) else ()
    class_ = get_origin(value) or value
    return (class_,) if _is_error(class_) else ()
