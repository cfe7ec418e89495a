"""Signatures of functions in direct style: position and error channel of `do`."""

import ast
from collections.abc import Callable, Mapping
from inspect import Parameter, Signature, isasyncgenfunction, isgeneratorfunction, signature, unwrap
from re import sub
from types import CellType, FunctionType, NoneType, SimpleNamespace, UnionType
from typing import Annotated, Any, NamedTuple, Never, Union, get_args, get_origin, get_type_hints

from seamwise._results.containers import RESULT_TYPES, Failure, Result, Success

DECORATED: tuple[type, ...] = (FunctionType, classmethod, staticmethod)
"""Types of the functions in the body of a module or class."""


class DirectSignature(NamedTuple):
    """Signature of a function in direct style."""

    is_method: bool
    """Whether `do` comes after `self` or `cls`."""
    public: Signature
    """The signature without `do`, with the result as return type."""


def direct_signature(function: object, token: type) -> DirectSignature:
    """Return the signature of a function whose `do` is annotated with `token`.

    Raises:
        TypeError: The function cannot be written in direct style, or has no such parameter.
    """
    name = getattr(function, '__qualname__', repr(function))
    type_ = type(function)
    if type_ in {classmethod, staticmethod}:
        raise TypeError(f'{name}: put @fallible under @{type_.__name__}, not above it.')
    if not isinstance(function, FunctionType):
        raise TypeError(f'fallible takes a function, not {name}.')
    if isgeneratorfunction(function) or isasyncgenfunction(function):
        raise TypeError(f'{name} is a generator; @fallible needs a function that returns once.')
    declared = signature(function)
    parameters = [
        parameter
        for parameter in declared.parameters.values()
        if parameter.kind in {Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD}
    ]
    is_method = bool(parameters) and parameters[0].name in {'self', 'cls'}
    do = parameters[is_method] if len(parameters) > is_method else None
    channel = None if do is None else _channel(do.annotation, token, function)
    if channel is None:
        after, receiver = (f' after {parameters[0].name}', 'self, ') if is_method else ('', '')
        raise TypeError(
            f'{name}: the first parameter{after} must be annotated with {token.__name__}[...], '
            f'as in `def {function.__name__}({receiver}do: {token.__name__}[NotFound], …)`.'
        )
    if _is_result(declared.return_annotation, function):
        value = _text_of(declared.return_annotation)
        raise TypeError(
            f'{name} is declared to return {value}, but @fallible adds the Result. Annotate the '
            'value only, and write `return do(result)` to return the value of a result.'
        )
    others = [parameter for parameter in declared.parameters.values() if parameter is not do]
    # `Result[...]` turns strings into forward references, which `get_type_hints` resolves in the
    # module of the function.
    result: Any = Result
    value = declared.return_annotation
    returned = value if value is Signature.empty else result[value, channel]
    return DirectSignature(
        is_method, declared.replace(parameters=others, return_annotation=returned)
    )


def is_bare(function: object) -> bool:
    """Return whether the argument of a decorator is the function below it: it takes no argument."""
    return isinstance(function, DECORATED) and not (
        isinstance(function, FunctionType) and signature(function).parameters
    )


def missing_parentheses(function: object, usage: str) -> TypeError:
    """Return the error for a decorator without its parentheses; `usage` is the call to write."""
    name = usage.partition('(')[0]
    decorated = getattr(function, '__qualname__', type(function).__name__)
    return TypeError(f'@{name} needs parentheses to decorate {decorated}: write `@{usage}`.')


def coroutine_returned(name: str, *, is_async: bool) -> str:
    """Return the message for a function that returned a coroutine instead of its value."""
    advice = 'await its result' if is_async else 'declare it with `async def`'
    return f'{name} returned a coroutine; {advice}.'


def _channel(annotation: object, token: type, function: FunctionType) -> object:
    """Return the X of `Do[X]`, as an object or as its text, or None for another annotation."""
    if isinstance(annotation, str):
        return _channel_in_text(annotation, token, function)
    if annotation is token:
        return Never
    if get_origin(annotation) is token:
        return get_args(annotation)[0]
    # The alias of a `type` statement.
    aliased: object = getattr(annotation, '__value__', None)
    return None if aliased is None else _channel(aliased, token, function)


def _channel_in_text(annotation: str, token: type, function: FunctionType) -> object:
    try:
        node = ast.parse(annotation, mode='eval').body
    except SyntaxError:
        return None
    if isinstance(node, ast.Constant):
        return (
            _channel_in_text(node.value, token, function) if isinstance(node.value, str) else None
        )
    base = node.value if isinstance(node, ast.Subscript) else node
    value = _look_up(base, function)
    if value is not None and value is not token:
        return _channel(value, token, function)
    # A name that only type checkers import cannot be looked up, so compare the text.
    is_token = value is token or ast.unparse(base).rpartition('.')[2] == token.__name__
    channel = ast.unparse(node.slice) if isinstance(node, ast.Subscript) else Never
    return channel if is_token else None


def _is_result(annotation: object, function: FunctionType) -> bool:
    """Return whether an annotation is a Result, a Success, a Failure, or a union with one."""
    if isinstance(annotation, str):
        return _is_result_node(ast.parse(annotation, mode='eval').body, function)
    aliased: object = getattr(annotation, '__value__', None)
    if aliased is not None:
        return _is_result(aliased, function)
    origin = get_origin(annotation) or annotation
    if origin in {Union, UnionType}:
        return any(_is_result(member, function) for member in get_args(annotation))
    if origin is Annotated:
        return _is_result(get_args(annotation)[0], function)
    # The alias of a generic `type` statement is the origin of `Alias[int]`.
    aliased = getattr(origin, '__value__', None)
    return origin in RESULT_TYPES if aliased is None else _is_result(aliased, function)


def _is_result_node(node: ast.expr, function: FunctionType) -> bool:
    if isinstance(node, ast.Constant):
        return _is_result(node.value, function)
    if isinstance(node, ast.BinOp):
        return _is_result_node(node.left, function) or _is_result_node(node.right, function)
    base = node.value if isinstance(node, ast.Subscript) else node
    return _is_result(_look_up(base, function), function)


def _text_of(annotation: object) -> str:
    """Return an annotation without the names of modules, as in `Result[int, Gone] | None`."""
    if isinstance(annotation, str):
        return annotation
    members = get_args(annotation) if get_origin(annotation) in {Union, UnionType} else ()
    if [get_origin(member) for member in members] == [Success, Failure]:
        value, error = (_text_of(*get_args(member)) for member in members)
        return f'Result[{value}, {error}]'
    if members:
        return ' | '.join(map(_text_of, members))
    if annotation is NoneType:
        return 'None'
    if isinstance(annotation, type) and not get_args(annotation):
        return annotation.__name__
    return sub(r'(?:\w+\.|<locals>\.)+', '', repr(annotation))


def _look_up(node: ast.expr, function: FunctionType) -> object:
    if isinstance(node, ast.Attribute):
        return getattr(_look_up(node.value, function), node.attr, None)
    if not isinstance(node, ast.Name):
        return None
    return names_in_scope(function).get(node.id)


def names_in_scope(function: FunctionType) -> Mapping[str, object]:
    """Return the globals of a function and the names of the enclosing functions that it uses."""
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    # The cell of a name that is not yet bound is empty.
    nonlocals = {name: cell.cell_contents for name, cell in cells if cell != CellType()}
    return {**function.__globals__, **nonlocals}


def resolved_annotation(annotation: object, function: Callable[..., object]) -> object:
    """Return an annotation of a function or method without names as strings, also inside of it.

    Raises:
        NameError: A name is unknown at run time, as one that only type checkers import.
    """
    # A decorated function has the annotations of the function inside, in the module of that one.
    inner: Any = unwrap(function)
    holder: Any = SimpleNamespace(__annotations__={'type': annotation})
    return get_type_hints(holder, {**names_in_scope(inner)}, include_extras=True)['type']
