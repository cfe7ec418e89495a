"""Where a failure becomes a value, and nobody has looked at its error."""

import ast
from collections.abc import Iterator

from seamwise.check.facts import DefaultedError
from seamwise.check.inference.bindings import ValueBinding
from seamwise.check.inference.dispositions import Dispositions
from seamwise.check.inference.error_inference import PASS_THROUGH, ErrorInference
from seamwise.check.typed_ast.channels import (
    NO_ERRORS,
    ErrorSet,
    channel_of,
    narrow,
    without_type_variables,
)

TAP_ERROR = 'seamwise.compose.tap_error'


def defaulted_errors(reader: ErrorInference) -> Iterator[DefaultedError]:
    """Give each `value_or` on a channel with errors that nobody looks at."""
    module = reader.module
    for call in module.nodes_of_type(ast.Call):
        match call.func:
            case ast.Attribute(result, 'value_or') if (
                channel_of(module.type_of(result)) is not None
            ):
                errors = reader.errors_of(result)
                left = _unseen(result, without_type_variables(errors), reader) if errors else None
                if left:
                    yield DefaultedError(module.location_of(call), tuple(sorted(left)))
            case _:
                pass


def _unseen(result: ast.expr, errors: ErrorSet, reader: ErrorInference) -> ErrorSet:
    """Leave out what another line looks at: `tap_error`, or any use of the name that the result goes by."""
    match result:
        case ast.Await(inner) | ast.NamedExpr(_, inner):
            return _unseen(inner, errors, reader)
        case ast.Call(ast.Attribute(inner, 'map')) if (
            channel_of(reader.module.type_of(inner)) is not None
        ):
            return _unseen(inner, errors, reader)
        case ast.Call(ast.Attribute(inner, 'bind'), [step]) if (
            channel_of(reader.module.type_of(inner)) is not None
        ):
            added = without_type_variables(reader.returned_errors(step) or NO_ERRORS)
            return {**_unseen(inner, errors, reader), **narrow(errors, added)}
        case ast.Call(function, [inner, _]) if reader.module.full_name(function) == TAP_ERROR:
            return NO_ERRORS
        case ast.Call(function, [inner, *_]) if reader.module.full_name(function) in PASS_THROUGH:
            return _unseen(inner, errors, reader)
        case ast.Name() | ast.Attribute():
            return _unseen_elsewhere(result, errors, reader)
        case _:
            return errors


def _unseen_elsewhere(
    result: ast.Name | ast.Attribute, errors: ErrorSet, reader: ErrorInference
) -> ErrorSet:
    """Leave out what the other uses of a name look at, and what was looked at before it was bound."""
    function = reader.enclosing_function(result)
    fates = Dispositions(reader, function)
    if isinstance(result, ast.Attribute):
        return fates.of_attribute(result, errors).lost(errors)
    left = fates.of_name(result.id, errors).lost(errors)
    bound = reader.bindings(function).get(result.id, ()) if function is not None else ()
    values = [
        one.value
        for one in bound
        if isinstance(one, ValueBinding) and not isinstance(one.value, ast.Name | ast.Attribute)
    ]
    if not values or len(values) < len(bound):
        return left
    unseen = [fates.of_result(one, left).lost(_unseen(one, left, reader)) for one in values]
    return {name: info for name, info in left.items() if any(name in one for one in unseen)}
