"""The guards of a file: what each is made of, and where one stands around an operation."""

import ast
from collections.abc import Iterator, Sequence

from mypy.types import AnyType, CallableType, Instance, Type, get_proper_type

from seamwise.check.facts import GuardedCall, GuardFacts, GuardLayer
from seamwise.check.inference.bindings import ValueBinding
from seamwise.check.inference.error_inference import (
    ATTEMPT,
    GUARDS,
    KEYED,
    REFINE,
    ErrorInference,
    full_name,
)
from seamwise.check.inference.functions import (
    FALLIBLE,
    declared_errors,
    inferred_errors,
    sorted_names,
)
from seamwise.check.typed_ast.channels import (
    NO_ERRORS,
    ErrorSet,
    base_names,
    union,
    union_members,
    without_type_variables,
)
from seamwise.check.typed_ast.program import Function, walk

RETRY = 'seamwise.policies.retry.retry'
FALLBACK = 'seamwise.policies.fallback.Fallback'
CACHE = 'seamwise.policies.cache.Cache'


def guard_facts(reader: ErrorInference) -> Iterator[GuardFacts]:
    """Give the guards that a file keeps under names of its own."""
    for kind in (ast.Assign, ast.AnnAssign):
        for statement in reader.module.nodes_of_type(kind):
            match statement:
                case ast.Assign([target], value) | ast.AnnAssign(
                    target, _, ast.expr() as value
                ) if is_guard(value, reader):
                    name = _kept_as(target, statement, reader)
                    if name:
                        yield GuardFacts(name, _layers(value, reader))
                case _:
                    pass


def _kept_as(target: ast.expr, statement: ast.stmt, reader: ErrorInference) -> str:
    """Give the full name of what is assigned to, in a file, a class or an object; empty for a local name."""
    if isinstance(target, ast.Attribute):
        return reader.qualified_name(target)
    around = reader.module.parents.get(statement)
    while isinstance(around, ast.If | ast.Try | ast.With):
        around = reader.module.parents.get(around)
    if not isinstance(target, ast.Name) or not isinstance(around, ast.Module | ast.ClassDef):
        return ''
    owner = (
        full_name(around, reader.module) if isinstance(around, ast.ClassDef) else reader.module.name
    )
    return f'{owner}.{target.id}'


def guarded_calls(reader: ErrorInference) -> Iterator[GuardedCall]:
    """Give the places where a guard stands around an operation."""
    module = reader.module
    for call in module.nodes_of_type(ast.Call):
        match call.func:
            case ast.Attribute(guard, 'run' | 'run_sync') if call.args and is_guard(guard, reader):
                errors = reader.returned_errors(call.args[0])
                yield GuardedCall(
                    module.location_of(call),
                    _layers(guard, reader),
                    sorted_names(errors),
                    _own(guard, reader),
                )
            case guard if len(call.args) == 1 and is_guard(guard, reader):
                # A function is decorated, by hand.
                around = module.parents.get(call)
                name = (
                    _kept_as(around.targets[0], around, reader)
                    if isinstance(around, ast.Assign)
                    else ''
                )
                errors = reader.returned_errors(call.args[0])
                yield GuardedCall(
                    module.location_of(call),
                    _layers(guard, reader),
                    sorted_names(errors),
                    _own(guard, reader),
                    name,
                )
            case _:
                pass
    for function in module.functions():
        for number, decorator in enumerate(function.decorator_list):
            if is_guard(decorator, reader):
                errors = _inside(function, function.decorator_list[number + 1 :], reader)
                name = reader.function_name(function)
                yield GuardedCall(
                    module.location_of(decorator),
                    _layers(decorator, reader),
                    sorted_names(errors),
                    _own(decorator, reader),
                    name,
                )


def is_guard(node: ast.expr, reader: ErrorInference) -> bool:
    """Whether an expression is a guard."""
    return any(base_names(one) & GUARDS for one in union_members(reader.module.type_of(node)))


def _inside(
    function: Function, decorators: Sequence[ast.expr], reader: ErrorInference
) -> ErrorSet | None:
    """Give what a function fails with below some of its decorators; None where nobody can say what these add."""
    declared = declared_errors(function, reader)
    found = declared if declared is not None else inferred_errors(function, reader)
    for one in reversed(decorators):
        match (
            reader.module.full_name(one.func)
            if isinstance(one, ast.Call)
            else reader.module.full_name(one),
            one,
        ):
            case (name, ast.Call(_, [rules])) if name == ATTEMPT:
                found = reader.mapped_errors(rules)
            case (name, ast.Call(_, [classify])) if name == REFINE:
                found = reader.returned_errors(classify)
            case _ if is_guard(one, reader):
                found = union([found, reader.guard_errors(one)])
            case (name, _) if name != FALLIBLE and not _keeps(reader.module.type_of(one)):
                return None
            case _:
                pass
    return found


def _keeps(decorator: Type | None) -> bool:
    """Whether a decorator gives a function of the same type as it is given."""
    found = get_proper_type(decorator) if decorator is not None else None
    if isinstance(found, Instance):
        return found.type.fullname == CACHE
    if not isinstance(found, CallableType) or isinstance(get_proper_type(found.ret_type), AnyType):
        return False
    return found.arg_types[:1] == [found.ret_type]


def unhandled_guard_errors(guard: ast.expr, reader: ErrorInference) -> ErrorSet:
    """Give what a guard itself fails with; what a fallback answers for, is answered."""
    if not any(FALLBACK in base_names(one) for one in union_members(reader.module.type_of(guard))):
        return without_type_variables(reader.guard_errors(guard) or NO_ERRORS)
    match guard:
        case ast.BinOp(outer) if not _chooses(outer):
            return unhandled_guard_errors(outer, reader)
        case ast.BinOp() | ast.Call():
            return without_type_variables(reader.guard_errors(guard) or NO_ERRORS)
        case ast.Name(name):
            around = reader.enclosing_function(guard)
            bound = reader.bindings(around).get(name, ()) if around is not None else ()
            return (
                unhandled_guard_errors(bound[0].value, reader)
                if len(bound) == 1 and isinstance(bound[0], ValueBinding)
                else NO_ERRORS
            )
        case _:
            return NO_ERRORS


def _chooses(fallback: ast.expr) -> bool:
    """Whether a fallback answers for some errors only, or is made elsewhere."""
    calls = [node for node in walk(fallback) if isinstance(node, ast.Call)]
    return not calls or any(one.arg in {None, 'when'} for call in calls for one in call.keywords)


def _own(guard: ast.expr, reader: ErrorInference) -> tuple[str, ...]:
    return tuple(sorted(unhandled_guard_errors(guard, reader)))


def _layers(guard: ast.expr, reader: ErrorInference) -> tuple[GuardLayer, ...] | None:
    """Give the layers of a guard from the outside in; None where nobody can say."""
    match guard:
        case ast.BinOp(outer, ast.RShift(), inner):
            left, right = _layers(outer, reader), _layers(inner, reader)
            return None if left is None or right is None else (*left, *right)
        case ast.Call(_, [inner]) if any(
            KEYED in base_names(one) for one in union_members(reader.module.type_of(guard))
        ):
            return _layers(inner, reader)
        case ast.Call(function, _, keywords):
            own = tuple(sorted(reader.guard_errors(guard) or NO_ERRORS))
            # Who says himself what is tried again, or hands his settings on, is not second-guessed.
            is_plain = reader.module.full_name(function) == RETRY and all(
                one.arg not in {None, 'when'} for one in keywords
            )
            return (
                (GuardLayer('retry' if is_plain else 'other', errors=own),)
                if is_guard(guard, reader)
                else None
            )
        case ast.Name(name):
            around = reader.enclosing_function(guard)
            bound = reader.bindings(around).get(name) if around is not None else None
            if bound is not None:
                return (
                    _layers(bound[0].value, reader)
                    if len(bound) == 1 and isinstance(bound[0], ValueBinding)
                    else None
                )
            return _named(guard, reader)
        case ast.Attribute():
            return _named(guard, reader)
        case ast.IfExp(_, one, other):
            found = _layers(one, reader)
            return found if found == _layers(other, reader) else None
        case _:
            return None


def _named(guard: ast.expr, reader: ErrorInference) -> tuple[GuardLayer, ...] | None:
    name = reader.qualified_name(guard)
    return (GuardLayer('named', name),) if '.' in name else None
