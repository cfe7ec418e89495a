"""Nodes of mypy that the rules use."""

from mypy.nodes import (
    Decorator,
    Expression,
    FuncDef,
    OverloadedFuncDef,
    RefExpr,
    StrExpr,
    SymbolNode,
    TypeAlias,
    TypeInfo,
    Var,
)

__all__ = [
    'Decorator',
    'Expression',
    'FuncDef',
    'OverloadedFuncDef',
    'RefExpr',
    'StrExpr',
    'SymbolNode',
    'TypeAlias',
    'TypeInfo',
    'Var',
]
