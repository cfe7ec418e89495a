"""Errors that a function will return once the findings of other rules in it are fixed."""

import ast
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from seamwise.check.inference.data_flow.error_inference import ErrorInference
from seamwise.check.inference.exception_flow.sites import exception_classes
from seamwise.check.typed_ast.channels import (
    NO_ERRORS,
    TAGGED_ERROR,
    Channel,
    ErrorSet,
    call_result_type,
    contained_channel,
    errors_of_type,
    union,
)
from seamwise.check.typed_ast.program import FUNCTIONS, Function, LocatableNode, Module, children

OpenFindings: TypeAlias = Mapping[str, Sequence[LocatableNode]]
"""Nodes of the findings in a module, by code."""

_LOST_RESULT_CODES = ('SW101', 'SW104', 'SW117')
"""Findings that a function ends by returning the errors of a Result."""
_EXCEPTION_CODES = ('SW102', 'SW103')
"""Findings that a function ends by returning an error instead of an exception."""
_UNFINISHED = frozenset({'builtins.NotImplementedError', TAGGED_ERROR})
"""Classes that a branch raises until it is written. A tagged error is no exception at all."""


def pending_errors(
    function: Function, findings: OpenFindings, inference: ErrorInference
) -> ErrorSet | None:
    """Return the errors of Results that a function loses; None if it has other errors to return.

    It does if it raises or swallows an exception, or if a branch is unfinished.
    """
    if any(_own_findings(function, _EXCEPTION_CODES, findings, inference)) or any(
        _is_unfinished(statement, inference.module)
        for statement in inference.own_nodes(ast.Raise, function)
    ):
        return None
    channels = (
        channel
        for node in _own_findings(function, _LOST_RESULT_CODES, findings, inference)
        for channel in _channels_in(node, inference.module)
    )
    lost = (union(map(errors_of_type, channel.errors)) for channel in channels)
    return union(errors for errors in lost if errors is not None) or NO_ERRORS


def _own_findings(
    function: Function, codes: Sequence[str], findings: OpenFindings, inference: ErrorInference
) -> Iterator[LocatableNode]:
    for code in codes:
        for node in findings.get(code, ()):
            if node in inference.own_nodes(type(node), function):
                yield node


def _is_unfinished(statement: ast.Raise, module: Module) -> bool:
    return statement.exc is not None and any(
        not _UNFINISHED.isdisjoint(class_.bases)
        for class_ in exception_classes(statement.exc, module)
    )


def _channels_in(node: ast.AST, module: Module) -> Iterator[Channel]:
    """Yield the channels of the outermost Results in a node, and of functions that return one."""
    channel = _channel(node, module) if isinstance(node, ast.expr) else None
    if channel is not None:
        yield channel
    elif not isinstance(node, FUNCTIONS):
        for child in children(node):
            yield from _channels_in(child, module)


def _channel(node: ast.expr, module: Module) -> Channel | None:
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        return contained_channel(module.variable_type(node))
    for type_ in module.types_of(node):
        channel = contained_channel(type_) or contained_channel(call_result_type(type_))
        if channel is not None:
            return channel
    return None
