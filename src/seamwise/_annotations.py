"""Read a class body's annotations, and tell those whose values cannot be hashed."""

import ast
import sys
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

from seamwise.secrets import Secret

_MUTABLE = (list, dict, set, bytearray, deque, defaultdict, OrderedDict, Counter)
_MUTABLE_NAMES = {one.__name__ for one in _MUTABLE} | {
    'List',
    'Dict',
    'Set',
    'Deque',
    'DefaultDict',
}
_OPAQUE: tuple[object, ...] = (Secret, type, Callable, Literal)
_OPAQUE_NAMES = {'Secret', 'type', 'Type', 'Callable', 'Literal', 'ClassVar'}


def of_body(body: Mapping[str, Any]) -> Mapping[str, Any]:
    """Give the annotations in a class body, as the metaclass sees it, unresolved where they are strings."""
    if sys.version_info >= (3, 14):
        from annotationlib import Format, call_annotate_function, get_annotate_from_class_namespace  # noqa: PLC0415

        annotate = get_annotate_from_class_namespace(body)
        return call_annotate_function(annotate, Format.FORWARDREF) if annotate else {}
    found: Mapping[str, Any] = body.get('__annotations__', {})
    return found


def resolved_hints(kind: type) -> Mapping[str, Any]:
    """Give the resolved annotations of a class, unresolved ones where a name is there for type checkers only."""
    try:
        return get_type_hints(kind)
    except NameError:
        return dict(kind.__annotations__)


def unhashable(annotation: object) -> str | None:
    """Name the list, dict, set or other mutable container in an annotation, if there is one."""
    if isinstance(annotation, str):
        return _unhashable_text(annotation)
    origin = get_origin(annotation) or annotation
    if origin in _OPAQUE:
        return None
    if origin in _MUTABLE:
        return origin.__name__
    arguments = get_args(annotation)[:1] if origin is Annotated else get_args(annotation)
    return next((found for one in arguments if (found := unhashable(one))), None)


def _unhashable_text(annotation: str) -> str | None:
    try:
        tree = ast.parse(annotation, mode='eval')
    except SyntaxError:
        return None
    return _unhashable_node(tree.body)


def _unhashable_node(node: ast.expr) -> str | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return _unhashable_text(node.value)
    if isinstance(node, ast.Subscript):
        name = _name(node.value)
        return (
            None
            if name in _OPAQUE_NAMES
            else _unhashable_node(node.value) or _unhashable_node(node.slice)
        )
    name = _name(node)
    if name in _MUTABLE_NAMES:
        return name
    inside = [one for one in ast.iter_child_nodes(node) if isinstance(one, ast.expr)]
    return next((found for one in inside if (found := _unhashable_node(one))), None)


def _name(node: ast.expr) -> str | None:
    if isinstance(node, ast.Name):
        return node.id
    return node.attr if isinstance(node, ast.Attribute) else None
