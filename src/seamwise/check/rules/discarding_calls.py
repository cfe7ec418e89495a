"""Functions of other packages that call a function and discard its return value."""

import ast
from collections.abc import Iterator, Mapping
from types import MappingProxyType

from seamwise.check.typed_ast.channels import base_names, union_members
from seamwise.check.typed_ast.program import Module

_LOOP = 'asyncio.events.AbstractEventLoop'
_LOOP_METHODS = {
    'call_soon': 0, 'call_soon_threadsafe': 0, 'call_later': 1, 'call_at': 1,
    'add_reader': 1, 'add_writer': 1, 'add_signal_handler': 1,
}  # fmt: skip
_PARAMETERS: Mapping[str, tuple[int, str]] = MappingProxyType({
    'atexit.register': (0, ''),
    'signal.signal': (1, ''),
    'threading.Thread': (1, 'target'),
    'threading.Timer': (1, 'function'),
    'multiprocessing.context.Process': (1, 'target'),
    'multiprocessing.process.BaseProcess': (1, 'target'),
    'weakref.finalize': (1, ''),
    'contextlib.ExitStack.callback': (0, ''),
    'contextlib.AsyncExitStack.callback': (0, ''),
    'contextlib._BaseExitStack.callback': (0, ''),
    'contextlib.AsyncExitStack.push_async_callback': (0, ''),
    'sched.scheduler.enter': (2, 'action'),
    'sched.scheduler.enterabs': (2, 'action'),
    'concurrent.futures._base.Future.add_done_callback': (0, 'fn'),
    '_asyncio.Future.add_done_callback': (0, 'fn'),
    'asyncio.futures.Future.add_done_callback': (0, 'fn'),
    'unittest.case.TestCase.addCleanup': (0, ''),
    'unittest.async_case.IsolatedAsyncioTestCase.addAsyncCleanup': (0, ''),
    'anyio.abc._tasks.TaskGroup.start_soon': (0, 'func'),
    'starlette.background.BackgroundTask': (0, 'func'),
    'starlette.background.BackgroundTasks.add_task': (0, 'func'),
    **{f'{_LOOP}.{method}': (index, 'callback') for method, index in _LOOP_METHODS.items()},
})  # fmt: skip
"""Position and name of the parameter; the name is empty if the parameter is positional-only."""
_MAPS = frozenset({'concurrent.futures._base.Executor.map'})
"""Methods that call a function at once, and return an iterator of what it returns."""
_DECORATORS = frozenset({'atexit.register'})


def discarded_functions(call: ast.Call, module: Module) -> Iterator[tuple[ast.expr, str]]:
    """Yield the argument of a call whose return value the callee discards, and the callee."""
    for name in _callee_names(call.func, module):
        if name in _MAPS and call.args and isinstance(module.parents.get(call), ast.Expr):
            yield call.args[0], ast.unparse(call.func)
        if name not in _PARAMETERS:
            continue
        index, keyword = _PARAMETERS[name]
        arguments = [item.value for item in call.keywords if keyword and item.arg == keyword]
        positional = call.args[: index + 1]
        if len(positional) == index + 1 and not any(
            isinstance(argument, ast.Starred) for argument in positional
        ):
            arguments.append(positional[index])
        yield from ((argument, ast.unparse(call.func)) for argument in arguments)
        return


def discarding_decorator(decorators: list[ast.expr], module: Module) -> ast.expr | None:
    """Return the decorator by which another package calls a function and discards its value."""
    return next((item for item in decorators if module.full_name(item) in _DECORATORS), None)


def _callee_names(function: ast.expr, module: Module) -> Iterator[str]:
    """Yield the full names of a called function or method, including the inherited method."""
    if name := module.full_name(function):
        yield name
    if isinstance(function, ast.Attribute):
        for owner in union_members(module.type_of(function.value)):
            yield from (f'{base}.{function.attr}' for base in base_names(owner))
