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
| `except (Exception, asyncio.CancelledError)` in a coroutine, also with a log | yes |
| `return Failure(error)` or `return Failure(str(error))`: a bug becomes an expected error | yes |
| `return`, `break` or `continue` in `finally`, which end every exception | yes |
| `asyncio.gather(…, return_exceptions=True)` as a statement of its own | yes |
| A `gather` of tasks that the function has cancelled, or of what they may be | no |
| A handler that ends in `raise`, or raises the exception again on a branch | no |
| A handler or `suppress` for the clean-up in another handler that ends in a bare `raise` | no |
| A handler that passes the exception to `set_exception`, or keeps it and raises it later | no |
| A handler that gives `set_exception` to `call_soon` or `call_soon_threadsafe` with it | no |
| A handler that stores the exception itself in a public attribute, where others can read it | no |
| A handler that stores it in a private attribute that a method of the file returns | no |
| A handler that sends the exception to a queue or a stream, also in another object | no |
| A handler that returns or yields the exception itself, also in an object or a collection | no |
| A handler that calls `sys.excepthook`, or `call_exception_handler` of a loop | no |
| A handler that makes the exception the cause of another one that is raised later | no |
| A handler that passes the exception to a function of a checked file that does one of these | no |
| One that ends in `return Failure(…)`, if all callers of the function raise that error | no |
| A handler that ends in a call that never returns, such as `sys.exit` | no |
| `except Exception` that passes the exception to `report_defect`, as an outermost seam does | no |

`sys.exc_info()` counts as the exception. A function never returns if its type is `NoReturn`, or if
it is in a checked file and raises on every path.

A log has the traceback if it is a call of `exception`, if it gets `exc_info`, or if it gets the
value of `traceback.format_exc()`. A function that gets `exc_info` counts as a log, and so does
`traceback.print_exc`.
"""

import ast
from collections.abc import Iterator, Sequence

from seamwise.check._mypy.types import CallableType, Instance, get_proper_type
from seamwise.check.facts import HelperCondition
from seamwise.check.findings import RawFinding
from seamwise.check.inference import inference_of
from seamwise.check.inference.data_flow.bindings import SCOPES
from seamwise.check.inference.data_flow.called_functions import helper_of
from seamwise.check.inference.exception_flow.kept import ExceptionTrace
from seamwise.check.inference.exception_flow.never_returning import ending_of
from seamwise.check.rules.cancelled_tasks import cancels_before
from seamwise.check.rules.logged_tracebacks import logs_traceback
from seamwise.check.rules.rule import Rule
from seamwise.check.typed_ast.channels import FAILURE
from seamwise.check.typed_ast.program import FUNCTIONS, Module, call_arguments, children, walk

_BASE_EXCEPTION = 'builtins.BaseException'
_BROAD = frozenset({'builtins.Exception', _BASE_EXCEPTION})
_CANCELLED = frozenset({'asyncio.exceptions.CancelledError', 'trio.Cancelled'})
_SUPPRESS = 'contextlib.suppress'
_REPORT_DEFECT = 'seamwise._defects.defects.report_defect'
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
    classes = _BROAD if node.type is None else _caught_classes(node.type, module)
    if classes.isdisjoint(_BROAD):
        return
    inference = inference_of(module)
    trace = ExceptionTrace(inference)
    ending = ending_of(node.body, inference)
    statement = module.parents[node]
    if ending == () or trace.leaves_handler(node) or _precedes_raise(statement, node.body, module):
        return
    result = ''
    function = module.scope_of(node)
    if isinstance(function, FUNCTIONS) and _returns_failure(node.body[-1], module):
        result = inference.function_name(function)
    unless = HelperCondition(tuple(trace.uses), ending or (), result=result)
    handler = 'A bare `except`' if node.type is None else f'`except {ast.unparse(node.type)}`'
    swallows_cancellation = _swallows_cancellation(classes, node, module)
    if not swallows_cancellation and logs_traceback(node, module):
        message = f'{handler} logs every defect, and continues as if nothing had happened.'
        yield RawFinding(node, message, _HELP, severity='warning', unless=unless)
    elif swallows_cancellation or not _reports_defect(node, module):
        effect = _effect(swallows_cancellation=swallows_cancellation)
        yield RawFinding(node, f'{handler} {effect}.', _HELP, unless=unless)


def _returns_failure(statement: ast.stmt, module: Module) -> bool:
    match statement:
        case ast.Return(ast.Call(function)):
            return module.full_name(function) in FAILURE
        case _:
            return False


def _check_finally(body: Sequence[ast.stmt]) -> Iterator[RawFinding]:
    for node in _leaving_statements(body):
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
    classes = frozenset[str]().union(*(_caught_classes(item, module) for item in node.args))
    if classes.isdisjoint(_BROAD):
        return
    item = module.parents.get(node)
    parent = module.parents.get(item) if isinstance(item, ast.withitem) else None
    if isinstance(parent, ast.With | ast.AsyncWith) and _precedes_raise(
        parent, parent.body, module
    ):
        return
    effect = _effect(swallows_cancellation=_swallows_cancellation(classes, node, module))
    yield RawFinding(
        parent if isinstance(parent, ast.With | ast.AsyncWith) else node,
        f'`{ast.unparse(node)}` {effect}.',
        'Name the expected exceptions.',
    )


def _swallows_cancellation(
    classes: frozenset[str], node: ast.expr | ast.ExceptHandler, module: Module
) -> bool:
    """Return whether the task of the function can no longer be cancelled.

    A CancelledError in a plain function, or after the cancellation of other tasks, is theirs.
    """
    if _BASE_EXCEPTION in classes:
        return True
    return (
        not classes.isdisjoint(_CANCELLED)
        and isinstance(module.scope_of(node), ast.AsyncFunctionDef)
        and not cancels_before(node, module)
    )


def _precedes_raise(statement: ast.AST, body: Sequence[ast.stmt], module: Module) -> bool:
    """Return whether a statement only cleans up in a handler that raises its exception again.

    Args:
        statement: The statement that swallows exceptions.
        body: The part of it that may leave the handler before its `raise`.
        module: The module.
    """
    parent = module.parents.get(statement)
    if not isinstance(parent, ast.ExceptHandler):
        return False
    last = parent.body[-1]
    return isinstance(last, ast.Raise) and last.exc is None and not any(_leaving_statements(body))


def _effect(*, swallows_cancellation: bool) -> str:
    return f'swallows every defect{" and cancellation" if swallows_cancellation else ""}'


def _caught_classes(node: ast.expr, module: Module) -> frozenset[str]:
    """Return the full names of the classes in an `except` clause."""
    if isinstance(node, ast.Tuple):
        return frozenset[str]().union(*(_caught_classes(item, module) for item in node.elts))
    names = {module.full_name(node)}
    type_ = module.type_of(node)
    if isinstance(type_, CallableType) and type_.is_type_obj():
        instance = get_proper_type(type_.ret_type)
        if isinstance(instance, Instance):
            # The class may be bound to another name: `Anything = Exception`.
            names.add(instance.type.fullname)
    return frozenset(names)


def _leaving_statements(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the statements in a `finally` block that leave it and end an exception."""
    for statement in body:
        yield from _leaving(statement, in_loop=False)


def _leaving(node: ast.AST, *, in_loop: bool) -> Iterator[ast.stmt]:
    if isinstance(node, ast.Return) or (isinstance(node, ast.Break | ast.Continue) and not in_loop):
        yield node
    if isinstance(node, SCOPES):
        return
    is_loop = isinstance(node, ast.For | ast.AsyncFor | ast.While)
    for child in children(node):
        yield from _leaving(child, in_loop=in_loop or is_loop)


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
        isinstance(argument, ast.Name) and argument.id == name for argument in call_arguments(call)
    )


RULE = Rule(
    'SW103',
    '`except` that swallows defects or cancellation',
    'error',
    __doc__ or '',
    _find_broad_handlers,
)
