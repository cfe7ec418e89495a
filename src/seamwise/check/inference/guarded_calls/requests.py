"""Requests and commands of an operation that must not be repeated: POST and PATCH without a key.

Everything uncertain counts as safe: an unknown client or method, headers from elsewhere, and code
that runs only after a check, such as whether the order exists already.
"""

import ast
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from seamwise.check._mypy.types import Instance, ProperType
from seamwise.check.facts import UnsafeRequest
from seamwise.check.inference.data_flow.bindings import INNER_SCOPES, ValueBinding
from seamwise.check.inference.data_flow.error_inference import GUARDS, KEYED, ErrorInference
from seamwise.check.inference.definitions.functions import STEP_MODULES
from seamwise.check.typed_ast.channels import RESULT, base_names, union_members
from seamwise.check.typed_ast.program import Function, Module, children, walk

_CLIENTS = frozenset({
    'aiohttp.client.ClientSession', 'httpx._client.AsyncClient', 'httpx._client.Client',
    'httpx2._client.AsyncClient', 'httpx2._client.Client', 'requests.sessions.Session',
})  # fmt: skip
_FUNCTION_MODULES = frozenset({'aiohttp.client', 'httpx._api', 'httpx2._api', 'requests.api'})
_UNSAFE_METHODS = frozenset({'patch', 'post'})
_METHODS_WITH_ARGUMENT = frozenset({'request', 'stream'})
"""Functions with the HTTP method as an argument."""
_SENDING = frozenset(
    {'delete', 'get', 'head', 'options', 'put', 'send', *_UNSAFE_METHODS, *_METHODS_WITH_ARGUMENT}
)
_COMMAND = 'command'
_COMMANDS = frozenset({
    'asyncio.subprocess.create_subprocess_exec', 'asyncio.subprocess.create_subprocess_shell',
    'os.system', 'subprocess.Popen', 'subprocess.call', 'subprocess.check_call',
    'subprocess.check_output', 'subprocess.run',
})  # fmt: skip
"""Functions that run a program, whose effects are unknown."""
_TOOL = 'seamwise.toolhost.function_tool.tool'
_EXTENSION_POINTS = frozenset({'_request', 'build_request', *_SENDING})
"""Methods by which a subclass of a client can add a header to each request."""
_MAX_POSITIONAL = 4
"""The fifth positional argument of `Session.request` contains the headers."""
_KEY_WORD = 'idempotency'

_RUNNERS = frozenset({'anyio.to_thread.run_sync', 'asyncio.threads.to_thread'})
_BUILTINS = 'builtins.'
_PARTIAL = 'functools.partial'

_Branch = ast.If | ast.IfExp | ast.While | ast.Match | ast.BoolOp | ast.ExceptHandler
_BRANCHES = (ast.If, ast.IfExp, ast.While, ast.Match, ast.BoolOp, ast.ExceptHandler)
Code = Function | ast.Lambda | ast.For | ast.AsyncFor


class Operation(NamedTuple):
    """Requests and calls of the operation of a guard."""

    requests: tuple[str, ...] = ()
    """Unsafe requests in its own code, as in `client.post`."""
    callees: tuple[str, ...] = ()
    """Full names of the functions that it is or calls."""


def unsafe_requests(inference: ErrorInference) -> Iterator[UnsafeRequest]:
    """Yield the unsafe requests of each function of a module."""
    calls = inference.module.nodes_of_type(ast.Call)
    functions = dict.fromkeys(
        inference.module.enclosing_function(call) for call in calls if _is_unsafe(call, inference)
    )
    for function in functions:
        if function is not None and is_repeatable(function, inference.module) is None:
            name = inference.function_name(function)
            for request in _requests(function, inference):
                yield UnsafeRequest(name, request)
    for function in inference.module.functions():
        if is_repeatable(function, inference.module) is False:
            yield UnsafeRequest(inference.function_name(function), '')


def is_repeatable(function: Function, module: Module) -> bool | None:
    """Return what `@tool(is_repeatable=…)` declares; None if a function declares nothing."""
    for decorator in function.decorator_list:
        if isinstance(decorator, ast.Call) and module.full_name(decorator.func) == _TOOL:
            for keyword in decorator.keywords:
                match keyword:
                    case ast.keyword('is_repeatable', ast.Constant(bool(value))):
                        return value
                    case _:
                        pass
    return None


def operation_in(code: Code, inference: ErrorInference) -> Operation:
    """Return the operation that consists of the code of a function, a lambda or a loop."""
    callees = [
        inference.qualified_name(callee)
        for call in _executed_calls(code, inference)
        if not _is_checked(call, code, inference)
        for callee in (call.func, *(call.args if _runs_arguments(call, inference) else ()))
        if not isinstance(callee, ast.Lambda)
    ]
    names = dict.fromkeys(name for name in callees if name and not name.startswith(_BUILTINS))
    return Operation(_requests(code, inference), tuple(names))


def operation_of(value: ast.expr, inference: ErrorInference) -> Operation:
    """Return the operation that a value is: a lambda, a function or a `partial` of one."""
    match value:
        case ast.Lambda():
            return operation_in(value, inference)
        case ast.Call(callee, [inner, *_]) if inference.module.full_name(callee) == _PARTIAL:
            return operation_of(inner, inference)
        case ast.Name():
            match _bindings_of(value, inference):
                case [ValueBinding(ast.Lambda() as bound)]:
                    return operation_in(bound, inference)
                case _:
                    pass
        case _:
            pass
    name = inference.qualified_name(value)
    names = [name] if name else []
    for function in inference.module.functions():
        if inference.function_name(function) == name:
            names += operation_in(function, inference).callees
    return Operation(callees=tuple(dict.fromkeys(names)))


# Executed code


def _executed_calls(code: Code, inference: ErrorInference) -> Iterator[ast.Call]:
    """Yield the calls that the code itself executes, in source order."""
    stack: list[ast.AST] = [code.body] if isinstance(code, ast.Lambda) else [*reversed(code.body)]
    while stack:
        node = stack.pop()
        if isinstance(node, INNER_SCOPES):
            continue
        if isinstance(node, ast.Lambda) and not _is_run(node, inference):
            continue
        if isinstance(node, ast.Call):
            yield node
        stack += reversed(children(node))


def _is_run(function: ast.Lambda, inference: ErrorInference) -> bool:
    """Return whether a lambda is an argument of a call that runs it."""
    call = inference.module.parents.get(function)
    return isinstance(call, ast.Call) and function in call.args and _runs_arguments(call, inference)


def _runs_arguments(call: ast.Call, inference: ErrorInference) -> bool:
    """Return whether a call runs the functions among its arguments before it returns."""
    name = inference.module.full_name(call.func)
    if name in _RUNNERS or name.rpartition('.')[0] in STEP_MODULES:
        return True
    if not isinstance(call.func, ast.Attribute):
        return False
    owners = union_members(inference.module.type_of(call.func.value))
    names = {name for owner in owners for name in base_names(owner)}
    is_guard = not names.isdisjoint(GUARDS - {KEYED}) and call.func.attr in {'run', 'run_sync'}
    return is_guard or RESULT in names


def _bindings_of(name: ast.Name, inference: ErrorInference) -> Sequence[object]:
    function = inference.module.enclosing_function(name)
    return inference.bindings(function).get(name.id, ()) if function is not None else ()


# Branches


def _is_checked(node: ast.AST, code: Code, inference: ErrorInference) -> bool:
    """Return whether the answer of another call decides whether a node is reached.

    It may be the question whether the request was sent before.
    """
    return any(
        _is_check(branch, inference) and (is_around or _returns(branch))
        for branch, is_around in _branches_before(node, code, inference.module)
    )


def _is_conditional(node: ast.AST, code: Code, inference: ErrorInference) -> bool:
    """Return whether a node is in a branch, or after one that returns."""
    return any(
        is_around or _returns(branch)
        for branch, is_around in _branches_before(node, code, inference.module)
    )


def _branches_before(node: ast.AST, code: Code, module: Module) -> Iterator[tuple[_Branch, bool]]:
    """Yield the branches around a node, and those in front of it, each with whether it is around.

    The test of a branch is not in the branch.
    """
    while node is not code and (parent := module.parents.get(node)) is not None:
        if isinstance(parent, _BRANCHES) and node is not _test(parent):
            yield parent, True
        for statement in _statements_before(node, parent):
            for item in walk(statement):
                # A handler in front of a node only decides that an exception ends the operation.
                if isinstance(item, _BRANCHES) and not isinstance(item, ast.ExceptHandler):
                    yield item, False
        node = parent


def _statements_before(node: ast.AST, parent: ast.AST) -> Iterator[ast.stmt]:
    """Yield the statements of a parent that are in front of a node."""
    siblings = [child for child in children(parent) if isinstance(child, ast.stmt)]
    if isinstance(node, ast.stmt) and node in siblings:
        yield from siblings[: siblings.index(node)]


def _test(branch: _Branch) -> ast.expr | None:
    match branch:
        case ast.If(test) | ast.IfExp(test) | ast.While(test) | ast.Match(test):
            return test
        case ast.BoolOp(_, [first, *_]):
            return first
        case _:
            return None


def _is_check(branch: _Branch, inference: ErrorInference) -> bool:
    """Return whether the test of a branch contains the answer of a call."""
    test = _test(branch)
    return test is None or any(
        _calls(node, inference)
        or (
            isinstance(node, ast.Name)
            and any(
                isinstance(binding, ValueBinding)
                and any(_calls(part, inference) for part in walk(binding.value))
                for binding in _bindings_of(node, inference)
            )
        )
        for node in walk(test)
    )


def _calls(node: ast.AST, inference: ErrorInference) -> bool:
    return isinstance(node, ast.Await) or (
        isinstance(node, ast.Call)
        and not inference.module.full_name(node.func).startswith(_BUILTINS)
    )


def _returns(branch: ast.AST) -> bool:
    return any(
        isinstance(node, ast.Return | ast.Raise | ast.Break | ast.Continue) for node in walk(branch)
    )


# Requests


def _requests(code: Code, inference: ErrorInference) -> tuple[str, ...]:
    """Return the called functions of the unsafe requests in some code."""
    calls = [call for call in _executed_calls(code, inference) if _method(call, inference)]
    unsafe = [call for call in calls if _is_unsafe(call, inference)]
    if len(unsafe) < len(calls) and any(_is_conditional(call, code, inference) for call in calls):
        # An argument may select the method, or a read may show that the write is done.
        return ()
    certain = [call for call in unsafe if not _is_checked(call, code, inference)]
    return tuple(dict.fromkeys(ast.unparse(call.func) for call in certain))


def _is_unsafe(call: ast.Call, inference: ErrorInference) -> bool:
    """Return whether a call sends a POST or PATCH request without an idempotency key."""
    method = _method(call, inference)
    if method == _COMMAND:
        return not _mentions_key(_outermost_scope(call, inference.module))
    if method in _METHODS_WITH_ARGUMENT:
        method = _method_argument(call)
    return (
        method in _UNSAFE_METHODS
        and not _has_uncertain_headers(call)
        and not _mentions_key(_outermost_scope(call, inference.module))
        and not any(map(_mentions_key, _client_values(call.func, inference)))
    )


def _method(call: ast.Call, inference: ErrorInference) -> str:
    """Return the name of the called function of an HTTP client, or `_COMMAND`; else empty."""
    full_name = inference.module.full_name(call.func)
    if full_name in _COMMANDS:
        return _COMMAND
    module, _, name = full_name.rpartition('.')
    if module in _FUNCTION_MODULES and name in _SENDING:
        return name
    match call.func:
        case ast.Attribute(client, method) if method in _SENDING:
            owners = list(union_members(inference.module.type_of(client)))
            return method if owners and all(map(_is_client, owners)) else ''
        case _:
            return ''


def _is_client(type_: ProperType) -> bool:
    """Return whether a type is an HTTP client that sends requests unchanged."""
    for base in type_.type.mro if isinstance(type_, Instance) else ():
        if base.fullname in _CLIENTS:
            return True
        if not _EXTENSION_POINTS.isdisjoint(base.names):
            return False
    return False


def _method_argument(call: ast.Call) -> str:
    """Return the literal HTTP method of `client.request('POST', url)`; empty if unknown."""
    named = [keyword.value for keyword in call.keywords if keyword.arg == 'method']
    match [*call.args[:1], *named]:
        case [ast.Constant(str(method)), *_]:
            return method.lower()
        case _:
            return ''


def _has_uncertain_headers(call: ast.Call) -> bool:
    """Return whether a call may have headers that its code does not show."""
    if len(call.args) > _MAX_POSITIONAL or any(isinstance(arg, ast.Starred) for arg in call.args):
        return True
    return any(
        keyword.arg is None or (keyword.arg == 'headers' and not _is_literal(keyword.value))
        for keyword in call.keywords
    )


def _is_literal(headers: ast.expr) -> bool:
    match headers:
        case ast.Constant(None):
            return True
        case ast.Dict(names):
            return all(
                isinstance(name, ast.Constant) and isinstance(name.value, str) for name in names
            )
        case _:
            return False


def _outermost_scope(node: ast.AST, module: Module) -> ast.AST:
    """Return the outermost function around a node, or the statement of a module or class."""
    while not isinstance(parent := module.parents.get(node), ast.Module | ast.ClassDef | None):
        node = parent
    return node


def _client_values(callee: ast.expr, inference: ErrorInference) -> Iterator[ast.expr]:
    """Yield the values that the module assigns to a name or attribute with a client.

    Those of a local name are in its function, which is searched as a whole.
    """
    name = _last_name(callee.value) if isinstance(callee, ast.Attribute) else ''
    for node_type in (ast.Assign, ast.AnnAssign):
        for statement in inference.module.nodes_of_type(node_type):
            match statement:
                case ast.Assign([target], value) | ast.AnnAssign(target, _, ast.expr() as value):
                    is_local = isinstance(target, ast.Name) and inference.module.enclosing_function(
                        target
                    )
                    if name and _last_name(target) == name and not is_local:
                        yield value
                case _:
                    pass


def _last_name(node: ast.expr) -> str:
    match node:
        case ast.Name(name) | ast.Attribute(_, name):
            return name
        case _:
            return ''


def _mentions_key(node: ast.AST) -> bool:
    """Return whether code contains a name or a string such as `idempotency_key`."""
    for part in walk(node):
        match part:
            case (
                ast.Constant(str(text))
                | ast.Name(text)
                | ast.Attribute(_, text)
                | ast.arg(text)
                | ast.keyword(str(text))
            ) if _KEY_WORD in text.lower() and len(text.split()) == 1:
                return True
            case _:
                pass
    return False
