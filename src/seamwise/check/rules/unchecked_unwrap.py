"""# SW104: Result unwrapped without a check

Check a Result before you unwrap it. `.unwrap()` raises on a Failure and `.failure()` raises on a
Success, so that a typed error becomes an exception that no type names.

```python
from seamwise import Category, Failure, Result, Success, TaggedError


class NoSuchUser(TaggedError, category=Category.NOT_FOUND, message='There is no user {uid}.'):
    uid: int


def find_user(uid: int) -> Result[str, NoSuchUser]:
    return Success('ada') if uid == 1 else Failure(NoSuchUser(uid))
```

Reported:

```python
def greeting(uid: int) -> str:
    return f'Hello {find_user(uid).unwrap()}'
```

Fixed:

```python
def hello(uid: int) -> str:
    user = find_user(uid)
    if isinstance(user, Failure):
        return 'Who are you?'
    return f'Hello {user.unwrap()}'
```

| Code | Reported |
| --- | --- |
| `.unwrap()` after `isinstance`, `is_success`, a `match` or an early return | no |
| `assert is_success(result)` | yes: it can fail just like `.unwrap()` |
| `.unwrap()` of each item after `any` or `all` has checked the items | no |
| `.unwrap()` after such an assertion | no: the assertion itself is reported |
| `.unwrap()` of each item of `filter(is_success, results)` | no |
| `.unwrap()` in a `try` with `except UnwrapFailedError`, or in `with suppress(…)` of it | no |
| `.unwrap()` after `.alt(fail)` with a function that never returns, also in a checked file | no |
| An `IOResult` of `returns`, e.g. of an `@impure_safe` function | as a Result |
| Test files: `test_*.py`, `*_test.py`, `conftest.py`, and everything in a folder `tests` | no |

`--fix` replaces `.unwrap()` by `do`, or returns the failure before it, if the channel of the
function contains all errors of the Result.
"""

import ast
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

from seamwise.check.facts import HelperCondition
from seamwise.check.findings import RawFinding
from seamwise.check.inference import inference_of
from seamwise.check.inference.exception_flow.never_returning import Ending, ending_of_function
from seamwise.check.inference.fixes.propagation import unwrap_edits
from seamwise.check.rules.rule import Rule
from seamwise.check.typed_ast.channels import FAILURE, SUCCESS, Channel, any_channel_of
from seamwise.check.typed_ast.program import FUNCTIONS, Module, walk

_GUARDS = frozenset(
    {'seamwise._results.containers.is_success', 'seamwise._results.containers.is_failure'}
)
_FILTER = 'builtins.filter'
_SUPPRESS = 'contextlib.suppress'
_QUANTIFIERS = frozenset({'builtins.any', 'builtins.all'})
_UNTYPED_GUARD = 'returns.pipeline.is_successful'
"""Checks a Result at run time, but narrows no type."""
_PREDICATES: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        'unwrap': frozenset({'seamwise._results.containers.is_success', _UNTYPED_GUARD}),
        'failure': frozenset({'seamwise._results.containers.is_failure'}),
    }
)
"""Functions that select the items on which a method cannot raise."""
_CONTAINERS = SUCCESS | FAILURE | {'returns.io.IOSuccess', 'returns.io.IOFailure'}
_CHECKS = _GUARDS | {'builtins.isinstance', 'builtins.type'}
_UNWRAP_ERRORS = frozenset({'returns.primitives.exceptions.UnwrapFailedError'})
_HELP = (
    'Check it first (`isinstance`, `is_success`, a `match`),'
    ' or use `.bind`, `.value_or`, `do` or `or_raise`.'
)


def is_test(path: Path) -> bool:
    """Return whether a file is a test, by its name or by a folder `tests` that contains it.

    Folders above the current directory do not count.
    """
    relative = path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path
    return (
        path.name == 'conftest.py'
        or path.name.startswith('test_')
        or path.stem.endswith('_test')
        or 'tests' in relative.parts[:-1]
    )


def _find_unchecked_unwraps(module: Module) -> Iterator[RawFinding]:
    if is_test(module.path):
        return
    for statement in module.nodes_of_type(ast.Assert):
        yield from _check_assertion(statement, module)
    for call in module.nodes_of_type(ast.Call):
        match call:
            case ast.Call(ast.Attribute(value, 'unwrap' | 'failure' as method), [], []):
                yield from _check_call(call, value, method, module)
            case _:
                pass


def _check_call(
    call: ast.Call, value: ast.expr, method: str, module: Module
) -> Iterator[RawFinding]:
    channel = any_channel_of(module.type_of(value))
    if channel is None:
        return
    may_raise = channel.is_failure if method == 'unwrap' else channel.is_success
    if not may_raise or _has_unfollowed_check(value, call, channel, module):
        return
    if _is_handled(call, module):
        return
    ending = _ending_of_failure(value, module) if method == 'unwrap' else None
    if ending == ():
        return
    unless = HelperCondition(ending=ending) if ending is not None else None
    container = 'a Failure' if method == 'unwrap' else 'a Success'
    message = (
        f'`.{method}()` raises if this Result is {container}, and no earlier check rules that out.'
    )
    edits = unwrap_edits(call, inference_of(module))
    yield RawFinding(call, message, _HELP, edits, unless=unless)


def _ending_of_failure(value: ast.expr, module: Module) -> Ending | None:
    """Return the calls that decide whether a Failure always raises; None if it may get on.

    It does in `result.alt(fail)`, if `fail` never returns.
    """
    match value:
        case ast.Call(ast.Attribute(_, 'alt' | 'lash'), [function], []):
            return ending_of_function(function, inference_of(module))
        case ast.Call(ast.Attribute(receiver, 'map'), [_], []):
            return _ending_of_failure(receiver, module)
        case _:
            return None


def _has_unfollowed_check(
    value: ast.expr, call: ast.Call, channel: Channel, module: Module
) -> bool:
    """Return whether an earlier check exists that mypy does not follow, so that it may be proven.

    These are calls of `is_successful`, checks of a value typed as the open base class, checks
    stored in a variable (`is_valid = is_success(result)`), checks of `results[key]`, and checks of
    all items by `any`, `all` or `filter`.
    """
    text = ast.unparse(value)
    iterable = _iterable_of(value, call, module)
    if iterable is not None and (
        _is_filtered(iterable, call, module)
        or _is_checked_as_a_whole(ast.unparse(iterable), call, module)
    ):
        return True
    is_unfollowed = channel.is_open or _has_variable_index(value)
    for node in walk(module.scope_of(call)):
        if not isinstance(node, ast.Call) or not node.args or node.lineno > call.lineno:
            continue
        if ast.unparse(node.args[0]) != text:
            continue
        name = module.full_name(node.func)
        if name == _UNTYPED_GUARD:
            return True
        if name in _CHECKS and (is_unfollowed or _is_assigned(node, module)):
            return True
    return is_unfollowed and _is_matched(value, call, module)


def _has_variable_index(value: ast.expr) -> bool:
    """Return whether a value is an item such as `results[key]`, whose type mypy does not narrow."""
    match value:
        case ast.Subscript(ast.Name() | ast.Attribute(), ast.Name() | ast.Attribute()):
            return True
        case _:
            return False


def _is_handled(call: ast.Call, module: Module) -> bool:
    """Return whether a handler, or `suppress`, around a call names the exception of `unwrap`."""
    node: ast.AST = call
    while (parent := module.parents.get(node)) is not None and not isinstance(node, FUNCTIONS):
        if isinstance(parent, ast.Try | ast.TryStar) and node in parent.body:
            for handler in parent.handlers:
                caught = handler.type
                classes = caught.elts if isinstance(caught, ast.Tuple) else [caught]
                if _has_unwrap_error(filter(None, classes), module):
                    return True
        elif isinstance(parent, ast.With | ast.AsyncWith) and node in parent.body:
            for item in parent.items:
                match item.context_expr:
                    case ast.Call(manager, classes) if module.full_name(manager) == _SUPPRESS:
                        if _has_unwrap_error(classes, module):
                            return True
                    case _:
                        pass
        node = parent
    return False


def _has_unwrap_error(classes: Iterable[ast.expr], module: Module) -> bool:
    return any(module.full_name(item) in _UNWRAP_ERRORS for item in classes)


def _iterable_of(value: ast.expr, call: ast.Call, module: Module) -> ast.expr | None:
    """Return the iterable of the loop or comprehension that binds a name."""
    if not isinstance(value, ast.Name):
        return None
    for outer in module.ancestors(call):
        match outer:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                return None
            case ast.For(ast.Name(name), iterable) if name == value.id:
                return iterable
            case (
                ast.GeneratorExp(generators=generators)
                | ast.ListComp(generators=generators)
                | ast.SetComp(generators=generators)
                | ast.DictComp(generators=generators)
            ):
                for generator in generators:
                    if isinstance(generator.target, ast.Name) and generator.target.id == value.id:
                        return generator.iter
            case _:
                pass
    return None


def _is_filtered(iterable: ast.expr, call: ast.Call, module: Module) -> bool:
    """Return whether `filter` selects the items on which the called method cannot raise."""
    match iterable, call.func:
        case ast.Call(function, [predicate, _]), ast.Attribute(attr=method):
            return (
                module.full_name(function) == _FILTER
                and module.full_name(predicate) in _PREDICATES[method]
            )
        case _:
            return False


def _is_checked_as_a_whole(iterable: str, call: ast.Call, module: Module) -> bool:
    """Return whether `any` or `all` checks the items of an iterable before a call."""
    for node in walk(module.scope_of(call)):
        match node:
            case ast.Call(quantifier, [ast.GeneratorExp(test, [generator])]) if (
                node.lineno <= call.lineno
                and module.full_name(quantifier) in _QUANTIFIERS
                and ast.unparse(generator.iter) == iterable
            ):
                if any(
                    isinstance(part, ast.Call) and module.full_name(part.func) in _CHECKS
                    for part in walk(test)
                ):
                    return True
            case _:
                pass
    return False


def _is_assigned(node: ast.expr, module: Module) -> bool:
    parent: ast.AST | None = node
    while isinstance(parent, ast.expr):
        parent = module.parents.get(parent)
    return isinstance(parent, ast.Assign | ast.AnnAssign)


def _is_matched(value: ast.expr, call: ast.Call, module: Module) -> bool:
    parent: ast.AST | None = call
    while parent is not None and not isinstance(parent, FUNCTIONS):
        parent = module.parents.get(parent)
        if isinstance(parent, ast.Match) and ast.unparse(parent.subject) == ast.unparse(value):
            return True
    return False


def _check_assertion(node: ast.Assert, module: Module) -> Iterator[RawFinding]:
    subject = _asserted_result(node.test, module)
    channel = any_channel_of(module.type_of(subject)) if subject is not None else None
    if subject is None or channel is None or not (channel.is_success and channel.is_failure):
        return
    message = f'`{ast.unparse(subject)}` may be a Success or a Failure: an assertion is no check.'
    yield RawFinding(node, message, _HELP)


def _asserted_result(test: ast.expr, module: Module) -> ast.expr | None:
    """Return the expression that an assertion claims to be a Success or a Failure."""
    match test:
        case ast.UnaryOp(ast.Not(), operand):
            return _asserted_result(operand, module)
        case ast.Call(func, [subject]) if module.full_name(func) in {*_GUARDS, _UNTYPED_GUARD}:
            return subject
        case ast.Call(func, [subject, container]) if module.full_name(
            func
        ) == 'builtins.isinstance' and _is_container(container, module):
            return subject
        case ast.Compare(ast.Call(func, [subject]), [ast.Is() | ast.Eq()], [container]) if (
            module.full_name(func) == 'builtins.type' and _is_container(container, module)
        ):
            return subject
        case _:
            return None


def _is_container(node: ast.expr, module: Module) -> bool:
    return module.full_name(node) in _CONTAINERS


RULE = Rule(
    'SW104',
    'Result unwrapped without a check',
    'warning',
    __doc__ or '',
    _find_unchecked_unwraps,
)
