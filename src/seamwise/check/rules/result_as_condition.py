"""# SW117: Result as a condition

Check a Result with `isinstance`, `is_success` or a `match`. As a condition, it is always true: a
Failure is an object like any other.

```python
from seamwise import Category, Failure, Result, Success, TaggedError


class DiskFull(TaggedError, category=Category.RESOURCE, message='No room for {name!r}.'):
    name: str


def save(name: str) -> Result[None, DiskFull]:
    return Failure(DiskFull(name)) if name == 'big' else Success(None)
```

Reported:

```python
def store(name: str) -> str:
    if save(name):
        return 'saved'
    return 'not saved'
```

Fixed:

```python
def keep(name: str) -> str:
    if isinstance(save(name), Success):
        return 'saved'
    return 'not saved'
```

| Expression | Reported |
| --- | --- |
| The condition of `if`, `while`, `assert`, a comprehension, `x if … else y` or a `case` | yes |
| An operand of `not`, and all but the last operand of `and` and `or` | yes |
| `bool(result)`, `any(results)`, `all(results)`, `filter(None, results)` | yes |
| `filter(save, names)`, `takewhile`, `dropwhile` and `filterfalse` of itertools | yes |
| An `IOResult` or `FutureResult` of `returns` | yes |
| A call of an async function that returns a Result, without `await` | yes |
| A Result or None, e.g. of `dict.get`: the condition distinguishes None | no |
"""

import ast
from collections.abc import Iterator

from seamwise.check._mypy.type_operations import type_argument
from seamwise.check.findings import RawFinding
from seamwise.check.rules.rule import Rule
from seamwise.check.typed_ast.channels import (
    CONTAINERS,
    are_results,
    awaited_type,
    base_names,
    call_result_type,
    is_result_only,
    union_members,
)
from seamwise.check.typed_ast.program import Module

_HELP = 'Check it with `isinstance(…, Success)`, `is_success(…)` or a `match`.'
_COROUTINE = 'typing.Coroutine'
_ITERABLE = 'typing.Iterable'
_QUANTIFIERS = frozenset({'builtins.any', 'builtins.all'})
_FILTERS = frozenset({
    'builtins.filter', 'itertools.dropwhile', 'itertools.filterfalse', 'itertools.takewhile',
})  # fmt: skip


def _find_conditions(module: Module) -> Iterator[RawFinding]:
    for condition in _conditions(module):
        # The operands of `not`, `and` and `or` are conditions of their own.
        if isinstance(condition, ast.BoolOp):
            continue
        if are_results(module.types_of(condition)):
            yield RawFinding(
                condition, 'A Result is always true as a condition, also if it failed.', _HELP
            )
        elif isinstance(condition, ast.Call) and _is_coroutine(condition, module):
            yield RawFinding(
                condition, 'A coroutine is always true as a condition.', f'Await it. {_HELP}'
            )
    for call in module.nodes_of_type(ast.Call):
        if (results := _tested_results(call, module)) is not None and _has_results(results, module):
            yield RawFinding(
                results, 'Each of these Results is always true, also if it failed.', _HELP
            )
        if (predicate := _predicate(call, module)) is not None and _returns_result(
            predicate, module
        ):
            yield RawFinding(
                predicate,
                'This function returns a Result, which is always true as a condition.',
                _HELP,
            )


def _conditions(module: Module) -> Iterator[ast.expr]:
    """Yield the expressions whose truth value decides something."""
    for node in module.nodes_of_type(ast.If):
        yield node.test
    for loop in module.nodes_of_type(ast.While):
        yield loop.test
    for assertion in module.nodes_of_type(ast.Assert):
        yield assertion.test
    for choice in module.nodes_of_type(ast.IfExp):
        yield choice.test
    for comprehension in module.nodes_of_type(ast.comprehension):
        yield from comprehension.ifs
    for case in module.nodes_of_type(ast.match_case):
        if case.guard is not None:
            yield case.guard
    for negation in module.nodes_of_type(ast.UnaryOp):
        if isinstance(negation.op, ast.Not):
            yield negation.operand
    for operation in module.nodes_of_type(ast.BoolOp):
        # The last operand is a condition only if the whole expression is.
        yield from operation.values[:-1]
        if operation in _boolean_contexts(operation, module):
            yield operation.values[-1]
    for call in module.nodes_of_type(ast.Call):
        if (
            isinstance(call.func, ast.Name)
            and len(call.args) == 1
            and module.full_name(call.func) == 'builtins.bool'
        ):
            yield call.args[0]


def _boolean_contexts(operation: ast.BoolOp, module: Module) -> Iterator[ast.expr]:
    """Yield the operation itself if it is a condition of its parent."""
    parent = module.parents.get(operation)
    match parent:
        case (
            ast.If(test=test) | ast.While(test=test) | ast.Assert(test=test) | ast.IfExp(test=test)
        ):
            if test is operation:
                yield operation
        case ast.UnaryOp(op=ast.Not()):
            yield operation
        case ast.BoolOp():
            yield from (operation for _ in _boolean_contexts(parent, module))
        case ast.comprehension(ifs=ifs):
            if operation in ifs:
                yield operation
        case _:
            return


def _is_coroutine(call: ast.Call, module: Module) -> bool:
    """Return whether a call returns a coroutine that returns a Result."""
    members = list(union_members(module.type_of(call)))
    return bool(members) and all(
        _COROUTINE in base_names(member) and is_result_only(awaited_type(member))
        for member in members
    )


def _predicate(call: ast.Call, module: Module) -> ast.expr | None:
    """Return the function whose values select items, as in `filter(is_valid, items)`."""
    match call.args:
        case [predicate, _] if module.full_name(call.func) in _FILTERS:
            return predicate
        case _:
            return None


def _returns_result(function: ast.expr, module: Module) -> bool:
    if isinstance(function, ast.Lambda):
        return are_results(module.types_of(function.body))
    return is_result_only(call_result_type(module.type_of(function)))


def _tested_results(call: ast.Call, module: Module) -> ast.expr | None:
    """Return the iterable whose items `any`, `all` or `filter(None, …)` tests."""
    if not isinstance(call.func, ast.Name) or call.keywords:
        return None
    match call.args:
        case [items] if module.full_name(call.func) in _QUANTIFIERS:
            return items
        case [ast.Constant(value=None), items] if module.full_name(call.func) == 'builtins.filter':
            return items
        case _:
            return None


def _has_results(results: ast.expr, module: Module) -> bool:
    match results:
        case ast.GeneratorExp(elt=tested):
            # The generator contains conditions or Results: its items decide.
            return are_results(module.types_of(tested))
        case ast.Call(ast.Name() as function, [step, _]) if (
            module.full_name(function) == 'builtins.map'
        ):
            # In the context of `all`, mypy infers `map[object]`.
            return _returns_result(step, module)
        case _:
            pass
    for member in union_members(module.type_of(results)):
        if base_names(member) & CONTAINERS or _ITERABLE in base_names(member):
            item = type_argument(member, _ITERABLE, 0)
            if item is not None and is_result_only(item):
                return True
    return False


RULE = Rule('SW117', 'Result as a condition', 'error', __doc__ or '', _find_conditions)
