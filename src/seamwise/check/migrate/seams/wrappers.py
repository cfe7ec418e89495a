"""Middlewares and decorators around the routes of FastAPI that answer their exceptions."""

import ast
from collections.abc import Iterator

from msgspec import Struct

from seamwise.check.migrate.seams.handler import is_instance
from seamwise.check.migrate.seams.web import APPLICATIONS, body_of, is_route
from seamwise.check.typed_ast.program import Function, Module, Program


class Wrapper(Struct, eq=False):
    """A middleware or a decorator around routes that answers their exceptions."""

    statement: ast.Try
    module: Module
    is_whole: bool
    """Whether it does nothing but answer exceptions."""
    nodes: tuple[ast.AST, ...]
    """Its definition and its registration."""
    name: str
    """Full name of a class or of a decorator."""
    is_middleware: bool
    problem: str = ''
    """Reason against a table."""


def wrappers_of(program: Program, application: Module) -> list[Wrapper]:
    """Return the middlewares and decorators of an application that answer exceptions."""
    found = list(_middlewares(program, application))
    for module in program.modules:
        for node in module.syntax.body:
            wrapper = _decorator(node, module) if isinstance(node, ast.FunctionDef) else None
            if wrapper is not None and _decorates_routes(wrapper, program):
                found.append(wrapper)
    return found


def _middlewares(program: Program, application: Module) -> Iterator[Wrapper]:
    """Yield the middlewares that answer exceptions, the innermost first."""
    found = [
        registered
        for node in application.syntax.body
        if (registered := _registered(node, program, application)) is not None
    ]
    # One that is added in another way may be between a middleware and the routes.
    count = sum(
        node.attr in {'add_middleware', 'middleware'}
        and is_instance(node.value, module, APPLICATIONS)
        for module in program.modules
        for node in module.nodes_of_type(ast.Attribute)
    ) + sum(
        keyword.arg == 'middleware'
        for call in application.nodes_of_type(ast.Call)
        if application.full_name(call.func) in APPLICATIONS
        for keyword in call.keywords
    )
    is_innermost = len(found) == count
    for (wrapper,) in found:
        if wrapper is not None:
            if not is_innermost:
                wrapper.problem = wrapper.problem or 'a middleware around another one, which stays'
            yield wrapper
        is_innermost = (
            is_innermost and wrapper is not None and wrapper.is_whole and not wrapper.problem
        )


def middleware_clauses(program: Program, application: Module) -> Iterator[ast.ExceptHandler]:
    """Yield the clauses of all middlewares of the program; `install` acts inside of these."""
    registered = {
        application.full_name(call.args[0])
        for call in application.nodes_of_type(ast.Call)
        if isinstance(call.func, ast.Attribute) and call.func.attr == 'add_middleware' and call.args
    }
    for module in program.modules:
        for node in module.syntax.body:
            match node:
                case (
                    ast.FunctionDef(decorator_list=decorators)
                    | ast.AsyncFunctionDef(decorator_list=decorators)
                ):
                    is_middleware = any(
                        isinstance(decorator, ast.Call)
                        and isinstance(decorator.func, ast.Attribute)
                        and decorator.func.attr == 'middleware'
                        for decorator in decorators
                    )
                case ast.ClassDef(name):
                    is_middleware = f'{module.name}.{name}' in registered
                case _:
                    continue
            if is_middleware:
                yield from (part for part in ast.walk(node) if isinstance(part, ast.ExceptHandler))


def _registered(
    node: ast.stmt, program: Program, application: Module
) -> tuple[Wrapper | None] | None:
    """Return the middleware that a statement adds; None if it adds none.

    The wrapper is None if the middleware does not only answer exceptions.
    """
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            for decorator in node.decorator_list:
                match decorator:
                    case ast.Call(ast.Attribute(owner, 'middleware'), [ast.Constant('http')]) if (
                        is_instance(owner, application, APPLICATIONS)
                    ):
                        return (_around(node, (node,), application, ''),)
                    case _:
                        pass
            return None
        case ast.Expr(ast.Call(ast.Attribute(owner, 'add_middleware'), [class_], keywords)) if (
            is_instance(owner, application, APPLICATIONS)
        ):
            wrapper = _middleware_class(class_, node, program, application)
            return (wrapper if not keywords else None,)
        case _:
            return None


def _middleware_class(
    class_: ast.expr, registration: ast.stmt, program: Program, application: Module
) -> Wrapper | None:
    """Return the middleware of a class that has no other method than `dispatch`."""
    name = application.full_name(class_)
    for module in program.modules:
        for node in module.syntax.body:
            if not isinstance(node, ast.ClassDef) or f'{module.name}.{node.name}' != name:
                continue
            bases = [module.full_name(base) for base in node.bases]
            match body_of(node):
                case [ast.AsyncFunctionDef('dispatch') as dispatch] if bases == [
                    'starlette.middleware.base.BaseHTTPMiddleware'
                ]:
                    uses = _uses(name, program)
                    wrapper = _around(dispatch, (node, registration), module, name)
                    if wrapper is not None and len(uses) != 1:
                        wrapper.is_whole = False
                    return wrapper
                case _:
                    return None
    return None


def _uses(name: str, program: Program) -> list[ast.expr]:
    return [
        node
        for module in program.modules
        for node in (*module.nodes_of_type(ast.Name), *module.nodes_of_type(ast.Attribute))
        if module.full_name(node) == name
    ]


def _around(
    function: Function, nodes: tuple[ast.AST, ...], module: Module, name: str
) -> Wrapper | None:
    """Return a middleware whose clauses are around the rest of the application alone."""
    parameters = [parameter.arg for parameter in function.args.args]
    body = body_of(function)
    statement = next((part for part in body if isinstance(part, ast.Try)), None)
    if statement is None:
        return None
    rest = body[body.index(statement) + 1 :]
    match [*statement.body, *statement.orelse, *rest]:
        case [ast.Return(ast.Await(ast.Call(ast.Name(called), [ast.Name(request)], [])))]:
            is_alone = True
        case [
            ast.Assign(
                [ast.Name(target)], ast.Await(ast.Call(ast.Name(called), [ast.Name(request)], []))
            ),
            ast.Return(ast.Name(returned)),
        ]:
            is_alone = target == returned
        case _:
            is_alone, called, request = False, '', ''
    is_alone = is_alone and [request, called] == parameters[-2:]
    is_whole = is_alone and body[0] is statement and not statement.finalbody
    problem = '' if is_alone else 'a middleware that also changes responses'
    return Wrapper(statement, module, is_whole, nodes, name, is_middleware=True, problem=problem)


def _decorator(node: ast.FunctionDef, module: Module) -> Wrapper | None:
    """Return the decorator whose wrapper only calls the function inside of its clauses."""
    match node.args.args, body_of(node):
        case (
            [ast.arg(function)],
            [
                (ast.FunctionDef() | ast.AsyncFunctionDef()) as wrapper,
                ast.Return(ast.Name(returned)),
            ],
        ) if returned == wrapper.name and len(wrapper.decorator_list) == 1:
            pass
        case _:
            return None
    match body_of(wrapper):
        case [ast.Try(body=[ast.Return(ast.expr() as value)]) as statement]:
            pass
        case _:
            return None
    match value.value if isinstance(value, ast.Await) else value:
        case ast.Call(ast.Name(called), [ast.Starred()], [ast.keyword(None)]) if called == function:
            pass
        case _:
            return None
    is_whole = not statement.finalbody and not statement.orelse
    name = f'{module.name}.{node.name}'
    return Wrapper(statement, module, is_whole, (node,), name, is_middleware=False)


def _decorates_routes(wrapper: Wrapper, program: Program) -> bool:
    names = frozenset({wrapper.name})
    decorators = {
        decorator
        for module in program.modules
        for function in module.functions()
        if is_route(function, module, names)
        for decorator in function.decorator_list
    }
    uses = _uses(wrapper.name, program)
    return bool(uses) and decorators.issuperset(uses)
