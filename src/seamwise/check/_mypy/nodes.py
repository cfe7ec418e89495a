"""Nodes of mypy that the rules use."""

from mypy.nodes import (
    LDEF,
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
    'LDEF',
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
