"""Functions that raise or keep an exception that they get, across files."""

import ast
from collections.abc import Iterable, Iterator, Sequence

from seamwise.check._mypy.types import AnyType, Instance, TupleType, Type
from seamwise.check.facts import (
    BlockExit,
    ExceptionFlow,
    ExceptionHelper,
    HelperCondition,
    HelperUse,
)
from seamwise.check.inference.data_flow.bindings import own_nodes
from seamwise.check.inference.data_flow.called_functions import (
    passed_parameters,
    positional_parameters,
)
from seamwise.check.inference.data_flow.error_inference import ErrorInference
from seamwise.check.inference.exception_flow.block_exits import BlockExits
from seamwise.check.inference.exception_flow.escaping import is_helper, reraised_functions
from seamwise.check.inference.exception_flow.kept import KEEPING_NODES, ExceptionTrace, handler_of
from seamwise.check.inference.exception_flow.never_returning import Ending, ending_of
from seamwise.check.typed_ast.channels import base_names, union_members
from seamwise.check.typed_ast.program import Function, Module

_UNSPECIFIC = frozenset({'builtins.object', 'builtins.tuple'})
_OBJECTS = frozenset({'self', 'cls'})
_NOT_IMPLEMENTED = 'builtins.NotImplementedError'


class ExceptionHelpers:
    """Lookup of helpers by full name, to decide conditions about their calls."""

    def __init__(
        self,
        helpers: Iterable[ExceptionHelper],
        exits: Iterable[BlockExit] = (),
        flows: Iterable[ExceptionFlow] = (),
    ) -> None:
        self._helpers = {helper.name: helper for helper in helpers}
        self._reraised = reraised_functions(flows)
        self._exits = BlockExits(exits)

    def satisfy(self, condition: HelperCondition | None) -> bool:
        """Return whether the called functions make a hit void."""
        if condition is None:
            return False
        if condition.result in self._reraised:
            return True
        if condition.committing:
            return not self._exits.commit(condition.committing)
        return any(self._passes_on(use, set()) for use in condition.passing) or (
            bool(condition.ending) and self._never_return(condition.ending, set())
        )

    def _passes_on(self, use: HelperUse, visited: set[HelperUse]) -> bool:
        helper = self._called(use)
        if helper is None or use in visited:
            return False
        visited.add(use)
        names = passed_parameters(use, helper.parameters, helper.rest)
        return (
            helper.raises_current
            or not helper.kept.isdisjoint(names)
            or any(
                self._passes_on(inner, visited)
                for parameter, inner in helper.passed
                if parameter in names
            )
        )

    def _never_return(self, uses: Ending, visited: set[str]) -> bool:
        """Return whether none of the called functions returns; a recursive one may return."""
        for use in uses:
            helper = self._called(use)
            if helper is None or helper.ending is None or use.callee in visited:
                return False
            if not self._never_return(helper.ending, visited | {use.callee}):
                return False
        return True

    def _called(self, use: HelperUse) -> ExceptionHelper | None:
        """Return the function of a call; None if it is unknown or if its body does not run yet."""
        helper = self._helpers.get(use.callee)
        return helper if helper is not None and helper.is_async == use.is_awaited else None


def exception_helpers(inference: ErrorInference) -> Iterator[ExceptionHelper]:
    """Yield the functions of a module that a handler can pass its exception to."""
    module = inference.module
    for function in module.functions():
        if not is_helper(function, module):
            continue
        nodes = list(own_nodes(function.body))
        keeping = [node for node in nodes if isinstance(node, KEEPING_NODES)]
        kept: list[str] = []
        passed: list[tuple[str, HelperUse]] = []
        for name in _exception_parameters(function, module):
            trace = ExceptionTrace(inference)
            if trace.leaves_helper(function, name, keeping):
                kept.append(name)
            else:
                passed += [(name, use) for use in trace.uses]
        raises_current = any(
            isinstance(node, ast.Raise) and node.exc is None and handler_of(node, module) is None
            for node in nodes
        )
        ending = _ending(function, nodes, inference)
        if kept or passed or raises_current or ending is not None:
            yield ExceptionHelper(
                inference.function_name(function),
                isinstance(function, ast.AsyncFunctionDef),
                tuple(positional_parameters(function)),
                function.args.vararg.arg if function.args.vararg is not None else '',
                raises_current,
                frozenset(kept),
                tuple(passed),
                ending,
            )


def _ending(
    function: Function, nodes: Sequence[ast.AST], inference: ErrorInference
) -> Ending | None:
    """Return the calls that decide whether a function never returns; None if it may return."""
    if any(
        isinstance(node, ast.Return)
        or (isinstance(node, ast.Raise) and _is_not_implemented(node, inference.module))
        for node in nodes
    ):
        # A method that raises NotImplementedError is overridden by others, which may return.
        return None
    return ending_of(function.body, inference)


def _is_not_implemented(node: ast.Raise, module: Module) -> bool:
    raised = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
    return raised is not None and module.full_name(raised) == _NOT_IMPLEMENTED


def _exception_parameters(function: Function, module: Module) -> Iterator[str]:
    """Yield the parameters that can be an exception, a collection, or `sys.exc_info()`."""
    definition = module.definition(function)
    declared = module.declared_type(function)
    # mypy's order of the parameters, which the types have too.
    names = definition.arg_names if definition is not None else ()
    unknown = [None] * len(names)
    types: Sequence[Type | None] = declared.arg_types if declared is not None else unknown
    for name, type_ in zip(names, types, strict=False):
        if name and name not in _OBJECTS and (type_ is None or _may_be_exception(type_)):
            yield name


def _may_be_exception(type_: Type) -> bool:
    """Return whether a value may be an exception, or a collection with exceptions as its items."""
    return any(
        _is_exception_type(member)
        or (isinstance(member, Instance) and any(map(_is_item_type, member.args)))
        for member in union_members(type_)
    )


def _is_item_type(type_: Type) -> bool:
    return any(map(_is_exception_type, union_members(type_)))


def _is_exception_type(member: Type) -> bool:
    return isinstance(member, AnyType | TupleType) or (
        isinstance(member, Instance)
        and (member.type.fullname in _UNSPECIFIC or 'builtins.BaseException' in base_names(member))
    )
