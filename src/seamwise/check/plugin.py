"""The mypy plugin: `plugins = seamwise.check.plugin` in the configuration of mypy.

It makes `catch` exact on unions of any size, and reports message templates that do not fit their class, kinds with two
arms, and the ways round a frozen field. Everything else holds without it.
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
        Plugin,
    )
    from mypy.types import Type
except ModuleNotFoundError as missing:
    if missing.name != 'mypy':
        raise
    raise ImportError("seamwise.check needs mypy: pip install 'seamwise[check]'") from missing

from seamwise import messages
from seamwise.check.mypy_plugin import arms, catching, frozen, names, templates

SUPPORTED: Final = ((2, 3), (2, 4))
"""The minor versions of mypy that this plugin is tested with: the two newest that `returns` allows."""

_FUNCTIONS: Final[Mapping[str, Callable[[FunctionContext], Type]]] = {
    names.CATCH: catching.exact_kinds,
    names.SETATTR: frozen.refuse_by_name,
}

_METHODS: Final[Mapping[str, Callable[[MethodContext], Type]]] = {
    names.CATCH_CALL: catching.rest_of_channel,
    names.ADAPTER_OR: arms.one_arm_for_each_kind,
    names.OBJECT_SETATTR: frozen.refuse_by_name,
}


class SeamwisePlugin(Plugin):
    """Hands each feature the names that it looks for; keeps nothing between two of them, for the daemon's sake."""

    @override
    def get_function_hook(self, fullname: str) -> Callable[[FunctionContext], Type] | None:
        return _FUNCTIONS.get(fullname)

    @override
    def get_method_hook(self, fullname: str) -> Callable[[MethodContext], Type] | None:
        return _METHODS.get(fullname)

    @override
    def get_class_attribute_hook(self, fullname: str) -> Callable[[AttributeContext], Type] | None:
        found = self.lookup_fully_qualified(fullname.rpartition('.')[0])
        is_of_error = (
            found is not None
            and isinstance(found.node, TypeInfo)
            and names.is_error_class(found.node)
        )
        return frozen.refuse_on_class if is_of_error else None

    @override
    def get_base_class_hook(self, fullname: str) -> Callable[[ClassDefContext], None] | None:
        return _error_class if fullname == names.TAGGED_ERROR else None


def _error_class(ctx: ClassDefContext) -> None:
    templates.check_template(ctx)
    frozen.freeze_class_values(ctx)


def plugin(version: str) -> type[Plugin]:
    """Give mypy the plugin: what mypy calls, with its own version.

    Raises mypy's CompileError, which mypy prints and ends with 2, where that version is not one of `SUPPORTED`.
    """
    if tuple(int(part) for part in version.split('.')[:2]) not in SUPPORTED:
        supported = ' and '.join('.'.join(map(str, one)) for one in SUPPORTED)
        raise CompileError(
            [
                f'error: seamwise.check.plugin supports mypy {supported}, not {version}; without the plugin any mypy will do'
            ]
        )
    return SeamwisePlugin


def __getattr__(name: str) -> str:
    # mypy keeps what it has found for as long as this text and this file are the same, the daemon too, and asks anew on each run.
    if name != '__version__':
        raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
    files = [*sorted(Path(names.__file__).parent.glob('*.py')), Path(messages.__file__)]
    return sha256(b''.join(file.read_bytes() for file in files)).hexdigest()
