"""Handlers of FastAPI for exceptions, which become one table of errors."""

import ast
from collections.abc import Collection, Iterator

from seamwise.check.migrate.seams.handler import (
    ErrorHandler,
    arguments,
    created_objects,
    is_instance,
    uses_only,
)
from seamwise.check.typed_ast.program import FUNCTIONS, Function, Module, Program

_FASTAPI = 'fastapi.applications.FastAPI'
APPLICATIONS = frozenset({_FASTAPI})
_ROUTERS = frozenset({_FASTAPI, 'fastapi.routing.APIRouter'})
_METHODS = frozenset({'get', 'post', 'put', 'patch', 'delete', 'head', 'options', 'api_route'})
_HTTP_EXCEPTIONS = frozenset(
    {'fastapi.exceptions.HTTPException', 'starlette.exceptions.HTTPException'}
)
_INVALID_REQUEST = 'fastapi.exceptions.RequestValidationError'
_NAMES = frozenset({'bare', 'install', 'on', 'HttpError', 'ErrorBody', 'ERRORS'})
_CLIENT_ERRORS = range(400, 500)
"""Statuses whose details clients see."""


def handlers_of(program: Program) -> tuple[Module, list[ErrorHandler]] | None:
    """Return the handlers of the only application of a program, if a table can replace them."""
    creations = [
        (module, call)
        for module in program.modules
        for call in module.nodes_of_type(ast.Call)
        if module.full_name(call.func) == _FASTAPI
    ]
    if len(creations) != 1:
        return None
    module, creation = creations[0]
    names = {node.id for node in module.nodes_of_type(ast.Name)} | {
        alias.asname or alias.name
        for node in module.nodes_of_type(ast.ImportFrom)
        for alias in node.names
    }
    adds_others = any(
        node.attr in {'add_exception_handler', 'exception_handlers'}
        for other in program.modules
        for node in other.nodes_of_type(ast.Attribute)
    ) or any(keyword.arg == 'exception_handlers' for keyword in creation.keywords)
    if names & _NAMES or adds_others:
        return None
    handlers = [found for node in module.syntax.body if (found := _handler(node, module))]
    return module, handlers


def _handler(node: ast.stmt, module: Module) -> ErrorHandler | None:
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            pass
        case _:
            return None
    match node.decorator_list, node.args.args, body_of(node):
        case (
            [ast.Call(ast.Attribute(ast.Name() as owner, 'exception_handler'), [kind], [])],
            [request, error],
            [ast.Return(ast.Call() as answer)],
        ) if is_instance(owner, module, APPLICATIONS):
            pass
        case _:
            return None
    found = _json_response(answer, module)
    if found is None:
        return None
    status, content = found
    if any(isinstance(part, ast.Name) and part.id == request.arg for part in ast.walk(content)):
        return None
    name = ast.unparse(answer.func)
    return ErrorHandler(node, status, content, error.arg, kind, error.annotation, name)


def _json_response(call: ast.Call, module: Module) -> tuple[int, ast.Dict] | None:
    """Return the status and the body of a `JSONResponse`, if a table can answer with them."""
    given = arguments(call, 'content', 'status_code')
    match given:
        case {'content': ast.Dict() as content, 'status_code': ast.Constant(int() as status)} if (
            module.full_name(call.func).endswith('.JSONResponse')
            and given.keys() == {'content', 'status_code'}
            and status in _CLIENT_ERRORS
            and None not in content.keys
        ):
            return status, content
        case _:
            return None


def application_name(module: Module) -> str:
    """Return the name of the application; empty if it is not assigned at the top of its module."""
    return next((name for name, class_ in created_objects(module) if class_ == _FASTAPI), '')


def answer_of(
    clause: ast.ExceptHandler, module: Module, application: Module, *, is_middleware: bool = False
) -> ErrorHandler | None:
    """Return the answer of a clause that only raises an `HTTPException` or returns a response.

    Args:
        clause: The clause.
        module: Its module.
        application: The module of the table.
        is_middleware: Whether the clause is outside of the code that answers an `HTTPException`.
    """
    error = clause.name or 'error'
    match clause.body:
        case [ast.Raise(ast.Call() as call, ast.Name() | ast.Constant() | None)] if (
            module.full_name(call.func) in _HTTP_EXCEPTIONS and not is_middleware
        ):
            pass
        case [ast.Return(ast.Call() as call)]:
            found = _json_response(call, module)
            if found is None:
                return None
            status, content = found
            names = {part.id for part in ast.walk(content) if isinstance(part, ast.Name)}
            is_own = module is application and not names & (_locals(clause, module) - {error})
            if not is_own and not uses_only(content, error):
                return None
            response = ast.unparse(call.func) if module is application else ''
            return ErrorHandler(clause, status, content, error, response=response)
        case _:
            return None
    given = arguments(call, 'status_code', 'detail')
    match given:
        case {'status_code': ast.Constant(int() as status), 'detail': detail} if (
            given.keys() == {'status_code', 'detail'} and status in _CLIENT_ERRORS
        ):
            pass
        case _:
            return None
    if not uses_only(detail, error):
        return None
    return ErrorHandler(clause, status, ast.Dict([ast.Constant('detail')], [detail]), error)


def _locals(clause: ast.ExceptHandler, module: Module) -> set[str]:
    """Return the names that the function of a clause binds, and those around it."""
    names: set[str] = set()
    scope = module.scope_of(clause)
    while isinstance(scope, FUNCTIONS):
        for node in ast.walk(scope):
            match node:
                case ast.Name(name, ast.Store()) | ast.arg(name):
                    names.add(name)
                case _:
                    pass
        scope = module.scope_of(module.parents[scope])
    return names


def body_of(node: Function | ast.ClassDef) -> list[ast.stmt]:
    """Return the statements of a function or class without its docstring."""
    return node.body[1:] if ast.get_docstring(node) is not None else node.body


def is_route(function: Function, module: Module, known: Collection[str] = ()) -> bool:
    """Return whether decorators make a function answer requests of FastAPI, and do nothing else.

    Args:
        function: The function.
        module: Its module.
        known: Full names of decorators that may be below those of routes.
    """
    decorators = function.decorator_list
    routing = [decorator for decorator in decorators if module.full_name(decorator) not in known]
    return (
        bool(routing)
        and routing == decorators[: len(routing)]
        and all(
            isinstance(decorator, ast.Call)
            and isinstance(decorator.func, ast.Attribute)
            and decorator.func.attr in _METHODS
            and is_instance(decorator.func.value, module, _ROUTERS)
            for decorator in routing
        )
    )


def is_dependency(node: ast.AST | None) -> bool:
    """Return whether a call makes FastAPI call its argument for each request."""
    match node:
        case ast.Call(ast.Name('Depends') | ast.Attribute(_, 'Depends')):
            return True
        case _:
            return False


def handled_by_framework(module: Module) -> Iterator[tuple[str, str, str]]:
    """Yield module, class and handler of the exceptions that FastAPI goes on to answer."""
    own = {
        module.full_name(call.args[0])
        for call in module.nodes_of_type(ast.Call)
        if isinstance(call.func, ast.Attribute)
        and call.func.attr == 'exception_handler'
        and call.args
    }
    if own.isdisjoint(_HTTP_EXCEPTIONS):
        yield 'starlette.exceptions', 'HTTPException', 'http_exception_handler'
    if _INVALID_REQUEST not in own:
        handler = 'request_validation_exception_handler'
        yield 'fastapi.exceptions', 'RequestValidationError', handler


ERROR_BODY = '''
class ErrorBody:
    """Body of an answer, as it was before the table of errors."""

    media_type = 'application/json'

    def value(self, value: object, /, *, request_id: str, now: datetime) -> bytes:
        """Return the body of a value."""
        return bare.value(value, request_id=request_id, now=now)

    def error(self, error: HttpError, /, *, request_id: str, now: datetime) -> bytes:
        """Return the body of an error: its details."""
        return bytes({response}(dict(error.details)).body)
'''
