"""Exceptions that reach clauses as exceptions, although the functions return Results.

With `--keep`, exceptions stay beside the tagged errors: code that is not converted raises them, and
so does code that the analysis does not know. A clause that they reach keeps its form, and what its
statement calls keeps its exceptions.
"""

import ast
from collections.abc import Iterable, Iterator, Sequence

from seamwise.check._mypy.nodes import (
    Decorator,
    FuncDef,
    OverloadedFuncDef,
    RefExpr,
    TypeInfo,
)
from seamwise.check._mypy.types import (
    Instance,
    LiteralType,
    NoneType,
    ProperType,
    TupleType,
    Type,
    TypedDictType,
)
from seamwise.check.migrate.blockers import PLAIN_DECORATORS, own_nodes
from seamwise.check.migrate.flow import Flow
from seamwise.check.migrate.units import Clause, Site, Unit
from seamwise.check.migrate.uses import is_text
from seamwise.check.typed_ast.channels import union_members
from seamwise.check.typed_ast.program import Module, children

_CONSTRUCTORS = ('__new__', '__init__', '__post_init__')
_DEFERRING = frozenset({'typing', 'functools', 'itertools', 'contextlib', 'concurrent', 'asyncio'})
"""Packages whose objects call a function that they got."""
_SAFE = frozenset(
    f'builtins.{name}'
    for name in (
        *('abs', 'all', 'any', 'bool', 'bytes', 'dict', 'enumerate', 'float', 'format', 'getattr'),
        *('frozenset', 'hasattr', 'hash', 'id', 'int', 'isinstance', 'issubclass', 'len', 'list'),
        *('print', 'range', 'repr', 'round', 'set', 'str', 'sum', 'tuple', 'type', 'zip'),
    )
)
"""Functions that call no other than special methods of their arguments."""
_LITERALS = (ast.Constant, ast.JoinedStr, ast.GeneratorExp, ast.ListComp, ast.SetComp)
"""Expressions that run only the code of their parts."""
_Kinds = frozenset[str]
_NONE: _Kinds = frozenset()


class Arrivals:
    """Classes that leave functions and reach clauses as exceptions."""

    def __init__(self, flow: Flow) -> None:
        self._flow = flow
        self._modules = {unit.module.name for unit in flow.units}
        self._all = frozenset(
            kind.name for kind in flow.kinds.converted() if not flow.kinds.is_alias(kind)
        )
        self._leaving: dict[Unit, _Kinds] = dict.fromkeys(flow.units, _NONE)
        self._at: dict[Clause, _Kinds] = {}
        self._sites: dict[ast.AST, Site] = {
            site.node: site for unit in flow.units for site in unit.sites
        }
        self._special = [unit for unit in flow.by_name.values() if _is_implicit(unit)]
        self._overriding: dict[str, list[Unit]] = {}
        for unit in flow.by_name.values():
            definition = unit.module.definition(unit.node) if unit.node is not None else None
            name = unit.name.rpartition('.')[2]
            for base in definition.info.mro[1:] if definition and definition.info else ():
                self._overriding.setdefault(f'{base.fullname}.{name}', []).append(unit)
        self._is_own_only = False
        self._examined: set[Type] = set()
        """Types that contain the one whose values are examined."""
        self._bases: set[str] = set()
        before = None
        while before != self._leaving:
            before = dict(self._leaving)
            self._bases = self._foreign_bases()
            for unit in flow.units:
                self._leaving[unit] = self._of_unit(unit)

    def _foreign_bases(self) -> set[str]:
        """Return the classes of other packages that a subclass makes raise exceptions."""
        return {
            name.rpartition('.')[0]
            for name, units in self._overriding.items()
            if self._of_units(units)
        }

    def reaching(self, clause: Clause) -> _Kinds:
        """Return the classes that reach a clause as exceptions."""
        return self._at.get(clause, _NONE)

    def leaks(self, unit: Unit) -> bool:
        """Return whether exceptions that a function raises itself leave it as exceptions."""
        self._is_own_only = True
        at, self._at = self._at, {}
        leaving = self._of_unit(unit)
        self._is_own_only, self._at = False, at
        return bool(leaving)

    def _of_unit(self, unit: Unit) -> _Kinds:
        body = unit.module.syntax.body if unit.node is None else unit.node.body
        return self._of_nodes(body, unit, None)

    def _of_nodes(
        self, nodes: Iterable[ast.AST | None], unit: Unit, current: Clause | None
    ) -> _Kinds:
        found = [self._of_node(node, unit, current) for node in nodes if node is not None]
        return _NONE.union(*found)

    def _of_node(self, node: ast.AST, unit: Unit, current: Clause | None) -> _Kinds:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda() | ast.ClassDef():
                return _NONE
            case ast.Try():
                return self._of_try(node, unit, current)
            case ast.Raise():
                inner = self._of_nodes([node.exc, node.cause], unit, current)
                return inner | self._raised(node, unit, current)
            case ast.Call():
                return self._of_nodes(children(node), unit, current) | self._called(node, unit)
            case _:
                inner = self._of_nodes(children(node), unit, current)
                return inner if self._is_own_only else inner | self._implied(node, unit.module)

    def _of_try(self, node: ast.Try, unit: Unit, current: Clause | None) -> _Kinds:
        remaining = self._of_nodes(node.body, unit, current)
        leaving = _NONE
        for handler in node.handlers:
            clause = self._flow.clauses[handler]
            caught = remaining if clause.is_dynamic else remaining & clause.covers
            self._at[clause] = self._at.get(clause, _NONE) | caught
            remaining -= _NONE if clause.is_dynamic else clause.covers
            leaving |= self._of_nodes(handler.body, unit, clause)
        return remaining | leaving | self._of_nodes([*node.orelse, *node.finalbody], unit, current)

    def _raised(self, node: ast.Raise, unit: Unit, current: Clause | None) -> _Kinds:
        module = unit.module
        clause = current if node.exc is None else self._flow.clause_of(node.exc, module)
        if clause is not None:
            return self._at.get(clause, _NONE)
        site = self._sites.get(node)
        if site is not None and site.all_kinds:
            return site.all_kinds if site.is_raw or not unit.is_converted else _NONE
        if self._is_own_only or node.exc is None:
            return _NONE
        value = node.exc
        if isinstance(value, ast.Call) and module.full_name(value.func):
            value = value.func
        names = [
            member.type.fullname
            for member in union_members(module.type_of(value))
            if isinstance(member, Instance)
        ]
        if module.class_at(value) is not None:
            return _NONE
        return frozenset(self._flow.kinds.covered(names)) if names else self._all

    def _called(self, node: ast.Call, unit: Unit) -> _Kinds:
        site = self._sites.get(node)
        if self._is_own_only:
            return site.all_kinds if site is not None and site.is_raw else _NONE
        module = unit.module
        callee = self._flow.callee(node, module)
        if callee is not None:
            is_result = unit.is_converted and site is not None and not site.is_raw
            found = self._leaving[callee] | (_NONE if is_result else callee.escapes)
            return found | self._of_units(self._overriding.get(callee.name, ()))
        match node.func:
            case ast.Attribute(ast.Call(ast.Name('super')), name):
                return self._of_units(self._super_methods(unit, name))
            case ast.Name('super'):
                return _NONE
            case _:
                pass
        reference = module.mypy_node(node.func)
        definition = reference.node if isinstance(reference, RefExpr) else None
        if isinstance(definition, TypeInfo) and definition.module_name in self._modules:
            return self._of_units(
                self._flow.by_name[name]
                for base in definition.mro
                for constructor in _CONSTRUCTORS
                if (name := f'{base.fullname}.{constructor}') in self._flow.by_name
            )
        return self._called_outside(node, module)

    def _super_methods(self, unit: Unit, name: str) -> Iterator[Unit]:
        definition = unit.module.definition(unit.node) if unit.node is not None else None
        for base in definition.info.mro[1:] if definition and definition.info else ():
            if name in base.names:
                found = self._flow.by_name.get(f'{base.fullname}.{name}')
                yield from [found] if found is not None else []
                return

    def _called_outside(self, node: ast.Call, module: Module) -> _Kinds:
        values = [*node.args, *(keyword.value for keyword in node.keywords)]
        reference = module.mypy_node(node.func)
        definition = reference.node if isinstance(reference, RefExpr) else None
        if definition is not None and definition.fullname in _SAFE:
            return self._of_special(values, module)
        if isinstance(node.func, ast.Attribute) and is_text(node.func.value, module):
            return self._of_special(values, module)
        if isinstance(definition, FuncDef | OverloadedFuncDef | Decorator | TypeInfo):
            is_known = definition.fullname.partition('.')[0] not in _DEFERRING
        else:
            is_known = isinstance(node.func, ast.Attribute)
            values += [node.func.value] if isinstance(node.func, ast.Attribute) else []
        return _NONE if is_known and self._are_plain(values, module) else self._all

    def _implied(self, node: ast.AST, module: Module) -> _Kinds:
        """Return the classes that special methods, properties and generators raise."""
        match node:
            case ast.Attribute(value, name):
                units = [
                    unit
                    for unit in self._special
                    if unit.name.rpartition('.')[2] in {name, '__getattr__', '__getattribute__'}
                ]
                return self._of_units(units) if not self._are_plain([value], module) else _NONE
            case ast.Await(value):
                return _NONE if isinstance(value, ast.Call) else self._all
            case ast.For(iter=value) | ast.AsyncFor(iter=value) | ast.comprehension(iter=value):
                return self._of_special([value], module)
            case ast.withitem(value) | ast.FormattedValue(value) | ast.Subscript(value):
                return self._of_special([value], module)
            case ast.BinOp(left, _, right):
                return self._of_special([left, right], module)
            case ast.Compare(left, operators, others):
                is_identity = all(isinstance(item, ast.Is | ast.IsNot) for item in operators)
                return _NONE if is_identity else self._of_special([left, *others], module)
            case ast.UnaryOp(_, value) | ast.AugAssign(_, _, value) | ast.Starred(value):
                return self._of_special([value], module)
            case ast.If(value) | ast.While(value) | ast.IfExp(value):
                return self._of_special([value], module)
            case _:
                return _NONE

    def _of_special(self, values: Sequence[ast.expr], module: Module) -> _Kinds:
        return _NONE if self._are_plain(values, module) else self._of_units(self._special)

    def _of_units(self, units: Iterable[Unit]) -> _Kinds:
        return _NONE.union(*(self._leaving[unit] | unit.escapes for unit in units))

    def _are_plain(self, values: Iterable[ast.expr], module: Module) -> bool:
        return all(
            isinstance(value, _LITERALS)
            or self._is_plain(module.type_of(value))
            or self._is_foreign_class(value, module)
            for value in values
        )

    def _is_foreign_class(self, value: ast.expr, module: Module) -> bool:
        reference = module.mypy_node(value)
        definition = reference.node if isinstance(reference, RefExpr) else None
        return isinstance(definition, TypeInfo) and definition.module_name not in self._modules

    def _is_plain(self, type_: Type | None) -> bool:
        """Return whether values of a type run no code of the program."""
        if type_ is None or type_ in self._examined:
            # A recursive type is as plain as its other parts.
            return type_ is not None
        self._examined.add(type_)
        members = list(union_members(type_))
        is_plain = bool(members) and all(map(self._is_plain_member, members))
        self._examined.remove(type_)
        return is_plain

    def _is_plain_member(self, type_: ProperType) -> bool:
        match type_:
            case NoneType() | LiteralType():
                return True
            case TupleType():
                return all(map(self._is_plain, type_.items))
            case TypedDictType():
                return all(map(self._is_plain, type_.items.values()))
            case Instance():
                info = type_.type
                return (
                    not any(base.module_name in self._modules for base in info.mro)
                    and info.module_name.partition('.')[0] not in _DEFERRING
                    and info.fullname not in self._bases
                    and not info.is_protocol
                    and all(map(self._is_plain, type_.args))
                )
            case _:
                return False


def _is_implicit(unit: Unit) -> bool:
    """Return whether a function runs without a call: a special method, property or generator."""
    node = unit.node
    name = unit.name.rpartition('.')[2]
    return node is not None and (
        (name.startswith('__') and name.endswith('__'))
        or any(
            unit.module.full_name(decorator) not in PLAIN_DECORATORS
            for decorator in node.decorator_list
        )
        or any(isinstance(part, ast.Yield | ast.YieldFrom) for part in own_nodes(node))
    )
