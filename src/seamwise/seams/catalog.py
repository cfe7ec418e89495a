"""Modules of the catalogue that are imported on first use: a table loads only its own domain."""

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, final

__all__ = [
    'access',
    'agents',
    'models',
    'network',
    'parsing',
    'policies',
    'protocols',
    'sessions',
    'storage',
    'streaming',
    'tools',
    'workspace',
]

if TYPE_CHECKING:
    from seamwise import policies
    from seamwise.catalog import (
        access,
        agents,
        models,
        network,
        parsing,
        protocols,
        sessions,
        storage,
        streaming,
        tools,
        workspace,
    )
else:

    @final
    class _LazyModule(ModuleType):
        def __getattr__(self, name: str) -> object:
            return getattr(import_module(self.__name__), name)

    def __getattr__(name: str) -> ModuleType:
        if name not in __all__:
            raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
        return _LazyModule(f'seamwise.{name}' if name == 'policies' else f'seamwise.catalog.{name}')
