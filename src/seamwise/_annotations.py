"""Annotations of a class: resolved types, and those with unhashable values."""

import ast
import sys
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

from seamwise.secrets import Secret

_MUTABLE = (list, dict, set, bytearray, deque, defaultdict, OrderedDict, Counter)
_MUTABLE_NAMES = {type_.__name__ for type_ in _MUTABLE} | {
    'List',
    'Dict',
    'Set',
    'Deque',
    'DefaultDict',
}
_OPAQUE: tuple[object, ...] = (Secret, type, Callable, Literal)
_OPAQUE_NAMES = {'Secret', 'type', 'Type', 'Callable', 'Literal', 'ClassVar'}


def of_body(body: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the annotations in the namespace of a class body, with strings unresolved."""
    if sys.version_info >= (3, 14):
        from annotationlib import (  # noqa: PLC0415
            Format,
            call_annotate_function,
            get_annotate_from_class_namespace,
        )

        annotate = get_annotate_from_class_namespace(body)
        return call_annotate_function(annotate, Format.FORWARDREF) if annotate else {}
    annotations: Mapping[str, Any] = body.get('__annotations__', {})
    return annotations


def resolved_hints(class_: type) -> Mapping[str, Any]:
    """Return the resolved annotations of a class; unresolved if only type checkers know a name."""
    try:
        return get_type_hints(class_)
    except NameError:
        return dict(class_.__annotations__)


def unhashable(annotation: object) -> str | None:
    """Return the name of the first list, dict, set or other mutable container in an annotation."""
    if isinstance(annotation, str):
        return _unhashable_in_text(annotation)
    origin = get_origin(annotation) or annotation
    if origin in _OPAQUE:
        return None
    if origin in _MUTABLE:
        return origin.__name__
    arguments = get_args(annotation)[:1] if origin is Annotated else get_args(annotation)
    return next((name for argument in arguments if (name := unhashable(argument))), None)


def _unhashable_in_text(annotation: str) -> str | None:
    try:
        tree = ast.parse(annotation, mode='eval')
    except SyntaxError:
        return None
    return _unhashable_in_node(tree.body)


def _unhashable_in_node(node: ast.expr) -> str | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return _unhashable_in_text(node.value)
    if isinstance(node, ast.Subscript):
        if _last_name(node.value) in _OPAQUE_NAMES:
            return None
        return _unhashable_in_node(node.value) or _unhashable_in_node(node.slice)
    if (name := _last_name(node)) in _MUTABLE_NAMES:
        return name
    children = [child for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr)]
    return next((name for child in children if (name := _unhashable_in_node(child))), None)


def _last_name(node: ast.expr) -> str | None:
    """Return `c` for `a.b.c`, None for other expressions."""
    if isinstance(node, ast.Name):
        return node.id
    return node.attr if isinstance(node, ast.Attribute) else None
