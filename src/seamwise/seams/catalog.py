"""Modules of the catalogue that are imported on first use: a table loads only its own domain."""

from typing import TYPE_CHECKING

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
    from importlib import import_module

    def __getattr__(name: str) -> object:
        if name not in __all__:
            raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
        return import_module(
            f'seamwise.{name}' if name == 'policies' else f'seamwise.catalog.{name}'
        )
