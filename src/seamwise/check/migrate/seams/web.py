"""Handlers of FastAPI for exceptions, which become one table of errors."""

import ast
from collections.abc import Iterator

from seamwise.check.migrate.seams.handler import ErrorHandler, arguments, is_instance, uses_only
from seamwise.check.typed_ast.program import Function, Module, Program

_FASTAPI = 'fastapi.applications.FastAPI'
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
    match node.decorator_list, node.args.args, _body(node):
        case (
            [ast.Call(ast.Attribute(ast.Name() as owner, 'exception_handler'), [kind], [])],
            [request, error],
            [ast.Return(ast.Call(response) as answer)],
        ) if is_instance(owner, module, frozenset({_FASTAPI})):
            pass
        case _:
            return None
    if not module.full_name(response).endswith('.JSONResponse'):
        return None
    given = arguments(answer, 'content', 'status_code')
    match given:
        case {'content': ast.Dict() as content, 'status_code': ast.Constant(int() as status)} if (
            given.keys() == {'content', 'status_code'}
            and status in _CLIENT_ERRORS
            and None not in content.keys
        ):
            pass
        case _:
            return None
    if any(isinstance(part, ast.Name) and part.id == request.arg for part in ast.walk(content)):
        return None
    name = ast.unparse(response)
    return ErrorHandler(node, status, content, error.arg, kind, error.annotation, name)


def application_name(module: Module) -> str:
    """Return the name of the application; empty if it is not assigned at the top of its module."""
    for node in module.syntax.body:
        match node:
            case ast.Assign([ast.Name(name)], ast.Call(function)) | ast.AnnAssign(
                ast.Name(name), _, ast.Call(function)
            ) if module.full_name(function) == _FASTAPI:
                return name
            case _:
                pass
    return ''


def answer_of(clause: ast.ExceptHandler, module: Module) -> ErrorHandler | None:
    """Return the answer of a clause that only raises an `HTTPException`."""
    match clause.body:
        case [ast.Raise(ast.Call(function) as call, ast.Name() | ast.Constant() | None)] if (
            module.full_name(function) in _HTTP_EXCEPTIONS
        ):
            pass
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
    error = clause.name or 'error'
    if not uses_only(detail, error):
        return None
    return ErrorHandler(clause, status, ast.Dict([ast.Constant('detail')], [detail]), error)


def _body(node: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.stmt]:
    return node.body[1:] if ast.get_docstring(node) is not None else node.body


def is_route(function: Function, module: Module) -> bool:
    """Return whether decorators make a function answer requests of FastAPI, and do nothing else."""
    return bool(function.decorator_list) and all(
        isinstance(decorator, ast.Call)
        and isinstance(decorator.func, ast.Attribute)
        and decorator.func.attr in _METHODS
        and is_instance(decorator.func.value, module, _ROUTERS)
        for decorator in function.decorator_list
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
