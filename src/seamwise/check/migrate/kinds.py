"""Exception classes of a program, and the tagged errors that they can become."""

import ast
import types
from collections.abc import Iterable, Mapping, Sequence

from seamwise.check.migrate.exception_classes import (
    EXCEPTION,
    Field,
    Kind,
    NotMigrated,
    exception_classes_of,
    init_template,
)
from seamwise.check.migrate.expectations import (
    Expectation,
    column,
    naming_expectation,
    parametrized,
    readings,
)
from seamwise.check.migrate.seams.commands import Commands
from seamwise.check.migrate.seams.handler import Answers, ErrorHandler
from seamwise.check.migrate.seams.web import handlers_of, is_route
from seamwise.check.migrate.seams.wrappers import Wrapper, middleware_clauses, wrappers_of
from seamwise.check.migrate.uses import (
    handler_classes,
    is_known_reading,
    is_known_result,
    is_text,
    raising_statement,
    unconvertible_use,
)
from seamwise.check.typed_ast.program import Function, Module, Program

_RESERVED = frozenset({'category', 'recovery', 'retryable', 'tag', 'cause', 'retry_after'})
_NO_ANSWERS = Answers()
_UNHASHABLE = frozenset({'list', 'dict', 'set', 'List', 'Dict', 'Set', 'bytearray', 'Any'})


class Kinds:
    """The exception classes of a program, and the reasons why some are kept."""

    def __init__(
        self,
        program: Program,
        refused: Mapping[str, NotMigrated],
        *,
        is_keeping: bool = False,
        has_application: bool = True,
        commands: Commands | None = None,
        answers: Answers = _NO_ANSWERS,
    ) -> None:
        """Read the classes and their uses.

        Args:
            program: The modules.
            refused: Reasons against families, from earlier attempts.
            is_keeping: Whether exceptions stay beside the tagged errors, so that each class of a
                family can be converted without the others.
            has_application: Whether an application may get a table.
            commands: The commands of the program.
            answers: Clauses that tables replace.
        """
        self._routes = answers.routes
        self.answering = answers.nodes
        """Clauses that a table replaces."""
        self.is_keeping = is_keeping
        self.all = {kind.name: kind for kind in exception_classes_of(program)}
        self._children: dict[str, list[Kind]] = {}
        for kind in self.all.values():
            own = [base for base in kind.bases if base in self.all]
            top = min(own, key=lambda base: len(self.all[base].bases))
            kind.family = kind.name if is_keeping else top
            for base in own:
                self._children.setdefault(base, []).append(kind)
        self.refused = dict(refused)
        """The first reason against each family."""
        self.variables: dict[tuple[ast.AST, str], list[Kind]] = {}
        """Classes that a parameter of a test may have, by its function and name."""
        self._groups: list[tuple[list[Kind], Module, int]] = []
        """Classes that are converted together or not at all, with the place that needs it."""
        found = handlers_of(program) if has_application and not is_keeping else None
        self.application = found[0] if found is not None else None
        self._error_handlers = found[1] if found is not None else []
        self.commands = commands
        wrappers = wrappers_of(program, found[0]) if found is not None else []
        self.wrappers = {wrapper.statement: wrapper for wrapper in wrappers}
        """Middlewares and decorators around routes, by the statements that handle exceptions."""
        clauses = middleware_clauses(program, found[0]) if found is not None else ()
        self.middleware_clauses = frozenset(clauses)
        """Clauses that would see no exceptions any more, if a table is installed."""
        self.removed = [
            wrapper
            for wrapper in wrappers
            if wrapper.is_whole and self.answering.issuperset(wrapper.statement.handlers)
        ]
        """Those of which nothing is left."""
        self._decorators = {
            wrapper.name: wrapper for wrapper in wrappers if not wrapper.is_middleware
        }
        for kind in self.all.values():
            self._read_class(kind)
        for module in program.modules:
            self._read_uses(module)
        self.all = dict(sorted(self.all.items(), key=lambda item: item[1].position))
        for kinds in self._children.values():
            kinds.sort(key=lambda kind: kind.position)
        for kind in self.converted():
            if (
                not is_keeping
                and self.is_alias(kind)
                and any(member.module is not kind.module for member in self.members(kind.name))
            ):
                self.refuse(kind, kind.module, kind.node.lineno, 'has subclasses in other modules')
        self._refuse_groups()
        self.replaced_handlers: list[ast.AST] = []
        """Functions that a table replaces, in the order of their classes."""
        self.table = self._table()
        """Classes that handlers of FastAPI answer, with the handlers."""
        self.exits = {name: items[0] for name, items in answers.exits.items() if name in self.all}
        """Classes that end a command, with the clauses that a table replaces."""
        self.unanswered: Sequence[NotMigrated] = ()
        """Clauses at a seam that stay, with the reason."""

    def _table(self) -> dict[str, ErrorHandler]:
        table: dict[str, ErrorHandler] = {}
        module = self.application
        if module is None:
            return table
        handled = [
            (self.all[name], handler)
            for handler in self._error_handlers
            if handler.kind is not None
            and (name := module.full_name(handler.kind)) in self.all
            and self.is_converted(self.all[name])
        ]
        self.replaced_handlers = [handler.node for _, handler in handled]
        # A class is answered by the handler of its nearest base.
        for kind, handler in sorted(handled, key=lambda item: len(item[0].bases)):
            for member in self.members(kind.name):
                table[member.name] = handler
        routes = {name: items[0] for name, items in self._routes.items() if name in self.all}
        return {**table, **routes}

    def decorators(self, function: Function, module: Module) -> list[Wrapper]:
        """Return the decorators of a function that answer exceptions."""
        names = map(module.full_name, function.decorator_list)
        return [self._decorators[name] for name in names if name in self._decorators]

    def is_route(self, function: Function, module: Module) -> bool:
        """Return whether a function answers requests, perhaps with decorators around it."""
        return is_route(function, module, self._decorators)

    def has_table(self, function: Function, module: Module) -> bool:
        """Return whether a table answers all errors of a route."""
        if not self.table or not self.is_route(function, module):
            return False
        return not any(
            self.covered(handler_classes(clause, wrapper.module))
            for wrapper in self.decorators(function, module)
            for clause in wrapper.statement.handlers
            if clause not in self.answering
        )

    def _is_known_handler(self, node: ast.expr, kind: Kind, module: Module) -> bool:
        """Return whether a handler that a table can replace names a class."""
        for handler in self._error_handlers if module is self.application else ():
            if node is handler.kind:
                return all(
                    is_known_reading(name, member, module)
                    for member in self.members(kind.name)
                    for name in ast.walk(handler.content)
                    if isinstance(name, ast.Name) and name.id == handler.error
                )
            if node is handler.annotation:
                return True
        return False

    def _refuse_groups(self) -> None:
        for kinds in self.variables.values():
            for kind in kinds:
                if self.is_alias(kind):
                    reason = 'is a value, which the union of its subclasses cannot be'
                    self.refuse(kind, kind.module, kind.node.lineno, reason)
        is_changed = True
        while is_changed:
            is_changed = False
            for kinds, module, line in self._groups:
                kept = [kind for kind in kinds if not self.is_converted(kind)]
                if kept and len(kept) < len(kinds):
                    is_changed = True
                    for kind in kinds:
                        reason = f'is expected together with `{kept[0].short_name}`, which is kept'
                        self.refuse(kind, module, line, reason)

    def refuse(self, kind: Kind, module: Module, line: int, reason: str, advice: str = '') -> None:
        """Keep the family of a class as exceptions."""
        self.refused.setdefault(
            kind.family,
            NotMigrated(
                str(module.path),
                line,
                kind.short_name,
                reason,
                advice or 'Convert the class and its uses by hand.',
            ),
        )

    def is_converted(self, kind: Kind) -> bool:
        """Return whether a class becomes a tagged error."""
        return kind.family not in self.refused

    def converted(self) -> list[Kind]:
        """Return the classes that become tagged errors, or the alias of several."""
        return [kind for kind in self.all.values() if self.is_converted(kind)]

    def of_names(self, names: Iterable[str]) -> list[Kind]:
        """Return the classes with some full names, in the order of their definition."""
        wanted = frozenset(names)
        return [kind for kind in self.all.values() if kind.name in wanted]

    def is_alias(self, kind: Kind) -> bool:
        """Return whether a base class becomes the union of its subclasses."""
        return not kind.is_raised and len(self._children[kind.name]) > 1

    def members(self, name: str) -> list[Kind]:
        """Return the classes that a class covers, without those that become an alias."""
        return [kind for kind in self._children.get(name, ()) if not self.is_alias(kind)]

    def covered(self, names: Iterable[str]) -> set[str]:
        """Return the names of the converted classes that are subclasses of some classes."""
        wanted = frozenset(names)
        return {
            kind.name
            for kind in self.converted()
            if not self.is_alias(kind) and kind.bases & wanted
        }

    def has_kept_classes(self, names: Iterable[str]) -> bool:
        """Return whether some classes also cover one that only stays an exception."""
        wanted = frozenset(names)
        return any(kind.bases & wanted for kind in self.all.values() if not self.is_converted(kind))

    # Definitions

    def _read_class(self, kind: Kind) -> None:
        node, module = kind.node, kind.module
        foreign = [
            base for base in node.bases if module.full_name(base) not in {EXCEPTION, *self.all}
        ]
        is_unusual = len(node.bases) != 1 or foreign or node.keywords or node.decorator_list
        if is_unusual and not self.is_keeping:
            self.refuse(
                kind,
                module,
                node.lineno,
                'has a base class, keyword or decorator that no error has',
            )
            return
        if not isinstance(module.parents.get(node), ast.Module):
            self.refuse(kind, module, node.lineno, 'is not defined at the top of its module')
            return
        for index, statement in enumerate(node.body):
            match statement:
                case ast.Pass() | ast.Expr(ast.Constant(value=types.EllipsisType())):
                    pass
                case ast.Expr(ast.Constant(str())) if index == 0:
                    pass
                case ast.FunctionDef(name='__init__') if self._read_init(kind, statement):
                    kind.has_init = True
                case ast.FunctionDef() if self.is_keeping and statement.name != '__init__':
                    kind.shows_exception |= statement.name == '__str__'
                case ast.FunctionDef(name='__eq__' | '__hash__'):
                    reason = 'has an equality of its own, which an error cannot take over'
                    self.refuse(kind, module, statement.lineno, reason)
                case _ if self.is_keeping:
                    kind.is_wrapped = True
                case _:
                    self.refuse(
                        kind,
                        module,
                        statement.lineno,
                        'has a class body that is not only fields and a message',
                    )
        kind.has_twin = self.is_keeping
        parent = self.all.get(module.full_name(node.bases[0]))
        if parent is not None:
            kind.shows_exception |= parent.shows_exception
            kind.is_wrapped |= parent.is_wrapped
        if kind.is_wrapped:
            kind.wrap()
            return
        if not kind.has_init and parent is not None:
            # The bases come first in a file, except where it could not be imported.
            kind.has_init = parent.has_init
            kind.fields, kind.template = parent.fields, parent.template
        if not kind.has_init:
            kind.fields = (Field('message', 'str'),)

    def _read_init(self, kind: Kind, init: ast.FunctionDef) -> bool:
        arguments = init.args
        parameters = arguments.args[1:]
        if (
            arguments.vararg
            or arguments.kwarg
            or arguments.kwonlyargs
            or arguments.posonlyargs
            or init.decorator_list
            or (
                any(parameter.annotation is None for parameter in parameters)
                and not self.is_keeping
            )
        ):
            return False
        names = {parameter.arg for parameter in parameters}
        if names & _RESERVED:
            return False
        template = init_template(init, names)
        if template is None:
            if not self.is_keeping:
                return False
            kind.shows_exception = True
        defaults: list[ast.expr | None] = [None] * (len(parameters) - len(arguments.defaults))
        defaults += arguments.defaults
        if not all(default is None or isinstance(default, ast.Constant) for default in defaults):
            return False
        fields: list[Field] = []
        for parameter, default in zip(parameters, defaults, strict=True):
            annotation = parameter.annotation
            if annotation is not None and any(
                isinstance(part, ast.Name) and part.id in _UNHASHABLE
                for part in ast.walk(annotation)
            ):
                return False
            fields.append(
                Field(
                    parameter.arg,
                    'object' if annotation is None else ast.unparse(annotation),
                    None if default is None else ast.unparse(default),
                )
            )
        kind.fields, kind.template = tuple(fields), template or ''
        return True

    # Uses

    def _read_uses(self, module: Module) -> None:
        for node_type in (ast.Name, ast.Attribute):
            for node in module.nodes_of_type(node_type):
                kind = self.all.get(module.full_name(node))
                if kind is None:
                    continue
                is_known = self._is_known_use(kind, node, module)
                statement = raising_statement(node, module)
                if self.is_keeping and not isinstance(statement, ast.Raise):
                    # The exception stays, so that any other use remains right.
                    continue
                if not is_known and self.is_keeping and _has_plain_cause(statement):
                    kind.wrap()
                elif not is_known:
                    self.refuse(kind, module, node.lineno, unconvertible_use(node, module))

    def _is_known_use(self, kind: Kind, node: ast.expr, module: Module) -> bool:
        parent = module.parents.get(node)
        match parent:
            case ast.Call() | ast.arg() if self._is_known_handler(node, kind, module):
                return True
            case ast.ClassDef():
                return node in parent.bases
            case ast.Raise():
                kind.is_raised = True
                kind.has_default = not kind.is_wrapped
                return parent.exc is node and (not kind.has_init or _has_all_defaults(kind))
            case ast.Call() if (expectation := naming_expectation(node, module)) is not None:
                return self._is_known_expectation(expectation, module)
            case ast.Call():
                statement = module.parents.get(parent)
                if parent.func is node and isinstance(statement, ast.Raise):
                    kind.is_raised = True
                    return statement.exc is parent and self._is_known_call(kind, parent, module)
                return (
                    isinstance(parent.func, ast.Name)
                    and parent.func.id == 'isinstance'
                    and node in parent.args[1:]
                )
            case ast.ExceptHandler():
                return not isinstance(module.parents.get(parent), ast.TryStar)
            case ast.Tuple() if (expectation := naming_expectation(node, module)) is not None:
                return self._is_known_expectation(expectation, module)
            case ast.Tuple() | ast.List() if parametrized(node, module) is not None:
                return self._is_known_parameter(node, module)
            case ast.Tuple():
                outer = module.parents.get(parent)
                return isinstance(outer, ast.ExceptHandler) and not isinstance(
                    module.parents.get(outer), ast.TryStar
                )
            case _:
                return False

    def _is_known_expectation(self, expectation: Expectation, module: Module) -> bool:
        """Return whether a test expects own classes only, and reads what a tagged error has."""
        kinds = self.named(expectation.classes, module)
        if kinds is None:
            return False
        self._groups.append((kinds, module, expectation.call.lineno))
        return all(
            is_known_result(name, expectation, kind, module)
            for name in readings(expectation, module)
            for kind in kinds
        )

    def _is_known_parameter(self, node: ast.expr, module: Module) -> bool:
        found = parametrized(node, module)
        if found is None:
            return False
        call, name = found
        kinds = self.named(column(call, node), module)
        if kinds is None:
            return False
        self.variables[module.scope_of(call), name] = kinds
        self._groups.append((kinds, module, call.lineno))
        return True

    def named(self, nodes: Sequence[ast.expr], module: Module) -> list[Kind] | None:
        """Return the classes that some expressions name; None if one names something else."""
        kinds: list[Kind] = []
        for node in nodes:
            kind = self.all.get(module.full_name(node))
            variable = (
                self.variables.get((module.scope_of(node), node.id))
                if isinstance(node, ast.Name)
                else None
            )
            if kind is None and variable is None:
                return None
            kinds += [kind] if kind is not None else variable or []
        return kinds

    def _is_known_call(self, kind: Kind, call: ast.Call, module: Module) -> bool:
        statement = module.parents.get(call)
        if isinstance(statement, ast.Raise) and statement.cause is not None:
            if isinstance(statement.cause, ast.Name):
                kind.has_cause = True
            elif not (isinstance(statement.cause, ast.Constant) and statement.cause.value is None):
                return False
        if kind.is_wrapped:
            return True
        if any(isinstance(argument, ast.Starred) for argument in call.args):
            return False
        if kind.has_init:
            return all(keyword.arg is not None for keyword in call.keywords)
        if not call.args:
            kind.has_default = True
        return (
            not call.keywords
            and len(call.args) <= 1
            and all(is_text(argument, module) for argument in call.args)
        )

    def read_handler(
        self, handler: ast.ExceptHandler, module: Module, names: Iterable[str]
    ) -> None:
        """Refuse classes that reach a handler which reads what only an exception has."""
        if handler.name is None:
            return
        for name in names:
            kind = self.all[name]
            for statement in handler.body:
                for node in ast.walk(statement):
                    if (
                        isinstance(node, ast.Name)
                        and node.id == handler.name
                        and not is_known_reading(node, kind, module)
                    ):
                        self.refuse(
                            kind,
                            module,
                            node.lineno,
                            'is passed on as an exception, or read in a way that only exceptions'
                            ' have',
                        )


def _has_plain_cause(statement: ast.AST | None) -> bool:
    cause = statement.cause if isinstance(statement, ast.Raise) else None
    return cause is None or isinstance(cause, ast.Name | ast.Constant)


def _has_all_defaults(kind: Kind) -> bool:
    return all(field.default is not None for field in kind.fields)
