"""Rewriting of tests that expect exceptions."""

import ast

import libcst as cst

from seamwise.check.migrate.decisions import Decisions
from seamwise.check.migrate.expectations import Expectation
from seamwise.check.migrate.names import Names
from seamwise.check.migrate.syntax import block_of, parse_line, statements_of, with_leading_lines


class Assertions:
    """Assertions about Results, instead of those about exceptions."""

    def __init__(self, decisions: Decisions, names: Names) -> None:
        self.decisions = decisions
        self.names = names

    def of_block(
        self, node: ast.AST, expectation: Expectation, updated_node: cst.With
    ) -> cst.FlattenSentinel[cst.BaseStatement]:
        """Return the statements instead of a `with` that expects an exception."""
        if node not in self.decisions.direct:
            return self._raising(node, expectation, updated_node)
        *before, last = statements_of(updated_node.body)
        if not isinstance(last, cst.SimpleStatementLine):
            raise TypeError('the last statement has no call')
        small = last.body[-1]
        value = None
        if isinstance(small, cst.Expr | cst.Assign | cst.AnnAssign | cst.Return):
            value = small.value
        if value is None:
            raise TypeError('the last statement has no value')
        lines = self._assertions(node, expectation, value, updated_node.items[0].item)
        lines[0] = lines[0].with_changes(
            leading_lines=last.leading_lines, trailing_whitespace=last.trailing_whitespace
        )
        return cst.FlattenSentinel(
            with_leading_lines([*before, *lines], updated_node.leading_lines)
        )

    def _assertions(
        self,
        place: ast.AST,
        expectation: Expectation,
        result: cst.BaseExpression,
        head: cst.BaseExpression,
    ) -> list[cst.SimpleStatementLine]:
        """Return the assertions about a Result."""
        decisions = self.decisions
        call = decisions.direct[place]
        called = expectation.called if expectation.statement is None else None
        unit = (
            decisions.flow.expected_functions[called[0]]
            if called is not None
            else decisions.sites[call][1].callee
        )
        kind = decisions.expected(expectation, unit.escapes if unit is not None else None)
        name = self.names.result_names.get(place, '')
        target = f'{name} = ' if name else ''
        source = cst.Module([]).code_for_node(result)
        if kind.startswith('('):
            name = name or decisions.fresh('error', place)
            lines = [f'{name} = {source}.failure()', f'assert isinstance({name}, {kind})']
        else:
            decisions.imports.setdefault('seamwise.testing', set()).add('assert_failure')
            lines = [f'{target}assert_failure({source}, {kind})']
        if expectation.pattern is not None and isinstance(head, cst.Call):
            decisions.imports.setdefault('re', set()).add('search')
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
        decisions = self.decisions
        decisions.use('Raised')
        name = self.names.result_names[place]
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
        kind = self.decisions.expected(expectation)
        return parse_line(f'assert isinstance({name}.{expectation.attribute}.error, {kind})')

    def of_call(
        self, node: ast.Call, updated: cst.SimpleStatementLine
    ) -> cst.BaseStatement | cst.FlattenSentinel[cst.BaseStatement]:
        """Return the assertions instead of an expectation that calls a function."""
        decisions = self.decisions
        expectation = decisions.flow.expected[node]
        small = updated.body[0]
        if not isinstance(small, cst.Expr) or not isinstance(small.value, cst.Call):
            return updated
        if expectation.called is None or not self.names.is_converted(expectation):
            return updated
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
        if node in decisions.direct:
            lines = self._assertions(node, expectation, call, small.value)
            lines[0] = lines[0].with_changes(
                leading_lines=updated.leading_lines, trailing_whitespace=updated.trailing_whitespace
            )
            return cst.FlattenSentinel(lines)
        decisions.use('Raised')
        name = self.names.result_names[node]
        kept = small.value.args[1 : count - 1]
        keywords = [argument for argument in small.value.args if _is_pattern(argument)]
        head = small.value.with_changes(args=[cst.Arg(cst.Name('Raised')), *kept, *keywords])
        with_ = cst.With(
            [cst.WithItem(head, _as_name(name))],
            block_of([cst.SimpleStatementLine([cst.Expr(call)])]),
            leading_lines=updated.leading_lines,
        )
        return cst.FlattenSentinel([with_, self._raised_assertion(expectation, name)])


def _is_pattern(argument: cst.Arg) -> bool:
    return argument.keyword is not None and argument.keyword.value == 'match'


def _as_name(name: str) -> cst.AsName:
    return cst.AsName(cst.Name(name))
