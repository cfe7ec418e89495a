"""Hooks of the mypy plugin by the full names of functions, methods and classes."""

from collections.abc import Callable, Mapping
from typing import Final

from mypy.errors import CompileError
from mypy.nodes import TypeInfo
from mypy.plugin import (
    AttributeContext,
    ClassDefContext,
    FunctionContext,
    MethodContext,
    MethodSigContext,
    Plugin,
)
from mypy.types import FunctionLike, Type
from typing_extensions import override

from seamwise.check._mypy import plugin as features
from seamwise.check._mypy.plugin import arms, catching, frozen, open_returns, templates

_FUNCTION_HOOKS: Final[Mapping[str, Callable[[FunctionContext], Type]]] = {
    features.CATCH: catching.infer_step,
    features.SETATTR: frozen.check_setattr,
}

_OPEN_RETURN_HOOKS: Final[Mapping[str, Callable[[FunctionContext, open_returns.Lookup], Type]]] = {
    features.ATTEMPT: open_returns.infer_call,
    features.CAUGHT: open_returns.infer_caught,
    features.FALLIBLE: open_returns.infer_direct,
    features.REFINE: open_returns.infer_call,
}

_METHOD_HOOKS: Final[Mapping[str, Callable[[MethodContext], Type]]] = {
    features.CATCH_CALL: catching.infer_step_result,
    features.ADAPTER_BUT: arms.check_replaced_arms,
    features.ADAPTER_OR: arms.check_joined_arms,
    features.ADAPTER_ROR: arms.check_arms_joined_on_the_left,
    features.OBJECT_SETATTR: frozen.check_setattr,
}

_SIGNATURE_HOOKS: Final[Mapping[str, Callable[[MethodSigContext], FunctionLike]]] = {
    features.ADAPTER_OR: arms.infer_signature,
    features.ADAPTER_ROR: arms.infer_signature,
}


class SeamwisePlugin(Plugin):
    """Hooks by full name. It has no state, because the daemon reuses it for all runs."""

    @override
    def get_function_hook(self, fullname: str) -> Callable[[FunctionContext], Type] | None:
        infer = _OPEN_RETURN_HOOKS.get(fullname)
        if infer is not None:
            return lambda ctx: infer(ctx, self.lookup_fully_qualified)
        return _FUNCTION_HOOKS.get(fullname)

    @override
    def get_method_hook(self, fullname: str) -> Callable[[MethodContext], Type] | None:
        if fullname == features.EDGE_CALL:
            return lambda ctx: open_returns.infer_decorated(ctx, self.lookup_fully_qualified)
        return _METHOD_HOOKS.get(fullname)

    @override
    def get_method_signature_hook(
        self, fullname: str
    ) -> Callable[[MethodSigContext], FunctionLike] | None:
        return _SIGNATURE_HOOKS.get(fullname)

    @override
    def get_class_attribute_hook(self, fullname: str) -> Callable[[AttributeContext], Type] | None:
        symbol = self.lookup_fully_qualified(fullname.rpartition('.')[0])
        if symbol is None or not isinstance(symbol.node, TypeInfo):
            return None
        return frozen.check_class_attribute if features.is_error_class(symbol.node) else None

    @override
    def get_base_class_hook(self, fullname: str) -> Callable[[ClassDefContext], None] | None:
        return _check_error_class if fullname == features.TAGGED_ERROR else None


def _check_error_class(ctx: ClassDefContext) -> None:
    templates.check_template(ctx)
    frozen.mark_class_variables(ctx)


def version_error(message: str) -> Exception:
    """Return the exception whose message mypy prints before it exits with 2."""
    return CompileError([message])
