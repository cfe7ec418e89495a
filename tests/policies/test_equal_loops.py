"""The loops for tasks and for threads are the same, statement by statement."""

import ast
import inspect
import textwrap
from collections.abc import Callable
from typing import Any

import pytest
from typing_extensions import override

from seamwise.policies._engine import blocks
from seamwise.policies._engine.pipeline import Guard, Layer
from seamwise.policies.circuit import Circuit

SYNC_NAMES = {
    'run': 'run_sync',
    'complete_wait': 'complete_wait_sync',
    '_resolve': '_resolve_sync',
    '_wait_all': '_wait_all_sync',
}


class WithoutAwait(ast.NodeTransformer):
    """Turn the body of a coroutine function into that of a function."""

    @override
    def visit_Await(self, node: ast.Await) -> ast.AST:
        call = self.visit(node.value)
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute):
            call.func.attr = SYNC_NAMES.get(call.func.attr, call.func.attr)
            if call.func.attr == '_resolve_sync':
                # Only a task can run the rest of a pipeline several times.
                del call.args[2:]
        elif isinstance(call, ast.Call) and isinstance(call.func, ast.Name):
            call.func.id = SYNC_NAMES.get(call.func.id, call.func.id)
        result: ast.AST = call
        return result


def statements(function: Callable[..., Any]) -> list[str]:
    """Return the statements of a function without its docstring."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    [definition] = tree.body
    assert isinstance(definition, ast.FunctionDef | ast.AsyncFunctionDef)
    body = definition.body[1:] if ast.get_docstring(definition) else definition.body
    texts = [ast.unparse(WithoutAwait().visit(statement)) for statement in body]
    # Only a task can belong to trio.
    return [text for text in texts if not text.endswith('\n    refuse_trio()')]


@pytest.mark.parametrize(
    ('in_task', 'in_thread'),
    [
        (Guard[object].run, Guard[object].run_sync),
        (Layer[object].run, Layer[object].run_sync),
        (Circuit.run, Circuit.run_sync),
        (blocks._wait_all, blocks._wait_all_sync),
        (blocks.Block.__aenter__, blocks.Block.__enter__),
        (blocks.Block.__aexit__, blocks.Block.__exit__),
    ],
)
def test_loops_are_equal(in_task: Callable[..., Any], in_thread: Callable[..., Any]) -> None:
    assert inspect.iscoroutinefunction(in_task)
    assert statements(in_task) == statements(in_thread)
