"""Annotations of a class: resolved types, and those with unhashable values."""

import ast
import sys
from collections import deque
from collections.abc import (
    Callable,
    Collection,
    Iterable,
    Iterator,
    Mapping,
    MutableMapping,
    MutableSequence,
    MutableSet,
    Sequence,
)
from collections.abc import Set as AbstractSet
from re import search
from types import SimpleNamespace, UnionType
from typing import (
    Annotated,
    Any,
    ClassVar,
    Final,
    Literal,
    TypeAlias,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

import msgspec
from returns.result import Result as AnyResult

from seamwise._errors.internal import INTERNAL
from seamwise._text.secrets import Secret

_ABSTRACT: Final = {
    Collection,
    Iterable,
    Mapping,
    MutableMapping,
    MutableSequence,
    MutableSet,
    Sequence,
    AbstractSet,
}
"""Types whose values can be lists, dicts or sets; decoders create those."""

_MUTABLE_NAMES: Final = {type_.__name__ for type_ in _ABSTRACT} | {
    'AbstractSet',
    'Counter',
    'DefaultDict',
    'Deque',
    'Dict',
    'List',
    'OrderedDict',
    'bytearray',
    'defaultdict',
    'deque',
    'dict',
    'list',
    'set',
}
PAIRS: Final = msgspec.Meta(extra={'seamwise': 'pairs'})

Pairs: TypeAlias = Annotated[tuple[tuple[str, str], ...], PAIRS]
"""Names and values as pairs, which can be hashed. The seams show them as an object."""

_OPAQUE: tuple[object, ...] = (Secret, type, Callable, Literal, ClassVar)
_OPAQUE_NAMES = {'Secret', 'type', 'Type', 'Callable', 'Literal', 'ClassVar'}


def of_body(body: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the annotations in the namespace of a class body, with strings unresolved."""
    if sys.version_info >= (3, 14):
        from annotationlib import Format, call_annotate_function, get_annotate_from_class_namespace  # noqa: PLC0415

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


def struct_fields(class_: type[msgspec.Struct]) -> tuple[msgspec.structs.FieldInfo, ...]:
    """Return the fields of a class with their resolved types.

    Raises:
        TypeError: A name in an annotation is unknown at run time.
    """
    try:
        return msgspec.structs.fields(class_)
    except NameError as error:
        name = error.name
        # As text, also inside types whose arguments are not looked at, such as `Secret`.
        pattern = rf'(?<![\w.]){name}\b'
        annotations = of_bases((class_,)).items()
        field = next((field for field, type_ in annotations if search(pattern, str(type_))), '?')
        raise TypeError(
            f'{class_.__name__}: the type of the field {field!r} is unknown at run time: there is '
            f'no {name!r} in {class_.__module__}. Import it outside of `if TYPE_CHECKING:`, and '
            'define it at the top level of the module.'
        ) from None


def of_bases(bases: tuple[type, ...]) -> Mapping[str, Any]:
    """Return the annotations that a class inherits, with strings resolved where possible."""
    annotations: dict[str, Any] = {}
    for base in reversed(bases):
        for ancestor in reversed(base.__mro__):
            annotations |= resolved(_of_class(ancestor), ancestor.__module__)
    return annotations


def _of_class(class_: type) -> Mapping[str, Any]:
    if sys.version_info >= (3, 14):
        from annotationlib import Format, get_annotations  # noqa: PLC0415

        return get_annotations(class_, format=Format.FORWARDREF)
    annotations: Mapping[str, Any] = vars(class_).get('__annotations__', {})
    return annotations


def resolved(annotations: Mapping[str, Any], module: str) -> Mapping[str, Any]:
    """Return annotations of a module; strings with names that it does not have yet are kept."""
    names = vars(sys.modules.get(module, SimpleNamespace()))
    return {
        field: _resolved_text(annotation, names) if isinstance(annotation, str) else annotation
        for field, annotation in annotations.items()
    }


def _resolved_text(annotation: str, names: Mapping[str, Any]) -> Any:
    holder: Any = SimpleNamespace(__annotations__={'field': annotation})
    try:
        hints = get_type_hints(holder, {**names}, include_extras=True)
    # seamwise: allow[SW103] an annotation can have names of type checkers only, or be no expression
    except Exception:  # noqa: BLE001
        return annotation
    return hints['field']


def union_members(union: object) -> tuple[object, ...]:
    """Return the types of a union, also of one behind aliases; any other type is the only member.

    >>> from typing_extensions import TypeAliasType
    >>> union_members(TypeAliasType('Number', int | float) | str)
    (<class 'int'>, <class 'float'>, <class 'str'>)
    """
    resolved: object = resolve_alias(union)
    if get_origin(resolved) not in {Union, UnionType}:
        return (resolved,)
    return tuple(member for part in get_args(resolved) for member in union_members(part))


def resolve_alias(annotation: Any) -> Any:
    """Return the type behind an alias, with the arguments of the alias; other types as they are.

    >>> from typing_extensions import TypeAliasType, TypeVar
    >>> T = TypeVar('T')
    >>> Several = TypeAliasType('Several', list[T] | None, type_params=(T,))
    >>> resolve_alias(Several[int]), resolve_alias(int)
    (list[int] | None, <class 'int'>)
    """
    alias = get_origin(annotation) or annotation
    if isinstance(alias, type) or not hasattr(alias, '__value__'):
        return annotation
    arguments = dict(zip(alias.__type_params__, get_args(annotation), strict=False))
    return resolve_alias(substitute(alias.__value__, arguments))


def substitute(annotation: Any, arguments: Mapping[Any, Any]) -> Any:
    """Return an annotation with arguments for its type variables; one without is `Any`.

    >>> from typing_extensions import TypeVar
    >>> T, U = TypeVar('T'), TypeVar('U')
    >>> substitute(dict[T, list[U]], {T: str})
    dict[str, list[typing.Any]]
    """
    if isinstance(annotation, TypeVar):
        return arguments.get(annotation, Any)
    # A generic class without arguments has parameters too.
    is_class = get_origin(annotation) is None
    parameters = () if is_class else getattr(annotation, '__parameters__', ())
    if not parameters:
        return annotation
    return annotation[tuple(arguments.get(parameter, Any) for parameter in parameters)]


def is_class_variable(annotation: object) -> bool:
    """Return whether an annotation is a `ClassVar`, which is no field."""
    if isinstance(annotation, str):
        return annotation.partition('[')[0].rpartition('.')[2].strip() == 'ClassVar'
    return (get_origin(annotation) or annotation) is ClassVar


def unhashable(annotation: object) -> str | None:
    """Return the name of the first type in an annotation whose values may not be hashable."""
    for part in iter_types(annotation):
        if isinstance(part, str):
            if part in _MUTABLE_NAMES:
                return part
        elif isinstance(part, type) and _is_unhashable(part):
            return part.__name__
    return None


def contains_result(annotation: object) -> bool:
    """Return whether an annotation contains a Success, a Failure or a Result."""
    return any(
        isinstance(part, type) and issubclass(part, AnyResult) for part in iter_types(annotation)
    )


def is_internal(annotation: object) -> bool:
    """Return whether an annotation contains `Internal`, also in a field of a Struct."""
    return any(part is INTERNAL or part == 'Internal' for part in iter_types(annotation))


def is_secret(annotation: object) -> bool:
    """Return whether an annotation contains `Secret`; those in fields of a Struct do not count."""
    if isinstance(annotation, str):
        return search(r'\bSecret\b', annotation) is not None
    return (
        annotation is Secret
        or get_origin(annotation) is Secret
        or any(is_secret(part) for part in get_args(annotation) if not isinstance(part, str))
    )


def _is_unhashable(class_: Any) -> bool:
    if not issubclass(class_, msgspec.Struct):
        return class_ in _ABSTRACT or class_ is deque or class_.__hash__ is None
    config = class_.__struct_config__
    is_own_hash = class_.__hash__ is not msgspec.Struct.__hash__
    return config.eq and not config.frozen and not is_own_hash


def iter_types(annotation: object) -> Iterator[object]:
    """Yield the types in an annotation, and the names of those that cannot be resolved.

    The fields of a Struct and the marker of `Internal` are included. The arguments of `Secret`,
    `Callable` and others whose values are always hashable are not.
    """
    visited: set[int] = set()
    stack = [annotation]
    while stack:
        part: Any = stack.pop()
        if id(part) in visited:
            continue
        visited.add(id(part))
        if isinstance(part, str):
            yield from _names_in_text(part)
            continue
        origin = get_origin(part) or part
        if origin in _OPAQUE:
            continue
        yield origin
        if origin is Annotated:
            yield from (data for data in part.__metadata__ if data is INTERNAL)
        stack += reversed(_inner_types(part, origin))


def _inner_types(part: Any, origin: Any) -> list[object]:
    inner = list(get_args(part)[:1] if origin is Annotated else get_args(part))
    # A NewType, an alias by `type`, and a type variable.
    for name in ('__supertype__', '__value__', '__bound__'):
        inner += [type_ for type_ in [getattr(part, name, None)] if type_ is not None]
    inner += getattr(part, '__constraints__', ())
    if isinstance(origin, type) and issubclass(origin, msgspec.Struct):
        inner += of_bases((origin,)).values()
    return inner


def _names_in_text(annotation: str) -> Iterator[str]:
    try:
        tree = ast.parse(annotation, mode='eval')
    except SyntaxError:
        return
    yield from _names_in_node(tree.body)


def _names_in_node(node: ast.expr) -> Iterator[str]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield from _names_in_text(node.value)
    elif isinstance(node, ast.Subscript):
        if (name := _last_name(node.value)) not in _OPAQUE_NAMES:
            yield name or ''
            yield from _names_in_node(node.slice)
    elif (name := _last_name(node)) is not None:
        yield name
    else:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                yield from _names_in_node(child)


def _last_name(node: ast.expr) -> str | None:
    """Return `c` for `a.b.c`, None for other expressions."""
    if isinstance(node, ast.Name):
        return node.id
    return node.attr if isinstance(node, ast.Attribute) else None
