"""# SW112: secret in an error message

Keep secrets out of error messages. A message reaches terminals, clients, logs and language models.
A field of type `Secret` appears as `***`, which helps no reader. A plain field named `password`,
`token` or `api_key` appears with its value.

```python
from seamwise import Category, Secret, TaggedError
```

Reported:

```python
class LoginFailed(TaggedError, category=Category.AUTHENTICATION, message='{password} is wrong.'):
    user: str
    password: Secret[str]
```

Fixed:

```python
class WrongPassword(TaggedError, category=Category.AUTHENTICATION, message='Wrong password.'):
    user: str
    password: Secret[str]
```

| Code | Reported |
| --- | --- |
| A secret in a message template, or in a table of templates by error class | yes |
| A secret in a `__str__`, an f-string, `format` or `+` | yes |
| `.reveal()` in a text that is passed to an error | yes |
| A number, a bool, a date or an enum with a sensitive name | no |
| A field that no message contains | no |
| A test such as `if error.password` | no |

Sensitive names are those that `redact` masks; `max_tokens` is not among them.
"""

import ast
from collections.abc import Iterator, Mapping, Sequence

from seamwise._errors import messages
from seamwise.check._mypy.nodes import RefExpr, StrExpr, TypeInfo, Var
from seamwise.check._mypy.types import (
    CallableType,
    Instance,
    LiteralType,
    NoneType,
    ProperType,
    TupleType,
    Type,
)
from seamwise.check.findings import RawFinding
from seamwise.check.rules.rule import Rule, join_code
from seamwise.check.typed_ast.channels import TAGGED_ERROR, base_names, may_be, union_members
from seamwise.check.typed_ast.program import FUNCTIONS, Module, walk
from seamwise.redaction.sensitive_names import is_sensitive

_SECRET = 'seamwise._text.secrets.Secret'  # noqa: S105 -- the name of a class
_MESSAGE_METHODS = frozenset({'__str__', '__repr__', '__format__', 'message', 'text'})
"""Methods of an error that return its message."""
_PUBLIC_TYPES = frozenset({
    'builtins.bool', 'builtins.int', 'builtins.float', 'builtins.complex', 'datetime.date',
    'datetime.time', 'datetime.timedelta', 'decimal.Decimal', 'enum.Enum', 'uuid.UUID',
})  # fmt: skip
"""Types of values that are never secret, even with a name such as `token_count`."""
_TEXT_FUNCTIONS = frozenset({'builtins.str', 'builtins.repr', 'builtins.format', 'builtins.ascii'})
_QUERY_METHODS = frozenset({
    'count', 'endswith', 'find', 'index', 'isalnum', 'isalpha', 'isdigit', 'isspace', 'rfind',
    'rindex', 'startswith', '__len__',
})  # fmt: skip
"""Methods of `str` that do not return the text or parts of it."""
_MAX_DEPTH = 3
"""Deepest nesting of type arguments in which a `Secret` is searched."""
_HELP = (
    'Remove it from the text: name the wrong field, not its value.'
    ' The field itself may stay, as a `Secret`.'
)


def _find_secrets_in_messages(module: Module) -> Iterator[RawFinding]:
    for class_ in module.nodes_of_type(ast.ClassDef):
        yield from _check_template(class_, module)
    for table in module.nodes_of_type(ast.Dict):
        yield from _check_table(table, module)
    reported: set[ast.AST] = set()
    for node in _secret_reads(module):
        text = _enclosing_text(node, module)
        if text is not None and text not in reported:
            reported.add(text)
            message = f'This text contains `{ast.unparse(node)}`, which is a secret.'
            yield RawFinding(text, message, _HELP)
    for text in _revealed_texts(module):
        if text not in reported:
            reported.add(text)
            yield RawFinding(text, 'This error message reveals a secret.', _HELP)


def _check_template(class_: ast.ClassDef, module: Module) -> Iterator[RawFinding]:
    if not any(module.full_name(base) == TAGGED_ERROR for base in class_.bases):
        return
    templates = [
        template
        for item in class_.keywords
        if item.arg in {'message', 'public'}
        and (template := _literal_text(item.value, module)) is not None
    ]
    if not templates:
        return
    fields: dict[str, Type | None] = {}
    for base in reversed(class_.bases):
        fields |= _fields(_class_info(base, module))
    for node in walk(class_):
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            fields[node.target.id] = module.variable_type(node.target)
    secrets = dict.fromkeys(
        secret for template in templates for secret in _secret_fields(template, fields)
    )
    if secrets:
        message = f'The message of `{class_.name}` contains {_join_secrets([*secrets])}.'
        yield RawFinding(class_, message, _HELP)


def _check_table(table: ast.Dict, module: Module) -> Iterator[RawFinding]:
    """Check `{LoginFailed: 'Not with {password}.'}`."""
    for key, value in zip(table.keys, table.values, strict=True):
        info = None if key is None else _class_info(key, module)
        template = _literal_text(value, module)
        if info is None or template is None or not info.has_base(TAGGED_ERROR):
            continue
        secrets = _secret_fields(template, _fields(info))
        if secrets:
            message = f'This text for `{info.name}` contains {_join_secrets(secrets)}.'
            yield RawFinding(value, message, _HELP)


def _secret_fields(template: str, fields: Mapping[str, Type | None]) -> list[str]:
    return [
        name
        for name in _template_fields(template)
        if name in fields and _is_secret(name, fields[name])
    ]


def _template_fields(template: str) -> list[str]:
    try:
        parts = messages.parse_template(template)
    except ValueError:
        # TaggedError rejects the template when the class is created.
        return []
    names = (part.field.partition('.')[0].partition('[')[0] for part in parts if part.field)
    return list(dict.fromkeys(names))


def _join_secrets(names: Sequence[str]) -> str:
    return f'{join_code(names)}, {"a secret" if len(names) == 1 else "which are secrets"}'


def _literal_text(node: ast.expr, module: Module) -> str | None:
    """Return a literal text, also if it is concatenated or bound to a `Final` name."""
    match node:
        case ast.Constant(str(text)):
            return text
        case ast.BinOp(left, ast.Add(), right):
            start, end = _literal_text(left, module), _literal_text(right, module)
            return None if start is None or end is None else start + end
        case ast.Call(ast.Attribute(text, _)) if module.full_name(node.func).startswith(
            'textwrap.'
        ):
            return _literal_text(text, module)
        case ast.Name() | ast.Attribute():
            return _constant_value(node, module)
        case _:
            return None


def _constant_value(node: ast.Name | ast.Attribute, module: Module) -> str | None:
    mypy_node = module.mypy_node(node)
    variable = mypy_node.node if isinstance(mypy_node, RefExpr) else None
    if isinstance(variable, Var) and isinstance(variable.final_value, str):
        return variable.final_value
    name = ast.unparse(node)
    values = [
        statement.value
        for statement in module.syntax.body
        if isinstance(statement, ast.Assign)
        and any(isinstance(target, ast.Name) and target.id == name for target in statement.targets)
    ]
    match values:
        case [ast.Constant(str(text))]:
            return text
        case _:
            return None


def _class_info(node: ast.expr, module: Module) -> TypeInfo | None:
    return module.class_at(node.value if isinstance(node, ast.Subscript) else node)


def _fields(info: TypeInfo | None) -> Mapping[str, Type | None]:
    """Return the types of the own and inherited fields of a class."""
    fields: dict[str, Type | None] = {}
    for base in reversed(info.mro if info is not None else []):
        fields |= {
            name: symbol.node.type
            for name, symbol in base.names.items()
            if isinstance(symbol.node, Var)
        }
    return fields


def _is_secret(name: str, type_: Type | None) -> bool:
    """Return whether a field is secret by its type, or by its name if the type permits it."""
    if _contains_secret(type_):
        return True
    return is_sensitive(name) and (
        type_ is None or any(not _is_public(member) for member in union_members(type_))
    )


def _is_public(type_: ProperType) -> bool:
    if isinstance(type_, NoneType | LiteralType):
        return True
    return bool(base_names(type_) & _PUBLIC_TYPES)


def _contains_secret(type_: Type | None, depth: int = 0) -> bool:
    for member in union_members(type_):
        if _SECRET in base_names(member):
            return True
        arguments: Sequence[Type] = ()
        if isinstance(member, TupleType):
            arguments = member.items
        elif isinstance(member, Instance):
            arguments = member.args
        # A recursive type alias has no end.
        if depth < _MAX_DEPTH and any(_contains_secret(item, depth + 1) for item in arguments):
            return True
    return False


def _secret_reads(module: Module) -> Iterator[ast.expr]:
    """Yield reads of the secret fields of errors, also of names that a pattern binds to them."""
    for node in module.nodes_of_type(ast.Attribute):
        owners = union_members(module.type_of(node.value))
        if any(
            isinstance(owner, Instance)
            and TAGGED_ERROR in base_names(owner)
            and _is_secret_field(owner.type, node.attr)
            for owner in owners
        ):
            yield node
    for arm in module.nodes_of_type(ast.match_case):
        names = set(_secret_captures(arm.pattern, module))
        for statement in arm.body if names else ():
            for child in walk(statement):
                if (
                    isinstance(child, ast.Name)
                    and child.id in names
                    and isinstance(child.ctx, ast.Load)
                ):
                    yield child


def _revealed_texts(module: Module) -> Iterator[ast.expr | ast.stmt]:
    """Yield texts with `.reveal()`, or `.reveal()` alone, that become part of an error message."""
    for node in module.nodes_of_type(ast.Call):
        if (
            isinstance(node.func, ast.Attribute)
            and node.func.attr == 'reveal'
            and _contains_secret(module.type_of(node.func.value))
        ):
            text = _enclosing_text(node, module)
            is_printed = text is not None or _is_error_argument(node, module)
            if is_printed and _is_for_message(node, module):
                yield text or node


def _is_error_argument(node: ast.expr, module: Module) -> bool:
    parent = module.parents.get(node)
    call = module.parents.get(parent) if isinstance(parent, ast.keyword) else parent
    return isinstance(call, ast.Call) and may_be(module.type_of(call), TAGGED_ERROR)


def _is_secret_field(info: TypeInfo, name: str) -> bool:
    fields = _fields(info)
    return name in fields and _is_secret(name, fields[name])


def _is_for_message(node: ast.AST, module: Module) -> bool:
    """Return whether it is in an argument that an error prints, and not wrapped in a `Secret`."""
    parent = module.parents.get(node)
    while parent is not None and not isinstance(parent, ast.stmt | ast.Lambda):
        if isinstance(parent, ast.Call) and parent.func is not node:
            members = list(union_members(module.type_of(parent)))
            if any(_SECRET in base_names(member) for member in members):
                return False
            errors = [
                member.type
                for member in members
                if isinstance(member, Instance) and TAGGED_ERROR in base_names(member)
            ]
            if errors:
                return _may_print(errors[0], _argument_field(parent, node, module))
        node, parent = parent, module.parents.get(parent)
    return False


def _argument_field(call: ast.Call, node: ast.AST, module: Module) -> str | None:
    """Return the field that an argument of an error sets."""
    if isinstance(node, ast.keyword):
        return node.arg
    callee = module.type_of(call.func)
    index = next((index for index, item in enumerate(call.args) if item is node), 0)
    argument = callee.argument_by_position(index) if isinstance(callee, CallableType) else None
    return argument.name if argument is not None else None


def _may_print(info: TypeInfo, field: str | None) -> bool:
    """Return whether the message of a class contains a field, or is unknown."""
    templates = [info.defn.keywords.get('message'), info.defn.keywords.get('public')]
    if templates[0] is None or field is None:
        return True
    return any(
        template is not None
        and (not isinstance(template, StrExpr) or field in _template_fields(template.value))
        for template in templates
    )


def _secret_captures(pattern: ast.pattern, module: Module) -> Iterator[str]:
    """Yield names bound to secret fields, as in `case LoginFailed(user, password)`."""
    for node in walk(pattern):
        info = _class_info(node.cls, module) if isinstance(node, ast.MatchClass) else None
        if not isinstance(node, ast.MatchClass) or info is None or not info.has_base(TAGGED_ERROR):
            continue
        fields = _fields(info)
        own_fields = [
            name
            for name, symbol in info.names.items()
            if isinstance(symbol.node, Var) and not symbol.node.is_classvar
        ]
        pairs = [
            *zip(own_fields, node.patterns, strict=False),
            *zip(node.kwd_attrs, node.kwd_patterns, strict=True),
        ]
        for field, capture in pairs:
            if not isinstance(capture, ast.MatchAs) or capture.name is None:
                continue
            if field in fields and _is_secret(field, fields[field]):
                yield capture.name


def _enclosing_text(node: ast.expr, module: Module) -> ast.expr | ast.stmt | None:
    """Return the text that contains a value; None if no text does."""
    while True:
        parent = module.parents.get(node)
        match parent:
            case ast.FormattedValue():
                text = module.parents.get(parent)
                return text if isinstance(text, ast.JoinedStr) else None
            case ast.BinOp(_, ast.Add() | ast.Mod()) if _is_str(module.type_of(parent)):
                return parent
            case ast.Call(function, arguments) if node in arguments and _returns_text(
                function, module
            ):
                return parent
            case ast.keyword():
                call = module.parents.get(parent)
                if isinstance(call, ast.Call) and _returns_text(call.func, module):
                    return call
                return None
            case ast.Attribute(_, name) if name not in _QUERY_METHODS and isinstance(
                module.parents.get(parent), ast.Call
            ):
                node = parent
            case ast.Call(function) if node is function:
                node = parent
            case ast.Subscript(value) if node is value:
                node = parent
            case ast.IfExp(test) if node is not test:
                node = parent
            case ast.BoolOp() | ast.Tuple() | ast.List() | ast.Starred():
                node = parent
            case ast.Return() if _returns_message(parent, module):
                return parent
            case _:
                return None


def _returns_text(function: ast.expr, module: Module) -> bool:
    if isinstance(function, ast.Attribute) and function.attr in {'format', 'join', 'format_map'}:
        text = function.value
        return _is_str(module.type_of(text)) or (
            isinstance(text, ast.Constant) and isinstance(text.value, str)
        )
    return module.full_name(function) in _TEXT_FUNCTIONS


def _is_str(type_: Type | None) -> bool:
    return may_be(type_, 'builtins.str')


def _returns_message(node: ast.AST, module: Module) -> bool:
    """Return whether a `return` statement returns the message of an error."""
    function: ast.AST | None = node
    while function is not None and not isinstance(function, FUNCTIONS):
        function = module.parents.get(function)
    if function is None or function.name not in _MESSAGE_METHODS:
        return False
    class_ = module.parents.get(function)
    return isinstance(class_, ast.ClassDef) and any(
        module.full_name(base) == TAGGED_ERROR for base in class_.bases
    )


RULE = Rule(
    'SW112', 'secret in an error message', 'error', __doc__ or '', _find_secrets_in_messages
)
