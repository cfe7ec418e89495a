"""Methods of base classes and protocols that a method overrides, and the errors they declare."""

from collections.abc import Iterator

from seamwise.check._mypy.nodes import (
    Decorator,
    FuncDef,
    OverloadedFuncDef,
    SymbolNode,
    TypeInfo,
    Var,
)
from seamwise.check._mypy.type_operations import inherited_type
from seamwise.check._mypy.types import CallableType, Type, get_proper_type
from seamwise.check.facts import ProtocolFacts
from seamwise.check.typed_ast.channels import ErrorSet, channel_of, errors_in, returned_type
from seamwise.check.typed_ast.program import Function, Module


def overridden_methods(function: Function, module: Module) -> Iterator[str]:
    """Yield the full names of the base-class methods that a method overrides."""
    for base in _overridden_in(function, module):
        yield f'{base.fullname}.{function.name}'


def is_declared_by_base(function: Function, error: str, module: Module) -> bool:
    """Return whether a base class declares an error of a method that overrides one of its own.

    It does too if the base class leaves the channel open for its subclasses, without a Result in
    its annotation or without an annotation.
    """
    definition = module.definition(function)
    if definition is None or not definition.info:
        return False
    for base in _overridden_in(function, module):
        type_ = _declared_type(base.names[function.name].node)
        if type_ is None:
            return True
        inherited = get_proper_type(inherited_type(type_, base, definition.info))
        # A property has the type of its value.
        result = returned_type(
            inherited.ret_type if isinstance(inherited, CallableType) else inherited
        )
        errors: ErrorSet | None = errors_in(result)
        if channel_of(result) is None or errors is None or error in errors:
            return True
    return False


def class_members(function: Function, module: Module) -> tuple[str, ...]:
    """Return the names of all members of the class of a method, without those of `object`."""
    definition = module.definition(function)
    if definition is None or not definition.info:
        return ()
    bases = [base for base in definition.info.mro if base.fullname != 'builtins.object']
    return tuple(sorted({name for base in bases for name in base.names}))


def protocol_facts(module: Module) -> Iterator[ProtocolFacts]:
    """Yield the protocols with methods that a module defines."""
    infos: dict[str, TypeInfo] = {}
    for function in module.functions():
        definition = module.definition(function)
        # The `info` of a plain function is mypy's falsy placeholder, not None.
        if definition is not None and definition.info and definition.info.is_protocol:
            infos[definition.info.fullname] = definition.info
    for name, info in infos.items():
        yield ProtocolFacts(name, tuple(sorted(info.protocol_members)))


def _overridden_in(function: Function, module: Module) -> Iterator[TypeInfo]:
    """Yield the base classes that have a method of the same name, the nearest first."""
    definition = module.definition(function)
    if definition is None or not definition.info:
        return
    for base in definition.info.mro[1:]:
        if definition.name in base.names and base.fullname != 'builtins.object':
            yield base


def _declared_type(node: SymbolNode | None) -> Type | None:
    match node:
        case FuncDef() | OverloadedFuncDef() | Var():
            return node.type
        case Decorator():
            return node.var.type or node.func.type
        case _:
            return None
