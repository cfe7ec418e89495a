"""Calls of `value_or` that replace errors which no code has looked at."""

import ast
from collections.abc import Iterator

from seamwise.check.facts import DefaultedError
from seamwise.check.inference.data_flow.bindings import ValueBinding
from seamwise.check.inference.data_flow.dispositions import Dispositions
from seamwise.check.inference.data_flow.error_inference import PASS_THROUGH, ErrorInference
from seamwise.check.typed_ast.channels import (
    NO_ERRORS,
    ErrorSet,
    channel_of,
    narrow,
    without_type_variables,
)

_TAP_ERROR = 'seamwise._results.compose.tap_error'


def defaulted_errors(inference: ErrorInference) -> Iterator[DefaultedError]:
    """Yield each `value_or` on a Result with errors that no code has looked at."""
    module = inference.module
    for call in module.nodes_of_type(ast.Call):
        match call.func:
            case ast.Attribute(result, 'value_or') if (
                channel_of(module.type_of(result)) is not None
            ):
                errors = without_type_variables(inference.errors_of(result) or NO_ERRORS)
                unhandled = _unhandled_errors(result, errors, inference) if errors else NO_ERRORS
                if unhandled:
                    yield DefaultedError(module.location_of(call), tuple(sorted(unhandled)))
            case _:
                pass


def _unhandled_errors(result: ast.expr, errors: ErrorSet, inference: ErrorInference) -> ErrorSet:
    """Return the errors that neither a `tap_error` nor another use of the Result looks at."""
    module = inference.module
    match result:
        case ast.Await(inner) | ast.NamedExpr(_, inner):
            return _unhandled_errors(inner, errors, inference)
        case ast.Call(ast.Attribute(inner, 'map')) if channel_of(module.type_of(inner)) is not None:
            return _unhandled_errors(inner, errors, inference)
        case ast.Call(ast.Attribute(inner, 'bind'), [step]) if (
            channel_of(module.type_of(inner)) is not None
        ):
            added = without_type_variables(inference.returned_errors(step) or NO_ERRORS)
            return {**_unhandled_errors(inner, errors, inference), **narrow(errors, added)}
        case ast.Call(function, [_, _]) if module.full_name(function) == _TAP_ERROR:
            return NO_ERRORS
        case ast.Call(function, [inner, *_]) if module.full_name(function) in PASS_THROUGH:
            return _unhandled_errors(inner, errors, inference)
        case ast.Name() | ast.Attribute():
            return _unhandled_in_function(result, errors, inference)
        case _:
            return errors


def _unhandled_in_function(
    result: ast.Name | ast.Attribute, errors: ErrorSet, inference: ErrorInference
) -> ErrorSet:
    """Return the errors that no use of a name looks at, and no use of the values bound to it."""
    function = inference.module.enclosing_function(result)
    dispositions = Dispositions(inference, function)
    if isinstance(result, ast.Attribute):
        return dispositions.of_attribute(result, errors).lost(errors)
    lost = dispositions.of_name(result.id, errors).lost(errors)
    bindings = inference.bindings(function).get(result.id, ()) if function is not None else ()
    values = [
        binding.value
        for binding in bindings
        if isinstance(binding, ValueBinding)
        and not isinstance(binding.value, ast.Name | ast.Attribute)
    ]
    if not values or len(values) < len(bindings):
        return lost
    unseen: set[str] = set()
    for value in values:
        unseen.update(
            dispositions.of_result(value, lost).lost(_unhandled_errors(value, lost, inference))
        )
    return {name: info for name, info in lost.items() if name in unseen}
