"""Rewriting of a module with LibCST: its formatting and its comments are kept."""

import ast
from collections.abc import Mapping, Sequence

import libcst as cst
from libcst.metadata import CodeRange, MetadataWrapper, PositionProvider
from typing_extensions import override

from seamwise.check.migrate.decisions import Decisions, names_in
from seamwise.check.migrate.expectations import Expectation, readings
from seamwise.check.migrate.flow import Clause, Flow, Site, Unit, is_run, kinds_of
from seamwise.check.migrate.imports import add_imports
from seamwise.check.migrate.keeping import exception_method, raising_twin
from seamwise.check.migrate.kinds import Kind
from seamwise.check.migrate.syntax import (
    Renaming,
    awaited_value,
    block_of,
    call_with,
    fail_call,
    handler_case,
    header_comments,
    is_docstring,
    is_method,
    new_case,
    parenthesized,
    parse_line,
    parse_pattern,
    statements_of,
    with_commas,
    with_leading_lines,
)
from seamwise.check.typed_ast.program import FUNCTIONS, Module

_WIDTH = 100


_Replacement = tuple[cst.If | None, cst.BaseSmallStatement]
"""A statement before the last one, and that one."""
_Key = tuple[str, int, int, int, int]


class _Transformer(cst.CSTTransformer):
    """Rewrites the nodes that have a decision."""

    METADATA_DEPENDENCIES = (PositionProvider,)

    def __init__(self, rewriting: Decisions) -> None:
        super().__init__()
        self.rewriting = rewriting
        self.nodes = _nodes_by_position(rewriting.module)
        self.handler_names: dict[ast.ExceptHandler, str] = {}
        self.raised_names: dict[ast.ExceptHandler, str] = {}
        self.subjects: dict[ast.Try, cst.BaseExpression] = {}
        """The calls that a `match` replaces, by statement."""
        self.aliases_after: dict[str, list[cst.BaseStatement]] = {}
        """Aliases by the name of the class after which they are defined."""
        self.is_changed = False
        self.value_names: dict[ast.Try, str] = {}
        self.shared: dict[tuple[ast.AST, str], list[str]] = {}
        self.rests: dict[tuple[ast.AST, str], tuple[str, set[str]]] = {}
        self.captured: dict[tuple[ast.AST, str], set[str]] = {}
        """Classes that a variable may have, by its function and name."""
        for statement in rewriting.module.nodes_of_type(ast.Try):
            for clause in rewriting.clauses(statement):
                if clause.node.name and not self._is_rewritten(clause):
                    scope = rewriting.module.scope_of(statement)
                    self.captured[scope, clause.node.name] = set()
        self.result_names: dict[ast.AST, str] = {}
        """Names of the errors that tests assert, by the place of the expectation."""
        self.reading_names: dict[ast.AST, str] = {}
        """Expressions instead of `info.value`, by their nodes."""
        for place, expectation in rewriting.flow.expected.items():
            if expectation.call in rewriting.module.parents and self._is_converted(expectation):
                self._name_expectation(place, expectation)
        tries = sorted(
            rewriting.module.nodes_of_type(ast.Try),
            key=lambda node: node.handlers[0].lineno if node.handlers else node.lineno,
        )
        for statement in tries:
            self._name_clauses(statement)
            if statement in rewriting.matched:
                self.value_names[statement] = self._new_value_name(statement)

    def find(self, name: str, node: cst.CSTNode) -> ast.AST | None:
        """Return the `ast` node at the position of a node."""
        place: object = self.get_metadata(PositionProvider, node)
        if not isinstance(place, CodeRange):
            return None
        start, end = place.start, place.end
        exact = self.nodes.get((name, start.line, start.column, end.line, end.column))
        return exact or self.nodes.get((name, start.line, start.column, 0, 0))

    def _name_expectation(self, place: ast.AST, expectation: Expectation) -> None:
        rewriting = self.rewriting
        names = list(readings(expectation, rewriting.module))
        is_direct = place in rewriting.direct
        if is_direct and (names or expectation.pattern is not None):
            self.result_names[place] = rewriting.fresh('error', place)
        elif not is_direct:
            self.result_names[place] = expectation.variable or rewriting.fresh('info', place)
        for name in names:
            parent = rewriting.module.parents.get(name)
            if isinstance(parent, ast.Attribute) and parent.attr == expectation.attribute:
                self.reading_names[parent] = (
                    self.result_names[place]
                    if is_direct
                    else f'{name.id}.{expectation.attribute}.error'
                )

    def _name_clauses(self, statement: ast.Try) -> None:
        rewriting = self.rewriting
        clauses = [clause for clause in rewriting.clauses(statement) if self._is_rewritten(clause)]
        if not clauses:
            return
        # mypy infers the type of a variable from its first capture.
        scope = rewriting.module.scope_of(statement)
        by_name: dict[str, set[str]] = {}
        certain: dict[str, set[str]] = {}
        matched = rewriting.matched.get(statement)
        remaining = rewriting.sites[matched][1].kinds if matched is not None else None
        seen: set[str] = set()
        for clause in clauses:
            if clause.node.name:
                kinds = by_name.setdefault(clause.node.name, set())
                kinds.update(clause.covers)
                arrived = clause.covers if remaining is None else clause.covers & remaining
                certain.setdefault(clause.node.name, set()).update(arrived - seen)
                seen |= clause.covers
                if clause.is_broad:
                    kinds.add('builtins.object')
        new_names: dict[str, str] = {}
        for name, kinds in by_name.items():
            captured = self.captured.get((scope, name))
            if captured is None:
                self.captured[scope, name] = kinds if 'builtins.object' in kinds else certain[name]
                new_names[name] = name
            elif kinds <= captured:
                new_names[name] = name
            else:
                new_names[name] = rewriting.fresh(name, statement)
        default = ''
        raised = ''
        for clause in clauses:
            handler = clause.node
            own = new_names.get(handler.name or '', '')
            rethrows = any(
                site.rethrown is clause and isinstance(site.node, ast.Raise)
                for _, site in rewriting.sites.values()
            )
            if not own and rethrows:
                default = default or next(
                    (
                        new
                        for old, new in new_names.items()
                        if not any(old in names_in(part) for part in handler.body)
                    ),
                    '',
                )
                own = default = default or rewriting.fresh('error', statement)
            self.handler_names[handler] = own
            if statement not in rewriting.matched:
                base = 'exception' if self._is_merged(statement) else 'raised'
                raised = raised or self._raised_name(base, statement)
                self.raised_names[handler] = raised

    def _is_rewritten(self, clause: Clause) -> bool:
        """Return whether a clause becomes an arm, or binds its error by an assignment."""
        return (
            bool(clause.covers)
            and not clause.is_mixed
            and (not clause.is_broad or self._is_merged(clause.statement))
            and not self.rewriting.keeps_exceptions(clause.statement, clause.covers)
        )

    def _raised_name(self, base: str, statement: ast.Try) -> str:
        """Return a name for a `Raised`; clauses share one, except an inner one with an outer."""
        scope = self.rewriting.module.scope_of(statement)
        inner = {
            name
            for outer in self._outer(statement)
            if isinstance(outer, ast.Try)
            for handler in outer.handlers
            if (name := self.raised_names.get(handler))
        }
        known = self.shared.setdefault((scope, base), [])
        for name in known:
            if name not in inner:
                return name
        known.append(self.rewriting.fresh(base, statement))
        return known[-1]

    def _rest_name(self, statement: ast.Try, kinds: set[str]) -> str:
        """Return a name for the errors that no arm handles."""
        key = (self.rewriting.module.scope_of(statement), 'rest')
        name, known = self.rests.get(key, ('', set[str]()))
        if not kinds <= known:
            name = self.rewriting.fresh('other', statement)
            self.rests[key] = (name, kinds)
        return name

    def _is_merged(self, statement: ast.Try) -> bool:
        """Return whether a broad clause must see the errors, too."""
        return any(
            clause.is_broad and clause.arrived for clause in self.rewriting.clauses(statement)
        )

    # Expressions

    @override
    def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> cst.BaseExpression:
        node = self.find('Call', original_node)
        if not isinstance(node, ast.Call):
            return updated_node
        module = self.rewriting.module
        parent = module.parents.get(node)
        if isinstance(parent, ast.Await) or (
            node in self.rewriting.sites and is_run(parent, module)
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
            statement for statement, found in self.rewriting.matched.items() if found is call
        ]
        if matched:
            self.subjects[matched[0]] = updated
            name = self._value_name(matched[0])
            return cst.Name(name) if name else updated
        wrapper = self.rewriting.call_wrapper(call)
        if not wrapper:
            return updated
        self.is_changed = True
        return cst.Call(cst.Name(wrapper), [cst.Arg(updated)])

    def _value_name(self, statement: ast.Try) -> str:
        return self.value_names[statement]

    def _new_value_name(self, statement: ast.Try) -> str:
        """Return the name of the value of a matched call; empty if it is discarded."""
        call = self.rewriting.matched[statement]
        match statement.body[0]:
            case ast.Assign([ast.Name(name)], value) if awaited_value(value) is call:
                return name
            case ast.Expr(value) if awaited_value(value) is call:
                return ''
            case _:
                return self.rewriting.fresh('value', statement)

    @override
    def leave_Name(self, original_node: cst.Name, updated_node: cst.Name) -> cst.BaseExpression:
        node = self.find('Name', original_node)
        if not isinstance(node, ast.Name):
            return updated_node
        unit = self.rewriting.flow.callbacks.get(node)
        if (
            unit is None
            or unit.node is None
            or not unit.is_converted
            or self.rewriting.keeps_exceptions(node, unit.escapes)
        ):
            return self._renamed(node, updated_node)
        self.is_changed = True
        self.rewriting.use('or_raise')
        name = self.rewriting.result_function(node) or updated_node.value
        names = ', '.join(argument.arg for argument in unit.node.args.args)
        return cst.parse_expression(f'lambda {names}: or_raise({name}({names}))')

    @override
    def leave_Attribute(
        self, original_node: cst.Attribute, updated_node: cst.Attribute
    ) -> cst.BaseExpression:
        node = self.find('Attribute', original_node)
        if not isinstance(node, ast.Attribute):
            return updated_node
        if node in self.reading_names:
            return cst.parse_expression(self.reading_names[node])
        return self._renamed(node, updated_node)

    def _renamed(
        self, node: ast.Name | ast.Attribute, updated: cst.Name | cst.Attribute
    ) -> cst.BaseExpression:
        """Return the new name of a function, or of a class in `isinstance`, beside the old one."""
        name = self.rewriting.result_function(node)
        if name:
            self.is_changed = True
            new = cst.Name(name)
            return updated.with_changes(attr=new) if isinstance(updated, cst.Attribute) else new
        kind = self.rewriting.kinds.all.get(self.rewriting.module.full_name(node))
        if kind is None or not kind.has_twin or not self._is_class_argument(node):
            return updated
        if self.rewriting.keeps_exceptions(node, [kind.name]):
            return updated
        self.is_changed = True
        return cst.parse_expression(self.rewriting.local_any(kind))

    def _is_class_argument(self, node: ast.expr) -> bool:
        """Return whether a name is the second argument of `isinstance`."""
        match self.rewriting.module.parents.get(node):
            case ast.Call(ast.Name('isinstance'), arguments):
                return node in arguments[1:]
            case _:
                return False

    # Tests

    @override
    def leave_With(
        self, original_node: cst.With, updated_node: cst.With
    ) -> cst.BaseStatement | cst.FlattenSentinel[cst.BaseStatement]:
        node = self.find('With', original_node)
        expectation = self.rewriting.flow.expected.get(node) if node is not None else None
        if node is None or expectation is None or not self._is_converted(expectation):
            return updated_node
        self.is_changed = True
        if node not in self.rewriting.direct:
            return self._raising(node, expectation, updated_node)
        *before, last = statements_of(updated_node.body)
        if not isinstance(last, cst.SimpleStatementLine):
            raise TypeError('the last statement has no call')
        small = last.body[-1]
        if not isinstance(small, cst.Expr | cst.Assign | cst.AnnAssign | cst.Return):
            raise TypeError('the last statement has no call')
        if small.value is None:
            raise TypeError('the last statement has no value')
        head = updated_node.items[0].item
        lines = self._assertions(node, expectation, small.value, head)
        lines[0] = lines[0].with_changes(
            leading_lines=last.leading_lines, trailing_whitespace=last.trailing_whitespace
        )
        return cst.FlattenSentinel(
            with_leading_lines([*before, *lines], updated_node.leading_lines)
        )

    def _is_converted(self, expectation: Expectation) -> bool:
        names = self.rewriting.flow.covered_by(expectation, self.rewriting.module)
        return bool(names) and not self.rewriting.keeps_exceptions(expectation.call, names)

    def _assertions(
        self,
        place: ast.AST,
        expectation: Expectation,
        result: cst.BaseExpression,
        head: cst.BaseExpression,
    ) -> list[cst.SimpleStatementLine]:
        """Return the assertions about a Result."""
        rewriting = self.rewriting
        call = rewriting.direct[place]
        called = expectation.called if expectation.statement is None else None
        unit = (
            rewriting.flow.expected_functions[called[0]]
            if called is not None
            else rewriting.sites[call][1].callee
        )
        kind = rewriting.expected(expectation, unit.escapes if unit is not None else None)
        name = self.result_names.get(place, '')
        target = f'{name} = ' if name else ''
        source = cst.Module([]).code_for_node(result)
        if kind.startswith('('):
            name = name or rewriting.fresh('error', place)
            lines = [f'{name} = {source}.failure()', f'assert isinstance({name}, {kind})']
        else:
            rewriting.imports.setdefault('seamwise.testing', set()).add('assert_failure')
            lines = [f'{target}assert_failure({source}, {kind})']
        if expectation.pattern is not None and isinstance(head, cst.Call):
            rewriting.imports.setdefault('re', set()).add('search')
            pattern = next(
                argument.value
                for index, argument in enumerate(head.args)
                if (index == 1 if expectation.is_method else _is_pattern(argument))
            )
            lines.append(f'assert search({cst.Module([]).code_for_node(pattern)}, str({name}))')
        return [parse_line(line) for line in lines]

    def _raising(
        self, place: ast.AST, expectation: Expectation, updated: cst.With
    ) -> cst.FlattenSentinel[cst.BaseStatement]:
        """Return a `with` that expects the exception with the error inside, and an assertion."""
        rewriting = self.rewriting
        rewriting.use('Raised')
        name = self.result_names[place]
        items: list[cst.WithItem] = []
        statement = expectation.statement
        position = next(
            index
            for index, item in enumerate(statement.items if statement is not None else ())
            if item.context_expr is expectation.call
        )
        for index, item in enumerate(updated.items):
            if index == position and isinstance(item.item, cst.Call):
                first = item.item.args[0].with_changes(value=cst.Name('Raised'))
                call = item.item.with_changes(args=[first, *item.item.args[1:]])
                items.append(item.with_changes(item=call, asname=_as_name(name)))
            else:
                items.append(item)
        return cst.FlattenSentinel(
            [updated.with_changes(items=items), self._raised_assertion(expectation, name)]
        )

    def _raised_assertion(self, expectation: Expectation, name: str) -> cst.SimpleStatementLine:
        kind = self.rewriting.expected(expectation)
        return parse_line(f'assert isinstance({name}.{expectation.attribute}.error, {kind})')

    def _called(
        self, node: ast.Call, updated: cst.SimpleStatementLine
    ) -> cst.BaseStatement | cst.FlattenSentinel[cst.BaseStatement]:
        """Return the assertions instead of an expectation that calls a function."""
        rewriting = self.rewriting
        expectation = rewriting.flow.expected[node]
        small = updated.body[0]
        if not isinstance(small, cst.Expr) or not isinstance(small.value, cst.Call):
            return updated
        if expectation.called is None or not self._is_converted(expectation):
            return updated
        self.is_changed = True
        count = len(node.args) - len(expectation.called[1])
        arguments = [
            argument
            for index, argument in enumerate(small.value.args)
            if index >= count and not _is_pattern(argument)
        ]
        function = small.value.args[count - 1].value
        if isinstance(function, cst.Lambda):
            function = function.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
        call = cst.Call(function, arguments)
        if node in rewriting.direct:
            lines = self._assertions(node, expectation, call, small.value)
            lines[0] = lines[0].with_changes(
                leading_lines=updated.leading_lines, trailing_whitespace=updated.trailing_whitespace
            )
            return cst.FlattenSentinel(lines)
        rewriting.use('Raised')
        name = self.result_names[node]
        kept = small.value.args[1 : count - 1]
        keywords = [argument for argument in small.value.args if _is_pattern(argument)]
        head = small.value.with_changes(args=[cst.Arg(cst.Name('Raised')), *kept, *keywords])
        with_ = cst.With(
            [cst.WithItem(head, _as_name(name))],
            block_of([cst.SimpleStatementLine([cst.Expr(call)])]),
            leading_lines=updated.leading_lines,
        )
        return cst.FlattenSentinel([with_, self._raised_assertion(expectation, name)])

    # Statements

    @override
    def leave_Return(self, original_node: cst.Return, updated_node: cst.Return) -> cst.Return:
        node = self.find('Return', original_node)
        rewriting = self.rewriting
        if node is None or rewriting.module.scope_of(node) not in rewriting.leaves:
            return updated_node
        rewriting.use('Success')
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
    ) -> cst.BaseStatement | cst.FlattenSentinel[cst.BaseStatement]:
        last = original_node.body[-1]
        if isinstance(last, cst.Expr) and isinstance(last.value, cst.Call):
            call = self.find('Call', last.value)
            if call is not None and call in self.rewriting.flow.expected:
                return (
                    self._called(call, updated_node) if isinstance(call, ast.Call) else updated_node
                )
        node = self.find('Raise', last) if isinstance(last, cst.Raise) else None
        if not isinstance(node, ast.Raise) or node not in self.rewriting.sites:
            return updated_node
        raised = updated_node.body[-1]
        if not isinstance(raised, cst.Raise):
            return updated_node
        lines = self._raise(node, raised)
        if lines is None:
            return updated_node
        self.is_changed = True
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

    def _raise(self, node: ast.Raise, updated: cst.Raise) -> _Replacement | None:
        """Return the statements instead of a `raise`; None if it stays."""
        rewriting = self.rewriting
        unit, site = rewriting.sites[node]
        if rewriting.flow.keeps_exceptions(unit, site.kinds):
            return None
        if site.rethrown is not None:
            return self._rethrow(node, site.rethrown) if self._is_rewritten(site.rethrown) else None
        if not site.kinds:
            return self._foreign(node, updated)
        error = updated.exc
        if error is None:
            return None
        if not isinstance(error, cst.Call):
            error = cst.Call(error)
        kind = rewriting.kinds.all[next(iter(site.kinds))]
        if kind.has_twin:
            error = error.with_changes(func=cst.parse_expression(rewriting.local(kind.name)))
        form = rewriting.leaves_function(node)
        if isinstance(node.cause, ast.Name):
            clause = self._clause_of(node.cause)
            name = node.cause.id
            if clause is not None and self._is_rewritten(clause):
                # The error of a broad clause has no type; its exception has one.
                name = self.raised_names[clause.node] if clause.is_broad else name
            cause = cst.Arg(
                cst.Name(name),
                keyword=cst.Name('cause'),
                equal=cst.AssignEqual(cst.SimpleWhitespace(''), cst.SimpleWhitespace('')),
            )
            error = error.with_changes(args=[*with_commas(error.args), cause])
        match form:
            case 'return':
                rewriting.use('Failure')
                return None, cst.Return(call_with('Failure', error))
            case 'fail':
                return None, fail_call(error)
            case _:
                rewriting.use('Raised')
                kept = self._raised_cause(node, updated)
                return None, cst.Raise(call_with('Raised', error), kept)

    def _raised_cause(self, node: ast.Raise, updated: cst.Raise) -> cst.From | None:
        """Return the `from` part, which must name an exception."""
        if updated.cause is None or not isinstance(node.cause, ast.Name):
            return updated.cause
        clause = self._clause_of(node.cause)
        if clause is None or not self._is_rewritten(clause):
            return updated.cause
        raised = self.raised_names.get(clause.node)
        if raised is None:
            self.rewriting.use('Raised')
            value: cst.BaseExpression = call_with('Raised', cst.Name(node.cause.id))
        else:
            value = cst.Name(raised)
        return updated.cause.with_changes(item=value)

    def _foreign(self, node: ast.Raise, updated: cst.Raise) -> _Replacement | None:
        cause = self._raised_cause(node, updated)
        return None if cause is updated.cause else (None, updated.with_changes(cause=cause))

    def _clause_of(self, name: ast.Name) -> Clause | None:
        """Return the clause that binds a variable."""
        parent: ast.AST | None = name
        while parent is not None and not isinstance(parent, FUNCTIONS):
            if isinstance(parent, ast.ExceptHandler) and parent.name == name.id:
                return self.rewriting.flow.clauses.get(parent)
            parent = self.rewriting.module.parents.get(parent)
        return None

    def _rethrow(self, node: ast.Raise, clause: Clause) -> _Replacement:
        rewriting = self.rewriting
        name = self.handler_names[clause.node]
        form = rewriting.leaves_function(node)
        is_matched = clause.statement in rewriting.matched
        if not form or not clause.arrived:
            if is_matched:
                rewriting.use('Raised')
                return None, cst.Raise(call_with('Raised', cst.Name(name)))
            return None, cst.Raise()
        fail = fail_call(cst.Name(name))
        if not clause.is_broad and (is_matched or clause.covers == clause.arrived):
            return None, fail
        names = [rewriting.local(kind) for kind in rewriting.ordered(clause.arrived)]
        wanted = names[0] if len(names) == 1 else f'({", ".join(names)})'
        test = cst.parse_expression(f'isinstance({name}, {wanted})')
        return cst.If(test, cst.IndentedBlock([cst.SimpleStatementLine([fail])])), cst.Raise()

    # Handlers

    @override
    def leave_Try(
        self, original_node: cst.Try, updated_node: cst.Try
    ) -> cst.BaseStatement | cst.FlattenSentinel[cst.BaseStatement]:
        node = self.find('Try', original_node)
        if not isinstance(node, ast.Try):
            return updated_node
        if not any(map(self._is_rewritten, self.rewriting.clauses(node))):
            return updated_node
        self.is_changed = True
        if node in self.rewriting.matched:
            return self._match(node, updated_node)
        return self._caught(node, updated_node)

    def _match(self, node: ast.Try, updated: cst.Try) -> cst.BaseStatement:
        """Return a `match` of the only call in the body."""
        rewriting = self.rewriting
        rewriting.use('Failure', 'Success')
        unit, site = rewriting.sites[rewriting.matched[node]]
        name = self._value_name(node)
        first = node.body[0]
        body = list(statements_of(updated.body))
        if (
            isinstance(first, ast.Expr | ast.Assign)
            and awaited_value(first.value) is (rewriting.matched[node])
        ):
            # Without a name the statement is the call alone.
            body = body[1:] if name == '' or isinstance(first, ast.Assign) else body
        if updated.orelse is not None:
            body += statements_of(updated.orelse.body)
        cases = [
            cst.MatchCase(
                parse_pattern(f'Success({name})'), block_of(body or [cst.parse_statement('pass')])
            ),
            *self._failure_cases(node, updated, unit, site),
        ]
        leading = [*updated.leading_lines, *header_comments(updated)]
        match_ = cst.Match(self.subjects[node], cases, leading_lines=leading)
        if updated.finalbody is None:
            return match_
        return updated.with_changes(
            body=cst.IndentedBlock([match_.with_changes(leading_lines=[])]),
            handlers=[],
            orelse=None,
        )

    def _failure_cases(
        self, node: ast.Try, updated: cst.Try, unit: Unit, site: Site
    ) -> list[cst.MatchCase]:
        rewriting = self.rewriting
        remaining = set(site.kinds)
        arms: list[tuple[list[str], Clause, cst.ExceptHandler]] = []
        for clause, handler in zip(rewriting.clauses(node), updated.handlers, strict=True):
            names = rewriting.ordered(clause.covers & remaining)
            remaining -= clause.covers
            if names:
                arms.append((names, clause, handler))
        if len(arms) == 1 and not remaining:
            _, clause, handler = arms[0]
            name = self.handler_names[clause.node]
            return [self._arm(f'Failure({name})', clause, handler)]
        subject = next(
            (name for _, clause, _ in arms if (name := self.handler_names[clause.node])), ''
        ) or rewriting.fresh('error', node)
        cases: list[cst.MatchCase] = []
        for names, clause, handler in arms:
            pattern = ' | '.join(f'{rewriting.local(name)}()' for name in names)
            own = self.handler_names[clause.node]
            name = f' as {own}' if own not in {'', subject} else ''
            cases.append(self._arm(pattern + name, clause, handler))
        if remaining:
            pattern = ' | '.join(
                f'{rewriting.local(name)}()' for name in rewriting.ordered(remaining)
            )
            if self._passes_on(unit, node):
                text = f'do.fail({subject})'
            else:
                rewriting.use('Raised')
                text = f'raise Raised({subject})'
            cases.append(new_case(pattern, text))
        inner = cst.Match(cst.Name(subject), cases)
        return [cst.MatchCase(parse_pattern(f'Failure({subject})'), cst.IndentedBlock([inner]))]

    def _arm(self, pattern: str, clause: Clause, handler: cst.ExceptHandler) -> cst.MatchCase:
        """Return an arm with the body of a clause."""
        old, new = clause.node.name, self.handler_names[clause.node]
        case = handler_case(pattern, handler)
        if old is None or old == new:
            return case
        return case.with_changes(body=case.body.visit(Renaming(old, new)))

    def _passes_on(self, unit: Unit, node: ast.Try) -> bool:
        """Return whether the errors that no clause handles leave the function."""
        rewriting = self.rewriting
        child: ast.AST = node
        for outer in self._outer(node):
            if isinstance(outer, FUNCTIONS):
                break
            # Errors in a handler, an `else` or a `finally` do not reach the clauses.
            if (
                isinstance(outer, ast.Try)
                and child in outer.body
                and any(clause.covers or clause.is_broad for clause in rewriting.clauses(outer))
            ):
                return False
            child = outer
        return unit.is_converted

    def _caught(self, node: ast.Try, updated: cst.Try) -> cst.BaseStatement:
        """Return the statement with clauses for `Raised`."""
        rewriting = self.rewriting
        rewriting.use('Raised')
        clauses = rewriting.clauses(node)
        is_merged = self._is_merged(node)
        arms: list[cst.MatchCase] = []
        handlers: list[cst.ExceptHandler] = []
        seen: set[str] = set()
        place: int | None = None
        leading: Sequence[cst.EmptyLine] = ()
        raised = ''
        for clause, handler in zip(clauses, updated.handlers, strict=True):
            if not self._is_rewritten(clause):
                handlers.append(handler)
                continue
            if clause.is_broad:
                handlers.append(self._broad(clause, handler, arms))
                continue
            names = [name for name in rewriting.ordered(clause.covers) if name not in seen]
            seen.update(names)
            if not names:
                continue
            plain = handler
            if place is None:
                place, leading = len(handlers), handler.leading_lines
                plain = handler.with_changes(leading_lines=[])
            raised = self.raised_names[clause.node]
            pattern = ' | '.join(f'{rewriting.local(name)}()' for name in names)
            own = self.handler_names[clause.node]
            arms.append(self._arm(pattern + (f' as {own}' if own else ''), clause, plain))
        if arms and not is_merged:
            unhandled = self._unhandled(node, seen)
            if unhandled:
                pattern = ' | '.join(f'{rewriting.local(name)}()' for name in unhandled)
                error = self._rest_name(node, set(unhandled))
                arms.append(new_case(f'{pattern} as {error}', f'do.fail({error})'))
            arms.append(new_case('_', 'raise'))
            subject = cst.Attribute(cst.Name(raised), cst.Name('error'))
            handlers.insert(
                place or 0,
                cst.ExceptHandler(
                    cst.IndentedBlock([cst.Match(subject, arms)]),
                    type=cst.Name('Raised'),
                    name=cst.AsName(cst.Name(raised)),
                    leading_lines=leading,
                ),
            )
        return updated.with_changes(handlers=handlers)

    def _unhandled(self, node: ast.Try, seen: set[str]) -> list[str]:
        """Return the classes that must leave the function as failures."""
        rewriting = self.rewriting
        found = [(unit, site) for unit, site in rewriting.sites.values() if node in site.tries]
        names: set[str] = set()
        for _, site in found:
            # An inner statement may handle the error of this site, but not that of another one.
            inner = site.tries[: site.tries.index(node)]
            handled = {
                name
                for statement in inner
                for clause in rewriting.clauses(statement)
                for name in clause.covers
            }
            names |= site.kinds - handled
        unit = found[0][0] if found else None
        if unit is None or not self._passes_on(unit, node):
            return []
        return rewriting.ordered((names - seen) & unit.escapes)

    def _outer(self, node: ast.AST) -> list[ast.AST]:
        parents: list[ast.AST] = []
        parent = self.rewriting.module.parents.get(node)
        while parent is not None:
            parents.append(parent)
            parent = self.rewriting.module.parents.get(parent)
        return parents

    def _broad(
        self, clause: Clause, handler: cst.ExceptHandler, arms: Sequence[cst.MatchCase]
    ) -> cst.ExceptHandler:
        """Return a clause for every exception, which sees the error in a `Raised`."""
        name = self.handler_names[clause.node]
        if not arms and not name:
            return handler
        raised = self.raised_names[clause.node]
        subject = cst.parse_expression(
            f'{raised}.error if isinstance({raised}, Raised) else {raised}'
        )
        type_ = handler.type or cst.Name('BaseException')
        if arms:
            last = self._arm(name or '_', clause, handler)
            body: cst.BaseSuite = cst.IndentedBlock([cst.Match(subject, [*arms, last])])
        else:
            target = cst.Assign([cst.AssignTarget(cst.Name(name))], subject)
            body = cst.IndentedBlock(
                [
                    cst.SimpleStatementLine([target]),
                    *statements_of(self._arm('_', clause, handler).body),
                ]
            )
        return handler.with_changes(
            type=type_,
            whitespace_after_except=cst.SimpleWhitespace(' '),
            name=cst.AsName(cst.Name(raised)),
            body=body,
        )

    # Definitions

    @override
    def leave_FunctionDef(
        self, original_node: cst.FunctionDef, updated_node: cst.FunctionDef
    ) -> cst.BaseStatement | cst.FlattenSentinel[cst.BaseStatement]:
        node = self.find('FunctionDef', original_node)
        rewriting = self.rewriting
        unit = rewriting.unit_of_function.get(node) if isinstance(node, FUNCTIONS) else None
        if unit is None or not unit.is_converted:
            return updated_node
        self.is_changed = True
        new = self._fallible_function(unit, updated_node)
        if not unit.result_name:
            return new
        rewriting.use('Failure', 'Success')
        return cst.FlattenSentinel(
            raising_twin(original_node, new, unit, is_method=is_method(unit, rewriting.module))
        )

    def _fallible_function(self, unit: Unit, updated_node: cst.FunctionDef) -> cst.FunctionDef:
        rewriting = self.rewriting
        errors = rewriting.union(kinds_of(unit, rewriting.kinds))
        if unit.node in rewriting.leaves and updated_node.returns is not None:
            rewriting.use('Result')
            old = cst.Module([]).code_for_node(updated_node.returns.annotation)
            returns = updated_node.returns.with_changes(
                annotation=cst.parse_expression(f'Result[{old}, {errors}]')
            )
            return updated_node.with_changes(returns=returns)
        rewriting.use('Do', 'fallible')
        parameters = updated_node.params
        do = cst.Param(
            cst.Name('do'),
            cst.Annotation(cst.parse_expression(f'Do[{errors}]')),
            comma=cst.MaybeSentinel.DEFAULT,
        )
        attribute = 'posonly_params' if parameters.posonly_params else 'params'
        old_params: Sequence[cst.Param] = getattr(parameters, attribute)
        index = 1 if is_method(unit, rewriting.module) else 0
        new_params = [*old_params[:index], do, *old_params[index:]]
        comma = cst.Comma(whitespace_after=cst.SimpleWhitespace(' '))
        new_params = [
            parameter.with_changes(comma=comma)
            if parameter.comma is cst.MaybeSentinel.DEFAULT and position < len(new_params) - 1
            else parameter
            for position, parameter in enumerate(new_params)
        ]
        return updated_node.with_changes(
            params=parameters.with_changes(**{attribute: new_params}),
            decorators=[*updated_node.decorators, cst.Decorator(cst.Name('fallible'))],
        )

    @override
    def leave_ClassDef(
        self, original_node: cst.ClassDef, updated_node: cst.ClassDef
    ) -> cst.BaseStatement | cst.FlattenSentinel[cst.BaseStatement] | cst.RemovalSentinel:
        node = self.find('ClassDef', original_node)
        kind = self.rewriting.classes.get(node) if isinstance(node, ast.ClassDef) else None
        if kind is None:
            return updated_node
        self.is_changed = self.is_changed or not kind.has_twin or kind.is_used
        if self.rewriting.kinds.is_alias(kind):
            return updated_node if kind.has_twin else self._alias(kind, updated_node)
        new = self._error_class(kind, updated_node)
        if not kind.has_twin:
            return new
        if not kind.is_used:
            return updated_node
        gap = [cst.EmptyLine(indent=False), cst.EmptyLine(indent=False)]
        return cst.FlattenSentinel([updated_node, new.with_changes(leading_lines=gap)])

    def _alias(self, kind: Kind, updated: cst.ClassDef) -> cst.RemovalSentinel:
        rewriting = self.rewriting
        members = rewriting.kinds.members(kind.name)
        rewriting.imports.setdefault('typing', set()).add('TypeAlias')
        text = f'{kind.short_name}: TypeAlias = {rewriting.union(members)}\n'
        docstring = ast.get_docstring(kind.node)
        lines: list[cst.BaseStatement] = [cst.parse_statement(text)]
        if docstring is not None:
            lines += [
                statement
                for statement in statements_of(updated.body)[:1]
                if isinstance(statement, cst.SimpleStatementLine)
            ]
        lines[0] = lines[0].with_changes(
            leading_lines=[cst.EmptyLine(indent=False), cst.EmptyLine(indent=False)]
        )
        self.aliases_after.setdefault(members[-1].short_name, []).extend(lines)
        return cst.RemoveFromParent()

    def _error_class(self, kind: Kind, updated: cst.ClassDef) -> cst.ClassDef:
        rewriting = self.rewriting
        rewriting.use('Category', 'TaggedError')
        message = repr(kind.template or '{}') if not kind.shows_exception else "''"
        category = f'category=Category.{kind.category}'
        head = f'class {kind.error_name}(TaggedError, {category}, message={message}):'
        if len(head) <= _WIDTH:
            source = f'{head}\n    pass\n'
        else:
            source = (
                f'class {kind.error_name}(\n    TaggedError,\n    {category},\n'
                f'    message={message},\n):\n    pass\n'
            )
        new = cst.parse_module(source).body[0]
        if not isinstance(new, cst.ClassDef):
            raise TypeError(f'{source!r} is no class')
        fields: list[str] = []
        for item in kind.fields:
            default = item.default
            if not kind.has_init and kind.has_default:
                default = "''"
            fields.append(
                f'{item.name}: {item.annotation}' + ('' if default is None else f' = {default}')
            )
        if kind.has_cause:
            rewriting.use('Cause')
            fields.append('cause: Cause | None = None')
        statements: list[cst.BaseStatement] = []
        comments: list[cst.EmptyLine] = []
        for statement in statements_of(updated.body):
            if is_docstring(statement):
                statements.append(statement)
            else:
                comments += [
                    line for line in getattr(statement, 'leading_lines', ()) if line.comment
                ]
        for index, text in enumerate(fields):
            line: cst.BaseStatement = parse_line(text)
            if index == 0:
                gap = [cst.EmptyLine(indent=False)] if statements else []
                line = line.with_changes(leading_lines=[*gap, *comments])
            statements.append(line)
        if kind.shows_exception:
            method = cst.parse_statement(
                'def __str__(self) -> str:\n    return str(self.exception())\n'
            )
            statements.append(method.with_changes(leading_lines=[cst.EmptyLine(indent=False)]))
        if kind.has_twin:
            method = cst.parse_statement(exception_method(kind))
            statements.append(method.with_changes(leading_lines=[cst.EmptyLine(indent=False)]))
        body = updated.body
        block = (
            body.with_changes(body=statements)
            if isinstance(body, cst.IndentedBlock)
            else cst.IndentedBlock(statements)
        )
        return updated.with_changes(
            name=new.name,
            bases=new.bases,
            keywords=new.keywords,
            lpar=new.lpar,
            rpar=new.rpar,
            whitespace_after_class=new.whitespace_after_class,
            whitespace_after_name=new.whitespace_after_name,
            whitespace_before_colon=new.whitespace_before_colon,
            body=block,
        )

    @override
    def leave_Module(self, original_node: cst.Module, updated_node: cst.Module) -> cst.Module:
        body: list[cst.BaseStatement | cst.SimpleStatementLine] = []
        for statement in updated_node.body:
            body.append(statement)
            if isinstance(statement, cst.ClassDef):
                body += self.aliases_after.pop(statement.name.value, [])
        return updated_node.with_changes(body=body)


def _is_pattern(argument: cst.Arg) -> bool:
    return argument.keyword is not None and argument.keyword.value == 'match'


def _as_name(name: str) -> cst.AsName:
    return cst.AsName(cst.Name(name))


def _nodes_by_position(module: Module) -> Mapping[_Key, ast.AST]:
    nodes: dict[_Key, ast.AST] = {}
    for expression_type in (ast.Call, ast.Await, ast.Name, ast.Attribute):
        for expression in module.nodes_of_type(expression_type):
            line, end_line = expression.lineno, expression.end_lineno or expression.lineno
            column = module.column(line, expression.col_offset)
            end = module.column(end_line, expression.end_col_offset or 0)
            nodes[expression_type.__name__, line, column, end_line, end] = expression
    statement_types: tuple[type[ast.stmt], ...] = (
        ast.Raise,
        ast.Try,
        ast.With,
        ast.AsyncWith,
        ast.Return,
        ast.FunctionDef,
        ast.AsyncFunctionDef,
        ast.ClassDef,
    )
    for statement_type in statement_types:
        name = statement_type.__name__.removeprefix('Async')
        for statement in module.nodes_of_type(statement_type):
            column = module.column(statement.lineno, statement.col_offset)
            nodes[name, statement.lineno, column, 0, 0] = statement
    return nodes


def rewrite(module: Module, flow: Flow, content: bytes) -> bytes:
    """Return the content of a file after the migration."""
    rewriting = Decisions(module, flow)
    wrapper = MetadataWrapper(cst.parse_module(content))
    transformer = _Transformer(rewriting)
    tree = wrapper.visit(transformer)
    if not transformer.is_changed:
        return content
    package = module.name if module.path.stem == '__init__' else module.name.rpartition('.')[0]
    is_relative = any(node.level for node in module.nodes_of_type(ast.ImportFrom))
    names = [('seamwise', name) for name in rewriting.seamwise]
    for source, items in rewriting.imports.items():
        own, _, last = source.rpartition('.')
        origin = f'.{last}' if is_relative and package and own == package else source
        names += [(origin, name) for name in items]
    return add_imports(tree, names, module.name.partition('.')[0]).bytes
