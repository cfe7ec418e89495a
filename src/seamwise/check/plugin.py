"""The mypy plugin: `plugins = seamwise.check.plugin` in the configuration of mypy.

It makes the types of `catch` and of joined adapters exact for unions of any size. It also reports
message templates that do not fit their class, error classes with two arms or without one, and
indirect assignments to frozen fields. The library has correct types without it.
"""

from collections.abc import Callable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Final

from typing_extensions import override

try:
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
except ModuleNotFoundError as error:
    if error.name != 'mypy':
        raise
    raise ImportError("seamwise.check needs mypy: pip install 'seamwise[check]'") from error

from seamwise import messages
from seamwise._text import phrases
from seamwise.check import mypy_plugin
from seamwise.check.mypy_plugin import arms, catching, frozen, templates

SUPPORTED: Final = ((2, 3), (2, 4))
"""Tested minor versions of mypy: the two newest that `returns` allows."""

_FUNCTION_HOOKS: Final[Mapping[str, Callable[[FunctionContext], Type]]] = {
    mypy_plugin.CATCH: catching.infer_step,
    mypy_plugin.SETATTR: frozen.check_setattr,
}

_METHOD_HOOKS: Final[Mapping[str, Callable[[MethodContext], Type]]] = {
    mypy_plugin.CATCH_CALL: catching.infer_step_result,
    mypy_plugin.ADAPTER_BUT: arms.check_replaced_arms,
    mypy_plugin.ADAPTER_OR: arms.check_joined_arms,
    mypy_plugin.OBJECT_SETATTR: frozen.check_setattr,
}

_SIGNATURE_HOOKS: Final[Mapping[str, Callable[[MethodSigContext], FunctionLike]]] = {
    mypy_plugin.ADAPTER_OR: arms.infer_signature,
}


class SeamwisePlugin(Plugin):
    """Hooks by full name. It has no state, because the daemon reuses it for all runs."""

    @override
    def get_function_hook(self, fullname: str) -> Callable[[FunctionContext], Type] | None:
        return _FUNCTION_HOOKS.get(fullname)

    @override
    def get_method_hook(self, fullname: str) -> Callable[[MethodContext], Type] | None:
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
        return frozen.check_class_attribute if mypy_plugin.is_error_class(symbol.node) else None

    @override
    def get_base_class_hook(self, fullname: str) -> Callable[[ClassDefContext], None] | None:
        return _check_error_class if fullname == mypy_plugin.TAGGED_ERROR else None


def _check_error_class(ctx: ClassDefContext) -> None:
    templates.check_template(ctx)
    frozen.mark_class_variables(ctx)


def plugin(version: str) -> type[Plugin]:
    """Return the plugin class; the entry point that mypy calls with its own version.

    Raises:
        CompileError: The version is not in `SUPPORTED`. mypy prints the message and exits with 2.
    """
    if tuple(int(part) for part in version.split('.')[:2]) not in SUPPORTED:
        supported = ' and '.join('.'.join(map(str, minor)) for minor in SUPPORTED)
        message = (
            f'error: seamwise.check.plugin supports mypy {supported}, not {version}; '
            'install one of them or remove the plugin'
        )
        raise CompileError([message])
    return SeamwisePlugin


def __getattr__(name: str) -> str:
    # mypy, and its daemon, read `__version__` on each run and discard the cache if it has changed.
    if name != '__version__':
        raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
    folder = Path(mypy_plugin.__file__).parent
    files = [*sorted(folder.glob('*.py')), Path(messages.__file__), Path(phrases.__file__)]
    return sha256(b''.join(file.read_bytes() for file in files)).hexdigest()
