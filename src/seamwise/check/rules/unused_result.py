"""# SW101: discarded Result.

Use the return value of every function that returns a Result. If you discard it, its error is lost
silently, because no exception is raised either.

```python
from seamwise import Category, Failure, Result, Success, TaggedError


class DiskFull(TaggedError, category=Category.RESOURCE, message='No room for {name!r}.'):
    name: str


def save(name: str) -> Result[None, DiskFull]:
    return Failure(DiskFull(name)) if name == 'big' else Success(None)
```

Reported:

```python
def save_all(names: list[str]) -> str:
    for name in names:
        save(name)
    return 'saved'
```

Fixed:

```python
def save_each(names: list[str]) -> Result[str, DiskFull]:
    for name in names:
        saved = save(name)
        if isinstance(saved, Failure):
            return saved
    return Success('saved')
```

| Expression | Reported |
| --- | --- |
| A Result as a statement, also after `await` | yes |
| A tuple, list or dict of Results, or a task that returns one | yes |
| A lambda that returns a Result to a caller that ignores its return value | yes |
| A Result in a local name that is never read | yes |
| A Result that is matched, unwrapped, passed, returned, yielded or stored | no |
| `_ = save(…)`, which discards the Result explicitly | no |
"""

import ast
from collections.abc import Iterable, Iterator

from mypy.types import (
    CallableType,
    Instance,
    LiteralType,
    NoneType,
    Overloaded,
    Type,
    UnionType,
    get_proper_type,
)

from seamwise.check.findings import RawFinding
from seamwise.check.liveness import bound_names, unread_assignments
from seamwise.check.rules.rule import Rule
from seamwise.check.typed_ast.channels import (
    CONTAINERS,
    Channel,
    awaited_type,
    base_names,
    channel_of,
    contained_channel,
    format_types,
    union_members,
)
from seamwise.check.typed_ast.program import FUNCTIONS, Function, Module, walk

_HELP = 'Match it, return it, or pass it to `do` or to a step; to discard it, write `_ = …`.'
_RAISES_CONTEXTS = frozenset({
    '_pytest.raises.RaisesExc', '_pytest.raises.RaisesGroup', '_pytest.python_api.RaisesContext',
    'unittest.case._AssertRaisesContext',
})  # fmt: skip
_MAX_CODE = 60
"""Longest code excerpt in a message, in characters."""
_STORES = CONTAINERS | {'typing.MutableMapping', 'typing.MutableSequence'}


def _find_discarded_results(module: Module) -> Iterator[RawFinding]:
    for statement in module.nodes_of_type(ast.Expr):
        yield from _check_statement(statement, module)
    for callback in module.nodes_of_type(ast.Lambda):
        yield from _check_lambda(callback, module)
    for function in _functions_binding_results(module):
        yield from _check_local_names(function, module)


def _check_statement(statement: ast.Expr, module: Module) -> Iterator[RawFinding]:
    value = statement.value
    # A name on its own counts as read, and a walrus is an assignment.
    if isinstance(value, ast.Name | ast.Attribute | ast.NamedExpr | ast.Yield | ast.YieldFrom):
        return
    channel = _result_channel(value, module)
    if channel is None or _comes_from_store(value, module):
        return
    if not _must_raise(statement, module):
        message = f'The Result of {_excerpt(value)} is discarded{_lost_errors(channel)}.'
        yield RawFinding(statement, message, _HELP)


def _comes_from_store(value: ast.expr, module: Module) -> bool:
    """Return whether the Result was stored before, as in `results.pop()`, `cache.setdefault(…)`."""
    if not isinstance(value, ast.Call) or not isinstance(value.func, ast.Attribute):
        return False
    owners = union_members(module.type_of(value.func.value))
    return any(base_names(owner) & _STORES for owner in owners)


def _must_raise(statement: ast.Expr, module: Module) -> bool:
    """Return whether a test expects the statement to raise: the last one in `pytest.raises(…)`."""
    parent = module.parents.get(statement)
    if not isinstance(parent, ast.With | ast.AsyncWith) or parent.body[-1] is not statement:
        return False
    managers = [
        manager
        for item in parent.items
        for manager in union_members(module.type_of(item.context_expr))
    ]
    return any(base_names(manager) & _RAISES_CONTEXTS for manager in managers)


def _check_lambda(function: ast.Lambda, module: Module) -> Iterator[RawFinding]:
    parent = module.parents.get(function)
    if isinstance(parent, ast.keyword):
        call = module.parents.get(parent)
        if isinstance(call, ast.Call) and parent.arg is not None:
            yield from _check_callback(function, call, parent.arg, module)
    elif isinstance(parent, ast.Call) and function in parent.args:
        index = parent.args.index(function)
        # The position of an argument after `*names` is unknown.
        if not any(isinstance(argument, ast.Starred) for argument in parent.args[:index]):
            yield from _check_callback(function, parent, index, module)


def _check_callback(
    function: ast.Lambda, call: ast.Call, parameter: int | str, module: Module
) -> Iterator[RawFinding]:
    channel = _result_channel(function.body, module)
    if channel is None or not _ignores_return_value(call, parameter, module):
        return
    yield RawFinding(
        function.body,
        f'The Result of {_excerpt(function.body)} is discarded{_lost_errors(channel)}:'
        ' the caller ignores the return value of this lambda.',
        'Pass a function that handles the Result, with `tap_error`, a log or a `match`.',
    )


def _ignores_return_value(call: ast.Call, parameter: int | str, module: Module) -> bool:
    """Return whether a parameter is typed as a function that returns None or any object."""
    if (
        isinstance(call.func, ast.Attribute)
        and channel_of(module.type_of(call.func.value)) is not None
    ):
        # A Failure never calls the function passed to `map` or `bind`.
        return False
    signatures = [
        signature
        for member in union_members(module.type_of(call.func))
        for signature in (member.items if isinstance(member, Overloaded) else [member])
    ]
    return bool(signatures) and all(
        isinstance(signature, CallableType) and _expects_no_value(signature, parameter)
        for signature in signatures
    )


def _expects_no_value(signature: CallableType, parameter: int | str) -> bool:
    argument = (
        signature.argument_by_position(parameter)
        if isinstance(parameter, int)
        else signature.argument_by_name(parameter)
    )
    if argument is None:
        return False
    declared = get_proper_type(argument.typ)
    options = (
        [get_proper_type(item) for item in declared.items]
        if isinstance(declared, UnionType)
        else [declared]
    )
    functions = [option for option in options if isinstance(option, CallableType)]
    return bool(functions) and all(_is_none_or_object(function.ret_type) for function in functions)


def _is_none_or_object(type_: Type) -> bool:
    proper = get_proper_type(type_)
    return isinstance(proper, NoneType) or (
        isinstance(proper, Instance) and proper.type.fullname == 'builtins.object'
    )


def _functions_binding_results(module: Module) -> Iterable[Function]:
    """Return the functions that bind a Result to a name; only these need live-variable analysis."""
    functions: dict[Function, None] = {}
    assignments: list[tuple[ast.AST, ast.expr | None]] = [
        (node, node.value) for node in module.nodes_of_type(ast.Assign)
    ]
    assignments += [(node, node.value) for node in module.nodes_of_type(ast.AnnAssign)]
    assignments += [(node, node.value) for node in module.nodes_of_type(ast.NamedExpr)]
    for node, value in assignments:
        if value is not None and (
            isinstance(value, ast.Tuple) or _result_channel(value, module) is not None
        ):
            functions.update(dict.fromkeys(_enclosing_functions(node, module)))
    targets: list[tuple[ast.AST, ast.expr | None]] = [
        (node, node.target) for node in module.nodes_of_type(ast.For)
    ]
    targets += [(node, node.target) for node in module.nodes_of_type(ast.AsyncFor)]
    targets += [(node, node.optional_vars) for node in module.nodes_of_type(ast.withitem)]
    for node, target in targets:
        if target is None:
            continue
        names = bound_names(target)
        if any(contained_channel(module.variable_type(name)) is not None for name in names):
            functions.update(dict.fromkeys(_enclosing_functions(node, module)))
    return functions


def _enclosing_functions(node: ast.AST, module: Module) -> Iterator[Function]:
    """Yield the functions around a node, the innermost first."""
    parent = module.parents.get(node)
    while parent is not None:
        if isinstance(parent, FUNCTIONS):
            yield parent
        parent = module.parents.get(parent)


def _check_local_names(
    function: ast.FunctionDef | ast.AsyncFunctionDef, module: Module
) -> Iterator[RawFinding]:
    unread = {
        name
        for name in unread_assignments(function, lambda item: _may_suppress(item, module))
        if name.id != '_'
    }
    if not unread:
        return
    for node in walk(function):
        if isinstance(node, ast.Assign):
            yield from _check_assignment(node, node.targets, node.value, unread, module)
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            yield from _check_assignment(node, [node.target], node.value, unread, module)
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.NamedExpr):
            walrus = node.value
            yield from _check_assignment(node, [walrus.target], walrus.value, unread, module)
        elif isinstance(node, ast.For | ast.AsyncFor):
            yield from _check_target(node, node.target, unread, module)
        elif isinstance(node, ast.With | ast.AsyncWith):
            for item in node.items:
                if item.optional_vars is not None:
                    yield from _check_target(node, item.optional_vars, unread, module)


def _check_assignment(
    statement: ast.stmt,
    targets: list[ast.expr],
    value: ast.expr,
    unread: set[ast.Name],
    module: Module,
) -> Iterator[RawFinding]:
    if (
        len(targets) == 1
        and isinstance(targets[0], ast.Tuple)
        and isinstance(value, ast.Tuple)
        and len(targets[0].elts) == len(value.elts)
    ):
        for target, part in zip(targets[0].elts, value.elts, strict=True):
            yield from _check_assignment(statement, [target], part, unread, module)
        return
    if len(targets) == 1 and isinstance(targets[0], ast.Tuple | ast.List):
        yield from _check_target(statement, targets[0], unread, module)
        return
    names = [target for target in targets if isinstance(target, ast.Name)]
    if len(names) < len(targets) or not all(name in unread for name in names):
        return
    if isinstance(value, ast.Name | ast.Attribute):
        return
    channel = _result_channel(value, module)
    if channel is not None and not _comes_from_store(value, module):
        yield _unread_name(statement, names[0], channel)


def _check_target(
    statement: ast.stmt, target: ast.expr, unread: set[ast.Name], module: Module
) -> Iterator[RawFinding]:
    for name in bound_names(target):
        channel = contained_channel(module.variable_type(name)) if name in unread else None
        if channel is not None:
            yield _unread_name(statement, name, channel)


def _unread_name(statement: ast.stmt, name: ast.Name, channel: Channel) -> RawFinding:
    message = f'The Result in `{name.id}` is never read{_lost_errors(channel)}.'
    return RawFinding(statement, message, _HELP)


def _may_suppress(item: ast.withitem, module: Module) -> bool:
    """Return whether a context manager may suppress exceptions: its `__exit__` returns bool.

    Type checkers agree on this convention of PEP 484.
    """
    managers = list(union_members(module.type_of(item.context_expr)))
    return not managers or any(_exit_may_suppress(manager) for manager in managers)


def _exit_may_suppress(manager: object) -> bool:
    if not isinstance(manager, Instance):
        return True
    methods = [manager.type.get_method(name) for name in ('__exit__', '__aexit__')]
    types = [
        get_proper_type(method.type)
        for method in methods
        if method is not None and method.type is not None
    ]
    return not types or any(
        not isinstance(type_, CallableType) or _may_return_true(type_) for type_ in types
    )


def _may_return_true(method: CallableType) -> bool:
    for declared in union_members(method.ret_type):
        for member in union_members(awaited_type(declared) or declared):
            if isinstance(member, LiteralType) and member.value is False:
                continue
            if not isinstance(member, NoneType):
                return True
    return False


def _result_channel(value: ast.expr, module: Module) -> Channel | None:
    channels = map(contained_channel, module.types_of(value))
    return next((channel for channel in channels if channel is not None), None)


def _lost_errors(channel: Channel) -> str:
    if not channel.errors:
        return ''
    errors = 'its error is lost' if len(channel.errors) == 1 else 'its errors are lost'
    return f'; {errors} ({format_types(channel.errors)})'


def _excerpt(value: ast.expr) -> str:
    if isinstance(value, ast.Await):
        value = value.value
    if not isinstance(value, ast.Call):
        return 'this expression'
    callee = ast.unparse(value.func)
    return f'`{callee}(…)`' if len(callee) <= _MAX_CODE else 'this call'


RULE = Rule('SW101', 'discarded Result', 'error', __doc__ or '', _find_discarded_results)
