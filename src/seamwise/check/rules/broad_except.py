"""# SW103: `except` that swallows defects or cancellation

Catch only the exceptions that you expect, with `attempt` or with `except` of their classes.
`except Exception` also catches every bug and turns it into a default, a wrong answer, or silence.
`except BaseException` and a bare `except` also catch cancellation, so that the task cannot be
stopped.

```python
from seamwise import attempt, when
```

Reported:

```python
def read_port(text: str) -> int:
    try:
        return int(text)
    except Exception:
        return 8080
```

Fixed:

```python
def port_of(text: str) -> int:
    return attempt(lambda: int(text), when(ValueError).becomes(str)).value_or(8080)
```

| Code | Reported |
| --- | --- |
| `contextlib.suppress(Exception)`, `suppress(BaseException)` | yes |
| `except Exception` that logs the exception with its traceback | as a warning |
| `return`, `break` or `continue` in `finally`, which end every exception | yes |
| `asyncio.gather(…, return_exceptions=True)` as a statement of its own | yes |
| A `gather` of tasks that the function has cancelled | no |
| A handler that ends in `raise`, or raises the exception again on a branch | no |
| A handler that passes the exception to `set_exception`, or keeps it and raises it later | no |
| A handler that stores the exception itself in a public attribute, where others can read it | no |
| A handler that sends the exception to a queue or a stream, also in another object | no |
| A handler that returns or yields the exception itself | no |
| A handler that calls `sys.excepthook`, or `call_exception_handler` of a loop | no |
| A handler that makes the exception the cause of another one that is raised later | no |
| A handler that passes the exception to a function of the same file that does one of these | no |
| A handler that ends in a call that never returns (type `NoReturn`), such as `sys.exit` | no |
| `except Exception` that passes the exception to `report_defect`, as an outermost seam does | no |
"""

import ast
from collections.abc import Iterator, Sequence

from seamwise.check._mypy.types import CallableType, Instance, UninhabitedType, get_proper_type
from seamwise.check.findings import RawFinding
from seamwise.check.rules.kept_exceptions import (
    cancels_before,
    helper_of,
    leaving_statements,
    logs_traceback,
    passes_on,
)
from seamwise.check.rules.rule import Rule
from seamwise.check.typed_ast.channels import union_members
from seamwise.check.typed_ast.program import Module, walk

_BROAD = frozenset({'builtins.Exception', 'builtins.BaseException'})
_SUPPRESS = 'contextlib.suppress'
_REPORT_DEFECT = 'seamwise.defects.report_defect'
_GATHER = frozenset({'asyncio.tasks.gather', 'asyncio.gather'})
_HELP = (
    'Name the expected exceptions, end in `raise`,'
    ' or (for `except Exception`) pass the exception to `report_defect`.'
)


def _find_broad_handlers(module: Module) -> Iterator[RawFinding]:
    for handler in module.nodes_of_type(ast.ExceptHandler):
        yield from _check_handler(handler, module)
    for call in module.nodes_of_type(ast.Call):
        name = module.full_name(call.func)
        if name == _SUPPRESS:
            yield from _check_suppress(call, module)
        elif name in _GATHER:
            yield from _check_gather(call, module)
    for statement in module.nodes_of_type(ast.Try):
        yield from _check_finally(statement.finalbody)
    for group_statement in module.nodes_of_type(ast.TryStar):
        yield from _check_finally(group_statement.finalbody)


def _check_handler(node: ast.ExceptHandler, module: Module) -> Iterator[RawFinding]:
    classes = _BROAD if node.type is None else _broad_classes(node.type, module)
    if not classes or _ends_in_raise(node.body, module) or passes_on(node, module):
        return
    handler = 'A bare `except`' if node.type is None else f'`except {ast.unparse(node.type)}`'
    if 'builtins.BaseException' in classes:
        yield RawFinding(node, f'{handler} {_effect(classes)}.', _HELP)
    elif logs_traceback(node, module):
        message = f'{handler} logs every defect, and continues as if nothing had happened.'
        yield RawFinding(node, message, _HELP, severity='warning')
    elif not _reports_defect(node, module):
        yield RawFinding(node, f'{handler} {_effect(classes)}.', _HELP)


def _check_finally(body: Sequence[ast.stmt]) -> Iterator[RawFinding]:
    for node in leaving_statements(body):
        word = type(node).__name__.lower()
        yield RawFinding(
            node,
            f'`{word}` in `finally` swallows every defect and cancellation.',
            f'Move the `{word}` behind the `try` statement.',
        )


def _check_gather(call: ast.Call, module: Module) -> Iterator[RawFinding]:
    if not any(
        keyword.arg == 'return_exceptions'
        and isinstance(keyword.value, ast.Constant)
        and keyword.value.value is True
        for keyword in call.keywords
    ):
        return
    awaited = module.parents.get(call)
    statement = module.parents.get(awaited) if isinstance(awaited, ast.Await) else awaited
    if isinstance(statement, ast.Expr) and not cancels_before(call, module):
        yield RawFinding(
            call,
            '`return_exceptions=True` swallows every defect: the exceptions are discarded.',
            'Read the returned list, or use an `asyncio.TaskGroup`.',
        )


def _check_suppress(node: ast.Call, module: Module) -> Iterator[RawFinding]:
    classes = frozenset[str]().union(*(_broad_classes(item, module) for item in node.args))
    if not classes:
        return
    item = module.parents.get(node)
    parent = module.parents.get(item) if isinstance(item, ast.withitem) else None
    yield RawFinding(
        parent if isinstance(parent, ast.With | ast.AsyncWith) else node,
        f'`{ast.unparse(node)}` {_effect(classes)}.',
        'Name the expected exceptions.',
    )


def _effect(classes: frozenset[str]) -> str:
    if 'builtins.BaseException' in classes:
        return 'swallows every defect and cancellation'
    return 'swallows every defect'


def _broad_classes(node: ast.expr, module: Module) -> frozenset[str]:
    if isinstance(node, ast.Tuple):
        return frozenset[str]().union(*(_broad_classes(item, module) for item in node.elts))
    names = {module.full_name(node)}
    type_ = module.type_of(node)
    if isinstance(type_, CallableType) and type_.is_type_obj():
        instance = get_proper_type(type_.ret_type)
        if isinstance(instance, Instance):
            # The class may be bound to another name: `Anything = Exception`.
            names.add(instance.type.fullname)
    return _BROAD & names


def _ends_in_raise(body: Sequence[ast.stmt], module: Module) -> bool:
    match body[-1] if body else None:
        case ast.Raise():
            return True
        case ast.Expr(ast.Call() as call) | ast.Expr(ast.Await(ast.Call()) as call):
            # `sys.exit(1)` and functions typed as NoReturn never return.
            return isinstance(module.type_of(call), UninhabitedType)
        case ast.If(_, branch, orelse):
            return _ends_in_raise(branch, module) and _ends_in_raise(orelse, module)
        case ast.With(items, block) | ast.AsyncWith(items, block):
            return _ends_in_raise(block, module) or any(
                _never_exits(item.context_expr, module) for item in items
            )
        case ast.Try(block, handlers, orelse, finalbody) | ast.TryStar(
            block, handlers, orelse, finalbody
        ):
            ends = _ends_in_raise(orelse or block, module) and all(
                _ends_in_raise(handler.body, module) for handler in handlers
            )
            return ends or _ends_in_raise(finalbody, module)
        case ast.Match(_, cases):
            last = cases[-1]
            is_exhaustive = (
                last.guard is None
                and isinstance(last.pattern, ast.MatchAs)
                and last.pattern.pattern is None
            )
            return is_exhaustive and all(_ends_in_raise(arm.body, module) for arm in cases)
        case _:
            return False


def _never_exits(manager: ast.expr, module: Module) -> bool:
    """Return whether the `__exit__` of a context manager is typed as NoReturn."""
    for member in union_members(module.type_of(manager)):
        if not isinstance(member, Instance):
            continue
        method = member.type.get_method('__exit__') or member.type.get_method('__aexit__')
        type_ = get_proper_type(method.type) if method is not None and method.type else None
        if isinstance(type_, CallableType) and isinstance(
            get_proper_type(type_.ret_type), UninhabitedType
        ):
            return True
    return False


def _reports_defect(handler: ast.ExceptHandler, module: Module) -> bool:
    """Return whether the handler passes its exception to `report_defect`, or to such a helper."""
    for statement in handler.body:
        for node in walk(statement):
            if not isinstance(node, ast.Call):
                continue
            if _is_report(node, handler.name, module):
                return True
            helper = helper_of(node, handler.name, module)
            if helper is not None and any(
                isinstance(child, ast.Call) and _is_report(child, helper.parameter, module)
                for child in walk(helper.function)
            ):
                return True
    return False


def _is_report(call: ast.Call, name: str | None, module: Module) -> bool:
    """Return whether a call passes the exception of a name to `report_defect`."""
    return module.full_name(call.func) == _REPORT_DEFECT and any(
        isinstance(argument, ast.Name) and argument.id == name
        for argument in (*call.args, *(keyword.value for keyword in call.keywords))
    )


RULE = Rule(
    'SW103',
    '`except` that swallows defects or cancellation',
    'error',
    __doc__ or '',
    _find_broad_handlers,
)
