"""Operations on types of mypy."""

import mypy.types  # noqa: F401  # pyright: ignore[reportUnusedImport]  # the imports below are circular without it
from mypy.expandtype import expand_type_by_instance
from mypy.maptype import map_instance_to_supertype
from mypy.nodes import Decorator, OverloadedFuncDef, TypeInfo
from mypy.typeops import get_type_vars
from mypy.types import Instance, ProperType, Type, TypeVarType, get_proper_type
from mypy.typevars import fill_typevars_with_any


def type_argument(type_: ProperType, base: str, index: int) -> ProperType | None:
    """Return a type argument of a base class, as in the error of a `Guard[E]`.

    Args:
        type_: The type, which may be an instance of a subclass.
        base: Full name of the base class.
        index: Position of the type argument, from 0.

    Returns:
        The argument; None if the type does not derive from the base, or has fewer arguments.
    """
    if not isinstance(type_, Instance):
        return None
    info = next((info for info in type_.type.mro if info.fullname == base), None)
    if info is None:
        return None
    arguments = map_instance_to_supertype(type_, info).args
    return get_proper_type(arguments[index]) if index < len(arguments) else None


def method_type(instance: Instance, name: str) -> Type | None:
    """Return the type of a method, with the type variables of its class filled in."""
    method = instance.type.get_method(name)
    if method is None or method.type is None:
        return None
    return expand_type_by_instance(get_proper_type(method.type), instance)


def is_property(instance: Instance, name: str) -> bool:
    """Return whether an attribute is a property that is computed each time, so not a cached one."""
    symbol = instance.type.get(name)
    node = symbol.node if symbol is not None else None
    if isinstance(node, Decorator):
        # A cached property can be set, although it has no setter.
        return node.var.is_property and not node.var.is_settable_property
    return isinstance(node, OverloadedFuncDef) and node.is_property


def equality_owner(instance: Instance) -> str:
    """Return the full name of the class whose `__eq__` compares an instance; empty if unknown."""
    if instance.type.fallback_to_any:
        return ''
    return next(base.fullname for base in instance.type.mro if '__eq__' in base.names)


def inherited_type(type_: Type, base: TypeInfo, subclass: TypeInfo) -> Type:
    """Return the type of a member of a base class, with the type arguments of a subclass."""
    instance = get_proper_type(fill_typevars_with_any(subclass))
    if not isinstance(instance, Instance):
        return type_
    return expand_type_by_instance(type_, map_instance_to_supertype(instance, base))


def type_variables(type_: Type) -> list[TypeVarType]:
    """Return the type variables in a type."""
    return get_type_vars(type_)
