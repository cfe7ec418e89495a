"""Commands of click and typer, and the tables by which `cli.main` shows their failures."""

import ast
from collections.abc import Iterator

from seamwise.check.facts import InstalledAdapter
from seamwise.check.inference.adapters.dependencies import covered_errors
from seamwise.check.inference.data_flow.error_inference import ErrorInference
from seamwise.check.typed_ast.channels import base_names, union_members

_MAIN = frozenset({'seamwise.seams.cli.main', 'seamwise.seams.cli.main.main'})
_FUNCTIONS = frozenset({'click.decorators.command', 'click.decorators.group'})
_METHODS = frozenset({'command', 'group', 'callback'})
_OWNERS = frozenset({'click.core.Group', 'typer.main.Typer'})


def commands(inference: ErrorInference) -> Iterator[str]:
    """Yield the full names of the commands, and of the functions that are passed to `cli.main`."""
    for function in inference.module.functions():
        if any(_is_command(decorator, inference) for decorator in function.decorator_list):
            yield inference.function_name(function)
    for app, _ in _programs(inference):
        if name := inference.qualified_name(app):
            yield name


def program_adapters(inference: ErrorInference) -> Iterator[InstalledAdapter]:
    """Yield the tables of a program: `cli.main(app, adapter)`."""
    for _, adapter in _programs(inference):
        yield InstalledAdapter(covered_errors(adapter, inference))


def _programs(inference: ErrorInference) -> Iterator[tuple[ast.expr, ast.expr]]:
    for call in inference.module.nodes_of_type(ast.Call):
        match call:
            case ast.Call(function, [app, adapter]) if (
                inference.module.full_name(function) in _MAIN
            ):
                yield app, adapter
            case _:
                pass


def _is_command(decorator: ast.expr, inference: ErrorInference) -> bool:
    module = inference.module
    function = decorator.func if isinstance(decorator, ast.Call) else decorator
    if module.full_name(function) in _FUNCTIONS:
        return True
    return (
        isinstance(function, ast.Attribute)
        and function.attr in _METHODS
        and any(
            base_names(member) & _OWNERS for member in union_members(module.type_of(function.value))
        )
    )
