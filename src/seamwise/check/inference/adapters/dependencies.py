"""Dependencies of FastAPI in a module, and the adapters that answer their failures."""

import ast
from collections.abc import Collection, Iterator

from seamwise.check._mypy.nodes import Var
from seamwise.check._mypy.plugin.arms import errors_and_shape
from seamwise.check.facts import DependencyUse, InstalledAdapter, Route
from seamwise.check.inference.data_flow.error_inference import ErrorInference
from seamwise.check.typed_ast.channels import (
    UNSPECIFIC,
    base_names,
    call_result_type,
    errors_in,
    errors_of_type,
    may_be,
    union_members,
)
from seamwise.check.typed_ast.program import FUNCTIONS, Function, Module
from seamwise.check.typed_ast.qualified_names import qualified_name

_MARKERS = frozenset({
    'fastapi.Depends', 'fastapi.Security', 'fastapi.param_functions.Depends',
    'fastapi.param_functions.Security', 'fastapi.params.Depends', 'fastapi.params.Security',
})  # fmt: skip
_OWNERS = frozenset({'fastapi.applications.FastAPI', 'fastapi.routing.APIRouter'})
_ROUTE_METHODS = frozenset(
    ['api_route', 'delete', 'get', 'head', 'options', 'patch', 'post', 'put', 'trace', 'websocket']
)
_ADD_METHODS = frozenset({'add_api_route', 'add_api_websocket_route'})
_ENDPOINT = 'seamwise.seams.http.fastapi.endpoints.endpoint'
_APPLICATION = 'starlette.applications.Starlette'


def dependency_uses(inference: ErrorInference) -> Iterator[DependencyUse]:
    """Yield the dependencies of each function, route and named annotation of a module."""
    module = inference.module
    for call in module.nodes_of_type(ast.Call):
        if call.args and qualified_name(call.func, module) in _MARKERS:
            owner, dependency = _owner(call, inference), _dependency(call.args[0], inference)
            if owner is not None and dependency:
                declared = _errors_of_variable(call.args[0], module)
                yield DependencyUse(owner, dependency, module.location_of(call), declared)
    if not _imports_fastapi(module):
        return
    for function in module.functions():
        # `user: CurrentUser` has the dependencies of `CurrentUser = Annotated[User, Depends(…)]`.
        for annotation in _annotations(function):
            if isinstance(annotation, ast.Name | ast.Attribute):
                yield DependencyUse(
                    inference.function_name(function),
                    qualified_name(annotation, module) or _name(annotation, inference),
                    module.location_of(annotation),
                )


def routes(inference: ErrorInference) -> Iterator[Route]:
    """Yield the routes of a module, with the errors that the adapter of each one covers."""
    for function in inference.module.functions():
        endpoints = [
            decorator
            for decorator in function.decorator_list
            if isinstance(decorator, ast.Call)
            and inference.module.full_name(decorator.func) == _ENDPOINT
        ]
        name = inference.function_name(function)
        if endpoints and endpoints[0].args:
            covered = covered_errors(endpoints[0].args[0], inference)
            yield Route(name, tuple(UNSPECIFIC) if covered is None else covered)
        elif any(
            _is_call_of(decorator, _ROUTE_METHODS, inference)
            for decorator in function.decorator_list
        ):
            yield Route(name, None)
    for call in inference.module.nodes_of_type(ast.Call):
        handler = _added_handler(call, inference)
        if handler:
            yield Route(handler, None)


def installed_adapters(inference: ErrorInference) -> Iterator[InstalledAdapter]:
    """Yield the adapters that a module installs for an application: `install(app, adapter)`."""
    for call in inference.module.nodes_of_type(ast.Call):
        match call:
            case ast.Call(ast.Name(id='install') | ast.Attribute(attr='install'), [app, adapter]):
                if may_be(inference.module.type_of(app), _APPLICATION):
                    yield InstalledAdapter(covered_errors(adapter, inference))
            case _:
                pass


def _imports_fastapi(module: Module) -> bool:
    names = [alias.name for node in module.nodes_of_type(ast.Import) for alias in node.names]
    names += [node.module or '' for node in module.nodes_of_type(ast.ImportFrom)]
    return any(name.partition('.')[0] == 'fastapi' for name in names)


def _owner(marker: ast.Call, inference: ErrorInference) -> str | None:
    """Return the full name of the function, or of the annotation, that has a dependency.

    It is empty for `dependencies=[…]` of an application or a router, and None for other places.
    """
    node: ast.AST = marker
    while (parent := inference.module.parents.get(node)) is not None:
        match parent:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                is_signature = node is parent.args or node in parent.decorator_list
                return inference.function_name(parent) if is_signature else None
            case ast.keyword(arg='dependencies') if not _is_in_decorator(parent, inference):
                return ''
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                return f'{inference.module.name}.{name}'
            case ast.stmt():
                return None
            case _:
                node = parent
    return None


def _is_in_decorator(node: ast.AST, inference: ErrorInference) -> bool:
    parent = inference.module.parents.get(node)
    while parent is not None and not isinstance(parent, ast.stmt):
        node, parent = parent, inference.module.parents.get(parent)
    return isinstance(parent, FUNCTIONS) and node in parent.decorator_list


def _annotations(function: Function) -> Iterator[ast.expr]:
    arguments = function.args
    for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
        if argument.annotation is not None:
            yield argument.annotation


def _dependency(node: ast.expr, inference: ErrorInference) -> str:
    """Return the full name of a dependency, with `()` if a call returns it; empty if unknown."""
    if not isinstance(node, ast.Call):
        return _name(node, inference)
    callee = _name(node.func, inference)
    return callee and f'{callee}()'


def _errors_of_variable(node: ast.expr, module: Module) -> tuple[str, ...]:
    """Return the errors of the function or instance in a variable, by its type."""
    definition = module.global_definition(ast.unparse(node))
    if not isinstance(definition, Var) or definition.type is None:
        return ()
    return tuple(sorted(errors_in(call_result_type(definition.type)) or ()))


def _name(node: ast.expr, inference: ErrorInference) -> str:
    """Return the full name of a function or an annotation; empty if unknown.

    mypy does not examine what is inside `Annotated[…]`.
    """
    known = inference.qualified_name(node) or qualified_name(node, inference.module)
    if known and '.' in known:
        return known
    return f'{inference.module.name}.{node.id}' if isinstance(node, ast.Name) else ''


def _added_handler(call: ast.Call, inference: ErrorInference) -> str:
    """Return the full name of the handler in `app.add_api_route(path, handler)`, else ''."""
    if not _is_call_of(call, _ADD_METHODS, inference):
        return ''
    named = [keyword.value for keyword in call.keywords if keyword.arg == 'endpoint']
    return next((_name(node, inference) for node in (*call.args[1:2], *named)), '')


def _is_call_of(node: ast.expr, methods: Collection[str], inference: ErrorInference) -> bool:
    """Return whether a node calls one of these methods of an application or a router."""
    match node:
        case ast.Call(ast.Attribute(owner, method)) if method in methods:
            owners = union_members(inference.module.type_of(owner))
            return any(base_names(member) & _OWNERS for member in owners)
        case _:
            return False


def covered_errors(adapter: ast.expr, inference: ErrorInference) -> tuple[str, ...] | None:
    """Return the errors that an adapter covers, by its type; None if they are unknown."""
    covered = errors_and_shape(inference.module.type_of(adapter))
    errors = None if covered is None else errors_of_type(covered[0])
    return None if errors is None else tuple(sorted({info.fullname for info in errors.values()}))
