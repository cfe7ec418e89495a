"""Read what a function in direct style declares: where its `do` stands, and how its caller sees it."""

import ast
from collections.abc import Mapping
from inspect import Parameter, Signature, isasyncgenfunction, isgeneratorfunction, signature
from types import CellType, FunctionType
from typing import Any, NamedTuple, Never, get_args, get_origin

from seamwise.containers import Result


class Declared(NamedTuple):
    """Whether `do` comes after `self` or `cls`, and the signature without it."""

    is_method: bool
    seen: Signature


def declared(function: object, token: type) -> Declared:
    """Read the signature of `function`, whose `do` is annotated with `token`; a TypeError says what is wrong with it."""
    name = getattr(function, '__qualname__', repr(function))
    kind = type(function)
    if kind in {classmethod, staticmethod}:
        raise TypeError(f'{name}: put @fallible under @{kind.__name__}, not above it.')
    if not isinstance(function, FunctionType):
        raise TypeError(f'fallible takes a function, not {name}.')
    if isgeneratorfunction(function) or isasyncgenfunction(function):
        raise TypeError(f'{name} is a generator: it has no single end that could become a result.')
    whole = signature(function)
    parameters = [
        one
        for one in whole.parameters.values()
        if one.kind in {Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD}
    ]
    is_method = bool(parameters) and parameters[0].name in {'self', 'cls'}
    place = int(is_method)
    channel = (
        _channel(parameters[place].annotation, token, function) if len(parameters) > place else None
    )
    if channel is None:
        after, receiver = (f' after {parameters[0].name}', 'self, ') if is_method else ('', '')
        raise TypeError(
            f'{name}: the first parameter{after} must be annotated with {token.__name__}[...], '
            f'as in `def {function.__name__}({receiver}do: {token.__name__}[NotFound], …)`.'
        )
    others = [one for one in whole.parameters.values() if one is not parameters[place]]
    # Strings become forward references, which `get_type_hints` reads in the module of the function.
    alias: Any = Result
    given = whole.return_annotation
    answer = given if given is Signature.empty else alias[given, channel]
    return Declared(is_method, whole.replace(parameters=others, return_annotation=answer))


def _channel(annotation: object, token: type, function: FunctionType) -> object:
    """Give the X of `Do[X]`, as an object or as its text, or None where this is no `Do`."""
    if isinstance(annotation, str):
        return _spelled_channel(annotation, token, function)
    if annotation is token:
        return Never
    if get_origin(annotation) is token:
        return get_args(annotation)[0]
    # What a `type` statement names is behind `__value__`.
    named: object = getattr(annotation, '__value__', None)
    return None if named is None else _channel(named, token, function)


def _spelled_channel(annotation: str, token: type, function: FunctionType) -> object:
    try:
        node = ast.parse(annotation, mode='eval').body
    except SyntaxError:
        return None
    if isinstance(node, ast.Constant):
        return (
            _spelled_channel(node.value, token, function) if isinstance(node.value, str) else None
        )
    bare = node.value if isinstance(node, ast.Subscript) else node
    found = _look_up(bare, function)
    if found is not None and found is not token:
        return _channel(found, token, function)
    # A name that only type checkers import cannot be looked up; then its spelling decides.
    is_token = found is token or ast.unparse(bare).rpartition('.')[2] == token.__name__
    channel = ast.unparse(node.slice) if isinstance(node, ast.Subscript) else Never
    return channel if is_token else None


def _look_up(node: ast.expr, function: FunctionType) -> object:
    if isinstance(node, ast.Attribute):
        return getattr(_look_up(node.value, function), node.attr, None)
    if not isinstance(node, ast.Name):
        return None
    return _names(function).get(node.id)


def _names(function: FunctionType) -> Mapping[str, object]:
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    # A name that is bound only after the function is made has an empty cell.
    inner = {name: cell.cell_contents for name, cell in cells if cell != CellType()}
    return {**function.__globals__, **inner}
