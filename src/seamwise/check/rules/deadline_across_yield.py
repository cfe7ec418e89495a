"""# SW125: deadline across a `yield`

Do not keep a deadline open while a generator is suspended. The code that iterates over the
generator runs in the same task, so the deadline cancels that code instead of the block. It also
limits the calls of that code until the generator ends (see PEP 789).

```python
from collections.abc import AsyncIterator

from seamwise.policies import deadline


async def read() -> int:
    return 1
```

Reported:

```python
async def numbers() -> AsyncIterator[int]:
    async with deadline(2.0).acquire():
        yield await read()
```

Fixed:

```python
async def ints() -> AsyncIterator[int]:
    async with deadline(2.0).acquire():
        number = await read()
    yield number
```

| Block | Reported |
| --- | --- |
| `with guard.acquire():` with a `yield`, if `DeadlineExceeded` is an error of the guard | yes |
| `async for attempt in guard: async with attempt:` with a `yield`, for such a guard | yes |
| A generator that is not async: in a task, the deadline cancels its caller too | yes |
| A guard whose errors are unknown, such as a `Guard[Any]` | no |
| A `yield` after the block, or in a function that the block defines | no |
| A generator with `@asynccontextmanager`, or one that is passed on: `Depends(numbers)` | no |
"""

import ast
from collections.abc import Iterator

from seamwise.check.findings import RawFinding
from seamwise.check.inference import inference_of
from seamwise.check.inference.data_flow.error_inference import ErrorInference
from seamwise.check.inference.guarded_calls.guards import is_guard
from seamwise.check.rules.rule import Rule
from seamwise.check.typed_ast.channels import NO_ERRORS, base_names, call_result_type, union_members
from seamwise.check.typed_ast.program import FUNCTIONS, Function, Module, call_arguments, children

_DEADLINE = 'seamwise.policies.errors.DeadlineExceeded'
_ITERATORS = frozenset({'typing.AsyncIterator', 'typing.Iterator'})
_HELP = 'Read the next item inside the block, and yield it after the block.'
_PROBLEM = 'The deadline of this block also cancels the code that iterates over the generator.'


def _find_deadlines(module: Module) -> Iterator[RawFinding]:
    blocks: list[ast.With | ast.AsyncWith] = [
        *module.nodes_of_type(ast.With),
        *module.nodes_of_type(ast.AsyncWith),
    ]
    if not blocks:
        return
    inference = inference_of(module)
    for block in blocks:
        function = inference.module.enclosing_function(block)
        if (
            function is not None
            and any(_yields(statement) for statement in block.body)
            and any(_has_deadline(item.context_expr, inference) for item in block.items)
            and not _is_passed_on(function, module)
        ):
            yield RawFinding(block, _PROBLEM, _HELP)


def _yields(node: ast.AST) -> bool:
    """Return whether a node contains a `yield`, apart from functions that it defines."""
    if isinstance(node, ast.Yield | ast.YieldFrom):
        return True
    if isinstance(node, (*FUNCTIONS, ast.Lambda, ast.ClassDef)):
        return False
    return any(map(_yields, children(node)))


def _has_deadline(manager: ast.expr, inference: ErrorInference) -> bool:
    guard = _guard_of(manager, inference.module)
    return (
        guard is not None
        and is_guard(guard, inference)
        and _DEADLINE in (inference.guard_errors(guard) or NO_ERRORS)
    )


def _guard_of(manager: ast.expr, module: Module) -> ast.expr | None:
    """Return the guard of `guard.acquire()`, or of an attempt."""
    match manager:
        case ast.Call(ast.Attribute(guard, 'acquire')):
            return guard
        case ast.Name(name):
            return _guard_of_loop(manager, name, module)
        case _:
            return None


def _guard_of_loop(node: ast.AST, name: str, module: Module) -> ast.expr | None:
    """Return what the innermost loop for a name iterates over: `async for attempt in guard:`."""
    for outer in module.ancestors(node):
        match outer:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                return None
            case ast.For(ast.Name(target), iterable) | ast.AsyncFor(ast.Name(target), iterable):
                if target == name:
                    return iterable
            case _:
                pass
    return None


def _is_passed_on(function: Function, module: Module) -> bool:
    """Return whether a generator becomes something else, such as a context manager."""
    if function.decorator_list:
        decorated = module.decorated_type(function)
        returned = union_members(call_result_type(decorated))
        if decorated is not None and not any(base_names(item) & _ITERATORS for item in returned):
            return True
    return any(
        isinstance(argument, ast.Name) and argument.id == function.name
        for call in module.nodes_of_type(ast.Call)
        for argument in call_arguments(call)
    )


RULE = Rule('SW125', 'deadline across a `yield`', 'error', __doc__ or '', _find_deadlines)
