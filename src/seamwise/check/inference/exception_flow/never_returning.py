"""Statements behind which no code runs, because they always raise."""

import ast
from collections.abc import Iterable, Sequence
from typing import TypeAlias

from seamwise.check._mypy.types import CallableType, Instance, UninhabitedType, get_proper_type
from seamwise.check.facts import HelperUse
from seamwise.check.inference.data_flow.called_functions import helper_use
from seamwise.check.inference.data_flow.error_inference import ErrorInference
from seamwise.check.typed_ast.channels import union_members
from seamwise.check.typed_ast.program import Module

Ending: TypeAlias = tuple[HelperUse, ...]
"""Calls at the ends of branches: no code runs behind them if none of the functions returns."""


def ending_of(body: Sequence[ast.stmt], inference: ErrorInference) -> Ending | None:
    """Return the calls that decide whether a block ends in `raise`; None if it does not."""
    module = inference.module
    match body[-1] if body else None:
        case ast.Raise():
            return ()
        case ast.Expr(value) | ast.Return(ast.expr() as value):
            return _ending_of_call(value, inference)
        case ast.If(_, branch, orelse):
            return _all(ending_of(block, inference) for block in (branch, orelse))
        case ast.With(items, block) | ast.AsyncWith(items, block):
            if any(_never_exits(item.context_expr, module) for item in items):
                return ()
            return ending_of(block, inference)
        case ast.Try(block, handlers, orelse, finalbody) | ast.TryStar(
            block, handlers, orelse, finalbody
        ):
            blocks = [orelse or block, *(handler.body for handler in handlers)]
            ending = _all(ending_of(part, inference) for part in blocks)
            last = ending_of(finalbody, inference)
            return ending if last is None or ending == () else last
        case ast.Match(_, cases):
            last_case = cases[-1]
            is_exhaustive = (
                last_case.guard is None
                and isinstance(last_case.pattern, ast.MatchAs)
                and last_case.pattern.pattern is None
            )
            return _all(ending_of(arm.body, inference) for arm in cases) if is_exhaustive else None
        case _:
            return None


def ending_of_function(function: ast.expr, inference: ErrorInference) -> Ending | None:
    """Return the calls that decide whether a function never returns; None if it may return.

    Args:
        function: Expression for the function, such as its name or a lambda.
        inference: Inference of its module.
    """
    if isinstance(function, ast.Lambda):
        return _ending_of_call(function.body, inference)
    types = list(inference.module.types_of(function))
    if types and all(
        isinstance(member, CallableType) and _is_never(member)
        for type_ in types
        for member in union_members(type_)
    ):
        return ()
    name = inference.qualified_name(function)
    return (HelperUse(name),) if name else None


def _ending_of_call(value: ast.expr, inference: ErrorInference) -> Ending | None:
    call = value.value if isinstance(value, ast.Await) else value
    if not isinstance(call, ast.Call):
        return None
    # `sys.exit(1)` and functions typed as NoReturn never return.
    if isinstance(inference.module.type_of(value), UninhabitedType):
        return ()
    use = helper_use(call, HelperUse(''), inference)
    return (use,) if use is not None else None


def _all(endings: Iterable[Ending | None]) -> Ending | None:
    uses: dict[HelperUse, None] = {}
    for ending in endings:
        if ending is None:
            return None
        uses |= dict.fromkeys(ending)
    return tuple(uses)


def _is_never(type_: CallableType) -> bool:
    return isinstance(get_proper_type(type_.ret_type), UninhabitedType)


def _never_exits(manager: ast.expr, module: Module) -> bool:
    """Return whether the `__exit__` of a context manager is typed as NoReturn."""
    for member in union_members(module.type_of(manager)):
        if not isinstance(member, Instance):
            continue
        method = member.type.get_method('__exit__') or member.type.get_method('__aexit__')
        type_ = get_proper_type(method.type) if method is not None and method.type else None
        if isinstance(type_, CallableType) and _is_never(type_):
            return True
    return False
