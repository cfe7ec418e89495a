"""Guards of a module: their layers, and the operations that they protect."""

import ast
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Literal

from seamwise.check._mypy.types import AnyType, CallableType, Instance, Type, get_proper_type
from seamwise.check.facts import GuardedCall, GuardFacts, GuardLayer
from seamwise.check.inference.data_flow.bindings import Binding, ValueBinding
from seamwise.check.inference.data_flow.called_functions import positional_parameters
from seamwise.check.inference.data_flow.error_inference import (
    ATTEMPT,
    GUARDS,
    KEYED,
    REFINE,
    ErrorInference,
    full_name,
)
from seamwise.check.inference.definitions.functions import (
    FALLIBLE,
    declared_errors,
    inferred_errors,
    sorted_names,
)
from seamwise.check.inference.guarded_calls.requests import (
    Operation,
    is_repeatable,
    operation_in,
    operation_of,
)
from seamwise.check.typed_ast.channels import (
    NO_ERRORS,
    ErrorSet,
    awaited_type,
    base_names,
    call_result_type,
    may_be,
    union,
    union_members,
    without_type_variables,
)
from seamwise.check.typed_ast.program import Function, Module, walk

_RETRY = 'seamwise.policies.retry.retry'
_REPETITIONS: Mapping[str, Literal['retry', 'hedge']] = MappingProxyType(
    {_RETRY: 'retry', 'seamwise.policies.hedge.hedge': 'hedge'}
)
_FALLBACK = 'seamwise.policies.fallback.Fallback'
_CACHE = 'seamwise.policies.cache.CacheDecorator'


def guard_facts(inference: ErrorInference) -> Iterator[GuardFacts]:
    """Yield the guards that a module assigns to a module-level name or an attribute."""
    for node_type in (ast.Assign, ast.AnnAssign):
        for statement in inference.module.nodes_of_type(node_type):
            match statement:
                case ast.Assign([target], value) | ast.AnnAssign(
                    target, _, ast.expr() as value
                ) if is_guard(value, inference):
                    name = _target_name(target, statement, inference)
                    if name:
                        yield GuardFacts(name, _layers(value, inference))
                case _:
                    pass


def _target_name(target: ast.expr, statement: ast.stmt, inference: ErrorInference) -> str:
    """Return the full name of an assignment target; empty for a local name."""
    if isinstance(target, ast.Attribute):
        return inference.qualified_name(target)
    module = inference.module
    scope = module.parents.get(statement)
    while isinstance(scope, ast.If | ast.Try | ast.With):
        scope = module.parents.get(scope)
    if not isinstance(target, ast.Name) or not isinstance(scope, ast.Module | ast.ClassDef):
        return ''
    prefix = full_name(scope, module) if isinstance(scope, ast.ClassDef) else module.name
    return f'{prefix}.{target.id}'


def guarded_calls(inference: ErrorInference) -> Iterator[GuardedCall]:
    """Yield the operations that a guard protects, by `run`, a call, a decorator or a loop."""
    module = inference.module
    for call in module.nodes_of_type(ast.Call):
        match call.func:
            case ast.Attribute(guard, 'run' | 'run_sync') if call.args and is_guard(
                guard, inference
            ):
                yield _guarded_call(
                    call,
                    guard,
                    inference.returned_errors(call.args[0]),
                    _operation(guard, call.args[0], inference),
                    inference,
                    is_async=call.func.attr == 'run',
                )
            case guard if len(call.args) == 1 and is_guard(guard, inference):
                # A decorator that is applied by a call: `guarded = guard(function)`.
                parent = module.parents.get(call)
                name = (
                    _target_name(parent.targets[0], parent, inference)
                    if isinstance(parent, ast.Assign)
                    else ''
                )
                yield _guarded_call(
                    call,
                    guard,
                    inference.returned_errors(call.args[0]),
                    _operation(guard, call.args[0], inference),
                    inference,
                    function_name=name,
                    is_async=_is_async(call.args[0], module),
                )
            case _:
                pass
    for function in module.functions():
        decorators = function.decorator_list
        for index, decorator in enumerate(decorators):
            if is_guard(decorator, inference):
                yield _guarded_call(
                    decorator,
                    decorator,
                    _errors_below(function, decorators[index + 1 :], inference),
                    _decorated_operation(function, inference),
                    inference,
                    function_name=inference.function_name(function),
                    is_async=isinstance(function, ast.AsyncFunctionDef),
                )
    loops: list[ast.For | ast.AsyncFor] = [
        *module.nodes_of_type(ast.For),
        *module.nodes_of_type(ast.AsyncFor),
    ]
    for loop in loops:
        if is_guard(loop.iter, inference):
            operation = operation_in(loop, inference)
            # A hedge of a loop makes one attempt, also in a task.
            yield _guarded_call(loop.iter, loop.iter, None, operation, inference)


def _guarded_call(  # noqa: PLR0913 -- the fields of the facts
    node: ast.expr,
    guard: ast.expr,
    errors: ErrorSet | None,
    operation: Operation,
    inference: ErrorInference,
    *,
    function_name: str = '',
    is_async: bool = False,
) -> GuardedCall:
    return GuardedCall(
        location=inference.module.location_of(node),
        layers=_layers(guard, inference),
        errors=sorted_names(errors),
        guard_errors=tuple(sorted(unhandled_guard_errors(guard, inference))),
        function=function_name,
        is_async=is_async,
        requests=operation.requests,
        callees=operation.callees,
    )


def _decorated_operation(function: Function, inference: ErrorInference) -> Operation:
    """Return the operation of a decorated function; empty if a repetition of it does no harm."""
    declared = is_repeatable(function, inference.module)
    if declared or _has_key(function, inference.module):
        return Operation()
    if declared is False:
        return Operation(callees=(inference.function_name(function),))
    return operation_in(function, inference)


def _operation(guard: ast.expr, value: ast.expr, inference: ErrorInference) -> Operation:
    """Return the operation that a value is; empty if the guard passes a key that it uses."""
    if _is_keyed(guard, inference.module):
        code = _code_of(value, inference)
        if code is None or _uses_key(code):
            return Operation()
    return operation_of(value, inference)


def _code_of(value: ast.expr, inference: ErrorInference) -> Function | ast.Lambda | None:
    """Return a lambda, or the function of the same file without decorators, that a value names."""
    if isinstance(value, ast.Lambda):
        return value
    name = inference.qualified_name(value)
    named = [
        function
        for function in inference.module.functions()
        if inference.function_name(function) == name
    ]
    return named[0] if len(named) == 1 and not named[0].decorator_list else None


def _has_key(function: Function, module: Module) -> bool:
    """Return whether a decorator passes an idempotency key that the function may use."""
    keyed = [index for index, item in enumerate(function.decorator_list) if _is_keyed(item, module)]
    # Other decorators may pass the key under another name, or in another place.
    is_passed_directly = all(
        isinstance(decorator, ast.Call) and module.full_name(decorator.func) == ATTEMPT
        for index in keyed[-1:]
        for decorator in function.decorator_list[index + 1 :]
    )
    return bool(keyed) and (not is_passed_directly or _uses_key(function))


def _uses_key(function: Function | ast.Lambda) -> bool:
    """Return whether the first parameter, or one of an unknown name, may be used."""
    names = positional_parameters(function)
    return not names or any(
        isinstance(node, ast.Name) and node.id == names[0] for node in walk(function)
    )


def _is_keyed(guard: ast.expr, module: Module) -> bool:
    """Return whether a guard passes an idempotency key to its operation."""
    return may_be(module.type_of(guard), KEYED)


def _is_async(function: ast.expr, module: Module) -> bool:
    """Return whether a function returns an awaitable."""
    result = call_result_type(module.type_of(function))
    return any(awaited_type(member) is not None for member in union_members(result))


def is_guard(node: ast.expr, inference: ErrorInference) -> bool:
    """Return whether an expression is a guard."""
    return any(
        base_names(member) & GUARDS for member in union_members(inference.module.type_of(node))
    )


def _errors_below(
    function: Function, decorators: Sequence[ast.expr], inference: ErrorInference
) -> ErrorSet | None:
    """Return the errors of a function with the inner ones of its decorators; None if unknown."""
    module = inference.module
    errors = declared_errors(function, inference)
    if errors is None:
        errors = inferred_errors(function, inference)
    for decorator in reversed(decorators):
        match decorator:
            case ast.Call(callee, [rules]) if module.full_name(callee) == ATTEMPT:
                errors = inference.mapped_errors(rules)
            case ast.Call(callee, [classify]) if module.full_name(callee) == REFINE:
                errors = inference.returned_errors(classify)
            case _ if is_guard(decorator, inference):
                errors = union([errors, inference.guard_errors(decorator)])
            case _:
                callee = decorator.func if isinstance(decorator, ast.Call) else decorator
                is_fallible = module.full_name(callee) == FALLIBLE
                if not is_fallible and not _preserves_type(module.type_of(decorator)):
                    return None
    return errors


def _preserves_type(decorator: Type | None) -> bool:
    """Return whether a decorator returns a function of the type that it receives."""
    proper = get_proper_type(decorator) if decorator is not None else None
    if isinstance(proper, Instance):
        return proper.type.fullname == _CACHE
    if not isinstance(proper, CallableType):
        return False
    if isinstance(get_proper_type(proper.ret_type), AnyType):
        return False
    return proper.arg_types[:1] == [proper.ret_type]


def unhandled_guard_errors(guard: ast.expr, inference: ErrorInference) -> ErrorSet:
    """Return the errors of a guard itself, except those that a fallback replaces."""
    if not may_be(inference.module.type_of(guard), _FALLBACK):
        return without_type_variables(inference.guard_errors(guard) or NO_ERRORS)
    match guard:
        case ast.BinOp(outer) if not _is_conditional_fallback(outer):
            return unhandled_guard_errors(outer, inference)
        case ast.BinOp() | ast.Call():
            return without_type_variables(inference.guard_errors(guard) or NO_ERRORS)
        case ast.Name():
            value = _only_value(_local_bindings(guard, inference) or ())
            return unhandled_guard_errors(value, inference) if value is not None else NO_ERRORS
        case _:
            return NO_ERRORS


def _is_conditional_fallback(fallback: ast.expr) -> bool:
    """Return whether a fallback may apply to some errors only.

    It does if it has `when`; a fallback that is created elsewhere is unknown.
    """
    calls = [node for node in walk(fallback) if isinstance(node, ast.Call)]
    return not calls or any(
        keyword.arg in {None, 'when'} for call in calls for keyword in call.keywords
    )


def _local_bindings(name: ast.Name, inference: ErrorInference) -> Sequence[Binding] | None:
    """Return the bindings of a name in its function; None for a name from elsewhere."""
    function = inference.module.enclosing_function(name)
    return inference.bindings(function).get(name.id) if function is not None else None


def _only_value(bindings: Sequence[Binding]) -> ast.expr | None:
    match bindings:
        case [ValueBinding(value)]:
            return value
        case _:
            return None


def _layers(guard: ast.expr, inference: ErrorInference) -> tuple[GuardLayer, ...] | None:
    """Return the layers of a guard from the outermost to the innermost; None if unknown."""
    module = inference.module
    match guard:
        case ast.BinOp(outer, ast.RShift(), inner):
            outer_layers, inner_layers = _layers(outer, inference), _layers(inner, inference)
            if outer_layers is None or inner_layers is None:
                return None
            return (*outer_layers, *inner_layers)
        case ast.Call(_, [inner]) if _is_keyed(guard, module):
            return _layers(inner, inference)
        case ast.Call(function, _, keywords):
            if not is_guard(guard, inference):
                return None
            errors = tuple(sorted(inference.guard_errors(guard) or NO_ERRORS))
            # With `when` or `**settings`, the author decides which errors are retried.
            is_plain_retry = module.full_name(function) == _RETRY and all(
                keyword.arg not in {None, 'when'} for keyword in keywords
            )
            return (
                GuardLayer(
                    'retry' if is_plain_retry else 'other',
                    errors=errors,
                    repetition=_repetition(guard, module),
                ),
            )
        case ast.Name():
            bindings = _local_bindings(guard, inference)
            if bindings is None:
                return _reference(guard, inference)
            value = _only_value(bindings)
            return _layers(value, inference) if value is not None else None
        case ast.Attribute():
            return _reference(guard, inference)
        case ast.IfExp(_, body, orelse):
            layers = _layers(body, inference)
            return layers if layers == _layers(orelse, inference) else None
        case _:
            return None


def _repetition(guard: ast.Call, module: Module) -> Literal['', 'retry', 'hedge']:
    """Return the guard by which a layer repeats its operation; empty if it does not, or unknown."""
    repetition = _REPETITIONS.get(module.full_name(guard.func))
    if repetition is None:
        return ''
    for keyword in guard.keywords:
        match keyword:
            case ast.keyword(None) | ast.keyword('attempts', ast.Constant(1)):
                return ''
            case ast.keyword('when') if repetition == 'retry':
                # The predicate may select only errors of requests that were never sent.
                return ''
            case _:
                pass
    return repetition


def _reference(guard: ast.expr, inference: ErrorInference) -> tuple[GuardLayer, ...] | None:
    name = inference.qualified_name(guard)
    return (GuardLayer('named', name),) if '.' in name else None
