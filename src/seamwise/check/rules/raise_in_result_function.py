"""# SW102: an exception raised where a Result is returned.

A function that returns a Result says in its type what can go wrong. What it raises beside that is in no type: no caller
handles it, no seam shows it, and it ends as a defect. What is expected belongs into the channel.

A defect may be raised: `AssertionError` and `NotImplementedError` say that the program is wrong. So may an exception that is
caught and raised again, be it kept in between as an `Exception`, what `or_raise` raises, what ends the process (`SystemExit`),
and what an enclosing `@attempt` names.

```python
from seamwise import Category, Failure, Result, Success, TaggedError


class OutOfRange(TaggedError, category=Category.VALIDATION, message='{percent} is no percentage.'):
    percent: int
```

Fails:

```python
def discount(percent: int) -> Result[int, OutOfRange]:
    if percent < 0:
        return Failure(OutOfRange(percent))
    if percent > 100:
        raise ValueError(f'{percent} is no percentage')
    return Success(100 - percent)
```

Mended:

```python
def reduction(percent: int) -> Result[int, OutOfRange]:
    if percent < 0 or percent > 100:
        return Failure(OutOfRange(percent))
    return Success(100 - percent)
```
"""

import ast
from collections.abc import Iterator

from mypy.types import CallableType, Instance, ProperType, TypeType, get_proper_type

from seamwise.check.findings import RawFinding
from seamwise.check.rules.rule import Rule
from seamwise.check.typed_ast.channels import base_names, is_result, returned_type, union_members
from seamwise.check.typed_ast.program import FUNCTIONS, Function, Module, children

MEANT = frozenset(
    {'builtins.AssertionError', 'builtins.NotImplementedError', 'seamwise.causes.Raised'}
)
KEPT = frozenset({'builtins.Exception', 'builtins.BaseException'})
HELP = (
    'Return a Failure of an error in the channel, or `do.fail(…)`; of a bug, raise AssertionError.'
)


def find(module: Module) -> Iterator[RawFinding]:
    """Give each `raise` of an ordinary exception in a function that returns a Result."""
    for node in module.nodes_of_type(ast.Raise):
        if node.exc is not None:
            kinds = _ordinary(node.exc, module)
            function = _around(node, module)
            if (
                not kinds
                or function is None
                or _is_caught_again(node, module)
                or not _gives_result(function, module)
            ):
                continue
            named = _named_by_attempt(function, module)
            if named is None or all(kind & named for kind in kinds):
                continue
            name = sorted(_last(node.exc, module))
            yield RawFinding(
                node,
                f'`{function.name}` returns a Result, and raises {" or ".join(name)} beside it.',
                HELP,
            )


def _last(raised: ast.expr, module: Module) -> set[str]:
    return {one.type.name for one in _classes(raised, module)}


def _ordinary(raised: ast.expr, module: Module) -> list[frozenset[str]]:
    """Give the classes, each with its bases, of what is raised and is an ordinary exception."""
    found = [base_names(one) for one in _classes(raised, module)]
    return [one for one in found if 'builtins.Exception' in one and not one & MEANT]


def _classes(raised: ast.expr, module: Module) -> list[Instance]:
    found: list[Instance] = []
    for type_ in module.types_of(raised):
        for one in union_members(type_):
            made = _instance(one)
            if made is not None:
                found.append(made)
    return found


def _instance(type_: ProperType) -> Instance | None:
    """Give the exception that is raised, also where its class is named only."""
    if isinstance(type_, CallableType) and type_.is_type_obj():
        type_ = get_proper_type(type_.ret_type)
    if isinstance(type_, TypeType):
        type_ = type_.item
    return type_ if isinstance(type_, Instance) else None


def _around(node: ast.AST, module: Module) -> Function | None:
    """Give the function that a statement stands in; a lambda has no statements."""
    around: ast.AST | None = node
    while around is not None:
        around = module.parents.get(around)
        if isinstance(around, FUNCTIONS):
            return around
    return None


def _is_caught_again(node: ast.Raise, module: Module) -> bool:
    """Whether it raises what the handler around it has caught: `except OSError as raised: …; raise raised`."""
    if _is_any_exception(node.exc, module):
        return True
    if not isinstance(node.exc, ast.Name):
        return False
    around: ast.AST | None = node
    while around is not None and not isinstance(around, FUNCTIONS):
        around = module.parents.get(around)
        if isinstance(around, ast.ExceptHandler) and around.name == node.exc.id:
            return True
    return False


def _is_any_exception(raised: ast.expr | None, module: Module) -> bool:
    """Whether it was caught elsewhere, and kept: what is typed as Exception itself, and made by no call of a class here."""
    match raised:
        case ast.Call(ast.Attribute(kept, 'with_traceback')):
            return _is_any_exception(kept, module)
        case ast.Name() | ast.Attribute():
            typed = list(union_members(module.type_of(raised)))
            return bool(typed) and all(
                isinstance(one, Instance) and one.type.fullname in KEPT for one in typed
            )
        case _:
            return False


def _gives_result(function: Function, module: Module) -> bool:
    declared = module.declared_type(function)
    if declared is not None and is_result(returned_type(declared.ret_type)):
        return True
    if not _names(function, module) & {'seamwise.scope.fallible', 'seamwise.edges.attempt'}:
        # Without annotations, what it returns says what it is.
        return declared is None and any(
            is_result(module.type_of(one)) for one in _returns(function)
        )
    made = module.decorated_type(function)
    return isinstance(made, CallableType) and is_result(returned_type(made.ret_type))


def _returns(function: Function) -> Iterator[ast.expr]:
    waiting: list[ast.AST] = list(function.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Return) and node.value is not None:
            yield node.value
        if not isinstance(node, (*FUNCTIONS, ast.Lambda, ast.ClassDef)):
            waiting += children(node)


def _names(function: Function, module: Module) -> set[str]:
    return {
        module.full_name(one.func if isinstance(one, ast.Call) else one)
        for one in function.decorator_list
    }


def _named_by_attempt(function: Function, module: Module) -> frozenset[str] | None:
    """Give the exceptions that `@attempt` names around a function; None where it cannot be read which those are."""
    named: set[str] = set()
    around: ast.AST | None = function
    while around is not None:
        for one in around.decorator_list if isinstance(around, FUNCTIONS) else ():
            if isinstance(one, ast.Call) and module.full_name(one.func) == 'seamwise.edges.attempt':
                found = _rules(one.args[-1], module) if one.args else None
                if found is None:
                    return None
                named |= found
        around = module.parents.get(around)
    return frozenset(named)


def _rules(node: ast.expr, module: Module) -> set[str] | None:
    """Read `when(A).becomes(…) | when(B).becomes(…)`, also behind a name of this module."""
    if isinstance(node, ast.BinOp):
        left, right = _rules(node.left, module), _rules(node.right, module)
        return None if left is None or right is None else left | right
    if isinstance(node, ast.Name):
        given = [
            one.value
            for one in module.syntax.body
            if isinstance(one, ast.Assign | ast.AnnAssign)
            and one.value is not None
            and _binds(one, node.id)
        ]
        return _rules(given[0], module) if len(given) == 1 else None
    match node:
        case ast.Call(ast.Attribute(ast.Call(when, [kind]), 'becomes')) if (
            module.full_name(when) == 'seamwise.edges.when'
        ):
            return {module.full_name(kind)} if module.full_name(kind) else None
        case _:
            return None


def _binds(statement: ast.Assign | ast.AnnAssign, name: str) -> bool:
    bound = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    return any(isinstance(one, ast.Name) and one.id == name for one in bound)


RULE = Rule('SW102', 'an exception raised where a Result is returned', 'error', __doc__ or '', find)
