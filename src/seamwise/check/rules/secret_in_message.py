"""# SW112: a message that prints a secret.

The message of an error goes everywhere: to a terminal, to a client, into a log, to a language model. A field that holds a
secret has no place in it. A `Secret` prints as `***`, which tells nobody anything, and shows that the message was meant to
tell it; a plain field with a name such as `password`, `token` or `api_key` prints what it holds. The names are those that
`redact` masks (`max_tokens` is none of them); a number, a bool, a date or a closed word under such a name is no secret.

Asked are message templates, tables of templates by class, and what `__str__`, an f-string, `format` or `+` makes a text of;
`.reveal()` in a text that is given to an error too. A field that is not printed is fine, and so is one that is only asked
about (`if error.password`).

```python
from seamwise import Category, Secret, TaggedError
```

Fails:

```python
class LoginFailed(TaggedError, category=Category.AUTHENTICATION, message='{user} is not let in with {password}.'):
    user: str
    password: Secret[str]
```

Mended:

```python
class NotLetIn(TaggedError, category=Category.AUTHENTICATION, message='{user} is not let in with this password.'):
    user: str
    password: Secret[str]
```
"""

import ast
from collections.abc import Iterator, Mapping, Sequence

from mypy.nodes import RefExpr, StrExpr, TypeInfo, Var
from mypy.types import CallableType, Instance, LiteralType, NoneType, ProperType, TupleType, Type

from seamwise import messages
from seamwise.check.findings import RawFinding
from seamwise.check.rules.rule import Rule
from seamwise.check.typed_ast.channels import base_names, union_members
from seamwise.check.typed_ast.program import FUNCTIONS, Module, walk
from seamwise.redaction.sensitive_names import is_sensitive

TAGGED = 'seamwise.errors.TaggedError'
SECRET = 'seamwise.secrets.Secret'  # noqa: S105 -- the name of a class
TEXTS = frozenset({'__str__', '__repr__', '__format__', 'message', 'text'})
"""Methods of an error whose answer is its message."""
OPEN = frozenset({
    'builtins.bool', 'builtins.int', 'builtins.float', 'builtins.complex', 'datetime.date', 'datetime.time', 'datetime.timedelta',
    'decimal.Decimal', 'enum.Enum', 'uuid.UUID',
})  # fmt: skip
"""What is no secret whatever its name: `token_count`, `password_expires`."""
AS_TEXT = frozenset({'builtins.str', 'builtins.repr', 'builtins.format', 'builtins.ascii'})
ASKING = frozenset({
    'count', 'endswith', 'find', 'index', 'isalnum', 'isalpha', 'isdigit', 'isspace', 'rfind', 'rindex', 'startswith', '__len__',
})  # fmt: skip
"""Methods of a text that say something of it, and do not give it."""
HELP = 'Leave it out of the text: say which field is wrong, not what it holds; the field itself may stay, as a `Secret`.'


def find(module: Module) -> Iterator[RawFinding]:
    """Give each class, template and text that prints a secret of an error."""
    for kind in module.nodes_of_type(ast.ClassDef):
        yield from _template(kind, module)
    for table in module.nodes_of_type(ast.Dict):
        yield from _table(table, module)
    said: set[ast.AST] = set()
    for node in _secrets(module):
        text = _text_of(node, module)
        if text is not None and text not in said:
            said.add(text)
            yield RawFinding(
                text, f'`{ast.unparse(node)}` is printed here, and it is a secret.', HELP
            )
    for text in _revealed(module):
        if text not in said:
            said.add(text)
            yield RawFinding(text, 'A secret is revealed here, for a message.', HELP)


def _template(kind: ast.ClassDef, module: Module) -> Iterator[RawFinding]:
    given = next((one.value for one in kind.keywords if one.arg == 'message'), None)
    template = None if given is None else _literal(given, module)
    if template is None or not any(module.full_name(one) == TAGGED for one in kind.bases):
        return
    fields = {
        name: found
        for base in reversed(kind.bases)
        for name, found in _fields(_class(base, module)).items()
    }
    for node in walk(kind):
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            fields[node.target.id] = module.variable_type(node.target)
    printed = [
        name for name in _printed(template) if name in fields and _is_secret(name, fields[name])
    ]
    if printed:
        yield RawFinding(kind, f'The message of `{kind.name}` prints {_listed(printed)}.', HELP)


def _table(table: ast.Dict, module: Module) -> Iterator[RawFinding]:
    """Look for `{LoginFailed: 'Not with {password}.'}`."""
    for key, value in zip(table.keys, table.values, strict=True):
        info = None if key is None else _class(key, module)
        template = _literal(value, module)
        if info is None or template is None or not info.has_base(TAGGED):
            continue
        fields = _fields(info)
        printed = [
            name for name in _printed(template) if name in fields and _is_secret(name, fields[name])
        ]
        if printed:
            yield RawFinding(value, f'This text for `{info.name}` prints {_listed(printed)}.', HELP)


def _printed(template: str) -> list[str]:
    try:
        parts = messages.parse_template(template)
    except ValueError:
        # It is refused when its class is made.
        return []
    return list(
        dict.fromkeys(
            part.field.partition('.')[0].partition('[')[0] for part in parts if part.field
        )
    )


def _listed(names: Sequence[str]) -> str:
    return ' and '.join(f'`{one}`' for one in names) + (
        ', a secret' if len(names) == 1 else ', which are secrets'
    )


def _literal(node: ast.expr, module: Module) -> str | None:
    """Give a text that is written out, also in parts or under a name that is `Final`."""
    match node:
        case ast.Constant(str(text)):
            return text
        case ast.BinOp(left, ast.Add(), right):
            first, second = _literal(left, module), _literal(right, module)
            return None if first is None or second is None else first + second
        case ast.Call(ast.Attribute(text, _)) if module.full_name(node.func).startswith(
            'textwrap.'
        ):
            return _literal(text, module)
        case ast.Name() | ast.Attribute():
            return _named(node, module)
        case _:
            return None


def _named(node: ast.Name | ast.Attribute, module: Module) -> str | None:
    found = module.mypy_node(node)
    variable = found.node if isinstance(found, RefExpr) else None
    if isinstance(variable, Var) and isinstance(variable.final_value, str):
        return variable.final_value
    given = [
        one.value
        for one in module.syntax.body
        if isinstance(one, ast.Assign)
        and any(
            isinstance(target, ast.Name) and target.id == ast.unparse(node)
            for target in one.targets
        )
    ]
    return (
        given[0].value
        if len(given) == 1
        and isinstance(given[0], ast.Constant)
        and isinstance(given[0].value, str)
        else None
    )


def _class(node: ast.expr, module: Module) -> TypeInfo | None:
    found = module.mypy_node(node.value if isinstance(node, ast.Subscript) else node)
    info = found.node if isinstance(found, RefExpr) else None
    return info if isinstance(info, TypeInfo) else None


def _fields(info: TypeInfo | None) -> Mapping[str, Type | None]:
    """Give the fields of a class and those that it inherits, with their types."""
    fields: dict[str, Type | None] = {}
    for base in reversed(info.mro if info is not None else []):
        fields |= {
            name: one.node.type for name, one in base.names.items() if isinstance(one.node, Var)
        }
    return fields


def _is_secret(name: str, type_: Type | None) -> bool:
    """Whether what a field holds is a secret by its type, or by its name where the type may hold one."""
    if _holds_secret(type_):
        return True
    return is_sensitive(name) and (
        type_ is None or any(not _is_open(one) for one in union_members(type_))
    )


def _is_open(type_: ProperType) -> bool:
    if isinstance(type_, NoneType | LiteralType):
        return True
    return bool(base_names(type_) & OPEN)


def _holds_secret(type_: Type | None, depth: int = 0) -> bool:
    for one in union_members(type_):
        if SECRET in base_names(one):
            return True
        parts = (
            one.items
            if isinstance(one, TupleType)
            else one.args
            if isinstance(one, Instance)
            else ()
        )
        if depth < 3 and any(_holds_secret(part, depth + 1) for part in parts):  # noqa: PLR2004 -- an alias may have no bottom
            return True
    return False


def _secrets(module: Module) -> Iterator[ast.expr]:
    """Give what is read of a secret of an error: one of its fields, also one that a pattern has taken out."""
    for node in module.nodes_of_type(ast.Attribute):
        owners = [
            one for one in union_members(module.type_of(node.value)) if TAGGED in base_names(one)
        ]
        if any(
            isinstance(one, Instance) and _is_secret_field(one.type, node.attr) for one in owners
        ):
            yield node
    for arm in module.nodes_of_type(ast.match_case):
        taken = set(_taken(arm.pattern, module))
        for statement in arm.body if taken else ():
            for one in walk(statement):
                if isinstance(one, ast.Name) and one.id in taken and isinstance(one.ctx, ast.Load):
                    yield one


def _revealed(module: Module) -> Iterator[ast.expr | ast.stmt]:
    """Give each text with a `.reveal()`, or that alone, that an error is made of and prints."""
    for node in module.nodes_of_type(ast.Call):
        if (
            isinstance(node.func, ast.Attribute)
            and node.func.attr == 'reveal'
            and _holds_secret(module.type_of(node.func.value))
        ):
            text = _text_of(node, module)
            if (text is not None or _is_given_as_it_is(node, module)) and _is_for_a_message(
                node, module
            ):
                yield text or node


def _is_given_as_it_is(node: ast.expr, module: Module) -> bool:
    around = module.parents.get(node)
    call = module.parents.get(around) if isinstance(around, ast.keyword) else around
    return isinstance(call, ast.Call) and any(
        TAGGED in base_names(one) for one in union_members(module.type_of(call))
    )


def _is_secret_field(info: TypeInfo, name: str) -> bool:
    fields = _fields(info)
    return name in fields and _is_secret(name, fields[name])


def _is_for_a_message(node: ast.AST, module: Module) -> bool:
    """Whether it stands in an argument of an error that prints it; what becomes a `Secret` again is none."""
    around = module.parents.get(node)
    while around is not None and not isinstance(around, ast.stmt | ast.Lambda):
        if isinstance(around, ast.Call) and around.func is not node:
            made = list(union_members(module.type_of(around)))
            if any(SECRET in base_names(one) for one in made):
                return False
            errors = [
                one.type for one in made if isinstance(one, Instance) and TAGGED in base_names(one)
            ]
            if errors:
                return _prints(errors[0], _argument(around, node, module))
        node, around = around, module.parents.get(around)
    return False


def _argument(call: ast.Call, node: ast.AST, module: Module) -> str | None:
    """Give the field that an argument of an error is for."""
    if isinstance(node, ast.keyword):
        return node.arg
    callee = module.type_of(call.func)
    place = next((number for number, one in enumerate(call.args) if one is node), 0)
    found = callee.argument_by_position(place) if isinstance(callee, CallableType) else None
    return found.name if found is not None else None


def _prints(info: TypeInfo, field: str | None) -> bool:
    """Whether the message of a class prints a field; one that cannot be read may."""
    template = info.defn.keywords.get('message')
    return not isinstance(template, StrExpr) or field is None or field in _printed(template.value)


def _taken(pattern: ast.pattern, module: Module) -> Iterator[str]:
    """Give the names that a pattern binds to secrets of an error, as in `case LoginFailed(user, password)`."""
    for node in walk(pattern):
        info = _class(node.cls, module) if isinstance(node, ast.MatchClass) else None
        if not isinstance(node, ast.MatchClass) or info is None or not info.has_base(TAGGED):
            continue
        fields = _fields(info)
        own = [
            name
            for name, one in info.names.items()
            if isinstance(one.node, Var) and not one.node.is_classvar
        ]
        pairs = [
            *zip(own, node.patterns, strict=False),
            *zip(node.kwd_attrs, node.kwd_patterns, strict=True),
        ]
        for name, inner in pairs:
            if (
                isinstance(inner, ast.MatchAs)
                and inner.name is not None
                and name in fields
                and _is_secret(name, fields[name])
            ):
                yield inner.name


def _text_of(node: ast.expr, module: Module) -> ast.expr | ast.stmt | None:
    """Give the text that a value is printed in; None where it is not printed."""
    while True:
        around = module.parents.get(node)
        match around:
            case ast.FormattedValue():
                text = module.parents.get(around)
                return text if isinstance(text, ast.JoinedStr) else None
            case ast.BinOp(_, ast.Add() | ast.Mod()) if _is_text(module.type_of(around)):
                return around
            case ast.Call(function, given) if node in given and _makes_text(function, module):
                return around
            case ast.keyword():
                call = module.parents.get(around)
                return (
                    call if isinstance(call, ast.Call) and _makes_text(call.func, module) else None
                )
            case ast.Attribute(_, name) if name not in ASKING and isinstance(
                module.parents.get(around), ast.Call
            ):
                node = around
            case ast.Call(function) if node is function:
                node = around
            case ast.Subscript(value) if node is value:
                node = around
            case ast.IfExp(test) if node is not test:
                node = around
            case ast.BoolOp() | ast.Tuple() | ast.List() | ast.Starred():
                node = around
            case ast.Return() if _is_message(around, module):
                return around
            case _:
                return None


def _makes_text(function: ast.expr, module: Module) -> bool:
    if isinstance(function, ast.Attribute) and function.attr in {'format', 'join', 'format_map'}:
        text = function.value
        return _is_text(module.type_of(text)) or (
            isinstance(text, ast.Constant) and isinstance(text.value, str)
        )
    return module.full_name(function) in AS_TEXT


def _is_text(type_: Type | None) -> bool:
    return any('builtins.str' in base_names(one) for one in union_members(type_))


def _is_message(node: ast.AST, module: Module) -> bool:
    """Whether what is returned here is the message of an error."""
    around: ast.AST | None = node
    while around is not None and not isinstance(around, FUNCTIONS):
        around = module.parents.get(around)
    kind = module.parents.get(around) if around is not None else None
    if around is None or around.name not in TEXTS or not isinstance(kind, ast.ClassDef):
        return False
    return any(module.full_name(one) == TAGGED for one in kind.bases)


RULE = Rule('SW112', 'a message that prints a secret', 'error', __doc__ or '', find)
