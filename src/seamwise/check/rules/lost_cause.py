"""# SW118: lost cause

Keep the exception that led to a failure, as the `cause` of the error or in one of its fields.
Otherwise neither the log nor a report can say why the operation failed.

```python
import json

from seamwise import Category, Cause, Failure, Result, Success, TaggedError


class SettingsUnreadable(
    TaggedError, category=Category.CONFIGURATION, message='The settings are unreadable.'
):
    cause: Cause | None = None
```

Reported:

```python
def load(text: str) -> Result[object, SettingsUnreadable]:
    try:
        return Success(json.loads(text))
    except ValueError:
        return Failure(SettingsUnreadable())
```

Fixed:

```python
def parse(text: str) -> Result[object, SettingsUnreadable]:
    try:
        return Success(json.loads(text))
    except ValueError as error:
        return Failure(SettingsUnreadable(cause=error))
```

| Handler | Reported |
| --- | --- |
| The exception is unused, and the error has a `cause` that is not set | yes |
| The exception is unused, and the error has no arguments at all | yes |
| A lambda of `when(…).becomes(…)` ignores the exception, and the `cause` is not set | yes |
| The exception is used, logged with its traceback, or raised again | no |
| The error has other arguments, and no `cause` | no |
| The class of the exception says everything, e.g. `KeyError` or `queue.Empty` | no |
"""

import ast
from collections.abc import Iterator

from seamwise.check._mypy.nodes import TypeInfo, Var
from seamwise.check._mypy.types import Instance
from seamwise.check.facts import TextEdit
from seamwise.check.findings import RawFinding
from seamwise.check.inference.data_flow.bindings import free_name
from seamwise.check.inference.definitions.functions import is_do
from seamwise.check.inference.exception_flow.escaping import WHEN
from seamwise.check.rules.rule import Rule
from seamwise.check.typed_ast.channels import (
    FAILURE,
    base_names,
    call_result_type,
    is_error,
    union_members,
)
from seamwise.check.typed_ast.program import FUNCTIONS, Module, children, walk

_EMPTY_CAUSE = 'has an empty cause'
_CONVERSION_HELP = 'Pass the exception: `lambda error: …(cause=error)`.'
_HELP = 'Bind the exception (`except … as error`), and pass it as `cause=error`.'

_SELF_EXPLANATORY = frozenset({
    'builtins.StopIteration', 'builtins.StopAsyncIteration', 'builtins.KeyError',
    'builtins.IndexError', 'builtins.LookupError', 'builtins.AttributeError',
    'builtins.TimeoutError', 'builtins.FileNotFoundError', 'builtins.FileExistsError',
    'builtins.ProcessLookupError', 'queue.Empty', '_queue.Empty', 'queue.Full',
    'asyncio.queues.QueueEmpty', 'asyncio.queues.QueueFull',
    'builtins.ModuleNotFoundError', 'builtins.PermissionError',
    'builtins.IsADirectoryError', 'builtins.NotADirectoryError', 'builtins.EOFError',
    'builtins.BrokenPipeError', 'builtins.ZeroDivisionError', 'builtins.RecursionError',
    'builtins.MemoryError', 'builtins.KeyboardInterrupt', 'asyncio.exceptions.CancelledError',
    'asyncio.exceptions.TimeoutError',
})  # fmt: skip
"""Exceptions whose class says everything: the caller knows the key, the path or the time."""

_READERS = frozenset({
    'exception', 'exc_info', 'print_exc', 'print_exception', 'format_exc', 'format_exception',
    'report_defect', 'capture_exception',
})  # fmt: skip
"""Functions that read the exception that is being handled."""


def _find_lost_causes(module: Module) -> Iterator[RawFinding]:
    for handler in module.nodes_of_type(ast.ExceptHandler):
        if handler.type is None or _is_self_explanatory(handler.type, module):
            continue
        if any(_keeps(node, handler) for statement in handler.body for node in walk(statement)):
            continue
        for node in (node for statement in handler.body for node in _own_nodes(statement)):
            for error in _created_errors(node, module):
                yield from _check_error(error, handler, module)
    for call in module.nodes_of_type(ast.Call):
        yield from _check_conversion(call, module)


def _own_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """Yield a node and those in it, except those in functions and in inner handlers."""
    yield node
    if not isinstance(node, (*FUNCTIONS, ast.Lambda, ast.ExceptHandler)):
        for child in children(node):
            yield from _own_nodes(child)


def _keeps(node: ast.AST, handler: ast.ExceptHandler) -> bool:
    """Return whether a node uses the exception: its name, its traceback, or raises it again."""
    match node:
        case ast.Name(id=name) if name == handler.name:
            return True
        case ast.Raise():
            return True
        case ast.Attribute(attr=name) | ast.Name(id=name) if name in _READERS:
            return True
        case ast.keyword(arg='exc_info'):
            return True
        case _:
            return False


def _created_errors(node: ast.AST, module: Module) -> Iterator[ast.Call]:
    """Yield the errors that a node makes a failure, or keeps to make one later."""
    match node:
        case ast.Call(function, [ast.Call() as error], []) if module.full_name(function) in FAILURE:
            yield error
        case ast.Call(ast.Attribute(do, 'fail'), [ast.Call() as error], []) if is_do(do, module):
            yield error
        case ast.Assign(value=ast.Call() as value) | ast.AnnAssign(value=ast.Call() as value):
            yield value
        case _:
            pass


def _check_error(
    error: ast.Call, handler: ast.ExceptHandler, module: Module
) -> Iterator[RawFinding]:
    if (reason := _reason(error, module)) is not None:
        exception = ast.unparse(handler.type) if handler.type is not None else ''
        yield RawFinding(
            error,
            f'The cause is lost: `{ast.unparse(error.func)}` {reason}, and the'
            f' `{exception}` goes nowhere.',
            _HELP,
            _cause_edits(error, handler, module),
        )


def _check_conversion(call: ast.Call, module: Module) -> Iterator[RawFinding]:
    """Check `when(ValueError).becomes(lambda _: Unreadable())`."""
    match call:
        case ast.Call(
            ast.Attribute(ast.Call(when, caught), 'becomes'),
            [ast.Lambda(args=ast.arguments(args=[parameter]), body=ast.Call() as error)],
            [],
        ) if module.full_name(when) == WHEN:
            is_used = any(
                isinstance(node, ast.Name) and node.id == parameter.arg for node in walk(error)
            )
            explains_itself = all(_is_self_explanatory(class_, module) for class_ in caught)
            if not is_used and not explains_itself and _reason(error, module) == _EMPTY_CAUSE:
                yield RawFinding(
                    error,
                    f'The cause is lost: `{ast.unparse(error.func)}` {_EMPTY_CAUSE}.',
                    _CONVERSION_HELP,
                )
        case _:
            pass


def _reason(error: ast.Call, module: Module) -> str | None:
    classes = [
        member.type
        for member in union_members(module.type_of(error))
        if isinstance(member, Instance) and is_error(member.type)
    ]
    if len(classes) != 1 or any(isinstance(argument, ast.Starred) for argument in error.args):
        return None
    if any(keyword.arg in {None, 'cause'} for keyword in error.keywords):
        return None
    fields = _fields(classes[0])
    if 'cause' in fields:
        # With positional arguments, the cause may be one of them.
        is_set = len(error.args) > fields.index('cause')
        return None if is_set else _EMPTY_CAUSE
    return None if error.args or error.keywords else 'has no argument'


def _fields(info: TypeInfo) -> list[str]:
    """Return the fields of an error class, in the order of its arguments."""
    return list(
        dict.fromkeys(
            name
            for base in reversed(info.mro)
            for name, symbol in base.names.items()
            if isinstance(symbol.node, Var) and not symbol.node.is_classvar
        )
    )


def _cause_edits(
    error: ast.Call, handler: ast.ExceptHandler, module: Module
) -> tuple[TextEdit, ...]:
    """Return the edits that bind the exception and pass it, for a call without arguments."""
    has_cause = all(
        isinstance(member, Instance) and 'cause' in _fields(member.type)
        for member in union_members(module.type_of(error))
    )
    line, column = error.end_lineno or 0, error.end_col_offset or 0
    end = module.column(line, column) - 1
    if not has_cause or error.args or error.keywords or handler.type is None:
        return ()
    if module.lines[line - 1][end - 1 : end + 1] != '()':
        return ()
    name = handler.name or _exception_name(handler, module)
    edits = [TextEdit(line, end, line, end, '', f'cause={name}')]
    if handler.name is None:
        type_line = handler.type.end_lineno or 0
        type_end = module.column(type_line, handler.type.end_col_offset or 0)
        text = module.lines[type_line - 1]
        if not text[type_end:].startswith(':'):
            return ()
        edits.insert(0, TextEdit(type_line, type_end, type_line, type_end, '', f' as {name}'))
    return tuple(edits)


def _exception_name(handler: ast.ExceptHandler, module: Module) -> str:
    """Return a name for an exception which nothing outside of other handlers uses."""
    return free_name('error', {*_used_names(module.scope_of(handler), handler)})


def _used_names(node: ast.AST, handler: ast.ExceptHandler) -> Iterator[str]:
    """Yield the names in a scope, without those that another handler binds and uses itself."""
    for child in children(node):
        names = {*_used_names(child, handler)}
        is_related = child in walk(handler) or handler in walk(child)
        if isinstance(child, ast.ExceptHandler) and not is_related:
            names.discard(child.name or '')
        yield from names
    match node:
        case ast.Name(name) | ast.arg(name) | ast.ExceptHandler(name=str(name)):
            yield name
        case ast.Global() | ast.Nonlocal():
            yield from node.names
        case _:
            pass


def _is_self_explanatory(caught: ast.expr, module: Module) -> bool:
    classes = caught.elts if isinstance(caught, ast.Tuple) else [caught]
    return all(_base_names(class_, module) & _SELF_EXPLANATORY for class_ in classes)


def _base_names(class_: ast.expr, module: Module) -> frozenset[str]:
    """Return the names of an exception class and its bases."""
    members = list(union_members(call_result_type(module.type_of(class_))))
    if not members:
        return frozenset({module.full_name(class_)})
    return frozenset[str]().union(*map(base_names, members))


RULE = Rule('SW118', 'lost cause', 'warning', __doc__ or '', _find_lost_causes)
