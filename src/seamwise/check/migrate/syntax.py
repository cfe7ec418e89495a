"""LibCST nodes that the rewriting creates."""

import ast
from collections.abc import Sequence

import libcst as cst
from typing_extensions import override

from seamwise.check.migrate.units import Unit
from seamwise.check.typed_ast.program import Module


class Renaming(cst.CSTTransformer):
    """Renames a variable."""

    def __init__(self, old: str, new: str) -> None:
        super().__init__()
        self.old = old
        self.new = new

    @override
    def leave_Name(self, original_node: cst.Name, updated_node: cst.Name) -> cst.Name:
        return (
            updated_node.with_changes(value=self.new)
            if (updated_node.value == self.old)
            else updated_node
        )

    @override
    def leave_Attribute(
        self, original_node: cst.Attribute, updated_node: cst.Attribute
    ) -> cst.Attribute:
        return updated_node.with_changes(attr=original_node.attr)

    @override
    def leave_Arg(self, original_node: cst.Arg, updated_node: cst.Arg) -> cst.Arg:
        return updated_node.with_changes(keyword=original_node.keyword)


def awaited_value(node: ast.expr | None) -> ast.expr | None:
    """Return the operand of an `await`, or the expression itself."""
    return node.value if isinstance(node, ast.Await) else node


def fail_call(error: cst.BaseExpression) -> cst.Expr:
    """Return the statement `do.fail(error)`."""
    function = cst.Attribute(cst.Name('do'), cst.Name('fail'))
    return cst.Expr(cst.Call(function, [cst.Arg(error)]))


def call_with(name: str, value: cst.BaseExpression) -> cst.Call:
    """Return a call of a function with one argument."""
    return cst.Call(cst.Name(name), [cst.Arg(value)])


def with_commas(arguments: Sequence[cst.Arg]) -> list[cst.Arg]:
    """Return arguments that each end in a comma."""
    comma = cst.Comma(whitespace_after=cst.SimpleWhitespace(' '))
    return [
        argument.with_changes(comma=comma)
        if argument.comma is cst.MaybeSentinel.DEFAULT
        else argument
        for argument in arguments
    ]


def statements_of(suite: cst.BaseSuite) -> list[cst.BaseStatement]:
    """Return the statements of a block or of one line."""
    if isinstance(suite, cst.IndentedBlock):
        return list(suite.body)
    return (
        [cst.SimpleStatementLine(suite.body)]
        if (isinstance(suite, cst.SimpleStatementSuite))
        else []
    )


def block_of(statements: Sequence[cst.BaseStatement]) -> cst.IndentedBlock:
    """Return an indented block."""
    return cst.IndentedBlock(list(statements))


def parse_pattern(text: str) -> cst.MatchPattern:
    """Parse the pattern of an arm."""
    match cst.parse_module(f'match x:\n    case {text}:\n        pass\n').body:
        case [cst.Match(cases=[case])]:
            return case.pattern
        case _:
            raise AssertionError(f'{text!r} is no pattern')


def handler_case(pattern: str, handler: cst.ExceptHandler) -> cst.MatchCase:
    """Return an arm with the body and the comments of a handler."""
    body = handler.body
    suite = body if isinstance(body, cst.IndentedBlock) else block_of(statements_of(body))
    return cst.MatchCase(parse_pattern(pattern), suite, leading_lines=handler.leading_lines)


def new_case(pattern: str, statement: str) -> cst.MatchCase:
    """Return an arm with one statement."""
    return cst.MatchCase(parse_pattern(pattern), block_of([cst.parse_statement(statement)]))


def header_comments(node: cst.Try) -> list[cst.EmptyLine]:
    """Return the comments behind `try:` and `else:`, which a `match` has no place for."""
    suites = [node.body] + ([node.orelse.body] if node.orelse is not None else [])
    return [
        cst.EmptyLine(comment=suite.header.comment)
        for suite in suites
        if isinstance(suite, cst.IndentedBlock) and suite.header.comment is not None
    ]


def without_handlers(node: cst.Try) -> cst.Try | cst.FlattenSentinel[cst.BaseStatement]:
    """Return a statement without its clauses; its body alone, if nothing else is left."""
    body = statements_of(node.body)
    if node.orelse is not None:
        body += statements_of(node.orelse.body)
    if node.finalbody is not None:
        return node.with_changes(body=block_of(body), handlers=[], orelse=None)
    leading = [*node.leading_lines, *header_comments(node)]
    return cst.FlattenSentinel(with_leading_lines(body, leading))


def is_docstring(statement: cst.BaseStatement) -> bool:
    """Return whether a statement is a text alone."""
    return (
        isinstance(statement, cst.SimpleStatementLine)
        and len(statement.body) == 1
        and isinstance(statement.body[0], cst.Expr)
        and isinstance(statement.body[0].value, cst.SimpleString | cst.ConcatenatedString)
    )


def is_method(unit: Unit, module: Module) -> bool:
    """Return whether a function has a receiver as its first parameter."""
    node = unit.node
    return (
        node is not None
        and isinstance(module.parents.get(node), ast.ClassDef)
        and 'builtins.staticmethod'
        not in {module.full_name(decorator) for decorator in node.decorator_list}
    )


def parse_line(text: str) -> cst.SimpleStatementLine:
    """Return the statement of one line of source."""
    statement = cst.parse_statement(text)
    if not isinstance(statement, cst.SimpleStatementLine):
        raise TypeError(f'{text!r} is a compound statement')
    return statement


def with_leading_lines(
    statements: Sequence[cst.BaseStatement], lines: Sequence[cst.EmptyLine]
) -> list[cst.BaseStatement]:
    """Return statements with more empty lines and comments before the first one."""
    first, *others = statements
    old: Sequence[cst.EmptyLine] = getattr(first, 'leading_lines', ())
    return [first.with_changes(leading_lines=[*lines, *old]), *others]


def parenthesized(value: cst.BaseExpression) -> cst.BaseExpression:
    """Return an expression that can be an argument: a tuple with parentheses."""
    if isinstance(value, cst.Tuple) and not value.lpar:
        return value.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
    return value
