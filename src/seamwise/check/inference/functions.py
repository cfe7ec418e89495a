"""What one function lets in, what comes out of it, and what it hands to seams."""

import ast
from collections.abc import Iterator, Sequence

from mypy.nodes import TypeInfo
from mypy.types import CallableType, Instance, get_proper_type

from seamwise.check.facts import ErrorSource, FunctionFacts, SeamUse
from seamwise.check.inference import annotations
from seamwise.check.inference.bindings import parameters
from seamwise.check.inference.dispositions import Dispositions
from seamwise.check.inference.error_inference import FAILURE, GUARDS, ErrorInference
from seamwise.check.typed_ast.channels import (
    NO_ERRORS,
    RESULT,
    UNSPECIFIC,
    ErrorSet,
    base_names,
    channel_of,
    errors_in,
    errors_of_type,
    is_result,
    overlaps,
    returned_type,
    union,
    union_members,
    without_type_variables,
)
from seamwise.check.typed_ast.program import Function, Module, walk

DO, FALLIBLE = 'seamwise.scope.Do', 'seamwise.scope.fallible'
ADAPTER = 'seamwise.seams.adapter.Adapter'
SEAMS = 'seamwise.seams.'


def function_facts(function: Function, reader: ErrorInference) -> FunctionFacts:
    """Read one function."""
    module = reader.module
    declared = declared_errors(function, reader)
    inferred = inferred_errors(function, reader)
    is_own = declared is not None and inferred is not None and is_inferable(function, module)
    unmade = tuple(sorted(_unmade(declared or NO_ERRORS, inferred or NO_ERRORS))) if is_own else ()
    return FunctionFacts(
        reader.function_name(function),
        module.location_of(function),
        sorted_names(declared),
        sorted_names(inferred),
        tuple(
            sorted(
                _entries(function, reader),
                key=lambda one: (one.location.line, one.location.column, one.location.end_column),
            )
        ),
        tuple(_shows(function, reader)),
        tuple(overridden_methods(function, reader)),
        unmade,
        annotations.removal_edits(function, unmade, declared or NO_ERRORS, module)
        if unmade
        else (),
    )


def sorted_names(found: ErrorSet | None) -> tuple[str, ...] | None:
    """Give the names of a set of errors in their order; None where a type variable stands for some of them."""
    return (
        None
        if found is None or len(without_type_variables(found)) < len(found)
        else tuple(sorted(found))
    )


def declared_errors(function: Function, reader: ErrorInference) -> ErrorSet | None:
    """Give the channel that a function declares by its annotations; None where it declares none, or not in full."""
    do = do_parameter(function, reader.module)
    if do is not None:
        return errors_of_type(do[1].args[0])
    declared = reader.module.declared_type(function)
    own = returned_type(declared.ret_type) if declared is not None else None
    return (
        errors_in(own) if own is not None and is_result(own) and not is_open_result(own) else None
    )


def is_open_result(type_: object) -> bool:
    """Whether a result is typed as the base class of `returns` without parameters of its own."""
    return isinstance(type_, Instance) and type_.type.fullname == RESULT and not type_.args


def do_parameter(function: Function, module: Module) -> tuple[str, Instance] | None:
    """Give the name of the `do` of a function in direct style, and its channel."""
    if not any(
        module.full_name(one.func if isinstance(one, ast.Call) else one) == FALLIBLE
        for one in function.decorator_list
    ):
        return None
    declared = module.declared_type(function)
    for one, typed in zip(
        parameters(function), declared.arg_types if declared is not None else (), strict=False
    ):
        found = get_proper_type(typed)
        if isinstance(found, Instance) and found.type.fullname == DO:
            return one.arg, found
    return None


def inferred_errors(function: Function, reader: ErrorInference) -> ErrorSet | None:
    """Give the errors that really can come out of a function, each callee taken at its word; None where nobody can say."""
    do = do_parameter(function, reader.module)
    if do is not None:
        return _through_do(function, do[0], reader)
    if [*reader.own_nodes(ast.Yield, function), *reader.own_nodes(ast.YieldFrom, function)]:
        return None
    found = [_of_return(one, reader) for one in reader.own_nodes(ast.Return, function)]
    return union(found) if found else NO_ERRORS


def _of_return(node: ast.Return, reader: ErrorInference) -> ErrorSet | None:
    if node.value is None or (isinstance(node.value, ast.Constant) and node.value.value is None):
        return NO_ERRORS
    return reader.errors_of(node.value)


def _through_do(function: Function, do: str, reader: ErrorInference) -> ErrorSet | None:
    """Join what every use of a `do` brings, also of one in a function inside; None where it is handed to somebody."""
    module = reader.module
    found: list[ErrorSet | None] = []
    for statement in function.body:
        for node in walk(statement):
            if not (
                isinstance(node, ast.Name) and node.id == do and isinstance(node.ctx, ast.Load)
            ):
                continue
            match module.parents.get(node):
                case ast.Call(func, [result]) if func is node:
                    found.append(reader.errors_of(result))
                case ast.Attribute(_, 'fail') as fail:
                    call = module.parents.get(fail)
                    found.append(
                        reader.value_classes(call.args[0])
                        if isinstance(call, ast.Call) and call.args
                        else None
                    )
                case ast.Call() as call:
                    found.append(_by_helper(call, node, reader))
                case _:
                    found.append(None)
    return union(found)


def _by_helper(call: ast.Call, do: ast.Name, reader: ErrorInference) -> ErrorSet | None:
    """Read what a helper that is handed a `do` may fail with: its own annotation says it."""
    defined = reader.module.type_of(call.func)
    typed = get_proper_type(defined) if defined is not None else None
    if not isinstance(typed, CallableType) or do not in call.args:
        return None
    formal = typed.argument_by_position(call.args.index(do))
    wanted = get_proper_type(formal.typ) if formal is not None else None
    return (
        errors_of_type(wanted.args[0])
        if isinstance(wanted, Instance) and wanted.type.fullname == DO
        else None
    )


def is_inferable(function: Function, module: Module) -> bool:
    """Whether what a function declares is its own matter: not of an abstract method, a protocol, a stub, an overload."""
    if (
        module.path.suffix == '.pyi'
        or module.implements_overloads(function)
        or _is_stub(function.body)
    ):
        return False
    found = module.definition(function)
    if found is None or found.abstract_status or found.is_overload:
        return False
    # Of a function that is no method mypy has a class that is none.
    return not (found.info and found.info.is_protocol)


def _is_stub(body: Sequence[ast.stmt]) -> bool:
    """Whether a body does nothing: a docstring, `...`, `pass`, `raise NotImplementedError`."""
    for statement in body:
        match statement:
            case ast.Expr(ast.Constant()) | ast.Pass():
                continue
            case ast.Raise(
                ast.Name('NotImplementedError') | ast.Call(ast.Name('NotImplementedError'))
            ):
                continue
            case _:
                return False
    return True


def _unmade(declared: ErrorSet, inferred: ErrorSet) -> Iterator[str]:
    # What a type variable brings, it is declared for itself.
    brought = {name: info for name, info in inferred.items() if '.' in name or name not in declared}
    for name, info in without_type_variables(declared).items():
        # Of `object`, `TaggedError` and exceptions SW106 speaks: they name no error.
        if name in UNSPECIFIC or any(
            base.fullname == 'builtins.BaseException' for base in info.mro
        ):
            continue
        if not any(overlaps(info, one) for one in brought.values()):
            yield name


def overridden_methods(function: Function, reader: ErrorInference) -> Iterator[str]:
    """Give the methods of base classes in whose place a method stands."""
    found = reader.module.definition(function)
    if found is None or not found.info:
        return
    for base in found.info.mro[1:]:
        if found.name in base.names and base.fullname != 'builtins.object':
            yield f'{base.fullname}.{found.name}'


def _entries(function: Function, reader: ErrorInference) -> Iterator[ErrorSource]:
    fates = Dispositions(reader, function)
    for node in reader.own_nodes(ast.Call, function):
        yield from _of_call(node, reader, fates)
        for given in (*node.args, *(one.value for one in node.keywords)):
            yield from _of_step(given, node, reader, fates)


def _of_call(node: ast.Call, reader: ErrorInference, fates: Dispositions) -> Iterator[ErrorSource]:
    module = reader.module
    name = module.full_name(node.func)
    if name in FAILURE:
        made = reader.value_classes(node.args[0]) if len(node.args) == 1 else None
        yield from _entry(node, '', made, node, fates)
        return
    match node.func:
        case ast.Attribute(do, 'fail') if node.args and any(
            DO in base_names(one) for one in union_members(module.type_of(do))
        ):
            yield from _entry(node, '', reader.value_classes(node.args[0]), None, fates)
            return
        case ast.Attribute(guard, 'run' | 'run_sync') if any(
            base_names(one) & GUARDS for one in union_members(module.type_of(guard))
        ):
            yield from _entry(node, '', reader.guard_errors(guard), node, fates)
            return
        case ast.Attribute(receiver) if any(
            RESULT in base_names(one) for one in union_members(module.type_of(receiver))
        ):
            return
        case _:
            pass
    if _is_own(name) or any(
        DO in base_names(one) for one in union_members(module.type_of(node.func))
    ):
        return
    if errors_in(module.type_of(node)) is not None:
        yield from _entry(node, reader.callee_name(node), reader.errors_of(node), node, fates)


def _of_step(
    given: ast.expr, call: ast.Call, reader: ErrorInference, fates: Dispositions
) -> Iterator[ErrorSource]:
    """Read a function that is handed over as a step: what it fails with comes in here, and goes where the call's result goes."""
    if not isinstance(given, ast.Name | ast.Attribute):
        return
    found = next(iter(union_members(reader.module.type_of(given))), None)
    if isinstance(found, CallableType) and not found.is_type_obj():
        errors = reader.returned_errors(given)
        if errors:
            yield from _entry(given, reader.qualified_name(given), errors, call, fates)
    elif isinstance(found, CallableType) and _makes(call, reader.module):
        yield from _entry(given, '', errors_of_type(found.ret_type), call, fates)


def _makes(call: ast.Call, module: Module) -> bool:
    """Whether a class that is handed over is made into errors: `.alt(K)`, `.becomes(K)`."""
    return isinstance(call.func, ast.Attribute) and (
        (call.func.attr == 'alt' and channel_of(module.type_of(call.func.value)) is not None)
        or call.func.attr == 'becomes'
    )


def _entry(
    node: ast.expr,
    callee: str,
    errors: ErrorSet | None,
    result: ast.expr | None,
    fates: Dispositions,
) -> Iterator[ErrorSource]:
    errors = without_type_variables(errors or NO_ERRORS)
    if not errors:
        return
    where = fates.module.location_of(node)
    if result is None or (
        channel_of(fates.module.type_of(result)) is None
        and errors_in(fates.module.type_of(result)) is None
    ):
        yield ErrorSource(where, callee, tuple(sorted(errors)))
        return
    fate = fates.of_result(result, errors)
    yield ErrorSource(
        where,
        callee,
        tuple(sorted(errors)),
        tuple(sorted(fate.handled)),
        tuple(sorted(fate.lost(errors))),
    )


def _is_own(name: str) -> bool:
    """Whether a function is one of this library's steps, which bring nothing of their own."""
    return name.rpartition('.')[0] in {
        'seamwise.compose',
        'seamwise.many',
        'seamwise.many_async',
        'seamwise.edges',
        'seamwise.containers',
    }


def _shows(function: Function, reader: ErrorInference) -> Iterator[SeamUse]:
    module = reader.module
    for node in reader.own_nodes(ast.Call, function):
        seam = seam_of_call(node, module)
        handed = _handed(node, reader) if seam else NO_ERRORS
        if handed:
            yield SeamUse(module.location_of(node), seam, tuple(sorted(handed)))
    for decorator in function.decorator_list:
        seam = next(
            (
                name
                for one in walk(decorator)
                if isinstance(one, ast.expr) and (name := seam_of_adapter(one, module))
            ),
            '',
        )
        errors = inferred_errors(function, reader) if seam else None
        if errors:
            yield SeamUse(module.location_of(function), seam, tuple(sorted(errors)))


def _handed(call: ast.Call, reader: ErrorInference) -> ErrorSet:
    """Give the errors that a call is handed: as they are, or in a result."""
    found: dict[str, TypeInfo] = {}
    for one in (*call.args, *(keyword.value for keyword in call.keywords)):
        in_result = (
            reader.errors_of(one) if errors_in(reader.module.type_of(one)) is not None else None
        )
        if in_result is not None:
            found.update(in_result)
            continue
        given = reader.value_classes(one)
        found.update(
            {
                name: info
                for name, info in (given or NO_ERRORS).items()
                if any(base.fullname == 'seamwise.errors.TaggedError' for base in info.mro)
            }
        )
    return found


def seam_of_call(call: ast.Call, module: Module) -> str:
    """Give the seam that a call shows an error at: by its adapter, or by the shape that it gives; empty for none."""
    own = seam_of_adapter(call.func, module)
    if own:
        return own
    for one in (*call.args, *(keyword.value for keyword in call.keywords)):
        given = seam_of_adapter(one, module)
        if given:
            return given
    typed = module.type_of(call)
    return next(
        (
            found
            for one in union_members(typed)
            if isinstance(one, Instance) and (found := _seam(one.type.fullname))
        ),
        '',
    )


def seam_of_adapter(node: ast.expr, module: Module) -> str:
    """Give the seam of an adapter, by its shape; empty for what is none."""
    for one in union_members(module.type_of(node)):
        if isinstance(one, Instance) and one.type.fullname == ADAPTER and len(one.args) == 2:  # noqa: PLR2004 -- errors and shape
            shape = next(
                (part for part in union_members(one.args[1]) if isinstance(part, Instance)), None
            )
            return '' if shape is None else _seam(shape.type.fullname) or shape.type.name
    return ''


def _seam(shape: str) -> str:
    """Give the name of the seam that a shape belongs to: its folder in `seamwise.seams`."""
    folder = shape.removeprefix(SEAMS).split('.')
    return (
        folder[0]
        if shape.startswith(SEAMS)
        and len(folder) > 1
        and not folder[0].startswith('_')
        and folder[0] != 'adapter'
        else ''
    )
