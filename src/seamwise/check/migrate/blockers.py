"""Reasons why a function must keep its exceptions."""

import ast
from collections.abc import Iterator

from seamwise.check._mypy.types import Instance
from seamwise.check.typed_ast.channels import union_members
from seamwise.check.typed_ast.program import FUNCTIONS, Function, Module, Program, children

PLAIN_DECORATORS = frozenset({'builtins.staticmethod', 'builtins.classmethod'})
_PROPERTY = 'builtins.property'
_FRAME_READERS = frozenset({'_getframe', 'currentframe', 'text_encoding'})


def is_choosy(function: Function) -> bool:
    """Return whether an `__exit__` may swallow an exception, or asks for its class."""
    for part in own_nodes(function):
        if isinstance(part, ast.Name) and part.id in {'isinstance', 'issubclass'}:
            return True
        if isinstance(part, ast.Return) and not (
            part.value is None or (isinstance(part.value, ast.Constant) and not part.value.value)
        ):
            return True
        if isinstance(part, ast.Compare) and any(
            not isinstance(operand, ast.Constant) for operand in part.comparators
        ):
            return True
    return False


def blocker_of(
    function: Function,
    module: Module,
    *,
    is_decorated: bool = False,
    is_silent: bool = False,
    keeps_calls: bool = False,
) -> str:
    """Return the reason why a function must keep exceptions; empty if there is none.

    Args:
        function: The function.
        module: Its module.
        is_decorated: Whether its decorators take Results.
        is_silent: Whether its value must be None, because the terminal would show another one.
        keeps_calls: Whether all callers call a function beside it, which keeps its exceptions.
    """
    name = function.name
    decorators = [module.full_name(decorator) for decorator in function.decorator_list]
    if name.startswith('test'):
        return 'is a test, whose returned value nothing reads'
    if name.startswith('__') and name.endswith('__'):
        return 'is a special method, whose exceptions Python defines'
    if _PROPERTY in decorators and not keeps_calls:
        return 'is a property'
    plain = {*PLAIN_DECORATORS, _PROPERTY}
    if not is_decorated and any(decorator not in plain for decorator in decorators):
        return 'has a decorator that may handle exceptions'
    definition = module.definition(function)
    if definition is not None and definition.info:
        if not keeps_calls and is_overriding(function, module):
            return 'overrides a method of a base class'
        if definition.info.is_protocol:
            return 'is a method of a protocol'
    own = list(own_nodes(function))
    if any(isinstance(node, ast.Yield | ast.YieldFrom) for node in own):
        return 'is a generator'
    if is_silent and any(isinstance(node, ast.Return) and node.value for node in own):
        return 'returns a value, which the end of the program would print'
    names = {node.id for node in own if isinstance(node, ast.Name)}
    arguments = function.args
    parameters = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    if 'do' in names | {parameter.arg for parameter in parameters}:
        return 'already uses the name `do`'
    if any(isinstance(node, ast.TryStar) for node in own):
        return 'handles exception groups'
    if any(
        (isinstance(node, ast.Name) and node.id == 'locals') or _is_foreign_suppress(node)
        for node in own
    ):
        return 'suppresses exceptions, or reads `locals`'
    if module.implements_overloads(function):
        return 'has overloads'
    if any(map(_reads_frames, own)):
        return 'looks at the frames of its callers'
    if any(isinstance(node, ast.Try) and _may_swallow(node) for node in own):
        return 'leaves a `finally` by a statement that swallows exceptions'
    if isinstance(function, ast.FunctionDef) and _returns_awaitable(function, module):
        return 'returns an awaitable without being a coroutine'
    match function.returns:
        case ast.Name('NoReturn' | 'Never'):
            return 'never returns'
        case _:
            pass
    if _returns_result(function, module):
        return 'already returns a Result'
    return ''


def is_plain_method(function: Function, module: Module) -> bool:
    """Return whether a function can be called by a global class and an object of it."""
    decorators = set(map(module.full_name, function.decorator_list))
    parent = module.parents[function]
    if not isinstance(parent, ast.ClassDef) or decorators & PLAIN_DECORATORS:
        return False
    return isinstance(module.parents[parent], ast.Module)


def is_property(function: Function, module: Module) -> bool:
    """Return whether a function is the getter of a property."""
    return _PROPERTY in map(module.full_name, function.decorator_list)


def is_overriding(function: Function, module: Module) -> bool:
    """Return whether a function overrides a method of a base class."""
    definition = module.definition(function)
    bases = definition.info.mro[1:] if definition is not None and definition.info else ()
    return any(function.name in base.names for base in bases)


def _may_swallow(statement: ast.Try) -> bool:
    """Return whether a `finally` may end in another way than by its last statement."""
    return any(
        isinstance(node, ast.Return | ast.Break | ast.Continue)
        for part in statement.finalbody
        for node in ast.walk(part)
    )


def _reads_frames(node: ast.AST) -> bool:
    match node:
        case ast.Attribute(_, name) | ast.Name(name):
            return name in _FRAME_READERS
        case ast.keyword('stacklevel'):
            return True
        case _:
            return False


def _returns_awaitable(function: Function, module: Module) -> bool:
    declared = module.declared_type(function)
    return declared is not None and any(
        isinstance(member, Instance) and any('__await__' in base.names for base in member.type.mro)
        for member in union_members(declared.ret_type)
    )


def _returns_result(function: Function, module: Module) -> bool:
    declared = module.declared_type(function)
    return declared is not None and 'returns.result.' in str(declared.ret_type)


def _is_foreign_suppress(node: ast.AST) -> bool:
    return (isinstance(node, ast.Name) and node.id == 'suppress') or (
        isinstance(node, ast.Attribute) and node.attr == 'suppress'
    )


def own_nodes(function: Function) -> Iterator[ast.AST]:
    """Yield the nodes of a function without those of inner functions."""
    queue: list[ast.AST] = list(function.body)
    while queue:
        node = queue.pop()
        yield node
        if not isinstance(node, FUNCTIONS):
            queue += children(node)


def overridden_methods(program: Program) -> frozenset[str]:
    """Return the full names of the methods that a subclass in the program overrides."""
    names: set[str] = set()
    for module in program.modules:
        for function in module.functions():
            definition = module.definition(function)
            if definition is not None and definition.info:
                names.update(
                    f'{base.fullname}.{function.name}'
                    for base in definition.info.mro[1:]
                    if function.name in base.names
                )
    return frozenset(names)
