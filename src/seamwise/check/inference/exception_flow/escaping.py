"""Exceptions that leave a function: those of its `raise` statements and of the helpers it calls."""

import ast
import sys
from collections.abc import Iterable, Iterator
from typing import Final

from seamwise.check._mypy.types import CallableType, Instance
from seamwise.check.facts import ExceptionFlow, HelperCall, RaisedException
from seamwise.check.inference.data_flow.bindings import own_nodes
from seamwise.check.inference.data_flow.error_inference import ErrorInference
from seamwise.check.inference.exception_flow.running import called_helpers
from seamwise.check.inference.exception_flow.sites import (
    ExceptionClass,
    HandlerStack,
    catching_handler,
    exception_classes,
    handlers_around,
    raises_caught,
)
from seamwise.check.typed_ast.channels import FAILURE, is_result, returned_type, union_members
from seamwise.check.typed_ast.program import FUNCTIONS, Function, Module, call_arguments

_EXCEPTION, _BASE_EXCEPTION = 'builtins.Exception', 'builtins.BaseException'
_ALLOWED = frozenset({
    'builtins.AssertionError', 'builtins.NotImplementedError', 'seamwise._errors.causes.Raised',
    'click.exceptions.Exit', 'click.exceptions.Abort',
    'typer.exceptions.Exit', 'typer.exceptions.Abort',
})  # fmt: skip
"""Exceptions that report a bug, end the process, or are converted to failures."""
_PROTOCOL = {
    '__next__': 'builtins.StopIteration', '__anext__': 'builtins.StopAsyncIteration',
    '__getattr__': 'builtins.AttributeError', '__getattribute__': 'builtins.AttributeError',
    '__getitem__': 'builtins.LookupError', '__missing__': 'builtins.KeyError',
}  # fmt: skip
"""Exceptions by which special methods answer, as Python defines them."""
WHEN: Final = 'seamwise._results.edges.when'
ATTEMPT, _FALLIBLE = 'seamwise._results.edges.attempt', 'seamwise._results.scope.fallible'
_SAFE = frozenset({
    'returns.result.safe', 'returns.io.impure_safe', 'returns.future.future_safe',
})  # fmt: skip
_TRANSPARENT = frozenset({
    'builtins.staticmethod', 'builtins.classmethod', 'functools.cache', 'functools.lru_cache',
    'typing.override', 'typing_extensions.override', 'typing.final', 'builtins.property',
    'functools.cached_property',
})  # fmt: skip
"""Decorators that pass exceptions on."""
_PARSING_VERBS = frozenset({'decode', 'from', 'load', 'loads', 'parse', 'read'})
_STDLIB = sys.stdlib_module_names


def exception_flows(inference: ErrorInference) -> Iterator[ExceptionFlow]:
    """Yield the flow of each function of a module, except of those without exceptions or calls."""
    module = inference.module
    for function in module.functions():
        is_result_function = returns_result(function, module)
        is_generator = not is_result_function and _is_generator(function, module)
        if not is_result_function and not is_generator and not is_helper(function, module):
            continue
        converted = converted_exceptions(function, module)
        if converted is None:
            continue
        nodes = list(own_nodes(function.body))
        flow = ExceptionFlow(
            inference.function_name(function) + '()' * is_generator,
            is_result_function,
            () if is_result_function else tuple(dict.fromkeys(_raised(function, nodes, module))),
            tuple(_helper_calls(nodes, inference, converted)),
            _parses_text(function),
        )
        if flow.raised or flow.calls:
            yield flow


def _parses_text(function: Function) -> bool:
    verb = function.name.lstrip('_').partition('_')[0]
    parameters = [*function.args.posonlyargs, *function.args.args]
    return verb in _PARSING_VERBS and any(
        isinstance(parameter.annotation, ast.Name) and parameter.annotation.id in {'str', 'bytes'}
        for parameter in parameters[:2]
    )


def is_helper(function: Function, module: Module) -> bool:
    """Return whether a call of the function raises its exceptions: it is no generator."""
    return decorator_names(function, module) <= _TRANSPARENT and not _yields(function)


def _is_generator(function: Function, module: Module) -> bool:
    return decorator_names(function, module) <= _TRANSPARENT and _yields(function)


def _yields(function: Function) -> bool:
    return any(isinstance(node, ast.Yield | ast.YieldFrom) for node in own_nodes(function.body))


def _raised(function: Function, nodes: list[ast.AST], module: Module) -> Iterator[RaisedException]:
    for node in nodes:
        # An exception with a name was made elsewhere, and may be a caught one.
        if (
            isinstance(node, ast.Raise)
            and isinstance(node.exc, ast.Call | ast.Name | ast.Attribute)
            and not raises_again(node, module)
            and not _is_instance(node.exc, module)
        ):
            for class_ in escaping_classes(node.exc, node, function, module):
                yield RaisedException(class_.name, class_.bases)


def _is_instance(raised: ast.expr, module: Module) -> bool:
    """Return whether a name is bound to an exception, and not to a class."""
    return isinstance(raised, ast.Name | ast.Attribute) and any(
        isinstance(member, Instance) for member in union_members(module.type_of(raised))
    )


def _helper_calls(
    nodes: list[ast.AST], inference: ErrorInference, converted: frozenset[str]
) -> Iterator[HelperCall]:
    module = inference.module
    for node in nodes:
        calls = {
            callee: text
            for callee, text in called_helpers(node, inference)
            if callee.partition('.')[0] not in _STDLIB
        }
        if not calls or not isinstance(node, ast.expr):
            continue
        caught = tuple(sorted(_caught_names(handlers_around(node, module)) | converted))
        location = module.location_of(node)
        raises = _raises_errors(node, module)
        for callee, text in calls.items():
            yield HelperCall(location, callee, text, caught, raises)


def _raises_errors(call: ast.expr, module: Module) -> bool:
    """Return whether a `match` of a call raises an exception that it makes from the error."""
    parent = module.parents.get(call)
    if isinstance(parent, ast.Await):
        call, parent = parent, module.parents.get(parent)
    if not isinstance(parent, ast.Match) or parent.subject is not call:
        return False
    for case in parent.cases:
        match case:
            case ast.match_case(
                ast.MatchClass(class_, [ast.MatchAs(None, str(error))]),
                None,
                [ast.Raise(ast.Call(ast.Attribute(ast.Name(raised), _), [], []))],
            ) if module.full_name(class_) in FAILURE and raised == error:
                return True
            case _:
                pass
    return False


def reraised_functions(flows: Iterable[ExceptionFlow]) -> frozenset[str]:
    """Return the functions whose callers, direct or indirect, all raise their errors.

    Exceptions of such a function reach those who expect exceptions, as the errors do.
    """
    calls: dict[str, list[tuple[str, bool]]] = {}
    found: set[str] = set()
    for flow in flows:
        found |= {flow.function} if flow.is_result else set()
        for call in flow.calls:
            calls.setdefault(call.callee, []).append((flow.function, call.raises_errors))
    found &= calls.keys()
    while wrong := {
        name
        for name in found
        if not all(raises or caller in found for caller, raises in calls[name])
    }:
        found -= wrong
    return frozenset(found)


def _caught_names(handlers: HandlerStack) -> frozenset[str]:
    return frozenset(
        name for clauses in handlers for handler in clauses for name in handler.stopped_names()
    )


def escaping_classes(
    raised: ast.expr, node: ast.AST, function: Function, module: Module
) -> list[ExceptionClass]:
    """Return the ordinary classes of a raised exception that no handler in the function stops."""
    handlers = handlers_around(node, module)
    answer = _PROTOCOL.get(function.name, '')
    return [
        class_
        for class_ in exception_classes(raised, module)
        if class_.is_ordinary
        and _ALLOWED.isdisjoint(class_.bases)
        and answer not in class_.bases
        and catching_handler(handlers, class_) is None
    ]


def raises_again(node: ast.Raise, module: Module) -> bool:
    """Return whether it raises a caught exception: `except OSError as error: …; raise error`."""
    return _is_stored_exception(node.exc, module) or raises_caught(node, module)


def _is_stored_exception(raised: ast.expr | None, module: Module) -> bool:
    """Return whether a name is typed as `Exception` itself, so that it was caught elsewhere."""
    match raised:
        case ast.Call(ast.Attribute(stored, 'with_traceback')):
            return _is_stored_exception(stored, module)
        case ast.Name() | ast.Attribute():
            members = list(union_members(module.type_of(raised)))
            return bool(members) and all(
                isinstance(member, Instance)
                and member.type.fullname in frozenset({_EXCEPTION, _BASE_EXCEPTION})
                for member in members
            )
        case _:
            return False


def returns_result(function: Function, module: Module) -> bool:
    """Return whether a call of a function returns a Result, directly or after `await`."""
    declared = module.declared_type(function)
    if declared is not None and is_result(returned_type(declared.ret_type)):
        return True
    if not decorator_names(function, module) & {_FALLIBLE, ATTEMPT, *_SAFE}:
        # Without annotations, the types of its `return` statements decide.
        return declared is None and any(
            is_result(module.type_of(node.value))
            for node in own_nodes(function.body)
            if isinstance(node, ast.Return) and node.value is not None
        )
    if module.full_name(function.decorator_list[0]) == _FALLIBLE:
        # Without annotations of the function, mypy infers no type.
        return True
    decorated = module.decorated_type(function)
    return isinstance(decorated, CallableType) and is_result(returned_type(decorated.ret_type))


def decorator_names(function: Function, module: Module) -> set[str]:
    """Return the full names of the decorators of a function."""
    return {
        module.full_name(decorator.func if isinstance(decorator, ast.Call) else decorator)
        for decorator in function.decorator_list
    }


def converted_exceptions(function: Function, module: Module) -> frozenset[str] | None:
    """Return the exceptions that enclosing decorators convert to failures; None if unknown.

    These are `@attempt` and, of `returns`, `@safe` and its variants.
    """
    names: set[str] = set()
    scope: ast.AST | None = function
    while scope is not None:
        for decorator in scope.decorator_list if isinstance(scope, FUNCTIONS) else ():
            converted = _converted_by(decorator, module)
            if converted is None:
                return None
            names |= converted
        scope = module.parents.get(scope)
    return frozenset(names)


def safe_exceptions(function: Function, module: Module) -> tuple[ExceptionClass, ...]:
    """Return the exceptions that `@safe(exceptions=…)` of `returns` names, or a variant of it.

    mypy infers only their common base class.
    """
    for decorator in function.decorator_list:
        if isinstance(decorator, ast.Call) and module.full_name(decorator.func) in _SAFE:
            arguments = list(call_arguments(decorator))
            return tuple(exception_classes(arguments[0], module)) if len(arguments) == 1 else ()
    return ()


def _converted_by(decorator: ast.expr, module: Module) -> set[str] | None:
    call = decorator if isinstance(decorator, ast.Call) else None
    name = module.full_name(call.func if call is not None else decorator)
    if name == ATTEMPT:
        return _conversions(call.args[-1], module) if call is not None and call.args else None
    if name not in _SAFE:
        return set()
    arguments = [] if call is None else [*call.args, *(item.value for item in call.keywords)]
    if len(arguments) != 1:
        # Without arguments, it converts every exception.
        return {_EXCEPTION}
    classes = list(exception_classes(arguments[0], module))
    return {class_.name for class_ in classes} if classes else None


def _conversions(node: ast.expr, module: Module) -> set[str] | None:
    """Return the exceptions of `when(A).becomes(…) | when(B).becomes(…)`, also behind a name."""
    if isinstance(node, ast.BinOp):
        left, right = _conversions(node.left, module), _conversions(node.right, module)
        return None if left is None or right is None else left | right
    if isinstance(node, ast.Name):
        values = [
            statement.value
            for statement in module.syntax.body
            if isinstance(statement, ast.Assign | ast.AnnAssign)
            and statement.value is not None
            and _binds(statement, node.id)
        ]
        return _conversions(values[0], module) if len(values) == 1 else None
    match node:
        case ast.Call(ast.Attribute(ast.Call(when, [exception]), 'becomes')) if (
            module.full_name(when) == WHEN
        ):
            name = module.full_name(exception)
            return {name} if name else None
        case _:
            return None


def _binds(statement: ast.Assign | ast.AnnAssign, name: str) -> bool:
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    return any(isinstance(target, ast.Name) and target.id == name for target in targets)
