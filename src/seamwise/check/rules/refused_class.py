"""# SW120: error class that is refused

Declare error classes as the library accepts them. Otherwise the class statement raises a TypeError,
as a rule when the module is imported.

```python
from seamwise import Category, TaggedError
```

Reported:

```python
def reject(codes: list[str]) -> str:
    class Rejected(TaggedError, category=Category.CONFLICT, message='Rejected.'):
        codes: list[str]

    return str(Rejected(codes))
```

Fixed:

```python
def refuse(codes: list[str]) -> str:
    class Refused(TaggedError, category=Category.CONFLICT, message='Refused.'):
        codes: tuple[str, ...]

    return str(Refused(tuple(codes)))
```

| Class | Reported |
| --- | --- |
| A class without a category | yes |
| A subclass of an error class: group errors by a union instead | yes |
| A field with a list, a dict, a set or another unhashable value | yes |
| A field called `category`, `retryable`, `recovery` or `tag` | yes |
| A class with `__init__`, `__new__` or `__slots__`, or decorated with `@dataclass` | yes |
| A class with another base that is an exception, or has a metaclass such as that of `ABC` | yes |
| A category that is no `Category`, such as a string | yes |
| A class with the tag and namespace of another class of the same file | yes |
| A message or public message with a field that the class does not have | yes |
| A class that is marked with `# type: ignore`, or in a `pytest.raises` block | no |
"""

import ast
from collections.abc import Iterable, Iterator, Mapping

from seamwise._errors import messages
from seamwise._errors.errors import RESERVED
from seamwise.check._mypy.nodes import TypeInfo, Var
from seamwise.check._mypy.types import Instance, NoneType, TupleType, Type, get_proper_type
from seamwise.check.findings import RawFinding
from seamwise.check.inference.data_flow.error_inference import full_name
from seamwise.check.rules.rule import Rule
from seamwise.check.typed_ast.channels import TAGGED_ERROR, is_error, union_members
from seamwise.check.typed_ast.program import Module

_ABSTRACT = frozenset({
    'typing.Collection', 'typing.Iterable', 'typing.Mapping', 'typing.MutableMapping',
    'typing.MutableSequence', 'typing.MutableSet', 'typing.Sequence', 'typing.AbstractSet',
})  # fmt: skip
"""Types whose values can be lists, dicts or sets."""
_OPAQUE = frozenset({'seamwise._text.secrets.Secret', 'builtins.type'})
"""Types that are hashable whatever their arguments are."""
_HASHABLE = {
    'set': 'a frozenset', 'MutableSet': 'a frozenset', 'AbstractSet': 'a frozenset',
    'bytearray': 'bytes', 'dict': 'a tuple of pairs', 'defaultdict': 'a tuple of pairs',
    'Mapping': 'a tuple of pairs', 'MutableMapping': 'a tuple of pairs',
    'list': 'a tuple', 'deque': 'a tuple', 'Sequence': 'a tuple', 'MutableSequence': 'a tuple',
}  # fmt: skip
_DECORATORS = frozenset({'dataclasses.dataclass', 'attr.define', 'attr.frozen', 'attrs.define'})
_TEMPLATES = {'message': 'message', 'public': 'public message'}
_MAX_DEPTH = 8
"""Limit for nested type arguments; recursive aliases have no end."""


def _find_refused_classes(module: Module) -> Iterator[RawFinding]:
    accepted: list[ast.ClassDef] = []
    for class_ in module.nodes_of_type(ast.ClassDef):
        bases = [info for base in class_.bases if (info := module.class_at(base)) is not None]
        errors = [info for info in bases if is_error(info)]
        if not errors or _is_expected(class_, module):
            continue
        parent = next((info for info in errors if info.fullname != TAGGED_ERROR), None)
        if parent is None:
            accepted.append(class_)
            yield from _check_class(class_, bases, module)
        else:
            yield RawFinding(
                class_,
                f'The error class `{parent.name}` cannot be subclassed.',
                'Derive from TaggedError, and group error classes by a union.',
            )
    yield from _check_tags(accepted, module)


def _is_expected(class_: ast.ClassDef, module: Module) -> bool:
    """Return whether a test expects the refusal."""
    last_line = class_.body[0].lineno
    if any('# type: ignore' in line for line in module.lines[class_.lineno - 1 : last_line]):
        return True
    return any(
        'raises' in ast.unparse(item.context_expr).lower()
        for outer in module.ancestors(class_)
        if isinstance(outer, ast.With | ast.AsyncWith)
        for item in outer.items
    )


def _check_class(
    class_: ast.ClassDef, bases: list[TypeInfo], module: Module
) -> Iterator[RawFinding]:
    keywords = {keyword.arg: keyword.value for keyword in class_.keywords}
    if 'category' not in keywords and None not in keywords:
        yield RawFinding(
            class_,
            f'The error class `{class_.name}` has no category.',
            f'Write `class {class_.name}(TaggedError, category=Category.CONFLICT, …)`.',
        )
    yield from _check_category(keywords.get('category'))
    yield from _check_other_bases(class_, bases)
    yield from _check_decorators(class_, module)
    for statement in class_.body:
        yield from _check_member(statement, module)
    if len(bases) < len(class_.bases) or any(info.fallback_to_any for info in bases):
        return
    fields = _fields(class_, bases)
    for keyword, description in _TEMPLATES.items():
        match keywords.get(keyword):
            case ast.Constant(str(template)) as value:
                yield from _check_template(value, template, description, fields)
            case _:
                pass


def _check_tags(classes: Iterable[ast.ClassDef], module: Module) -> Iterator[RawFinding]:
    """Check that no two classes have the same tag; the library registers them in source order."""
    names: dict[tuple[str, str], str] = {}
    for class_ in sorted(classes, key=lambda class_: class_.lineno):
        keywords = {keyword.arg: keyword.value for keyword in class_.keywords}
        tag = _text(keywords.get('tag'), class_.name)
        namespace = _text(keywords.get('namespace'), module.name.partition('.')[0])
        if None in keywords or tag is None or namespace is None or not _is_certain(class_, module):
            continue
        name = full_name(class_, module)
        other = names.setdefault((tag, namespace), name)
        if other != name:
            qualified_name = other.removeprefix(f'{module.name}.')
            yield RawFinding(
                class_,
                f'The error class `{qualified_name}` has the tag {tag!r} already.',
                'Give this class another `tag` or `namespace`.',
            )


def _text(value: ast.expr | None, default: str) -> str | None:
    """Return the text of a class keyword; None if it is not a literal."""
    match value:
        case None | ast.Constant(None):
            return default
        case ast.Constant(str(text)):
            return text
        case _:
            return None


def _is_certain(class_: ast.ClassDef, module: Module) -> bool:
    """Return whether the import of the module executes a class statement under no condition."""
    parent = module.parents.get(class_)
    while isinstance(parent, ast.ClassDef):
        parent = module.parents.get(parent)
    return isinstance(parent, ast.Module)


def _check_category(value: ast.expr | None) -> Iterator[RawFinding]:
    if isinstance(value, ast.Constant):
        yield RawFinding(
            value,
            f'The category is {value.value!r}, which is no Category.',
            'Write a member of Category, such as `Category.CONFLICT`.',
        )


def _check_other_bases(class_: ast.ClassDef, bases: list[TypeInfo]) -> Iterator[RawFinding]:
    for info in bases:
        if is_error(info):
            continue
        if info.has_base('builtins.BaseException'):
            yield RawFinding(
                class_,
                f'An error class cannot be an exception such as `{info.name}` too.',
                'Derive from TaggedError only; `or_raise` raises an error where that is needed.',
            )
        elif info.metaclass_type is not None:
            metaclass = info.metaclass_type.type.name
            yield RawFinding(
                class_,
                f'The metaclass `{metaclass}` of `{info.name}` conflicts with that of TaggedError.',
                f'Remove the base class `{info.name}`.',
            )


def _check_decorators(class_: ast.ClassDef, module: Module) -> Iterator[RawFinding]:
    for decorator in class_.decorator_list:
        function = decorator.func if isinstance(decorator, ast.Call) else decorator
        if module.full_name(function) in _DECORATORS:
            yield RawFinding(
                decorator,
                'An error class is a class with fields already.',
                f'Remove `@{ast.unparse(function)}`.',
            )


def _check_member(statement: ast.stmt, module: Module) -> Iterator[RawFinding]:
    match statement:
        case ast.AnnAssign(ast.Name(field)) if field in RESERVED:
            yield RawFinding(
                statement,
                f'`{field}` is an attribute of every error.',
                'Give this field another name.',
            )
        case ast.AnnAssign(ast.Name(field) as target, annotation):
            if 'ClassVar' not in ast.unparse(annotation).partition('[')[0]:
                container = _unhashable(module.variable_type(target))
                if container is not None:
                    yield RawFinding(
                        statement,
                        f'The field `{field}` contains a {container}, but errors are hashable.',
                        f'Use {_HASHABLE.get(container, "a hashable type")}.',
                    )
        case ast.FunctionDef(name='__init__' | '__new__' as name) | ast.Assign(
            [ast.Name('__slots__' as name)]
        ):
            yield RawFinding(
                statement,
                f'An error class cannot define `{name}`.',
                'Declare fields; `__post_init__` can check them.',
            )
        case ast.Assign([ast.Name(name)]) if name in RESERVED:
            yield _not_a_keyword(statement, name)
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) if (
            name in RESERVED and not statement.decorator_list
        ):
            yield _not_a_keyword(statement, name)
        case _:
            pass


def _not_a_keyword(statement: ast.stmt, name: str) -> RawFinding:
    return RawFinding(
        statement,
        f'`{name}` is an attribute of every error.',
        f'Set `{name}` as a class keyword; if instances differ, as a property.',
    )


def _unhashable(type_: Type | None, depth: int = 0) -> str | None:
    """Return the name of the first class in a type whose instances may not be hashable."""
    if depth == _MAX_DEPTH:
        return None
    for member in union_members(type_):
        items: list[Type] = []
        if isinstance(member, TupleType):
            items += member.items
        elif isinstance(member, Instance) and member.type.fullname not in _OPAQUE:
            if member.type.fullname in _ABSTRACT or _has_no_hash(member.type):
                return member.type.name
            items += member.args
        for item in items:
            if (name := _unhashable(item, depth + 1)) is not None:
                return name
    return None


def _has_no_hash(info: TypeInfo) -> bool:
    """Return whether a class sets `__hash__` to None, as list, dict and set do."""
    symbol = info.get('__hash__')
    if symbol is None or not isinstance(symbol.node, Var) or symbol.node.type is None:
        return False
    return isinstance(get_proper_type(symbol.node.type), NoneType)


def _fields(class_: ast.ClassDef, bases: list[TypeInfo]) -> Mapping[str, object]:
    """Return the fields of a class, each with the name of its type if that is a simple name."""
    fields: dict[str, object] = {
        name: None
        for base in bases
        for info in base.mro
        for name, symbol in info.names.items()
        if isinstance(symbol.node, Var)
    }
    for statement in class_.body:
        match statement:
            case ast.AnnAssign(ast.Name(name), annotation):
                fields[name] = annotation.id if isinstance(annotation, ast.Name) else None
            case _:
                pass
    return fields


def _check_template(
    node: ast.expr, template: str, description: str, fields: Mapping[str, object]
) -> Iterator[RawFinding]:
    try:
        messages.validate_template(template, fields)
    except ValueError as error:
        yield RawFinding(
            node,
            f'The {description} does not work: {error}.',
            'Name the fields of this class only, as in `{path}`.',
        )


RULE = Rule('SW120', 'error class that is refused', 'error', __doc__ or '', _find_refused_classes)
