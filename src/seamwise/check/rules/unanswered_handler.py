"""# SW126: handler of a framework that returns a Result

Convert the Result of a handler into a response. Only FastAPI with `install` and handlers with
`endpoint` convert it; every other framework refuses it, and the client gets a 500.

```sh
pip install 'seamwise[http]' starlette
```

```python
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.routing import Route

from seamwise import Category, Failure, Result, Success, TaggedError
from seamwise.seams.http import endpoint, on


class NoOrder(TaggedError, category=Category.NOT_FOUND, message='There is no such order.'):
    pass


ORDERS = on(NoOrder).responds(404, 'ORDER_NOT_FOUND')
```

Reported:

```python
async def order(request: Request) -> Result[dict[str, int], NoOrder]:
    return Success({'number': 1}) if request.query_params else Failure(NoOrder())


routes = [Route('/orders', order)]
```

Fixed:

```python
@endpoint(ORDERS)
async def own_order(request: Request) -> Result[dict[str, int], NoOrder]:
    return Success({'number': 1}) if request.query_params else Failure(NoOrder())


app = Starlette(routes=[Route('/own-orders', own_order)])
```

| Handler | Reported |
| --- | --- |
| Starlette: `Route('/orders', order)`; Django: `path('orders', order)` | yes |
| Flask: `@app.get(…)`, if `app` is a `Flask`, and no subclass or blueprint | yes |
| Litestar: `@get(…)`, unless it or the application has `type_encoders`, `response_class` … | yes |
| aiohttp: `web.get(…)`, `@routes.get(…)`, beside an `Application` without middleware | yes |
| FastAPI: `@app.get(…)`, if the file creates and runs the application and installs nothing | yes |
| FastAPI: a router, or an application of another file, which may be installed there | no |
| A handler with a further decorator, such as `endpoint`, which may convert the Result | no |
| A handler whose return type is not declared | no |
"""

import ast
from collections.abc import Iterator, Mapping
from types import MappingProxyType

from seamwise.check._mypy.types import Instance, Type
from seamwise.check.findings import RawFinding
from seamwise.check.rules.rule import Rule
from seamwise.check.typed_ast.channels import (
    awaited_type,
    call_result_type,
    channel_of,
    union_members,
)
from seamwise.check.typed_ast.program import Function, Module
from seamwise.check.typed_ast.qualified_names import qualified_name

_METHODS = frozenset([
    'delete', 'get', 'head', 'options', 'patch', 'post', 'put', 'route', 'api_route', 'trace',
])  # fmt: skip
_FASTAPI = 'fastapi.applications.FastAPI'
_AIOHTTP = 'aiohttp.web_app.Application'
_ROUTERS: Mapping[str, str] = MappingProxyType(
    {
        _FASTAPI: 'FastAPI',
        'flask.app.Flask': 'Flask',
        'aiohttp.web_routedef.RouteTableDef': 'aiohttp',
    }
)
"""Classes whose methods decorate handlers, with the name of the framework."""
_LITESTAR = 'litestar.handlers.http_handlers.decorators.'
_CONVERTERS = frozenset(['type_encoders', 'response_class', 'return_dto', 'dto', 'after_request'])
"""Arguments of Litestar that may convert what a handler returns."""
_CALLS: Mapping[str, tuple[str, int, str]] = MappingProxyType(
    {
        'starlette.routing.Route': ('Starlette', 1, 'endpoint'),
        'django.urls.path': ('Django', 1, 'view'),
        'django.urls.re_path': ('Django', 1, 'view'),
        **{
            f'aiohttp.web_routedef.{method}': ('aiohttp', 1, 'handler')
            for method in ('delete', 'get', 'head', 'patch', 'post', 'put')
        },
    }
)
"""Functions that add a handler: the framework, and position and name of the handler."""
_RUNNERS = frozenset(['run', 'TestClient'])
_HELP = 'Decorate the handler with `endpoint`, or convert the Result with `to_response`.'


def _find_unanswered_handlers(module: Module) -> Iterator[RawFinding]:
    for function in module.functions():
        frameworks = [_decorating(decorator, module) for decorator in function.decorator_list]
        # Another decorator may convert the Result.
        if frameworks and all(frameworks) and _returns_result(function, module):
            yield _finding(function, frameworks[0])
    for call in module.nodes_of_type(ast.Call):
        framework, handler = _added(call, module)
        if handler is not None and _is_result(call_result_type(module.type_of(handler))):
            yield _finding(handler, framework)


def _finding(node: Function | ast.expr, framework: str) -> RawFinding:
    problem = f'{framework} cannot convert the Result that this handler returns.'
    return RawFinding(node, problem, _HELP)


def _returns_result(function: Function, module: Module) -> bool:
    declared = module.declared_type(function)
    return declared is not None and _is_result(call_result_type(declared))


def _is_result(type_: Type | None) -> bool:
    members = list(union_members(type_))
    return bool(members) and all(
        channel_of(awaited_type(member) or member) is not None for member in members
    )


def _decorating(decorator: ast.expr, module: Module) -> str:
    """Return the framework whose route a decorator adds; empty if it is none, or may convert."""
    if not isinstance(decorator, ast.Call):
        return ''
    if module.full_name(decorator.func).startswith(_LITESTAR):
        return '' if _has_converter(decorator, module) else 'Litestar'
    match decorator.func:
        case ast.Attribute(router, method) if method in _METHODS:
            pass
        case _:
            return ''
    framework = _ROUTERS.get(_class_of(router, module), '')
    if framework == 'FastAPI':
        return framework if _is_run_here(router, module) else ''
    if framework == 'aiohttp':
        return framework if _has_plain_application(module) else ''
    return framework


def _class_of(node: ast.expr, module: Module) -> str:
    """Return the full name of the class itself: a subclass may convert Results."""
    names = {
        member.type.fullname if isinstance(member, Instance) else ''
        for member in union_members(module.type_of(node))
    }
    return names.pop() if len(names) == 1 else ''


def _has_converter(decorator: ast.Call, module: Module) -> bool:
    applications = [
        call for call in module.nodes_of_type(ast.Call) if _last_name(call.func) == 'Litestar'
    ]
    return any(
        keyword.arg is None or keyword.arg in _CONVERTERS
        for call in (decorator, *applications)
        for keyword in call.keywords
    )


def _is_run_here(app: ast.expr, module: Module) -> bool:
    """Return whether a file creates and runs an application, and passes it to nothing else."""
    if not isinstance(app, ast.Name):
        return False
    uses = [
        _last_name(call.func)
        for call in module.nodes_of_type(ast.Call)
        if any(isinstance(item, ast.Name) and item.id == app.id for item in call.args)
    ]
    is_created = any(
        isinstance(assignment.value, ast.Call)
        and any(
            isinstance(target, ast.Name) and target.id == app.id for target in assignment.targets
        )
        for assignment in module.nodes_of_type(ast.Assign)
    )
    return is_created and bool(uses) and _RUNNERS.issuperset(uses)


def _has_plain_application(module: Module) -> bool:
    """Return whether a file creates applications of aiohttp, none of them with middleware."""
    applications = [
        call for call in module.nodes_of_type(ast.Call) if module.full_name(call.func) == _AIOHTTP
    ]
    uses_middleware = any(
        node.attr == 'middlewares' for node in module.nodes_of_type(ast.Attribute)
    )
    return (
        bool(applications)
        and not uses_middleware
        and not any(call.keywords or call.args for call in applications)
    )


def _added(call: ast.Call, module: Module) -> tuple[str, ast.expr | None]:
    """Return the framework and the handler of a call that adds a route."""
    framework, position, keyword = _CALLS.get(qualified_name(call.func, module), ('', 0, ''))
    if not framework or (framework == 'aiohttp' and not _has_plain_application(module)):
        return '', None
    named = [item.value for item in call.keywords if item.arg == keyword]
    positional = call.args[position : position + 1]
    return framework, next(iter((*named, *positional)), None)


def _last_name(node: ast.expr) -> str:
    return ast.unparse(node).rpartition('.')[2]


RULE = Rule(
    'SW126',
    'handler of a framework that returns a Result',
    'error',
    __doc__ or '',
    _find_unanswered_handlers,
)
