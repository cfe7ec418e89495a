"""Type operations from mypy's internal modules.

Together with `mypy_nodes`, this is the part of `typed_ast` that a new mypy version can break. The
other modules use `mypy.nodes` and `mypy.types` only.
"""

import mypy.types  # noqa: F401  # pyright: ignore[reportUnusedImport]  # the imports below are circular without it
from mypy.expandtype import expand_type_by_instance
from mypy.maptype import map_instance_to_supertype
from mypy.typeops import get_type_vars
from mypy.types import Instance, ProperType, Type, TypeVarType, get_proper_type


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


def type_variables(type_: Type) -> list[TypeVarType]:
    """Return the type variables in a type."""
    return get_type_vars(type_)
