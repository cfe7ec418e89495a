"""Where a node of the syntax stands, in lines and in columns of characters."""

import ast

from seamwise.check.facts import Location
from seamwise.check.typed_ast.program import Module

Node = ast.stmt | ast.expr | ast.ExceptHandler | ast.match_case


def place(node: Node, module: Module) -> Location:
    """Give the place of a statement, an expression, a handler or an arm."""
    if isinstance(node, ast.match_case):
        line = node.pattern.lineno
        text = module.lines[line - 1]
        column = (
            text.index('case', 0, module.column(line, node.pattern.col_offset))
            if 'case' in text
            else 0
        )
    else:
        line = node.lineno
        text = module.lines[line - 1]
        column = module.column(line, node.col_offset)
    body = getattr(node, 'body', None)
    if isinstance(body, list) and body and isinstance(body[0], ast.stmt):
        # Of what has a body the head is meant: its first word, and the lines before the body.
        end = column + len(text[column:].split(maxsplit=1)[0].rstrip(':'))
        begin = min(
            [body[0].lineno, *(one.lineno for one in getattr(body[0], 'decorator_list', []))]
        )
        return Location(line, column + 1, max(line, begin - 1), end + 1, text)
    last = getattr(node, 'end_lineno', line)
    end = (
        module.column(line, getattr(node, 'end_col_offset', 0))
        if last == line
        else len(text.rstrip())
    )
    return Location(line, column + 1, last, end + 1, text)
