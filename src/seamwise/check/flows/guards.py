"""The guards of a file: what each is made of, and where one stands around an operation."""

import ast
from collections.abc import Iterator

from seamwise.check.channels import bases, members
from seamwise.check.facts import Guarded, GuardFacts, GuardLayer
from seamwise.check.flows.bindings import Given
from seamwise.check.flows.functions import declared_errors, inferred_errors, sorted_names
from seamwise.check.flows.kinds import NOTHING
from seamwise.check.flows.reader import GUARDS, Reader
from seamwise.check.places import place

RETRY = 'seamwise.policies.retry.retry'


def guards(reader: Reader) -> Iterator[GuardFacts]:
    """Give the guards that a file keeps under names of its own."""
    for statement in reader.module.syntax.body:
        match statement:
            case ast.Assign([ast.Name(name)], value) | ast.AnnAssign(ast.Name(name), _, ast.expr() as value) if is_guard(value, reader):
                layers = _layers(value, reader)
                if layers is not None:
                    yield GuardFacts(f'{reader.module.name}.{name}', layers)
            case _:
                pass


def guarded(reader: Reader) -> Iterator[Guarded]:
    """Give the places where a guard stands around an operation."""
    module = reader.module
    for call in module.every(ast.Call):
        match call.func:
            case ast.Attribute(guard, 'run' | 'run_sync') if call.args and is_guard(guard, reader):
                errors = reader.returned(call.args[0])
                yield Guarded(place(call, module), _layers(guard, reader), sorted_names(errors), _own(guard, reader))
            case _:
                pass
    for function in module.functions():
        for decorator in function.decorator_list:
            if is_guard(decorator, reader):
                found = declared_errors(function, reader)
                errors = found if found is not None else inferred_errors(function, reader)
                name = reader.name_of(function)
                yield Guarded(place(decorator, module), _layers(decorator, reader), sorted_names(errors), _own(decorator, reader), name)


def is_guard(node: ast.expr, reader: Reader) -> bool:
    """Whether an expression is a guard."""
    return any(bases(one) & GUARDS for one in members(reader.module.type(node)))


def _own(guard: ast.expr, reader: Reader) -> tuple[str, ...]:
    return tuple(sorted(reader.own_errors(guard) or NOTHING))


def _layers(guard: ast.expr, reader: Reader) -> tuple[GuardLayer, ...] | None:
    """Give the layers of a guard from the outside in; None where nobody can say."""
    match guard:
        case ast.BinOp(outer, ast.RShift(), inner):
            left, right = _layers(outer, reader), _layers(inner, reader)
            return None if left is None or right is None else (*left, *right)
        case ast.Call(function, _, keywords):
            own = tuple(sorted(reader.own_errors(guard) or NOTHING))
            # Who says himself what is tried again, or hands his settings on, is not second-guessed.
            is_plain = reader.module.full_name(function) == RETRY and all(one.arg not in {None, 'when'} for one in keywords)
            return (GuardLayer('retry' if is_plain else 'other', errors=own),) if is_guard(guard, reader) else None
        case ast.Name(name):
            around = reader.function_of(guard)
            bound = reader.bindings(around).get(name) if around is not None else None
            if bound is not None:
                return _layers(bound[0].value, reader) if len(bound) == 1 and isinstance(bound[0], Given) else None
            return _named(guard, reader)
        case ast.Attribute():
            return _named(guard, reader)
        case _:
            return None


def _named(guard: ast.expr, reader: Reader) -> tuple[GuardLayer, ...] | None:
    name = reader.module.full_name(guard)
    return (GuardLayer('named', name),) if '.' in name else None
