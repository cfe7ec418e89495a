"""What a rule says of one place."""

import ast
from typing import Literal, TypeAlias

from msgspec import Struct

from seamwise.check.program import Module

Severity: TypeAlias = Literal['error', 'warning', 'hint']


class Finding(Struct, frozen=True):
    """One place that a rule speaks of: what is wrong there, and what to do."""

    code: str
    path: str
    line: int
    """From 1, as `column`, which counts characters."""
    column: int
    message: str
    help: str
    severity: Severity
    last_line: int
    """Where the statement or expression ends; of one with a body, where its head ends."""
    end_column: int
    """Behind the last character of it in its first line."""
    source: str
    """The first line."""


class Spot(Struct, frozen=True):
    """A place and what is wrong there, before the rule's code and severity are known."""

    node: ast.stmt | ast.expr | ast.ExceptHandler | ast.match_case
    message: str
    help: str


def placed(spot: Spot, module: Module, *, path: str, code: str, severity: Severity) -> Finding:
    """Say where a spot is, in lines and in columns of characters."""
    node = spot.node
    if isinstance(node, ast.match_case):
        line = node.pattern.lineno
        text = module.lines[line - 1]
        column = text.index('case', 0, _characters(text, node.pattern.col_offset)) if 'case' in text else 0
    else:
        line = node.lineno
        text = module.lines[line - 1]
        column = _characters(text, node.col_offset)
    body = getattr(node, 'body', None)
    if isinstance(body, list) and body and isinstance(body[0], ast.stmt):
        # Of what has a body the head is meant: its first word, and the lines before the body.
        end = column + len(text[column:].split(maxsplit=1)[0].rstrip(':'))
        begin = min([body[0].lineno, *(one.lineno for one in getattr(body[0], 'decorator_list', []))])
        return Finding(code, path, line, column + 1, spot.message, spot.help, severity, max(line, begin - 1), end + 1, text)
    last = getattr(node, 'end_lineno', line)
    end = _characters(text, getattr(node, 'end_col_offset', 0)) if last == line else len(text.rstrip())
    return Finding(code, path, line, column + 1, spot.message, spot.help, severity, last, end + 1, text)


def _characters(text: str, offset: int) -> int:
    """`ast` counts bytes."""
    return len(text.encode()[:offset].decode(errors='ignore'))
