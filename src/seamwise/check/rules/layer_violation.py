"""# SW109: domain code that depends on a seam

Keep the details of an audience in its seam. A domain error or service contains no HTTP status, no
`to_dict`, no colour, no exit code and no JSON. Otherwise every other audience gets these details
too, and a change of the wire format is a change of the domain.

```python
# src/shop/services/orders.py
from seamwise import Category, Failure, Result, Success, TaggedError
```

Reported:

```python
class OrderNotFound(TaggedError, category=Category.NOT_FOUND, message='No order {number}.'):
    number: int
    http_status: int = 404


def find_order(number: int) -> Result[str, OrderNotFound]:
    return Success('two books') if number == 1 else Failure(OrderNotFound(number))
```

Fixed, with the status at the seam, as in `on(NoSuchOrder).responds(404, 'NO_SUCH_ORDER')`:

```python
class NoSuchOrder(TaggedError, category=Category.NOT_FOUND, message='No order {number}.'):
    number: int


def order(number: int) -> Result[str, NoSuchOrder]:
    return Success('two books') if number == 1 else Failure(NoSuchOrder(number))
```

A module belongs to the domain if a part of its dotted name is `domain` or `services`. Configure
other layers in `pyproject.toml`. Test files are not checked.

```toml
[tool.seamwise.check]
domain = ["core", "shop.usecases"]
```

| Concern | Reported in the domain |
| --- | --- |
| Seams | imports of `seamwise.seams`, also those under `TYPE_CHECKING` |
| HTTP | statuses, responses and exceptions of HTTP libraries |
| HTTP | numbers named `http_status` or `status_code`, and a `status` of 400 or more |
| HTTP | an HTTP status as the `code` of an error |
| JSON | methods `to_dict` and `to_json`; `json.dumps` and similar functions, but not reading |
| Colours | terminal escapes, colour libraries, and a terminal colour as the `colour` of an error |
| Exit codes | calls that end the program, and numbers named as an exit code |

Only such names are reported: order 404, a paint with a `colour`, or a text about JSON are not.
"""

import ast
import builtins
from collections.abc import Iterator
from types import MappingProxyType
from typing import TypeAlias

from seamwise.check._mypy.types import CallableType, Type
from seamwise.check.findings import RawFinding
from seamwise.check.rules.rule import Rule
from seamwise.check.rules.seam_names import (
    COLOUR,
    ERROR_METHODS,
    ESCAPE_PREFIX,
    EXIT,
    LIBRARY_METHODS,
    SEAM,
    TERMINAL_COLOURS,
    WRITER_METHODS,
    SeamConcern,
    is_seam_module,
    library_concern,
    name_concern,
    value_concern,
)
from seamwise.check.rules.unchecked_unwrap import is_test
from seamwise.check.typed_ast.channels import TAGGED_ERROR, base_names, may_be, union_members
from seamwise.check.typed_ast.program import Function, Module, walk
from seamwise.check.typed_ast.qualified_names import qualified_name
from seamwise.redaction.sensitive_names import split_words

_BUILTIN_CLASSES = MappingProxyType(
    {f'builtins.{name}': value for name, value in vars(builtins).items() if isinstance(value, type)}
)

_Statement: TypeAlias = ast.stmt | ast.match_case
_Violation: TypeAlias = tuple[_Statement, RawFinding]
_Role: TypeAlias = tuple[str, bool]
"""A name for the role of a value, and whether the value belongs to an error."""


def _find_violations(module: Module) -> Iterator[RawFinding]:
    """Yield the first violation of each statement. The settings name the domain modules."""
    if is_test(module.path):
        return
    reported: set[_Statement] = set()
    for statement, finding in _ModuleCheck(module).violations():
        if statement not in reported:
            reported.add(statement)
            yield finding


class _ModuleCheck:
    """Check of one module as a part of the domain."""

    def __init__(self, module: Module) -> None:
        self.module = module

    def violations(self) -> Iterator[_Violation]:
        """Yield the violations, each with its statement, in no particular order."""
        yield from self._imports()
        yield from self._references()
        yield from self._literals()
        yield from self._fields()
        yield from self._methods()

    def _imports(self) -> Iterator[_Violation]:
        for plain in self.module.nodes_of_type(ast.Import):
            for alias in plain.names:
                if is_seam_module(alias.name):
                    yield plain, _finding(plain, f'`{alias.name}` is imported', SEAM)
        for node in self.module.nodes_of_type(ast.ImportFrom):
            for alias in node.names if node.level == 0 else ():
                if is_seam_module(node.module or '') or is_seam_module(
                    f'{node.module}.{alias.name}'
                ):
                    text = f'`{alias.name}` is imported from `{node.module}`'
                    yield node, _finding(node, text, SEAM)

    def _references(self) -> Iterator[_Violation]:
        references: list[ast.Name | ast.Attribute] = [
            *self.module.nodes_of_type(ast.Name),
            *self.module.nodes_of_type(ast.Attribute),
        ]
        for node in references:
            concern = library_concern(qualified_name(node, self.module)) or self._method_concern(
                node
            )
            if concern is None or self._is_caught(node):
                continue
            expr = self._outer_attribute(node)
            yield self._statement(expr), _finding(expr, f'`{ast.unparse(expr)}`', concern)

    def _method_concern(self, node: ast.Name | ast.Attribute) -> SeamConcern | None:
        if not isinstance(node, ast.Attribute) or node.attr not in LIBRARY_METHODS:
            return None
        owner, concern = LIBRARY_METHODS[node.attr]
        return concern if may_be(self.module.type_of(node.value), owner) else None

    def _is_caught(self, node: ast.expr) -> bool:
        """Return whether an `except` names it: catching `SystemExit` does not end the program."""
        parent: ast.AST | None = self.module.parents.get(node)
        if isinstance(parent, ast.Tuple):
            parent = self.module.parents.get(parent)
        return isinstance(parent, ast.ExceptHandler)

    def _outer_attribute(self, node: ast.expr) -> ast.expr:
        """Return `HTTPStatus.NOT_FOUND` for the name `HTTPStatus`."""
        while isinstance(parent := self.module.parents.get(node), ast.Attribute):
            node = parent
        return node

    def _literals(self) -> Iterator[_Violation]:
        for node in self.module.nodes_of_type(ast.Constant):
            if isinstance(node.value, int) and not isinstance(node.value, bool):
                yield from self._number(node, node.value)
            elif isinstance(node.value, str | bytes) and _has_escape(node.value):
                statement = self._statement(node)
                if isinstance(statement, ast.Expr) and statement.value is node:
                    # A docstring.
                    continue
                parent = self.module.parents.get(node)
                expr = parent if isinstance(parent, ast.JoinedStr) else node
                yield statement, _finding(expr, 'A terminal escape', COLOUR)

    def _number(self, node: ast.Constant, value: int) -> Iterator[_Violation]:
        for name, is_of_error in self._roles(node):
            concern = value_concern(name, value, is_of_error=is_of_error)
            if concern is not None:
                statement = self._statement(node)
                yield statement, _finding(statement, f'`{name}` with the value {value}', concern)

    def _roles(self, node: ast.expr) -> Iterator[_Role]:
        parent = self.module.parents.get(node)
        match parent:
            case ast.Assign(targets):
                for target in targets:
                    yield from self._target_role(target)
            case ast.AnnAssign(target) | ast.NamedExpr(target):
                yield from self._target_role(target)
            case ast.keyword(str(name)):
                call = self.module.parents.get(parent)
                yield name, isinstance(call, ast.Call) and _is_error(self.module.type_of(call))
            case ast.Call(function, arguments) if node in arguments:
                name = self._parameter_name(function, arguments.index(node)) or ''
                yield name, _is_error(self.module.type_of(parent))
            case ast.Compare(left, _, comparators):
                for operand in (left, *comparators):
                    if operand is not node:
                        yield from self._compared_role(operand)
            case ast.Return():
                yield from self._return_role(parent)
            case ast.arguments():
                yield from self._default_role(node, parent)
            case ast.Dict(keys, values):
                pairs = zip(keys, values, strict=True)
                key = next((key for key, value in pairs if value is node), None)
                if isinstance(key, ast.Constant) and isinstance(key.value, str):
                    yield key.value, False
                elif key is not None and _is_error_class(self.module.type_of(key)):
                    yield 'code', True
                if key is not None:
                    yield from self._roles(parent)
            case ast.MatchValue():
                yield from self._pattern_role(parent)
            case ast.Tuple() | ast.List() | ast.Set() | ast.Lambda() | ast.BoolOp():
                yield from self._roles(parent)
            case ast.IfExp(test) if test is not node:
                yield from self._roles(parent)
            case _:
                return

    def _compared_role(self, value: ast.expr) -> Iterator[_Role]:
        """Omit exit codes: the domain may compare the exit code of another program."""
        yield from (role for role in self._target_role(value) if name_concern(role[0]) is not EXIT)

    def _target_role(self, target: ast.expr) -> Iterator[_Role]:
        if isinstance(target, ast.Name):
            parent = self.module.parents.get(self._statement(target))
            yield target.id, isinstance(parent, ast.ClassDef) and self._defines_error(parent)
        elif isinstance(target, ast.Attribute):
            yield target.attr, _is_error(self.module.type_of(target.value))
        elif isinstance(target, ast.Call):
            yield from self._target_role(target.func)
        elif (
            isinstance(target, ast.Subscript)
            and isinstance(target.slice, ast.Constant)
            and isinstance(target.slice.value, str)
        ):
            yield target.slice.value, False

    def _parameter_name(self, function: ast.expr, index: int) -> str | None:
        type_ = self.module.type_of(function)
        argument = type_.argument_by_position(index) if isinstance(type_, CallableType) else None
        return argument.name if argument is not None else None

    def _return_role(self, node: ast.AST) -> Iterator[_Role]:
        function = self.module.enclosing_function(node)
        if function is not None:
            yield function.name, self._concerns_errors(function)

    def _default_role(self, node: ast.expr, arguments: ast.arguments) -> Iterator[_Role]:
        positional = [*arguments.posonlyargs, *arguments.args]
        pairs = [
            *zip(reversed(positional), reversed(arguments.defaults), strict=False),
            *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True),
        ]
        yield from ((parameter.arg, False) for parameter, default in pairs if default is node)

    def _pattern_role(self, pattern: ast.MatchValue) -> Iterator[_Role]:
        parent: ast.AST | None = self.module.parents.get(pattern)
        while isinstance(parent, ast.MatchOr | ast.MatchAs):
            parent = self.module.parents.get(parent)
        match = self.module.parents.get(parent) if isinstance(parent, ast.match_case) else None
        if isinstance(match, ast.Match):
            yield from self._compared_role(match.subject)

    def _fields(self) -> Iterator[_Violation]:
        for class_ in self.module.nodes_of_type(ast.ClassDef):
            is_error = self._defines_error(class_)
            for node in class_.body:
                match node:
                    case ast.AnnAssign(ast.Name(name) as target, _, None):
                        concern = name_concern(name)
                        if (
                            concern is not None
                            and (is_error or 'http' in split_words(name))
                            and _is_int(self.module.variable_type(target))
                        ):
                            yield node, _finding(node, f'The field `{name}`', concern)
                    case ast.AnnAssign(ast.Name(name), _, ast.Constant(str(value))) | ast.Assign(
                        [ast.Name(name)], ast.Constant(str(value))
                    ):
                        if (
                            is_error
                            and split_words(name)[-1:] in (['color'], ['colour'])
                            and TERMINAL_COLOURS.intersection(split_words(value)[-1:])
                        ):
                            text = f'`{name}` with the value {value!r}'
                            yield node, _finding(node, text, COLOUR)
                    case ast.Assign([ast.Name(name)]) if name in WRITER_METHODS:
                        yield node, _finding(node, f'`{name}`', WRITER_METHODS[name])
                    case _:
                        continue

    def _methods(self) -> Iterator[_Violation]:
        for function in self.module.functions():
            parent = self.module.parents.get(function)
            concern = WRITER_METHODS.get(function.name)
            if concern is None and isinstance(parent, ast.ClassDef):
                if self._defines_error(parent):
                    concern = ERROR_METHODS.get(function.name)
                concern = concern or self._number_concern(function)
            if concern is not None:
                yield function, _finding(function, f'`{function.name}`', concern)

    def _number_concern(self, function: Function) -> SeamConcern | None:
        """Return the concern of a method such as `status_code`.

        A constant that it returns is a finding of its own.
        """
        declared = self.module.declared_type(function)
        concern = name_concern(function.name)
        if concern is None or declared is None or not _is_int(declared.ret_type):
            return None
        if any(isinstance(value, ast.Constant) for value in _returned_values(function)):
            return None
        return concern

    def _defines_error(self, class_: ast.ClassDef) -> bool:
        return any(_is_exception(self.module.full_name(base)) for base in class_.bases)

    def _concerns_errors(self, function: Function) -> bool:
        declared = self.module.declared_type(function)
        if declared is not None and any(_is_error(type_) for type_ in declared.arg_types):
            return True
        parent = self.module.parents.get(function)
        return isinstance(parent, ast.ClassDef) and self._defines_error(parent)

    def _statement(self, node: ast.AST) -> _Statement:
        parent: ast.AST | None = node
        while parent is not None and not isinstance(parent, ast.stmt | ast.match_case):
            parent = self.module.parents.get(parent)
        return parent if parent is not None else self.module.syntax.body[0]


def _finding(node: _Statement | ast.expr, subject: str, concern: SeamConcern) -> RawFinding:
    return RawFinding(node, f'{subject}: the domain depends on {concern.name} here.', concern.help)


def _has_escape(value: str | bytes) -> bool:
    return ESCAPE_PREFIX in (value if isinstance(value, str) else value.decode('latin-1'))


def _is_int(type_: Type | None) -> bool:
    return may_be(type_, 'builtins.int')


def _is_error(type_: Type | None) -> bool:
    errors = {TAGGED_ERROR, 'builtins.BaseException'}
    return any(base_names(member) & errors for member in union_members(type_))


def _is_error_class(type_: Type | None) -> bool:
    return any(
        isinstance(member, CallableType) and member.is_type_obj() and _is_error(member.ret_type)
        for member in union_members(type_)
    )


def _is_exception(full_name: str) -> bool:
    builtin = _BUILTIN_CLASSES.get(full_name)
    return full_name == TAGGED_ERROR or (builtin is not None and issubclass(builtin, BaseException))


def _returned_values(function: Function) -> Iterator[ast.expr]:
    for node in walk(function):
        if isinstance(node, ast.Return) and node.value is not None:
            yield node.value


RULE = Rule(
    'SW109',
    'domain code that depends on a seam',
    'warning',
    __doc__ or '',
    _find_violations,
    is_domain_only=True,
)
