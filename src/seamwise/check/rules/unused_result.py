"""# SW101: discarded Result

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
| A property that returns a Result, as a statement | yes |
| `partition(results)` as a statement, whose errors are lost | yes |
| A tuple, list or dict of Results, or a task that returns one | yes |
| A list that creates such tasks: `[group.create_task(load(name)) for name in names]` | yes |
| A lambda that returns a Result to a caller that ignores its return value | yes |
| A function handed over to such a caller: `atexit.register(save)`, `Thread(target=save)` | yes |
| A function, a method or a `partial` for a parameter such as `Callable[[int], object]` | yes |
| A list of tasks that is only filled, or passed to `asyncio.wait` | yes |
| A task that the function has cancelled, whose end it awaits | no |
| A Result in a local name that is never read | yes |
| A loop that overwrites the Result of each iteration, so that only the last one is read | yes |
| An `IOResult` or `FutureResult` of `returns` in one of these places | yes |
| A Result that is matched, unwrapped, passed, returned, yielded or stored | no |
| A Result whose error `tap_error` passes to a function: `tap_error(save(…), log_error)` | no |
| `_ = save(…)`, which discards the Result explicitly | no |
| `reveal_type(save(…))` and `assert_type(…)`, which are for type checkers | no |

`--fix` passes the Result to `do`, or returns its failure, if the channel of the function contains
all of its errors. Editors offer `_ = …` too.
"""

import ast
from collections.abc import Iterable, Iterator, Sequence

from seamwise.check._mypy.type_operations import is_property
from seamwise.check._mypy.types import (
    CallableType,
    Instance,
    LiteralType,
    NoneType,
    Overloaded,
    Type,
    UnionType,
    get_proper_type,
)
from seamwise.check.facts import QuickFix
from seamwise.check.findings import RawFinding
from seamwise.check.inference import inference_of
from seamwise.check.inference.data_flow.liveness import bound_names, unread_assignments
from seamwise.check.inference.edits.annotations import node_edit, node_source
from seamwise.check.inference.fixes.propagation import discarded_result_edits
from seamwise.check.rules.cancelled_tasks import cancels_before
from seamwise.check.rules.discarding_calls import discarded_functions, discarding_decorator
from seamwise.check.rules.overwritten_result import overwritten_assignments
from seamwise.check.rules.rule import Rule
from seamwise.check.rules.task_lists import unread_task_lists
from seamwise.check.typed_ast.channels import (
    CONTAINERS,
    Channel,
    any_channel_of,
    awaited_type,
    base_names,
    call_result_type,
    channel_of,
    contained_channel,
    format_types,
    item_type,
    returned_type,
    union_members,
)
from seamwise.check.typed_ast.program import FUNCTIONS, Function, Module, call_arguments, walk

_HELP = 'Match it, return it, or pass it to `do` or to a step; to discard it, write `_ = …`.'
_CALLBACK_HELP = 'Pass a function that handles the Result, with `tap_error`, a log or a `match`.'
_RAISES_CONTEXTS = frozenset({
    '_pytest.raises.RaisesExc', '_pytest.raises.RaisesGroup', '_pytest.python_api.RaisesContext',
    'unittest.case._AssertRaisesContext',
})  # fmt: skip
_MAX_CODE = 60
"""Longest code excerpt in a message, in characters."""
_TAP_ERROR = 'seamwise._results.compose.tap_error'
_PARTITIONS = frozenset({
    'seamwise._results.many.partition', 'seamwise._results.many_async.partition_async',
})  # fmt: skip
_WAITS = frozenset({'asyncio.tasks.gather', 'asyncio.tasks.wait_for'})
_OF_CHECKERS = frozenset({'reveal_type', 'assert_type'})
"""Functions that return their argument, for statements about its type."""
_STORES = CONTAINERS | {'typing.MutableMapping', 'typing.MutableSequence'}


def _find_discarded_results(module: Module) -> Iterator[RawFinding]:
    for statement in module.nodes_of_type(ast.Expr):
        yield from _check_statement(statement, module)
    for callback in module.nodes_of_type(ast.Lambda):
        yield from _check_lambda(callback, module)
    for call in module.nodes_of_type(ast.Call):
        yield from _check_handed_over(call, module)
    for decorated in module.functions():
        yield from _check_decorated(decorated, module)
    for function in _functions_binding_results(module):
        unread = _unread_names(function, module)
        yield from _check_local_names(function, unread, module)
        yield from _check_loops(function, unread, module)
    for function in module.nodes_of_type(ast.AsyncFunctionDef):
        yield from _check_task_lists(function, module)


def _check_statement(statement: ast.Expr, module: Module) -> Iterator[RawFinding]:
    value = statement.value
    # A name on its own counts as read, and a walrus is an assignment.
    if isinstance(value, ast.Name | ast.NamedExpr | ast.Yield | ast.YieldFrom):
        return
    if isinstance(value, ast.Attribute) and not _is_property(value, module):
        return
    channel = _result_channel(value, module) or _partitioned_channel(value, module)
    if channel is None or _comes_from_store(value, module) or _is_of_checkers(value):
        return
    if not _must_raise(statement, module) and not _is_end_of_cancelled(value, module):
        message = f'The Result of {_excerpt(value)} is discarded{_lost_errors(channel)}.'
        edits = discarded_result_edits(statement, inference_of(module))
        yield RawFinding(
            statement, message, _HELP, edits, quick_fixes=(_discard_fix(statement, module),)
        )


def _is_end_of_cancelled(value: ast.expr, module: Module) -> bool:
    """Return whether an expression only awaits the end of tasks that the function has cancelled."""
    match value:
        case ast.Await(ast.Name() | ast.Attribute()):
            return cancels_before(value, module)
        case ast.Await(ast.Call(function)) if module.full_name(function) in _WAITS:
            return cancels_before(value, module)
        case _:
            return False


def _partitioned_channel(value: ast.expr, module: Module) -> Channel | None:
    """Return the channel of the Results whose errors `partition` returns as a list."""
    match value:
        case ast.Await(inner):
            return _partitioned_channel(inner, module)
        case ast.Call(function, [results]) if module.full_name(function) in _PARTITIONS:
            return contained_channel(item_type(module.type_of(results)))
        case _:
            return None


def _is_of_checkers(value: ast.expr) -> bool:
    match value:
        case ast.Call(ast.Name(name) | ast.Attribute(_, name)):
            # mypy has no name for a function that it treats specially.
            return name in _OF_CHECKERS
        case _:
            return False


def _is_property(value: ast.Attribute, module: Module) -> bool:
    """Return whether an attribute is a property, which calls a function each time it is read."""
    return any(
        isinstance(owner, Instance) and is_property(owner, value.attr)
        for owner in union_members(module.type_of(value.value))
    )


def _discard_fix(statement: ast.Expr, module: Module) -> QuickFix:
    text = node_source(statement.value, module)
    return QuickFix(
        'Discard the Result explicitly', (node_edit(statement.value, f'_ = {text}', module),)
    )


def _comes_from_store(value: ast.expr, module: Module) -> bool:
    """Return whether the Result was stored before, as in `results.pop()`, `cache.setdefault(…)`."""
    if not isinstance(value, ast.Call) or not isinstance(value.func, ast.Attribute):
        return False
    # A class such as `contextvars.Context` is a Mapping, but its `run` is not a method of one.
    return any(
        base.fullname in _STORES and value.func.attr in base.names
        for owner in union_members(module.type_of(value.func.value))
        if isinstance(owner, Instance)
        for base in owner.type.mro
    )


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
    channel = _result_channel(function.body, module)
    if channel is None or not _is_passed_to_ignoring_callee(function, module):
        return
    yield RawFinding(
        function.body,
        f'The Result of {_excerpt(function.body)} is discarded{_lost_errors(channel)}:'
        ' the caller ignores the return value of this lambda.',
        _CALLBACK_HELP,
    )


def _is_passed_to_ignoring_callee(function: ast.expr, module: Module) -> bool:
    """Return whether an argument is typed as a function that returns None or any object."""
    is_lambda = isinstance(function, ast.Lambda)
    parent = module.parents.get(function)
    if isinstance(parent, ast.keyword):
        call = module.parents.get(parent)
        return (
            isinstance(call, ast.Call)
            and parent.arg is not None
            and _ignores_return_value(call, parent.arg, module, is_lambda=is_lambda)
        )
    if isinstance(parent, ast.Call) and function in parent.args:
        index = parent.args.index(function)
        # The position of an argument after `*names` is unknown.
        return not any(
            isinstance(argument, ast.Starred) for argument in parent.args[:index]
        ) and _ignores_return_value(parent, index, module, is_lambda=is_lambda)
    return False


def _ignores_return_value(
    call: ast.Call, parameter: int | str, module: Module, *, is_lambda: bool
) -> bool:
    """Return whether a parameter is typed as a function that returns None or any object.

    Only a lambda is certainly written for this call. Another function may be examined, as by a
    registry that takes `Callable[..., object]`, or its value returned as an object.
    """
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
        isinstance(signature, CallableType)
        and _expects_no_value(signature, parameter, is_lambda=is_lambda)
        for signature in signatures
    )


def _expects_no_value(signature: CallableType, parameter: int | str, *, is_lambda: bool) -> bool:
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
    if not is_lambda and (
        not _returns_nothing(signature) or any(function.is_ellipsis_args for function in functions)
    ):
        return False
    return bool(functions) and all(_is_none_or_object(function.ret_type) for function in functions)


def _returns_nothing(signature: CallableType) -> bool:
    """Return whether a function returns None, or a function that removes the callback."""
    members = union_members(returned_type(signature.ret_type))
    return all(isinstance(member, NoneType | CallableType) for member in members)


def _is_none_or_object(type_: Type) -> bool:
    proper = get_proper_type(type_)
    return isinstance(proper, NoneType) or (
        isinstance(proper, Instance) and proper.type.fullname == 'builtins.object'
    )


def _check_handed_over(call: ast.Call, module: Module) -> Iterator[RawFinding]:
    """Check a function that is passed to another one, which discards its return value."""
    handed_over = dict(discarded_functions(call, module))
    for argument in call_arguments(call):
        if _may_be_function(argument) and argument not in handed_over:
            returned = _channel_of_function(argument, module)
            if returned is not None and _is_passed_to_ignoring_callee(argument, module):
                handed_over[argument] = ast.unparse(call.func)
    for argument, callee in handed_over.items():
        if isinstance(argument, ast.Lambda):
            returned = _result_channel(argument.body, module)
            if _is_passed_to_ignoring_callee(argument, module):
                # Reported as a lambda already.
                continue
        else:
            returned = _channel_of_function(argument, module)
        if returned is not None:
            yield RawFinding(
                argument,
                f'`{callee}` discards the Result of {_function_excerpt(argument)}'
                f'{_lost_errors(returned)}.',
                _CALLBACK_HELP,
            )


def _may_be_function(argument: ast.expr) -> bool:
    """Return whether an argument is a name, or a call as of `functools.partial`."""
    return isinstance(argument, ast.Name | ast.Attribute | ast.Call)


def _channel_of_function(function: ast.expr, module: Module) -> Channel | None:
    channels = (contained_channel(call_result_type(type_)) for type_ in module.types_of(function))
    return next((channel for channel in channels if channel is not None), None)


def _check_decorated(function: Function, module: Module) -> Iterator[RawFinding]:
    decorator = discarding_decorator(function.decorator_list, module)
    declared = module.declared_type(function) if decorator is not None else None
    channel = contained_channel(declared.ret_type) if declared is not None else None
    if decorator is not None and channel is not None:
        yield RawFinding(
            decorator,
            f'`{ast.unparse(decorator)}` discards the Result of `{function.name}`'
            f'{_lost_errors(channel)}.',
            _CALLBACK_HELP,
        )


def _function_excerpt(function: ast.expr) -> str:
    if isinstance(function, ast.Lambda):
        return 'this lambda'
    text = ast.unparse(function)
    return f'`{text}`' if len(text) <= _MAX_CODE else 'this function'


def _check_loops(function: Function, unread: set[ast.Name], module: Module) -> Iterator[RawFinding]:
    for statement, name in overwritten_assignments(function, module):
        if name in unread or statement.value is None:
            continue
        channels = [any_channel_of(type_) for type_ in module.types_of(statement.value)]
        channel = next((channel for channel in channels if channel is not None), None)
        if channel is not None and channel.is_failure:
            yield RawFinding(
                statement,
                f'Only the last Result of this loop is read{_lost_errors(channel)}.',
                'Check it in the loop, or combine the Results with `collect` or `accumulate`.',
            )


def _check_task_lists(function: Function, module: Module) -> Iterator[RawFinding]:
    for statement, name, tasks in unread_task_lists(function, module):
        channels = [_channel_of_task(task, module) for task in tasks]
        channel = next((channel for channel in channels if channel is not None), None)
        if channel is not None:
            yield _unread_name(statement, name, channel)


def _channel_of_task(task: ast.expr, module: Module) -> Channel | None:
    awaited = [awaited_type(member) for member in union_members(module.type_of(task))]
    return next((channel for type_ in awaited if (channel := contained_channel(type_))), None)


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
    return (outer for outer in module.ancestors(node) if isinstance(outer, FUNCTIONS))


def _unread_names(function: Function, module: Module) -> set[ast.Name]:
    return {
        name
        for name in unread_assignments(function, lambda item: _may_suppress(item, module))
        if name.id != '_'
    }


def _check_local_names(
    function: Function, unread: set[ast.Name], module: Module
) -> Iterator[RawFinding]:
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
    """Return the channel of a value that contains a Result; None if its error is handled."""
    if isinstance(value, ast.Call) and module.full_name(value.func) == _TAP_ERROR:
        return None
    channels = [contained_channel(type_) for type_ in module.types_of(value)]
    channels += [
        _result_channel(element, module)
        for element in _elements(value)
        if isinstance(element, ast.Call) and not _comes_from_store(element, module)
    ]
    return next((channel for channel in channels if channel is not None), None)


def _elements(value: ast.expr) -> Sequence[ast.expr]:
    """Return the elements of a display or comprehension, also for tasks that only it contains."""
    match value:
        case ast.List(elements) | ast.Tuple(elements) | ast.Set(elements):
            return elements
        case ast.Dict(_, elements):
            return elements
        case ast.ListComp(element) | ast.SetComp(element) | ast.DictComp(_, element):
            return [element]
        case _:
            return ()


def _lost_errors(channel: Channel) -> str:
    if not channel.errors:
        return ''
    errors = 'its error is lost' if len(channel.errors) == 1 else 'its errors are lost'
    return f'; {errors} ({format_types(channel.errors)})'


def _excerpt(value: ast.expr) -> str:
    if isinstance(value, ast.Await):
        value = value.value
    if isinstance(value, ast.Attribute):
        text = ast.unparse(value)
        return f'`{text}`' if len(text) <= _MAX_CODE else 'this property'
    if not isinstance(value, ast.Call):
        return 'this expression'
    callee = ast.unparse(value.func)
    return f'`{callee}(…)`' if len(callee) <= _MAX_CODE else 'this call'


RULE = Rule('SW101', 'discarded Result', 'error', __doc__ or '', _find_discarded_results)
