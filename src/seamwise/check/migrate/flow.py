"""Propagation of exception classes through functions, statement by statement."""

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet

from msgspec import Struct, field

from seamwise.check._mypy.types import Instance
from seamwise.check.inference.data_flow.error_inference import ErrorInference
from seamwise.check.migrate.expectations import Expectation, expectations
from seamwise.check.migrate.kinds import Kind, Kinds, NotMigrated, handler_classes
from seamwise.check.typed_ast.channels import union_members
from seamwise.check.typed_ast.program import FUNCTIONS, Function, Module, Program, children

_BROAD = frozenset({'builtins.Exception', 'builtins.BaseException'})
_SCOPES = (*FUNCTIONS, ast.Lambda, ast.GeneratorExp)
_EAGER = frozenset(
    {'sum', 'list', 'tuple', 'set', 'dict', 'any', 'all', 'sorted', 'min', 'max', 'frozenset'}
)
_CALLERS = frozenset({f'builtins.{name}' for name in ('sorted', 'map', 'filter', 'min', 'max')})
"""Functions that only call their argument."""
_GROUPS = frozenset({'TaskGroup', 'Nursery', 'ExitStack', 'AsyncExitStack', 'suppress'})
"""Context managers that raise an exception in a group, or swallow it."""
_GENERATOR_MANAGERS = frozenset({'_GeneratorContextManager', '_AsyncGeneratorContextManager'})
"""Classes of the managers that `@contextmanager` makes; their `except` clauses are not known."""
_PLAIN_DECORATORS = frozenset({'builtins.staticmethod', 'builtins.classmethod'})


class Clause(Struct, eq=False):
    """An `except` clause."""

    node: ast.ExceptHandler
    module: Module
    classes: tuple[str, ...]
    statement: ast.Try
    covers: frozenset[str] = frozenset()
    """Converted classes that it names, or is broad enough for."""
    arrived: frozenset[str] = frozenset()
    """Those that reach it."""
    is_broad: bool = False
    is_dynamic: bool = False
    """Whether it names something else than classes."""
    is_mixed: bool = False
    """Whether it also names other exceptions."""


class Site(Struct, eq=False):
    """A `raise` statement, or a call of a function that raises."""

    node: ast.Raise | ast.Call
    kinds: frozenset[str]
    tries: tuple[ast.Try, ...]
    """The statements whose bodies contain it, innermost first."""
    is_caught: bool
    """Whether a handler of the same function may stop it."""
    is_lazy: bool
    """Whether it runs in a lambda, when some other code calls it."""
    in_with: bool
    rethrown: Clause | None = None
    """The clause whose exception a `raise` raises again."""
    callee: 'Unit | None' = None


class Unit(Struct, eq=False):
    """A function, or the top-level code of a module."""

    name: str
    module: Module
    node: Function | None
    blocker: str = ''
    """Reason why the function keeps exceptions; empty if it can be converted."""
    escapes: frozenset[str] = frozenset()
    sites: list[Site] = field(default_factory=list['Site'])
    is_test: bool = False
    """Whether only a test runner calls the function, and no code of the program."""
    is_value: bool = False
    """Whether code that is not converted needs the old name."""
    result_name: str = ''
    """New name of a function whose old name keeps its exceptions for callers outside."""

    @property
    def is_public(self) -> bool:
        """Whether no part of the name begins with an underscore; special methods are public."""
        return not any(
            part.startswith('_') and not part.endswith('__') for part in self.name.split('.')
        )

    @property
    def short_name(self) -> str:
        """Name without the module."""
        return self.name.removeprefix(f'{self.module.name}.')

    @property
    def is_converted(self) -> bool:
        """Whether the function returns a Result from now on."""
        return self.node is not None and not self.blocker and bool(self.escapes)


class Flow:
    """All functions of a program, with the exceptions that leave them."""

    def __init__(
        self, program: Program, kinds: Kinds, blocked: Mapping[str, str], selected: AbstractSet[str]
    ) -> None:
        """Follow the exceptions.

        Args:
            program: The modules.
            kinds: The exception classes.
            blocked: Reasons against functions, by their full names.
            selected: The functions to convert; empty for all.
        """
        self.kinds = kinds
        self.inferences = {module: ErrorInference(module) for module in program.modules}
        self.units: list[Unit] = []
        for module, inference in self.inferences.items():
            self.units.append(Unit(module.name, module, None))
            for function in module.functions():
                unit = Unit(inference.function_name(function), module, function)
                unit.blocker = blocked.get(unit.name, '') or _blocker(function, module)
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
        self.loose: frozenset[str] = frozenset()
        """Classes that may be raised where no call shows it, as by an iterator or a property."""
        self.rejected: dict[str, str] = {}
        """Reasons against functions that are found at the end, by full name."""
        self._run()

    def _block_expecting(self) -> None:
        for unit in self.by_name.values():
            if unit.node is not None and any(part in self.expected for part in _own(unit.node)):
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

    def _run(self) -> None:
        while True:
            before = self._state()
            loose: set[str] = set()
            for unit in self.units:
                unit.sites = []
                visitor = _Visitor(unit, self)
                body = unit.module.syntax.body if unit.node is None else unit.node.body
                unit.escapes = frozenset(visitor.statements(body, (), None, in_with=False))
                if unit.node is not None and unit.blocker and not unit.is_test:
                    loose |= unit.escapes
                loose.update(
                    name for callback in self.callbacks.values() for name in callback.escapes
                )
                loose.update(name for site in unit.sites if site.is_lazy for name in site.kinds)
            self.loose |= loose
            if self._state() == before:
                break
        units = {unit.node: unit for unit in self.units}
        for clause in self.clauses.values():
            scope = clause.module.scope_of(clause.statement)
            owner = units.get(scope if isinstance(scope, FUNCTIONS) else None)
            if self.kinds.is_keeping and (owner is None or not owner.is_converted):
                continue
            reached = clause.arrived if clause.is_broad else clause.covers
            if owner is None or not self.kinds.is_keeping:
                self.kinds.read_handler(clause.node, clause.module, reached)
                continue
            if clause.is_mixed and clause.arrived:
                self.rejected[owner.name] = 'has a clause that also names other exceptions'
            elif reason := self._unknown_reading(clause, reached):
                self.rejected[owner.name] = reason

    def _unknown_reading(self, clause: Clause, names: AbstractSet[str]) -> str:
        """Return the reason why a clause needs exceptions; empty if it does not."""
        if clause.arrived & self.loose and (
            not clause.is_broad
            or any(site.rethrown is clause for unit in self.units for site in unit.sites)
        ):
            return 'has a clause that errors reach both as exceptions and in Results'
        refused = dict(self.kinds.refused)
        self.kinds.read_handler(clause.node, clause.module, names)
        is_known = self.kinds.refused == refused
        self.kinds.refused = refused
        return '' if is_known else 'reads an error in a way that only exceptions have'

    def called_by_raising_code(self) -> Iterator[Unit]:
        """Yield the converted functions that code calls which keeps its exceptions."""
        for unit in self.units:
            if not unit.is_converted:
                for site in unit.sites:
                    if site.callee is not None and site.callee.is_converted:
                        yield site.callee
        yield from (unit for unit in self.expected_functions.values() if unit.is_converted)

    def keeps_exceptions(self, unit: Unit | None, names: Iterable[str]) -> bool:
        """Return whether code stays as it is, because its classes stay exceptions beside errors."""
        return (unit is None or not unit.is_converted) and any(
            self.kinds.all[name].has_twin for name in names
        )

    def _state(self) -> object:
        return (
            self.loose,
            tuple((unit.escapes, unit.is_converted) for unit in self.units),
            tuple(clause.arrived for clause in self.clauses.values()),
        )

    def _clause(self, handler: ast.ExceptHandler, statement: ast.Try, module: Module) -> Clause:
        classes = tuple(handler_classes(handler, module))
        covers = self.kinds.covered(classes)
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
            own = [name for name in classes if name in self.kinds.all]
            clause.is_mixed |= bool(covers) and not is_broad and self.kinds.has_kept_classes(own)
        elif clause.is_mixed:
            self._refuse_mixed(clause, covers)
        return clause

    def _refuse_mixed(self, clause: Clause, names: AbstractSet[str]) -> None:
        self._refuse_caught(
            clause,
            names,
            'is caught by a clause that also names other exceptions',
            'Write one clause for the class, and another one for the exceptions.',
        )

    def _refuse_caught(
        self, clause: Clause, names: AbstractSet[str], reason: str, advice: str
    ) -> None:
        for name in names:
            kind = self.kinds.all[name]
            self.kinds.refuse(kind, clause.module, clause.node.lineno, reason, advice)

    def refuse_dynamic(self, clause: Clause, names: AbstractSet[str]) -> None:
        """Refuse the classes that may reach a clause which names a variable."""
        if clause.is_dynamic:
            self._refuse_caught(
                clause,
                names,
                'reaches a clause whose exceptions are not known',
                'Name the exceptions in the clause.',
            )

    def callee(self, call: ast.Call, module: Module) -> Unit | None:
        """Return the function of the program that a call calls."""
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
        if not name and isinstance(node, ast.Attribute):
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
            for part in _own(unit.node):
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
            own = list(_own(callee.node))
            if any(isinstance(part, ast.Yield) for part in own):
                return any(isinstance(part, ast.Try) and part.handlers for part in own)
        for member in union_members(module.type_of(manager)):
            if isinstance(member, Instance):
                is_foreign_generator = callee is None and member.type.name in _GENERATOR_MANAGERS
                if is_foreign_generator or member.type.name in _GROUPS:
                    return True
                for base in member.type.mro:
                    for name in ('__exit__', '__aexit__'):
                        unit = self.by_name.get(f'{base.fullname}.{name}')
                        if unit is not None and unit.node is not None and _is_choosy(unit.node):
                            return True
        return False


def is_run(node: ast.AST | None, module: Module) -> bool:
    """Return whether a node is a call of `asyncio.run`, which awaits a coroutine."""
    return isinstance(node, ast.Call) and module.full_name(node.func) in {
        'asyncio.run',
        'asyncio.runners.run',
    }


def _is_choosy(function: Function) -> bool:
    """Return whether an `__exit__` may swallow an exception, or asks for its class."""
    for part in _own(function):
        if isinstance(part, ast.Name) and part.id in {'isinstance', 'issubclass'}:
            return True
        if isinstance(part, ast.Return) and not (
            part.value is None or (isinstance(part.value, ast.Constant) and not part.value.value)
        ):
            return True
        if isinstance(part, ast.Compare) and any(
            not isinstance(operand, ast.Constant) for operand in part.comparators
        ):
            return True
    return False


class _Visitor:
    """Exceptions of one function, statement by statement."""

    def __init__(self, unit: Unit, flow: Flow) -> None:
        self.unit = unit
        self.flow = flow
        self.is_lazy = False

    def statements(
        self,
        body: Sequence[ast.AST],
        tries: tuple[ast.Try, ...],
        current: Clause | None,
        *,
        in_with: bool,
    ) -> set[str]:
        """Return the classes that leave some nodes."""
        leaving: set[str] = set()
        for node in body:
            leaving |= self._node(node, tries, current, in_with=in_with)
        return leaving

    def _node(
        self, node: ast.AST, tries: tuple[ast.Try, ...], current: Clause | None, *, in_with: bool
    ) -> set[str]:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                defaults: list[ast.AST] = [*node.decorator_list, *node.args.defaults]
                return self.statements(defaults, tries, current, in_with=in_with)
            case ast.Lambda() | ast.GeneratorExp() if not self._is_eager(node):
                was_lazy, self.is_lazy = self.is_lazy, True
                # Its exceptions leave the function that calls it.
                self.statements(children(node), tries, current, in_with=in_with)
                self.is_lazy = was_lazy
                return set()
            case ast.Try():
                return self._try(node, tries, current, in_with=in_with)
            case ast.With() | ast.AsyncWith() if node in self.flow.expected:
                leaving = self.statements(node.items, tries, current, in_with=in_with)
                expected = self.flow.covered_by(self.flow.expected[node], self.unit.module)
                inner = self.statements(node.body, tries, current, in_with=True)
                return leaving | (inner - expected)
            case ast.With() | ast.AsyncWith():
                leaving = self.statements(node.items, tries, current, in_with=in_with)
                return leaving | self.statements(node.body, tries, current, in_with=True)
            case ast.Raise():
                return self._raise(node, tries, current, in_with=in_with)
            case ast.Call():
                leaving = self.statements(children(node), tries, current, in_with=in_with)
                callee = self.flow.callee(node, self.unit.module)
                if callee is not None and callee.is_converted:
                    leaving |= self._site(
                        node, callee.escapes, tries, in_with=in_with, callee=callee
                    )
                return leaving
            case _:
                return self.statements(children(node), tries, current, in_with=in_with)

    def _is_eager(self, node: ast.AST) -> bool:
        if not isinstance(node, ast.GeneratorExp):
            return False
        parent = self.unit.module.parents.get(node)
        return isinstance(parent, ast.Call) and (
            (isinstance(parent.func, ast.Name) and parent.func.id in _EAGER)
            or (
                isinstance(parent.func, ast.Attribute)
                and parent.func.attr == 'join'
                and isinstance(parent.func.value, ast.Constant)
            )
        )

    def _try(
        self, node: ast.Try, tries: tuple[ast.Try, ...], current: Clause | None, *, in_with: bool
    ) -> set[str]:
        remaining = self.statements(node.body, (node, *tries), current, in_with=in_with)
        loose = set(self.flow.loose)
        leaving: set[str] = set()
        for handler in node.handlers:
            clause = self.flow.clauses[handler]
            self.flow.refuse_dynamic(clause, remaining | loose)
            clause.arrived = clause.arrived | (clause.covers & (remaining | loose))
            remaining -= clause.covers
            loose -= clause.covers
            leaving |= self.statements(handler.body, tries, clause, in_with=in_with)
        leaving |= self.statements(node.orelse, tries, current, in_with=in_with)
        leaving |= self.statements(node.finalbody, tries, current, in_with=in_with)
        return leaving | remaining

    def _raise(
        self, node: ast.Raise, tries: tuple[ast.Try, ...], current: Clause | None, *, in_with: bool
    ) -> set[str]:
        inner = [child for child in (node.exc, node.cause) if child is not None]
        leaving = self.statements(inner, tries, current, in_with=in_with)
        rethrown = current if node.exc is None else self._named(node.exc)
        if rethrown is not None:
            return leaving | self._site(
                node, rethrown.arrived, tries, in_with=in_with, rethrown=rethrown
            )
        raised = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
        name = self.unit.module.full_name(raised) if raised is not None else ''
        kind = self.flow.kinds.all.get(name)
        names: frozenset[str] = frozenset()
        if kind is not None and self.flow.kinds.is_converted(kind):
            names = frozenset({name})
        return leaving | self._site(node, names, tries, in_with=in_with)

    def _named(self, node: ast.expr | None) -> Clause | None:
        """Return the clause around a `raise` of its own variable."""
        parent: ast.AST | None = node
        while parent is not None and not isinstance(parent, FUNCTIONS):
            if (
                isinstance(parent, ast.ExceptHandler)
                and isinstance(node, ast.Name)
                and parent.name == node.id
            ):
                return self.flow.clauses.get(parent)
            parent = self.unit.module.parents.get(parent)
        return None

    def _site(
        self,
        node: ast.Raise | ast.Call,
        kinds: frozenset[str],
        tries: tuple[ast.Try, ...],
        *,
        in_with: bool,
        rethrown: Clause | None = None,
        callee: Unit | None = None,
    ) -> set[str]:
        is_caught = any(
            self.flow.clauses[handler].is_broad or kinds & self.flow.clauses[handler].covers
            for statement in tries
            for handler in statement.handlers
        )
        self.unit.sites.append(
            Site(node, kinds, tries, is_caught, self.is_lazy, in_with, rethrown, callee)
        )
        return set(kinds)


def _blocker(function: Function, module: Module) -> str:
    """Return the reason why a function must keep exceptions; empty if there is none."""
    name = function.name
    decorators = [module.full_name(decorator) for decorator in function.decorator_list]
    if name.startswith('test'):
        return 'is a test, whose returned value nothing reads'
    if name.startswith('__') and name.endswith('__'):
        return 'is a special method, whose exceptions Python defines'
    if 'builtins.property' in decorators:
        return 'is a property'
    if any(decorator not in _PLAIN_DECORATORS for decorator in decorators):
        return 'has a decorator that may handle exceptions'
    if not isinstance(module.parents.get(function), ast.Module | ast.ClassDef):
        return 'is defined in another function'
    definition = module.definition(function)
    if definition is not None and definition.info:
        if any(name in base.names for base in definition.info.mro[1:]):
            return 'overrides a method of a base class'
        if definition.info.is_protocol:
            return 'is a method of a protocol'
    own = list(_own(function))
    if any(isinstance(node, ast.Yield | ast.YieldFrom) for node in own):
        return 'is a generator'
    names = {node.id for node in own if isinstance(node, ast.Name)}
    arguments = function.args
    parameters = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    if 'do' in names | {parameter.arg for parameter in parameters}:
        return 'already uses the name `do`'
    if any(isinstance(node, ast.TryStar) for node in own):
        return 'handles exception groups'
    if any(
        (isinstance(node, ast.Name) and node.id == 'locals') or _is_foreign_suppress(node)
        for node in own
    ):
        return 'suppresses exceptions, or reads `locals`'
    if any(isinstance(node, ast.Try) and _may_swallow(node) for node in own):
        return 'leaves a `finally` by a statement that swallows exceptions'
    if isinstance(function, ast.FunctionDef) and _returns_awaitable(function, module):
        return 'returns an awaitable without being a coroutine'
    match function.returns:
        case ast.Name('NoReturn' | 'Never'):
            return 'never returns'
        case _:
            pass
    if _returns_result(function, module):
        return 'already returns a Result'
    return ''


def _may_swallow(statement: ast.Try) -> bool:
    """Return whether a `finally` may end in another way than by its last statement."""
    return any(
        isinstance(node, ast.Return | ast.Break | ast.Continue)
        for part in statement.finalbody
        for node in ast.walk(part)
    )


def _returns_awaitable(function: Function, module: Module) -> bool:
    declared = module.declared_type(function)
    return declared is not None and any(
        isinstance(member, Instance) and any('__await__' in base.names for base in member.type.mro)
        for member in union_members(declared.ret_type)
    )


def _returns_result(function: Function, module: Module) -> bool:
    declared = module.declared_type(function)
    return declared is not None and 'returns.result.' in str(declared.ret_type)


def _is_foreign_suppress(node: ast.AST) -> bool:
    return (isinstance(node, ast.Name) and node.id == 'suppress') or (
        isinstance(node, ast.Attribute) and node.attr == 'suppress'
    )


def _own(function: Function) -> Iterator[ast.AST]:
    """Yield the nodes of a function without those of inner functions."""
    queue: list[ast.AST] = list(function.body)
    while queue:
        node = queue.pop()
        yield node
        if not isinstance(node, FUNCTIONS):
            queue += children(node)


def has_overrides(program: Program, inferences: Mapping[Module, ErrorInference]) -> frozenset[str]:
    """Return the full names of the methods that a subclass in the program overrides."""
    names: set[str] = set()
    for module in program.modules:
        for function in module.functions():
            definition = module.definition(function)
            if definition is not None and definition.info:
                names.update(
                    f'{base.fullname}.{function.name}'
                    for base in definition.info.mro[1:]
                    if function.name in base.names
                )
    del inferences
    return frozenset(names)


def left_alone(flow: Flow) -> Iterator[NotMigrated]:
    """Yield the functions that still raise a converted class, and the classes that are kept."""
    yield from flow.kinds.refused.values()
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


def kinds_of(unit: Unit, kinds: Kinds) -> list[Kind]:
    """Return the classes that leave a function, in the order of their definition."""
    return [kind for kind in kinds.all.values() if kind.name in unit.escapes]
