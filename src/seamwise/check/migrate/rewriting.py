"""Rewriting of a module with LibCST: its formatting and its comments are kept."""

import ast
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet

import libcst as cst
from libcst.metadata import CodeRange, MetadataWrapper, PositionProvider
from typing_extensions import override

from seamwise.check.migrate.assertions import Assertions
from seamwise.check.migrate.decisions import Decisions
from seamwise.check.migrate.definitions import (
    alias,
    annotated,
    error_class,
    error_table,
    exit_table,
    fallible_function,
    needs_table,
)
from seamwise.check.migrate.flow import Flow, is_run
from seamwise.check.migrate.handlers import Handlers
from seamwise.check.migrate.imports import add_imports, without_unused
from seamwise.check.migrate.keeping import raising_twin
from seamwise.check.migrate.names import Names
from seamwise.check.migrate.raises import Raises
from seamwise.check.migrate.seams.web import application_name
from seamwise.check.migrate.syntax import call_with, is_method, parenthesized, without_handlers
from seamwise.check.typed_ast.program import FUNCTIONS, Module
from seamwise.check.typed_ast.qualified_names import source_module

_Key = tuple[str, int, int, int, int]


class _Transformer(cst.CSTTransformer):
    """Rewrites the nodes that have a decision."""

    METADATA_DEPENDENCIES = (PositionProvider,)

    def __init__(self, decisions: Decisions) -> None:
        super().__init__()
        self.decisions = decisions
        self.nodes = _nodes_by_position(decisions.module)
        self.names = Names(decisions)
        self.assertions = Assertions(decisions, self.names)
        self.raises = Raises(decisions, self.names)
        self.handlers = Handlers(decisions, self.names)
        self.aliases_after: dict[str, list[cst.BaseStatement]] = {}
        """Aliases by the name of the class after which they are defined."""
        self.run: cst.Call | None = None
        """The call that runs the program with the table of exit codes."""

    def find(self, name: str, node: cst.CSTNode) -> ast.AST | None:
        """Return the `ast` node at the position of a node."""
        place: object = self.get_metadata(PositionProvider, node)
        if not isinstance(place, CodeRange):
            return None
        start, end = place.start, place.end
        exact = self.nodes.get((name, start.line, start.column, end.line, end.column))
        return exact or self.nodes.get((name, start.line, start.column, 0, 0))

    # Expressions

    @override
    def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> cst.BaseExpression:
        node = self.find('Call', original_node)
        if not isinstance(node, ast.Call):
            return updated_node
        module = self.decisions.module
        parent = module.parents.get(node)
        commands = self.decisions.kinds.commands
        if self.decisions.kinds.exits and commands is not None and commands.start is not None:
            if node is commands.run:
                app = ast.unparse(commands.start.func)
                source = f'{self.decisions.terminal}.main({app}, {self.decisions.exit_table})'
                self.run = cst.ensure_type(cst.parse_expression(source), cst.Call)
                return self.run
            if node is commands.start:
                return updated_node
        if isinstance(parent, ast.Await) or (
            node in self.decisions.sites and is_run(parent, module)
        ):
            return updated_node
        if is_run(node, module) and node.args and isinstance(node.args[0], ast.Call):
            return self._wrapped(node.args[0], updated_node)
        return self._wrapped(node, updated_node)

    @override
    def leave_Await(self, original_node: cst.Await, updated_node: cst.Await) -> cst.BaseExpression:
        node = self.find('Await', original_node)
        if not isinstance(node, ast.Await) or not isinstance(node.value, ast.Call):
            return updated_node
        return self._wrapped(node.value, updated_node)

    def _wrapped(self, call: ast.Call, updated: cst.BaseExpression) -> cst.BaseExpression:
        matched = [
            statement for statement, found in self.decisions.matched.items() if found is call
        ]
        if matched:
            self.handlers.subjects[matched[0]] = updated
            name = self.names.value_names[matched[0]]
            return cst.Name(name) if name else updated
        wrapper = self.decisions.call_wrapper(call)
        if not wrapper:
            return updated
        return cst.Call(cst.Name(wrapper), [cst.Arg(updated)])

    @override
    def leave_Name(self, original_node: cst.Name, updated_node: cst.Name) -> cst.BaseExpression:
        node = self.find('Name', original_node)
        if not isinstance(node, ast.Name):
            return updated_node
        unit = self.decisions.flow.callbacks.get(node)
        if (
            unit is None
            or unit.node is None
            or not unit.is_converted
            or self.decisions.keeps_exceptions(node, unit.escapes)
        ):
            return self._renamed(node, updated_node)
        self.decisions.use('or_raise')
        name = self.decisions.result_function(node) or updated_node.value
        names = ', '.join(argument.arg for argument in unit.node.args.args)
        return cst.parse_expression(f'lambda {names}: or_raise({name}({names}))')

    @override
    def leave_Attribute(
        self, original_node: cst.Attribute, updated_node: cst.Attribute
    ) -> cst.BaseExpression:
        node = self.find('Attribute', original_node)
        if not isinstance(node, ast.Attribute):
            return updated_node
        if node in self.names.reading_names:
            return cst.parse_expression(self.names.reading_names[node])
        return self._renamed(node, updated_node)

    def _renamed(
        self, node: ast.Name | ast.Attribute, updated: cst.Name | cst.Attribute
    ) -> cst.BaseExpression:
        """Return the new name of a function, or of a class in `isinstance`, beside the old one."""
        name = self.decisions.result_function(node)
        if name:
            new = cst.Name(name)
            return updated.with_changes(attr=new) if isinstance(updated, cst.Attribute) else new
        kind = self.decisions.kinds.all.get(self.decisions.module.full_name(node))
        if kind is None or not kind.has_twin or not self._is_compared_error(node):
            return updated
        return cst.parse_expression(self.decisions.local_any(kind))

    def _is_compared_error(self, node: ast.expr) -> bool:
        """Return whether a name is the class that `isinstance` compares with that of an error."""
        match self.decisions.module.parents.get(node):
            case ast.Call(ast.Name('isinstance'), [error, *classes]) if node in classes:
                clause = self.decisions.flow.clause_of(error, self.decisions.module)
                return clause is not None and self.names.is_rewritten(clause)
            case _:
                return False

    # Tests

    @override
    def leave_With(
        self, original_node: cst.With, updated_node: cst.With
    ) -> cst.BaseStatement | cst.FlattenSentinel[cst.BaseStatement]:
        node = self.find('With', original_node)
        expectation = self.decisions.flow.expected.get(node) if node is not None else None
        if node is None or expectation is None or not self.names.is_converted(expectation):
            return updated_node
        return self.assertions.of_block(node, expectation, updated_node)

    # Statements

    @override
    def leave_Return(self, original_node: cst.Return, updated_node: cst.Return) -> cst.Return:
        node = self.find('Return', original_node)
        decisions = self.decisions
        if node is None or decisions.module.scope_of(node) not in decisions.leaves:
            return updated_node
        decisions.use('Success')
        value = updated_node.value or cst.Name('None')
        return updated_node.with_changes(
            value=call_with('Success', parenthesized(value)),
            whitespace_after_return=cst.SimpleWhitespace(' '),
        )

    @override
    def leave_SimpleStatementLine(
        self,
        original_node: cst.SimpleStatementLine,
        updated_node: cst.SimpleStatementLine,
    ) -> cst.BaseStatement | cst.FlattenSentinel[cst.BaseStatement] | cst.RemovalSentinel:
        last = original_node.body[-1]
        if self.decisions.kinds.removed and self._is_removed(self.find('Expr', last)):
            return cst.RemoveFromParent()
        if isinstance(last, cst.Expr) and isinstance(last.value, cst.Call):
            call = self.find('Call', last.value)
            if call is not None and call in self.decisions.flow.expected:
                return (
                    self.assertions.of_call(call, updated_node)
                    if isinstance(call, ast.Call)
                    else updated_node
                )
        node = self.find('Raise', last) if isinstance(last, cst.Raise) else None
        if not isinstance(node, ast.Raise) or node not in self.decisions.sites:
            return updated_node
        raised = updated_node.body[-1]
        if not isinstance(raised, cst.Raise):
            return updated_node
        lines = self.raises.of_statement(node, raised)
        if lines is None:
            return updated_node
        before, end = lines
        last_line = updated_node.with_changes(body=[*updated_node.body[:-1], end])
        if before is None:
            return last_line
        return cst.FlattenSentinel(
            [
                before.with_changes(leading_lines=updated_node.leading_lines),
                last_line.with_changes(leading_lines=[]),
            ]
        )

    @override
    def leave_SimpleStatementSuite(
        self,
        original_node: cst.SimpleStatementSuite,
        updated_node: cst.SimpleStatementSuite,
    ) -> cst.BaseSuite:
        line = self.leave_SimpleStatementLine(
            cst.SimpleStatementLine(original_node.body), cst.SimpleStatementLine(updated_node.body)
        )
        if isinstance(line, cst.FlattenSentinel):
            return cst.IndentedBlock(list(line))
        if not isinstance(line, cst.SimpleStatementLine):
            return updated_node
        return updated_node.with_changes(body=line.body)

    # Handlers

    @override
    def leave_Try(
        self, original_node: cst.Try, updated_node: cst.Try
    ) -> cst.BaseStatement | cst.FlattenSentinel[cst.BaseStatement]:
        node = self.find('Try', original_node)
        if not isinstance(node, ast.Try):
            return updated_node
        answering = self.decisions.kinds.answering
        if not answering.isdisjoint(node.handlers):
            pairs = zip(node.handlers, updated_node.handlers, strict=True)
            handlers = [new for old, new in pairs if old not in answering]
            if not handlers:
                return without_handlers(updated_node)
            updated_node = updated_node.with_changes(handlers=handlers)
        if not any(map(self.names.is_rewritten, self.decisions.clauses(node))):
            return updated_node
        return self.handlers.of_statement(node, updated_node)

    # Definitions

    def _is_removed(self, node: ast.AST | None) -> bool:
        return any(node in wrapper.nodes for wrapper in self.decisions.kinds.removed)

    @override
    def leave_ImportFrom(
        self, original_node: cst.ImportFrom, updated_node: cst.ImportFrom
    ) -> cst.ImportFrom | cst.RemovalSentinel:
        node = self.find('ImportFrom', original_node)
        removed = {wrapper.name.rpartition('.') for wrapper in self.decisions.kinds.removed}
        if not removed or not isinstance(node, ast.ImportFrom):
            return updated_node
        if isinstance(updated_node.names, cst.ImportStar):
            return updated_node
        source = source_module(node, self.decisions.module)
        kept = [
            alias
            for alias in updated_node.names
            if (source, '.', alias.evaluated_name) not in removed
        ]
        if not kept:
            return cst.RemoveFromParent()
        if len(kept) < len(updated_node.names):
            last = kept[-1].with_changes(comma=updated_node.names[-1].comma)
            return updated_node.with_changes(names=[*kept[:-1], last])
        return updated_node

    @override
    def leave_FunctionDef(
        self, original_node: cst.FunctionDef, updated_node: cst.FunctionDef
    ) -> cst.BaseStatement | cst.FlattenSentinel[cst.BaseStatement] | cst.RemovalSentinel:
        node = self.find('FunctionDef', original_node)
        decisions = self.decisions
        handlers = decisions.kinds.replaced_handlers
        if node in handlers:
            is_first = node is min(handlers, key=lambda item: getattr(item, 'lineno', 0))
            if not is_first:
                return cst.RemoveFromParent()
            return cst.FlattenSentinel(error_table(decisions, updated_node.leading_lines))
        if self._is_removed(node):
            return cst.RemoveFromParent()
        unit = decisions.unit_of_function.get(node) if isinstance(node, FUNCTIONS) else None
        if isinstance(node, FUNCTIONS):
            names = {wrapper.name for wrapper in decisions.kinds.removed}
            pairs = zip(node.decorator_list, updated_node.decorators, strict=True)
            updated_node = updated_node.with_changes(
                decorators=[
                    new for old, new in pairs if decisions.module.full_name(old) not in names
                ]
            )
        if unit is None or not unit.is_converted:
            return updated_node
        new = fallible_function(decisions, unit, updated_node)
        if not unit.result_name:
            return new
        decisions.use('Failure', 'Success')
        original = annotated(decisions, unit, original_node)
        return cst.FlattenSentinel(
            raising_twin(original, new, unit, is_method=is_method(unit, decisions.module))
        )

    @override
    def leave_ClassDef(
        self, original_node: cst.ClassDef, updated_node: cst.ClassDef
    ) -> cst.BaseStatement | cst.FlattenSentinel[cst.BaseStatement] | cst.RemovalSentinel:
        node = self.find('ClassDef', original_node)
        if self._is_removed(node):
            return cst.RemoveFromParent()
        kind = self.decisions.classes.get(node) if isinstance(node, ast.ClassDef) else None
        if kind is None:
            return updated_node
        if self.decisions.kinds.is_alias(kind):
            if kind.has_twin:
                return updated_node
            last = self.decisions.kinds.members(kind.name)[-1].short_name
            self.aliases_after.setdefault(last, []).extend(
                alias(self.decisions, kind, updated_node)
            )
            return cst.RemoveFromParent()
        if kind.has_twin and not kind.is_used:
            return updated_node
        new = error_class(self.decisions, kind, updated_node)
        if not kind.has_twin:
            return new
        gap = [cst.EmptyLine(indent=False), cst.EmptyLine(indent=False)]
        return cst.FlattenSentinel([updated_node, new.with_changes(leading_lines=gap)])

    @override
    def leave_Module(self, original_node: cst.Module, updated_node: cst.Module) -> cst.Module:
        body: list[cst.BaseStatement | cst.SimpleStatementLine] = []
        for statement in updated_node.body:
            body.append(statement)
            if isinstance(statement, cst.ClassDef):
                body += self.aliases_after.pop(statement.name.value, [])
        if needs_table(self.decisions):
            index = self._index_of_table(body)
            body[index:index] = error_table(self.decisions, [])
        if self.run is not None:
            index = next(i for i, statement in enumerate(body) if _contains(statement, self.run))
            index = max(index, self._index_of_table(body))
            body[index:index] = exit_table(self.decisions, self.decisions.exit_table)
        return updated_node.with_changes(body=body)

    def _index_of_table(self, body: Sequence[cst.BaseStatement]) -> int:
        """Return the place for a table: behind the application, and the classes of this module."""
        app = application_name(self.decisions.module)
        classes = {kind.error_name for kind in self.decisions.classes.values()}
        index = 0
        for position, statement in enumerate(body, 1):
            match statement:
                case cst.ClassDef(name=cst.Name(name)) if name in classes:
                    index = position
                case cst.SimpleStatementLine(
                    body=[
                        cst.Assign(targets=[cst.AssignTarget(target=cst.Name(name))])
                        | cst.AnnAssign(target=cst.Name(name))
                    ]
                ) if name == app:
                    index = position
                case _:
                    pass
        return index


def _contains(node: cst.CSTNode, part: cst.CSTNode) -> bool:
    return node is part or any(_contains(child, part) for child in node.children)


def _nodes_by_position(module: Module) -> Mapping[_Key, ast.AST]:
    nodes: dict[_Key, ast.AST] = {}
    for node in ast.walk(module.syntax):
        if isinstance(node, ast.Call | ast.Await | ast.Name | ast.Attribute):
            end_line = node.end_lineno or node.lineno
            end = end_line, module.column(end_line, node.end_col_offset or 0)
        elif isinstance(node, ast.stmt):
            end = 0, 0
        else:
            continue
        name = type(node).__name__.removeprefix('Async')
        nodes[name, node.lineno, module.column(node.lineno, node.col_offset), *end] = node
    return nodes


def rewrite(
    module: Module, flow: Flow, content: bytes, imported: AbstractSet[tuple[str, str]]
) -> bytes:
    """Return the content of a file after the migration.

    Args:
        module: The file.
        flow: Functions and clauses.
        content: Its content.
        imported: Names that other files import, each with the last part of the module's name.
    """
    decisions = Decisions(module, flow)
    wrapper = MetadataWrapper(cst.parse_module(content))
    tree = wrapper.visit(_Transformer(decisions))
    if tree.code == wrapper.module.code:
        return content
    package = module.name if module.path.stem == '__init__' else module.name.rpartition('.')[0]
    is_relative = any(node.level for node in module.nodes_of_type(ast.ImportFrom))
    names = [('seamwise', name) for name in decisions.seamwise]
    for source, items in decisions.imports.items():
        own, _, last = source.rpartition('.')
        origin = f'.{last}' if is_relative and package and own == package else source
        names += [(origin, name) for name in items]
    tree = add_imports(tree, names, module.name.partition('.')[0])
    last = module.name.rpartition('.')[2]
    kept = {name for origin, name in imported if origin == last}
    is_package = module.path.stem == '__init__'
    inner = decisions.inner_imports
    return without_unused(tree, module.syntax, kept, inner=inner, is_package=is_package).bytes
