"""The `components` of an OpenAPI document: each entry has a name of its own."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, count
from re import sub
from typing import TypeAlias

from typing_extensions import TypeIs

Node: TypeAlias = dict[str, object]

_PREFIX = '#/components/'


class Components:
    """The components of a document, which is changed."""

    def __init__(self, document: Node) -> None:
        self._document = document
        self._components = child(document, 'components')

    def add(self, section: str, names: Iterable[str], component: Node) -> Node:
        """Add a component unless it is there, and return a reference to it.

        It has the first of the names that no other component has, or the last one with a number.
        """
        entries = child(self._components, section)
        # A key has none but these characters (OpenAPI 3.1, Components Object).
        keys = _numbered([sub(r'[^A-Za-z0-9._-]', '_', name) for name in names])
        key = next(key for key in keys if entries.setdefault(key, component) == component)
        return {'$ref': f'{_PREFIX}{section}/{key}'}

    def add_schemas(self, schemas: Mapping[str, Node]) -> dict[str, Node]:
        """Add schemas that can refer to each other, and return a reference to each by its name."""
        entries = child(self._components, 'schemas')
        refs = {name: _schema_ref(name) for name in schemas}
        for name, schema in schemas.items():
            same = replace_refs(schema, _schema_ref)
            refs[name] = _schema_ref(
                next(key for key in _numbered([name]) if entries.get(key, same) == same)
            )
        for name, ref in refs.items():
            entries.setdefault(name_of(ref), replace_refs(schemas[name], refs.__getitem__))
        return refs

    def remove_unused_schema(self, name: str) -> None:
        """Remove a schema unless something refers to it."""
        if _schema_ref(name)['$ref'] not in _refs(self._document):
            child(self._components, 'schemas').pop(name, None)


def name_of(ref: Node) -> str:
    """Return the name of the component in a reference."""
    return str(ref['$ref']).rpartition('/')[2]


def replace_refs(schema: Node, replace: Callable[[str], Node]) -> Node:
    """Return a schema with other references; `replace` takes the name in a reference."""
    if isinstance(schema.get('$ref'), str):
        return replace(name_of(schema))
    return {key: _replaced(value, replace) for key, value in schema.items()}


def _replaced(value: object, replace: Callable[[str], Node]) -> object:
    if is_node(value):
        return replace_refs(value, replace)
    return [_replaced(item, replace) for item in value] if is_array(value) else value


def inline_refs(schema: Node, parts: Mapping[str, Node]) -> Node:
    """Return a schema with the schemas that it refers to, by name, in place of the references."""
    # A recursive schema accepts anything at its second level.
    return replace_refs(schema, lambda name: inline_refs(parts[name], {**parts, name: {}}))


def child(node: Node, key: str) -> Node:
    """Return a member of a node that is an object; it is added if the node lacks it."""
    value = node.setdefault(key, {})
    if not is_node(value):
        raise TypeError(f'{key!r} in an OpenAPI document is an object, not {value!r}.')
    return value


def is_node(value: object) -> TypeIs[Node]:
    """Return whether a value is a JSON object."""
    return isinstance(value, dict)


def is_array(value: object) -> TypeIs[list[object]]:
    """Return whether a value is a JSON array."""
    return isinstance(value, list)


def _schema_ref(name: str) -> Node:
    return {'$ref': f'{_PREFIX}schemas/{name}'}


def _numbered(names: Sequence[str]) -> Iterator[str]:
    """Yield the names, and then the last one with all numbers from 2."""
    return chain(names, (f'{names[-1]}{number}' for number in count(2)))


def _refs(value: object) -> Iterator[object]:
    """Yield all references in a document."""
    if is_node(value):
        if '$ref' in value:
            yield value['$ref']
        for item in value.values():
            yield from _refs(item)
    elif is_array(value):
        for item in value:
            yield from _refs(item)
