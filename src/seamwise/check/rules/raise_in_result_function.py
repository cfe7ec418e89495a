"""# SW102: exception raised in a function that returns a Result.

Return expected errors in the channel instead of raising them. An exception appears in no type: no
caller handles it, no seam shows it, and it ends as a defect.

```python
from seamwise import Category, Failure, Result, Success, TaggedError


class OutOfRange(TaggedError, category=Category.VALIDATION, message='{percent} is no percentage.'):
    percent: int
```

Reported:

```python
def discount(percent: int) -> Result[int, OutOfRange]:
    if percent < 0:
        return Failure(OutOfRange(percent))
    if percent > 100:
        raise ValueError(f'{percent} is no percentage')
    return Success(100 - percent)
```

Fixed:

```python
def reduction(percent: int) -> Result[int, OutOfRange]:
    if percent < 0 or percent > 100:
        return Failure(OutOfRange(percent))
    return Success(100 - percent)
```

| Exception | Reported |
| --- | --- |
| An expected exception such as `ValueError` | yes |
| `AssertionError`, `NotImplementedError`, which report a bug | no |
| A caught exception that is raised again, also if it was stored as an `Exception` | no |
| The exception that `or_raise` raises | no |
| `SystemExit` and others that end the process | no |
| An exception that an enclosing `@attempt` converts | no |
"""

import ast
from collections.abc import Iterator

from mypy.types import CallableType, Instance, ProperType, TypeType, get_proper_type

from seamwise.check.findings import RawFinding
from seamwise.check.rules.rule import Rule
from seamwise.check.typed_ast.channels import base_names, is_result, returned_type, union_members
from seamwise.check.typed_ast.program import FUNCTIONS, Function, Module, children

_ALLOWED = frozenset(
    {'builtins.AssertionError', 'builtins.NotImplementedError', 'seamwise.causes.Raised'}
)
_ANY_EXCEPTION = frozenset({'builtins.Exception', 'builtins.BaseException'})
_ATTEMPT, _FALLIBLE = 'seamwise.edges.attempt', 'seamwise.scope.fallible'
_HELP = (
    'Return a Failure with an error of the channel, or call `do.fail(…)`;'
    ' for a bug, raise AssertionError.'
)


def _find_raised_exceptions(module: Module) -> Iterator[RawFinding]:
    for node in module.nodes_of_type(ast.Raise):
        if node.exc is None:
            continue
        classes = _ordinary_classes(node.exc, module)
        function = _enclosing_function(node, module)
        if not classes or function is None:
            continue
        if _raises_again(node, module) or not _returns_result(function, module):
            continue
        converted = _exceptions_of_attempt(function, module)
        if converted is None or all(names & converted for names in classes):
            continue
        names = ' or '.join(sorted({item.type.name for item in _instances(node.exc, module)}))
        message = f'`{function.name}` returns a Result, but raises {names}.'
        yield RawFinding(node, message, _HELP)


def _ordinary_classes(raised: ast.expr, module: Module) -> list[frozenset[str]]:
    """Return the ordinary exception classes that are raised, each as the names of its bases."""
    classes = [base_names(item) for item in _instances(raised, module)]
    return [names for names in classes if 'builtins.Exception' in names and not names & _ALLOWED]


def _instances(raised: ast.expr, module: Module) -> list[Instance]:
    instances = [
        _instance(member) for type_ in module.types_of(raised) for member in union_members(type_)
    ]
    return [instance for instance in instances if instance is not None]


def _instance(type_: ProperType) -> Instance | None:
    """Return the exception of `raise ValueError()` or of `raise ValueError`."""
    if isinstance(type_, CallableType) and type_.is_type_obj():
        type_ = get_proper_type(type_.ret_type)
    if isinstance(type_, TypeType):
        type_ = type_.item
    return type_ if isinstance(type_, Instance) else None


def _enclosing_function(node: ast.AST, module: Module) -> Function | None:
    """Return the function that contains a statement. A lambda contains none."""
    parent: ast.AST | None = node
    while parent is not None:
        parent = module.parents.get(parent)
        if isinstance(parent, FUNCTIONS):
            return parent
    return None


def _raises_again(node: ast.Raise, module: Module) -> bool:
    """Return whether it raises a caught exception: `except OSError as error: …; raise error`."""
    if _is_stored_exception(node.exc, module):
        return True
    if not isinstance(node.exc, ast.Name):
        return False
    parent: ast.AST | None = node
    while parent is not None and not isinstance(parent, FUNCTIONS):
        parent = module.parents.get(parent)
        if isinstance(parent, ast.ExceptHandler) and parent.name == node.exc.id:
            return True
    return False


def _is_stored_exception(raised: ast.expr | None, module: Module) -> bool:
    """Return whether a name is typed as `Exception` itself, so that it was caught elsewhere."""
    match raised:
        case ast.Call(ast.Attribute(stored, 'with_traceback')):
            return _is_stored_exception(stored, module)
        case ast.Name() | ast.Attribute():
            members = list(union_members(module.type_of(raised)))
            return bool(members) and all(
                isinstance(member, Instance) and member.type.fullname in _ANY_EXCEPTION
                for member in members
            )
        case _:
            return False


def _returns_result(function: Function, module: Module) -> bool:
    declared = module.declared_type(function)
    if declared is not None and is_result(returned_type(declared.ret_type)):
        return True
    if not _decorator_names(function, module) & {_FALLIBLE, _ATTEMPT}:
        # Without annotations, the types of its `return` statements decide.
        values = _returned_values(function)
        return declared is None and any(is_result(module.type_of(value)) for value in values)
    decorated = module.decorated_type(function)
    return isinstance(decorated, CallableType) and is_result(returned_type(decorated.ret_type))


def _returned_values(function: Function) -> Iterator[ast.expr]:
    queue: list[ast.AST] = list(function.body)
    while queue:
        node = queue.pop()
        if isinstance(node, ast.Return) and node.value is not None:
            yield node.value
        if not isinstance(node, (*FUNCTIONS, ast.Lambda, ast.ClassDef)):
            queue += children(node)


def _decorator_names(function: Function, module: Module) -> set[str]:
    return {
        module.full_name(decorator.func if isinstance(decorator, ast.Call) else decorator)
        for decorator in function.decorator_list
    }


def _exceptions_of_attempt(function: Function, module: Module) -> frozenset[str] | None:
    """Return the exceptions that enclosing `@attempt` decorators convert; None if unknown."""
    names: set[str] = set()
    scope: ast.AST | None = function
    while scope is not None:
        for decorator in scope.decorator_list if isinstance(scope, FUNCTIONS) else ():
            if isinstance(decorator, ast.Call) and module.full_name(decorator.func) == _ATTEMPT:
                converted = _conversions(decorator.args[-1], module) if decorator.args else None
                if converted is None:
                    return None
                names |= converted
        scope = module.parents.get(scope)
    return frozenset(names)


def _conversions(node: ast.expr, module: Module) -> set[str] | None:
    """Return the exceptions of `when(A).becomes(…) | when(B).becomes(…)`, also behind a name."""
    if isinstance(node, ast.BinOp):
        left, right = _conversions(node.left, module), _conversions(node.right, module)
        return None if left is None or right is None else left | right
    if isinstance(node, ast.Name):
        values = [
            statement.value
            for statement in module.syntax.body
            if isinstance(statement, ast.Assign | ast.AnnAssign)
            and statement.value is not None
            and _binds(statement, node.id)
        ]
        return _conversions(values[0], module) if len(values) == 1 else None
    match node:
        case ast.Call(ast.Attribute(ast.Call(when, [exception]), 'becomes')) if (
            module.full_name(when) == 'seamwise.edges.when'
        ):
            name = module.full_name(exception)
            return {name} if name else None
        case _:
            return None


def _binds(statement: ast.Assign | ast.AnnAssign, name: str) -> bool:
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    return any(isinstance(target, ast.Name) and target.id == name for target in targets)


RULE = Rule(
    'SW102',
    'exception raised in a function that returns a Result',
    'error',
    __doc__ or '',
    _find_raised_exceptions,
)
