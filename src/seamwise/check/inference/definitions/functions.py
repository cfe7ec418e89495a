"""Facts of one function: its declared and inferred errors, their sources, and its uses of seams."""

import ast
from collections.abc import Iterator, Sequence

from seamwise.check._mypy.types import CallableType, Instance, Type, get_proper_type
from seamwise.check.facts import ErrorSource, FunctionFacts, TextEdit
from seamwise.check.inference.adapters.seams import seam_uses
from seamwise.check.inference.data_flow.dispositions import Dispositions
from seamwise.check.inference.data_flow.error_inference import (
    ATTEMPT,
    GUARDS,
    REFINE,
    ErrorInference,
)
from seamwise.check.inference.definitions.overrides import (
    class_members,
    is_declared_by_base,
    overridden_methods,
)
from seamwise.check.inference.definitions.pending_errors import OpenFindings, pending_errors
from seamwise.check.inference.edits.annotations import (
    needs_success_import,
    removal_edits,
    success_edit,
    success_type,
)
from seamwise.check.inference.edits.imports import import_edits
from seamwise.check.typed_ast.channels import (
    DO,
    FAILURE,
    NO_ERRORS,
    RESULT,
    UNSPECIFIC,
    ErrorSet,
    base_names,
    call_result_type,
    channel_of,
    errors_in,
    errors_of_type,
    is_result,
    may_be,
    overlaps,
    returned_type,
    union,
    union_members,
    without_type_variables,
)
from seamwise.check.typed_ast.program import Function, Module, call_arguments, parameters, walk

FALLIBLE = 'seamwise._results.scope.fallible'
_RULES = 'seamwise._results.edges.Rules'
_EDGES = frozenset({ATTEMPT, REFINE})
STEP_MODULES = frozenset(
    {
        'seamwise._results.compose',
        'seamwise._results.many',
        'seamwise._results.many_async',
        'seamwise._results.edges',
        'seamwise._results.containers',
    }
)
"""Modules whose functions combine Results and have no errors of their own."""


def function_facts(
    function: Function, inference: ErrorInference, findings: OpenFindings
) -> FunctionFacts:
    """Collect the facts of one function.

    Args:
        function: The function.
        inference: The inference of its module.
        findings: The findings in its module, whose fixes can return more errors.
    """
    module = inference.module
    declared = declared_errors(function, inference)
    inferred = inferred_errors(function, inference)
    impossible: list[str] = []
    edits: tuple[TextEdit, ...] = ()
    success = ''
    if declared is not None and inferred is not None and _is_inferable(function, module):
        impossible = [
            error
            for error in _impossible_errors(function, declared, inferred, findings, inference)
            if not is_declared_by_base(function, error, module)
        ]
        if impossible and not inferred and len(impossible) == len(declared):
            success = success_type(function, module)
            edits = tuple(_success_edits(function, module))
        elif impossible:
            edits = removal_edits(function, impossible, declared, module)
    sources = sorted(
        _error_sources(function, inference),
        key=lambda source: (
            source.location.line,
            source.location.column,
            source.location.end_column,
        ),
    )
    return FunctionFacts(
        name=inference.function_name(function),
        location=module.location_of(function),
        declared=sorted_names(declared),
        inferred=sorted_names(inferred),
        error_sources=tuple(sources),
        seam_uses=tuple(seam_uses(function, inferred, inference)),
        overrides=tuple(overridden_methods(function, module)),
        impossible_errors=tuple(impossible),
        removal_edits=edits,
        success_type=success,
        class_members=class_members(function, module) if impossible else (),
        declared_by_returned=sorted_names(_errors_of_returned_function(function, module)),
    )


def _success_edits(function: Function, module: Module) -> Iterator[TextEdit]:
    edit = success_edit(function, module)
    if edit is not None:
        yield edit
        if needs_success_import(module):
            yield from import_edits('Success', 'seamwise', module)


# Errors of a function


def sorted_names(errors: ErrorSet | None) -> tuple[str, ...] | None:
    """Return the sorted names of errors; None if they are unknown or include a type variable."""
    if errors is None or len(without_type_variables(errors)) < len(errors):
        return None
    return tuple(sorted(errors))


def declared_errors(function: Function, inference: ErrorInference) -> ErrorSet | None:
    """Return the annotated channel of a function; None if it has none, or an incomplete one."""
    do = do_parameter(function, inference.module)
    if do is not None:
        return errors_of_type(do[1].args[0])
    declared = inference.module.declared_type(function)
    return _channel_errors(declared.ret_type) if declared is not None else None


def _errors_of_returned_function(function: Function, module: Module) -> ErrorSet | None:
    """Return the annotated channel of the function that a function returns; None without one."""
    declared = module.declared_type(function)
    return _channel_errors(call_result_type(declared.ret_type)) if declared is not None else None


def _channel_errors(type_: Type | None) -> ErrorSet | None:
    """Return the errors of a Result by the return type of a function; None if they are unknown."""
    result = returned_type(type_)
    if result is None or not is_result(result) or _is_open_result(result):
        return None
    return errors_in(result)


def _is_open_result(type_: object) -> bool:
    """Return whether a type is the base class of `returns` without type parameters."""
    return isinstance(type_, Instance) and type_.type.fullname == RESULT and not type_.args


def do_parameter(function: Function, module: Module) -> tuple[str, Instance] | None:
    """Return the name and the type of the `do` parameter of a `@fallible` function."""
    if not any(
        module.full_name(decorator.func if isinstance(decorator, ast.Call) else decorator)
        == FALLIBLE
        for decorator in function.decorator_list
    ):
        return None
    declared = module.declared_type(function)
    types = declared.arg_types if declared is not None else ()
    for parameter, type_ in zip(parameters(function), types, strict=False):
        proper = get_proper_type(type_)
        if isinstance(proper, Instance) and proper.type.fullname == DO:
            return parameter.arg, proper
    return None


def inferred_errors(function: Function, inference: ErrorInference) -> ErrorSet | None:
    """Return the errors that a function can return if each callee returns what it declares.

    The result is None if they are unknown.
    """
    do = do_parameter(function, inference.module)
    if do is not None:
        return _errors_through_do(function, do[0], inference)
    if any(inference.own_nodes(node_type, function) for node_type in (ast.Yield, ast.YieldFrom)):
        return None
    return union(
        _returned_errors(node, inference) for node in inference.own_nodes(ast.Return, function)
    )


def _returned_errors(node: ast.Return, inference: ErrorInference) -> ErrorSet | None:
    match node.value:
        case None | ast.Constant(None):
            return NO_ERRORS
        case value:
            return inference.errors_of(value)


def _errors_through_do(function: Function, do: str, inference: ErrorInference) -> ErrorSet | None:
    """Return the errors of all uses of `do`, including inner functions; None if one is unknown."""
    module = inference.module
    errors: list[ErrorSet | None] = []
    for statement in function.body:
        for node in walk(statement):
            if not (
                isinstance(node, ast.Name) and node.id == do and isinstance(node.ctx, ast.Load)
            ):
                continue
            match module.parents.get(node):
                case ast.Call(callee, [result]) if callee is node:
                    errors.append(inference.errors_of(result))
                case ast.Attribute(_, 'fail') as fail:
                    call = module.parents.get(fail)
                    errors.append(
                        inference.value_classes(call.args[0])
                        if isinstance(call, ast.Call) and call.args
                        else None
                    )
                case ast.Call() as call:
                    errors.append(_errors_of_helper(call, node, inference))
                case _:
                    errors.append(None)
    return union(errors)


def _errors_of_helper(call: ast.Call, do: ast.Name, inference: ErrorInference) -> ErrorSet | None:
    """Return the errors of a function that receives `do`, by the annotation of its parameter."""
    type_ = inference.module.type_of(call.func)
    signature = get_proper_type(type_) if type_ is not None else None
    if not isinstance(signature, CallableType) or do not in call.args:
        return None
    parameter = signature.argument_by_position(call.args.index(do))
    do_type = get_proper_type(parameter.typ) if parameter is not None else None
    if not isinstance(do_type, Instance) or do_type.type.fullname != DO:
        return None
    return errors_of_type(do_type.args[0])


def _is_inferable(function: Function, module: Module) -> bool:
    """Return whether the body of a function determines its errors.

    It does not in stubs, implementations of overloads, abstract methods and protocols.
    """
    if (
        module.path.suffix == '.pyi'
        or module.implements_overloads(function)
        or _is_stub(function.body)
    ):
        return False
    definition = module.definition(function)
    if definition is None or definition.abstract_status or definition.is_overload:
        return False
    # The `info` of a plain function is mypy's falsy placeholder, not None.
    return not (definition.info and definition.info.is_protocol)


def _is_stub(body: Sequence[ast.stmt]) -> bool:
    """Return whether a body only has docstrings, `...`, `pass` and `raise NotImplementedError`."""
    for statement in body:
        match statement:
            case (
                ast.Expr(ast.Constant())
                | ast.Pass()
                | ast.Raise(
                    ast.Name('NotImplementedError') | ast.Call(ast.Name('NotImplementedError'))
                )
            ):
                continue
            case _:
                return False
    return True


def _impossible_errors(
    function: Function,
    declared: ErrorSet,
    inferred: ErrorSet,
    findings: OpenFindings,
    inference: ErrorInference,
) -> Sequence[str]:
    """Return the errors that a function can neither return now nor after the fixes of findings."""
    unreturned = sorted(_unreturned_errors(declared, inferred))
    # Most functions return all of their errors, and need no further search.
    pending = pending_errors(function, findings, inference) if unreturned else None
    if pending is None:
        return ()
    return sorted(_unreturned_errors(declared, {**inferred, **pending}))


def _unreturned_errors(declared: ErrorSet, inferred: ErrorSet) -> Iterator[str]:
    # A declared type variable covers only itself.
    produced = [info for name, info in inferred.items() if '.' in name or name not in declared]
    for name, info in without_type_variables(declared).items():
        # SW106 reports `object`, `TaggedError` and exceptions.
        if name in UNSPECIFIC or any(
            base.fullname == 'builtins.BaseException' for base in info.mro
        ):
            continue
        if not any(overlaps(info, other) for other in produced):
            yield name


# Sources of errors


def _error_sources(function: Function, inference: ErrorInference) -> Iterator[ErrorSource]:
    dispositions = Dispositions(inference, function)
    for decorator in function.decorator_list:
        if isinstance(decorator, ast.Call) and inference.module.full_name(decorator.func) in _EDGES:
            errors = _errors_of_conversion(decorator, inference.module)
            yield from _sources(decorator, '', errors, None, dispositions)
    for node in inference.own_nodes(ast.Call, function):
        yield from _sources_in_call(node, inference, dispositions)
        for argument in call_arguments(node):
            yield from _sources_in_argument(argument, node, inference, dispositions)


def _errors_of_conversion(edge: ast.Call, module: Module) -> ErrorSet | None:
    """Return the errors of the rules of `attempt`, or of the function of `refine`."""
    type_ = next(union_members(module.type_of(edge.args[-1])), None) if edge.args else None
    if isinstance(type_, CallableType):
        return errors_in(type_.ret_type)
    if isinstance(type_, Instance) and type_.type.fullname == _RULES:
        return errors_of_type(type_.args[0])
    return None


def _sources_in_call(
    node: ast.Call, inference: ErrorInference, dispositions: Dispositions
) -> Iterator[ErrorSource]:
    module = inference.module
    name = module.full_name(node.func)
    if name in FAILURE:
        errors = inference.value_classes(node.args[0]) if len(node.args) == 1 else None
        yield from _sources(node, '', errors, node, dispositions)
        return
    if name in _EDGES and errors_in(module.type_of(node)) is not None:
        yield from _sources(node, '', inference.errors_of(node), node, dispositions)
        return
    match node.func:
        case ast.Attribute(do, 'fail') if node.args and is_do(do, module):
            errors = inference.value_classes(node.args[0])
            yield from _sources(node, '', errors, None, dispositions)
            return
        case ast.Attribute(guard, 'run' | 'run_sync') if any(
            base_names(member) & GUARDS for member in union_members(module.type_of(guard))
        ):
            yield from _sources(node, '', inference.guard_errors(guard), node, dispositions)
            return
        case ast.Attribute(receiver) if may_be(module.type_of(receiver), RESULT):
            return
        case _:
            pass
    if name.rpartition('.')[0] in STEP_MODULES or is_do(node.func, module):
        return
    if errors_in(module.type_of(node)) is not None:
        callee = inference.callee_name(node)
        yield from _sources(node, callee, inference.errors_of(node), node, dispositions)


def is_do(node: ast.expr, module: Module) -> bool:
    """Return whether an expression is the `do` of a function in direct style."""
    return may_be(module.type_of(node), DO)


def _sources_in_argument(
    argument: ast.expr, call: ast.Call, inference: ErrorInference, dispositions: Dispositions
) -> Iterator[ErrorSource]:
    """Yield the errors of a function passed as a step; the result of the call contains them."""
    if not isinstance(argument, ast.Name | ast.Attribute):
        return
    type_ = next(union_members(inference.module.type_of(argument)), None)
    if not isinstance(type_, CallableType):
        return
    if not type_.is_type_obj():
        errors = inference.returned_errors(argument)
        if errors:
            callee = inference.qualified_name(argument)
            yield from _sources(argument, callee, errors, call, dispositions)
    elif _constructs_errors(call, inference.module):
        yield from _sources(argument, '', errors_of_type(type_.ret_type), call, dispositions)


def _constructs_errors(call: ast.Call, module: Module) -> bool:
    """Return whether a call constructs errors from a class: `.alt(Busy)` or `.becomes(Busy)`."""
    if not isinstance(call.func, ast.Attribute):
        return False
    if call.func.attr == 'alt':
        return channel_of(module.type_of(call.func.value)) is not None
    return call.func.attr == 'becomes'


def _sources(
    node: ast.expr,
    callee: str,
    errors: ErrorSet | None,
    result: ast.expr | None,
    dispositions: Dispositions,
) -> Iterator[ErrorSource]:
    """Yield the source of some errors, if there are any.

    Args:
        node: The expression that brings the errors.
        callee: Full name of the function that fails, or empty.
        errors: The errors; None if unknown.
        result: The expression whose Result contains them, if there is one.
        dispositions: Dispositions of the errors in the function.
    """
    errors = without_type_variables(errors or NO_ERRORS)
    if not errors:
        return
    module = dispositions.module
    type_ = module.type_of(result) if result is not None else None
    location, names = module.location_of(node), tuple(sorted(errors))
    if result is None or (channel_of(type_) is None and errors_in(type_) is None):
        yield ErrorSource(location, callee, names)
        return
    disposition = dispositions.of_result(result, errors)
    yield ErrorSource(
        location=location,
        callee=callee,
        errors=names,
        handled=tuple(sorted(disposition.handled)),
        lost=tuple(sorted(disposition.lost(errors))),
    )
