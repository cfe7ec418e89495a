"""# SW109: domain code that knows a seam.

What an audience needs is added where that audience is. A domain error, and a service that gives it, know their domain and
nothing else: no HTTP status, no `to_dict`, no colour, no exit code, no JSON. Else the next audience finds the words of another
one in its way, and a change of a wire is a change of the domain.

A module is asked when a part of its dotted name is `domain` or `services`; other layers are named in `pyproject.toml`, as in
`domain = ["core", "shop.usecases"]` under `[tool.seamwise.check]`. Tests are not asked. Found are:

- imports of `seamwise.seams`, those for type checkers only too: whoever names the shape of a seam knows it;
- statuses, responses and exceptions of HTTP libraries, and a number that its name says to be a status: `http_status`,
  `status_code`, a `status` of 400 and more, a `code` of an error that is one of HTTP's;
- `to_dict` and `to_json`, `json.dumps` and its like (reading JSON is fine);
- colours of a terminal, as escapes or from a library, and a terminal's colour as the `colour` of an error;
- ways to end the program, and a number that its name says to be an exit code.

Words are words: an order 404, a paint with a `colour`, a text that speaks of JSON stay silent.

```python
# src/shop/services/orders.py
from seamwise import Category, Failure, Result, Success, TaggedError
```

Fails:

```python
class OrderNotFound(TaggedError, category=Category.NOT_FOUND, message='There is no order {number}.'):
    number: int
    http_status: int = 404


def find_order(number: int) -> Result[str, OrderNotFound]:
    return Success('two books') if number == 1 else Failure(OrderNotFound(number))
```

Mended: the seam decides, as in `on(NoSuchOrder).responds(404, 'NO_SUCH_ORDER')`.

```python
class NoSuchOrder(TaggedError, category=Category.NOT_FOUND, message='There is no order {number}.'):
    number: int


def order(number: int) -> Result[str, NoSuchOrder]:
    return Success('two books') if number == 1 else Failure(NoSuchOrder(number))
```
"""

import ast
import builtins
from collections.abc import Iterator, Mapping
from functools import cached_property
from types import MappingProxyType

from mypy.types import AnyType, CallableType, Type

from seamwise.check.findings import RawFinding
from seamwise.check.rules.rule import Rule
from seamwise.check.rules.seam_names import (
    CALLED,
    COLOUR,
    ESCAPE,
    EXIT,
    OF_ERRORS,
    SEAM,
    TERMINAL,
    WRITERS,
    Seam,
    is_seams,
    means,
    says,
    seam_of,
)
from seamwise.check.rules.unchecked_unwrap import is_test
from seamwise.check.typed_ast.channels import base_names, union_members
from seamwise.check.typed_ast.program import FUNCTIONS, Function, Module, walk
from seamwise.redaction.sensitive_names import split_words

TAGGED = 'seamwise.errors.TaggedError'
BUILTINS = MappingProxyType(
    {f'builtins.{name}': one for name, one in vars(builtins).items() if isinstance(one, type)}
)

_Place = ast.stmt | ast.match_case


def find(module: Module) -> Iterator[RawFinding]:
    """Give what a module knows of a seam, once for each statement; which modules must not, the settings say."""
    if is_test(module.path):
        return
    said: set[_Place] = set()
    for place, spot in _Reader(module).known():
        if place not in said:
            said.add(place)
            yield spot


class _Reader:
    """One module, as if it were of the domain."""

    def __init__(self, module: Module) -> None:
        self.module = module

    def known(self) -> Iterator[tuple[_Place, RawFinding]]:
        """Give what is known of a seam, each with the statement that it stands in, in no order."""
        yield from self._imports()
        yield from self._references()
        yield from self._literals()
        yield from self._fields()
        yield from self._methods()

    def _imports(self) -> Iterator[tuple[_Place, RawFinding]]:
        for plain in self.module.nodes_of_type(ast.Import):
            for one in plain.names:
                if is_seams(one.name):
                    yield plain, _spot(plain, f'`{one.name}` is imported', SEAM)
        for node in self.module.nodes_of_type(ast.ImportFrom):
            for one in node.names if node.level == 0 else ():
                if is_seams(node.module or '') or is_seams(f'{node.module}.{one.name}'):
                    yield node, _spot(node, f'`{one.name}` is imported from `{node.module}`', SEAM)

    def _references(self) -> Iterator[tuple[_Place, RawFinding]]:
        found: list[ast.Name | ast.Attribute] = [
            *self.module.nodes_of_type(ast.Name),
            *self.module.nodes_of_type(ast.Attribute),
        ]
        for node in found:
            seam = seam_of(self._full_name(node)) or self._method_of(node)
            if seam is None or self._is_caught(node):
                continue
            whole = self._whole(node)
            yield self._statement(whole), _spot(whole, f'`{ast.unparse(whole)}`', seam)

    def _full_name(self, node: ast.Name | ast.Attribute) -> str:
        """Give the full name as mypy has it; of an annotation and of a library without types, as the imports say."""
        known = self.module.types_of(node)
        if known and not all(isinstance(one, AnyType) for one in known):
            return self.module.full_name(node)
        if isinstance(node, ast.Name):
            return self._imported.get(node.id) or self.module.full_name(node)
        above = (
            self._full_name(node.value) if isinstance(node.value, ast.Name | ast.Attribute) else ''
        )
        return self.module.full_name(node) or (above and f'{above}.{node.attr}')

    @cached_property
    def _imported(self) -> Mapping[str, str]:
        names: dict[str, str] = {}
        for plain in self.module.nodes_of_type(ast.Import):
            for one in plain.names:
                first = one.name.partition('.')[0]
                names[one.asname or first] = one.name if one.asname else first
        for node in self.module.nodes_of_type(ast.ImportFrom):
            if node.level == 0:
                names |= {one.asname or one.name: f'{node.module}.{one.name}' for one in node.names}
        return names

    def _method_of(self, node: ast.Name | ast.Attribute) -> Seam | None:
        if not isinstance(node, ast.Attribute) or node.attr not in CALLED:
            return None
        owner, seam = CALLED[node.attr]
        return (
            seam
            if any(
                owner in base_names(one) for one in union_members(self.module.type_of(node.value))
            )
            else None
        )

    def _is_caught(self, node: ast.expr) -> bool:
        """Whether it is named by an `except`: whoever lets the end of the program pass does not bring it about."""
        around: ast.AST | None = self.module.parents.get(node)
        if isinstance(around, ast.Tuple):
            around = self.module.parents.get(around)
        return isinstance(around, ast.ExceptHandler)

    def _whole(self, node: ast.expr) -> ast.expr:
        """Give all of `HTTPStatus.NOT_FOUND`."""
        while isinstance(around := self.module.parents.get(node), ast.Attribute):
            node = around
        return node

    def _literals(self) -> Iterator[tuple[_Place, RawFinding]]:
        for node in self.module.nodes_of_type(ast.Constant):
            if isinstance(node.value, int) and not isinstance(node.value, bool):
                yield from self._number(node, node.value)
            elif isinstance(node.value, str | bytes) and _is_escape(node.value):
                place = self._statement(node)
                if not (isinstance(place, ast.Expr) and place.value is node):
                    around = self.module.parents.get(node)
                    yield (
                        place,
                        _spot(
                            around if isinstance(around, ast.JoinedStr) else node,
                            'An escape',
                            COLOUR,
                        ),
                    )

    def _number(self, node: ast.Constant, value: int) -> Iterator[tuple[_Place, RawFinding]]:
        for name, is_of_error in self._roles(node):
            seam = means(name, value, is_of_error=is_of_error)
            if seam is not None:
                place = self._statement(node)
                yield place, _spot(place, f'`{name}` of {value}', seam)

    def _roles(self, node: ast.expr) -> Iterator[tuple[str, bool]]:
        """Give the names that say what a value is for, each with whether an error is spoken of."""
        around = self.module.parents.get(node)
        match around:
            case ast.Assign(targets):
                for target in targets:
                    yield from self._role(target)
            case ast.AnnAssign(target) | ast.NamedExpr(target):
                yield from self._role(target)
            case ast.keyword(str(name)):
                call = self.module.parents.get(around)
                yield name, isinstance(call, ast.Call) and _is_error(self.module.type_of(call))
            case ast.Call(function, given) if node in given:
                name = self._parameter(function, given.index(node)) or ''
                yield name, _is_error(self.module.type_of(around))
            case ast.Compare(left, _, others):
                for one in (left, *others):
                    if one is not node:
                        yield from self._asked(one)
            case ast.Return():
                yield from self._given_by(around)
            case ast.arguments():
                yield from self._default(node, around)
            case ast.Dict(keys, values):
                key = next(
                    (key for key, value in zip(keys, values, strict=True) if value is node), None
                )
                if isinstance(key, ast.Constant) and isinstance(key.value, str):
                    yield key.value, False
                elif key is not None and _is_error_class(self.module.type_of(key)):
                    yield 'code', True
                if key is not None:
                    yield from self._roles(around)
            case ast.MatchValue():
                yield from self._matched(around)
            case ast.Tuple() | ast.List() | ast.Set() | ast.Lambda() | ast.BoolOp():
                yield from self._roles(around)
            case ast.IfExp(test) if test is not node:
                yield from self._roles(around)
            case _:
                return

    def _asked(self, value: ast.expr) -> Iterator[tuple[str, bool]]:
        """Leave out exit codes: which one another program has ended with may be asked."""
        yield from (one for one in self._role(value) if says(one[0]) is not EXIT)

    def _role(self, target: ast.expr) -> Iterator[tuple[str, bool]]:
        if isinstance(target, ast.Name):
            around = self.module.parents.get(self._statement(target))
            yield target.id, isinstance(around, ast.ClassDef) and self._makes_errors(around)
        elif isinstance(target, ast.Attribute):
            yield target.attr, _is_error(self.module.type_of(target.value))
        elif isinstance(target, ast.Call):
            yield from self._role(target.func)
        elif (
            isinstance(target, ast.Subscript)
            and isinstance(target.slice, ast.Constant)
            and isinstance(target.slice.value, str)
        ):
            yield target.slice.value, False

    def _parameter(self, function: ast.expr, place: int) -> str | None:
        typed = self.module.type_of(function)
        found = typed.argument_by_position(place) if isinstance(typed, CallableType) else None
        return found.name if found is not None else None

    def _given_by(self, node: ast.AST) -> Iterator[tuple[str, bool]]:
        around: ast.AST | None = node
        while around is not None and not isinstance(around, FUNCTIONS):
            around = self.module.parents.get(around)
        if around is not None:
            yield around.name, self._speaks_of_errors(around)

    def _default(self, node: ast.expr, given: ast.arguments) -> Iterator[tuple[str, bool]]:
        positional = [*given.posonlyargs, *given.args]
        pairs = [
            *zip(reversed(positional), reversed(given.defaults), strict=False),
            *zip(given.kwonlyargs, given.kw_defaults, strict=True),
        ]
        yield from ((one.arg, False) for one, default in pairs if default is node)

    def _matched(self, pattern: ast.MatchValue) -> Iterator[tuple[str, bool]]:
        around: ast.AST | None = self.module.parents.get(pattern)
        while isinstance(around, ast.MatchOr | ast.MatchAs):
            around = self.module.parents.get(around)
        match = self.module.parents.get(around) if isinstance(around, ast.match_case) else None
        if isinstance(match, ast.Match):
            yield from self._asked(match.subject)

    def _fields(self) -> Iterator[tuple[_Place, RawFinding]]:
        for kind in self.module.nodes_of_type(ast.ClassDef):
            is_error = self._makes_errors(kind)
            for node in kind.body:
                match node:
                    case ast.AnnAssign(ast.Name(name) as target, _, None):
                        seam = says(name)
                        if (
                            seam is not None
                            and (is_error or 'http' in split_words(name))
                            and _is_int(self.module.variable_type(target))
                        ):
                            yield node, _spot(node, f'The field `{name}`', seam)
                    case ast.AnnAssign(ast.Name(name), _, ast.Constant(str(value))) | ast.Assign(
                        [ast.Name(name)], ast.Constant(str(value))
                    ):
                        if (
                            is_error
                            and split_words(name)[-1:] in (['color'], ['colour'])
                            and TERMINAL.intersection(split_words(value)[-1:])
                        ):
                            yield node, _spot(node, f'`{name}` of {value}', COLOUR)
                    case ast.Assign([ast.Name(name)]) if name in WRITERS:
                        yield node, _spot(node, f'`{name}`', WRITERS[name])
                    case _:
                        continue

    def _methods(self) -> Iterator[tuple[_Place, RawFinding]]:
        for function in self.module.functions():
            around = self.module.parents.get(function)
            seam = WRITERS.get(function.name)
            if seam is None and isinstance(around, ast.ClassDef):
                seam = OF_ERRORS.get(function.name) if self._makes_errors(around) else None
                seam = seam or self._number_of(function)
            if seam is not None:
                yield function, _spot(function, f'`{function.name}`', seam)

    def _number_of(self, function: Function) -> Seam | None:
        """Give the seam of a method that gives its number, unless the number itself is found."""
        declared = self.module.declared_type(function)
        seam = says(function.name)
        if seam is None or declared is None or not _is_int(declared.ret_type):
            return None
        return None if any(isinstance(one, ast.Constant) for one in _returned(function)) else seam

    def _makes_errors(self, kind: ast.ClassDef) -> bool:
        return any(_is_exception(self.module.full_name(one)) for one in kind.bases)

    def _speaks_of_errors(self, function: Function) -> bool:
        declared = self.module.declared_type(function)
        if declared is not None and any(_is_error(one) for one in declared.arg_types):
            return True
        around = self.module.parents.get(function)
        return isinstance(around, ast.ClassDef) and self._makes_errors(around)

    def _statement(self, node: ast.AST) -> _Place:
        around: ast.AST | None = node
        while around is not None and not isinstance(around, ast.stmt | ast.match_case):
            around = self.module.parents.get(around)
        return around if around is not None else self.module.syntax.body[0]


def _spot(node: _Place | ast.expr, said: str, seam: Seam) -> RawFinding:
    return RawFinding(node, f'{said}: the domain knows {seam.what} here.', seam.help)


def _is_escape(value: str | bytes) -> bool:
    return ESCAPE in (value if isinstance(value, str) else value.decode('latin-1'))


def _is_int(type_: Type | None) -> bool:
    return any('builtins.int' in base_names(one) for one in union_members(type_))


def _is_error(type_: Type | None) -> bool:
    return any(base_names(one) & {TAGGED, 'builtins.BaseException'} for one in union_members(type_))


def _is_error_class(type_: Type | None) -> bool:
    return any(
        isinstance(one, CallableType) and one.is_type_obj() and _is_error(one.ret_type)
        for one in union_members(type_)
    )


def _is_exception(name: str) -> bool:
    found = BUILTINS.get(name)
    return name == TAGGED or (found is not None and issubclass(found, BaseException))


def _returned(function: Function) -> Iterator[ast.expr]:
    for node in walk(function):
        if isinstance(node, ast.Return) and node.value is not None:
            yield node.value


RULE = Rule(
    'SW109', 'domain code that knows a seam', 'warning', __doc__ or '', find, is_of_domain=True
)
