"""Functions and clauses of a program, and the uses that decide their form."""

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet

from seamwise.check._mypy.nodes import FuncDef
from seamwise.check._mypy.types import Instance
from seamwise.check.inference.data_flow.error_inference import ErrorInference
from seamwise.check.migrate.blockers import (
    blocker_of,
    is_choosy,
    is_overriding,
    is_plain_method,
    is_property,
    overridden_methods,
    own_nodes,
)
from seamwise.check.migrate.exception_classes import NotMigrated
from seamwise.check.migrate.expectations import Expectation, expectations
from seamwise.check.migrate.kinds import Kinds
from seamwise.check.migrate.seams.web import is_dependency
from seamwise.check.migrate.units import Clause, Unit
from seamwise.check.migrate.uses import handler_classes
from seamwise.check.typed_ast.channels import union_members
from seamwise.check.typed_ast.program import FUNCTIONS, Module, Program

_BROAD = frozenset({'builtins.Exception', 'builtins.BaseException'})
_CALLERS = frozenset({f'builtins.{name}' for name in ('sorted', 'map', 'filter', 'min', 'max')})
"""Functions that only call their argument."""
_GROUPS = frozenset({'TaskGroup', 'Nursery', 'ExitStack', 'AsyncExitStack', 'suppress'})
"""Context managers that raise an exception in a group, or swallow it."""
_GENERATOR_MANAGERS = frozenset({'_GeneratorContextManager', '_AsyncGeneratorContextManager'})
"""Classes of the managers that `@contextmanager` makes; their `except` clauses are not known."""


class Flow:
    """All functions of a program, with the exceptions that leave them after `propagate`."""

    def __init__(
        self, program: Program, kinds: Kinds, blocked: Mapping[str, str], selected: AbstractSet[str]
    ) -> None:
        """Read the functions and clauses.

        Args:
            program: The modules.
            kinds: The exception classes.
            blocked: Reasons against functions, by their full names.
            selected: The functions to convert; empty for all.
        """
        self.kinds = kinds
        self.inferences = {module: ErrorInference(module) for module in program.modules}
        self.units: list[Unit] = []
        overridden = overridden_methods(program)
        for module, inference in self.inferences.items():
            self.units.append(Unit(module.name, module, None))
            for function in module.functions():
                unit = Unit(inference.function_name(function), module, function)
                if kinds.has_table(function, module):
                    unit.table = kinds.table
                elif kinds.exits and kinds.commands and function in kinds.commands:
                    unit.table = kinds.exits
                is_overridden = unit.name in overridden
                unit.keeps_calls = (
                    kinds.is_keeping
                    and is_plain_method(function, module)
                    and (
                        is_overridden
                        or is_overriding(function, module)
                        or is_property(function, module)
                    )
                )
                is_fixed = is_overridden and not unit.keeps_calls
                unit.blocker = (
                    blocked.get(unit.name, '')
                    or ('is overridden in a subclass' if is_fixed else '')
                    or blocker_of(
                        function,
                        module,
                        is_decorated=unit.table is not None,
                        is_silent=unit.table is not None and unit.table is kinds.exits,
                        keeps_calls=unit.keeps_calls,
                    )
                )
                if selected and unit.name not in selected:
                    unit.blocker = unit.blocker or 'is not selected'
                self.units.append(unit)
        self.by_name = {unit.name: unit for unit in self.units if unit.node is not None}
        called = {
            self.inferences[module].callee_name(call)
            for module in program.modules
            for call in module.nodes_of_type(ast.Call)
        }
        for unit in self.by_name.values():
            name = unit.name.rpartition('.')[2]
            unit.is_test = name.startswith('test') and unit.name not in called
        self.callbacks: dict[ast.AST, Unit] = {}
        """Functions that are passed to a function which calls them at once, by their uses."""
        self.expected: dict[ast.AST, Expectation] = {}
        """Assertions of tests, by their `with` statement or, in the called form, their call."""
        self.expected_functions: dict[ast.AST, Unit] = {}
        """Functions that the called form calls, by their uses."""
        for module in program.modules:
            for expectation in expectations(module):
                if kinds.named(expectation.classes, module) is not None:
                    self.expected[expectation.statement or expectation.call] = expectation
        self._block_values(program)
        self._block_managers()
        self._block_expecting()
        self._block_named(program)
        self.clauses: dict[ast.ExceptHandler, Clause] = {}
        for module in program.modules:
            for statement in module.nodes_of_type(ast.Try):
                for handler in statement.handlers:
                    self.clauses[handler] = self._clause(handler, statement, module)
        self.kept: set[ast.Try] = set()
        """Statements whose clauses exceptions reach that stay beside the tagged errors."""
        self.loose: frozenset[str] = frozenset()
        """Classes that may be raised where no call shows it, as by an iterator or a property."""
        self.rejected: dict[str, str] = {}
        """Reasons against functions that are found at the end, by full name."""

    def _block_expecting(self) -> None:
        for unit in self.by_name.values():
            if unit.node is not None and any(
                part in self.expected for part in own_nodes(unit.node)
            ):
                unit.blocker = unit.blocker or 'asserts that exceptions are raised'

    def _block_named(self, program: Program) -> None:
        """Block functions whose full name is a text, by which a test replaces them."""
        by_name: dict[str, list[Unit]] = {}
        for unit in self.by_name.values():
            by_name.setdefault(unit.name.rpartition('.')[2], []).append(unit)
        for module in program.modules:
            for node in module.nodes_of_type(ast.Constant):
                if not isinstance(node.value, str) or '.' not in node.value:
                    continue
                scope, _, last = node.value.rpartition('.')
                for unit in by_name.get(last, ()) if scope.replace('.', '').isidentifier() else ():
                    if scope.partition('.')[0] == unit.name.partition('.')[0]:
                        unit.blocker = unit.blocker or (
                            f'is named in a text at {module.path}:{node.lineno}'
                        )

    def covered_by(self, expectation: Expectation, module: Module) -> set[str]:
        """Return the names of the converted classes that a test expects."""
        kinds = self.kinds.named(expectation.classes, module) or []
        return self.kinds.covered(kind.name for kind in kinds)

    def called_by_raising_code(self) -> Iterator[Unit]:
        """Yield the converted functions that code calls which keeps its exceptions."""
        for unit in self.units:
            for site in unit.sites:
                is_raising = site.is_raw or not unit.is_converted
                if is_raising and site.callee is not None and site.callee.is_converted:
                    yield site.callee
        yield from (unit for unit in self.expected_functions.values() if unit.is_converted)

    def keeps_exceptions(self, unit: Unit | None, names: Iterable[str]) -> bool:
        """Return whether code stays as it is, because its classes stay exceptions beside errors."""
        return (unit is None or not unit.is_converted) and any(
            self.kinds.all[name].has_twin for name in names
        )

    def _clause(self, handler: ast.ExceptHandler, statement: ast.Try, module: Module) -> Clause:
        classes = tuple(handler_classes(handler, module))
        is_answer = handler in self.kinds.answering
        covers = self.kinds.covered(classes) if not is_answer else set[str]()
        is_broad = not _BROAD.isdisjoint(classes)
        is_mixed = bool(covers) and any(
            name not in _BROAD and not self.kinds.covered([name]) for name in classes
        )
        clause = Clause(
            handler,
            module,
            classes,
            statement,
            frozenset(covers),
            is_broad=is_broad,
            is_dynamic='' in classes,
            is_mixed=is_mixed and not is_broad,
        )
        if self.kinds.is_keeping:
            # A class of another package also has exceptions that this code does not raise.
            is_own = all(name in self.kinds.all for name in classes)
            is_mixed = not is_own or self.kinds.has_kept_classes(classes)
            clause.is_mixed = bool(covers) and not is_broad and is_mixed
        elif clause.is_mixed:
            self._refuse_mixed(clause, covers)
        return clause

    def _refuse_mixed(self, clause: Clause, names: AbstractSet[str]) -> None:
        self.refuse_caught(
            clause,
            names,
            'is caught by a clause that also names other exceptions',
            'Write one clause for the class, and another one for the exceptions.',
        )

    def refuse_caught(
        self, clause: Clause, names: AbstractSet[str], reason: str, advice: str
    ) -> None:
        """Refuse the classes that may reach a clause."""
        for name in names:
            kind = self.kinds.all[name]
            self.kinds.refuse(kind, clause.module, clause.node.lineno, reason, advice)

    def clause_of(self, node: ast.expr, module: Module) -> Clause | None:
        """Return the clause around a node that binds it."""
        parent: ast.AST | None = node
        while parent is not None and not isinstance(parent, FUNCTIONS):
            if (
                isinstance(parent, ast.ExceptHandler)
                and isinstance(node, ast.Name)
                and parent.name == node.id
            ):
                return self.clauses.get(parent)
            parent = module.parents.get(parent)
        return None

    def callee(self, call: ast.Call, module: Module) -> Unit | None:
        """Return the function of the program that a call calls."""
        if self.kinds.exits and self.kinds.commands and call is self.kinds.commands.start:
            return None
        return self.by_name.get(self.inferences[module].callee_name(call))

    def _block_values(self, program: Program) -> None:
        """Block functions that are used other than by a call whose callee is known."""
        by_attribute: dict[str, list[Unit]] = {}
        for unit in self.by_name.values():
            by_attribute.setdefault(unit.name.rpartition('.')[2], []).append(unit)
        for module in program.modules:
            nodes: list[tuple[ast.Name | ast.Attribute, str]] = [
                *((node, node.id) for node in module.nodes_of_type(ast.Name)),
                *((node, node.attr) for node in module.nodes_of_type(ast.Attribute)),
            ]
            for node, last in nodes:
                candidates = by_attribute.get(last)
                if candidates and isinstance(node.ctx, ast.Load):
                    self._block_value(node, candidates, module)
                elif candidates and isinstance(node, ast.Attribute):
                    name = module.full_name(node) or self.inferences[module].qualified_name(node)
                    for unit in candidates:
                        if name in {'', unit.name}:
                            reason = f'is replaced at {module.path}:{node.lineno}'
                            unit.blocker = unit.blocker or reason

    def _block_value(
        self, node: ast.Name | ast.Attribute, candidates: Sequence[Unit], module: Module
    ) -> None:
        parent = module.parents.get(node)
        name = module.full_name(node)
        if self.kinds.exits and self.kinds.commands and name in self.kinds.commands.names:
            return
        if (isinstance(node, ast.Attribute) and not name) or any(
            unit.is_inner for unit in candidates
        ):
            name = self.inferences[module].qualified_name(node)
        if isinstance(parent, ast.Call) and parent.func is node:
            callee = self.inferences[module].callee_name(parent)
            if callee in self.by_name:
                unit = self.by_name[callee]
                outer = module.parents.get(parent)
                is_async = isinstance(unit.node, ast.AsyncFunctionDef)
                if is_async and not (isinstance(outer, ast.Await) or is_run(outer, module)):
                    reason = f'that {module.path}:{node.lineno} does not await itself'
                    self._block(unit, f'returns a coroutine {reason}')
                return
            if callee or name or isinstance(node, ast.Name):
                return
            reason = 'is perhaps called through a value without a type'
        else:
            if isinstance(node, ast.Name) and not name:
                # mypy does not read the metadata of `Annotated`.
                definition = module.global_definition(node.id)
                name = definition.fullname if isinstance(definition, FuncDef) else ''
            if isinstance(node, ast.Name) and not name:
                return
            if self.kinds.table and is_dependency(parent) and name in self.by_name:
                self.by_name[name].table = self.kinds.table
                return
            if (
                isinstance(parent, ast.Call)
                and (expectation := self.expected.get(parent)) is not None
                and expectation.called is not None
                and expectation.called[0] is node
                and name in self.by_name
            ):
                self.expected_functions[node] = self.by_name[name]
                return
            if not self.kinds.is_keeping and self._is_callback(node, name, module):
                self.callbacks[node] = self.by_name[name]
                return
            reason = 'is used as a value'
        for unit in candidates:
            if name in {'', unit.name} and not (name == '' and unit.node is None):
                self._block(unit, f'{reason} at {module.path}:{node.lineno}')

    def _block(self, unit: Unit, reason: str) -> None:
        """Block a function because of a use, which may also go on with a kept function."""
        if self.kinds.is_keeping:
            unit.is_value = True
        else:
            unit.blocker = unit.blocker or reason

    def _is_callback(self, node: ast.expr, name: str, module: Module) -> bool:
        """Return whether a lambda can take the place of a function that is an argument."""
        unit = self.by_name.get(name)
        if unit is None or not isinstance(unit.node, ast.FunctionDef):
            return False
        arguments = unit.node.args
        is_plain = not (
            arguments.posonlyargs
            or arguments.defaults
            or arguments.kwonlyargs
            or arguments.vararg
            or arguments.kwarg
        )
        if not is_plain or not isinstance(node, ast.Name):
            return False
        if not isinstance(module.parents.get(unit.node), ast.Module):
            return False
        parent = module.parents.get(node)
        if isinstance(parent, ast.keyword):
            parent = module.parents.get(parent)
        return isinstance(parent, ast.Call) and module.full_name(parent.func) in _CALLERS

    def _block_managers(self) -> None:
        """Block functions with a `with` whose manager treats exceptions differently from `do`."""
        for unit in self.by_name.values():
            if unit.node is None or unit.blocker:
                continue
            for part in own_nodes(unit.node):
                if isinstance(part, ast.With | ast.AsyncWith) and any(
                    self._handles_exceptions(item.context_expr, unit.module) for item in part.items
                ):
                    unit.blocker = (
                        f'has a `with` in line {part.lineno} whose manager handles exceptions'
                    )

    def _handles_exceptions(self, manager: ast.expr, module: Module) -> bool:
        """Return whether a context manager looks at the class of an exception."""
        if isinstance(manager, ast.Await):
            return self._handles_exceptions(manager.value, module)
        callee = self.callee(manager, module) if isinstance(manager, ast.Call) else None
        if callee is not None and callee.node is not None:
            own = list(own_nodes(callee.node))
            if any(isinstance(part, ast.Yield) for part in own):
                return any(isinstance(part, ast.Try) and part.handlers for part in own)
        for member in union_members(module.type_of(manager)):
            if isinstance(member, Instance):
                is_foreign_generator = callee is None and member.type.name in _GENERATOR_MANAGERS
                if is_foreign_generator or member.type.name in _GROUPS:
                    return not _is_stack_of_callbacks(manager, module)
                for base in member.type.mro:
                    for name in ('__exit__', '__aexit__'):
                        unit = self.by_name.get(f'{base.fullname}.{name}')
                        if unit is not None and unit.node is not None and is_choosy(unit.node):
                            return True
        return False


def _is_stack_of_callbacks(manager: ast.expr, module: Module) -> bool:
    """Return whether a manager is an `ExitStack` that the function gives only callbacks."""
    if not isinstance(manager, ast.Name):
        return False
    is_new = False
    for node in ast.walk(module.scope_of(manager)):
        match node:
            case ast.arg(manager.id):
                return False
            case ast.Name(manager.id):
                parent = module.parents[node]
                if isinstance(parent, ast.Assign) and isinstance(parent.value, ast.Call):
                    is_new = module.full_name(parent.value.func) == 'contextlib.ExitStack'
                elif not isinstance(parent, ast.withitem) and not (
                    isinstance(parent, ast.Attribute) and parent.attr == 'callback'
                ):
                    return False
            case _:
                pass
    return is_new


def is_run(node: ast.AST | None, module: Module) -> bool:
    """Return whether a node is a call of `asyncio.run`, which awaits a coroutine."""
    return isinstance(node, ast.Call) and module.full_name(node.func) in {
        'asyncio.run',
        'asyncio.runners.run',
    }


def left_alone(flow: Flow) -> Iterator[NotMigrated]:
    """Yield the functions that still raise a converted class, and the classes that are kept."""
    yield from flow.kinds.refused.values()
    yield from flow.kinds.unanswered
    for unit in flow.units:
        if unit.node is not None and unit.blocker and unit.escapes and not unit.is_test:
            keeps = flow.keeps_exceptions(unit, unit.escapes)
            behaviour = 'It keeps its exceptions' if keeps else 'It raises `Raised` with the error'
            yield NotMigrated(
                str(unit.module.path),
                unit.node.lineno,
                unit.short_name,
                unit.blocker,
                f'{behaviour}; return a Result by hand if its callers allow it.',
            )
