"""Where a failure becomes a value, and nobody has looked at its error."""

import ast
from collections.abc import Iterator

from seamwise.check.channels import channel
from seamwise.check.facts import Defaulted
from seamwise.check.flows.fates import Fates
from seamwise.check.flows.kinds import Kinds
from seamwise.check.flows.reader import Reader
from seamwise.check.places import place

TAP_ERROR = 'seamwise.compose.tap_error'


def defaulted(reader: Reader) -> Iterator[Defaulted]:
    """Give each `value_or` on a channel with errors that nobody looks at."""
    module = reader.module
    for call in module.every(ast.Call):
        match call.func:
            case ast.Attribute(result, 'value_or') if channel(module.type(result)) is not None:
                errors = reader.errors(result)
                left = _unseen(result, errors, reader) if errors else None
                if left:
                    yield Defaulted(place(call, module), tuple(sorted(left)))
            case _:
                pass


def _unseen(result: ast.expr, errors: Kinds, reader: Reader) -> Kinds:
    """Leave out what another line looks at: `tap_error`, or any use of the name that the result goes by."""
    match result:
        case ast.Await(inner) | ast.NamedExpr(_, inner):
            return _unseen(inner, errors, reader)
        case ast.Call(ast.Attribute(inner, 'map' | 'bind')) if channel(reader.module.type(inner)) is not None:
            return _unseen(inner, errors, reader)
        case ast.Call(function, [_, *_]) if reader.module.full_name(function) == TAP_ERROR:
            return {}
        case ast.Name(name):
            fates = Fates(reader, reader.function_of(result))
            return fates.of_name(name, errors).lost(errors)
        case _:
            return errors
